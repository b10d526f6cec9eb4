// Package sixthprofile proves that a new kind of storage is one folder, one API file and one
// line of the catalogue. It compiles a kind that no other file knows. It takes a profile of it
// from creation to Ready and to deletion through the real manager, with the real CRD,
// controller, caches and status.
package sixthprofile

import (
	"context"
	"fmt"
	"slices"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/util/wait"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/envtest"

	"github.com/pgstorage/pgstorage/api/v1alpha1"
	"github.com/pgstorage/pgstorage/controllers"
	"github.com/pgstorage/pgstorage/internal/kube/naming"
	"github.com/pgstorage/pgstorage/internal/operator/profile/catalog"
	"github.com/pgstorage/pgstorage/internal/testing/apiserver"
	"github.com/pgstorage/pgstorage/internal/testing/manager"
)

// patience bounds every wait. It is below the interval after which a pass reads again what no
// watch covers. So only a watch can end a wait in time.
const patience = 12 * time.Second

func TestNewKindOfStorageNeedsNoOtherFile(t *testing.T) {
	env, stop, err := apiserver.Start(apiserver.CRDs{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := stop(); err != nil {
			t.Log(err)
		}
	})
	c := apiserver.Client(t, env.Config)
	p := &v1alpha1.PgStorageProfile{ObjectMeta: metav1.ObjectMeta{Name: "six"}, Spec: v1alpha1.PgStorageProfileSpec{Type: typeSixth}}
	if err := c.Create(t.Context(), p.DeepCopy()); !apierrors.IsInvalid(err) {
		t.Fatalf("create a profile of a type that the CRD does not have: got %v, want Invalid", err)
	}
	addToEnum(t, c)
	if _, err := envtest.InstallCRDs(env.Config, envtest.CRDInstallOptions{CRDs: []*apiextensionsv1.CustomResourceDefinition{diskArrays()}}); err != nil {
		t.Fatal(err)
	}
	manager.Start(t, env.Config, func(o *controllers.Options) {
		o.Kinds = append(catalog.All(), sixth{}) // the one line
		o.Enabled = map[v1alpha1.ProfileType]bool{typeSixth: true}
	})

	create(t, c, p)
	waitFor(t, c, p, metav1.ConditionFalse, reasonArrayMissing)
	class := &storagev1.StorageClass{ObjectMeta: metav1.ObjectMeta{Name: naming.DataClass(p.Name)}}
	if err := c.Get(t.Context(), client.ObjectKeyFromObject(class), class); !apierrors.IsNotFound(err) {
		t.Errorf("get the StorageClass before the array exists: got %v, want NotFound", err)
	}

	// Only the watch of the source notifies the controller of the array.
	a := diskArray(p.Name, "Good")
	create(t, c, a)
	waitFor(t, c, p, metav1.ConditionTrue, reasonArrayReady)
	ready := meta.FindStatusCondition(p.Status.Conditions, v1alpha1.ConditionReady)
	if ready == nil || ready.Status != metav1.ConditionTrue || ready.ObservedGeneration != p.Generation {
		t.Errorf("got condition Ready %+v, want True", ready)
	}
	if l := p.Status.FlushLatency; l == nil || l.Duration != 3*time.Millisecond {
		t.Errorf("got flushLatency %v, want 3ms: the status that the kind built", l)
	}
	if err := c.Get(t.Context(), client.ObjectKeyFromObject(class), class); err != nil || class.Labels[naming.LabelOwnerUID] != string(p.UID) {
		t.Errorf("get the StorageClass: got %v with labels %v, want the profile's own", err, class.Labels)
	}
	eventually(t, "status.storageClasses", func(ctx context.Context) error {
		if err := c.Get(ctx, client.ObjectKeyFromObject(p), p); err != nil {
			return err
		}
		if got := p.Status.StorageClasses; len(got) != 1 || got[0].Name != class.Name {
			return fmt.Errorf("got status.storageClasses %v, want %s", got, class.Name)
		}
		return nil
	})
	clusterIsAccepted(t, c, p)

	change(t, c, a, func() { set(t, a, "Degraded", "status", "health") })
	waitFor(t, c, p, metav1.ConditionFalse, reasonArrayDegraded)

	change(t, c, a, func() { a.SetLabels(map[string]string{"busy": "true"}) })
	if err := c.Delete(t.Context(), p); err != nil {
		t.Fatal(err)
	}
	waitFor(t, c, p, metav1.ConditionFalse, reasonArrayBusy)
	change(t, c, a, func() { a.SetLabels(nil) })
	for _, o := range []client.Object{p, class} {
		eventually(t, o.GetName()+" to be deleted", func(ctx context.Context) error {
			if err := c.Get(ctx, client.ObjectKeyFromObject(o), o); !apierrors.IsNotFound(err) {
				return fmt.Errorf("got %w, want NotFound", err)
			}
			return nil
		})
	}
}

