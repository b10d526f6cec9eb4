//go:build zerofs && linux

package nbd

import (
	"context"
	"os"
	"testing"

	"github.com/pgstorage/pgstorage/internal/testing/s3"
	"github.com/pgstorage/pgstorage/internal/testing/zerofs"
	"github.com/pgstorage/pgstorage/internal/zerofs/exports"
)

// program that a variable names, or that is built.
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

// ZeroFS offers what a device needs; what the kernel makes of it is test/vm's.
// PGSTORAGE_ZEROFS and PGSTORAGE_S3 name the programs; without them they are built.
func TestZeroFSHandshake(t *testing.T) {
	store, err := s3.Start(t.Context(), s3.Options{
		Program: program(t, "PGSTORAGE_S3", s3.Program), Dir: t.TempDir(), Buckets: []string{"pool"}, Log: t.Output(),
	})
	wants(t, err, nil)
	t.Cleanup(func() { _ = store.Close() })
	config := zerofs.Config{
		Bucket: "pool", Prefix: "a", Endpoint: store.Endpoint("127.0.0.1"), AccessKey: store.AccessKey, SecretKey: store.SecretKey,
		Region: s3.Region, Password: "for-tests-only", Dir: t.TempDir(),
	}
	server, err := zerofs.Start(t.Context(), zerofs.Options{Program: program(t, "PGSTORAGE_ZEROFS", zerofs.Program), Config: config})
	wants(t, err, nil)
	t.Cleanup(func() { _ = server.Kill() })

	exports := exports.Client{Socket: config.NineP()}
	d := sample(func(d *Device) { d.Socket, d.Connections = config.NBD(), 4 }).withDefaults()
	_, _, err = connect(t.Context(), d)
	wants(t, err, ErrNoSuchExport)
	for _, step := range []struct {
		change func(context.Context, string, uint64) error
		bytes  uint64
	}{{exports.Create, 1 << 20}, {exports.Grow, 1 << 40}} {
		wants(t, step.change(t.Context(), d.Export, step.bytes), nil)
		all, o, err := connect(t.Context(), d)
		wants(t, err, nil)
		if o.Bytes != step.bytes || o.Flags&passedOn != passedOn || len(all) != d.Connections {
			t.Errorf("%d connections to %+v, wanted %d bytes", len(all), o, step.bytes)
		}
		all.close()
	}
}
