//go:build guest

package guest_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/pgstorage/pgstorage/api/v1alpha1"
	"github.com/pgstorage/pgstorage/internal/node/agent"
	"github.com/pgstorage/pgstorage/internal/node/host"
)

// phases are the parts of the host's tests that run inside a machine: one for each boot. A boot
// gets the previous status in its payload, and leaves its own for the next.
var phases = map[string]func(*testing.T, *v1alpha1.PgNodeStorage){
	"make":        phaseMake,
	"return":      phaseReturn,
	"degraded":    phaseDegraded,
	"lost":        phaseLost,
	"twins":       phaseTwins,
	"cut":         phaseCut,
	"after a cut": phaseAfterCut,
	"errors":      phaseErrors,
	"suspended":   phaseSuspended,
}

func TestPhase(t *testing.T) {
	name := os.Getenv("PGSTORAGE_PHASE")
	if name == "" {
		t.Skip("a part of TestPoolIsImportedAfterReboot, TestAgentReportsFailingDisks and TestCut of test/vm, which say which")
	}
	phase, ok := phases[name]
	if !ok {
		t.Fatalf("there is no phase %q", name)
	}
	s := declared("boot", madeOf(v1alpha1.VdevMirror, 0, 1))
	stored, err := os.ReadFile("status.json")
	if err == nil {
		err = json.Unmarshal(stored, &s.Status)
	}
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		t.Fatal(err)
	}
	phase(t, s)
	if os.Getenv("PGSTORAGE_EXPORT") != "" {
		alone(t, "zpool", "export", "boot")
	}
	stored, err = json.Marshal(s.Status)
	if err == nil {
		err = os.WriteFile("/artefacts/status.json", stored, 0o600)
	}
	if err != nil {
		t.Fatal(err)
	}
}

// handOver gives the turn to the host.
func handOver(words string) { fmt.Printf("\nphase: %s\n", words) }

// sparing is an agent that must not create or wipe anything.
func sparing(t *testing.T) *agent.Node {
	n, _ := newAgent(func(argv []string) error {
		if command := strings.Join(argv, " "); strings.HasPrefix(command, "zpool create") || strings.HasPrefix(command, "wipefs -a") {
			t.Errorf("the agent was about to run %s", command)
			return errors.New("not in this test")
		}
		return nil
	})
	return n
}

// phaseMake creates a pool, which is in use until the end, and manually another one of its
// name.
func phaseMake(t *testing.T, s *v1alpha1.PgNodeStorage) {
	n, _ := newAgent(nil)
	ready(t, n, s)
	run(t, "zfs", "create", "-o", "mountpoint=legacy", "boot/pgdata/volume")
	ready(t, n, s)
	alone(t, "zpool", "export", "boot")
	run(t, "zpool", "create", "-m", "none", "boot", "mirror", disk(4), disk(5))
	alone(t, "zpool", "export", "boot")
	run(t, "zpool", "import", "-d", "/dev/disk/by-id", s.Status.Pool.GUID)
}

// returned checks that the pool is the same one, with its contents.
func returned(t *testing.T, s *v1alpha1.PgNodeStorage) {
	t.Helper()
	guid := s.Status.Pool.GUID
	n := sparing(t)
	pass(t, n, s)
	says(t, s, v1alpha1.ConditionPoolReady, metav1.ConditionFalse, v1alpha1.ReasonImportingPool)
	ready(t, n, s)
	if got := run(t, "zpool", "list", "-Hp", "-o", "guid", "boot"); got != guid || s.Status.Pool.GUID != guid {
		t.Errorf("the pool is %s, status has %s, want %s", got, s.Status.Pool.GUID, guid)
	}
	if len(s.Status.Volumes) != 1 || s.Status.Volumes[0].Name != "boot/pgdata/volume" {
		t.Errorf("volumes %+v", s.Status.Volumes)
	}
}

func phaseReturn(t *testing.T, s *v1alpha1.PgNodeStorage) {
	returned(t, s)
	says(t, s, v1alpha1.ConditionDevicesHealthy, metav1.ConditionTrue, v1alpha1.ReasonHealthy)
}

