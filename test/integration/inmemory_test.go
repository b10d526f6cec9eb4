package integration

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/pgstorage/pgstorage/api/v1alpha1"
	"github.com/pgstorage/pgstorage/internal/kube/naming"
	"github.com/pgstorage/pgstorage/internal/testing/apiserver"
	"github.com/pgstorage/pgstorage/internal/testing/manager"
)

// inMemory makes a profile with one node, which has its name, whose agent has answered.
func inMemory(t *testing.T, c client.Client, name string) *v1alpha1.PgStorageProfile {
	t.Helper()
	p := &v1alpha1.PgStorageProfile{
		ObjectMeta: metav1.ObjectMeta{Name: name},
		Spec: v1alpha1.PgStorageProfileSpec{
			Type: v1alpha1.ProfileTypeMemory, NodeSelector: map[string]string{"test": name},
			Memory: &v1alpha1.MemoryProfile{MaxPerNode: resource.MustParse("2Gi")},
		},
	}
	create(t, c, p)
	simulatedNode(t, c, name, map[string]string{"test": name, corev1.LabelHostname: "host-" + name})
	simulatedAgent(t, c, name, name, agentReady())
	profileSays(t, c, p, v1alpha1.ConditionReady, v1alpha1.ReasonReady)
	return p
}

// ephemeral is a database on such a profile.
func ephemeral(t *testing.T, c client.Client, name, profile string) *v1alpha1.PgStorageCluster {
	t.Helper()
	cr := cluster(namespace(t, c), name, profile)
	cr.Spec.Durability = v1alpha1.DurabilityEphemeral
	create(t, c, cr)
	simulatedHealthy(t, c, client.ObjectKeyFromObject(cr))
	return cr
}

// claimed makes the claim of an instance as CloudNativePG and the scheduler leave it.
func claimed(t *testing.T, c client.Client, cr *v1alpha1.PgStorageCluster, node, size string) *corev1.PersistentVolumeClaim {
	t.Helper()
	claim := claimOf(cr, cr.Name+"-1", node, size)
	claim.OwnerReferences = controlled(t, c, cr)
	create(t, c, claim)
	return claim
}

// claimOf an instance, which no Cluster controls.
func claimOf(cr *v1alpha1.PgStorageCluster, instance, node, size string) *corev1.PersistentVolumeClaim {
	return &corev1.PersistentVolumeClaim{
		ObjectMeta: metav1.ObjectMeta{
			Namespace: cr.Namespace, Name: instance,
			Labels: map[string]string{naming.LabelCNPGCluster: cr.Name, naming.LabelCNPGInstance: instance, naming.LabelCNPGPVCRole: "PG_DATA"},
			Annotations: map[string]string{
				naming.AnnotationSelectedNode: node, "volume.kubernetes.io/storage-provisioner": naming.MemoryProvisioner,
				// CloudNativePG starts no instance on a claim without its own.
				"cnpg.io/nodeSerial": "1", "cnpg.io/pvcStatus": "initializing", "example.com/of-a-user": "yes",
			},
		},
		Spec: corev1.PersistentVolumeClaimSpec{
			StorageClassName: &cr.Spec.Profile, AccessModes: []corev1.PersistentVolumeAccessMode{corev1.ReadWriteOnce},
			Resources: corev1.VolumeResourceRequirements{Requests: corev1.ResourceList{corev1.ResourceStorage: resource.MustParse(size)}},
		},
	}
}

// declaredOn waits until a PgNodeStorage declares so many volumes, and returns them.
func declaredOn(t *testing.T, c client.Client, profile string, want int) []v1alpha1.NodeMemoryVolume {
	t.Helper()
	s := &v1alpha1.PgNodeStorage{}
	eventually(t, fmt.Sprintf("%d volumes of %s", want, profile), func(ctx context.Context) error {
		if err := c.Get(ctx, client.ObjectKey{Name: naming.NodeStorage(profile, profile)}, s); err != nil {
			return err
		}
		if s.Spec.Memory == nil || len(s.Spec.Memory.Volumes) != want {
			return fmt.Errorf("%+v", s.Spec.Memory)
		}
		return nil
	})
	return s.Spec.Memory.Volumes
}

