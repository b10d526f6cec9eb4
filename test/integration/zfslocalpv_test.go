package integration

import (
	"context"
	"fmt"
	"strings"
	"testing"

	cnpgv1 "github.com/cloudnative-pg/cloudnative-pg/api/v1"
	corev1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller/controllerutil"

	"github.com/pgstorage/pgstorage/api/v1alpha1"
	"github.com/pgstorage/pgstorage/internal/kube/naming"
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

// The agent of one node reports more than the status of the profile may contain. The status
// of every other node, and of later generations, is written nevertheless.
func TestALongMessageOfOneAgentDoesNotBlockTheStatus(t *testing.T) {
	c := apiserver.Client(t, config)
	manager.Start(t, config)
	for _, name := range []string{"verbose-1", "verbose-2"} {
		simulatedZFSDriver(t, c, simulatedNode(t, c, name, map[string]string{"test": "verbose"}), "tank")
	}
	p := zfsProfile("verbose", nil)
	create(t, c, p)
	failed := metav1.Condition{Type: v1alpha1.ConditionReady, Status: metav1.ConditionFalse, Reason: v1alpha1.ReasonPoolSuspended, Message: strings.Repeat("x", 30<<10)}
	reported := func() {
		t.Helper()
		simulatedAgent(t, c, "verbose", "verbose-2", agentReady())
		simulatedAgent(t, c, "verbose", "verbose-1", failed)
		profileSays(t, c, p, v1alpha1.ConditionNodesReady, v1alpha1.ReasonPoolSuspended)
		if n := p.Status.Nodes; p.Status.ObservedGeneration != p.Generation || len(n) != 2 || len(n[0].Message) != 4096 || n[1].Ready != metav1.ConditionTrue {
			t.Errorf("generation %d of %d, nodes %.200v", p.Status.ObservedGeneration, p.Generation, n)
		}
	}
	reported()
	before := p.DeepCopy()
	p.Spec.ZFSLocalPV.Data.Compression = "zstd"
	if err := c.Patch(t.Context(), p, client.MergeFrom(before)); err != nil {
		t.Fatal(err)
	}
	profileSays(t, c, p, v1alpha1.ConditionNodesReady, v1alpha1.ReasonAgentNotSeen)
	reported()
}

// full_page_writes=off is applied while the volume is proved to be a dataset that
// never tears a page, and taken back when the proof is lost.
func TestFullPageWritesFollowTheProof(t *testing.T) {
	c := apiserver.Client(t, config)
	manager.Start(t, config)
	cr := withoutFullPages(t, c, "proof", 1)
	key := client.ObjectKeyFromObject(cr)
	fullPageWrites(t, c, cr, "on", "0 of 1 data volumes were read back")
	simulatedClaim(t, c, cr, "shop-1", "pvc-proof")
	simulatedHealthy(t, c, key)
	simulatedVolume(t, c, "proof", v1alpha1.ObservedVolume{Name: "tank/pgdata/pvc-proof", Type: "Filesystem", Recordsize: 8192})
	fullPageWrites(t, c, cr, "off", "1 of 1 data volumes")
	hasCondition(t, c, cr, v1alpha1.ConditionVolumesVerified, metav1.ConditionTrue, v1alpha1.ReasonVerified)
	if b := get(t, c, key, &cnpgv1.Cluster{}).Spec.Backup; b != nil {
		t.Errorf("one instance has the backup %+v", b)
	}
	simulatedVolume(t, c, "proof", v1alpha1.ObservedVolume{Name: "tank/pgdata/pvc-proof", Type: "Filesystem", Recordsize: 4096, Differs: []v1alpha1.ObservedProperty{{Name: "recordsize", Value: "4096", Source: "local"}}})
	fullPageWrites(t, c, cr, "on", "not a multiple of the page size")
	hasCondition(t, c, cr, v1alpha1.ConditionVolumesVerified, metav1.ConditionFalse, v1alpha1.ReasonVolumeDiffers)
}

// The agent of another node reports the volume with records that never tear a page. It is
// not believed; that of the volume's own node is.
func TestAnotherNodesAgentIsNotBelieved(t *testing.T) {
	c := apiserver.Client(t, config)
	manager.Start(t, config)
	cr := withoutFullPages(t, c, "liar", 1)
	victim := simulatedNode(t, c, "victim", map[string]string{"test": "liar"})
	simulatedZFSDriver(t, c, victim, "tank")
	simulatedAgent(t, c, "liar", "victim", agentReady())
	simulatedClaimOn(t, c, "victim", cr, "shop-1", "pvc-victim")
	simulatedHealthy(t, c, client.ObjectKeyFromObject(cr))
	simulatedVolume(t, c, "liar", v1alpha1.ObservedVolume{Name: "tank/pgdata/pvc-victim", Type: "Filesystem", Recordsize: 8192})
	fullPageWrites(t, c, cr, "on", "the agent of node victim has not read back volume pvc-victim")

	own := &v1alpha1.PgNodeStorage{}
	eventually(t, "the victim's own word", func(ctx context.Context) error {
		if err := c.Get(ctx, client.ObjectKey{Name: naming.NodeStorage("liar", "victim")}, own); err != nil {
			return err
		}
		own.Status.Volumes = []v1alpha1.ObservedVolume{{Name: "tank/pgdata/pvc-victim", Type: "Filesystem", Recordsize: 8192}}
		meta.SetStatusCondition(&own.Status.Conditions, metav1.Condition{Type: v1alpha1.ConditionPoolReady, Status: metav1.ConditionTrue, Reason: v1alpha1.ReasonPoolOnline, ObservedGeneration: own.Generation})
		return c.Status().Update(ctx, own)
	})
	fullPageWrites(t, c, cr, "off", "1 of 1 data volumes")
}

// With standbys, the manager reverts full_page_writes=off from the first sign of a change of
// the primary until every instance is ready again. Backups come from the primary throughout.
func TestFullPageWritesFollowTheInstances(t *testing.T) {
	c := apiserver.Client(t, config)
	manager.Start(t, config)
	cr := withoutFullPages(t, c, "instances", 2)
	key := client.ObjectKeyFromObject(cr)
	simulatedClaim(t, c, cr, "shop-1", "pvc-1")
	simulatedClaim(t, c, cr, "shop-2", "pvc-2")
	of := func(name string) v1alpha1.ObservedVolume {
		return v1alpha1.ObservedVolume{Name: "tank/pgdata/" + name, Type: "Filesystem", Recordsize: 8192}
	}
	simulatedVolume(t, c, "instances", of("pvc-1"), of("pvc-2"))
	fullPageWrites(t, c, cr, "on", "0 of 2 instances are ready")
	simulatedHealthy(t, c, key)
	fullPageWrites(t, c, cr, "off", "2 of 2 instances are ready")
	for _, step := range []struct {
		change      func(*cnpgv1.ClusterStatus)
		value, says string
	}{
		{func(s *cnpgv1.ClusterStatus) { s.TargetPrimary = cnpgv1.PendingFailoverMarker }, "on", "the primary is changing from shop-1 to pending"},
		{func(s *cnpgv1.ClusterStatus) {
			s.TargetPrimary, s.CurrentPrimary, s.ReadyInstances = "shop-2", "shop-2", 1
		}, "on", "1 of 2 instances are ready"},
		{func(s *cnpgv1.ClusterStatus) { s.ReadyInstances = 2 }, "off", "2 of 2 instances are ready"},
		{func(s *cnpgv1.ClusterStatus) { s.Phase = cnpgv1.PhaseSwitchover }, "on", "CloudNativePG: Switchover in progress"},
		{func(s *cnpgv1.ClusterStatus) { s.Phase = cnpgv1.PhaseApplyingConfiguration }, "off", "2 of 2 instances are ready"},
	} {
		simulatedStatus(t, c, key, step.change)
		fullPageWrites(t, c, cr, step.value, step.says)
		if b := get(t, c, key, &cnpgv1.Cluster{}).Spec.Backup; b == nil || b.Target != cnpgv1.BackupTargetPrimary {
			t.Errorf("backup %+v", b)
		}
	}
	before := cr.DeepCopy()
	cr.Spec.CNPG = &v1alpha1.CNPGOverrides{Spec: &runtime.RawExtension{Raw: []byte(`{"backup": {"target": "prefer-standby"}}`)}}
	if err := c.Patch(t.Context(), cr, client.MergeFrom(before)); err != nil {
		t.Fatal(err)
	}
	hasCondition(t, c, cr, v1alpha1.ConditionParametersAccepted, metav1.ConditionFalse, v1alpha1.ReasonOverrideRefused)
}

// withoutFullPages makes a cluster that asks for full_page_writes=off, on a profile
// of this name.
func withoutFullPages(t *testing.T, c client.Client, profile string, instances int32) *v1alpha1.PgStorageCluster {
	t.Helper()
	p := zfsProfile(profile, nil)
	create(t, c, p)
	simulatedZFSDriver(t, c, simulatedNode(t, c, profile, map[string]string{"test": profile}), "tank")
	simulatedAgent(t, c, profile, profile, agentReady())
	profileSays(t, c, p, v1alpha1.ConditionReady, v1alpha1.ReasonReady)
	cr := cluster(namespace(t, c), "shop", profile)
	cr.Spec.Instances = &instances
	cr.Spec.Postgres.Parameters = map[string]string{"full_page_writes": "off"}
	create(t, c, cr)
	return cr
}

// fullPageWrites waits until CloudNativePG's Cluster has the value, and our status
// it and the reason.
func fullPageWrites(t *testing.T, c client.Client, cr *v1alpha1.PgStorageCluster, value, says string) {
	t.Helper()
	const name = "full_page_writes"
	eventually(t, name+"="+value, func(ctx context.Context) error {
		database := &cnpgv1.Cluster{}
		if err := c.Get(ctx, client.ObjectKeyFromObject(cr), database); err != nil {
			return err
		}
		if got := database.Spec.PostgresConfiguration.Parameters[name]; got != value {
			return fmt.Errorf("the Cluster has %q", got)
		}
		if err := c.Get(ctx, client.ObjectKeyFromObject(cr), cr); err != nil {
			return err
		}
		for _, p := range cr.Status.Parameters {
			if p.Name == name && p.Value == value && strings.Contains(p.Reason, says) {
				return nil
			}
		}
		return fmt.Errorf("status.parameters has not %s %q: %+v", value, says, cr.Status.Parameters)
	})
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
func TestAPIServerAcceptsEveryZFSProfile(t *testing.T) {
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

// finalizer of the agent is added to or removed from an object that the manager
// writes too.
func finalizer(t *testing.T, c client.Client, s *v1alpha1.PgNodeStorage, change func(client.Object, string) bool) {
	t.Helper()
	changed(t, c, s, func() { change(s, naming.NodeStorageFinalizer) })
}

// A profile goes when its agents let go; classes go with it, except one that a
// volume still needs.
func TestDeletedZFSProfileWaitsForItsAgents(t *testing.T) {
	c := apiserver.Client(t, config)
	manager.Start(t, config)
	p := zfsProfile("leaving", nil)
	create(t, c, p)
	simulatedZFSDriver(t, c, simulatedNode(t, c, "leaving", map[string]string{"test": "leaving"}), "tank")
	s := simulatedAgent(t, c, "leaving", "leaving", agentReady())
	profileSays(t, c, p, v1alpha1.ConditionReady, v1alpha1.ReasonReady)
	finalizer(t, c, s, controllerutil.AddFinalizer)
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
	finalizer(t, c, s, controllerutil.RemoveFinalizer)
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
	finalizer(t, c, s, controllerutil.AddFinalizer)
	if err := c.Delete(t.Context(), node); err != nil {
		t.Fatal(err)
	}
	gone(t, c, client.ObjectKeyFromObject(s), s)
	profileSays(t, c, p, v1alpha1.ConditionReady, v1alpha1.ReasonNoNodeSelected)
}

// The GUID of a node's pool survives its PgNodeStorage and its Node. The manager passes it to
// the agent with the next object of the node, until an administrator abandons the pool.
func TestProfileRemembersPoolsUntilAbandoned(t *testing.T) {
	c := apiserver.Client(t, config)
	manager.Start(t, config)
	p := zfsProfile("once", nil)
	create(t, c, p)
	node := simulatedNode(t, c, "once", map[string]string{"test": "once"})
	s := simulatedAgent(t, c, "once", "once", agentReady())
	unpooled := s.DeepCopy()
	s.Status.Pool = &v1alpha1.ObservedPool{Name: "tank", GUID: "42"}
	if err := c.Status().Patch(t.Context(), s, client.MergeFrom(unpooled)); err != nil {
		t.Fatal(err)
	}
	remembers := func(guid v1alpha1.PoolGUID) {
		t.Helper()
		eventually(t, "the record of pool "+string(guid), func(ctx context.Context) error {
			if err := c.Get(ctx, client.ObjectKeyFromObject(p), p); err != nil {
				return err
			}
			if len(p.Status.Pools) != 1 || p.Status.Pools[0] != (v1alpha1.ProfilePool{Node: "once", GUID: guid}) {
				return fmt.Errorf("%+v", p.Status.Pools)
			}
			return nil
		})
	}
	tells := func(guid v1alpha1.PoolGUID) {
		t.Helper()
		eventually(t, "a PgNodeStorage that is told "+string(guid), func(ctx context.Context) error {
			again := &v1alpha1.PgNodeStorage{}
			if err := c.Get(ctx, client.ObjectKeyFromObject(s), again); err != nil {
				return err
			}
			if again.Spec.Pool.GUID != guid {
				return fmt.Errorf("told %q", again.Spec.Pool.GUID)
			}
			return nil
		})
	}
	remembers("42")
	tells("")
	deleted(t, c, s)
	remembers("42")
	tells("42")
	deleted(t, c, node)
	gone(t, c, client.ObjectKeyFromObject(s), &v1alpha1.PgNodeStorage{})
	remembers("42")
	simulatedNode(t, c, "once", map[string]string{"test": "once"})
	tells("42")

	before := p.DeepCopy()
	p.Spec.ZFSLocalPV.Pool.AbandonedGUIDs = []v1alpha1.PoolGUID{"42"}
	if err := c.Patch(t.Context(), p, client.MergeFrom(before)); err != nil {
		t.Fatal(err)
	}
	tells("")
	s = simulatedAgent(t, c, "once", "once", agentReady())
	unpooled = s.DeepCopy()
	s.Status.Pool = &v1alpha1.ObservedPool{Name: "tank", GUID: "44"}
	if err := c.Status().Patch(t.Context(), s, client.MergeFrom(unpooled)); err != nil {
		t.Fatal(err)
	}
	remembers("44")
}
