//go:build linux

package s3nbd

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/pgstorage/pgstorage/internal/testing/postgres"
	"github.com/pgstorage/pgstorage/internal/testing/process"
	"github.com/pgstorage/pgstorage/internal/testing/repository"
	"github.com/pgstorage/pgstorage/internal/testing/s3"
	"github.com/pgstorage/pgstorage/internal/testing/zerofs"
	"github.com/pgstorage/pgstorage/internal/zerofs/exports"
	"github.com/pgstorage/pgstorage/test/vm/s3nbd/declare"
)

const (
	walExport = "wal"
	walBytes  = 8 << 30
	// readyTime bounds the start of a program of the host, and hostStep a command there.
	readyTime = 30 * time.Second
	hostStep  = 5 * time.Minute
)

// host is a Postgres on this host's own processors, whose WAL is on a network block device of a
// ZeroFS beside it. The kernel of a test machine has neither NBD nor ZFS. So nbdfuse shows the
// export as a file, below a loop device with ext4. A flush waits for the same ZeroFS and store,
// and no processor is emulated.
type host struct {
	dir    string
	server *zerofs.Server
	fuse   *process.Process
	pg     *postgres.Server
	loop   string
}

// onHost measures commit_delay before the virtual machine is there.
func (b *bench) onHost(ctx context.Context) error {
	j, err := b.declared()
	if err != nil {
		return err
	}
	dir, err := os.MkdirTemp("", "s3h") // short enough for the names of sockets
	if err != nil {
		return err
	}
	// The profile's own are for a file system that never overwrites.
	j.Parameters["wal_init_zero"], j.Parameters["wal_recycle"] = "on", "on"
	h := &host{dir: dir}
	err = h.start(ctx, b.store, j.Parameters)
	if err == nil {
		err = b.delays(ctx, h)
	}
	return errors.Join(err, h.stop())
}

// delays measures every commit_delay that is compared, in turns.
func (b *bench) delays(ctx context.Context, h *host) error {
	w := h.workplace()
	// The checkpoint leaves files of the WAL to write over, as hours would.
	fill := fmt.Sprintf("pgbench --initialize --quiet --scale=%d 2>&1 && ", b.scale)
	if _, err := w.sh(ctx, w.postgres+fill+w.postgres+"psql -Xqc CHECKPOINT"); err != nil {
		return err
	}
	b.store.Fail(s3.Fault{Latency: b.latency})
	defer b.store.Fail()
	before := Cell{Host: true, Configuration: Undelayed, Clients: delayed, Siblings: siblings}
	if err := b.measure(ctx, w, &before, calibration); err != nil {
		return err
	}
	b.facts.HostFlush = time.Duration(before.flushTime() * float64(time.Millisecond)).Round(100 * time.Microsecond)
	delay, with, err := commitDelay(repository.Root(), b.facts.HostFlush)
	if err != nil {
		return err
	}
	part := func(divisor int64) int64 { return min(b.facts.HostFlush.Microseconds()/divisor, mostDelay) }
	cells := []Cell{
		{Configuration: Undelayed, Siblings: siblings},
		{Configuration: Durable, DelayMicros: delay, Siblings: with},
		{Configuration: tried, DelayMicros: delay, Siblings: siblings},
		{Configuration: tried, DelayMicros: part(10), Siblings: with},
		{Configuration: tried, DelayMicros: part(4), Siblings: with},
		{Configuration: tried, DelayMicros: part(2), Siblings: with},
	}
	for i := range cells {
		cells[i].Host, cells[i].Clients = true, delayed
	}
	for turn := range b.turns {
		if err := b.measureAll(ctx, w, turn, inTurn(cells, turn), b.turnSeconds); err != nil {
			return err
		}
	}
	return nil
}

func (h *host) start(ctx context.Context, store *s3.Store, parameters map[string]string) error {
	program, err := zerofs.Program(ctx)
	if err != nil {
		return err
	}
	config := zerofs.Config{
		Bucket: bucket, Prefix: "host", Endpoint: store.Endpoint("127.0.0.1"), AccessKey: store.AccessKey, SecretKey: store.SecretKey,
		Region: s3.Region, Password: password, Dir: filepath.Join(h.dir, "zerofs"),
	}
	if h.server, err = zerofs.Start(ctx, zerofs.Options{Program: program, Config: config}); err != nil {
		return err
	}
	if err := (&exports.Client{Socket: config.NineP()}).Create(ctx, walExport, walBytes); err != nil {
		return err
	}
	if err := h.mount(ctx, config.NBD()); err != nil {
		return err
	}
	settings := make([]string, 0, len(parameters))
	for name, value := range parameters {
		settings = append(settings, name+"="+value)
	}
	slices.Sort(settings)
	if h.pg, err = postgres.Start(ctx, settings...); err != nil {
		return err
	}
	return h.moveWAL(ctx)
}

