//go:build linux

package measure

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/pgstorage/pgstorage/internal/pgbench"
	"github.com/pgstorage/pgstorage/test/vm/postgres/server"
)

// Load of one run.
type Load struct {
	// Port of the database.
	Port string
	// Script is a built-in one of pgbench.
	Script           string
	Clients, Seconds int
	// Durable commits wait for the disk.
	Durable bool
}

// Run it.
func (l Load) Run(ctx context.Context) (*pgbench.Result, error) {
	args, err := pgbench.RunOptions{
		Scripts: []pgbench.WeightedScript{{Builtin: l.Script}},
		Clients: l.Clients, Jobs: min(l.Clients, 2), Duration: time.Duration(l.Seconds) * time.Second,
		Protocol: pgbench.Prepared, NoVacuum: true,
	}.Args()
	if err != nil {
		return nil, err
	}
	cmd, err := server.Command(ctx, "pgbench", args...)
	if err != nil {
		return nil, err
	}
	commit := map[bool]string{true: "on", false: "off"}[l.Durable]
	cmd.Env = append(cmd.Env, "PGPORT="+l.Port, "PGOPTIONS=-c synchronous_commit="+commit)
	out, err := cmd.Output()
	if err != nil {
		return nil, fmt.Errorf("%s: %w: %s", strings.Join(cmd.Args, " "), err, out)
	}
	return pgbench.Parse(strings.NewReader(string(out)))
}
