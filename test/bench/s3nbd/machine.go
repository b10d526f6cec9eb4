//go:build linux

package s3nbd

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/pgstorage/pgstorage/api/v1alpha1"
	"github.com/pgstorage/pgstorage/internal/testing/repository"
	"github.com/pgstorage/pgstorage/internal/testing/s3"
	"github.com/pgstorage/pgstorage/internal/testing/vm"
	"github.com/pgstorage/pgstorage/internal/testing/zerofs"
	"github.com/pgstorage/pgstorage/test/bench/harness"
	"github.com/pgstorage/pgstorage/test/vm/s3nbd/declare"
	"github.com/pgstorage/pgstorage/test/vm/s3nbd/job"
)

const (
	// hostOfGuest is this host's loopback for a guest.
	hostOfGuest = "10.0.2.2"
	bucket      = "bench"
	password    = "correct horse battery staple"
	// exportCount exports of exportSize, as many as a profile has by default.
	exportCount = 3
	exportSize  = "2Gi"
	// memoryBytes of the cluster; a quarter becomes shared_buffers.
	memoryBytes = 256 << 20
	// nodeDisk is the node's own, with ZeroFS' cache; cacheDisk the L2ARC.
	nodeDisk, cacheDisk           = "node", "l2arc"
	nodeDiskBytes, cacheDiskBytes = 4 << 30, 1 << 30
	// machineTime bounds everything.
	machineTime = time.Hour
)

// measured is everything that a run found.
type measured struct {
	harness.Conditions
	cells      []Cell
	reads      []Read
	facts      Facts
	parameters map[string]string
}

// bench is a run.
type bench struct {
	options
	begin time.Time
	dir   string
	store *s3.Store
	job   job.Job
	guest *guest
	measured
}

// measure everything in one boot of one machine.
func measure(ctx context.Context, o options) (*measured, error) {
	begin := time.Now()
	finish, err := harness.Observe()
	if err != nil {
		return nil, err
	}
	dir, err := os.MkdirTemp("", "bench")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(dir) //nolint:errcheck // the system's temporary folder
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	b := &bench{options: o, dir: dir, begin: begin}
	if err := b.serve(ctx); err != nil {
		return nil, err
	}
	defer b.store.Close() //nolint:errcheck // its folder goes too
	if err := b.onHost(ctx); err != nil {
		return nil, err
	}
	if err := b.boot(ctx); err != nil {
		return nil, err
	}
	defer b.guest.machine.Close()
	if err := b.steps(ctx); err != nil {
		return nil, errors.Join(err, b.explain(ctx))
	}
	// What has not ended counts as another program's.
	b.guest.machine.Close()
	if err := b.store.Close(); err != nil {
		return nil, err
	}
	return &b.measured, finish(&b.Conditions)
}

// serve the bucket.
func (b *bench) serve(ctx context.Context) error {
	program, err := s3.Program(ctx)
	if err != nil {
		return err
	}
	b.store, err = s3.Start(ctx, s3.Options{Program: program, Dir: filepath.Join(b.dir, "store"), Buckets: []string{bucket}, Log: os.Stderr})
	return err
}

// boot a node with the whole stack, as test/vm does for the faults.
func (b *bench) boot(ctx context.Context) error {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return err
	}
	defer listener.Close() //nolint:errcheck // one guest comes
	payload, err := b.payload(ctx)
	if err != nil {
		return err
	}
	image, err := vm.FindImage(ctx)
	if err != nil {
		return err
	}
	b.Accelerator = image.Accelerator
	_, port, _ := net.SplitHostPort(listener.Addr().String())
	machine, err := vm.Boot(ctx, vm.Options{
		Image: image, Dir: b.dir, Payload: payload, Args: []string{hostOfGuest + ":" + port}, Memory: b.memory, Console: console{}, Timeout: machineTime,
		Disks: []vm.Disk{
			{Serial: nodeDisk, Path: filepath.Join(b.dir, nodeDisk), SizeBytes: nodeDiskBytes},
			{Serial: cacheDisk, Path: filepath.Join(b.dir, cacheDisk), SizeBytes: cacheDiskBytes},
		},
	})
	if err != nil {
		return err
	}
	if b.guest, err = meet(machine, listener.(*net.TCPListener)); err != nil {
		machine.Close()
	}
	return err
}

// payload compiles the guest's programs and says what it has to be.
func (b *bench) payload(ctx context.Context) (map[string]string, error) {
	server, err := zerofs.Program(ctx)
	if err != nil {
		return nil, err
	}
	if b.job, err = b.declared(); err != nil {
		return nil, err
	}
	programs := map[string]string{"run": "test/vm/s3nbd/node", "agent": "cmd/agent", "passes": "test/vm/passes"}
	payload, err := harness.Payload(ctx, b.dir, programs, map[string]any{job.Name: b.job})
	if err != nil {
		return nil, err
	}
	payload["zerofs"] = server
	return payload, nil
}

// declared is the profile's node. Postgres measures its syncs of the WAL in addition.
func (b *bench) declared() (job.Job, error) {
	j, err := declare.Stack{
		Stores: []declare.Store{{
			Name: "main", Bucket: bucket, Endpoint: b.store.Endpoint(hostOfGuest), Region: s3.Region,
			AccessKey: b.store.AccessKey, SecretKey: b.store.SecretKey, Password: password,
		}},
		Exports: exportCount, ExportSize: exportSize, MemoryBytes: memoryBytes,
	}.Job(repository.Root())
	if err != nil {
		return j, err
	}
	b.parameters = j.Parameters
	j.Parameters["track_wal_io_timing"] = "on"
	return j, setARC(j.Storage, b.arc)
}

