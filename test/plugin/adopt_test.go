package plugin

import (
	"context"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	cnpgv1 "github.com/cloudnative-pg/cloudnative-pg/api/v1"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	storagev1 "k8s.io/api/storage/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/yaml"

	"github.com/pgstorage/pgstorage/api/v1alpha1"
	"github.com/pgstorage/pgstorage/internal/kube/naming"
	"github.com/pgstorage/pgstorage/internal/testing/apiserver"
)

// refusedSamples are the samples that cannot be adopted as they are, and the field.
var refusedSamples = map[string]string{
	"cluster-dc-a.yaml": "spec.replica", "cluster-dc-b.yaml": "spec.replica",
	"cluster-example-replica-from-backup-simple.yaml": "spec.replica", "cluster-example-replica-from-volume-snapshot.yaml": "spec.replica", "cluster-example-replica-streaming.yaml": "spec.replica",
	"cluster-replica-async.yaml": "spec.replica", "cluster-replica-basicauth.yaml": "spec.replica", "cluster-replica-from-backup-other-namespace.yaml": "spec.replica",
	"cluster-replica-restore.yaml": "spec.replica", "cluster-replica-tls.yaml": "spec.replica",
}

// sampleClusters are the Clusters among CloudNativePG's own samples, by their file. A file
// with several has a suffix for each further one.
func sampleClusters(t *testing.T) map[string]*unstructured.Unstructured {
	t.Helper()
	crds, err := apiserver.Foreign(apiserver.CRDs{CNPG: true})
	if err != nil {
		t.Fatal(err)
	}
	samples := filepath.Join(crds[0], "..", "..", "..", "docs", "src", "samples")
	out := map[string]*unstructured.Unstructured{}
	for _, pattern := range []string{"*.yaml", "*/*.yaml"} {
		files, err := filepath.Glob(filepath.Join(samples, pattern))
		if err != nil {
			t.Fatal(err)
		}
		for _, file := range files {
			content, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			for document := range strings.SplitSeq(string(content), "\n---") {
				o := &unstructured.Unstructured{}
				if err := yaml.Unmarshal([]byte(document), &o.Object); err != nil || o.GetKind() != "Cluster" {
					continue // a fragment, or another kind
				}
				name := filepath.Base(file)
				for out[name] != nil {
					name += "+"
				}
				out[name] = o
			}
		}
	}
	return out
}

// TestSamplesAreAdoptedAsTheyAre creates the Clusters of CloudNativePG's samples and adopts
// them. The dry run of each shows no change of its spec, or the refusal names a field.
func TestSamplesAreAdoptedAsTheyAre(t *testing.T) {
	c := apiserver.Client(t, config)
	namespace(t, c, "adopt-samples")
	create(t, c, &storagev1.StorageClass{ObjectMeta: metav1.ObjectMeta{Name: "samples", Annotations: map[string]string{"storageclass.kubernetes.io/is-default-class": "true"}}, Provisioner: "example.com/samples"})
	all := sampleClusters(t)
	files := map[string]string{}
	var invalid []string
	for i, file := range slices.Sorted(maps.Keys(all)) {
		o := all[file]
		name := fmt.Sprintf("s%02d", i)
		o.SetName(name)
		o.SetNamespace("adopt-samples")
		if err := c.Create(t.Context(), o); apierrors.IsInvalid(err) || apierrors.IsBadRequest(err) {
			invalid = append(invalid, file)
			continue
		} else if err != nil {
			t.Fatalf("%s: %v", file, err)
		}
		files[name] = file
	}
	table, err := plugin(t, "adopt", "--all", "-n", "adopt-samples")
	if err == nil {
		t.Error("refusals do not set the exit code")
	}
	counts, refused := map[string]int{}, map[string]string{}
	for line := range strings.Lines(table) {
		fields := strings.Fields(line)
		if len(fields) < 2 || files[fields[0]] == "" {
			continue
		}
		counts[fields[1]]++
		switch fields[1] {
		case "Unchanged":
		case "Refused":
			refused[files[fields[0]]] = line
		default:
			t.Errorf("%s: %s", files[fields[0]], line)
		}
	}
	t.Logf("%d samples: %d invalid to CloudNativePG's CRD %v, outcomes %v", len(all), len(invalid), invalid, counts)
	for file, line := range refused {
		if field, known := refusedSamples[file]; !known || !strings.Contains(line, field) {
			t.Errorf("%s is refused, want %q: %s", file, field, line)
		}
	}
	for file := range refusedSamples {
		if refused[file] == "" {
			t.Errorf("%s is not refused", file)
		}
	}
	if adopted := counts["Unchanged"]; len(all) < 60 || adopted < 50 || adopted+counts["Refused"] != len(files) {
		t.Errorf("%d samples, %d adopted, %d refused of %d", len(all), adopted, counts["Refused"], len(files))
	}
	documents, err := plugin(t, "adopt", "--all", "-n", "adopt-samples", "-o", "yaml")
	if err == nil {
		t.Error("refusals do not set the exit code")
	}
	accepted(t, c, documents)
}