// clusterIsAccepted creates a database on the profile, waits until its controller has found
// the kind, and deletes it.
func clusterIsAccepted(t *testing.T, c client.Client, p *v1alpha1.PgStorageProfile) {
	t.Helper()
	amounts := map[corev1.ResourceName]resource.Quantity{corev1.ResourceCPU: resource.MustParse("1"), corev1.ResourceMemory: resource.MustParse("1Gi")}
	cr := &v1alpha1.PgStorageCluster{
		ObjectMeta: metav1.ObjectMeta{Namespace: metav1.NamespaceDefault, Name: "six"},
		Spec: v1alpha1.PgStorageClusterSpec{
			Profile: p.Name, Durability: v1alpha1.DurabilityLocal, Postgres: v1alpha1.PostgresSpec{Version: "17"},
			Storage:   v1alpha1.ClusterStorage{Size: resource.MustParse("1Gi")},
			Resources: v1alpha1.ClusterResources{Requests: amounts, Limits: amounts},
		},
	}
	create(t, c, cr)
	eventually(t, "the database to be planned on the profile", func(ctx context.Context) error {
		if err := c.Get(ctx, client.ObjectKeyFromObject(cr), cr); err != nil {
			return err
		}
		got := meta.FindStatusCondition(cr.Status.Conditions, v1alpha1.ConditionStorageReady)
		if got == nil || got.Status != metav1.ConditionTrue || len(cr.Status.Parameters) == 0 {
			return fmt.Errorf("got StorageReady %+v and %d parameters, want True and some", got, len(cr.Status.Parameters))
		}
		return nil
	})
	if err := c.Delete(t.Context(), cr); err != nil {
		t.Fatal(err)
	}
	eventually(t, "the database to be deleted", func(ctx context.Context) error {
		if err := c.Get(ctx, client.ObjectKeyFromObject(cr), cr); !apierrors.IsNotFound(err) {
			return fmt.Errorf("got %w, want NotFound", err)
		}
		return nil
	})
}

func TestProductionDoesNotKnowTheSixthKind(t *testing.T) {
	kind, err := append(catalog.All(), sixth{}).For(typeSixth)
	if err != nil || kind.Hooks().Alpha == "" {
		t.Fatalf("got %v, %v; want the alpha kind %s", kind, err, typeSixth)
	}
	if _, err := catalog.All().For(typeSixth); err == nil {
		t.Errorf("the production catalogue has a kind %s, so this test proves nothing", typeSixth)
	}
}

