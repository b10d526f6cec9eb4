package profile

import (
	"fmt"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/pgstorage/pgstorage/api/v1alpha1"
)

func on(node, reported, told string) *v1alpha1.PgNodeStorage {
	s := &v1alpha1.PgNodeStorage{Spec: v1alpha1.PgNodeStorageSpec{NodeName: node, Pool: v1alpha1.NodePool{GUID: v1alpha1.PoolGUID(told)}}}
	if reported != "" {
		s.Status.Pool = &v1alpha1.ObservedPool{Name: "tank", GUID: reported}
	}
	return s
}

// What is known of a node's pool outlives its Node and its PgNodeStorage, and only what
// a user abandons is forgotten.
func TestPoolOutlivesItsNode(t *testing.T) {
	for _, tc := range []struct {
		name      string
		recorded  map[string]v1alpha1.PoolGUID
		abandoned []v1alpha1.PoolGUID
		storages  []*v1alpha1.PgNodeStorage
		// want is recorded afterwards, and the last field is what the agent of a
		// receives.
		want map[string]v1alpha1.PoolGUID
		tell v1alpha1.PoolGUID
	}{
		{"nothing", nil, nil, nil, nil, ""},
		{"made", nil, nil, []*v1alpha1.PgNodeStorage{on("a", "42", "")}, map[string]v1alpha1.PoolGUID{"a": "42"}, ""},
		{"not made yet", nil, nil, []*v1alpha1.PgNodeStorage{on("a", "", "")}, nil, ""},
		{"Node and PgNodeStorage deleted", map[string]v1alpha1.PoolGUID{"a": "42"}, nil, nil, map[string]v1alpha1.PoolGUID{"a": "42"}, "42"},
		{"PgNodeStorage created again", map[string]v1alpha1.PoolGUID{"a": "42"}, nil, []*v1alpha1.PgNodeStorage{on("a", "", "")}, map[string]v1alpha1.PoolGUID{"a": "42"}, "42"},
		{"told, and imported since", map[string]v1alpha1.PoolGUID{"a": "42"}, nil, []*v1alpha1.PgNodeStorage{on("a", "42", "42")}, map[string]v1alpha1.PoolGUID{"a": "42"}, "42"},
		{"another pool is reported", map[string]v1alpha1.PoolGUID{"a": "42"}, nil, []*v1alpha1.PgNodeStorage{on("a", "43", "")}, map[string]v1alpha1.PoolGUID{"a": "42"}, ""},
		{"abandoned", map[string]v1alpha1.PoolGUID{"a": "42"}, []v1alpha1.PoolGUID{"42"}, []*v1alpha1.PgNodeStorage{on("a", "42", "")}, map[string]v1alpha1.PoolGUID{"a": "42"}, ""},
		{"abandoned, and another made", map[string]v1alpha1.PoolGUID{"a": "42"}, []v1alpha1.PoolGUID{"42"}, []*v1alpha1.PgNodeStorage{on("a", "43", "")}, map[string]v1alpha1.PoolGUID{"a": "43"}, ""},
		{"that of another node abandoned", map[string]v1alpha1.PoolGUID{"a": "42", "b": "44"}, []v1alpha1.PoolGUID{"44"}, nil, map[string]v1alpha1.PoolGUID{"a": "42", "b": "44"}, "42"},
		{"no GUID at all", nil, nil, []*v1alpha1.PgNodeStorage{on("a", "0x2a; rm", "")}, nil, ""},
		{"another node's word", map[string]v1alpha1.PoolGUID{"a": "42"}, nil, []*v1alpha1.PgNodeStorage{on("b", "43", "")}, map[string]v1alpha1.PoolGUID{"a": "42", "b": "43"}, "42"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			p := &v1alpha1.PgStorageProfile{}
			for node, guid := range tc.recorded {
				p.Status.Pools = append(p.Status.Pools, v1alpha1.ProfilePool{Node: node, GUID: guid})
			}
			pools, dropped := Pools(p, tc.abandoned, tc.storages)
			got := map[string]v1alpha1.PoolGUID{}
			for _, known := range pools {
				got[known.Node] = known.GUID
			}
			if diff := cmp.Diff(fmt.Sprint(tc.want), fmt.Sprint(got)); diff != "" || len(dropped) > 0 {
				t.Errorf("dropped %v, want none; pools (-want +got): %s", dropped, diff)
			}
			if tell := PoolGUID(p, tc.abandoned, tc.storages, "a"); tell != tc.tell {
				t.Errorf("told %q, want %q", tell, tc.tell)
			}
		})
	}
}

// profiles of each type with pools.
func TestPoolRecordIsBounded(t *testing.T) {
	p := &v1alpha1.PgStorageProfile{}
	for i := range MaxPools {
		p.Status.Pools = append(p.Status.Pools, v1alpha1.ProfilePool{Node: fmt.Sprintf("n%04d", i), GUID: "1"})
	}
	pools, dropped := Pools(p, nil, []*v1alpha1.PgNodeStorage{on("z", "42", "")})
	if len(pools) != MaxPools || !slices.Equal(dropped, []string{"n2047"}) || pools[MaxPools-1].Node != "z" {
		t.Errorf("%d pools, dropped %v", len(pools), dropped)
	}
}
