package exports_test

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/pgstorage/pgstorage/internal/zerofs/exports"
)

const mebi = 1 << 20

func exportsOf(t *testing.T, c *exports.Client) []exports.Export {
	t.Helper()
	all, err := c.Exports(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	slices.SortFunc(all, func(a, b exports.Export) int { return strings.Compare(a.Name, b.Name) })
	return all
}

// wants an error that is want, nil for none, and has all words.
func wants(t *testing.T, err, want error, words ...string) {
	t.Helper()
	if !errors.Is(err, want) {
		t.Fatalf("error %v, wanted %v", err, want)
	}
	for _, word := range words {
		if !strings.Contains(err.Error(), word) {
			t.Errorf("%q does not say %q", err, word)
		}
	}
}

func TestCreateGrowList(t *testing.T) {
	c, f := serve(t)
	if all := exportsOf(t, c); len(all) > 0 {
		t.Fatalf("%v before anything was made", all)
	}
	for range 2 {
		wants(t, c.Create(t.Context(), "pool-a.0", mebi), nil)
	}
	wants(t, c.Create(t.Context(), "pool_b", 2*mebi), nil)
	want := []exports.Export{{Name: "pool-a.0", Bytes: mebi}, {Name: "pool_b", Bytes: 2 * mebi}}
	if all := exportsOf(t, c); !slices.Equal(all, want) {
		t.Fatalf("%v, wanted %v", all, want)
	}
	wants(t, c.Create(t.Context(), "pool_b", mebi), exports.ErrExists, "pool_b", "2097152 bytes", "not 1048576")
	for range 2 {
		wants(t, c.Grow(t.Context(), "pool_b", 3*mebi), nil)
	}
	wants(t, c.Grow(t.Context(), "pool_b", mebi), exports.ErrShrink, "pool_b", "3145728 bytes", "not 1048576")
	wants(t, c.Grow(t.Context(), "missing", mebi), exports.ErrNoSuchExport, "missing")
	want[1].Bytes = 3 * mebi
	if all := exportsOf(t, c); !slices.Equal(all, want) {
		t.Fatalf("%v, wanted %v", all, want)
	}
	f.with(func() {
		if !maps.Equal(f.flushed, f.files) {
			t.Errorf("%v is flushed of %v", f.flushed, f.files)
		}
	})
}

// cutAnywhere cuts the connection at each request of an act, before and after it is
// done, and wants the act to succeed the next time.
func cutAnywhere(t *testing.T, prepare func(*fake), act func(*exports.Client) error, want map[string]int64) {
	t.Helper()
	for at := 1; ; at++ {
		for _, doLast := range []bool{false, true} {
			c, f := serve(t)
			f.with(func() { prepare(f); f.left, f.doLast = at, doLast })
			err := act(c)
			var left int
			f.with(func() { left, f.left = f.left, unlimited })
			if left > 0 {
				wants(t, err, nil)
				if at < 5 {
					t.Errorf("only %d requests", at)
				}
				return
			}
			if err == nil {
				t.Errorf("no error with request %d cut", at)
			}
			wants(t, act(c), nil)
			f.with(func() {
				if !maps.Equal(f.flushed, want) {
					t.Errorf("request %d cut, done %t: %v, wanted %v", at, doLast, f.flushed, want)
				}
			})
		}
	}
}

func TestCreateAfterACrash(t *testing.T) {
	cutAnywhere(t, func(*fake) {}, func(c *exports.Client) error {
		return c.Create(t.Context(), "a", mebi)
	}, map[string]int64{"a": mebi})
}

func TestGrowAfterACrash(t *testing.T) {
	cutAnywhere(t, func(f *fake) { f.folder, f.files["a"] = true, mebi }, func(c *exports.Client) error {
		return c.Grow(t.Context(), "a", 2*mebi)
	}, map[string]int64{"a": 2 * mebi})
}

func TestOnlyFiles(t *testing.T) {
	c, f := serve(t)
	f.with(func() { f.folder, f.files["folder"], f.files["file"] = true, -1, mebi })
	if all := exportsOf(t, c); !slices.Equal(all, []exports.Export{{Name: "file", Bytes: mebi}}) {
		t.Error(all)
	}
	wants(t, c.Create(t.Context(), "folder", mebi), exports.ErrNotAFile)
	wants(t, c.Grow(t.Context(), "folder", mebi), exports.ErrNotAFile)
}

// More names than one message has room for.
func TestManyExports(t *testing.T) {
	c, f := serve(t)
	f.with(func() {
		f.folder, f.message = true, 4096
		for i := range 1000 {
			f.files[fmt.Sprintf("%s%03d", strings.Repeat("x", 100), i)] = mebi
		}
	})
	if all := exportsOf(t, c); len(all) != 1000 {
		t.Errorf("%d exports", len(all))
	}
}

func TestRefused(t *testing.T) {
	c := &exports.Client{Socket: "/nonexistent"} // nothing is asked of it
	for _, name := range []string{"", ".", "..", ".hidden", "a/b", "a b", "-", "a.", "ä", strings.Repeat("x", 129)} {
		wants(t, c.Create(t.Context(), name, mebi), exports.ErrInvalid)
		wants(t, c.Grow(t.Context(), name, mebi), exports.ErrInvalid)
	}
	for _, bytes := range []uint64{0, 1, 4095, 4097, exports.MaxBytes + 1, 1 << 63} {
		wants(t, c.Create(t.Context(), "a", bytes), exports.ErrInvalid)
	}
	wants(t, c.Create(t.Context(), "a", mebi), os.ErrNotExist, "/nonexistent")
}

// An error of the server is as it says.
func TestServersError(t *testing.T) {
	c, f := serve(t)
	f.with(func() { f.message = 1024 })
	_, err := c.Exports(t.Context())
	if err == nil || !strings.Contains(err.Error(), "1024 bytes") {
		t.Error(err)
	}
	f.with(func() { f.left = 0 })
	_, err = c.Exports(t.Context())
	if err == nil || errors.Is(err, syscall.ENOENT) {
		t.Errorf("%v of a server that hangs up", err)
	}
}

// A server that is stopped takes connections and never answers.
func TestEndsWithContext(t *testing.T) {
	listener := listen(t)
	c := &exports.Client{Socket: listener.Addr().String()}
	for name, call := range map[string]func(context.Context) error{
		"exports": func(ctx context.Context) error { _, err := c.Exports(ctx); return err },
		"create":  func(ctx context.Context) error { return c.Create(ctx, "a", mebi) },
		"grow":    func(ctx context.Context) error { return c.Grow(ctx, "a", mebi) },
	} {
		ctx, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
		start := time.Now()
		err := call(ctx)
		cancel()
		if !errors.Is(err, context.DeadlineExceeded) || time.Since(start) > 5*time.Second {
			t.Errorf("%s: %v after %s", name, err, time.Since(start))
		}
	}
}
