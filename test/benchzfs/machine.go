//go:build linux

package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"time"

	"github.com/pgstorage/pgstorage/internal/testing/hosttime" //nolint:depguard // a measurement in a virtual machine, as test/bench is one at an API server
	"github.com/pgstorage/pgstorage/internal/testing/slowdisk" //nolint:depguard // the same
	"github.com/pgstorage/pgstorage/internal/testing/vm"       //nolint:depguard // the same
	"github.com/pgstorage/pgstorage/test/benchzfs/cell"
	"github.com/pgstorage/pgstorage/test/vm/postgres/declare"
	"github.com/pgstorage/pgstorage/test/vm/postgres/server"
)

const (
	diskBytes = 12 << 30
	// overhead of a machine and of a run: filling, warm-up, checkpoints.
	machineTime, runTime = 20 * time.Minute, time.Minute
)

// measured is everything that a run found out.
type measured struct {
	cells       []cell.Cell
	facts       cell.Facts
	accelerator string
	// parameters that were computed for ours.
	parameters map[string]string
	took       time.Duration
	// elsewhere is the part of the host's processors that other programs took.
	elsewhere float64
}

// measure every cell in one boot of one machine.
func measure(ctx context.Context, o options) (*measured, error) {
	before, err := hosttime.Now()
	if err != nil {
		return nil, err
	}
	begin := time.Now()
	dir, err := os.MkdirTemp("", "benchzfs")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(dir) //nolint:errcheck // the system's temporary folder
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	job, err := declared(o)
	if err != nil {
		return nil, err
	}
	payload, err := writePayload(ctx, o, job, dir)
	if err != nil {
		return nil, err
	}
	disk, err := slowdisk.Start(ctx, slowdisk.Options{Path: filepath.Join(dir, "disk"), SizeBytes: diskBytes, Flush: o.latency, Rate: o.rate * 1e6})
	if err != nil {
		return nil, err
	}
	image, err := vm.FindImage(ctx)
	if err != nil {
		return nil, err
	}
	reader := &results{}
	runs := time.Duration(o.plan.Rounds * len(o.plan.Clients) * 4)
	m, err := vm.Boot(ctx, vm.Options{
		Image: image, Dir: dir, Payload: payload, Memory: o.memory, Console: reader,
		Disks:   []vm.Disk{{Serial: o.plan.Serial, NBD: disk.Socket}},
		Timeout: machineTime + runs*(runTime+time.Duration(o.plan.Seconds)*time.Second),
	})
	if err != nil {
		return nil, err
	}
	defer m.Close()
	result, err := m.Wait(ctx)
	if err == nil && result.ExitCode != 0 {
		err = fmt.Errorf("the guest ended with exit code %d", result.ExitCode)
	}
	disk.Close()
	after, errHost := hosttime.Now()
	return &measured{
		elsewhere: after.Elsewhere(before),
		cells:     reader.cells, facts: reader.facts, accelerator: image.Accelerator, parameters: job.Parameters, took: time.Since(begin),
	}, errors.Join(err, errHost, reader.err, confirm(disk, reader.total))
}

// declared is the profile and the cluster that are measured. Half of the machine's
// memory is the cluster's, as a container's limit would be.
func declared(o options) (server.Job, error) {
	return declare.Cluster{
		Pool: o.plan.Pool, Serial: o.plan.Serial, ARCMax: o.arc,
		MemoryBytes: int64(o.memory) << 20 / 2, DataBytes: diskBytes / 2, WALBytes: diskBytes / 4,
	}.Job(vm.Root())
}

// writePayload compiles the guest's program and says what it has to do.
func writePayload(ctx context.Context, o options, job server.Job, dir string) (map[string]string, error) {
	payload := map[string]string{"run": filepath.Join(dir, "guest"), "plan.json": filepath.Join(dir, "plan.json"), "job.json": filepath.Join(dir, "job.json")}
	for name, content := range map[string]any{"plan.json": o.plan, "job.json": job} {
		text, err := json.Marshal(content)
		if err != nil {
			return nil, err
		}
		if err := os.WriteFile(payload[name], text, 0o600); err != nil {
			return nil, err
		}
	}
	cmd := exec.CommandContext(ctx, "go", "build", "-tags", "guest", "-ldflags=-s -w", "-o", payload["run"], "./test/benchzfs/guest")
	cmd.Dir = vm.Root()
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0")
	cmd.Stdout, cmd.Stderr = os.Stderr, os.Stderr
	return payload, cmd.Run()
}

// confirm that the guest's kernel counted what the disk saw, but for what was
// written after its last look.
func confirm(disk *slowdisk.Disk, guest cell.Counters) error {
	written, flushes := disk.WrittenBytes(), disk.Flushes()
	fmt.Printf("the guest counted %d bytes written and %d flushes; the disk saw %d and %d\n", guest.WriteBytes, guest.Flushes, written, flushes)
	if guest.WriteBytes == 0 || float64(written)/float64(guest.WriteBytes) > 1.01 || written < guest.WriteBytes {
		return errors.New("the guest's counters are not the disk's")
	}
	return nil
}

// results are read from the guest's console, line by line.
type results struct {
	cells []cell.Cell
	facts cell.Facts
	total cell.Counters
	err   error
}

// Write gets whole lines.
func (r *results) Write(line []byte) (int, error) {
	word, fact, _ := bytes.Cut(line, []byte(" "))
	switch string(word) {
	case "cell":
		var c cell.Cell
		r.err = errors.Join(r.err, json.Unmarshal(fact, &c))
		r.cells = append(r.cells, c)
		fmt.Printf("round %d  %-7s  durable=%-5v  clients=%-2d  %7.1f TPS  %8.0f B/tx  %.3f flushes/tx  busy %.0f%%\n",
			c.Round+1, c.Configuration, c.Durable, c.Clients, c.TPS, perTransaction(c, c.Settled.WriteBytes), perTransaction(c, c.Running.Flushes), c.Busy*100)
	case "facts":
		r.err = errors.Join(r.err, json.Unmarshal(fact, &r.facts))
	case "total":
		r.err = errors.Join(r.err, json.Unmarshal(fact, &r.total))
	default:
		_, err := io.WriteString(os.Stdout, "    guest| "+string(line))
		return len(line), err
	}
	return len(line), nil
}

func perTransaction(c cell.Cell, n int64) float64 {
	return float64(n) / float64(max(1, c.Transactions))
}
