//go:build e2eceph

package e2eceph

import (
	"context"
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/pgstorage/pgstorage/api/v1alpha1"
	"github.com/pgstorage/pgstorage/internal/operator/profile/cephrbd/rook"
	"github.com/pgstorage/pgstorage/internal/testing/faults"
	"github.com/pgstorage/pgstorage/internal/testing/live"
)

// pool is the ZFS pool of the machine, whose label hack/zfs-node.sh sets.
const pool = "tank"

// TestZvols has all layers of a database on one machine: Postgres, an image that the machine's
// kernel maps, OSDs, zvols and a pool. The mon and the mgr are on another node.
func TestZvols(t *testing.T) {
	create(t, &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: namespace}})
	j := &journey{profile: follow(t, profileConditions), report: &faults.Report{Seconds: stalls}}
	j.report.WhenDone(t, os.Getenv("PGSTORAGE_CEPH_REPORT"))
	step := live.InTurn(t)
	step("from a blank disk to OSDs on zvols", j.blankDiskToZvols)
	step("the zvols are what the profile says", zvolsAsDeclared)
	step("a database on an image", j.databaseOnZvols)
	step("deletion ends the OSDs and leaves the pool", deletionLeavesThePool)
}

// onZvols changes the profile of the other test to zvols of one machine, whose OSDs are its
// failure domains.
func onZvols() *v1alpha1.PgStorageProfile {
	p := profile()
	p.Spec.NodeSelector = map[string]string{"pgstorage.dev/pool": pool}
	ceph := p.Spec.CephRBD
	ceph.FailureDomain = "osd"
	ceph.Pool = v1alpha1.CephPool{Size: new(int32(2))}
	ceph.Cluster.OSDs.Count = new(int32(2))
	ceph.Cluster.OSDs.Spread = "Preferred"
	ceph.Cluster.Backing = v1alpha1.CephBacking{ZFS: &v1alpha1.CephZFSBacking{
		ARCMax: new(resource.MustParse("256Mi")),
		Pool: v1alpha1.CephZFSPool{
			Name:   pool,
			Create: &v1alpha1.CephZFSPoolCreate{Vdevs: []v1alpha1.CephZFSVdev{{Devices: []v1alpha1.ZFSDevice{{Path: "/dev/disk/by-id/virtio-" + pool}}}}},
		},
	}}
	return p
}

// blankDiskToZvols: the mon and the mgr go to the node that is not emulated.
func (j *journey) blankDiskToZvols(t *testing.T) {
	if err := helm("agent.enabled=true", `agent.nodeSelector.pgstorage\.dev/pool=`+pool); err != nil {
		t.Fatal(err)
	}
	kubectl(t, "cordon", machineNode, home, victim)
	begin := time.Now()
	create(t, onZvols())
	patientWithOSDs(t)
	podsReady(t, "rook-ceph-mgr", 1)
	kubectl(t, "uncordon", machineNode, home, victim)
	podsReady(t, "rook-ceph-osd", 2)
	for _, shown := range [][2]string{
		{v1alpha1.ConditionNodesReady, v1alpha1.ReasonNodesReady},
		{v1alpha1.ConditionBackingReady, v1alpha1.ReasonStorageClassApplied},
		{v1alpha1.ConditionBackingVerified, v1alpha1.ReasonVerified},
		{v1alpha1.ConditionCephReady, v1alpha1.ReasonCephReady},
		{v1alpha1.ConditionPoolVerified, v1alpha1.ReasonPoolVerified},
	} {
		j.profile.shows(t, begin, shown[0], shown[1])
		j.profile.log(t, begin, shown[0])
	}
	t.Logf("an image could be made %s after the profile was created", time.Since(begin).Round(time.Second))
	create(t, driver(), tools())
	podReady(t, toolsName)
	j.profileReady(t)
}

