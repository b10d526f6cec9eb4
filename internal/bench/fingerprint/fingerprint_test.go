package fingerprint

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func settings() Settings {
	s := Settings{}
	s.Set(Postgres, "shared_buffers", "131072")
	s.Set(Postgres, "wal_recycle", "off")
	s.Set(Storage, "recordsize", "8192")
	s.Set(Kernel, "vm.dirty_ratio", "20")
	s.Set(Versions, "postgres", "17.6")
	s.Set(Node, "machine", "n1")
	s.Set(Images, "postgres", "sha256:00")
	return s
}

func TestHash(t *testing.T) {
	// The hash is in reports that are compared with later ones: it does not change.
	const want = "638e7d9391b4f20b4d37b7e4f187be82a32fb60e05f5fc2827be59a6e3ae299f"
	if got := settings().Hash(); got != want {
		t.Errorf("want %s, got %s", want, got)
	}
	raw, err := json.Marshal(settings())
	if err != nil {
		t.Fatal(err)
	}
	var back Settings
	if err := json.Unmarshal(raw, &back); err != nil || back.Hash() != want {
		t.Errorf("%v: %s after a round trip", err, back.Hash())
	}
	empty := settings()
	empty["Other"] = nil
	if empty.Hash() != want || len(Diff(empty, settings())) != 0 {
		t.Error("a group without settings counts")
	}
}

// Text moved from one part to the next is another setting.
func TestHashKeepsPartsApart(t *testing.T) {
	seen := map[string]string{}
	for _, parts := range [][3]string{{"a", "bc", "d"}, {"ab", "c", "d"}, {"a", "b", "cd"}, {"a", "bc", ""}, {"a", "bcd", ""}} {
		s := Settings{}
		s.Set(Group(parts[0]), parts[1], parts[2])
		if other, there := seen[s.Hash()]; there {
			t.Errorf("%v hashes as %s", parts, other)
		}
		seen[s.Hash()] = fmt.Sprint(parts)
	}
}

func TestDiff(t *testing.T) {
	a, b := settings(), settings()
	b.Set(Images, "postgres", "sha256:01")
	b.Set(Storage, "compression", "lz4")
	b.Set(Postgres, "shared_buffers", "262144")
	b.Set("Network", "mtu", "1500")
	delete(b[Postgres], "wal_recycle")
	var got []string
	for _, d := range Diff(a, b) {
		got = append(got, d.String())
	}
	want := []string{
		"Postgres shared_buffers: 131072, 262144",
		"Postgres wal_recycle: off, (not set)",
		"Storage compression: (not set), lz4",
		"Images postgres: sha256:00, sha256:01",
		"Network mtu: (not set), 1500",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	if got := Diff(a, settings()); got != nil {
		t.Error(got)
	}
}

func TestComparable(t *testing.T) {
	a, b := settings(), settings()
	b.Set(Storage, "recordsize", "16384")
	varied := map[Group][]string{Storage: {"recordsize"}}
	if ok, why := Comparable(Diff(a, b), varied); !ok {
		t.Error(why)
	}
	b.Set(Kernel, "vm.dirty_ratio", "10")
	if ok, why := Comparable(Diff(a, b), varied); ok || !strings.HasSuffix(why, "beyond what the benchmark varies: Kernel vm.dirty_ratio: 20, 10") {
		t.Error(why)
	}
	for i := range 12 {
		b.Set(Node, fmt.Sprintf("n%02d", i), "x")
	}
	if _, why := Comparable(Diff(a, b), varied); !strings.HasSuffix(why, "; and 3 more") {
		t.Error(why)
	}
}

// No difference and the same hash are the same statement.
func FuzzHashAndDiffAgree(f *testing.F) {
	f.Add("Postgres", "a", "1", "Postgres", "a", "2")
	f.Add("ab", "c", "", "a", "bc", "")
	f.Fuzz(func(t *testing.T, group, name, value, otherGroup, otherName, otherValue string) {
		a, b := settings(), settings()
		a.Set(Group(group), name, value)
		b.Set(Group(otherGroup), otherName, otherValue)
		if (a.Hash() == b.Hash()) != (len(Diff(a, b)) == 0) {
			t.Fatalf("hashes %s and %s, differences %v", a.Hash(), b.Hash(), Diff(a, b))
		}
	})
}
