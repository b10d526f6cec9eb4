package decide

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/pgstorage/pgstorage/api/v1alpha1"
	"github.com/pgstorage/pgstorage/internal/kube/outcome"
	"github.com/pgstorage/pgstorage/internal/node/zfs"
	"github.com/pgstorage/pgstorage/internal/testing/facts"
)

// inShort are changes in the order in which they are made.
func inShort(c Changes) string {
	var out []string
	assign := func(props map[string]string) string {
		var all []string
		for name, value := range props {
			all = append(all, name+"="+value)
		}
		slices.Sort(all)
		return strings.Join(all, " ")
	}
	if len(c.Pool) > 0 {
		out = append(out, "pool "+assign(c.Pool))
	}
	for _, d := range c.Datasets {
		verb := "set "
		if d.Create {
			verb = "create "
		}
		out = append(out, verb+d.Name+" "+assign(d.Properties))
	}
	if c.ARCMax != 0 {
		out = append(out, fmt.Sprint("arc ", c.ARCMax))
	}
	return strings.Join(out, ", ")
}

// condition PropertiesApplied as status has it.
func condition(status metav1.ConditionStatus, reason string, generation int64) func(*v1alpha1.PgNodeStorage) {
	return func(s *v1alpha1.PgNodeStorage) {
		s.Status.Conditions = []metav1.Condition{
			{Type: v1alpha1.ConditionPoolReady, Status: metav1.ConditionTrue, ObservedGeneration: 3},
			{Type: v1alpha1.ConditionPropertiesApplied, Status: status, Reason: reason, ObservedGeneration: generation},
		}
	}
}

// declares properties of tank/pgdata, in place of its own.
func declares(values ...string) func(*v1alpha1.PgNodeStorage) {
	return func(s *v1alpha1.PgNodeStorage) { s.Spec.Datasets[0].Properties = properties(values...) }
}

// limited by an older PgNodeStorage, while ZFS has another limit.
func limited(limit string) func(*Seen) {
	return func(seen *Seen) {
		seen.ARC.Max, seen.OlderARC = 16*gib, &ARCLimit{NodeStorage: "older.n1", Max: resource.MustParse(limit)}
	}
}

// The oldest of a node decides on its ARC, and of two of the same second the first by name.
func TestOlderARCLimit(t *testing.T) {
	at := func(name, node string, second int64, change ...func(*v1alpha1.PgNodeStorage)) v1alpha1.PgNodeStorage {
		s := v1alpha1.PgNodeStorage{ObjectMeta: metav1.ObjectMeta{Name: name, CreationTimestamp: metav1.Unix(second, 0)}}
		s.Spec.NodeName, s.Spec.ARCMax = node, quantity(fmt.Sprintf("%dGi", second))
		for _, c := range change {
			c(&s)
		}
		return s
	}
	s := at("m", "n1", 5)
	for _, c := range []struct {
		name, want string
		all        []v1alpha1.PgNodeStorage
	}{
		{"alone", "", []v1alpha1.PgNodeStorage{s}},
		{"of another node", "", []v1alpha1.PgNodeStorage{s, at("a", "n2", 1)}},
		{"younger", "", []v1alpha1.PgNodeStorage{at("a", "n1", 6), s}},
		{"older", "z 4Gi", []v1alpha1.PgNodeStorage{s, at("z", "n1", 4)}},
		{"the oldest", "y 3Gi", []v1alpha1.PgNodeStorage{at("z", "n1", 4), s, at("y", "n1", 3)}},
		{"of the same second", "a 5Gi", []v1alpha1.PgNodeStorage{s, at("a", "n1", 5), at("n", "n1", 5)}},
		{"without a limit", "", []v1alpha1.PgNodeStorage{at("a", "n1", 1, func(s *v1alpha1.PgNodeStorage) { s.Spec.ARCMax = nil }), s}},
		{"being deleted", "", []v1alpha1.PgNodeStorage{at("a", "n1", 1, func(s *v1alpha1.PgNodeStorage) { s.DeletionTimestamp = new(metav1.Unix(9, 0)) }), s}},
	} {
		got := ""
		if l := OlderARCLimit(&s, c.all); l != nil {
			got = l.NodeStorage + " " + l.Max.String()
		}
		same(t, c.name, got, c.want)
	}
}

