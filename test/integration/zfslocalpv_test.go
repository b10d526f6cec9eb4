package integration

import (
	"context"
	"fmt"
	"testing"

	cnpgv1 "github.com/cloudnative-pg/cloudnative-pg/api/v1"
	corev1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller/controllerutil"

	"github.com/pgstorage/pgstorage/api/v1alpha1"
	"github.com/pgstorage/pgstorage/internal/naming"
	"github.com/pgstorage/pgstorage/internal/testing/apiserver"
	"github.com/pgstorage/pgstorage/internal/testing/manager"
)

func zfsProfile(name string, change func(*v1alpha1.ZFSLocalPVProfile)) *v1alpha1.PgStorageProfile {
	z := &v1alpha1.ZFSLocalPVProfile{Pool: v1alpha1.ZFSPool{Name: "tank"}}
	if change != nil {
		change(z)
	}
	return &v1alpha1.PgStorageProfile{
		ObjectMeta: metav1.ObjectMeta{Name: name},
		Spec:       v1alpha1.PgStorageProfileSpec{Type: v1alpha1.ProfileTypeZFSLocalPV, NodeSelector: map[string]string{"test": name}, ZFSLocalPV: z},
	}
}

func profileSays(t *testing.T, c client.Client, p *v1alpha1.PgStorageProfile, kind, reason string) metav1.Condition {
	t.Helper()
	var found metav1.Condition
	eventually(t, kind+" "+reason, func(ctx context.Context) error {
		if err := c.Get(ctx, client.ObjectKeyFromObject(p), p); err != nil {
			return err
		}
		got := meta.FindStatusCondition(p.Status.Conditions, kind)
		if got == nil || got.Reason != reason || got.ObservedGeneration != p.Generation {
			return fmt.Errorf("%+v", p.Status.Conditions)
		}
		found = *got
		return nil
	})
	return found
}

// From bare nodes to a database whose volumes come from the profile's classes.
func TestZFSProfileFromNodesToDatabase(t *testing.T) {
	c := apiserver.Client(t, config)
	manager.Start(t, config)
	p := zfsProfile("zfs", nil)
	create(t, c, p)
	if got := profileSays(t, c, p, v1alpha1.ConditionReady, v1alpha1.ReasonNoNodeSelected); got.Message != "spec.nodeSelector: no node has the labels test=zfs; label one with kubectl label node NAME test=zfs" {
		t.Errorf("message %q", got.Message)
	}
	node := simulatedNode(t, c, "zfs-node", map[string]string{"test": "zfs"})
	profileSays(t, c, p, v1alpha1.ConditionNodesReady, v1alpha1.ReasonAgentNotSeen)
	s := simulatedAgent(t, c, "zfs", "zfs-node", agentReady())
	if len(s.OwnerReferences) != 0 {
		t.Errorf("a PgNodeStorage has ownerReferences: %v", s.OwnerReferences)
	}
	absent(t, c, client.ObjectKey{Name: "zfs"}, &storagev1.StorageClass{})
	profileSays(t, c, p, v1alpha1.ConditionReady, v1alpha1.ReasonDriverNotOnNode)
	simulatedZFSDriver(t, c, node, "tank")
	profileSays(t, c, p, v1alpha1.ConditionReady, v1alpha1.ReasonReady)

	class := get(t, c, client.ObjectKey{Name: "zfs"}, &storagev1.StorageClass{})
	if class.Parameters["poolname"] != "tank/pgdata" || class.Parameters["fstype"] != "zfs" || *class.VolumeBindingMode != storagev1.VolumeBindingWaitForFirstConsumer {
		t.Errorf("class %+v", class)
	}
	if got := class.AllowedTopologies[0].MatchLabelExpressions[0]; got.Key != "openebs.io/nodeid" || len(got.Values) != 1 || got.Values[0] != "zfs-node" {
		t.Errorf("topology %+v", got)
	}
	cr := cluster(namespace(t, c), "shop", "zfs")
	wal := resource.MustParse("1Gi")
	cr.Spec.Storage.WALSize = &wal
	create(t, c, cr)
	database := get(t, c, client.ObjectKeyFromObject(cr), &cnpgv1.Cluster{})
	if got := *database.Spec.StorageConfiguration.StorageClass + " " + *database.Spec.WalStorage.StorageClass; got != "zfs zfs-wal" {
		t.Errorf("classes %s", got)
	}
	for _, name := range []string{"wal_init_zero", "wal_recycle"} {
		if got := database.Spec.PostgresConfiguration.Parameters[name]; got != "off" {
			t.Errorf("%s %q", name, got)
		}
	}
}