func phaseDegraded(t *testing.T, s *v1alpha1.PgNodeStorage) {
	returned(t, s)
	message := says(t, s, v1alpha1.ConditionDevicesHealthy, metav1.ConditionFalse, v1alpha1.ReasonPoolUnhealthy)
	for _, want := range []string{"virtio-disk1-part1", "UNAVAIL", "ZFS says: "} {
		if !strings.Contains(message, want) {
			t.Errorf("the message lacks %q: %s", want, message)
		}
	}
	if s.Status.Pool.Health != "DEGRADED" {
		t.Errorf("health %s", s.Status.Pool.Health)
	}
}

// phaseLost: the pool's disks are gone, and its declaration matches blank ones.
func phaseLost(t *testing.T, s *v1alpha1.PgNodeStorage) {
	guid := s.Status.Pool.GUID
	low, high := resource.MustParse("100Mi"), resource.MustParse("200Mi")
	s.Spec.Pool.Create.Vdevs = []v1alpha1.ZFSVdev{{Type: v1alpha1.VdevMirror, Selector: &v1alpha1.ZFSDeviceSelector{Count: 2, MinSize: &low, MaxSize: &high}}}
	n := sparing(t)
	for range 3 {
		if r := pass(t, n, s); r.Changed {
			t.Error("something was changed")
		}
		message := says(t, s, v1alpha1.ConditionPoolReady, metav1.ConditionFalse, v1alpha1.ReasonPoolLost)
		if !strings.Contains(message, guid) || !strings.Contains(message, "Attach its devices again") {
			t.Errorf("message %s", message)
		}
		if s.Status.Pool == nil || s.Status.Pool.GUID != guid {
			t.Errorf("the GUID is forgotten: %+v", s.Status.Pool)
		}
	}
	for _, d := range []int{2, 3} {
		if out := run(t, "wipefs", "--noheadings", disk(d)); out != "" {
			t.Errorf("%s has %s", disk(d), out)
		}
	}
	if out := run(t, "zpool", "list", "-H"); strings.Contains(out, "boot") {
		t.Errorf("pools:\n%s", out)
	}
}

// phaseTwins: there are two pools of the name. An agent without a record imports neither; an
// agent with a record imports its own.
func phaseTwins(t *testing.T, s *v1alpha1.PgNodeStorage) {
	guid := s.Status.Pool.GUID
	stranger := declared("boot", nil)
	if r := pass(t, sparing(t), stranger); r.Changed {
		t.Error("one of two pools was taken by chance")
	}
	message := says(t, stranger, v1alpha1.ConditionPoolReady, metav1.ConditionFalse, v1alpha1.ReasonPoolAmbiguous)
	if !strings.Contains(message, guid) || !strings.Contains(message, "zpool import GUID") {
		t.Errorf("message %s", message)
	}
	returned(t, s)
	stranger.Status.Pool = &v1alpha1.ObservedPool{Name: "boot", GUID: "1"}
	pass(t, sparing(t), stranger)
	says(t, stranger, v1alpha1.ConditionPoolReady, metav1.ConditionFalse, v1alpha1.ReasonPoolReplaced)
}

// phaseCut runs until the host cuts the power.
func phaseCut(t *testing.T, s *v1alpha1.PgNodeStorage) {
	at := os.Getenv("PGSTORAGE_CUT")
	n, _ := newAgent(func(argv []string) error {
		if command := strings.Join(argv, " "); strings.HasPrefix(command, at) {
			handOver("cut")
		}
		return nil
	})
	if at == "partitions" {
		go func() { // zpool makes them first, and its labels after
			for {
				if _, err := os.Stat(disk(0) + "-part1"); err == nil {
					handOver("cut")
					return
				}
				runtime.Gosched()
			}
		}()
	}
	ready(t, n, s)
	<-t.Context().Done() // the power goes meanwhile
}