func TestProperties(t *testing.T) {
	old := func(seen *Seen) {
		seen.Version.Kernel = zfs.Version{Major: 2, Minor: 1, Patch: 11, Text: "zfs-kmod-2.1.11-1"}
	}
	for _, c := range []struct {
		name    string
		s       *v1alpha1.PgNodeStorage
		seen    Seen
		want    string
		drift   string
		refused string
	}{
		{"as declared", storage(), converged(), "", "", ""},
		{"nothing declared", storage(func(s *v1alpha1.PgNodeStorage) {
			s.Spec.Pool.Properties, s.Spec.Datasets, s.Spec.ARCMax = nil, nil, nil
		}), converged(), "", "", ""},
		// Pool.
		{"pool property", storage(), converged(pools("autotrim=off")), "pool autotrim=on", "autotrim of tank is off, declared is on", ""},
		{"pool property by default", storage(), converged(pools("autotrim=off default")), "pool autotrim=on", "autotrim of tank is off, declared is on", ""},
		{"pool property unknown", storage(), converged(func(seen *Seen) { delete(seen.Pool, "autotrim") }), "pool autotrim=on", "autotrim of tank is nothing, declared is on", ""},
		{"pool properties", storage(), converged(pools("autotrim=off", "failmode=panic")), "pool autotrim=on failmode=wait", "autotrim of tank is off, declared is on; failmode of tank is panic, declared is wait", ""},
		// Datasets.
		{"size in another notation", storage(declares("recordsize=8K")), converged(), "", "", ""},
		{"none is 0", storage(declares("quota=none", "reservation=none")), converged(in("tank/pgdata", "reservation=0")), "", "", ""},
		{"dataset property", storage(), converged(in("tank/pgdata", "recordsize=131072")), "set tank/pgdata recordsize=8k", "recordsize of tank/pgdata is 131072, declared is 8k", ""},
		{
			"dataset properties of two", storage(), converged(in("tank/pgdata", "quota=1073741824", "compression=off"), in("tank/pgwal", "recordsize=8192")),
			"set tank/pgdata compression=lz4 quota=none, set tank/pgwal recordsize=131072",
			"compression of tank/pgdata is off, declared is lz4; quota of tank/pgdata is 1073741824, declared is none; recordsize of tank/pgwal is 8192, declared is 131072", "",
		},
		{"right by default", storage(), converged(in("tank/pgwal", "recordsize=131072 default")), "", "", ""},
		{"right by receive", storage(), converged(in("tank/pgdata", "compression=lz4 received")), "", "", ""},
		{
			"right only as inherited", storage(), converged(in("tank/pgdata", "compression=lz4 inherited from tank")),
			"set tank/pgdata compression=lz4", "compression of tank/pgdata is lz4 only as inherited from tank, declared is lz4", "",
		},
		{
			"wrong as inherited", storage(), converged(in("tank/pgdata", "compression=off inherited from tank")),
			"set tank/pgdata compression=lz4", "compression of tank/pgdata is off, declared is lz4", "",
		},
		{
			"not read", storage(), converged(func(seen *Seen) { delete(seen.dataset("tank/pgdata").Properties, "compression") }),
			"set tank/pgdata compression=lz4", "compression of tank/pgdata is nothing, declared is lz4", "",
		},
		{"a volume's own is left alone", storage(), converged(in("tank/pgdata/pvc-1", "recordsize=131072")), "", "", ""},
		{"a dataset that is not declared is left alone", storage(), converged(in("tank", "compression=off")), "", "", ""},
		{
			"dataset missing", storage(), converged(without("tank/pgwal")),
			"create tank/pgwal canmount=off mountpoint=none recordsize=131072", "tank/pgwal does not exist", "",
		},
		{
			"datasets missing, parents first", storage(), converged(without("tank/pgdata"), without("tank/pgwal"), pools("autotrim=off")),
			"pool autotrim=on, create tank/pgdata canmount=off compression=lz4 mountpoint=none quota=none recordsize=8k, create tank/pgwal canmount=off mountpoint=none recordsize=131072",
			"autotrim of tank is off, declared is on; tank/pgdata does not exist; tank/pgwal does not exist", "",
		},
		{
			"what is declared outdoes the parents'", storage(declares("canmount=on", "mountpoint=/srv")), converged(without("tank/pgdata")),
			"create tank/pgdata canmount=on mountpoint=/srv", "tank/pgdata does not exist", "",
		},
		// What this ZFS does not take.
		{
			"a value of a later kernel module", storage(declares("checksum=blake3", "compression=zstd")), converged(old),
			"set tank/pgdata compression=zstd", "compression of tank/pgdata is lz4, declared is zstd",
			"tank/pgdata: invalid: checksum=blake3 needs ZFS 2.2.0 and the node has zfs-kmod-2.1.11-1; use another value or upgrade the node",
		},
		{
			"a value of a later userland", storage(declares("special_small_blocks=1M")), converged(in("tank/pgdata", "special_small_blocks=0"), func(seen *Seen) {
				seen.Version.Userland = zfs.Version{Major: 2, Minor: 1, Patch: 5, Text: "zfs-2.1.5-1ubuntu6"}
			}),
			"", "", "tank/pgdata: invalid: special_small_blocks=1048576 needs ZFS 2.2.0 and the node has zfs-2.1.5-1ubuntu6; use another value or upgrade the node",
		},
		{
			"refused at creation too", storage(declares("checksum=blake3")), converged(old, without("tank/pgdata")),
			"create tank/pgdata canmount=off mountpoint=none", "tank/pgdata does not exist",
			"tank/pgdata: invalid: checksum=blake3 needs ZFS 2.2.0 and the node has zfs-kmod-2.1.11-1; use another value or upgrade the node",
		},
		{
			"a value that is not safe", storage(declares("sync=disabled", "compression=lz4")), converged(),
			"", "", "tank/pgdata: invalid: sync=disabled: refused: commits would be acknowledged before they are stable; use standard or always",
		},
		// ARC.
		{"ARC", storage(), converged(func(seen *Seen) { seen.ARC.Max = 16 * gib }), "arc 8589934592", "zfs_arc_max of the node is 17179869184, declared is 8Gi", ""},
		{"ARC not declared", storage(func(s *v1alpha1.PgNodeStorage) { s.Spec.ARCMax = nil }), converged(func(seen *Seen) { seen.ARC.Max = 16 * gib }), "", "", ""},
		{"ARC of an older PgNodeStorage", storage(), converged(limited("4Gi")), "", "", "arcMax: this node has one ARC, which the older PgNodeStorage older.n1 limits to 4Gi; declare the same in both profiles, or in one only"},
		{"the same ARC as of an older PgNodeStorage", storage(), converged(limited("8192Mi")), "arc 8589934592", "zfs_arc_max of the node is 17179869184, declared is 8Gi", ""},
		{"everything", storage(), converged(pools("failmode=continue"), in("tank/pgdata", "quota=1"), without("tank/pgwal"), func(seen *Seen) { seen.ARC.Max = 1 }),
			"pool failmode=wait, set tank/pgdata quota=none, create tank/pgwal canmount=off mountpoint=none recordsize=131072, arc 8589934592",
			"failmode of tank is continue, declared is wait; quota of tank/pgdata is 1, declared is none; tank/pgwal does not exist; zfs_arc_max of the node is 1, declared is 8Gi", ""},
		// Drift only once this generation was applied.
		{"never applied", storage(fresh), converged(pools("autotrim=off")), "pool autotrim=on", "", ""},
		{"an earlier generation was applied", storage(condition(metav1.ConditionTrue, v1alpha1.ReasonApplied, 2)), converged(pools("autotrim=off")), "pool autotrim=on", "", ""},
		{"being applied", storage(condition(metav1.ConditionFalse, v1alpha1.ReasonProgressing, 3)), converged(pools("autotrim=off")), "pool autotrim=on", "", ""},
		{"refused before", storage(condition(metav1.ConditionFalse, v1alpha1.ReasonPropertyRefused, 3)), converged(pools("autotrim=off")), "pool autotrim=on", "", ""},
		{"never read back", storage(condition(metav1.ConditionUnknown, v1alpha1.ReasonNotReadBack, 3)), converged(pools("autotrim=off")), "pool autotrim=on", "", ""},
		{"reported before", storage(condition(metav1.ConditionFalse, v1alpha1.ReasonPropertyDrift, 3)), converged(pools("autotrim=off")), "pool autotrim=on", "autotrim of tank is off, declared is on", ""},
		{"applied, and then not seen for a while", storage(condition(metav1.ConditionUnknown, v1alpha1.ReasonApplied, 3)), converged(pools("autotrim=off")), "pool autotrim=on", "autotrim of tank is off, declared is on", ""},
	} {
		got := Properties(c.s, c.seen)
		same(t, c.name, inShort(got), c.want)
		same(t, c.name+", drift", strings.Join(got.Drift, "; "), c.drift)
		same(t, c.name+", refused", strings.Join(got.Refused, "; "), c.refused)
		if got.None() != (c.want == "") {
			t.Errorf("%s: none is %v", c.name, got.None())
		}
	}
}

