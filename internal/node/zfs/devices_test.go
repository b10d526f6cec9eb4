package zfs

import (
	"errors"
	"strings"
	"testing"

	"github.com/pgstorage/pgstorage/internal/node/host/hosttest"
)

func TestChangesOfDevices(t *testing.T) {
	ctx := t.Context()
	changes(t, func(c *Client) error { return c.ExportPool(ctx, "tank") }, "zpool export tank")
	changes(t, func(c *Client) error { return c.AddCaches(ctx, "tank", "/dev/a", "/dev/b") }, "zpool add tank cache /dev/a /dev/b")
	changes(t, func(c *Client) error { return c.AddLog(ctx, "tank", "/dev/a") }, "zpool add tank log /dev/a")
	changes(t, func(c *Client) error { return c.AddLog(ctx, "tank", "/dev/a", "/dev/b") }, "zpool add tank log mirror /dev/a /dev/b")
	changes(t, func(c *Client) error { return c.Expand(ctx, "tank", "/run/pgstorage/p/a.x") }, "zpool online -e tank /run/pgstorage/p/a.x")
	changes(t, func(c *Client) error { return c.Scrub(ctx, "tank") }, "zpool scrub tank")
	changes(t, func(c *Client) error {
		c.SearchDirs, c.CacheFile = []string{"/run/pgstorage/p"}, "none"
		return c.Import(ctx, 42)
	}, "zpool import -N -o cachefile=none -d /run/pgstorage/p 42")
}

func TestChangesOfDevicesThatAreRefused(t *testing.T) {
	ctx := t.Context()
	for what, call := range map[string]func(*Client) error{
		"a pool's name":      func(c *Client) error { return c.ExportPool(ctx, "-f") },
		"a relative cache":   func(c *Client) error { return c.AddCaches(ctx, "tank", "special") },
		"a log twice":        func(c *Client) error { return c.AddLog(ctx, "tank", "/dev/a", "/dev/a") },
		"a relative device":  func(c *Client) error { return c.Expand(ctx, "tank", "a") },
		"no name of a scrub": func(c *Client) error { return c.Scrub(ctx, "") },
	} {
		r := &hosttest.Replay{}
		if err := call(&Client{Runner: r}); !errors.Is(err, ErrInvalid) || len(r.Changes()) > 0 {
			t.Errorf("%s: %v, ran %q", what, err, r.Changes())
		}
	}
}

const cached = `  pool: tank
 state: ONLINE
config:

	NAME          STATE     READ WRITE CKSUM
	tank          ONLINE       0     0     0
	  /dev/a      ONLINE       0     0     0
	cache
	  /dev/c1     ONLINE       0     0     0
	logs
	  mirror-1    ONLINE       0     0     0
	    /dev/l1   ONLINE       0     0     0
	    /dev/m1   ONLINE       0     0     0

errors: No known data errors
`

// A device that is back needs nothing more.
func TestReturnOfWhatIsBack(t *testing.T) {
	r := &hosttest.Replay{Answers: map[string]hosttest.Answer{"zpool status -P -p -v tank": {Stdout: cached}}}
	if err := (&Client{Runner: r}).Return(t.Context(), "tank", "/dev/a", true); err != nil || len(r.Changes()) > 0 {
		t.Errorf("%v, ran %q", err, r.Changes())
	}
}

// Only caches and logs are removed, and no device is returned to a suspended pool.
func TestChangesThatLookFirst(t *testing.T) {
	ctx := t.Context()
	suspended := strings.Replace(cached, " state: ONLINE", " state: SUSPENDED", 1)
	failed := strings.Replace(cached, "/dev/a      ONLINE ", "/dev/a      UNAVAIL", 1)
	counted := strings.Replace(cached, "/dev/a      ONLINE       0     0", "/dev/a      ONLINE       0     1", 1)
	returns := func(again bool) func(*Client) error {
		return func(c *Client) error { return c.Return(ctx, "tank", "/dev/a", again) }
	}
	for _, c := range []struct {
		status string
		call   func(*Client) error
		want   string
	}{
		{cached, func(c *Client) error { return c.RemoveLocal(ctx, "tank", "/dev/c1") }, "zpool remove tank /dev/c1"},
		{cached, func(c *Client) error { return c.RemoveLocal(ctx, "tank", "mirror-1") }, "zpool remove tank mirror-1"},
		{cached, func(c *Client) error { return c.RemoveLocal(ctx, "tank", "/dev/a") }, ""},
		{cached, func(c *Client) error { return c.RemoveLocal(ctx, "tank", "/dev/z") }, ""},
		{cached, returns(false), "zpool online tank /dev/a, zpool clear tank /dev/a"},
		{suspended, returns(false), ""},
		{suspended, returns(true), ""},
		{failed, returns(true), "zpool online tank /dev/a, zpool clear tank /dev/a"},
		{counted, returns(true), "zpool clear tank /dev/a"},
		{counted, returns(false), "zpool online tank /dev/a, zpool clear tank /dev/a"},
	} {
		r := &hosttest.Replay{Answers: map[string]hosttest.Answer{"zpool status -P -p -v tank": {Stdout: c.status}}}
		err := c.call(&Client{Runner: r})
		if got := strings.Join(r.Changes(), ", "); got != c.want || (err == nil) != (c.want != "") || err != nil && !errors.Is(err, ErrInvalid) {
			t.Errorf("ran %q, want %q: %v", got, c.want, err)
		}
	}
}