// full_page_writes=off is applied while the volume is proved to be a dataset that
// never tears a page, and taken back when the proof is lost.
func TestFullPageWritesFollowTheProof(t *testing.T) {
	c := apiserver.Client(t, config)
	manager.Start(t, config)
	p := zfsProfile("proof", nil)
	create(t, c, p)
	simulatedZFSDriver(t, c, simulatedNode(t, c, "proof", map[string]string{"test": "proof"}), "tank")
	simulatedAgent(t, c, "proof", "proof", agentReady())
	profileSays(t, c, p, v1alpha1.ConditionReady, v1alpha1.ReasonReady)
	cr := cluster(namespace(t, c), "shop", "proof")
	cr.Spec.Postgres.Parameters = map[string]string{"full_page_writes": "off"}
	create(t, c, cr)
	key := client.ObjectKeyFromObject(cr)
	applied := func(want string) {
		t.Helper()
		eventually(t, "full_page_writes="+want, func(ctx context.Context) error {
			database := &cnpgv1.Cluster{}
			if err := c.Get(ctx, key, database); err != nil {
				return err
			}
			if got := database.Spec.PostgresConfiguration.Parameters["full_page_writes"]; got != want {
				return fmt.Errorf("%q", got)
			}
			return nil
		})
	}
	applied("on")
	simulatedClaim(t, c, cr, "shop-1", "pvc-proof")
	simulatedHealthy(t, c, key)
	simulatedVolume(t, c, "proof", v1alpha1.ObservedVolume{Name: "tank/pgdata/pvc-proof", Type: "Filesystem", Recordsize: 8192})
	applied("off")
	hasCondition(t, c, cr, v1alpha1.ConditionVolumesVerified, metav1.ConditionTrue, v1alpha1.ReasonVerified)
	simulatedVolume(t, c, "proof", v1alpha1.ObservedVolume{Name: "tank/pgdata/pvc-proof", Type: "Filesystem", Recordsize: 4096, Differs: []v1alpha1.ObservedProperty{{Name: "recordsize", Value: "4096", Source: "local"}}})
	applied("on")
	hasCondition(t, c, cr, v1alpha1.ConditionVolumesVerified, metav1.ConditionFalse, v1alpha1.ReasonVolumeDiffers)
}

// A second node joins, and one that fails is taken out of the classes.
func TestZFSProfileFollowsItsNodes(t *testing.T) {
	c := apiserver.Client(t, config)
	manager.Start(t, config)
	p := zfsProfile("follow", nil)
	create(t, c, p)
	for _, name := range []string{"follow-1", "follow-2"} {
		simulatedZFSDriver(t, c, simulatedNode(t, c, name, map[string]string{"test": "follow"}), "tank")
		simulatedAgent(t, c, "follow", name, agentReady())
	}
	values := func(want ...string) {
		t.Helper()
		eventually(t, fmt.Sprintf("nodes %v in the class", want), func(ctx context.Context) error {
			class := &storagev1.StorageClass{}
			if err := c.Get(ctx, client.ObjectKey{Name: "follow"}, class); err != nil {
				return err
			}
			if got := class.AllowedTopologies[0].MatchLabelExpressions[0].Values; fmt.Sprint(got) != fmt.Sprint(want) {
				return fmt.Errorf("%v", got)
			}
			return nil
		})
	}
	values("follow-1", "follow-2")
	simulatedAgent(t, c, "follow", "follow-2",
		metav1.Condition{Type: v1alpha1.ConditionReady, Status: metav1.ConditionFalse, Reason: v1alpha1.ReasonPoolSuspended, Message: "pool tank is suspended"},
		metav1.Condition{Type: v1alpha1.ConditionStalled, Status: metav1.ConditionTrue, Reason: v1alpha1.ReasonPoolSuspended})
	values("follow-1")
	got := profileSays(t, c, p, v1alpha1.ConditionNodesReady, v1alpha1.ReasonPoolSuspended)
	if want := "1 of 2 nodes are not ready: follow-2: pool tank is suspended"; got.Message != want {
		t.Errorf("message %q, want %q", got.Message, want)
	}
	if !meta.IsStatusConditionTrue(p.Status.Conditions, v1alpha1.ConditionStalled) {
		t.Errorf("a person is not asked for: %+v", p.Status.Conditions)
	}
}