// What was set is not found to differ again.
func TestPropertiesConverge(t *testing.T) {
	seen := converged(without("tank/pgwal"), in("tank/pgdata", "recordsize=131072", "compression=lz4 inherited from tank"), pools("autotrim=off"), func(seen *Seen) { seen.ARC.Max = gib })
	s := storage()
	for pass := 0; ; pass++ {
		changes := Properties(s, seen)
		if changes.None() {
			if pass != 1 {
				t.Errorf("%d passes", pass)
			}
			return
		}
		if pass > 1 {
			t.Fatalf("still %s", inShort(changes))
		}
		for name, value := range changes.Pool {
			seen.Pool[name] = zfs.Property{Value: value, Source: "local"}
		}
		for _, d := range changes.Datasets {
			if d.Create {
				seen.Datasets = append(seen.Datasets, dataset(d.Name))
			}
			for name, value := range d.Properties {
				canonical, err := zfs.Canonical(name, value)
				if err != nil {
					t.Fatal(err)
				}
				seen.dataset(d.Name).Properties[name] = zfs.Property{Value: canonical, Source: "local"}
			}
		}
		seen.ARC.Max = changes.ARCMax
	}
}

func TestPropertiesOutcome(t *testing.T) {
	ready := outcome.DoneWith(v1alpha1.ConditionPoolReady, v1alpha1.ReasonPoolOnline, "")
	waiting := outcome.WaitFor(v1alpha1.ConditionPoolReady, v1alpha1.ReasonCreatingPool, "")
	suspended := outcome.InvalidBecause(v1alpha1.ConditionPoolReady, v1alpha1.ReasonPoolSuspended, "")
	failed := errors.Join(errors.New("zfs set quota=1 tank/pgdata: exit status 1: size is less than current used"), errors.New("zpool set failmode=wait tank: exit status 1"))
	some := Changes{Pool: map[string]string{"autotrim": "on"}}
	drifted := Changes{Pool: map[string]string{"autotrim": "on"}, Drift: []string{"b differs", "a differs"}}
	refused := Changes{Refused: []string{"tank/pgdata: blake3", "tank/pgwal: blake3"}}
	const (
		asDeclared = "done Applied: 7 properties were read back as declared"
		setting    = "wait Progressing: …"
		denied     = "invalid PropertyRefused: … minute: zfs set quota=1 tank/pgdata: exit status 1: size is less than current used; zpool set failmode=wait tank: exit status 1"
	)
	for _, c := range []struct {
		name    string
		s       *v1alpha1.PgNodeStorage
		pool    outcome.Outcome
		changes Changes
		failed  error
		want    string
	}{
		{"as declared", storage(), ready, Changes{}, nil, asDeclared},
		{"as declared, without the ARC", storage(func(s *v1alpha1.PgNodeStorage) { s.Spec.ARCMax = nil }), ready, Changes{}, nil, "done Applied: 6 properties were read back as declared"},
		{"being set", storage(fresh), ready, some, nil, setting},
		{"being set, and drift would be reported", storage(fresh, reports), ready, some, nil, setting},
		{"drift being repaired", storage(), ready, drifted, nil, setting},
		{"drift reported", storage(reports), ready, drifted, nil, "invalid PropertyDrift: changed by hand, and driftPolicy is Report: a differs; b differs"},
		{"the node refused", storage(), ready, some, failed, denied},
		{"the node refused a repair", storage(), ready, drifted, failed, denied},
		{
			"ZFS is too old for some", storage(), ready, refused, nil,
			"invalid PropertyRefused: … applied: tank/pgdata: blake3; tank/pgwal: blake3",
		},
		{"the pool is made", storage(fresh), waiting, Changes{}, nil, "wait unknown NotReadBack: …"},
		{"the pool was not made, which its own condition tells", storage(fresh), waiting, Changes{}, failed, "wait unknown NotReadBack: …"},
		{"suspended, and applied before", storage(), suspended, Changes{}, nil, "wait unknown Applied: …"},
		{"suspended, and drifted before", storage(condition(metav1.ConditionFalse, v1alpha1.ReasonPropertyDrift, 3)), suspended, Changes{}, nil, "wait unknown PropertyDrift: …"},
		{"suspended, and refused before", storage(condition(metav1.ConditionFalse, v1alpha1.ReasonPropertyRefused, 3)), suspended, Changes{}, nil, "wait unknown NotReadBack: …"},
		{"suspended, and an earlier generation applied", storage(condition(metav1.ConditionTrue, v1alpha1.ReasonApplied, 2)), suspended, Changes{}, nil, "wait unknown NotReadBack: …"},
	} {
		facts.Same(t, c.name, describe(PropertiesOutcome(c.s, c.pool, c.changes, c.failed)), "PropertiesApplied "+c.want)
	}
}
