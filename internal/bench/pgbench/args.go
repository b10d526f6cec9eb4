package pgbench

import (
	"errors"
	"fmt"
	"strconv"
	"time"
)

// Built-in scripts of pgbench.
const (
	TPCB         = "tpcb-like"
	SimpleUpdate = "simple-update"
	SelectOnly   = "select-only"
)

// Protocol of --protocol.
type Protocol string

// The protocols of pgbench.
const (
	Simple   Protocol = "simple"
	Extended Protocol = "extended"
	Prepared Protocol = "prepared"
)

// InitOptions of pgbench --initialize.
type InitOptions struct {
	Scale       int
	ForeignKeys bool
	// Unlogged creates tables whose changes write no WAL, and that are empty after a
	// crash.
	Unlogged bool
}

// Args are the arguments of pgbench. The connection comes from the environment.
func (o InitOptions) Args() ([]string, error) {
	if o.Scale < 1 {
		return nil, fmt.Errorf("scale must be at least 1, not %d", o.Scale)
	}
	args := []string{"--initialize", "--scale=" + strconv.Itoa(o.Scale)}
	if o.ForeignKeys {
		args = append(args, "--foreign-keys")
	}
	if o.Unlogged {
		args = append(args, "--unlogged-tables")
	}
	return args, nil
}

// WeightedScript is one script of a run: a built-in one or a file.
type WeightedScript struct {
	Builtin string
	File    string
	// Weight against the other scripts; zero is 1.
	Weight int
}

// RunOptions of a run of pgbench. Zero values leave an option out.
type RunOptions struct {
	Scripts []WeightedScript
	Clients int
	Jobs    int
	// Duration in whole seconds, or Transactions of each client.
	Duration     time.Duration
	Transactions int64
	Rate         float64
	Protocol     Protocol
	// MaxTries of a transaction; PostgreSQL 14 has no such option.
	MaxTries int
	// Progress is the interval of progress lines, in whole seconds.
	Progress time.Duration
	// LogPrefix of the transaction logs; SamplingRate of their lines, below 1.
	LogPrefix    string
	SamplingRate float64
	// Statements asks for the latency of each statement.
	Statements bool
	// FailuresDetailed separates serialization failures from deadlocks; PostgreSQL 14
	// has no such option.
	FailuresDetailed bool
	// NoVacuum keeps pgbench from vacuuming its tables, and from emptying
	// pgbench_history, before the run.
	NoVacuum bool
	Seed     *uint64
}

// Args are the arguments of pgbench. The connection comes from the environment.
func (o RunOptions) Args() ([]string, error) {
	if err := o.validate(); err != nil {
		return nil, err
	}
	args := o.scripts()
	add := func(wanted bool, option string) {
		if wanted {
			args = append(args, option)
		}
	}
	add(true, "--client="+strconv.Itoa(o.Clients))
	add(o.Jobs > 0, "--jobs="+strconv.Itoa(o.Jobs))
	add(o.Duration > 0, "--time="+seconds(o.Duration))
	add(o.Transactions > 0, "--transactions="+strconv.FormatInt(o.Transactions, 10))
	add(o.Rate > 0, "--rate="+decimal(o.Rate))
	add(o.Protocol != "", "--protocol="+string(o.Protocol))
	add(o.MaxTries > 1, "--max-tries="+strconv.Itoa(o.MaxTries))
	add(o.Progress > 0, "--progress="+seconds(o.Progress))
	add(o.LogPrefix != "", "--log")
	add(o.LogPrefix != "", "--log-prefix="+o.LogPrefix)
	add(o.LogPrefix != "" && o.SamplingRate > 0 && o.SamplingRate < 1, "--sampling-rate="+decimal(o.SamplingRate))
	add(o.Statements, "--report-per-command")
	add(o.FailuresDetailed, "--failures-detailed")
	add(o.NoVacuum, "--no-vacuum")
	if o.Seed != nil {
		add(true, "--random-seed="+strconv.FormatUint(*o.Seed, 10))
	}
	return args, nil
}

// scripts always carry their weight: pgbench looks for it behind the last "@",
// which may be part of a file's name.
func (o RunOptions) scripts() []string {
	args := make([]string, 0, len(o.Scripts)+16)
	for _, s := range o.Scripts {
		option, name := "--builtin=", s.Builtin
		if s.File != "" {
			option, name = "--file=", s.File
		}
		args = append(args, option+name+"@"+strconv.Itoa(max(1, s.Weight)))
	}
	return args
}

func (o RunOptions) validate() error {
	var errs []error
	refuse := func(wrong bool, why string) {
		if wrong {
			errs = append(errs, errors.New(why))
		}
	}
	refuse(len(o.Scripts) == 0, "a run needs a script")
	for _, s := range o.Scripts {
		refuse((s.Builtin == "") == (s.File == ""), "a script is either built-in or a file")
	}
	refuse(o.Clients < 1, "clients must be at least 1")
	refuse((o.Duration > 0) == (o.Transactions > 0), "a run is either by duration or by transactions")
	refuse(o.Duration%time.Second != 0, "duration must be whole seconds")
	refuse(o.Progress%time.Second != 0, "progress must be whole seconds")
	switch o.Protocol {
	case "", Simple, Extended, Prepared:
	default:
		refuse(true, fmt.Sprintf("protocol %q is not simple, extended or prepared", o.Protocol))
	}
	return errors.Join(errs...)
}

func seconds(d time.Duration) string { return strconv.Itoa(int(d / time.Second)) }

func decimal(f float64) string { return strconv.FormatFloat(f, 'f', -1, 64) }
