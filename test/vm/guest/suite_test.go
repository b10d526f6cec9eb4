//go:build guest

package guest_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	poll "k8s.io/apimachinery/pkg/util/wait"

	"github.com/pgstorage/pgstorage/api/v1alpha1"
	"github.com/pgstorage/pgstorage/internal/kube/status"
	"github.com/pgstorage/pgstorage/internal/node/agent"
	"github.com/pgstorage/pgstorage/internal/node/host"
)

// disk is the stable path of a disk of this machine.
func disk(number int) string { return fmt.Sprintf("/dev/disk/by-id/virtio-disk%d", number) }

// newAgent builds an agent on this machine; it calls before, when given, ahead of each command.
func newAgent(before func(argv []string) error) (*agent.Node, *host.Counter) {
	var runner host.Runner = &host.Exec{}
	if before != nil {
		runner = &host.Hook{Runner: runner, Before: before}
	}
	counter := host.Counting(runner)
	return agent.New("", counter), counter
}

// declared is a PgNodeStorage with both parents, as the manager renders it.
func declared(pool string, change func(*v1alpha1.PgNodeStorageSpec)) *v1alpha1.PgNodeStorage {
	properties := func(more ...string) []v1alpha1.ZFSProperty {
		all := append([]string{
			"compression=lz4", "atime=off", "relatime=off", "logbias=latency", "primarycache=all", "xattr=sa", "dnodesize=legacy",
			"redundant_metadata=all", "checksum=on", "sync=standard", "special_small_blocks=0", "dedup=off", "quota=none", "reservation=none",
		}, more...)
		var out []v1alpha1.ZFSProperty
		for _, p := range all {
			name, value, _ := strings.Cut(p, "=")
			out = append(out, v1alpha1.ZFSProperty{Name: name, Value: value})
		}
		return out
	}
	s := &v1alpha1.PgNodeStorage{
		ObjectMeta: metav1.ObjectMeta{Name: pool, Generation: 1},
		Spec: v1alpha1.PgNodeStorageSpec{
			NodeName: "guest", Profile: "test",
			Pool: v1alpha1.NodePool{Name: pool, Properties: []v1alpha1.ZFSProperty{{Name: "autotrim", Value: "off"}, {Name: "failmode", Value: "wait"}}},
			Datasets: []v1alpha1.NodeDataset{
				{Name: pool + "/pgdata", Properties: properties("recordsize=8192", "secondarycache=all")},
				{Name: pool + "/pgwal", Properties: properties("recordsize=32768", "secondarycache=none")},
			},
			DriftPolicy: v1alpha1.DriftRepair,
		},
	}
	if change != nil {
		change(&s.Spec)
	}
	return s
}

// madeOf declares a pool of one vdev.
func madeOf(kind v1alpha1.ZFSVdevType, disks ...int) func(*v1alpha1.PgNodeStorageSpec) {
	return func(spec *v1alpha1.PgNodeStorageSpec) {
		v := v1alpha1.ZFSVdev{Type: kind}
		for _, d := range disks {
			v.Devices = append(v.Devices, v1alpha1.ZFSDevice{Path: disk(d)})
		}
		spec.Pool.Create = &v1alpha1.ZFSPoolCreate{Vdevs: []v1alpha1.ZFSVdev{v}, Ashift: new(int32(12))}
	}
}

// pass runs one pass and stores its status in s, as the agent's controller does.
func pass(t *testing.T, n *agent.Node, s *v1alpha1.PgNodeStorage) agent.PassResult {
	t.Helper()
	result, err := n.Pass(t.Context(), s)
	if err != nil {
		result.Status = *s.Status.DeepCopy()
	}
	result.Status.Conditions = status.Conditions(s.Status.Conditions, s.Generation, metav1.Now(), result.Outcomes)
	s.Status = result.Status
	return result
}

// converge runs passes until nothing is left to change, and at most ten.
func converge(t *testing.T, n *agent.Node, s *v1alpha1.PgNodeStorage) agent.PassResult {
	t.Helper()
	var result agent.PassResult
	for range 10 {
		result = pass(t, n, s)
		if c := meta.FindStatusCondition(s.Status.Conditions, v1alpha1.ConditionPoolReady); c != nil && c.Reason == v1alpha1.ReasonHostCommandFailed {
			t.Log(c.Message) // the next pass may say what it led to instead
		}
		if !result.Changed {
			return result
		}
	}
	t.Fatalf("ten passes did not converge: %+v", s.Status.Conditions)
	return result
}