// accepted gives each document to the API server as a dry run.
func accepted(t *testing.T, c client.Client, documents string) {
	t.Helper()
	n := 0
	for document := range strings.SplitSeq(documents, "---\n") {
		o := &unstructured.Unstructured{}
		if err := yaml.Unmarshal([]byte(document), &o.Object); err != nil {
			t.Fatal(err)
		}
		if len(o.Object) == 0 {
			continue
		}
		n++
		if err := c.Create(t.Context(), o, client.DryRunAll); err != nil {
			t.Errorf("%s: %v", document, err)
		}
	}
	if n < 50 {
		t.Errorf("%d documents", n)
	}
}

// running is a Cluster as CloudNativePG's webhook leaves it, with values of its own.
func running(namespace, name string, parameters map[string]string) *cnpgv1.Cluster {
	o := &cnpgv1.Cluster{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name}}
	o.Spec.Instances, o.Spec.ImageName = 3, "ghcr.io/cloudnative-pg/postgresql:17.6"
	o.Spec.StorageConfiguration = cnpgv1.StorageConfiguration{Size: "10Gi", StorageClass: new("fast")}
	o.Spec.PostgresConfiguration.Parameters = parameters
	o.Spec.PostgresConfiguration.Synchronous = &cnpgv1.SynchronousReplicaConfiguration{Method: "any", Number: 2, DataDurability: "required", FailoverQuorum: true}
	o.Default()
	return o
}

func TestAdoptCreatesWhatItShows(t *testing.T) {
	c := apiserver.Client(t, config)
	namespace(t, c, "adopt")
	create(t, c, running("adopt", "shop", map[string]string{"max_connections": "0250", "work_mem": "8MB"}))
	shown := must(t, "adopt", "shop", "-n", "adopt")
	for _, says := range []string{"adopt/shop Unchanged", "PgStorageProfile fast of type External is created for StorageClass fast.", "metadata.labels." + naming.LabelOwnerUID, "Only labels and annotations change. No instance restarts."} {
		if !strings.Contains(shown, says) {
			t.Errorf("does not say %q:\n%s", says, shown)
		}
	}
	if err := c.Get(t.Context(), client.ObjectKey{Name: "fast"}, &v1alpha1.PgStorageProfile{}); !apierrors.IsNotFound(err) {
		t.Errorf("the dry run created the profile: %v", err)
	}
	if out := must(t, "adopt", "shop", "-n", "adopt", "--apply"); !strings.Contains(out, "adopt/shop Adopted") {
		t.Errorf("not adopted:\n%s", out)
	}
	cr, cluster := &v1alpha1.PgStorageCluster{}, &cnpgv1.Cluster{}
	key := client.ObjectKey{Namespace: "adopt", Name: "shop"}
	for _, o := range []client.Object{cr, cluster} {
		if err := c.Get(t.Context(), key, o); err != nil {
			t.Fatal(err)
		}
	}
	if cluster.Annotations[naming.AnnotationAdopt] != "shop" {
		t.Errorf("annotations %v", cluster.Annotations)
	}
	s := cr.Spec
	if s.Defaults != v1alpha1.DefaultsCloudNativePG || s.Durability != v1alpha1.DurabilityQuorum || s.Quorum == nil || s.Quorum.Standbys != 2 || s.Postgres.Parameters["max_connections"] != "0250" || s.Postgres.Parameters["work_mem"] != "8MB" || len(s.Postgres.Parameters) != 2 || s.CNPG != nil {
		t.Errorf("spec %+v", s)
	}
}

