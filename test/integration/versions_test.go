package integration

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	cnpgv1 "github.com/cloudnative-pg/cloudnative-pg/api/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/pgstorage/pgstorage/api/v1alpha1"
	"github.com/pgstorage/pgstorage/internal/testing/apiserver"
	"github.com/pgstorage/pgstorage/internal/testing/manager"
)

// webhooks names the folder of hack/cnpg-webhook.sh: CloudNativePG's real admission webhooks,
// one program for each version that is tested.
const webhooks = "PGSTORAGE_CNPG_WEBHOOKS"

// newest is the first version that has every feature that we use.
const newest = "v1.30"

// Each version runs with its own CRDs and its own webhooks on an API server of its own.
func TestDatabasesOnEachVersionOfCloudNativePG(t *testing.T) {
	programs, err := filepath.Glob(filepath.Join(os.Getenv(webhooks), "v*[0-9]"))
	if err != nil || os.Getenv(webhooks) == "" || len(programs) < 2 {
		t.Fatalf("%s names no folder of webhooks; run make test-integration (%v)", webhooks, err)
	}
	for _, program := range programs {
		t.Run(filepath.Base(program), func(t *testing.T) { onVersion(t, filepath.Base(program), program) })
	}
}

func onVersion(t *testing.T, version, program string) {
	env, stop, err := apiserver.Start(apiserver.CRDs{CNPG: true, PodMonitors: true, CNPGVersion: version})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := stop(); err != nil {
			t.Log(err)
		}
	})
	apiserver.ServeWebhooks(t, env, program)
	c := apiserver.Client(t, env.Config)
	rejectsWhatCloudNativePGRejects(t, c)
	stopManager := manager.Start(t, env.Config)
	defer stopManager()
	storage(t, c, "matrix")
	for name, change := range variants {
		t.Run(name, func(t *testing.T) {
			cr := cluster(namespace(t, c), "shop", "matrix")
			change(&cr.Spec)
			create(t, c, cr)
			simulatedHealthy(t, c, client.ObjectKeyFromObject(cr))
			hasCondition(t, c, cr, v1alpha1.ConditionReady, metav1.ConditionTrue, v1alpha1.ReasonReady)
			// The webhook and the schema of this version accept an update, too.
			changed(t, c, cr, func() { cr.Spec.Postgres.Parameters = map[string]string{"work_mem": "8MB"} })
			hasCondition(t, c, cr, v1alpha1.ConditionReady, metav1.ConditionTrue, v1alpha1.ReasonReady)
		})
	}
	t.Run("a benchmark", func(t *testing.T) { benchmarkOn(t, c, version) })
	t.Run("a field of a newer version", func(t *testing.T) { newFieldOn(t, c, version) })
}

// variants cover what the operator sets on a Cluster.
var variants = map[string]func(*v1alpha1.PgStorageClusterSpec){
	"local": func(*v1alpha1.PgStorageClusterSpec) {},
	"quorum with a WAL volume": func(s *v1alpha1.PgStorageClusterSpec) {
		s.Instances, s.Durability = new(int32(3)), v1alpha1.DurabilityQuorum
		s.Storage.WALSize = new(resource.MustParse("1Gi"))
	},
	"async": func(s *v1alpha1.PgStorageClusterSpec) {
		s.Instances, s.Durability = new(int32(2)), v1alpha1.DurabilityAsync
	},
	"fields of CloudNativePG": func(s *v1alpha1.PgStorageClusterSpec) {
		s.CNPG = &v1alpha1.CNPGOverrides{Spec: &runtime.RawExtension{Raw: []byte(`{"stopDelay": 600, "enablePDB": false, "affinity": {"topologyKey": "topology.kubernetes.io/zone"}}`)}}
	},
}

// rejectsWhatCloudNativePGRejects proves that the webhooks are asked: no schema knows that WAL
// cannot be archived at this level.
func rejectsWhatCloudNativePGRejects(t *testing.T, c client.Client) {
	t.Helper()
	pg := &cnpgv1.Cluster{
		ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "refused"},
		Spec: cnpgv1.ClusterSpec{
			Instances: 1, StorageConfiguration: cnpgv1.StorageConfiguration{Size: "1Gi"},
			PostgresConfiguration: cnpgv1.PostgresConfiguration{Parameters: map[string]string{"shared_preload_libraries": "x", "hba_file": "y"}},
		},
	}
	if err := c.Create(t.Context(), pg); err == nil || !strings.Contains(err.Error(), "vcluster.cnpg.io") {
		t.Fatalf("the webhook did not reject a fixed parameter: %v", err)
	}
}

// benchmarkOn creates a benchmark: it begins where DatabaseRole exists, and waits with the
// name of that CRD elsewhere, while its database stays Ready.
func benchmarkOn(t *testing.T, c client.Client, version string) {
	cr := cluster(namespace(t, c), "measured", "matrix")
	cr.Spec.Benchmark = &v1alpha1.InlineBenchmark{PgbenchSpec: v1alpha1.PgbenchSpec{Scale: 1, Duration: "10s"}}
	create(t, c, cr)
	simulatedHealthy(t, c, client.ObjectKeyFromObject(cr))
	hasCondition(t, c, cr, v1alpha1.ConditionReady, metav1.ConditionTrue, v1alpha1.ReasonReady)
	b := ownBenchmark(t, c, cr, "")
	if strings.HasPrefix(version, newest) {
		startedJob(t, c, b)
		return
	}
	eventually(t, "the reason why the benchmark waits", func(ctx context.Context) error {
		if err := c.Get(ctx, client.ObjectKeyFromObject(b), b); err != nil {
			return err
		}
		return waitsFor(b, v1alpha1.ReasonCNPGTooOld, "databaseroles.postgresql.cnpg.io", "upgrade to version 1.30")
	})
}

// newFieldOn sets a field that only the newest version has.
func newFieldOn(t *testing.T, c client.Client, version string) {
	storage(t, c, "leases")
	p := &v1alpha1.PgStorageProfile{ObjectMeta: metav1.ObjectMeta{Name: "leases"}}
	changed(t, c, p, func() { p.Spec.AllowedOverrides = []string{"primaryLease"} })
	cr := overridden(namespace(t, c), "leased", "leases", `{"primaryLease": {"leaseDurationSeconds": 20}}`)
	create(t, c, cr)
	if strings.HasPrefix(version, newest) {
		simulatedHealthy(t, c, client.ObjectKeyFromObject(cr))
		hasCondition(t, c, cr, v1alpha1.ConditionReady, metav1.ConditionTrue, v1alpha1.ReasonReady)
		return
	}
	got := hasCondition(t, c, cr, v1alpha1.ConditionReady, metav1.ConditionFalse, v1alpha1.ReasonRejected)
	if !strings.Contains(got.Message, "primaryLease") {
		t.Errorf("the message does not name the field: %s", got.Message)
	}
	absent(t, c, client.ObjectKeyFromObject(cr), &cnpgv1.Cluster{})
}

// waitsFor reports what a benchmark's TargetReady lacks of a reason and texts.
func waitsFor(b *v1alpha1.PgBenchmark, reason string, texts ...string) error {
	target := meta.FindStatusCondition(b.Status.Conditions, v1alpha1.ConditionTargetReady)
	if target == nil || target.Reason != reason {
		return fmt.Errorf("condition %+v, want reason %s", target, reason)
	}
	for _, text := range texts {
		if !strings.Contains(target.Message, text) {
			return fmt.Errorf("no %q in %q", text, target.Message)
		}
	}
	return nil
}
