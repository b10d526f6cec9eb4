//go:build linux

package server

import (
	"context"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// DSN reaches the instance that runs.
const DSN = "host=/run/postgresql user=postgres dbname=postgres"

// Instance of Postgres.
type Instance struct {
	// Data and WAL are mounted volumes; without WAL, it is stored with the data.
	Data, WAL string
	// Settings replace the defaults of Postgres.
	Settings map[string]string
}

func (i Instance) folder() string { return filepath.Join(i.Data, "pgdata") }

// Log of what the instance said since the machine booted.
func (i Instance) Log() string {
	return "/run/postgresql/" + strings.ReplaceAll(strings.Trim(i.Data, "/"), "/", "-") + ".log"
}

// Init makes the database as CloudNativePG does: folders within the volumes, and
// data checksums.
func (i Instance) Init(ctx context.Context) error {
	args := []string{"--pgdata=" + i.folder(), "--data-checksums", "--auth=trust", "--encoding=UTF8", "--locale=C", "--no-sync"}
	for _, volume := range []string{i.Data, i.WAL} {
		if volume == "" {
			continue
		}
		if _, err := Run(ctx, "chown", "postgres:postgres", volume); err != nil {
			return err
		}
	}
	if i.WAL != "" {
		args = append(args, "--waldir="+filepath.Join(i.WAL, "pg_wal"))
	}
	if _, err := AsPostgres(ctx, "initdb", args...); err != nil {
		return err
	}
	file, err := os.OpenFile(filepath.Join(i.folder(), "postgresql.conf"), os.O_APPEND|os.O_WRONLY, 0)
	if err != nil {
		return err
	}
	defer file.Close() //nolint:errcheck // synced below
	if _, err := file.WriteString("include_if_exists 'custom.conf'\n"); err != nil {
		return err
	}
	syscall.Sync() // once, instead of initdb's one by one
	return file.Sync()
}

// Start returns how long it took until connections were accepted.
func (i Instance) Start(ctx context.Context) (time.Duration, error) {
	var text strings.Builder
	for _, name := range slices.Sorted(maps.Keys(i.Settings)) {
		_, _ = fmt.Fprintf(&text, "%s = '%s'\n", name, strings.ReplaceAll(i.Settings[name], "'", "''"))
	}
	if err := os.WriteFile(filepath.Join(i.folder(), "custom.conf"), []byte(text.String()), 0o644); err != nil {
		return 0, err
	}
	begin := time.Now()
	if _, err := AsPostgres(ctx, "pg_ctl", "--pgdata="+i.folder(), "--wait", "--timeout=300", "--log="+i.Log(), "start"); err != nil {
		log, _ := os.ReadFile(i.Log())
		return 0, fmt.Errorf("%w\n%s", err, log)
	}
	return time.Since(begin), nil
}

// Stop stops the instance cleanly, with a checkpoint.
func (i Instance) Stop(ctx context.Context) error {
	_, err := AsPostgres(ctx, "pg_ctl", "--pgdata="+i.folder(), "--wait", "--timeout=300", "--mode=fast", "stop")
	return err
}

// AsPostgres runs a program as the user that owns the database.
func AsPostgres(ctx context.Context, program string, args ...string) (string, error) {
	cmd, err := Command(ctx, program, args...)
	if err != nil {
		return "", err
	}
	return finish(cmd)
}

// Command of the user that owns the database.
func Command(ctx context.Context, program string, args ...string) (*exec.Cmd, error) {
	owner, err := user.Lookup("postgres")
	if err != nil {
		return nil, err
	}
	uid, err := strconv.ParseUint(owner.Uid, 10, 32)
	if err != nil {
		return nil, err
	}
	gid, err := strconv.ParseUint(owner.Gid, 10, 32)
	if err != nil {
		return nil, err
	}
	cmd := exec.CommandContext(ctx, program, args...)
	cmd.Dir = "/"
	cmd.Env = append(os.Environ(), "PGHOST=/run/postgresql", "PGUSER=postgres", "PGDATABASE=postgres")
	cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: uint32(uid), Gid: uint32(gid)}}
	return cmd, nil
}