// TestAdoptConsentsForAdoptedClustersOnly adopts two Clusters beside a third that the command
// refuses. The new profile consents to nothing that only the third needs.
func TestAdoptConsentsForAdoptedClustersOnly(t *testing.T) {
	c := apiserver.Client(t, config)
	namespace(t, c, "adopt-consent")
	plain, tuned, evil := running("adopt-consent", "plain", nil), running("adopt-consent", "tuned", nil), running("adopt-consent", "evil", nil)
	tuned.Spec.PriorityClassName = "high"
	evil.Spec.ReplicaCluster = &cnpgv1.ReplicaClusterConfiguration{Source: "other"}
	evil.Spec.SecurityContext = &corev1.SecurityContext{Privileged: new(true)}
	evil.Spec.ImageName = "elsewhere.example/pg:17"
	for _, o := range []*cnpgv1.Cluster{plain, tuned, evil} {
		o.Spec.StorageConfiguration.StorageClass = new("consent")
		create(t, c, o)
	}
	const says = "PgStorageProfile consent of type External is created for StorageClass consent.\nIts spec.allowedOverrides consents, for every namespace, to: priorityClassName.\n"
	for _, args := range [][]string{{"adopt", "--all", "-n", "adopt-consent"}, {"adopt", "--all", "-n", "adopt-consent", "--apply"}} {
		if out, err := plugin(t, args...); err == nil || !strings.Contains(out, says) {
			t.Errorf("%v: %v, does not say %q:\n%s", args, err, says, out)
		}
	}
	p := &v1alpha1.PgStorageProfile{}
	if err := c.Get(t.Context(), client.ObjectKey{Name: "consent"}, p); err != nil {
		t.Fatal(err)
	}
	if !slices.Equal(p.Spec.AllowedOverrides, []string{"priorityClassName"}) {
		t.Errorf("consents to %q", p.Spec.AllowedOverrides)
	}
	for _, o := range []*cnpgv1.Cluster{plain, tuned} {
		if err := c.Get(t.Context(), client.ObjectKeyFromObject(o), o); err != nil || o.Annotations[naming.AnnotationAdopt] != o.Name {
			t.Errorf("%s is not adopted: %v %v", o.Name, err, o.Annotations)
		}
	}
}

// profileOf returns a profile of type External for a StorageClass.
func profileOf(name, class string) *v1alpha1.PgStorageProfile {
	p := &v1alpha1.PgStorageProfile{ObjectMeta: metav1.ObjectMeta{Name: name}}
	p.Spec.Type, p.Spec.External = v1alpha1.ProfileTypeExternal, &v1alpha1.ExternalProfile{StorageClassName: class}
	return p
}

// on returns a running Cluster whose volumes, WAL too, are of a StorageClass.
func on(namespace, name, class string) *cnpgv1.Cluster {
	o := running(namespace, name, nil)
	o.Spec.StorageConfiguration.StorageClass = new(class)
	o.Spec.WalStorage = &cnpgv1.StorageConfiguration{Size: "2Gi", StorageClass: new(class)}
	return o
}

// TestAdoptKeepsProfilesOfOtherStorage adopts Clusters on StorageClasses whose names
// profiles of other storage have.
func TestAdoptKeepsProfilesOfOtherStorage(t *testing.T) {
	c := apiserver.Client(t, config)
	namespace(t, c, "adopt-names")
	zfs := &v1alpha1.PgStorageProfile{ObjectMeta: metav1.ObjectMeta{Name: "names-zfs"}}
	zfs.Spec = v1alpha1.PgStorageProfileSpec{
		Type: v1alpha1.ProfileTypeZFSLocalPV, NodeSelector: map[string]string{"pgstorage.dev/pool": "tank"},
		ZFSLocalPV: &v1alpha1.ZFSLocalPVProfile{Pool: v1alpha1.ZFSPool{Name: "tank"}},
	}
	create(t, c, zfs, profileOf("names-standard", "fast"))
	t.Cleanup(func() {
		if err := c.Delete(context.WithoutCancel(t.Context()), zfs); err != nil {
			t.Error(err)
		}
	})
	for _, class := range []string{"names-zfs", "names-standard"} {
		create(t, c, on("adopt-names", class, class))
		out := must(t, "adopt", class, "-n", "adopt-names", "--apply")
		says := fmt.Sprintf("PgStorageProfile %s-external of type External is created for StorageClass %s.", class, class)
		if !strings.Contains(out, "Adopted") || !strings.Contains(out, says) {
			t.Errorf("%s: does not say %q:\n%s", class, says, out)
		}
		p, cr := &v1alpha1.PgStorageProfile{}, &v1alpha1.PgStorageCluster{}
		if err := c.Get(t.Context(), client.ObjectKey{Name: class + "-external"}, p); err != nil || p.Spec.External == nil || p.Spec.External.StorageClassName != class {
			t.Errorf("%s: %v, profile %+v", class, err, p.Spec)
		}
		if err := c.Get(t.Context(), client.ObjectKey{Namespace: "adopt-names", Name: class}, cr); err != nil || cr.Spec.Profile != class+"-external" {
			t.Errorf("%s: %v, on profile %q", class, err, cr.Spec.Profile)
		}
	}
}

