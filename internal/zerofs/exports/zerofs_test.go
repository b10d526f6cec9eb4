//go:build zerofs && linux

package exports_test

import (
	"cmp"
	"context"
	"fmt"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/pgstorage/pgstorage/internal/testing/s3"
	"github.com/pgstorage/pgstorage/internal/testing/zerofs"
	"github.com/pgstorage/pgstorage/internal/zerofs/exports"
)

// start a ZeroFS on an S3 server. PGSTORAGE_ZEROFS and PGSTORAGE_S3 name the
// programs; without them they are built.
func start(t *testing.T) (*exports.Client, *zerofs.Server) {
	t.Helper()
	store, err := s3.Start(t.Context(), s3.Options{
		Program: program(t, "PGSTORAGE_S3", s3.Program), Dir: t.TempDir(), Buckets: []string{"pool"}, Log: t.Output(),
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = store.Close() })
	config := zerofs.Config{
		Bucket: "pool", Prefix: "a", Endpoint: store.Endpoint("127.0.0.1"), AccessKey: store.AccessKey, SecretKey: store.SecretKey,
		Region: s3.Region, Password: "for-tests-only", Dir: t.TempDir(),
	}
	server, err := zerofs.Start(t.Context(), zerofs.Options{Program: program(t, "PGSTORAGE_ZEROFS", zerofs.Program), Config: config})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = server.Kill() })
	return &exports.Client{Socket: config.NineP()}, server
}

func program(t *testing.T, variable string, build func(context.Context) (string, error)) string {
	t.Helper()
	if path := os.Getenv(variable); path != "" {
		return path
	}
	path, err := build(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return path
}

func TestZeroFS(t *testing.T) {
	c, server := start(t)
	if all := exportsOf(t, c); len(all) > 0 {
		t.Fatal(all)
	}
	const tebi = 1 << 40
	wants(t, c.Create(t.Context(), "a", mebi), nil)
	wants(t, c.Create(t.Context(), "a", mebi), nil)
	wants(t, c.Create(t.Context(), "b", tebi), nil)
	wants(t, c.Create(t.Context(), "b", mebi), exports.ErrExists, "1099511627776", "1048576")
	wants(t, c.Grow(t.Context(), "a", 4*mebi), nil)
	wants(t, c.Grow(t.Context(), "a", mebi), exports.ErrShrink, "4194304", "1048576")
	wants(t, c.Grow(t.Context(), "c", mebi), exports.ErrNoSuchExport)
	for _, mark := range []string{"first", "another"} {
		wants(t, c.SetOwner(t.Context(), mark), nil)
		owned(t, c, mark)
	}
	want := []exports.Export{{Name: "a", Bytes: 4 * mebi}, {Name: "b", Bytes: tebi}}
	if all := exportsOf(t, c); !slices.Equal(all, want) {
		t.Fatalf("%v, wanted %v", all, want)
	}

	// What was answered is in the object store.
	if err := cmp.Or(server.Kill(), server.Restart(t.Context())); err != nil {
		t.Fatal(err)
	}
	if all := exportsOf(t, c); !slices.Equal(all, want) {
		t.Fatalf("after a kill: %v, wanted %v", all, want)
	}
	owned(t, c, "another")
}

// More names than one message has room for, made by many at once.
func TestZeroFSManyExports(t *testing.T) {
	c, _ := start(t)
	var want []exports.Export
	var all sync.WaitGroup
	for i := range 700 {
		name := fmt.Sprintf("%s-%03d", strings.Repeat("pool", 25), i)
		want = append(want, exports.Export{Name: name, Bytes: mebi})
		all.Go(func() {
			if err := c.Create(t.Context(), name, mebi); err != nil {
				t.Error(err)
			}
		})
	}
	all.Wait()
	if got := exportsOf(t, c); !slices.Equal(got, want) {
		t.Errorf("%d exports, wanted %d", len(got), len(want))
	}
}

// Two that create the same export at once make one, whatever comes first.
func TestZeroFSSameAtOnce(t *testing.T) {
	c, _ := start(t)
	var all sync.WaitGroup
	for range 20 {
		all.Go(func() {
			if err := c.Create(t.Context(), "same", mebi); err != nil {
				t.Error(err)
			}
		})
	}
	all.Wait()
	if got := exportsOf(t, c); !slices.Equal(got, []exports.Export{{Name: "same", Bytes: mebi}}) {
		t.Error(got)
	}
}
