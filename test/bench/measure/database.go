//go:build linux

package measure

import (
	"context"
	"fmt"
	"maps"
	"os"
	"strconv"
	"strings"
	"time"

	"github.com/pgstorage/pgstorage/test/vm/postgres/server"
)

// Versions of what is measured.
type Versions struct{ Kernel, ZFS, Postgres string }

// ReadVersions of the machine.
func ReadVersions(ctx context.Context) (Versions, error) {
	var v Versions
	kernel, err := os.ReadFile("/proc/sys/kernel/osrelease")
	if err != nil {
		return v, err
	}
	zfs, err := os.ReadFile("/sys/module/zfs/version")
	if err != nil {
		return v, err
	}
	postgres, err := server.Run(ctx, "postgres", "--version")
	v.Kernel, v.ZFS, v.Postgres = strings.TrimSpace(string(kernel)), strings.TrimSpace(string(zfs)), strings.TrimSpace(postgres)
	return v, err
}

// Fill a database that is not there yet by pgbench, stop it, and return its size.
func Fill(ctx context.Context, scale int, instance server.Instance) (int64, error) {
	begin := time.Now()
	if err := instance.Init(ctx); err != nil {
		return 0, err
	}
	if _, err := instance.Start(ctx); err != nil {
		return 0, err
	}
	if _, err := server.AsPostgres(ctx, "pgbench", "--initialize", "--quiet", "--scale="+strconv.Itoa(scale)); err != nil {
		return 0, err
	}
	text, err := server.AsPostgres(ctx, "psql", "-Atc", "SELECT pg_database_size('postgres')")
	if err != nil {
		return 0, err
	}
	size, err := strconv.ParseInt(strings.TrimSpace(text), 10, 64)
	if err != nil {
		return 0, err
	}
	fmt.Printf("filled with %d MB in %s\n", size/1e6, time.Since(begin).Round(time.Second))
	return size, instance.Stop(ctx)
}

// Clone copies a stopped instance without a volume for its WAL to one with it, file by file.
// Both then have the same pages, and the second costs an emulated processor less than the
// first.
func Clone(ctx context.Context, from, to server.Instance) error {
	begin := time.Now()
	data, wal := to.Data+"/pgdata", to.WAL+"/pg_wal"
	for _, command := range [][]string{
		{"chown", "postgres:postgres", to.Data, to.WAL},
		{"cp", "-a", from.Data + "/pgdata", data},
		{"mv", data + "/pg_wal", wal},
		{"ln", "-s", wal, data + "/pg_wal"},
		{"chown", "--no-dereference", "postgres:postgres", data + "/pg_wal"},
	} {
		if _, err := server.Run(ctx, command[0], command[1:]...); err != nil {
			return err
		}
	}
	fmt.Printf("cloned in %s\n", time.Since(begin).Round(time.Second))
	return nil
}

// Serve serves a database on a port of its own, and reads it once. A benchmark measures the
// state after hours, not that after a start.
func Serve(ctx context.Context, instance server.Instance, port string) error {
	settings := map[string]string{"port": port}
	maps.Copy(settings, instance.Settings)
	instance.Settings = settings
	if _, err := instance.Start(ctx); err != nil {
		return err
	}
	_, err := server.AsPostgres(ctx, "psql", "--port="+port, "--quiet", "--command=CREATE EXTENSION IF NOT EXISTS pg_prewarm",
		"--command=SELECT pg_prewarm(oid) FROM pg_class WHERE relname LIKE 'pgbench_%' AND relkind IN ('r', 'i') ORDER BY pg_relation_size(oid) DESC")
	return err
}