// phaseAfterCut converges, or reports what to do, and converges once that is done.
func phaseAfterCut(t *testing.T, s *v1alpha1.PgNodeStorage) {
	s.Status = v1alpha1.PgNodeStorageStatus{}
	n, _ := newAgent(nil)
	converge(t, n, s)
	if c := conditionReason(s, v1alpha1.ConditionPoolReady); c == v1alpha1.ReasonDeviceNotBlank {
		message := says(t, s, v1alpha1.ConditionPoolReady, metav1.ConditionFalse, c)
		if !strings.Contains(message, "set wipe: true") {
			t.Errorf("the message does not say what to do: %s", message)
		}
		t.Log(message)
		for i := range s.Spec.Pool.Create.Vdevs[0].Devices {
			s.Spec.Pool.Create.Vdevs[0].Devices[i].Wipe = new(true)
		}
	}
	ready(t, n, s)
	if got := run(t, "zpool", "list", "-Hp", "-o", "health,guid"); got != "ONLINE\t"+s.Status.Pool.GUID {
		t.Errorf("pools: %s", got)
	}
}

func conditionReason(s *v1alpha1.PgNodeStorage, kind string) string {
	for _, c := range s.Status.Conditions {
		if c.Type == kind {
			return c.Reason
		}
	}
	return ""
}

// until runs passes until a condition has a reason, for as long as a fault may need to come and
// go.
func until(t *testing.T, n *agent.Node, s *v1alpha1.PgNodeStorage, kind, reason string, each func()) {
	t.Helper()
	for deadline := time.Now().Add(4 * time.Minute); time.Now().Before(deadline); {
		each()
		pass(t, n, s)
		if conditionReason(s, kind) == reason {
			return
		}
	}
	t.Fatalf("%s never became %s: %+v", kind, reason, s.Status.Conditions)
}

// clearing runs zpool clear as an administrator does, one at a time and without waiting for it.
// While the devices still fail, the command may not end.
func clearing(t *testing.T) func() {
	done := make(chan struct{})
	close(done)
	return func() {
		select {
		case <-done:
		default:
			return
		}
		ended := make(chan struct{})
		done = ended
		go func() {
			defer close(ended)
			_ = exec.CommandContext(t.Context(), "zpool", "clear", "boot").Run()
		}()
	}
}

// phaseErrors: one disk of the mirror fails writes, and then no more.
func phaseErrors(t *testing.T, s *v1alpha1.PgNodeStorage) {
	n := sparing(t)
	made, _ := newAgent(nil)
	ready(t, made, s)
	handOver("fail")
	writes := 0
	until(t, n, s, v1alpha1.ConditionDevicesHealthy, v1alpha1.ReasonPoolUnhealthy, func() {
		writes++
		run(t, "zfs", "set", fmt.Sprint("test:writes=", writes), "boot")
		run(t, "zpool", "sync", "boot")
	})
	message := says(t, s, v1alpha1.ConditionDevicesHealthy, metav1.ConditionFalse, v1alpha1.ReasonPoolUnhealthy)
	for _, want := range []string{"virtio-disk1-part1 is ", "ZFS says: ", "zpool clear"} {
		if !strings.Contains(message, want) {
			t.Errorf("the message lacks %q: %s", want, message)
		}
	}
	if !slices.ContainsFunc(s.Status.Pool.Vdevs, func(v v1alpha1.ObservedVdev) bool { return strings.Contains(v.Name, "disk1") && v.WriteErrors > 0 }) {
		t.Errorf("no write error is counted: %+v", s.Status.Pool.Vdevs)
	}
	if strings.Contains(message, "virtio-disk0") {
		t.Errorf("the good disk is named: %s", message)
	}
	ready(t, n, s)
	handOver("heal")
	until(t, n, s, v1alpha1.ConditionDevicesHealthy, v1alpha1.ReasonHealthy, clearing(t))
	ready(t, n, s)
}

const (
	commandTime = 2 * time.Second
	// passBound: each of at most five commands has its time, and then a while until the kernel
	// releases it.
	passBound = 5 * (commandTime + 11*time.Second)
)

