package runbook

import (
	"strings"
	"testing"
	"testing/fstest"

	"github.com/google/go-cmp/cmp"

	"github.com/pgstorage/pgstorage/docs/runbooks"
)

func open(t *testing.T) *Book {
	t.Helper()
	b, err := Open(fstest.MapFS{
		"README.md":   {Data: []byte("# List\n\n- [PoolLost](PoolLost.md)\n- [Drifted](Drifted.md), PropertyDrift and LayoutDiffers of `DevicesHealthy`, PoolLost\n- [Absent](Absent.md), Nothing\n")},
		"PoolLost.md": {Data: []byte("# PoolLost\n\nSee [this](Drifted.md), [that](../spec/a.md#b), [site](https://example.com/) and [here](#there).\n")},
		"Drifted.md":  {Data: []byte("# Drifted\n")},
	})
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func TestPageIsFoundByReasonAndAlert(t *testing.T) {
	b := open(t)
	for name, want := range map[string]string{"poollost": "# PoolLost", "PropertyDrift": "# Drifted", "LayoutDiffers": "# Drifted", "PoolLost": "# PoolLost"} {
		page, err := b.Page(name)
		if err != nil || !strings.HasPrefix(page, want) {
			t.Errorf("%s: %q %v", name, page, err)
		}
		if !b.Has(name) || b.Link(name) != "docs/runbooks/"+want[2:]+".md" {
			t.Errorf("Link(%s) is %q, want the page of %s", name, b.Link(name), want)
		}
	}
	for name, want := range map[string]string{
		"Lost":           "did you mean PoolLost?",
		"Nothing":        `no runbook for "Nothing"; list all`,
		"DevicesHealthy": `no runbook for "DevicesHealthy"; list all`,
		"":               `no runbook for ""; list all`,
	} {
		if _, err := b.Page(name); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %s", name, err, want)
		}
	}
}

func TestLinksOfPagesAreAbsolute(t *testing.T) {
	page, err := open(t).Page("PoolLost")
	if err != nil {
		t.Fatal(err)
	}
	want := "# PoolLost\n\nSee [this](" + Site + "docs/runbooks/Drifted.md), [that](" + Site + "docs/spec/a.md#b), [site](https://example.com/) and [here](#there).\n"
	if diff := cmp.Diff(want, page); diff != "" {
		t.Error(diff)
	}
}

func TestListHasOtherReasons(t *testing.T) {
	want := []Entry{
		{Name: "Drifted", Also: []string{"PropertyDrift", "LayoutDiffers"}, URL: Site + "docs/runbooks/Drifted.md"},
		{Name: "PoolLost", URL: Site + "docs/runbooks/PoolLost.md"},
	}
	if diff := cmp.Diff(want, open(t).List()); diff != "" {
		t.Error(diff)
	}
}

func TestReasonsLeadToDocumentedRunbooks(t *testing.T) {
	b, err := Open(runbooks.Pages)
	if err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]string{
		"PoolNotListed": "# DriverNotOnNode\n", "NodeNotFound": "# NodeNotReady\n", "SecretNotFound": "# ServerNotRunning\n",
		"LayoutDiffers": "# PgStoragePropertiesDrifted\n", "ServerLost": "# ServerLost\n", "PgStorageAgentAbsent": "# PgStorageAgentAbsent\n",
	} {
		page, err := b.Page(name)
		if err != nil || !strings.HasPrefix(page, want) {
			t.Errorf("%s: %.40q %v", name, page, err)
		}
	}
	if n := len(b.List()); n < 50 {
		t.Errorf("got %d runbooks, want 50 or more", n)
	}
}
