//go:build e2e

package e2e

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	cnpgv1 "github.com/cloudnative-pg/cloudnative-pg/api/v1"
	"github.com/google/go-cmp/cmp"
	authenticationv1 "k8s.io/api/authentication/v1"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/rest"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/pgstorage/pgstorage/api/v1alpha1"
	"github.com/pgstorage/pgstorage/internal/kube/scheme"
	"github.com/pgstorage/pgstorage/internal/testing/hostile"
	"github.com/pgstorage/pgstorage/internal/testing/live"
)

// consentProfile allows its authors a seccomp profile of their own and nothing else.
const consentProfile = "e2e-consent"

// TestEscapeHatchRefusesAttacks: a tenant who may edit PgStorageClusters of one namespace, and
// nothing else, tries every attack where Pod Security stops none. Each is refused with its
// field named, and neither Cluster nor pod is made.
func TestEscapeHatchRefusesAttacks(t *testing.T) {
	t.Parallel()
	profile(t)
	ns := permissive(t)
	tenant := tenantOf(t, ns)
	mayNot(t, tenant, ns)
	names := map[string]hostile.Override{}
	for i, attack := range hostile.Overrides {
		cr := overridden(ns, fmt.Sprintf("attack-%d", i), profileName, attack.Spec)
		if err := tenant.Create(t.Context(), cr); err != nil {
			t.Fatalf("%s: %v", attack.Name, err)
		}
		names[cr.Name] = attack
	}
	eventually(t, "every attack to be refused", func(ctx context.Context) error {
		for name, attack := range names {
			if err := refused(ctx, ns, name, attack.Field); err != nil {
				return fmt.Errorf("%s: %w", attack.Name, err)
			}
		}
		return nil
	})
	nothingMade(t, ns)
}

// TestConsentOpensOneField: the profile allows a seccomp profile. A container with it runs,
// and the same tenant still gets no privileged one.
func TestConsentOpensOneField(t *testing.T) {
	t.Parallel()
	p := &v1alpha1.PgStorageProfile{
		ObjectMeta: metav1.ObjectMeta{Name: consentProfile},
		Spec: v1alpha1.PgStorageProfileSpec{
			Type: v1alpha1.ProfileTypeExternal, External: &v1alpha1.ExternalProfile{StorageClassName: "standard"},
			AllowedOverrides: []string{"securityContext.seccompProfile"},
		},
	}
	if err := client.IgnoreAlreadyExists(c.Create(t.Context(), p)); err != nil {
		t.Fatal(err)
	}
	ns := permissive(t)
	tenant := tenantOf(t, ns)
	both := overridden(ns, "both", consentProfile, `{"securityContext": {"privileged": true, "seccompProfile": {"type": "Unconfined"}}}`)
	if err := tenant.Create(t.Context(), both); err != nil {
		t.Fatal(err)
	}
	eventually(t, "the privileged container to be refused", func(ctx context.Context) error {
		return refused(ctx, ns, "both", "securityContext.privileged")
	})
	nothingMade(t, ns)
	one := overridden(ns, "one", consentProfile, `{"securityContext": {"seccompProfile": {"type": "Unconfined"}}}`)
	if err := tenant.Create(t.Context(), one); err != nil {
		t.Fatal(err)
	}
	ready(t, one)
	seccompAlone(t, ns, one.Status.Database.Primary)
	probesFollowTheProfile(t, one, p)
}

// seccompAlone checks that the containers of a pod have the profile that was allowed, and
// no privileges.
func seccompAlone(t *testing.T, ns, name string) {
	t.Helper()
	pod := &corev1.Pod{}
	if err := c.Get(t.Context(), client.ObjectKey{Namespace: ns, Name: name}, pod); err != nil {
		t.Fatal(err)
	}
	for _, container := range pod.Spec.Containers {
		s := container.SecurityContext
		if s.SeccompProfile == nil || s.SeccompProfile.Type != corev1.SeccompProfileTypeUnconfined {
			t.Errorf("container %s: the seccomp profile did not arrive: %+v", container.Name, s)
		}
		if s.Privileged == nil || *s.Privileged {
			t.Errorf("container %s may be privileged: %+v", container.Name, s)
		}
	}
}

// probesFollowTheProfile gives the instances of a database that runs more time, and reads
// from the pod what kubelet then has.
func probesFollowTheProfile(t *testing.T, cr *v1alpha1.PgStorageCluster, p *v1alpha1.PgStorageProfile) {
	t.Helper()
	patched := &v1alpha1.PgStorageProfile{}
	if err := c.Get(t.Context(), client.ObjectKeyFromObject(p), patched); err != nil {
		t.Fatal(err)
	}
	before := patched.DeepCopy()
	patched.Spec.InstanceProbes = &v1alpha1.InstanceProbes{Reason: "to see it arrive", Timeout: "15s", Liveness: "100s", Startup: "2h"}
	if err := c.Patch(t.Context(), patched, client.MergeFrom(before)); err != nil {
		t.Fatal(err)
	}
	type probe struct{ Timeout, Period, Attempts int32 }
	want := map[string]probe{"startup": {15, 15, 480}, "readiness": {15, 15, 3}, "liveness": {15, 15, 7}}
	eventually(t, "the pod to have the probes", func(ctx context.Context) error {
		if err := c.Get(ctx, client.ObjectKeyFromObject(cr), cr); err != nil {
			return err
		}
		if err := live.AllTrue(cr.Status.Conditions, cr.Generation, v1alpha1.ConditionReady, v1alpha1.ConditionProbesApplied); err != nil {
			return err
		}
		pod := &corev1.Pod{}
		if err := c.Get(ctx, client.ObjectKey{Namespace: cr.Namespace, Name: cr.Status.Database.Primary}, pod); err != nil {
			return err
		}
		have := map[string]probe{}
		for _, container := range pod.Spec.Containers {
			if container.Name == "postgres" {
				for name, p := range map[string]*corev1.Probe{"startup": container.StartupProbe, "readiness": container.ReadinessProbe, "liveness": container.LivenessProbe} {
					have[name] = probe{p.TimeoutSeconds, p.PeriodSeconds, p.FailureThreshold}
				}
			}
		}
		if diff := cmp.Diff(want, have); diff != "" {
			return fmt.Errorf("the condition is True, and the probes differ: %s", diff)
		}
		return nil
	})
}

