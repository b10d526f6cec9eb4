// Command site asks the other sites of a database what they do, and publishes their answers.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"log/slog"
	"net"
	"os"
	"os/signal"
	"syscall"

	"k8s.io/utils/clock"

	"github.com/pgstorage/pgstorage/internal/site/report"
	"github.com/pgstorage/pgstorage/internal/site/watch"
)

// version is set by the linker.
var version = "dev"

const (
	exitFailed = 1
	exitUsage  = 2
)

type settings struct {
	members              []watch.Member
	certificates, listen string
	showVersion          bool
}

func flags(set *flag.FlagSet, args []string) (settings, error) {
	s := settings{}
	set.Func("member", "site to ask, as name=south,host=shop.south.example,port=5432; repeat it for each other site (required)", func(text string) error {
		m, err := watch.ParseMember(text)
		s.members = append(s.members, m)
		return err
	})
	set.StringVar(&s.certificates, "certificates", "/etc/pgstorage/sites", "folder that has tls.crt, tls.key and ca.crt of each member in a folder of its name")
	set.StringVar(&s.listen, "listen", fmt.Sprintf(":%d", report.Port), "address of GET "+report.Path+" and GET "+report.HealthPath)
	set.BoolVar(&s.showVersion, "version", false, "print the version and exit")
	if err := set.Parse(args); err != nil {
		return s, err
	}
	if set.NArg() > 0 {
		return s, fmt.Errorf("unexpected argument %q", set.Arg(0))
	}
	if s.showVersion {
		return s, nil
	}
	return s, watch.Check(s.members)
}

func main() {
	s, err := flags(flag.NewFlagSet("site", flag.ContinueOnError), os.Args[1:])
	if errors.Is(err, flag.ErrHelp) {
		return
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "site:", err)
		os.Exit(exitUsage)
	}
	if s.showVersion {
		fmt.Println("pgstorage site", version)
		return
	}
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM, os.Interrupt)
	defer stop()
	if err := run(ctx, s, slog.New(slog.NewTextHandler(os.Stderr, nil))); err != nil {
		fmt.Fprintln(os.Stderr, "site:", err)
		os.Exit(exitFailed)
	}
}

// run until ctx ends, or the server does.
func run(ctx context.Context, s settings, log *slog.Logger) error {
	listener, err := (&net.ListenConfig{}).Listen(ctx, "tcp", s.listen)
	if err != nil {
		return err
	}
	log.Info("watching", "version", version, "sites", len(s.members), "address", listener.Addr().String())
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	w := watch.New(s.members, s.certificates, clock.RealClock{}, log)
	watched := make(chan struct{})
	go func() {
		defer close(watched)
		w.Run(ctx)
	}()
	err = w.Serve(ctx, listener)
	stop()
	<-watched
	return err
}
