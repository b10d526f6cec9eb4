package clusters

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"

	"github.com/pgstorage/pgstorage/api/v1alpha1"
)

// allowedResources of an instance, as spec.resources has them.
var allowedResources = []corev1.ResourceName{
	corev1.ResourceCPU, corev1.ResourceMemory, corev1.ResourceEphemeralStorage,
	corev1.ResourceHugePagesPrefix + "2Mi", corev1.ResourceHugePagesPrefix + "1Gi",
}

// leastResources that the operator computes parameters from.
var leastResources = map[corev1.ResourceName]resource.Quantity{
	corev1.ResourceCPU: resource.MustParse("50m"), corev1.ResourceMemory: resource.MustParse("256Mi"),
}

// refusedPool says what is wrong with a pool; empty where nothing is. Its amounts have the rules
// of the same fields outside of pools: the API server would refuse the PgStorageCluster of the
// pool. Rules on a list of pools would exceed the cost limit of a CRD.
func refusedPool(cr *v1alpha1.PgStorageCluster, pool v1alpha1.ReadPool) string {
	field := fmt.Sprintf("spec.readPools[%s]", pool.Name)
	return strings.Join(slices.Concat(servesStale(field, pool), tooSmall(field, pool), refusedResources(cr, field+".resources", pool.Resources)), "; ")
}

// servesStale refuses staleReads: Refuse for several instances, because those behind the first
// one would serve stale reads. The API refuses it too, but not in objects from before that rule.
func servesStale(field string, pool v1alpha1.ReadPool) []string {
	if pool.StaleReads != v1alpha1.StaleReadsRefuse || pool.Instances == nil || *pool.Instances == 1 {
		return nil
	}
	return []string{fmt.Sprintf(msgPoolStaleReads, field, *pool.Instances)}
}

// leastVolume and leastLag are the least amounts of storage and of maxLag.bytes.
var leastVolume, leastLag = resource.MustParse("1Gi"), resource.MustParse("1Mi")

func tooSmall(field string, pool v1alpha1.ReadPool) []string {
	var out []string
	least := func(field string, have *resource.Quantity, least resource.Quantity) {
		if have != nil && have.Cmp(least) < 0 {
			out = append(out, fmt.Sprintf("%s must be at least %s; raise it", field, least.String()))
		}
	}
	if s := pool.Storage; s != nil {
		least(field+".storage.size", &s.Size, leastVolume)
		least(field+".storage.walSize", s.WALSize, leastVolume)
	}
	if pool.MaxLag != nil {
		least(field+".maxLag.bytes", pool.MaxLag.Bytes, leastLag)
	}
	return out
}

func refusedResources(cr *v1alpha1.PgStorageCluster, field string, r *v1alpha1.ReadPoolResources) []string {
	if r == nil {
		return nil
	}
	out := slices.Concat(foreignResources(field+".requests", r.Requests), foreignResources(field+".limits", r.Limits))
	if !AsIs(cr) {
		out = append(out, tooFewResources(field, r.Requests)...)
	}
	return append(out, unequalResources(field, *r)...)
}

func foreignResources(field string, amounts corev1.ResourceList) []string {
	var out []string
	for _, name := range slices.Sorted(maps.Keys(amounts)) {
		if !slices.Contains(allowedResources, name) {
			out = append(out, fmt.Sprintf("%s may name cpu, memory, ephemeral-storage, hugepages-2Mi and hugepages-1Gi only, and not %q", field, name))
		}
	}
	return out
}

func tooFewResources(field string, requests corev1.ResourceList) []string {
	var out []string
	for _, name := range slices.Sorted(maps.Keys(leastResources)) {
		least, asked := leastResources[name], requests[name]
		if asked.Cmp(least) < 0 {
			out = append(out, fmt.Sprintf("%s.requests.%s must be at least %s: the operator derives Postgres parameters from it", field, name, least.String()))
		}
	}
	return out
}

// unequalResources are limits below their request, and huge pages whose limit is another
// amount.
func unequalResources(field string, r v1alpha1.ReadPoolResources) []string {
	var out []string
	for _, name := range allowedResources {
		limit, limited := r.Limits[name]
		asked, requested := r.Requests[name]
		huge := requested && strings.HasPrefix(string(name), corev1.ResourceHugePagesPrefix)
		switch {
		case huge && limit.Cmp(asked) != 0:
			out = append(out, fmt.Sprintf("%s: %s cannot be overcommitted; set the same amount in requests and limits", field, name))
		case limited && limit.Cmp(asked) < 0:
			out = append(out, fmt.Sprintf("%s.limits.%s is below its request; raise the limit or lower the request", field, name))
		}
	}
	return out
}