// says checks a condition and returns its message.
func says(t *testing.T, s *v1alpha1.PgNodeStorage, kind string, want metav1.ConditionStatus, reason string) string {
	t.Helper()
	c := meta.FindStatusCondition(s.Status.Conditions, kind)
	if c == nil {
		t.Fatalf("no condition %s among %+v", kind, s.Status.Conditions)
	}
	if c.Status != want || c.Reason != reason {
		t.Fatalf("%s is %s (%s), want %s (%s): %s", kind, c.Status, c.Reason, want, reason, c.Message)
	}
	return c.Message
}

// ready converges and checks that everything is as declared.
func ready(t *testing.T, n *agent.Node, s *v1alpha1.PgNodeStorage) {
	t.Helper()
	converge(t, n, s)
	says(t, s, v1alpha1.ConditionReady, metav1.ConditionTrue, v1alpha1.ReasonReady)
}

// run runs what an administrator does by hand, or what a test checks; the agent does not use
// it.
func run(t *testing.T, program string, args ...string) string {
	t.Helper()
	out, err := tryRun(t, program, args...)
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// alone runs what needs a device for itself, and retries for a minute. udev opens a device
// after each write to it, sometimes even after it has settled.
func alone(t *testing.T, program string, args ...string) {
	t.Helper()
	var last error
	err := poll.PollUntilContextTimeout(context.WithoutCancel(t.Context()), time.Second, time.Minute, true, func(context.Context) (bool, error) {
		if _, last = tryRun(t, program, args...); last == nil {
			return true, nil
		}
		t.Logf("once more: %v", last)
		settle(t)
		return false, nil
	})
	if err != nil {
		t.Fatal(err, last)
	}
}

func tryRun(t *testing.T, program string, args ...string) (string, error) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(t.Context()), 2*time.Minute)
	defer cancel()
	out, err := exec.CommandContext(ctx, program, args...).CombinedOutput()
	if err != nil {
		return "", fmt.Errorf("%s %s: %w: %s", program, strings.Join(args, " "), err, out)
	}
	return strings.TrimSpace(string(out)), nil
}

// settle waits until udev has handled the events of devices. On a machine that is busy, udevd
// can close the connection before it answers ("Broken pipe"), so a failure is tried again.
func settle(t *testing.T) {
	t.Helper()
	var err error
	for range 3 {
		if _, err = tryRun(t, "udevadm", "settle"); err == nil {
			return
		}
	}
	t.Fatal(err)
}

// erase destroys a test's pool and clears its disks for the next test.
func erase(t *testing.T, pool string, disks ...int) {
	t.Helper()
	t.Cleanup(func() {
		if slices.Contains(strings.Fields(run(t, "zpool", "list", "-H", "-o", "name")), pool) {
			alone(t, "zpool", "destroy", "-f", pool)
		}
		for _, d := range disks {
			blank(t, d)
		}
		forget(t, pool)
	})
}

// poolRecord is what the agent keeps of a pool on disks.
func poolRecord(pool string) string {
	return "/var/lib/pgstorage/agent/pools/disks/" + pool + ".json"
}

// forget deletes the record of a pool, as a new installation of the node does.
func forget(t *testing.T, pool string) {
	t.Helper()
	if err := os.Remove(poolRecord(pool)); err != nil && !errors.Is(err, os.ErrNotExist) {
		t.Error(err)
	}
}

// blank makes a disk blank: labels lie at both ends, and blkdiscard zeroes all.
func blank(t *testing.T, number int) {
	t.Helper()
	path, err := filepath.EvalSymlinks(disk(number))
	if err != nil {
		t.Fatal(err)
	}
	alone(t, "blkdiscard", "-z", "-f", path)
	alone(t, "blockdev", "--rereadpt", path)
	settle(t)
}

// total of the commands that were run.
func total(c *host.Counter) int {
	sum := 0
	for _, count := range c.Counts() {
		sum += count.Runs
	}
	return sum
}
