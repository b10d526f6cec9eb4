//go:build linux

package harness

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/pgstorage/pgstorage/internal/testing/hosttime"
	"github.com/pgstorage/pgstorage/internal/testing/slowdisk"
	"github.com/pgstorage/pgstorage/internal/testing/vm"
	"github.com/pgstorage/pgstorage/test/bench/measure"
)

// Lab is a virtual machine with one disk whose flush takes a known time. In it a guest
// measures databases in turns.
type Lab struct {
	Plan measure.Plan
	// Flush is how long the disk takes for each flush.
	Flush time.Duration
	// ARC is arcMax of the profiles.
	ARC string
	// Memory of the machine, in MiB.
	Memory int
	// Out is the folder of the page. Empty: nothing is written.
	Out string
}

// Register the flags of a lab. Their defaults are the values that it has.
func (l *Lab) Register(flags *flag.FlagSet) {
	flags.IntVar(&l.Plan.Rounds, "rounds", l.Plan.Rounds, "times that each run is repeated, in another order")
	flags.IntVar(&l.Plan.Seconds, "seconds", l.Plan.Seconds, "duration of each measured run")
	flags.IntVar(&l.Plan.WarmUp, "warm-up", l.Plan.WarmUp, "seconds of load before each measured run")
	flags.Var((*Clients)(&l.Plan.Clients), "clients", "numbers of clients")
	flags.StringVar(&l.Plan.Script, "script", l.Plan.Script, "built-in script of pgbench")
	flags.IntVar(&l.Plan.Scale, "scale", l.Plan.Scale, "scale of pgbench")
	flags.DurationVar(&l.Flush, "flush", l.Flush, "time that a flush of the disk takes")
	flags.StringVar(&l.ARC, "arc", l.ARC, "arcMax of the profiles, for all configurations; empty selects ZFS' default")
	flags.IntVar(&l.Memory, "memory", l.Memory, "MiB of the virtual machine")
	flags.StringVar(&l.Out, "out", "docs/benchmarks", "folder for the page, the plots and every run; empty writes nothing")
}

// Guest is the program that measures, and the machine that it needs.
type Guest struct {
	// Folder of the program in this module.
	Folder string
	// Files that the program reads, by name; each is written as JSON.
	Files map[string]any
	Image vm.Image
	// Model of an emulated processor. Default: QEMU's.
	Model string
	// DiskBytes is the size of the disk, and Rate how many bytes it writes in a second.
	// Rate 0 sets no limit.
	DiskBytes, Rate int64
	// Runs is how many there will be. Overhead bounds everything but the runs.
	Runs     int
	Overhead time.Duration
	// Facts says what happens to each fact that the program prints.
	Facts Facts
}

// runOverhead bounds the warm-up and the checkpoints of a run.
const runOverhead = time.Minute

// Run boots the machine once, measures, and returns the conditions of that.
func (l Lab) Run(ctx context.Context, g Guest) (Conditions, error) {
	c := Conditions{Accelerator: g.Image.Accelerator}
	finish, err := Observe()
	if err != nil {
		return c, err
	}
	dir, err := os.MkdirTemp("", "bench")
	if err != nil {
		return c, err
	}
	defer os.RemoveAll(dir) //nolint:errcheck // the system's temporary folder
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	payload, err := Payload(ctx, dir, map[string]string{"run": g.Folder}, g.Files)
	if err != nil {
		return c, err
	}
	disk, err := slowdisk.Start(ctx, slowdisk.Options{Path: filepath.Join(dir, "disk"), SizeBytes: g.DiskBytes, Flush: l.Flush, Rate: g.Rate})
	if err != nil {
		return c, err
	}
	var total measure.Counters
	g.Facts["total"] = Into(&total)
	err = Boot(ctx, vm.Options{
		Image: g.Image, Dir: dir, Payload: payload, Memory: l.Memory, Model: g.Model,
		Disks:   []vm.Disk{{Serial: l.Plan.Serial, NBD: disk.Socket}},
		Timeout: g.Overhead + time.Duration(g.Runs)*(runOverhead+time.Duration(l.Plan.Seconds)*time.Second),
	}, g.Facts)
	disk.Close()
	return c, errors.Join(err, finish(&c), confirm(disk, total.WriteBytes, total.Flushes))
}

// confirm that the guest's kernel counted what the disk saw. The disk may have seen more,
// which the guest wrote after it last read its counters.
func confirm(disk *slowdisk.Disk, writtenBytes, flushes int64) error {
	written := disk.WrittenBytes()
	fmt.Printf("the guest counted %d bytes written and %d flushes; the disk saw %d and %d\n", writtenBytes, flushes, written, disk.Flushes())
	if writtenBytes == 0 || float64(written)/float64(writtenBytes) > 1.01 || written < writtenBytes {
		return fmt.Errorf("the guest counted %d bytes written, the disk %d", writtenBytes, written)
	}
	return nil
}

// Conditions of a measurement, for its page.
type Conditions struct {
	// Accelerator of the virtual machine, as QEMU names it.
	Accelerator string
	Took        time.Duration
	// Elsewhere is the share of the host's processors that other programs took, 0 to 1.
	Elsewhere float64
}

// Observe the host from now on. The function that it returns adds the time that has passed
// and what other programs took of the processors.
func Observe() (finish func(*Conditions) error, err error) {
	begin := time.Now()
	before, err := hosttime.Now()
	return func(c *Conditions) error {
		after, err := hosttime.Now()
		c.Took, c.Elsewhere = time.Since(begin), after.Elsewhere(before)
		return err
	}, err
}

// Processor describes the accelerator in words.
func (c Conditions) Processor() string {
	return map[string]string{"tcg": "An emulated processor (QEMU's TCG)", "kvm": "KVM"}[c.Accelerator]
}