// addToEnum does what one marker of the API does: it adds the type to the CRD's enum.
func addToEnum(t *testing.T, c client.Client) {
	t.Helper()
	crd := &apiextensionsv1.CustomResourceDefinition{}
	if err := c.Get(t.Context(), client.ObjectKey{Name: "pgstorageprofiles.pgstorage.dev"}, crd); err != nil {
		t.Fatal(err)
	}
	spec := crd.Spec.Versions[0].Schema.OpenAPIV3Schema.Properties["spec"]
	field := spec.Properties["type"]
	if !slices.ContainsFunc(field.Enum, func(v apiextensionsv1.JSON) bool { return string(v.Raw) == `"External"` }) {
		t.Fatalf("spec.type has the enum %v, want one with External", field.Enum)
	}
	field.Enum = append(field.Enum, apiextensionsv1.JSON{Raw: fmt.Appendf(nil, "%q", typeSixth)})
	spec.Properties["type"] = field
	if err := c.Update(t.Context(), crd); err != nil {
		t.Fatal(err)
	}
	eventually(t, "the API server to serve the new enum", func(ctx context.Context) error {
		probe := &v1alpha1.PgStorageProfile{ObjectMeta: metav1.ObjectMeta{Name: "probe"}, Spec: v1alpha1.PgStorageProfileSpec{Type: typeSixth}}
		return c.Create(ctx, probe, client.DryRunAll)
	})
}

// diskArrays is the CRD of an operator that only the sixth kind knows.
func diskArrays() *apiextensionsv1.CustomResourceDefinition {
	preserve := true
	return &apiextensionsv1.CustomResourceDefinition{
		ObjectMeta: metav1.ObjectMeta{Name: arrayCRD},
		Spec: apiextensionsv1.CustomResourceDefinitionSpec{
			Group: arrayKind.Group, Scope: apiextensionsv1.ClusterScoped,
			Names: apiextensionsv1.CustomResourceDefinitionNames{Kind: arrayKind.Kind, ListKind: arrayKind.Kind + "List", Plural: "diskarrays", Singular: "diskarray"},
			Versions: []apiextensionsv1.CustomResourceDefinitionVersion{{
				Name: arrayKind.Version, Served: true, Storage: true,
				Schema: &apiextensionsv1.CustomResourceValidation{OpenAPIV3Schema: &apiextensionsv1.JSONSchemaProps{Type: "object", XPreserveUnknownFields: &preserve}},
			}},
		},
	}
}

func diskArray(name, health string) *unstructured.Unstructured {
	o := &unstructured.Unstructured{Object: map[string]any{"status": map[string]any{"health": health, "latency": "3ms", "writes": int64(1)}}}
	o.SetGroupVersionKind(arrayKind)
	o.SetName(name)
	return o
}

func set(t *testing.T, o *unstructured.Unstructured, value string, path ...string) {
	t.Helper()
	if err := unstructured.SetNestedField(o.Object, value, path...); err != nil {
		t.Fatal(err)
	}
}

func create(t *testing.T, c client.Client, o client.Object) {
	t.Helper()
	if err := c.Create(t.Context(), o); err != nil {
		t.Fatal(err)
	}
}

func change(t *testing.T, c client.Client, o client.Object, edit func()) {
	t.Helper()
	edit()
	if err := c.Update(t.Context(), o); err != nil {
		t.Fatal(err)
	}
}

// waitFor the profile's condition StorageReady.
func waitFor(t *testing.T, c client.Client, p *v1alpha1.PgStorageProfile, status metav1.ConditionStatus, reason string) {
	t.Helper()
	eventually(t, reason, func(ctx context.Context) error {
		if err := c.Get(ctx, client.ObjectKeyFromObject(p), p); err != nil {
			return err
		}
		got := meta.FindStatusCondition(p.Status.Conditions, v1alpha1.ConditionStorageReady)
		if got == nil || got.Status != status || got.Reason != reason || got.ObservedGeneration != p.Generation {
			return fmt.Errorf("got StorageReady %+v, want %s (%s)", got, status, reason)
		}
		return nil
	})
}

func eventually(t *testing.T, what string, check func(context.Context) error) {
	t.Helper()
	var last error
	err := wait.PollUntilContextTimeout(t.Context(), 50*time.Millisecond, patience, true, func(ctx context.Context) (bool, error) {
		last = check(ctx)
		return last == nil, nil
	})
	if err != nil {
		t.Fatalf("waited %s for %s: %v", patience, what, last)
	}
}