const (
	// storageFile is what the guest's agent makes true (test/vm/passes), and statusFile
	// what it says of it.
	storageFile = "/var/lib/pgstorage/storage.yaml"
	statusFile  = storageFile + ".status"
	converge    = "passes -until Ready=True -timeout 4m -every 300ms " + storageFile
)

// steps of a run in the guest. Reads come first: what writes leave to ZeroFS to compact
// takes processors and requests of the store for minutes.
func (b *bench) steps(ctx context.Context) error {
	if err := b.start(ctx); err != nil {
		return err
	}
	if err := b.readAll(ctx); err != nil {
		return err
	}
	b.store.Fail(s3.Fault{Latency: b.latency})
	if err := b.calibrate(ctx); err != nil {
		return err
	}
	if err := b.repeat(ctx); err != nil {
		return err
	}
	return b.confirm(ctx)
}

// repeat the rounds, within the budget.
func (b *bench) repeat(ctx context.Context) error {
	for n := range b.rounds {
		begin := time.Now()
		if err := b.round(ctx, n); err != nil {
			return err
		}
		if time.Since(b.begin)+time.Since(begin) > b.budget && n+1 < b.rounds {
			fmt.Printf("no time for more than %d rounds\n", n+1)
			return nil
		}
	}
	return nil
}

// start the stack, and fill the database.
func (b *bench) start(ctx context.Context) error {
	for _, line := range []string{"serve main", "sh " + converge, "up"} {
		if _, err := b.guest.do(ctx, line); err != nil {
			return err
		}
	}
	versions, err := b.guest.do(ctx, "versions")
	if err != nil {
		return err
	}
	b.facts.Versions = versions
	begin := time.Now()
	if _, err := b.guest.sh(ctx, asPostgres+fmt.Sprintf("pgbench --initialize --quiet --scale=%d", b.scale)); err != nil {
		return err
	}
	text, err := b.guest.sh(ctx, asPostgres+`psql -XqAt -F ' ' -c "SELECT pg_database_size('postgres'), current_setting('shared_buffers')"`)
	if err != nil {
		return err
	}
	if _, err := fmt.Sscan(text, &b.facts.DatabaseBytes, &b.facts.SharedBuffers); err != nil {
		return err
	}
	fmt.Printf("filled with %d MB in %s\n", b.facts.DatabaseBytes/1e6, time.Since(begin).Round(time.Second))
	if _, err := b.guest.sh(ctx, asPostgres+`psql -Xq -c "CREATE EXTENSION pg_prewarm" -c CHECKPOINT`); err != nil {
		return err
	}
	if err := b.prewarm(ctx); err != nil {
		return err
	}
	datasets, err := b.guest.sh(ctx, "zfs get -H -o name,property,value,source recordsize,compression,logbias,primarycache,sync,compressratio "+
		declare.Pool+"/pgdata/pvc-data "+declare.Pool+"/pgwal/pvc-wal")
	b.facts.Datasets = strings.Split(strings.TrimSpace(datasets), "\n")
	return err
}

// prewarm reads the database once: it is the state after hours that is measured, not
// that after a start.
func (b *bench) prewarm(ctx context.Context) error {
	_, err := b.guest.sh(ctx, asPostgres+`psql -XqAt -o /dev/null -c "SELECT pg_prewarm(oid) FROM pg_class WHERE relname LIKE 'pgbench_%' AND relkind IN ('r', 'i') ORDER BY pg_relation_size(oid) DESC"`)
	return err
}

// declareStorage has the agent make something else of the node.
func (b *bench) declareStorage(ctx context.Context, change func(*v1alpha1.PgNodeStorage) error) error {
	s := b.job.Storage
	if err := change(s); err != nil {
		return err
	}
	s.Generation++
	text, err := json.Marshal(s)
	if err != nil {
		return err
	}
	if _, err := b.guest.sh(ctx, "echo "+base64.StdEncoding.EncodeToString(text)+" | base64 -d >"+storageFile); err != nil {
		return err
	}
	_, err = b.guest.sh(ctx, converge)
	return err
}

// confirm that the guest's kernel counted the flushes that the relay saw. The relay reports
// them within 10 s.
func (b *bench) confirm(ctx context.Context) error {
	text, err := b.guest.sh(ctx, "sleep 11; "+gaugeScript+"gauge; echo; cat "+b.job.Servers[0].Directory+"/server.json")
	if err != nil {
		return err
	}
	i := strings.Index(text, "{")
	if i < 0 {
		return fmt.Errorf("no status of the server: %q", text)
	}
	g, err := parseGauge(text[:i], true)
	if err != nil {
		return err
	}
	var relay struct {
		Flushes int64 `json:"flushes"`
	}
	if err := json.Unmarshal([]byte(text[i:]), &relay); err != nil {
		return err
	}
	b.facts.KernelFlushes, b.facts.RelayFlushes = g.disk.Flushes, relay.Flushes
	fmt.Printf("the guest's kernel counted %d flushes, the relay %d\n", g.disk.Flushes, relay.Flushes)
	const tolerance = 0.01
	if d := float64(relay.Flushes)/float64(max(1, g.disk.Flushes)) - 1; d > tolerance || d < -tolerance {
		return errors.New("the guest's counters are not the relay's")
	}
	return nil
}

// explain a failure by what the guest's servers logged.
func (b *bench) explain(ctx context.Context) error {
	text, err := b.guest.sh(ctx, "(tail -n 30 /run/main.log; tail -n 20 /run/postgresql/*.log; zpool status -v; dmesg | tail -n 10) 2>&1 || true")
	fmt.Println(text)
	return err
}
