// Command kubectl-pgstorage is the kubectl plugin: kubectl pgstorage.
package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"syscall"

	"github.com/go-logr/logr"
	"k8s.io/cli-runtime/pkg/genericiooptions"
	ctrl "sigs.k8s.io/controller-runtime"

	"github.com/pgstorage/pgstorage/internal/cli"
)

// version is set by the linker.
var version = "dev"

func main() {
	// The client's library logs; a person gets errors.
	ctrl.SetLogger(logr.Discard())
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	streams := genericiooptions.IOStreams{In: os.Stdin, Out: os.Stdout, ErrOut: os.Stderr}
	if err := cli.New(streams, version).ExecuteContext(ctx); err != nil {
		if !errors.Is(err, cli.ErrFindings) {
			fmt.Fprintln(os.Stderr, "error:", err)
		}
		stop()
		os.Exit(1)
	}
}