// Everything that every form of the profile renders is taken by the real API
// server with strict validation.
func TestZFSProfileForms(t *testing.T) {
	c := apiserver.Client(t, config)
	manager.Start(t, config)
	simulatedZFSDriver(t, c, simulatedNode(t, c, "forms", map[string]string{"test": "none"}), "tank")
	amount := func(s string) *resource.Quantity { q := resource.MustParse(s); return &q }
	for name, change := range map[string]func(*v1alpha1.ZFSLocalPVProfile){
		"adopt-only": nil,
		"create-mirror": func(z *v1alpha1.ZFSLocalPVProfile) {
			z.Pool.Create = &v1alpha1.ZFSPoolCreate{
				Vdevs:   []v1alpha1.ZFSVdev{{Type: v1alpha1.VdevMirror, Devices: []v1alpha1.ZFSDevice{{Path: "/dev/disk/by-id/a"}, {Path: "/dev/disk/by-id/b"}}}},
				Caches:  []v1alpha1.ZFSVdev{{Selector: &v1alpha1.ZFSDeviceSelector{Count: 1, MinSize: amount("1Gi"), Model: "X*"}}},
				Special: []v1alpha1.ZFSVdev{{Type: v1alpha1.VdevMirror, Selector: &v1alpha1.ZFSDeviceSelector{Count: 2, Transport: "nvme"}}},
			}
		},
		"separate-wal": func(z *v1alpha1.ZFSLocalPVProfile) {
			z.WAL.Recordsize, z.WAL.Reservation, z.ARCMax = "128k", amount("10Gi"), amount("2Gi")
		},
		"block": func(z *v1alpha1.ZFSLocalPVProfile) { z.Block = &v1alpha1.ZFSBlock{} },
	} {
		t.Run(name, func(t *testing.T) {
			node := &corev1.Node{}
			get(t, c, client.ObjectKey{Name: "forms"}, node)
			before := node.DeepCopy()
			node.Labels["test"] = name
			if err := c.Patch(t.Context(), node, client.MergeFrom(before)); err != nil {
				t.Fatal(err)
			}
			p := zfsProfile(name, change)
			create(t, c, p)
			simulatedAgent(t, c, name, "forms", agentReady())
			profileSays(t, c, p, v1alpha1.ConditionReady, v1alpha1.ReasonReady)
			if change != nil && p.Spec.ZFSLocalPV.Block != nil {
				class := get(t, c, client.ObjectKey{Name: naming.BlockClass(name)}, &storagev1.StorageClass{})
				if _, set := class.Parameters["fstype"]; set || class.Parameters["volblocksize"] != "16k" || class.Parameters["thinprovision"] != "no" {
					t.Errorf("block class %v", class.Parameters)
				}
			}
			snapshots := &unstructured.Unstructured{}
			snapshots.SetAPIVersion("snapshot.storage.k8s.io/v1")
			snapshots.SetKind("VolumeSnapshotClass")
			get(t, c, client.ObjectKey{Name: name}, snapshots)
		})
	}
}

// A profile goes when its agents let go; classes go with it, except one that a
// volume still needs.
func TestZFSProfileDeletion(t *testing.T) {
	c := apiserver.Client(t, config)
	manager.Start(t, config)
	p := zfsProfile("leaving", nil)
	create(t, c, p)
	simulatedZFSDriver(t, c, simulatedNode(t, c, "leaving", map[string]string{"test": "leaving"}), "tank")
	s := simulatedAgent(t, c, "leaving", "leaving", agentReady())
	profileSays(t, c, p, v1alpha1.ConditionReady, v1alpha1.ReasonReady)
	controllerutil.AddFinalizer(s, naming.NodeStorageFinalizer)
	if err := c.Update(t.Context(), s); err != nil {
		t.Fatal(err)
	}
	volume := &corev1.PersistentVolume{ObjectMeta: metav1.ObjectMeta{Name: "still-there"}, Spec: corev1.PersistentVolumeSpec{
		StorageClassName:       naming.WALClass("leaving"),
		Capacity:               corev1.ResourceList{corev1.ResourceStorage: resource.MustParse("1Gi")},
		AccessModes:            []corev1.PersistentVolumeAccessMode{corev1.ReadWriteOnce},
		PersistentVolumeSource: corev1.PersistentVolumeSource{HostPath: &corev1.HostPathVolumeSource{Path: "/nowhere"}},
	}}
	create(t, c, volume)
	if err := c.Delete(t.Context(), p); err != nil {
		t.Fatal(err)
	}
	got := profileSays(t, c, p, v1alpha1.ConditionReady, v1alpha1.ReasonDeleting)
	if want := "deletion waits for the agents of these nodes to let go of their pools, which stay: leaving"; got.Message != want {
		t.Errorf("message %q", got.Message)
	}
	get(t, c, client.ObjectKeyFromObject(s), s)
	controllerutil.RemoveFinalizer(s, naming.NodeStorageFinalizer)
	if err := c.Update(t.Context(), s); err != nil {
		t.Fatal(err)
	}
	gone(t, c, client.ObjectKeyFromObject(p), p)
	absent(t, c, client.ObjectKey{Name: naming.DataClass("leaving")}, &storagev1.StorageClass{})
	get(t, c, client.ObjectKey{Name: naming.WALClass("leaving")}, &storagev1.StorageClass{})
}

// A node that is gone for good does not hold its profile.
func TestZFSProfileForgetsADeadNode(t *testing.T) {
	c := apiserver.Client(t, config)
	manager.Start(t, config)
	p := zfsProfile("dead", nil)
	create(t, c, p)
	node := simulatedNode(t, c, "dead", map[string]string{"test": "dead"})
	s := simulatedAgent(t, c, "dead", "dead", agentReady())
	controllerutil.AddFinalizer(s, naming.NodeStorageFinalizer)
	if err := c.Update(t.Context(), s); err != nil {
		t.Fatal(err)
	}
	if err := c.Delete(t.Context(), node); err != nil {
		t.Fatal(err)
	}
	gone(t, c, client.ObjectKeyFromObject(s), s)
	profileSays(t, c, p, v1alpha1.ConditionReady, v1alpha1.ReasonNoNodeSelected)
}
