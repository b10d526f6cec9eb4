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

// version is set at link time.
var version = "dev"

func main() {
	// Users get errors, not the log of the client library.
	ctrl.SetLogger(logr.Discard())
	signals := make(chan os.Signal, 2)
	signal.Notify(signals, os.Interrupt, syscall.SIGTERM)
	streams := genericiooptions.IOStreams{In: os.Stdin, Out: os.Stdout, ErrOut: os.Stderr}
	os.Exit(cli.Main(streams, version, os.Args[1:], signals))
}
