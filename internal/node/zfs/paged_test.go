package zfs

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/pgstorage/pgstorage/internal/node/host"
)

// crowded is a pool with so many datasets that all at once are too much, and what
// happens with each page.
type crowded struct {
	names []string
	page  func(c *crowded)
	runs  []string
}

func (c *crowded) Run(ctx context.Context, program string, args ...string) (host.Output, error) {
	failed := &host.Error{Argv: []string{program, args[0]}, ExitCode: -1}
	if failed.Err = host.Check(ctx, false, program, args...); failed.Err != nil {
		return host.Output{}, failed
	}
	c.runs = append(c.runs, args[0])
	if args[0] == "list" {
		return host.Output{Stdout: []byte(strings.Join(c.names, "\n") + "\n")}, nil
	}
	asked := args[slices.Index(args, readProperties())+1:]
	if slices.Contains(args, "-r") {
		asked = c.names
	} else if c.page != nil {
		c.page(c)
	}
	var out strings.Builder
	for _, name := range asked {
		if !slices.Contains(c.names, name) {
			failed.ExitCode, failed.Stderr, failed.Err = 1, fmt.Sprintf("cannot open '%s': dataset does not exist\n", name), errors.New("exit status 1")
			return host.Output{}, failed
		}
		for property := range strings.SplitSeq(readProperties(), ",") {
			value := strings.Repeat("9", 20)
			if property == "type" {
				value = string(Filesystem)
			}
			fmt.Fprintf(&out, "%s\t%s\t%s\tinherited from %s\n", name, property, value, c.names[0])
		}
	}
	if out.Len() > host.DefaultMaxOutput {
		failed.Err = fmt.Errorf("%w: more than %d bytes", host.ErrTooMuchOutput, host.DefaultMaxOutput)
		return host.Output{}, failed
	}
	return host.Output{Stdout: []byte(out.String())}, nil
}

func (c *crowded) Change(context.Context, string, ...string) (host.Output, error) {
	return host.Output{}, host.ErrRefused
}

func crowd(n int) *crowded {
	c := &crowded{names: []string{"tank"}}
	for i := range n {
		c.names = append(c.names, fmt.Sprintf("tank/pgdata/pvc-%s-%06d", strings.Repeat("f", 200), i))
	}
	return c
}

// More datasets than one answer may hold are all read, also while one is destroyed.
func TestDatasetsBeyondOneAnswer(t *testing.T) {
	for name, test := range map[string]struct {
		pool *crowded
		want int
		runs string
	}{
		"few":  {crowd(10), 11, "get"},
		"many": {crowd(1200), 1201, "get list get get get get get"},
		"one is destroyed": {func() *crowded {
			c, pages := crowd(1200), 0
			c.page = func(c *crowded) {
				if pages++; pages == 2 {
					c.names = slices.Delete(c.names, 300, 301)
				}
			}
			return c
		}(), 1200, "get list get get list get get get get get"},
	} {
		t.Run(name, func(t *testing.T) {
			c := &Client{Runner: test.pool}
			got, err := c.Datasets(t.Context(), "tank")
			if err != nil || len(got) != test.want {
				t.Fatalf("%d datasets: %v", len(got), err)
			}
			for i, d := range got {
				if d.Name != test.pool.names[i] || d.Kind != Filesystem || d.Bytes("used") == 0 || d.Properties["recordsize"].Source != "inherited from tank" {
					t.Fatalf("dataset %d: %+v", i, d)
				}
			}
			if runs := strings.Join(test.pool.runs, " "); runs != test.runs {
				t.Errorf("ran %s, want %s", runs, test.runs)
			}
		})
	}
	restless := crowd(1200)
	restless.page = func(c *crowded) { c.names = slices.Delete(c.names, len(c.names)-1, len(c.names)) }
	if _, err := (&Client{Runner: restless}).Datasets(t.Context(), "tank"); !errors.Is(err, ErrNoSuchDataset) {
		t.Errorf("a pool that never rests: %v", err)
	}
}

// talkative is a pool with more damaged files than one answer may hold.
type talkative struct{ crowded }

func (p *talkative) Run(ctx context.Context, program string, args ...string) (host.Output, error) {
	if err := host.Check(ctx, false, program, args...); err != nil {
		return host.Output{}, err
	}
	if slices.Contains(args, "-v") {
		return host.Output{}, &host.Error{Argv: append([]string{program}, args...), ExitCode: -1, Err: host.ErrTooMuchOutput}
	}
	return host.Output{Stdout: []byte("  pool: tank\n state: ONLINE\n  scan: none requested\nconfig:\n\n\tNAME        STATE     READ WRITE CKSUM\n\ttank        ONLINE       0     0     0\n\t  /dev/vdb  ONLINE       0     0     0\n\nerrors: 140000 data errors, use '-v' for a list\n")}, nil
}

func TestStatusOfAPoolWithManyDamagedFiles(t *testing.T) {
	got, err := (&Client{Runner: &talkative{}}).Status(t.Context(), "tank")
	if err != nil || got.DataErrors != 140000 {
		t.Errorf("%+v, %v", got, err)
	}
}