// mount the export. The mounts are of the namespace that make began, and go with it.
func (h *host) mount(ctx context.Context, socket string) error {
	shown, wal := filepath.Join(h.dir, "fuse"), h.wal()
	if err := errors.Join(os.Mkdir(shown, 0o700), os.Mkdir(wal, 0o755)); err != nil {
		return err
	}
	var err error
	if h.fuse, err = process.Start(exec.Command("nbdfuse", shown, "nbd+unix:///"+walExport+"?socket="+socket)); err != nil {
		return err
	}
	file := filepath.Join(shown, "nbd")
	if err := h.fuse.UntilReady(ctx, readyTime, func(context.Context) error { _, err := os.Stat(file); return err }); err != nil {
		return err
	}
	_, err = h.sh(ctx, "mkfs.ext4 -q -E nodiscard "+file+" && mount -o loop "+file+" "+wal)
	if err != nil {
		return err
	}
	device, err := h.sh(ctx, "findmnt --noheadings --output SOURCE "+wal)
	h.loop = filepath.Base(strings.TrimSpace(device))
	return errors.Join(err, os.Chmod(h.dir, 0o755))
}

func (h *host) wal() string { return filepath.Join(h.dir, "wal") }

// moveWAL of a server that was just made.
func (h *host) moveWAL(ctx context.Context) error {
	if err := h.pg.Run(ctx, "pg_ctl", "-D", h.pg.Data, "-m", "fast", "-w", "stop"); err != nil {
		return err
	}
	from, to := filepath.Join(h.pg.Data, "pg_wal"), filepath.Join(h.wal(), "pg_wal")
	if _, err := h.sh(ctx, "cp -a "+from+" "+to+" && rm -r "+from+" && ln -s "+to+" "+from); err != nil {
		return err
	}
	return h.pg.Up(ctx)
}

// stop stops the layers from top to bottom, and skips missing ones.
func (h *host) stop() error {
	var errs []error
	if h.pg != nil {
		errs = append(errs, h.pg.Stop())
	}
	if h.loop != "" {
		errs = append(errs, syscall.Unmount(h.wal(), 0))
	}
	if h.fuse != nil {
		errs = append(errs, syscall.Unmount(filepath.Join(h.dir, "fuse"), syscall.MNT_DETACH), h.fuse.Kill())
	}
	if h.server != nil {
		errs = append(errs, h.server.Kill())
	}
	return errors.Join(append(errs, os.RemoveAll(h.dir))...)
}

// sh runs a script of the host.
func (h *host) sh(ctx context.Context, script string) (string, error) {
	ctx, cancel := context.WithTimeout(ctx, hostStep)
	defer cancel()
	cmd := exec.CommandContext(ctx, "sh", "-c", script)
	out, err := cmd.Output()
	if exit, ok := errors.AsType[*exec.ExitError](err); ok {
		return "", fmt.Errorf("%s: %w: %s", script, err, exit.Stderr)
	}
	return string(out), err
}

func (h *host) workplace() workplace {
	as := fmt.Sprintf("runuser -u postgres -- env PATH=%s:$PATH PGHOST=%s PGUSER=postgres PGDATABASE=postgres ", h.pg.Bin, h.pg.Dir)
	return workplace{sh: h.sh, postgres: as, gauge: gaugeOf(as, h.loop, ""), settle: "sync -f " + h.wal()}
}

// workplace is where Postgres commits.
type workplace struct {
	sh func(ctx context.Context, script string) (string, error)
	// postgres begins a command of the user that owns the database.
	postgres string
	// gauge defines a function of that name, and settle writes what a run leaves.
	gauge, settle string
}

func (b *bench) inGuest() workplace {
	return workplace{sh: b.guest.sh, postgres: asPostgres, gauge: gaugeScript, settle: "zpool sync " + declare.Pool}
}
