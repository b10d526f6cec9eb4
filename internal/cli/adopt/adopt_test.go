package adopt

import (
	"errors"
	"slices"
	"strings"
	"sync"
	"testing"

	cnpgv1 "github.com/cloudnative-pg/cloudnative-pg/api/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/pgstorage/pgstorage/api/v1alpha1"
	"github.com/pgstorage/pgstorage/config/crd"
	"github.com/pgstorage/pgstorage/internal/cli/admit"
	"github.com/pgstorage/pgstorage/internal/cli/view"
	"github.com/pgstorage/pgstorage/internal/operator/decide/clusters"
	"github.com/pgstorage/pgstorage/internal/testing/golden"
)

// schemas are slow to load.
var schemas = sync.OnceValues(func() (*admit.Schemas, error) { return admit.Load(crd.Bases) })

func live(t *testing.T, name string, change func(*cnpgv1.ClusterSpec)) unstructured.Unstructured {
	t.Helper()
	c := &cnpgv1.Cluster{}
	c.SetGroupVersionKind(cnpgv1.SchemeGroupVersion.WithKind("Cluster"))
	c.Namespace, c.Name, c.Spec.Instances, c.Spec.ImageName = "prod", name, 3, "pg.example/postgresql:17.6"
	c.Spec.StorageConfiguration = cnpgv1.StorageConfiguration{Size: "10Gi", StorageClass: new("fast")}
	change(&c.Spec)
	c.Default()
	raw, err := runtime.DefaultUnstructuredConverter.ToUnstructured(c)
	if err != nil {
		t.Fatal(err)
	}
	return unstructured.Unstructured{Object: raw}
}