// simulatedMount has the agent report these volumes.
func simulatedMount(t *testing.T, c client.Client, profile string, volumes ...v1alpha1.ObservedMemoryVolume) {
	t.Helper()
	eventually(t, "the report of "+profile, func(ctx context.Context) error {
		s := &v1alpha1.PgNodeStorage{}
		if err := c.Get(ctx, client.ObjectKey{Name: naming.NodeStorage(profile, profile)}, s); err != nil {
			return err
		}
		s.Status.ObservedGeneration, s.Status.Memory = s.Generation, &v1alpha1.ObservedMemory{Volumes: volumes}
		return c.Status().Update(ctx, s)
	})
}

// mountedVolume is one as the agent reports it.
func mountedVolume(profile, name string) v1alpha1.ObservedMemoryVolume {
	return v1alpha1.ObservedMemoryVolume{Name: name, State: v1alpha1.MemoryVolumeMounted, Incarnation: "ab", Path: "/run/pgstorage/memory/" + profile + "/" + name + "/ab"}
}

// provisioned waits for the PersistentVolume of a claim, and binds it as Kubernetes does.
func provisioned(t *testing.T, c client.Client, claim *corev1.PersistentVolumeClaim) *corev1.PersistentVolume {
	t.Helper()
	v := get(t, c, client.ObjectKey{Name: "pvc-" + string(claim.UID)}, &corev1.PersistentVolume{})
	if err := c.Get(t.Context(), client.ObjectKeyFromObject(claim), claim); err != nil {
		t.Fatal(err)
	}
	claim.Spec.VolumeName = v.Name
	if err := c.Update(t.Context(), claim); err != nil {
		t.Fatal(err)
	}
	v.Status.Phase = corev1.VolumeBound
	if err := c.Status().Update(t.Context(), v); err != nil {
		t.Fatal(err)
	}
	return v
}

// released has the claim deleted, and the volume released as Kubernetes does.
func released(t *testing.T, c client.Client, claim *corev1.PersistentVolumeClaim, v *corev1.PersistentVolume) {
	t.Helper()
	claim.Finalizers = nil
	if err := errors.Join(c.Update(t.Context(), claim), client.IgnoreNotFound(c.Delete(t.Context(), claim))); err != nil {
		t.Fatal(err)
	}
	eventually(t, "the volume to be released", func(ctx context.Context) error {
		if err := c.Get(ctx, client.ObjectKeyFromObject(v), v); err != nil {
			return err
		}
		v.Status.Phase = corev1.VolumeReleased
		return c.Status().Update(ctx, v)
	})
}

// A volume in memory is declared, mounted and pinned before its PersistentVolume exists. Once
// its tmpfs is lost, the database says so and stays. With the claim, all of it ends.
func TestVolumeInMemoryFromClaimToItsEnd(t *testing.T) {
	c := apiserver.Client(t, config)
	manager.Start(t, config)
	p := inMemory(t, c, "mem")
	cr := ephemeral(t, c, "tests", p.Name)
	claim := claimed(t, c, cr, p.Name, "1Gi")
	name := "pvc-" + string(claim.UID)
	if got := declaredOn(t, c, p.Name, 1)[0]; got.Name != name || got.Size.String() != "1Gi" || got.Incarnation != "" {
		t.Errorf("declared is %+v", got)
	}
	absent(t, c, client.ObjectKey{Name: name}, &corev1.PersistentVolume{})
	simulatedMount(t, c, p.Name, mountedVolume(p.Name, name))
	v := provisioned(t, c, claim)
	if v.Spec.Local == nil || v.Spec.Local.Path != "/run/pgstorage/memory/mem/"+name+"/ab" || v.Spec.ClaimRef == nil || v.Spec.ClaimRef.UID != claim.UID || v.Spec.StorageClassName != p.Name {
		t.Errorf("the volume is %+v", v.Spec)
	}
	if got := declaredOn(t, c, p.Name, 1)[0]; got.Incarnation != "ab" {
		t.Errorf("a PersistentVolume refers to a tmpfs that is not pinned: %+v", got)
	}
	hasCondition(t, c, cr, v1alpha1.ConditionVolumesVerified, metav1.ConditionTrue, v1alpha1.ReasonVerified)

	simulatedMount(t, c, p.Name, v1alpha1.ObservedMemoryVolume{Name: name, State: v1alpha1.MemoryVolumeLost})
	hasCondition(t, c, cr, v1alpha1.ConditionVolumesVerified, metav1.ConditionFalse, v1alpha1.ReasonVolumeLost)
	if stalled := meta.FindStatusCondition(cr.Status.Conditions, v1alpha1.ConditionStalled); stalled == nil || !strings.Contains(stalled.Message, "create it again") {
		t.Errorf("Stalled is %+v", stalled)
	}

	released(t, c, claim, v)
	declaredOn(t, c, p.Name, 0)
	if err := c.Get(t.Context(), client.ObjectKeyFromObject(v), v); err != nil {
		t.Errorf("the PersistentVolume is gone before its tmpfs: %v", err)
	}
	simulatedMount(t, c, p.Name)
	// Without Kubernetes' own controllers, its finalizer that protects a volume in use stays.
	eventually(t, "the end of the PersistentVolume", func(ctx context.Context) error {
		err := c.Get(ctx, client.ObjectKeyFromObject(v), v)
		if apierrors.IsNotFound(err) || err == nil && v.DeletionTimestamp != nil && !slices.ContainsFunc(v.Finalizers, func(f string) bool { return strings.HasPrefix(f, "external-provisioner") }) {
			return nil
		}
		return errors.Join(err, fmt.Errorf("it has %v", v.Finalizers))
	})
}

