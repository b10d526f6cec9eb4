package memoryvolumes

import (
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/pgstorage/pgstorage/api/v1alpha1"
	"github.com/pgstorage/pgstorage/internal/kube/naming"
)

// request of a database's claim for 1Gi on a node of 8Gi, of a profile with 2Gi for each.
func request() *Request {
	labels := naming.ProfileLabels("cache", "uid")
	return &Request{
		Volume: "pvc-1", NodeName: "n1",
		Class: &storagev1.StorageClass{ObjectMeta: metav1.ObjectMeta{Name: "cache", Labels: labels}},
		Claim: &corev1.PersistentVolumeClaim{Spec: corev1.PersistentVolumeClaimSpec{
			AccessModes: []corev1.PersistentVolumeAccessMode{corev1.ReadWriteOnce},
			Resources:   corev1.VolumeResourceRequirements{Requests: corev1.ResourceList{corev1.ResourceStorage: resource.MustParse("1Gi")}},
		}},
		Profile: &v1alpha1.PgStorageProfile{
			ObjectMeta: metav1.ObjectMeta{Name: "cache", UID: "uid"},
			Spec:       v1alpha1.PgStorageProfileSpec{Type: v1alpha1.ProfileTypeMemory, Memory: &v1alpha1.MemoryProfile{MaxPerNode: resource.MustParse("2Gi")}},
		},
		Cluster: &v1alpha1.PgStorageCluster{Spec: v1alpha1.PgStorageClusterSpec{Profile: "cache"}},
		Node: &corev1.Node{
			ObjectMeta: metav1.ObjectMeta{Name: "n1", Labels: map[string]string{corev1.LabelHostname: "host-n1"}},
			Status:     corev1.NodeStatus{Allocatable: corev1.ResourceList{corev1.ResourceMemory: resource.MustParse("8Gi")}},
		},
		Storage: storage("cache"),
	}
}

// storage of a profile on n1, with volumes of these sizes that are named after them.
func storage(profile string, sizes ...string) *v1alpha1.PgNodeStorage {
	s := &v1alpha1.PgNodeStorage{
		ObjectMeta: metav1.ObjectMeta{Name: naming.NodeStorage(profile, "n1")},
		Spec:       v1alpha1.PgNodeStorageSpec{NodeName: "n1", Profile: profile, Memory: &v1alpha1.NodeMemory{}},
	}
	for _, size := range sizes {
		Add(s, "of-"+size, resource.MustParse(size))
	}
	return s
}

func TestOnlyClaimsOfDatabasesOnTheProfileGetMemory(t *testing.T) {
	now := metav1.Now()
	for _, tc := range []struct {
		name   string
		change func(*Request)
		want   string
	}{
		{"a database's claim", func(*Request) {}, ""},
		{"large annotations", func(r *Request) { r.Claim.Annotations = map[string]string{naming.AnnotationTooLarge: "17000"} }, "more than 16 KiB of annotations"},
		{"no profile", func(r *Request) { r.Profile = nil }, "was not made by a PgStorageProfile of type Memory"},
		{"a profile of another type", func(r *Request) { r.Profile.Spec.Type = v1alpha1.ProfileTypeExternal }, "was not made by a PgStorageProfile of type Memory"},
		{"a class of another name", func(r *Request) { r.Class.Name = "other" }, "StorageClass other was not made by"},
		{"a class of a former profile", func(r *Request) { r.Class.Labels[naming.LabelOwnerUID] = "old" }, "was not made by"},
		{"a profile that is being deleted", func(r *Request) { r.Profile.DeletionTimestamp = &now }, "is being deleted"},
		{"no database", func(r *Request) { r.Cluster = nil }, "only databases have volumes in memory"},
		{"a database on another profile", func(r *Request) { r.Cluster.Spec.Profile = "disk" }, "only databases have volumes in memory"},
		{"no node", func(r *Request) { r.NodeName = "" }, "WaitForFirstConsumer"},
		{"a PgNodeStorage of another name", func(r *Request) { r.Storage.Name = "mine" }, "spec.nodeSelector does not select it"},
		{"many nodes", func(r *Request) {
			r.Claim.Spec.AccessModes = []corev1.PersistentVolumeAccessMode{corev1.ReadWriteMany}
		}, "ReadWriteOnce"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			r := request()
			tc.change(r)
			if got := r.Refused(); (got == "") != (tc.want == "") || !strings.Contains(got, tc.want) {
				t.Errorf("%q, want %q", got, tc.want)
			}
		})
	}
}

// Another node may have a volume that this one cannot have.
func TestNodeThatIsNotTheProfilesIsMisplaced(t *testing.T) {
	now := metav1.Now()
	for _, tc := range []struct {
		name   string
		change func(*Request)
		want   string
	}{
		{"a node of the profile", func(*Request) {}, ""},
		{"a node that is gone", func(r *Request) { r.Node = nil }, "node n1 does not exist"},
		{"a node that is not the profile's", func(r *Request) { r.Storage = nil }, "spec.nodeSelector does not select it"},
		{"a PgNodeStorage that ends", func(r *Request) { r.Storage.DeletionTimestamp = &now }, "spec.nodeSelector does not select it"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			r := request()
			tc.change(r)
			if refused := r.Refused(); refused != "" {
				t.Errorf("refused: %s", refused)
			}
			if got := r.Misplaced(); (got == "") != (tc.want == "") || !strings.Contains(got, tc.want) {
				t.Errorf("%q, want %q", got, tc.want)
			}
		})
	}
}