// permissive is a namespace in which Pod Security allows everything.
func permissive(t *testing.T) string {
	t.Helper()
	name := namespace(t)
	ns := &corev1.Namespace{}
	if err := c.Get(t.Context(), client.ObjectKey{Name: name}, ns); err != nil {
		t.Fatal(err)
	}
	before := ns.DeepCopy()
	ns.Labels["pod-security.kubernetes.io/enforce"] = "privileged"
	if err := c.Patch(t.Context(), ns, client.MergeFrom(before)); err != nil {
		t.Fatal(err)
	}
	return name
}

// tenantOf a namespace is a ServiceAccount with the ClusterRole pgstorage-edit there.
func tenantOf(t *testing.T, ns string) client.Client {
	t.Helper()
	account := &corev1.ServiceAccount{ObjectMeta: metav1.ObjectMeta{Namespace: ns, Name: "tenant"}}
	binding := &rbacv1.RoleBinding{
		ObjectMeta: metav1.ObjectMeta{Namespace: ns, Name: "tenant"},
		RoleRef:    rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "ClusterRole", Name: "pgstorage-edit"},
		Subjects:   []rbacv1.Subject{{Kind: rbacv1.ServiceAccountKind, Namespace: ns, Name: "tenant"}},
	}
	create(t, account, binding)
	token := &authenticationv1.TokenRequest{}
	if err := c.SubResource("token").Create(t.Context(), account, token); err != nil {
		t.Fatal(err)
	}
	admin, err := ctrl.GetConfig()
	if err != nil {
		t.Fatal(err)
	}
	config := rest.AnonymousClientConfig(admin)
	config.BearerToken = token.Status.Token
	s := scheme.New()
	// Named, because the tenant may not ask for what else there is.
	mapper := meta.NewDefaultRESTMapper(nil)
	mapper.Add(v1alpha1.GroupVersion.WithKind("PgStorageCluster"), meta.RESTScopeNamespace)
	mapper.Add(v1alpha1.GroupVersion.WithKind("PgBenchmark"), meta.RESTScopeNamespace)
	mapper.Add(corev1.SchemeGroupVersion.WithKind("ConfigMap"), meta.RESTScopeNamespace)
	mapper.Add(corev1.SchemeGroupVersion.WithKind("Secret"), meta.RESTScopeNamespace)
	mapper.Add(corev1.SchemeGroupVersion.WithKind("Pod"), meta.RESTScopeNamespace)
	tenant, err := client.New(config, client.Options{Scheme: s, Mapper: mapper})
	if err != nil {
		t.Fatal(err)
	}
	eventually(t, "the tenant to have its rights", func(ctx context.Context) error {
		return tenant.Create(ctx, cluster(ns, "rights"), client.DryRunAll)
	})
	return tenant
}

// mayNot checks that the tenant has none of the rights that the attacks are after.
func mayNot(t *testing.T, tenant client.Client, ns string) {
	t.Helper()
	if err := tenant.List(t.Context(), &corev1.SecretList{}, client.InNamespace(ns)); err == nil {
		t.Error("the tenant may read Secrets")
	}
	pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: ns, Name: "p"}, Spec: corev1.PodSpec{Containers: []corev1.Container{{Name: "c", Image: "i"}}}}
	if err := tenant.Create(t.Context(), pod, client.DryRunAll); err == nil {
		t.Error("the tenant may make pods")
	}
}

func overridden(ns, name, profile, spec string) *v1alpha1.PgStorageCluster {
	cr := cluster(ns, name)
	cr.Spec.Profile = profile
	cr.Spec.CNPG = &v1alpha1.CNPGOverrides{Spec: &runtime.RawExtension{Raw: []byte(spec)}}
	return cr
}

// refused says what a cluster lacks that is refused with a field named.
func refused(ctx context.Context, ns, name, field string) error {
	cr := &v1alpha1.PgStorageCluster{}
	if err := c.Get(ctx, client.ObjectKey{Namespace: ns, Name: name}, cr); err != nil {
		return err
	}
	got := meta.FindStatusCondition(cr.Status.Conditions, v1alpha1.ConditionReady)
	if got == nil {
		return errors.New("no condition Ready")
	}
	if got.Status != metav1.ConditionFalse || got.Reason != v1alpha1.ReasonOverrideRefused || !strings.Contains(got.Message, "spec.cnpg.spec."+field) {
		return fmt.Errorf("Ready is %s (%s), without %s: %s", got.Status, got.Reason, field, got.Message)
	}
	return nil
}

// nothingMade checks that a namespace has no database and no pod.
func nothingMade(t *testing.T, ns string) {
	t.Helper()
	clusters, pods := &cnpgv1.ClusterList{}, &corev1.PodList{}
	for _, list := range []client.ObjectList{clusters, pods} {
		if err := c.List(t.Context(), list, client.InNamespace(ns)); err != nil {
			t.Fatal(err)
		}
	}
	if len(clusters.Items) > 0 || len(pods.Items) > 0 {
		t.Errorf("%d Clusters and %d pods were made", len(clusters.Items), len(pods.Items))
	}
}
