package observe

import (
	"context"
	"fmt"

	cnpgv1 "github.com/cloudnative-pg/cloudnative-pg/api/v1"
	corev1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/pgstorage/pgstorage/api/v1alpha1"
	"github.com/pgstorage/pgstorage/internal/kube/naming"
	"github.com/pgstorage/pgstorage/internal/operator/observed"
)

// scratch is where the layers of a benchmark can be measured, by the claims of the
// primary. Nil where the benchmark measures no layers, or the database does not exist.
func (r Readers) scratch(ctx context.Context, b *v1alpha1.PgBenchmark, facts observed.Benchmark) (*observed.Scratch, error) {
	if b.Spec.Layers == nil || !hasDatabase(facts) {
		return nil, nil
	}
	cluster, err := find(ctx, r.Cache, client.ObjectKey{Namespace: b.Namespace, Name: b.Spec.Cluster}, &cnpgv1.Cluster{})
	if err != nil || cluster == nil {
		return nil, err
	}
	primary := facts.Target.Status.Database.Primary
	data, wal, err := r.claimsOf(ctx, cluster, primary)
	if err != nil {
		return nil, err
	}
	out := &observed.Scratch{Tolerations: cluster.Spec.Affinity.Tolerations}
	if data == nil {
		out.Impossible = fmt.Sprintf("no claim with the data of the primary was found: instance %q", primary)
		return out, nil
	}
	return out, r.like(ctx, out, data, wal)
}

// like the claims of the primary, of which that of the WAL may be missing.
func (r Readers) like(ctx context.Context, out *observed.Scratch, data, wal *corev1.PersistentVolumeClaim) (err error) {
	out.WAL = classOf(data)
	if out.Impossible, err = r.unfit(ctx, data); err != nil || wal == nil || classOf(wal) == out.WAL {
		return err
	}
	out.WAL, out.Data = classOf(wal), out.WAL
	if out.Impossible == "" {
		out.Impossible, err = r.unfit(ctx, wal)
	}
	return err
}

func hasDatabase(facts observed.Benchmark) bool {
	return facts.CNPGInstalled && facts.Target != nil && facts.Target.Status.Database != nil
}

// claimsOf an instance; nil where it has none.
func (r Readers) claimsOf(ctx context.Context, cluster *cnpgv1.Cluster, instance string) (data, wal *corev1.PersistentVolumeClaim, err error) {
	list, err := r.listClaims(ctx, cluster.Namespace, client.MatchingLabels{naming.LabelCNPGCluster: cluster.Name, naming.LabelCNPGInstance: instance})
	if err != nil {
		return nil, nil, err
	}
	for i := range list.Items {
		c := &list.Items[i]
		switch {
		case !current(cluster, c):
		case c.Labels[naming.LabelCNPGPVCRole] == roleData:
			data = c
		case c.Labels[naming.LabelCNPGPVCRole] == roleWAL:
			wal = c
		}
	}
	return data, wal, nil
}

func classOf(c *corev1.PersistentVolumeClaim) string { return ptr.Deref(c.Spec.StorageClassName, "") }

// unfit says why a benchmark cannot get a second volume like that of a claim on the
// same node. It is empty where it can.
func (r Readers) unfit(ctx context.Context, claim *corev1.PersistentVolumeClaim) (string, error) {
	name := classOf(claim)
	if name == "" {
		return fmt.Sprintf("claim %s has no StorageClass, so no volume like its own can be made", claim.Name), nil
	}
	class, err := find(ctx, r.Cache, client.ObjectKey{Name: name}, &storagev1.StorageClass{})
	if err != nil {
		return "", err
	}
	switch {
	case class == nil:
		return fmt.Sprintf("StorageClass %s of claim %s does not exist any more", name, claim.Name), nil
	case class.Provisioner == noProvisioner:
		return fmt.Sprintf("StorageClass %s makes no volumes (%s)", name, noProvisioner), nil
	case ptr.Deref(class.ReclaimPolicy, corev1.PersistentVolumeReclaimDelete) != corev1.PersistentVolumeReclaimDelete:
		return fmt.Sprintf("StorageClass %s has reclaimPolicy %s: the scratch volume would stay when the benchmark is gone; measure on a cluster whose class has Delete", name, *class.ReclaimPolicy), nil
	case ptr.Deref(class.VolumeBindingMode, storagev1.VolumeBindingImmediate) == storagev1.VolumeBindingWaitForFirstConsumer:
		return "", nil
	}
	bound, err := r.boundToNode(ctx, claim.Spec.VolumeName)
	if err != nil || !bound {
		return "", err
	}
	return fmt.Sprintf("StorageClass %s has volumeBindingMode Immediate, and its volumes are bound to nodes. The scratch volume may be made on another node than the primary's; a class with WaitForFirstConsumer has them where they are needed", name), nil
}

// noProvisioner is the provisioner of classes whose volumes people make.
const noProvisioner = "kubernetes.io/no-provisioner"

// boundToNode says whether a volume can be had from some nodes only. The manager may
// list volumes, so that it lists the one.
func (r Readers) boundToNode(ctx context.Context, volume string) (bool, error) {
	list := &corev1.PersistentVolumeList{}
	if err := r.Live.List(ctx, list, client.MatchingFields{"metadata.name": volume}); err != nil {
		return false, fmt.Errorf("read PersistentVolume %s: %w", volume, err)
	}
	// One that is not found is taken for bound: nothing is known of where it is.
	return len(list.Items) != 1 || list.Items[0].Spec.NodeAffinity != nil, nil
}
