//go:build vm

package vm_test

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"net"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/pgstorage/pgstorage/internal/testing/repository"
	"github.com/pgstorage/pgstorage/internal/testing/s3"
	"github.com/pgstorage/pgstorage/internal/testing/vm"
	"github.com/pgstorage/pgstorage/internal/testing/zerofs"
	"github.com/pgstorage/pgstorage/test/vm/s3nbd/declare"
	"github.com/pgstorage/pgstorage/test/vm/s3nbd/job"
)

const (
	// hostOfGuest is this host's loopback for a guest.
	hostOfGuest = "10.0.2.2"
	// stackTime bounds one boot of a guest that runs the whole stack.
	stackTime = 60 * time.Minute
	// stepTime bounds what the guest does for one command of ours, and how long it may take
	// until clients write again. Where three lanes of tests share two processors, initdb on
	// emulated ones has taken more than ten minutes. The guest's console says what a slow
	// command waits for.
	stepTime = 20 * time.Minute
	// someAcks show that clients write.
	someAcks = 25

	password = "correct horse battery staple"
)

// stack is a node with the whole stack: Postgres on a pool on devices of ZeroFS servers, whose
// buckets are here. It stays the same stack through all of its boots.
type stack struct {
	*testing.T
	options  vm.Options
	listener net.Listener
	// stores by name, with what the guest knows of them.
	stores map[string]*s3.Store
	job    job.Job
	// journal of the faults; nil where none is kept.
	journal *journal

	running

	mu sync.Mutex
	// acknowledged ids, with the case that ran then.
	acknowledged map[int64]string
	fault        string
	count        int
	// mark is the last number that the guest has. Clients send the mark that they knew when
	// they began a transaction.
	mark    int
	resumed chan time.Time
}

// answer of the guest to a command of ours.
type answer struct {
	text string
	err  error
}

// programs for guests, compiled once.
func stackPrograms(t *testing.T) map[string]string {
	t.Helper()
	program, err := zerofs.Program(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return map[string]string{
		"run": guestProgram(t, "test/vm/s3nbd/node"), "agent": guestProgram(t, "cmd/agent"),
		"passes": guestProgram(t, "test/vm/passes"), "zerofs": program,
	}
}

// newStack with stores of these names, each with a bucket in a server of its own.
func newStack(t *testing.T, programs map[string]string, stores ...string) *stack {
	t.Helper()
	made := map[string]*s3.Store{}
	var declared []declare.Store
	for _, name := range stores {
		made[name] = bucketStore(t, name)
		declared = append(declared, declaredStore(name, name, made[name]))
	}
	s := newNode(t, programs, declared)
	s.stores = made
	return s
}

// newNode with a server for each of the stores.
func newNode(t *testing.T, programs map[string]string, stores []declare.Store) *stack {
	t.Helper()
	s := &stack{T: t, acknowledged: map[int64]string{}, fault: "none yet"}
	declared := declare.Stack{Stores: stores, Exports: 2, ExportSize: "1Gi", MemoryBytes: 512 << 20, RequestTimeout: mirrorTimeout.String()}
	processors := 0 // as every machine here
	if len(stores) > 1 {
		// Each store has a ZeroFS: on one emulated processor three of them starve Postgres.
		declared.Exports, processors = 1, 2
	}
	var err error
	if s.job, err = declared.Job(repository.Root()); err != nil {
		t.Fatal(err)
	}
	s.job.HostID = 1 // any but 0
	if s.listener, err = net.Listen("tcp", "127.0.0.1:0"); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.listener.Close() })
	dir := t.TempDir()
	payload := map[string]string{job.Name: filepath.Join(dir, job.Name)}
	maps.Copy(payload, programs)
	_, port, _ := net.SplitHostPort(s.listener.Addr().String())
	s.options = vm.Options{
		Payload: payload, Args: []string{hostOfGuest + ":" + port}, Memory: 2048, Processors: processors, Timeout: stackTime,
		Disks:   []vm.Disk{{Serial: "node", Path: filepath.Join(dir, "node"), SizeBytes: 4 << 30, Volatile: true}},
		Console: &tally{name: filepath.Base(t.Name()), to: os.Stdout},
	}
	return s
}

// declaredStore is a bucket as the guest knows it.
func declaredStore(name, bucket string, store *s3.Store) declare.Store {
	return declare.Store{
		Name: name, Bucket: bucket, Endpoint: store.Endpoint(hostOfGuest), Region: s3.Region,
		AccessKey: store.AccessKey, SecretKey: store.SecretKey, Password: password,
	}
}

