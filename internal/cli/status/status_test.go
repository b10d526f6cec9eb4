package status

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/pgstorage/pgstorage/api/v1alpha1"
	"github.com/pgstorage/pgstorage/docs/runbooks"
	"github.com/pgstorage/pgstorage/internal/cli/runbook"
	"github.com/pgstorage/pgstorage/internal/cli/snapshot"
	"github.com/pgstorage/pgstorage/internal/cli/view"
	"github.com/pgstorage/pgstorage/internal/testing/golden"
	"github.com/pgstorage/pgstorage/internal/testing/snapshots"
)

func builder(t *testing.T) Builder {
	t.Helper()
	book, err := runbook.Open(runbooks.Pages)
	if err != nil {
		t.Fatal(err)
	}
	return Builder{Runbooks: book}
}

func TestTreesMatchGoldenFiles(t *testing.T) {
	b := builder(t)
	ready, trouble := snapshots.Cluster(t, "testdata/ready.yaml"), snapshots.Cluster(t, "testdata/trouble.yaml")
	trouble.Profile.Missing = []string{"zfs-nvme"}
	absent := trouble
	absent.Profile, absent.Database, absent.Pods, absent.Claims, absent.Benchmarks = snapshot.Profile{Name: "zfs-nvme"}, nil, nil, nil, nil
	blind := absent
	blind.Profile.Unread = []snapshot.Unread{{What: "PgStorageProfile zfs-nvme", Why: "forbidden"}}
	blind.Unread = []snapshot.Unread{{What: snapshot.Database, Why: "forbidden"}, {What: "Pods in namespace prod", Why: "forbidden"}}
	for name, item := range map[string]Tree{
		"ready":     b.Cluster(ready),
		"trouble":   b.Cluster(trouble),
		"absent":    b.Cluster(absent),
		"blind":     b.Cluster(blind),
		"servers":   b.Profile(snapshots.Cluster(t, "testdata/servers.yaml").Profile),
		"node":      b.NodeStorage(&trouble.Profile.Storages[0]),
		"benchmark": b.Benchmark(snapshot.Benchmark{Benchmark: &ready.Benchmarks[0], Target: ready.Cluster, Pods: ready.Pods[:1]}),
		"unseen":    b.Benchmark(snapshot.Benchmark{Benchmark: &trouble.Benchmarks[0], Unread: []snapshot.Unread{{What: "PgStorageCluster shop", Why: "forbidden"}}}),
		"lonely":    b.Benchmark(snapshot.Benchmark{Benchmark: &trouble.Benchmarks[0]}),
	} {
		t.Run(name, func(t *testing.T) { golden.Text(t, "testdata/"+name+".golden.txt", item.Text(view.Style{})) })
	}
}

func TestColoursKeepTheText(t *testing.T) {
	item := builder(t).Cluster(snapshots.Cluster(t, "testdata/trouble.yaml"))
	coloured := item.Text(view.Style{Colour: true})
	if !strings.Contains(coloured, "\x1b[31mStalled\x1b[0m") || !strings.Contains(coloured, "\x1b[33mWaiting\x1b[0m") {
		t.Errorf("got %q, want a red Stalled and a yellow Waiting", coloured)
	}
	plain := coloured
	for _, code := range []string{"\x1b[0m", "\x1b[1m", "\x1b[2m", "\x1b[22m", "\x1b[31m", "\x1b[32m", "\x1b[33m", "\x1b[35m"} {
		plain = strings.ReplaceAll(plain, code, "")
	}
	if plain != item.Text(view.Style{}) {
		t.Errorf("without colours the text is %q, want %q", plain, item.Text(view.Style{}))
	}
}

func TestTreeAsJSON(t *testing.T) {
	got, err := json.MarshalIndent(builder(t).Cluster(snapshots.Cluster(t, "testdata/trouble.yaml")), "", "  ")
	if err != nil {
		t.Fatal(err)
	}
	golden.Text(t, "testdata/trouble.golden.json", string(got)+"\n")
}

func TestStateOfComparesGenerations(t *testing.T) {
	s := snapshots.Cluster(t, "testdata/ready.yaml")
	conditions := s.Cluster.Status.Conditions
	for _, tc := range []struct {
		name                 string
		generation, observed int64
		state                view.State
		reason               string
	}{
		{"current spec", 2, 2, view.Ready, v1alpha1.ReasonReady},
		{"older spec", 3, 2, view.Waiting, NotObserved},
	} {
		if state, reason, _ := StateOf(tc.generation, tc.observed, conditions); state != tc.state || reason != tc.reason {
			t.Errorf("%s: got %s, %s, want %s, %s", tc.name, state, reason, tc.state, tc.reason)
		}
	}
	if state, _, _ := StateOf(1, 0, nil); state != view.Unknown {
		t.Errorf("without conditions the state is %s, want %s", state, view.Unknown)
	}
}
