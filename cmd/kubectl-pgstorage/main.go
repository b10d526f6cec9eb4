// Command kubectl-pgstorage is the kubectl plugin: kubectl pgstorage.
package main

import (
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
	signals := make(chan os.Signal, 2)
	signal.Notify(signals, os.Interrupt, syscall.SIGTERM)
	streams := genericiooptions.IOStreams{In: os.Stdin, Out: os.Stdout, ErrOut: os.Stderr}
	os.Exit(cli.Run(streams, version, os.Args[1:], signals))
}