// planned are candidates before their dry run.
func planned(t *testing.T, profiles []v1alpha1.PgStorageProfile, all ...unstructured.Unstructured) []*Candidate {
	t.Helper()
	s, err := schemas()
	if err != nil {
		t.Fatal(err)
	}
	out, err := Candidates(t.Context(), Inputs{Schemas: s, Config: clusters.Config{ImageRepository: "pg.example/postgresql"}, Profiles: profiles}, all, nil)
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// external is a profile of type External for a StorageClass.
func external(name, class string) v1alpha1.PgStorageProfile {
	p := v1alpha1.PgStorageProfile{}
	p.Name = name
	p.Spec = v1alpha1.PgStorageProfileSpec{Type: v1alpha1.ProfileTypeExternal, External: &v1alpha1.ExternalProfile{StorageClassName: class}}
	return p
}

// candidates have one of each outcome.
func candidates(t *testing.T) []*Candidate {
	t.Helper()
	all := []unstructured.Unstructured{
		live(t, "plain", func(*cnpgv1.ClusterSpec) {}),
		live(t, "changed", func(s *cnpgv1.ClusterSpec) { s.PriorityClassName = "high" }),
		live(t, "unsafe", func(s *cnpgv1.ClusterSpec) {
			s.PostgresConfiguration.Parameters = map[string]string{"fsync": "off", "full_page_writes": "off"}
		}),
		live(t, "silent", func(s *cnpgv1.ClusterSpec) { s.ImageName = "elsewhere.example/pg:17" }),
		live(t, "reserved", func(s *cnpgv1.ClusterSpec) {
			s.StorageConfiguration.StorageClass = new("reviewed")
			s.SchedulerName = "mine"
		}),
	}
	out := planned(t, []v1alpha1.PgStorageProfile{external("platform", "reviewed")}, all...)
	for _, c := range out {
		switch {
		case c.Planned == nil || c.Outcome != "":
		case c.Live.GetName() == "silent":
			c.Answer(nil, errors.New("clusters.postgresql.cnpg.io is forbidden"))
		default:
			answer := c.Live.DeepCopy()
			answer.SetLabels(c.Planned.GetLabels())
			answer.SetAnnotations(map[string]string{"pgstorage.dev/intent": "0123456789abcdef"})
			if c.Live.GetName() == "changed" {
				if err := unstructured.SetNestedField(answer.Object, "2GB", "spec", "postgresql", "parameters", "shared_buffers"); err != nil {
					t.Fatal(err)
				}
			}
			c.Answer(answer, nil)
		}
	}
	return out
}

func TestScreensMatchGoldenFiles(t *testing.T) {
	all := candidates(t)
	for _, c := range all {
		golden.Text(t, "testdata/"+c.Live.GetName()+".golden.txt", c.Text(view.Style{}, nil))
	}
	golden.Text(t, "testdata/table.golden.txt", Table(all, NewProfiles(all, (*Candidate).IsUnchanged)))
	yaml, err := YAML(all)
	if err != nil {
		t.Fatal(err)
	}
	golden.Text(t, "testdata/objects.golden.yaml", yaml)
}

// TestAProfileIsNotGivenConsentByTheBack shows that an existing profile stays as it is.
func TestAProfileIsNotGivenConsentByTheBack(t *testing.T) {
	for _, c := range candidates(t) {
		if c.Live.GetName() != "reserved" {
			continue
		}
		if c.NewProfile || c.Outcome != Refused || !strings.Contains(strings.Join(c.Refusals, ""), "add schedulerName to spec.allowedOverrides of PgStorageProfile platform") {
			t.Errorf("%s: %q", c.Outcome, c.Refusals)
		}
		return
	}
	t.Error("no such candidate")
}

// TestConsentFollowsFromAdoptedClustersOnly has Clusters of each outcome on one StorageClass.
// A new profile consents to what those need that are adopted, or whose objects are written.
func TestConsentFollowsFromAdoptedClustersOnly(t *testing.T) {
	all := planned(t, nil,
		live(t, "plain", func(*cnpgv1.ClusterSpec) {}),
		live(t, "tuned", func(s *cnpgv1.ClusterSpec) { s.PriorityClassName = "high" }),
		live(t, "evil", func(s *cnpgv1.ClusterSpec) {
			s.ReplicaCluster = &cnpgv1.ReplicaClusterConfiguration{Source: "other"}
			s.SecurityContext = &corev1.SecurityContext{Privileged: new(true)}
			s.ImageName = "elsewhere.example/pg:17"
		}),
		live(t, "changed", func(s *cnpgv1.ClusterSpec) { s.SchedulerName = "mine" }),
		live(t, "silent", func(s *cnpgv1.ClusterSpec) { s.ServiceAccountName = "mine" }),
	)
	for i, want := range []Outcome{Unchanged, Unchanged, Refused, Changed, Unknown} {
		if c := all[i]; c.Outcome == "" {
			c.Outcome = want
		}
		if all[i].Outcome != want {
			t.Fatalf("%s: %s %q, want %s", all[i].Live.GetName(), all[i].Outcome, all[i].Refusals, want)
		}
	}
	created := NewProfiles(all, (*Candidate).IsUnchanged)
	if len(created) != 1 || created[0].Name != "fast" || !slices.Equal(created[0].Spec.AllowedOverrides, []string{"priorityClassName"}) {
		t.Errorf("creates %+v", created)
	}
	const says = "PgStorageProfile fast of type External is created for StorageClass fast.\nIts spec.allowedOverrides consents, for every namespace, to: priorityClassName.\n"
	if table := Table(all, created); !strings.HasSuffix(table, says) {
		t.Errorf("the table does not end with %q:\n%s", says, table)
	}
	written, err := YAML(all)
	if err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(written, "  allowedOverrides:\n  - priorityClassName\n  - schedulerName\n  - serviceAccountName\n  external:") {
		t.Errorf("consents to something else:\n%s", written)
	}
	if own := all[0].Profile.Spec.AllowedOverrides; len(own) > 0 {
		t.Errorf("the dry run of plain has the consent %q of others", own)
	}
}

// TestANewProfileHasAFreeName has existing profiles with the names of StorageClasses that they
// do not serve.
func TestANewProfileHasAFreeName(t *testing.T) {
	zfs := v1alpha1.PgStorageProfile{}
	zfs.Name, zfs.Spec.Type = "zfs-nvme", v1alpha1.ProfileTypeZFSLocalPV
	going := external("going", "going")
	going.DeletionTimestamp = new(metav1.Now())
	profiles := []v1alpha1.PgStorageProfile{zfs, external("standard", "fast"), external("twice", "other"), external("twice-external", "other"), going}
	on := func(name, data, wal string) unstructured.Unstructured {
		return live(t, name, func(s *cnpgv1.ClusterSpec) {
			s.StorageConfiguration.StorageClass = new(data)
			if wal != "" {
				s.WalStorage = &cnpgv1.StorageConfiguration{Size: "2Gi", StorageClass: new(wal)}
			}
		})
	}
	for _, c := range planned(t, profiles,
		on("zfs-nvme-external", "zfs-nvme", "zfs-nvme"), on("standard-external", "standard", ""), on("twice-external-2", "twice", ""), on("going-external", "going", ""),
		on("a-wal-b", "a", "b"), on("a-wal-b-external", "a-wal-b", ""), on("standard-external", "standard", "standard")) {
		want, _, _ := unstructured.NestedString(c.Live.Object, "spec", "storage", "storageClass")
		wal, _, _ := unstructured.NestedString(c.Live.Object, "spec", "walStorage", "storageClass")
		if !c.NewProfile || c.Profile.Name != c.Live.GetName() || c.Cluster.Spec.Profile != c.Profile.Name || c.Profile.Spec.External.StorageClassName != want {
			t.Errorf("%s on %s: new %t, profile %+v, cluster on %s", c.Live.GetName(), want, c.NewProfile, c.Profile, c.Cluster.Spec.Profile)
		}
		if c.Planned == nil {
			t.Errorf("%s: %q", c.Live.GetName(), c.Refusals)
			continue
		}
		if got, _, _ := unstructured.NestedString(c.Planned.Object, "spec", "walStorage", "storageClass"); got != wal {
			t.Errorf("%s: WAL on %q, want %q", c.Live.GetName(), got, wal)
		}
	}
}

// TestAProfileThatWasNotSeenHasToFit has a profile in place of the new one of the dry run.
func TestAProfileThatWasNotSeenHasToFit(t *testing.T) {
	fits := external("fast", "fast")
	fits.Spec.AllowedOverrides = []string{"schedulerName", "priorityClassName"}
	for _, tc := range []struct {
		name     string
		existing v1alpha1.PgStorageProfile
		want     Outcome
		says     string
	}{
		{"fits", fits, Unchanged, "PgStorageProfile fast exists and has its StorageClass."},
		{"other storage", external("fast", "standard"), Unknown, "unknown: PgStorageProfile fast exists and does not serve the StorageClasses of the Cluster"},
		{"less consent", external("fast", "fast"), Unknown, "unknown: ask a cluster administrator to add priorityClassName to spec.allowedOverrides of PgStorageProfile fast"},
	} {
		c := planned(t, nil, live(t, "tuned", func(s *cnpgv1.ClusterSpec) { s.PriorityClassName = "high" }))[0]
		c.Answer(c.Live.DeepCopy(), nil)
		if c.Outcome != Unchanged {
			t.Fatalf("%s: %s %q", tc.name, c.Outcome, c.Refusals)
		}
		c.Use(&tc.existing)
		if text := c.Text(view.Style{}, nil); c.Outcome != tc.want || !strings.Contains(text, tc.says) {
			t.Errorf("%s: %s, want %s and %q:\n%s", tc.name, c.Outcome, tc.want, tc.says, text)
		}
	}
}
