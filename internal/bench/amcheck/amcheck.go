// Package amcheck has pg_amcheck read every table and B-tree index of a database.
package amcheck

import (
	"context"
	"errors"
	"io/fs"
	"os/exec"
	"strings"
	"time"

	"github.com/pgstorage/pgstorage/api/v1alpha1"
	"github.com/pgstorage/pgstorage/internal/bench/program"
	"github.com/pgstorage/pgstorage/internal/kube/excerpt"
)

// Name of the check.
const Name = "Amcheck"

const (
	// corrupt is how pg_amcheck exits when it has found corruption.
	corrupt = 2
	// mostText is how much of what it printed is kept, in bytes.
	mostText = 500
)

// Options of Run.
type Options struct {
	// Bin is the folder of pg_amcheck; empty is the PATH.
	Bin string
	// Dir is where it runs.
	Dir      string
	Database string
	// Env is set on top of the environment, as the connection.
	Env     []string
	Timeout time.Duration
}

// Run runs pg_amcheck as the role that owns the database. What it calls there, such as the
// expression of an index, then has the rights of its author, and no more.
func Run(ctx context.Context, o Options) v1alpha1.IntegrityCheck {
	out, err := program.Command{
		Path:    program.In(o.Bin, "pg_amcheck"),
		Args:    []string{"--heapallindexed", "--no-password", o.Database},
		Env:     program.Environment(append([]string{"PGOPTIONS=-c search_path= -c statement_timeout=0 -c lock_timeout=0"}, o.Env...)...),
		Dir:     o.Dir,
		Timeout: o.Timeout,
	}.Run(ctx)
	return verdict(out, err)
}

// NotRun is the check where it cannot run.
func NotRun(why string) v1alpha1.IntegrityCheck {
	return v1alpha1.IntegrityCheck{Name: Name, Result: v1alpha1.CheckNotRun, Message: excerpt.Truncate(why, mostText)}
}

func verdict(out string, err error) v1alpha1.IntegrityCheck {
	c := NotRun("")
	var p *program.Error
	switch {
	case err == nil:
		c.Result, c.Message = v1alpha1.CheckPassed, "tables and indexes are sound"
	case errors.As(err, &p) && p.Code == corrupt:
		c.Result, c.Message = v1alpha1.CheckFailed, "pg_amcheck found corruption: "+excerpt.Truncate(strings.Join(strings.Fields(out), " "), mostText)
	case errors.Is(err, exec.ErrNotFound), errors.Is(err, fs.ErrNotExist):
		c.Message = "the image has no pg_amcheck"
	default:
		c.Message = excerpt.Truncate(err.Error(), mostText)
	}
	return c
}
