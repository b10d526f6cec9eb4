// Package verification builds what verifies the backups of a PgStorageCluster. A CloudNativePG
// Cluster restores them, and a Job checks it.
package verification

import (
	"encoding/json"
	"fmt"

	cnpgv1 "github.com/cloudnative-pg/cloudnative-pg/api/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"

	"github.com/pgstorage/pgstorage/api/v1alpha1"
	"github.com/pgstorage/pgstorage/internal/kube/naming"
	"github.com/pgstorage/pgstorage/internal/kube/plan"
	"github.com/pgstorage/pgstorage/internal/operator/component/cnpg"
)

const kind = "PgStorageCluster"

// kept are the fields of the database's own Cluster that the restored one has too: where its
// pods run, and on which storage. Its parameters are not among them: they are for other
// memory. CloudNativePG raises those that a restore needs as high as they were
// (https://cloudnative-pg.io/documentation/current/recovery/).
var kept = []string{
	"storage", "walStorage", "tablespaces", "imagePullSecrets", "affinity", "schedulerName", "priorityClassName", "serviceAccountTemplate",
	"postgresUID", "postgresGID", "seccompProfile", "podSecurityContext", "securityContext",
}

// Cluster is what the newest backup is restored into: one instance that archives nothing.
// It goes with the PgStorageCluster.
func Cluster(cr *v1alpha1.PgStorageCluster, source *cnpgv1.Cluster) (plan.Object, error) {
	all, err := fields(source.Spec)
	if err != nil {
		return plan.Object{}, err
	}
	spec := map[string]any{}
	for _, name := range kept {
		if value, found := all[name]; found {
			spec[name] = value
		}
	}
	spec["instances"], spec["imageName"], spec["enableSuperuserAccess"] = int64(1), source.Status.Image, true
	if spec["resources"], err = fields(resources(cr.Spec.Backup.Verify.Resources)); err != nil {
		return plan.Object{}, err
	}
	spec["postgresql"] = postgresql(source.Spec.PostgresConfiguration.AdditionalLibraries)
	spec["bootstrap"], spec["externalClusters"] = cnpg.FromArchive(cr)
	owner, err := fields(plan.ControllerReference(kind, cr))
	if err != nil {
		return plan.Object{}, err
	}
	return plan.FromContent(plan.StageDatabase, map[string]any{
		"apiVersion": cnpgv1.SchemeGroupVersion.String(), "kind": cnpgv1.ClusterKind,
		"metadata": map[string]any{
			"name": naming.Verification(cr.Name, string(cr.UID)), "namespace": cr.Namespace,
			"labels": toMap(naming.VerifyLabels(cr.Name)), "ownerReferences": []any{owner},
		},
		"spec": spec,
	}), nil
}

// postgresql has the libraries of the database, and starts no subscription. A restored
// subscription has the publisher, password and slot of the database. Its worker would take the
// slot and confirm changes that the database never receives.
func postgresql(libraries []string) map[string]any {
	out := map[string]any{"parameters": map[string]any{cnpg.SubscriptionWorkers: "0"}}
	if len(libraries) > 0 {
		out["shared_preload_libraries"] = toAny(libraries)
	}
	return out
}

// fields of an object as an API server has them.
func fields(of any) (map[string]any, error) {
	raw, err := json.Marshal(of)
	if err != nil {
		return nil, fmt.Errorf("marshal %T: %w", of, err)
	}
	out := map[string]any{}
	if err := json.Unmarshal(raw, &out); err != nil {
		return nil, fmt.Errorf("unmarshal %T: %w", of, err)
	}
	return out, nil
}

func toAny(list []string) []any {
	out := make([]any, 0, len(list))
	for _, s := range list {
		out = append(out, s)
	}
	return out
}

func toMap(labels map[string]string) map[string]any {
	out := map[string]any{}
	for k, v := range labels {
		out[k] = v
	}
	return out
}

// resources are the declared ones, or small ones that restore any database in time.
func resources(r *v1alpha1.VerifyResources) corev1.ResourceRequirements {
	out := corev1.ResourceRequirements{
		Requests: corev1.ResourceList{corev1.ResourceCPU: resource.MustParse("100m"), corev1.ResourceMemory: resource.MustParse("512Mi")},
		Limits:   corev1.ResourceList{corev1.ResourceMemory: resource.MustParse("1Gi")},
	}
	if r != nil {
		out.Requests, out.Limits = r.Requests, r.Limits
	}
	return out
}
