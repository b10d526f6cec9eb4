package cnpg

import (
	"maps"
	"slices"
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/pgstorage/pgstorage/api/v1alpha1"
)

func annotated(annotations map[string]string) *v1alpha1.PgStorageCluster {
	return &v1alpha1.PgStorageCluster{ObjectMeta: metav1.ObjectMeta{Name: "shop", Namespace: "prod", Annotations: annotations}}
}

// Only reviewed annotations with valid values reach the Cluster. Each other one that
// CloudNativePG knows is named.
func TestForwardedAnnotations(t *testing.T) {
	for _, tc := range []struct {
		key, value string
		forwarded  bool
		named      string
	}{
		{"cnpg.io/hibernation", "on", true, ""},
		{"cnpg.io/hibernation", "off", true, ""},
		{"cnpg.io/hibernation", "true", false, `metadata.annotations[cnpg.io/hibernation]: "true" is not a value that CloudNativePG knows; use on or off`},
		{"cnpg.io/reconciliationLoop", "disabled", true, ""},
		{"cnpg.io/reconciliationLoop", "", false, "use disabled or enabled"},
		{"cnpg.io/podPatch", `[{"op": "add"}]`, false, "metadata.annotations[cnpg.io/podPatch] does not reach the CloudNativePG Cluster: it can give the pods any right"},
		{"cnpg.io/validation", "disabled", false, "metadata.annotations[cnpg.io/validation] does not reach"},
		{"cnpg.io/fencedInstances", `["*"]`, false, "use kubectl cnpg fencing"},
		{"cnpg.io/skipWalArchiving", "enabled", false, "metadata.annotations[cnpg.io/skipWalArchiving]"},
		{"cnpg.io/skipEmptyWalArchiveCheck", "enabled", false, "the archive of another"},
		{"cnpg.io/next", "on", false, "those that do are cnpg.io/hibernation and cnpg.io/reconciliationLoop"},
		{"alpha.cnpg.io/unrecoverable", "true", false, "metadata.annotations[alpha.cnpg.io/unrecoverable]"},
		{"container.apparmor.security.beta.kubernetes.io/postgres", "unconfined", false, "does not reach"},
		{"kubectl.kubernetes.io/restartedAt", "2026-01-01T00:00:00Z", false, "use kubectl cnpg restart"},
		{"example.com/team", "a", false, ""},
		{"notcnpg.io/hibernation", "on", false, ""},
	} {
		t.Run(tc.key+"="+tc.value, func(t *testing.T) {
			cr := annotated(map[string]string{tc.key: tc.value})
			want := map[string]string{}
			if tc.forwarded {
				want[tc.key] = tc.value
			}
			if got := ForwardedAnnotations(cr); !maps.Equal(got, want) {
				t.Errorf("forwarded: %v", got)
			}
			object := Cluster(Inputs{CR: cr})
			if got := object.Annotations; !maps.Equal(got, want) {
				t.Errorf("on the Cluster: %v", got)
			}
			named := strings.Join(NotForwarded(cr), "\n")
			if !strings.Contains(named, tc.named) || (named == "") != (tc.named == "") {
				t.Errorf("named: %q, want %q", named, tc.named)
			}
		})
	}
}

func TestOtherMetadata(t *testing.T) {
	cr := annotated(map[string]string{
		"cnpg.io/hibernation": "on", "cnpg.io/podPatch": "[]", "example.com/b": "1", "example.com/a": "1", "pgstorage.dev/recreate-cluster": "x",
		"kubectl.kubernetes.io/last-applied-configuration": "{}", "kubectl.kubernetes.io/restartedAt": "x",
	})
	cr.Labels = map[string]string{"team": "a", "cnpg.io/cluster": "other", "pgstorage.dev/run": "1"}
	if got := OtherMetadata(cr); !slices.Equal(got, []string{"annotation example.com/a", "annotation example.com/b", "label team"}) {
		t.Errorf("%q", got)
	}
	if got := strings.Join(NotForwarded(cr), "\n"); !strings.Contains(got, "metadata.labels[cnpg.io/cluster] does not reach") || strings.Contains(got, "team") {
		t.Errorf("%s", got)
	}
}