// The loss of a volume whose claim the Cluster of a read pool does not control does not clone
// the pool again.
func TestForeignClaimDoesNotCloneAPoolAgain(t *testing.T) {
	c := apiserver.Client(t, config)
	w := &writes{}
	manager.Start(t, w.into(config))
	ns := namespace(t, c)
	w.within = "/namespaces/" + ns + "/"
	p := inMemory(t, c, "mem-foreign")
	storage(t, c, "mem-source")
	cr := cluster(ns, "shop", "mem-source")
	cr.Spec.ReadPools = []v1alpha1.ReadPool{{Name: "fast", Profile: p.Name}}
	create(t, c, cr)
	simulatedHealthy(t, c, client.ObjectKeyFromObject(cr))
	pool := get(t, c, client.ObjectKey{Namespace: ns, Name: "shop-fast"}, &v1alpha1.PgStorageCluster{})
	simulatedHealthy(t, c, client.ObjectKeyFromObject(pool))
	own, kept := claimed(t, c, pool, p.Name, "1Gi"), claimOf(pool, "shop-fast-9", p.Name, "512Mi")
	create(t, c, kept)
	declaredOn(t, c, p.Name, 2)
	mounted, lost := mountedVolume(p.Name, "pvc-"+string(own.UID)), mountedVolume(p.Name, "pvc-"+string(kept.UID))
	simulatedMount(t, c, p.Name, mounted, lost)
	provisioned(t, c, own)
	provisioned(t, c, kept)
	hasCondition(t, c, pool, v1alpha1.ConditionVolumesVerified, metav1.ConditionTrue, v1alpha1.ReasonVerified)

	simulatedMount(t, c, p.Name, mounted, v1alpha1.ObservedMemoryVolume{Name: lost.Name, State: v1alpha1.MemoryVolumeLost})
	settled(t, w)
	now := &v1alpha1.PgStorageCluster{}
	if err := c.Get(t.Context(), client.ObjectKeyFromObject(pool), now); err != nil || now.UID != pool.UID || !now.DeletionTimestamp.IsZero() {
		t.Fatalf("%v, pool %s is deleted at %v, it was %s", err, now.UID, now.DeletionTimestamp, pool.UID)
	}
	hasCondition(t, c, pool, v1alpha1.ConditionVolumesVerified, metav1.ConditionTrue, v1alpha1.ReasonVerified)
}

// givenBack waits until a claim has no node, and checks that it lost nothing else.
func givenBack(t *testing.T, c client.Client, claim *corev1.PersistentVolumeClaim) {
	t.Helper()
	want := claim.DeepCopy()
	delete(want.Annotations, naming.AnnotationSelectedNode)
	eventually(t, "the claim without a node", func(ctx context.Context) error {
		if err := c.Get(ctx, client.ObjectKeyFromObject(claim), claim); err != nil {
			return err
		}
		if node := claim.Annotations[naming.AnnotationSelectedNode]; node != "" {
			return fmt.Errorf("it has %s", node)
		}
		return nil
	})
	if diff := cmp.Diff(want.Annotations, claim.Annotations); diff != "" {
		t.Errorf("annotations: %s", diff)
	}
	if diff := cmp.Diff(want.Labels, claim.Labels); diff != "" {
		t.Errorf("labels: %s", diff)
	}
	if diff := cmp.Diff(want.Finalizers, claim.Finalizers); diff != "" || len(want.Finalizers) == 0 {
		t.Errorf("finalizers: %s", diff)
	}
	if diff := cmp.Diff(want.OwnerReferences, claim.OwnerReferences); diff != "" || len(want.OwnerReferences) == 0 {
		t.Errorf("owners: %s", diff)
	}
	if diff := cmp.Diff(want.Spec, claim.Spec); diff != "" {
		t.Errorf("spec: %s", diff)
	}
}