// TestAdoptChecksAProfileThatItDidNotSee runs as a user who may not list profiles, so the
// dry run assumes that the profile of the StorageClass does not exist.
func TestAdoptChecksAProfileThatItDidNotSee(t *testing.T) {
	c := apiserver.Client(t, config)
	namespace(t, c, "adopt-unseen")
	create(t, c, profileOf("unseen-fits", "unseen-fits"), profileOf("unseen-limited", "unseen-limited"), profileOf("unseen-other", "fast"),
		&rbacv1.ClusterRole{ObjectMeta: metav1.ObjectMeta{Name: "adopt-unseen"}, Rules: []rbacv1.PolicyRule{
			{APIGroups: []string{"postgresql.cnpg.io"}, Resources: []string{"clusters"}, Verbs: []string{"get", "list", "patch"}},
			{APIGroups: []string{"pgstorage.dev"}, Resources: []string{"pgstorageclusters"}, Verbs: []string{"list", "create"}},
			{APIGroups: []string{"pgstorage.dev"}, Resources: []string{"pgstorageprofiles"}, Verbs: []string{"get", "create"}},
		}},
		&rbacv1.ClusterRoleBinding{ObjectMeta: metav1.ObjectMeta{Name: "adopt-unseen"}, RoleRef: rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "ClusterRole", Name: "adopt-unseen"}, Subjects: []rbacv1.Subject{{Kind: "User", APIGroup: rbacv1.GroupName, Name: "carol"}}})
	for name, says := range map[string][]string{
		"unseen-fits":    {"Adopted", "PgStorageProfile unseen-fits exists and has its StorageClass."},
		"unseen-limited": {"Unknown", "add priorityClassName to spec.allowedOverrides of PgStorageProfile unseen-limited"},
		"unseen-other":   {"Unknown", "PgStorageProfile unseen-other exists and does not serve the StorageClasses of the Cluster"},
	} {
		o, adopted := on("adopt-unseen", name, name), says[0] == "Adopted"
		if name == "unseen-limited" {
			o.Spec.PriorityClassName = "high"
		}
		create(t, c, o)
		out, err := plugin(t, "adopt", name, "-n", "adopt-unseen", "--apply", "--as", "carol")
		if (err == nil) != adopted || !strings.Contains(out, says[0]) || !strings.Contains(out, says[1]) {
			t.Errorf("%s: %v, does not say %q:\n%s", name, err, says, out)
		}
		if err := c.Get(t.Context(), client.ObjectKeyFromObject(o), &v1alpha1.PgStorageCluster{}); (err == nil) != adopted {
			t.Errorf("%s: PgStorageCluster: %v", name, err)
		}
	}
}

// TestAdoptShowsWhatItDidBeforeAnError runs as a user who may create a profile, and then no
// PgStorageCluster on it.
func TestAdoptShowsWhatItDidBeforeAnError(t *testing.T) {
	c := apiserver.Client(t, config)
	const ns = "adopt-fails"
	namespace(t, c, ns)
	create(t, c, on(ns, "first", ns), on(ns, "second", ns),
		&rbacv1.ClusterRole{ObjectMeta: metav1.ObjectMeta{Name: ns}, Rules: []rbacv1.PolicyRule{
			{APIGroups: []string{"postgresql.cnpg.io"}, Resources: []string{"clusters"}, Verbs: []string{"get", "list", "patch"}},
			{APIGroups: []string{"pgstorage.dev"}, Resources: []string{"pgstorageclusters"}, Verbs: []string{"list"}},
			{APIGroups: []string{"pgstorage.dev"}, Resources: []string{"pgstorageprofiles"}, Verbs: []string{"list", "create"}},
		}},
		&rbacv1.ClusterRoleBinding{ObjectMeta: metav1.ObjectMeta{Name: ns}, RoleRef: rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "ClusterRole", Name: ns}, Subjects: []rbacv1.Subject{{Kind: "User", APIGroup: rbacv1.GroupName, Name: "frank"}}})
	args := []string{"adopt", "--all", "-n", ns, "--as", "frank"}
	eventually(t, "the binding of frank", func(context.Context) error {
		_, err := plugin(t, args...)
		return err
	})
	out, err := plugin(t, append(args, "--apply")...)
	if err == nil || !strings.HasPrefix(err.Error(), "create PgStorageCluster first: ") {
		t.Errorf("%v", err)
	}
	for _, want := range []string{"first    Failed      adopt-fails   Quorum       -          create PgStorageCluster first: ", "second   Unchanged   ", "2 Clusters: 1 unchanged, 1 failed\n", "PgStorageProfile adopt-fails of type External is created"} {
		if !strings.Contains(out, want) {
			t.Errorf("no %q in\n%s", want, out)
		}
	}
	if err := c.Get(t.Context(), client.ObjectKey{Name: ns}, &v1alpha1.PgStorageProfile{}); err != nil {
		t.Error(err)
	}
}

