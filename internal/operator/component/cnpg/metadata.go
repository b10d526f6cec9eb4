package cnpg

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/pgstorage/pgstorage/api/v1alpha1"
	"github.com/pgstorage/pgstorage/internal/kube/naming"
)

// forwarded are the annotations of a PgStorageCluster that its CloudNativePG Cluster
// gets too, with their values. Both only stop something of this one database, and
// the status says so while they do.
var forwarded = map[string][]string{
	naming.AnnotationHibernation:        {"on", "off"},
	naming.AnnotationReconciliationLoop: {"disabled", "enabled"},
}

// notForwarded says why a well-known annotation does not reach the Cluster, and what to
// do instead. Authors of a PgStorageCluster need not be trusted with pods.
var notForwarded = map[string]string{
	"cnpg.io/podPatch":                  "it can give the pods any right",
	"cnpg.io/validation":                "it turns off CloudNativePG's own checks",
	"cnpg.io/fencedInstances":           "the operator fences instances whose devices are lost; use kubectl cnpg fencing for others",
	"cnpg.io/skipWalArchiving":          "it stops the archive of WAL, and backups with it",
	"cnpg.io/skipEmptyWalArchiveCheck":  "it lets a database write into the archive of another",
	"cnpg.io/reconcilePodSpec":          "it keeps the pods from following their spec",
	"alpha.cnpg.io/failoverQuorum":      "set spec.durability",
	"kubectl.kubernetes.io/restartedAt": "use kubectl cnpg restart",
}

// ForwardedAnnotations are those of a PgStorageCluster that its CloudNativePG Cluster
// gets: reviewed names with valid values. It is nil if there is none.
func ForwardedAnnotations(cr *v1alpha1.PgStorageCluster) map[string]string {
	var out map[string]string
	for key, value := range cr.Annotations {
		if slices.Contains(forwarded[key], value) {
			if out == nil {
				out = map[string]string{}
			}
			out[key] = value
		}
	}
	return out
}

// NotForwarded names each annotation and label of a PgStorageCluster that
// CloudNativePG would act on and that does not reach it, sorted, with the reason.
func NotForwarded(cr *v1alpha1.PgStorageCluster) []string {
	var out []string
	for _, key := range slices.Sorted(maps.Keys(cr.Annotations)) {
		values, known := forwarded[key]
		switch {
		case known && !slices.Contains(values, cr.Annotations[key]):
			out = append(out, fmt.Sprintf("metadata.annotations[%s]: %q is not a value that CloudNativePG knows; use %s", key, cr.Annotations[key], strings.Join(values, " or ")))
		case known:
		case notForwarded[key] != "":
			out = append(out, fmt.Sprintf("metadata.annotations[%s] does not reach the CloudNativePG Cluster: %s", key, notForwarded[key]))
		case ofCNPG(key):
			out = append(out, fmt.Sprintf("metadata.annotations[%s] does not reach the CloudNativePG Cluster; those that do are %s", key, strings.Join(slices.Sorted(maps.Keys(forwarded)), " and ")))
		}
	}
	for _, key := range slices.Sorted(maps.Keys(cr.Labels)) {
		if ofCNPG(key) {
			out = append(out, fmt.Sprintf("metadata.labels[%s] does not reach the CloudNativePG Cluster; remove it", key))
		}
	}
	return out
}

// OtherMetadata lists the annotations and labels of a PgStorageCluster that stay on
// it and that no operator acts on, sorted. Bookkeeping of kubectl and of pgstorage is
// left out.
func OtherMetadata(cr *v1alpha1.PgStorageCluster) []string {
	var out []string
	for _, of := range []struct {
		name string
		keys map[string]string
	}{{"annotation", cr.Annotations}, {"label", cr.Labels}} {
		for _, key := range slices.Sorted(maps.Keys(of.keys)) {
			if _, known := forwarded[key]; known || notForwarded[key] != "" || ofCNPG(key) || bookkeeping(key) {
				continue
			}
			out = append(out, of.name+" "+key)
		}
	}
	return out
}

// ofCNPG says whether CloudNativePG gives a key its meaning.
func ofCNPG(key string) bool {
	domain, _, _ := strings.Cut(key, "/")
	return domain == "cnpg.io" || strings.HasSuffix(domain, ".cnpg.io") || domain == "container.apparmor.security.beta.kubernetes.io"
}

func bookkeeping(key string) bool {
	domain, _, _ := strings.Cut(key, "/")
	return domain == v1alpha1.GroupVersion.Group || key == "kubectl.kubernetes.io/last-applied-configuration"
}
