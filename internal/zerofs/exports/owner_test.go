package exports_test

import (
	"strings"
	"testing"

	"github.com/pgstorage/pgstorage/internal/zerofs/exports"
)

func owned(t *testing.T, c *exports.Client, want string) {
	t.Helper()
	if mark, err := c.Owner(t.Context()); err != nil || mark != want {
		t.Fatalf("%q %v, wanted %q", mark, err, want)
	}
}

func TestOwner(t *testing.T) {
	c, f := serve(t)
	_, err := c.Owner(t.Context())
	wants(t, err, exports.ErrNoOwner)
	for _, mark := range []string{"first", "other", "one that is longer", "short"} {
		wants(t, c.SetOwner(t.Context(), mark), nil)
		owned(t, c, mark)
		f.with(func() {
			if f.kept != mark {
				t.Errorf("%q is flushed of %q", f.kept, mark)
			}
		})
	}
	for _, mark := range []string{"", strings.Repeat("x", 1025)} {
		wants(t, c.SetOwner(t.Context(), mark), exports.ErrInvalid)
	}
	if all := exportsOf(t, c); len(all) > 0 {
		t.Error(all)
	}
}

// A connection that is cut at any request leaves no mark, the mark before or the new one.
func TestOwnerAfterACrash(t *testing.T) {
	for at := 1; ; at++ {
		c, f := serve(t)
		wants(t, c.SetOwner(t.Context(), "first"), nil)
		f.with(func() { f.left = at })
		err := c.SetOwner(t.Context(), "after")
		var left int
		f.with(func() {
			left, f.left = f.left, unlimited
			if *f.mark != "first" && *f.mark != "after" {
				t.Errorf("request %d cut: %q", at, *f.mark)
			}
		})
		if left > 0 {
			wants(t, err, nil)
			break
		}
		if err == nil {
			t.Errorf("no error with request %d cut", at)
		}
		wants(t, c.SetOwner(t.Context(), "after"), nil)
		owned(t, c, "after")
	}
	c, f := serve(t)
	f.with(func() { f.mark = new(string) })
	_, err := c.Owner(t.Context())
	wants(t, err, exports.ErrNoOwner)
}