func TestAdoptRefusesByName(t *testing.T) {
	c := apiserver.Client(t, config)
	namespace(t, c, "adopt-refused")
	replica := running("adopt-refused", "replica", nil)
	replica.Spec.ReplicaCluster = &cnpgv1.ReplicaClusterConfiguration{Source: "other"}
	create(t, c, running("adopt-refused", "fast-and-loose", map[string]string{"fsync": "off"}), running("adopt-refused", "torn", map[string]string{"full_page_writes": "off"}), replica)
	for name, says := range map[string]string{
		"fast-and-loose": "spec.postgres.parameters[fsync] must stay on", "torn": "spec.postgresql.parameters[full_page_writes]: off is unsafe", "replica": "spec.replica: the Cluster follows another one",
	} {
		out, err := plugin(t, "adopt", name, "-n", "adopt-refused", "--apply")
		if err == nil || !strings.Contains(out, "Refused") || !strings.Contains(out, says) {
			t.Errorf("%s: %v\n%s", name, err, out)
		}
		if err := c.Get(t.Context(), client.ObjectKey{Namespace: "adopt-refused", Name: name}, &v1alpha1.PgStorageCluster{}); !apierrors.IsNotFound(err) {
			t.Errorf("%s: created all the same: %v", name, err)
		}
	}
}

// TestExplainOfACluster runs as a user who may get Clusters of a namespace and nothing else,
// on an API server that has nothing of pgstorage.
func TestExplainOfACluster(t *testing.T) {
	env, stop, err := apiserver.Start(apiserver.CRDs{CNPG: true, WithoutOurs: true})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := stop(); err != nil {
			t.Error(err)
		}
	})
	before := config
	config = env.Config
	t.Cleanup(func() { config = before })
	c := apiserver.Client(t, config)
	namespace(t, c, "explain")
	create(t, c, running("explain", "shop", map[string]string{"work_mem": "64MB", "fsync": "off"}),
		&rbacv1.Role{ObjectMeta: metav1.ObjectMeta{Namespace: "explain", Name: "reader"}, Rules: []rbacv1.PolicyRule{{APIGroups: []string{"postgresql.cnpg.io"}, Resources: []string{"clusters"}, Verbs: []string{"get"}}}},
		&rbacv1.RoleBinding{ObjectMeta: metav1.ObjectMeta{Namespace: "explain", Name: "reader"}, RoleRef: rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "Role", Name: "reader"}, Subjects: []rbacv1.Subject{{Kind: "User", APIGroup: rbacv1.GroupName, Name: "ann"}}})
	out := must(t, "explain", "cluster.postgresql.cnpg.io/shop", "-n", "explain", "--as", "ann")
	for _, says := range []string{
		"CloudNativePG Cluster explain/shop, PostgreSQL 17, 3 instances", "note: StorageClasses: forbidden", "note: PersistentVolumeClaims in namespace explain: forbidden",
		"on at least 2 standbys", "MayBeLost", "fsync is off", "spec.postgresql.parameters[fsync]: off is unsafe", "spec.resources.requests: no memory is requested", "max_connections",
	} {
		if !strings.Contains(out, says) {
			t.Errorf("does not say %q:\n%s", says, out)
		}
	}
	if one := must(t, "explain", "cluster.postgresql.cnpg.io/shop", "work_mem", "-n", "explain", "--as", "ann"); strings.Contains(one, "Durability") || !strings.Contains(one, "64MB") {
		t.Errorf("explains more than work_mem:\n%s", one)
	}
}