func TestNodeIsFullByTheSumOfAllPromises(t *testing.T) {
	arc := storage("tank")
	arc.Spec.Memory, arc.Status.ARC = nil, &v1alpha1.ObservedARC{Max: new(resource.MustParse("5Gi"))}
	forged := storage("cache", "2Gi")
	forged.Name = "forged"
	mine := storage("cache", "1536Mi")
	has := storage("cache", "1536Mi")
	Add(has, "pvc-1", resource.MustParse("1Gi"))
	for _, tc := range []struct {
		name, size string
		all        []*v1alpha1.PgNodeStorage
		want       string
	}{
		{"empty", "1Gi", nil, ""},
		{"beside an ARC", "1Gi", []*v1alpha1.PgNodeStorage{arc, storage("cache", "1Gi")}, ""},
		{"beside an ARC and another profile's volumes", "1Gi", []*v1alpha1.PgNodeStorage{arc, storage("other", "1Gi"), storage("cache", "1Gi")}, "ARC 5Gi + volumes in memory 2Gi + this one 1Gi"},
		{"more than the profile gives", "1Gi", []*v1alpha1.PgNodeStorage{mine}, "maxPerNode of the profile, 2Gi"},
		{"declared already", "1Gi", []*v1alpha1.PgNodeStorage{has}, ""},
		{"one that the manager did not make does not count", "1Gi", []*v1alpha1.PgNodeStorage{forged}, ""},
		{"all that the profile gives", "2Gi", nil, ""},
		{"a size that overflows the sum", "8Ei", []*v1alpha1.PgNodeStorage{storage("cache", "1Gi")}, "maxPerNode of the profile, 2Gi"},
		{"a size that int64 has as 0", "10E", nil, "maxPerNode of the profile, 2Gi"},
		{"a size that int64 has as 1", "18446744073709551617", nil, "maxPerNode of the profile, 2Gi"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			var all []v1alpha1.PgNodeStorage
			for _, s := range tc.all {
				all = append(all, *s)
			}
			r := request()
			r.Claim.Spec.Resources.Requests[corev1.ResourceStorage] = resource.MustParse(tc.size)
			if got := r.Full(all); (got == "") != (tc.want == "") || !strings.Contains(got, tc.want) {
				t.Errorf("%q, want %q", got, tc.want)
			}
		})
	}
}

func TestPersistentVolumeBelongsToItsNode(t *testing.T) {
	v := request().PersistentVolume("/run/pgstorage/memory/cache/pvc-1/ab")
	term := v.Spec.NodeAffinity.Required.NodeSelectorTerms[0].MatchExpressions[0]
	if term.Key != corev1.LabelHostname || term.Values[0] != "host-n1" || v.Spec.Local.Path != "/run/pgstorage/memory/cache/pvc-1/ab" {
		t.Errorf("%+v", v.Spec)
	}
	if size := v.Spec.Capacity[corev1.ResourceStorage]; size.String() != "1Gi" || v.Spec.PersistentVolumeReclaimPolicy != corev1.PersistentVolumeReclaimDelete {
		t.Errorf("%+v", v.Spec)
	}
}

// An agent reports no other folder of its node than its own mounts.
func TestPathsOfAgentsAreNotBelieved(t *testing.T) {
	const own = "/run/pgstorage/memory/cache/pvc-1/"
	for path, reported := range map[string]v1alpha1.ObservedMemoryVolume{
		"":                {Incarnation: "ab", Path: own + "ab"},
		"/etc":            {Incarnation: "ab", Path: "/etc"},
		own + "../../etc": {Incarnation: "../../etc", Path: own + "../../etc"},
		own:               {Path: own},
		"another's":       {Incarnation: "ab", Path: "/run/pgstorage/memory/cache/pvc-2/ab"},
	} {
		if got := request().Distrust(&reported); (got == "") != (path == "") {
			t.Errorf("%s: %q", path, got)
		}
	}
}

func TestVolumesAreAddedPinnedAndRemovedOnce(t *testing.T) {
	s := storage("cache", "1Gi")
	before := s.DeepCopy()
	if Add(s, "of-1Gi", resource.MustParse("9Gi")); !Same(before, s) {
		t.Errorf("a volume that exists was changed: %+v", s.Spec.Memory)
	}
	Pin(s, "of-1Gi", "ab")
	if Pin(s, "of-1Gi", "cd"); s.Spec.Memory.Volumes[0].Incarnation != "ab" {
		t.Errorf("a pinned volume has another tmpfs: %+v", s.Spec.Memory)
	}
	Remove(s, "of-1Gi")
	if Remove(s, "of-1Gi"); Has(s, "of-1Gi") {
		t.Errorf("%+v", s.Spec.Memory)
	}
}

func TestOrphansHaveNeitherVolumeNorClaim(t *testing.T) {
	s := storage("cache", "1Gi", "2Gi", "3Gi")
	if got := Orphans(s, map[string]bool{"of-1Gi": true}, map[string]bool{"of-2Gi": true}); len(got) != 1 || got[0] != "of-3Gi" {
		t.Errorf("%v", got)
	}
	if got := Orphans(&v1alpha1.PgNodeStorage{}, nil, nil); got != nil {
		t.Errorf("%v", got)
	}
}
