//go:build guest

// Package s3nbd_test is what the host of test/vm boots where a ZeroFS on the node
// makes block devices of a bucket, and a pool lies over them.
package s3nbd_test

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"testing"
	"time"

	"github.com/pgstorage/pgstorage/internal/ninep"
	"github.com/pgstorage/pgstorage/internal/testing/zerofs"
)

const (
	// patience bounds one step: the processor is emulated.
	patience = 2 * time.Minute

	exportBytes = 256 << 20
)

var exports = []string{"data-0", "data-1"}

// TestWrite is the first boot's part of the smoke test.
func TestWrite(t *testing.T) {
	config := load(t, "zerofs.json")
	server := start(t, config)
	within(t, func(ctx context.Context) error {
		for _, name := range exports {
			if err := (&ninep.Client{Socket: config.NineP()}).Create(ctx, name, exportBytes); err != nil {
				return err
			}
		}
		return attach(ctx, config.NBD(), exports)
	})
	var guid, sum string
	within(t, func(ctx context.Context) (err error) { guid, err = createPool(ctx); return err })
	within(t, func(ctx context.Context) (err error) { sum, err = fill(ctx); return err })
	within(t, release)
	stop(t, server)
	fmt.Println("smoke: wrote", guid, sum)
}

// TestRead is the second boot's: it finds the pool by its GUID, with its devices
// under other names.
func TestRead(t *testing.T) {
	config := load(t, "zerofs.json")
	server := start(t, config)
	within(t, func(ctx context.Context) error { return attach(ctx, config.NBD(), []string{exports[1], exports[0]}) })
	within(t, func(ctx context.Context) error { return importPool(ctx, os.Getenv("PGSTORAGE_POOL")) })
	sum, err := digest()
	if err != nil {
		t.Fatal(err)
	}
	if want := os.Getenv("PGSTORAGE_HASH"); sum != want {
		t.Errorf("the file's hash is %s, want %s", sum, want)
	}
	within(t, release)
	stop(t, server)
}

func load(t *testing.T, path string) zerofs.Config {
	t.Helper()
	content, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	var config zerofs.Config
	if err := json.Unmarshal(content, &config); err != nil {
		t.Fatal(err)
	}
	return config
}

func start(t *testing.T, config zerofs.Config) *zerofs.Server {
	t.Helper()
	begin := time.Now()
	server, err := zerofs.Start(t.Context(), zerofs.Options{Program: "./zerofs", Config: config, ReadyTime: patience})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = server.Kill() })
	t.Logf("ZeroFS answers after %.1f s", time.Since(begin).Seconds())
	return server
}

// stop a ZeroFS that nothing uses any more, with all that it has stored.
func stop(t *testing.T, server *zerofs.Server) {
	t.Helper()
	if err := server.Stop(patience); err != nil {
		t.Fatal(err)
	}
}

// within bounds one step.
func within(t *testing.T, step func(context.Context) error) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	if err := step(ctx); err != nil {
		t.Fatal(err)
	}
}
