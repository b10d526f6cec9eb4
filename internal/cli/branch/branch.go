// Package branch describes PgStorageBranches for the branch commands: new objects, lists,
// progress, and what a deletion or a promotion does. It is pure.
package branch

import (
	"errors"
	"fmt"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/pgstorage/pgstorage/api/v1alpha1"
	"github.com/pgstorage/pgstorage/internal/kube/quantity"
)

// Kind of the objects.
const Kind = "PgStorageBranch"

// Options describe a new branch, as the flags of branch create do.
type Options struct {
	Name string
	TTL  string
	// Mask is CONFIGMAP or CONFIGMAP/KEY.
	Mask string
	// FromBackup restores from backups, until Target. Without it Target is empty.
	FromBackup bool
	Target     v1alpha1.BranchBackup
	// CPU and Memory are quantities; both are set, or none.
	CPU, Memory string
}

// New returns the PgStorageBranch that the options describe.
func New(namespace, source string, o Options) (*v1alpha1.PgStorageBranch, error) {
	b := &v1alpha1.PgStorageBranch{
		TypeMeta:   metav1.TypeMeta{APIVersion: v1alpha1.GroupVersion.String(), Kind: Kind},
		ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: o.Name},
		Spec:       v1alpha1.PgStorageBranchSpec{Source: v1alpha1.BranchSource{Cluster: source}, TTL: o.TTL},
	}
	if o.FromBackup {
		b.Spec.Source.Backup = &o.Target
	} else if o.Target != (v1alpha1.BranchBackup{}) {
		return nil, errors.New("--target-time, --target-lsn, --target-name and --backup-id need --from-backup: a snapshot has the present state only")
	}
	if o.Target.TargetName != "" && o.Target.BackupID == "" {
		return nil, errors.New("--target-name needs --backup-id: a restore point has no time by which a base backup could be chosen; " +
			"kubectl get backups.postgresql.cnpg.io -o custom-columns=NAME:.metadata.name,ENDED:.status.stoppedAt,ID:.status.backupId lists the IDs")
	}
	var err error
	if b.Spec.Masking, err = masking(o.Mask); err != nil {
		return nil, err
	}
	b.Spec.Resources, err = resources(o.CPU, o.Memory)
	return b, err
}

// masking reads CONFIGMAP[/KEY]. The API sets the default of the key.
func masking(text string) (*v1alpha1.BranchMasking, error) {
	if text == "" {
		return nil, nil
	}
	name, key, given := strings.Cut(text, "/")
	if name == "" || given && key == "" {
		return nil, fmt.Errorf("--mask %q is not CONFIGMAP or CONFIGMAP/KEY", text)
	}
	return &v1alpha1.BranchMasking{ConfigMap: v1alpha1.MaskingConfigMap{Name: name, Key: key}}, nil
}

// resources of an instance. The limit of memory equals its request, so that the kernel does
// not kill Postgres before other pods.
func resources(cpu, memory string) (*v1alpha1.ClusterResources, error) {
	if cpu == "" && memory == "" {
		return nil, nil
	}
	out := &v1alpha1.ClusterResources{Requests: map[corev1.ResourceName]resource.Quantity{}}
	for name, text := range map[corev1.ResourceName]string{corev1.ResourceCPU: cpu, corev1.ResourceMemory: memory} {
		amount, err := quantity.Parse(text)
		if err != nil {
			return nil, fmt.Errorf("--%s %q is not a quantity, such as 500m or 2Gi: %w", name, text, err)
		}
		out.Requests[name] = amount
	}
	out.Limits = map[corev1.ResourceName]resource.Quantity{corev1.ResourceMemory: out.Requests[corev1.ResourceMemory]}
	return out, nil
}

// Consent returns what is missing for branches of a database; empty if it admits them.
func Consent(source *v1alpha1.PgStorageCluster) string {
	if source.Spec.BranchPolicy == v1alpha1.BranchAny {
		return ""
	}
	return fmt.Sprintf(`PgStorageCluster %s does not admit branches; allow them with kubectl -n %s patch pgsc %s --type=merge -p '{"spec":{"branchPolicy":"Any"}}'`,
		source.Name, source.Namespace, source.Name)
}