// bucketStore starts an S3 server of this host that ends with the test.
func bucketStore(t *testing.T, buckets ...string) *s3.Store {
	t.Helper()
	program, err := s3.Program(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	store, err := s3.Start(t.Context(), s3.Options{Program: program, Dir: t.TempDir(), Buckets: buckets, Log: os.Stderr})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = store.Close() })
	return store
}

// power turns the node on, and returns when that was.
func (s *stack) power() time.Time {
	s.Helper()
	content, err := json.Marshal(s.job)
	if err != nil {
		s.Fatal(err)
	}
	if err := os.WriteFile(s.options.Payload[job.Name], content, 0o600); err != nil {
		s.Fatal(err)
	}
	begin := time.Now()
	s.machine = boot(s.T, s.options)
	if err := s.listener.(*net.TCPListener).SetDeadline(begin.Add(bootTime)); err != nil {
		s.Fatal(err)
	}
	if s.guest, err = s.listener.Accept(); err != nil {
		s.Fatal(err)
	}
	s.Cleanup(func() { _ = s.guest.Close() })
	s.answers = make(chan answer, 1)
	go s.listen(s.guest, s.answers)
	s.answer("power", bootTime)
	return begin
}

// cut cuts the power of the node. Lines that arrived before count.
func (s *stack) cut() {
	s.Helper()
	if err := s.machine.PowerCut(); err != nil {
		s.Fatal(err)
	}
	s.over()
}

// over waits for the end of the guest's output.
func (s *stack) over() {
	s.Helper()
	if err := s.guest.SetReadDeadline(time.Now().Add(time.Second)); err != nil {
		s.Fatal(err)
	}
	for range s.answers {
	}
}

// listen reads the guest's lines until the end.
func (s *stack) listen(conn net.Conn, answers chan<- answer) {
	defer close(answers)
	lines := bufio.NewScanner(conn)
	lines.Buffer(nil, 16<<20)
	for lines.Scan() {
		word, rest, _ := strings.Cut(lines.Text(), " ")
		switch word {
		case "ack":
			s.acknowledge(rest)
		case "ready":
			answers <- answer{}
		case "done":
			text, err := strconv.Unquote(rest)
			answers <- answer{text, err}
		case "failed":
			text, err := strconv.Unquote(rest)
			answers <- answer{err: errors.Join(errors.New(text), err)}
		}
	}
}

// try has the guest do something, which may fail.
func (s *stack) try(limit time.Duration, format string, args ...any) (string, error) {
	s.Helper()
	word := fmt.Sprintf(format, args...)
	if _, err := fmt.Fprintln(s.guest, word); err != nil {
		s.Fatal(err)
	}
	a := s.answer(word, limit)
	return a.text, a.err
}

// do has the guest do something, which must succeed.
func (s *stack) do(format string, args ...any) string {
	s.Helper()
	text, err := s.try(stepTime, format, args...)
	if err != nil {
		s.explain()
		s.Fatalf("%s: %v", fmt.Sprintf(format, args...), err)
	}
	return text
}

func (s *stack) answer(word string, limit time.Duration) answer {
	s.Helper()
	select {
	case a, more := <-s.answers:
		if more {
			return a
		}
		_, err := s.machine.Wait(s.Context())
		s.Fatalf("%s: the guest says no more: %v", word, err)
	case <-time.After(limit):
		s.Fatalf("%s: the guest has not answered within %s", word, limit)
	}
	return answer{}
}

// explain logs what may explain a failure: the logs of the guest's servers, and what waits in
// its kernel.
func (s *stack) explain() {
	s.Helper()
	for _, script := range []string{
		"tail -n 40 /run/*.log | grep -v '9P client connected'",
		"cat " + serverFiles,
		"zpool status -v; zpool events | tail -n 20",
		"grep -l ') D ' /proc/[0-9]*/stat | while read f; do echo $f; cut -c-60 $f; cat ${f%stat}stack; done",
		"dmesg | tail -n 12",
	} {
		text, err := s.try(time.Minute, "sh (%s) 2>&1 || true", script)
		s.Logf("%s\n%s %v", script, text, err)
	}
}

const serverFiles = "/var/lib/pgstorage/s3nbd/*/*/*.json"

// start starts everything, as the kubelet and the agent do on a node that booted. If the pool
// existed before, volumes are mounted as soon as it is imported.
func (s *stack) start(until string) {
	s.Helper()
	for _, server := range s.job.Servers {
		s.do("serve %s", server.Name)
	}
	s.do("watch")
	s.do("until %s 540", until)
	s.Log(s.do("up"))
}

// only store of a stack that has one.
func (s *stack) only() *s3.Store { return s.stores[s.job.Servers[0].Name] }