// A node without room is given back to the scheduler, with the sum.
func TestClaimWithoutRoomChoosesAnotherNode(t *testing.T) {
	c := apiserver.Client(t, config)
	manager.Start(t, config)
	p := inMemory(t, c, "mem-full")
	claim := claimed(t, c, ephemeral(t, c, "large", p.Name), p.Name, "3Gi")
	givenBack(t, c, claim)
	declaredOn(t, c, p.Name, 0)
	eventually(t, "an event with the sum", func(ctx context.Context) error {
		list := &corev1.EventList{}
		if err := c.List(ctx, list, client.InNamespace(claim.Namespace)); err != nil {
			return err
		}
		for _, e := range list.Items {
			if e.InvolvedObject.Name == claim.Name && strings.Contains(e.Message, "spec.memory.maxPerNode of the profile, 2Gi") {
				return nil
			}
		}
		return fmt.Errorf("%d events", len(list.Items))
	})
}

// A node that is gone, or is not the profile's any more, is given back to the scheduler.
func TestClaimOnANodeWithoutTheProfileChoosesAnother(t *testing.T) {
	c := apiserver.Client(t, config)
	manager.Start(t, config)
	for name, remove := range map[string]func(t *testing.T, node *corev1.Node){
		"mem-gone": func(t *testing.T, node *corev1.Node) {
			if err := c.Delete(t.Context(), node); err != nil {
				t.Fatal(err)
			}
		},
		"mem-unlabelled": func(t *testing.T, node *corev1.Node) {
			changed(t, c, node, func() { delete(node.Labels, "test") })
		},
	} {
		t.Run(name, func(t *testing.T) {
			p := inMemory(t, c, name)
			cr := ephemeral(t, c, "moved", p.Name)
			remove(t, get(t, c, client.ObjectKey{Name: name}, &corev1.Node{}))
			gone(t, c, client.ObjectKey{Name: naming.NodeStorage(name, name)}, &v1alpha1.PgNodeStorage{})
			givenBack(t, c, claimed(t, c, cr, name, "1Gi"))
		})
	}
}

// A manager that is cut off after any of its writes leaves what the next one completes.
func TestProvisioningIsCutAfterEveryWrite(t *testing.T) {
	c := apiserver.Client(t, config)
	for cut, ended := int64(1), false; !ended; cut++ {
		t.Run(fmt.Sprintf("write %d", cut), func(t *testing.T) {
			profile := fmt.Sprintf("mem-cut-%d", cut)
			stop := manager.Start(t, config)
			p := inMemory(t, c, profile)
			cr := ephemeral(t, c, "tests", p.Name)
			stop()
			claim := claimed(t, c, cr, p.Name, "1Gi")
			w := &writes{failAfter: cut, within: naming.NodeStorage(profile, profile), or: "/api/v1/persistentvolumes"}
			stop = manager.Start(t, w.into(config))
			name := "pvc-" + string(claim.UID)
			declaredOn(t, c, p.Name, 1)
			simulatedMount(t, c, p.Name, mountedVolume(p.Name, name))
			eventually(t, "the cut or the PersistentVolume", func(ctx context.Context) error {
				if w.count.Load() > cut {
					return nil
				}
				ended = c.Get(ctx, client.ObjectKey{Name: name}, &corev1.PersistentVolume{}) == nil
				if !ended {
					return fmt.Errorf("%d writes", w.count.Load())
				}
				return nil
			})
			stop()
			manager.Start(t, config)
			provisioned(t, c, claim)
			if got := declaredOn(t, c, p.Name, 1)[0]; got.Name != name || got.Incarnation != "ab" {
				t.Errorf("declared is %+v", got)
			}
			hasCondition(t, c, cr, v1alpha1.ConditionVolumesVerified, metav1.ConditionTrue, v1alpha1.ReasonVerified)
		})
	}
}
