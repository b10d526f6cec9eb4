package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"log/slog"
	"os"
	"os/signal"
	"strings"
	"syscall"

	"github.com/pgstorage/pgstorage/internal/zerofs"
	"github.com/pgstorage/pgstorage/internal/zerofs/preflight"
)

// zerofsPreflight runs before a server's container. It reports a fault of the store to
// the kubelet, with the exit code 1. The exit code is 2 if it was called wrongly.
func zerofsPreflight(args []string, log *slog.Logger) int {
	options, termination, err := preflightFlags(args)
	if err != nil {
		log.Error(err.Error())
		return exitUsage
	}
	options.Log = log
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM, syscall.SIGINT)
	defer stop()
	err = preflight.Check(ctx, options)
	if failure, ok := errors.AsType[*zerofs.Failure](err); ok {
		failure.Message = zerofs.SecretsOf(os.Environ()).Hide(failure.Message)
		if err := failure.Report(termination); err != nil {
			log.Warn("cannot report the failure to the kubelet", "error", err)
		}
	}
	return outcome(log, err)
}

func preflightFlags(args []string) (preflight.Options, string, error) {
	o := preflight.Options{AccessKeyID: os.Getenv(zerofs.EnvAccessKeyID), SecretAccessKey: os.Getenv(zerofs.EnvSecretAccessKey)}
	set := flag.NewFlagSet("zerofs-preflight", flag.ContinueOnError)
	set.StringVar(&o.URL, "url", "", "s3://bucket/prefix, which may contain "+zerofs.NodeNameInURL+" (required)")
	set.StringVar(&o.Endpoint, "endpoint", "", "scheme and host of the store (default: Amazon S3 in the region)")
	set.StringVar(&o.Region, "region", "us-east-1", "region of the bucket")
	set.BoolVar(&o.PathStyle, "path-style", false, "use path-style requests, with the bucket in the path")
	set.DurationVar(&o.Patience, "patience", preflight.DefaultPatience, "maximum time to wait for an answer of the store")
	termination := set.String("termination-log", zerofs.TerminationLog, "file for the error message")
	if err := set.Parse(args); err != nil {
		return o, "", err
	}
	if o.URL == "" || set.NArg() > 0 {
		return o, "", errors.New("usage: agent zerofs-preflight --url s3://BUCKET/PREFIX [--endpoint URL] [--region REGION] [--path-style]")
	}
	if strings.Contains(o.URL, zerofs.NodeNameInURL) {
		node := os.Getenv(zerofs.EnvNodeName)
		if node == "" {
			return o, "", fmt.Errorf("--url contains %s, but %s is not set", zerofs.NodeNameInURL, zerofs.EnvNodeName)
		}
		o.URL = strings.ReplaceAll(o.URL, zerofs.NodeNameInURL, node)
	}
	if password, given := os.LookupEnv(zerofs.EnvPassword); given {
		o.Password = &password
	}
	return o, *termination, nil
}
