package blockdev

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/pgstorage/pgstorage/internal/node/host"
)

// programs of this machine, or the test is skipped.
func programs(t *testing.T, names ...string) *Client {
	t.Helper()
	for _, n := range names {
		if _, err := exec.LookPath(n); err != nil {
			t.Skipf("this machine has no %s", n)
		}
	}
	return &Client{Runner: &host.Exec{}, FS: os.DirFS("/"), Open: OpenExclusive("")}
}

func TestInventoryOfThisMachine(t *testing.T) {
	c := programs(t, "lsblk")
	if _, err := os.Stat("/sys/block"); err != nil {
		t.Skip(err)
	}
	all, err := c.Inventory(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	for _, d := range all {
		if strings.HasPrefix(d.Path, "/dev/sd") {
			t.Errorf("%s is not stable", d.Path)
		}
	}
}

// What mkfs and mkswap write is seen by wipefs, blkid and the content alike, and gone
// once it is wiped.
func TestRealSignatures(t *testing.T) {
	c := programs(t, "wipefs", "blkid", "mkfs.ext4", "mkswap")
	for maker, want := range map[string][3]string{
		"":                {"", "", ""},
		"mkfs.ext4 -q -F": {"ext4", "ext4", "ext filesystem"},
		"mkswap -q":       {"swap", "swap", "swap"},
	} {
		image := filepath.Join(t.TempDir(), "image")
		if err := os.WriteFile(image, nil, 0o600); err != nil {
			t.Fatal(err)
		}
		const size = 64 << 20
		if err := os.Truncate(image, size); err != nil {
			t.Fatal(err)
		}
		if words := strings.Fields(maker); maker != "" {
			cmd := exec.CommandContext(t.Context(), words[0], append(words[1:], image)...)
			if out, err := cmd.CombinedOutput(); err != nil && !strings.Contains(string(out), "unrecognized option") {
				t.Fatalf("%s: %v: %s", maker, err, out)
			} else if err != nil {
				t.Skipf("%s", out)
			}
		}
		if got := seen(t, c, image, size); got != want {
			t.Errorf("%q: %q", maker, got)
		}
		if _, err := c.Change(t.Context(), "wipefs", "-a", image); !errors.Is(err, host.ErrRefused) {
			t.Errorf("without a permit: %v", err)
		}
		if _, err := c.Change(host.PermitWipe(t.Context(), image), "wipefs", "-a", image); err != nil {
			t.Error(err)
		}
		if got := seen(t, c, image, size); got != [3]string{} {
			t.Errorf("%q, wiped: %q", maker, got)
		}
	}
}

// seen by wipefs, blkid and the content.
func seen(t *testing.T, c *Client, image string, size uint64) (out [3]string) {
	t.Helper()
	d := Device{Kernel: image, Size: size}
	for i, probe := range []func(*Signatures) error{
		func(s *Signatures) error { return c.wipefs(t.Context(), d, s) },
		func(s *Signatures) error { return c.blkid(t.Context(), d, s) },
		func(s *Signatures) error { return c.content(t.Context(), d, s) },
	} {
		s := Signatures{Device: image}
		if err := probe(&s); err != nil {
			t.Error(err)
		}
		if !s.Clean() {
			out[i] = s.String()
		}
	}
	return out
}