// patientWithOSDs ends Rook's probes of OSDs, as an administrator may. Each starts a Python
// program, which an emulated processor does not end in its five seconds, and the OSD is killed.
func patientWithOSDs(t *testing.T) {
	t.Helper()
	const none = `{"spec":{"healthCheck":{"livenessProbe":{"osd":{"disabled":true}},"startupProbe":{"osd":{"disabled":true}}}}}`
	eventually(t, "the CephCluster to exist", func(ctx context.Context) error {
		_, err := command(ctx, "kubectl", "-n", rookNamespace, "patch", "cephcluster", "rook-ceph", "--type=merge", "--patch", none)
		return err
	})
}

// zvolsAsDeclared asks ZFS itself. The status must count the same zvols; that the agent compared
// their properties is what BackingVerified says.
func zvolsAsDeclared(t *testing.T) {
	agents := &v1alpha1.PgNodeStorage{}
	if err := c.Get(t.Context(), keyOf("", profileName+"."+machineNode), agents); err != nil {
		t.Fatal(err)
	}
	out := onMachine(t, "zfs", "list", "-Hp", "-t", "volume", "-o", "name,volsize,volblocksize,refreservation,compression,primarycache")
	zvols := strings.Split(out, "\n")
	if len(zvols) != 2 || len(agents.Status.Volumes) != 2 {
		t.Fatalf("ZFS has %d zvols, the status %d:\n%s", len(zvols), len(agents.Status.Volumes), out)
	}
	for _, zvol := range zvols {
		f := strings.Split(zvol, "\t")
		if !strings.HasPrefix(f[0], pool+"/pgblock/") || f[1] != fmt.Sprint(5<<30) || f[2] != "4096" || f[4] != "lz4" || f[5] != "metadata" {
			t.Errorf("zvol %s", zvol)
		}
		if f[3] == "0" {
			t.Errorf("zvol %s is thin: its OSD gets errors when the pool is full", f[0])
		}
	}
}

// onMachine runs a program of the machine. The pod of zfs-localpv has its file system.
func onMachine(t *testing.T, argv ...string) string {
	t.Helper()
	return kubectl(t, append([]string{"-n", "openebs", "exec", "daemonset/openebs-zfs-node", "-c", "openebs-zfs-plugin", "--", "chroot", "/host", "/sbin/" + argv[0]}, argv[1:]...)...)
}

// databaseOnZvols: a power cut takes Postgres, the client of Ceph, both copies and ZFS at once.
func (j *journey) databaseOnZvols(t *testing.T) {
	allowCiphers(t, "aes,aes256k")
	cr := j.databaseOnMappedImage(t)
	j.report.Versions = versions(t, psql(t, cr, "SHOW server_version")) + ", ZFS " + number.FindString(onMachine(t, "zfs", "version"))
	j.profile.shows(t, time.Now(), v1alpha1.ConditionFailuresIndependent, v1alpha1.ReasonSharedNodes)
	j.machineFaults(t, cr, "a mapped image on zvols", machineNode, 2)
	j.unmap(t, cr)
}

// deletionLeavesThePool: the pool may hold what the operator did not create.
func deletionLeavesThePool(t *testing.T) {
	if err := c.Delete(t.Context(), profile()); err != nil {
		t.Fatal(err)
	}
	kubectl(t, "-n", rookNamespace, "delete", "pod", toolsName, "--wait=false")
	gone(t, rookObject(rook.CephClusterKind, "rook-ceph"))
	gone(t, profile())
	gone(t, &storagev1.StorageClass{ObjectMeta: metav1.ObjectMeta{Name: profileName}})
	eventually(t, "zfs-localpv to destroy the zvols", func(ctx context.Context) error {
		volumes := &corev1.PersistentVolumeList{}
		if err := c.List(ctx, volumes); err != nil {
			return err
		}
		for i := range volumes.Items {
			if v := &volumes.Items[i]; v.Spec.StorageClassName == profileName+"-block" {
				return fmt.Errorf("volume %s is there", v.Name)
			}
		}
		return nil
	})
	if out := onMachine(t, "zfs", "list", "-H", "-t", "volume", "-o", "name"); out != "" {
		t.Errorf("zvols are left: %s", out)
	}
	if out := onMachine(t, "zpool", "list", "-H", "-o", "name"); out != pool {
		t.Errorf("pools of the machine: %q", out)
	}
}