// phaseSuspended: the only disk fails altogether, and comes back.
func phaseSuspended(t *testing.T, s *v1alpha1.PgNodeStorage) {
	madeOf(v1alpha1.VdevStripe, 0)(&s.Spec)
	// The short limit of a command is for commands that hang, not for a slow machine.
	made, _ := newAgent(nil)
	ready(t, made, s)
	n := agent.New("", &host.Exec{Timeout: commandTime})
	handOver("fail")
	go func() { // hangs when the pool does
		for i := range 1 << 20 {
			_ = exec.CommandContext(t.Context(), "zfs", "set", fmt.Sprint("test:writes=", i), "boot").Run()
			_ = exec.CommandContext(t.Context(), "zpool", "sync", "boot").Run()
		}
	}()
	until(t, n, s, v1alpha1.ConditionPoolReady, v1alpha1.ReasonPoolSuspended, func() {})
	wantBounded(t, n, s)
	handOver("heal")
	until(t, n, s, v1alpha1.ConditionPoolReady, v1alpha1.ReasonPoolOnline, clearing(t))
	// A busy machine may need longer than commandTime for a command.
	until(t, n, s, v1alpha1.ConditionReady, v1alpha1.ReasonReady, func() {})
	// What failed while the disk was away is a data error until it was read again
	// (zpool-clear(8), zpool-scrub(8)), and a resilver may be under way.
	until(t, n, s, v1alpha1.ConditionDevicesHealthy, v1alpha1.ReasonHealthy, func() { readAgain(t) })
}

// readAgain scrubs the pool, as an administrator does after a report of data errors.
func readAgain(t *testing.T) {
	ctx, stop := context.WithTimeout(t.Context(), 30*time.Second)
	defer stop()
	for _, command := range [][]string{{"wait", "-t", "resilver", "boot"}, {"clear", "boot"}, {"scrub", "-w", "boot"}} {
		if out, err := exec.CommandContext(ctx, "zpool", command...).CombinedOutput(); err != nil {
			t.Logf("zpool %s: %v: %s", strings.Join(command, " "), err, out)
		}
	}
}

// wantBounded: twenty passes on a suspended pool take their time and no more, and
// leave nothing behind.
func wantBounded(t *testing.T, n *agent.Node, s *v1alpha1.PgNodeStorage) {
	t.Helper()
	goroutines, processes, memory := runtime.NumGoroutine(), tools(t), heap()
	for i := range 20 {
		began := time.Now()
		if r := pass(t, n, s); r.Changed {
			t.Errorf("pass %d changed something", i)
		}
		if took := time.Since(began); took > passBound {
			t.Errorf("pass %d took %s", i, took)
		}
		message := says(t, s, v1alpha1.ConditionPoolReady, metav1.ConditionFalse, v1alpha1.ReasonPoolSuspended)
		if !strings.Contains(message, "zpool ") {
			t.Errorf("the message has no remedy: %s", message)
		}
		says(t, s, v1alpha1.ConditionReady, metav1.ConditionFalse, v1alpha1.ReasonPoolSuspended)
	}
	if now := runtime.NumGoroutine(); now > goroutines+3*host.MaxStuck {
		t.Errorf("%d goroutines after %d", now, goroutines)
	}
	if now := tools(t); now > processes+host.MaxStuck {
		t.Errorf("%d processes of ZFS after %d", now, processes)
	}
	if now := heap(); now > memory+8<<20 {
		t.Errorf("heap of %d bytes after %d", now, memory)
	}
	t.Logf("goroutines %d to %d, processes %d to %d, %s", goroutines, runtime.NumGoroutine(), processes, tools(t), s.Status.Conditions[0].Message)
}

// tools counts the processes of zpool and zfs.
func tools(t *testing.T) int {
	t.Helper()
	names, err := filepath.Glob("/proc/[0-9]*/comm")
	if err != nil {
		t.Fatal(err)
	}
	return len(slices.DeleteFunc(names, func(path string) bool {
		comm, _ := os.ReadFile(path) // gone meanwhile: not one of them
		name := strings.TrimSpace(string(comm))
		return name != "zpool" && name != "zfs"
	}))
}

func heap() uint64 {
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return m.HeapAlloc
}
