package blockdev

import (
	"context"
	"errors"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/pgstorage/pgstorage/internal/node/host"
	"github.com/pgstorage/pgstorage/internal/node/host/hosttest"
)

// wiping answers as after the wipe, once it is done.
type wiping struct {
	*hosttest.Replay
	after map[string]hosttest.Answer
	fail  error
}

func (w *wiping) Change(ctx context.Context, program string, args ...string) (host.Output, error) {
	out, err := w.Replay.Change(ctx, program, args...)
	if w.fail != nil {
		return host.Output{}, w.fail
	}
	maps.Copy(w.Answers, w.after)
	return out, err
}

func wipe(t *testing.T, n *node, after map[string]hosttest.Answer, fail error) (Signatures, []string, error) {
	t.Helper()
	c, r := n.client()
	c.Runner = &wiping{Replay: r, after: after, fail: fail}
	s, err := c.Wipe(t.Context(), device, Identity{})
	return s, r.Changes(), err
}

var cleaned = map[string]hosttest.Answer{
	"wipefs -J -n " + device:       {Stdout: `{"signatures":[]}`},
	"blkid -p -o export " + device: {Exit: 2},
	list + " " + device:            {Stdout: lsblkOf("")},
}

func used(t *testing.T) *node {
	n := blankNode()
	n.lsblk.Stdout = lsblkOf(`,"children":[{"kname":"/dev/vdk1","type":"part","size":1}]`)
	n.wipefs.Stdout = sample(t, "wipefs-gpt.json")
	n.blkid = hosttest.Answer{Stdout: sample(t, "blkid-gpt.txt")}
	n.disk.data = map[int64]string{8192: "what was written"}
	return n
}

func TestWipe(t *testing.T) {
	s, changes, err := wipe(t, used(t), cleaned, nil)
	if err != nil || !s.Clean() || s.Blank() { // the data are still there
		t.Errorf("%s, %v", s, err)
	}
	if !slices.Equal(changes, []string{"wipefs -a " + device}) {
		t.Errorf("ran %q", changes)
	}
}

func TestWipeLeavesWhatIsUsed(t *testing.T) {
	n := used(t)
	n.openErr = ErrInUse
	s, changes, err := wipe(t, n, cleaned, nil)
	if !errors.Is(err, ErrInUse) || !s.InUse() || len(changes) > 0 || !strings.Contains(err.Error(), "held by the kernel") {
		t.Errorf("%v, ran %q", err, changes)
	}
}

func TestWipeThatLeavesSignatures(t *testing.T) {
	n := used(t)
	n.disk.data = map[int64]string{0: "bluestore block device\n"}
	_, changes, err := wipe(t, n, cleaned, nil)
	if !errors.Is(err, ErrNotWiped) || !strings.Contains(err.Error(), "BlueStore") || len(changes) != 1 {
		t.Errorf("%v, ran %q", err, changes)
	}
}

func TestWipeThatFails(t *testing.T) {
	fault := errors.New("probing initialization failed: Device or resource busy")
	if _, _, err := wipe(t, used(t), cleaned, fault); !errors.Is(err, fault) {
		t.Error(err)
	}
	failed := hosttest.Answer{Exit: 1, Stderr: "failed"}
	for _, command := range []string{"udevadm settle --timeout=20", list + " " + device} {
		after := map[string]hosttest.Answer{command: failed}
		if _, changes, err := wipe(t, used(t), after, nil); err == nil || len(changes) != 1 {
			t.Errorf("%s: %v", command, err)
		}
	}
	n := used(t)
	n.lsblk = failed
	if _, changes, err := wipe(t, n, cleaned, nil); err == nil || len(changes) > 0 {
		t.Errorf("%v, ran %q", err, changes)
	}
	c, r := blankNode().client()
	if _, err := c.Wipe(t.Context(), "/dev/../dev/sda", Identity{}); !errors.Is(err, ErrInvalid) || len(r.Changes()) > 0 {
		t.Error(err)
	}
}
