//go:build e2eceph

package e2eceph

import (
	"os"
	"strings"

	corev1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/pgstorage/pgstorage/api/v1alpha1"
)

const (
	namespace = "e2e-ceph"
	// profileName is that of the pool, too, and rbd-fuse serves only a pool of this name: its
	// options for another pool crash it.
	profileName = "rbd"
	toolsName   = "tools"
	// image in the pool, and what the database's volume is called after it.
	imageName = "pgdata"
)

// profile has one OSD on each of three nodes, on the block volumes of hack/ceph-nodes.sh. One
// mon and one mgr are what two processors bear.
func profile() *v1alpha1.PgStorageProfile {
	return &v1alpha1.PgStorageProfile{
		ObjectMeta: metav1.ObjectMeta{Name: profileName},
		Spec: v1alpha1.PgStorageProfileSpec{
			Type: v1alpha1.ProfileTypeCephRBD,
			CephRBD: &v1alpha1.CephRBDProfile{
				DeletionPolicy: v1alpha1.DeletionDelete,
				Cluster: &v1alpha1.CephCluster{
					Image:   os.Getenv("PGSTORAGE_CEPH_IMAGE"),
					Backing: v1alpha1.CephBacking{StorageClassName: "loop-block"},
					Mons:    v1alpha1.CephMons{Count: new(int32(1)), StorageClassName: "standard", Size: new(resource.MustParse("1Gi"))},
					Mgr:     v1alpha1.CephMgr{Count: new(int32(1))},
					OSDs: v1alpha1.CephOSDs{
						Count: new(int32(3)), Size: new(resource.MustParse("5Gi")),
						MemoryTarget: resource.MustParse("2Gi"), CPU: resource.MustParse("100m"),
					},
				},
			},
		},
	}
}

// driver stands in for ceph-csi: the profile requires the object, and nothing serves it.
func driver() *storagev1.CSIDriver {
	return &storagev1.CSIDriver{ObjectMeta: metav1.ObjectMeta{Name: rookNamespace + ".rbd.csi.ceph.com"}}
}

func database() *v1alpha1.PgStorageCluster {
	return &v1alpha1.PgStorageCluster{
		ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: "ledger"},
		Spec: v1alpha1.PgStorageClusterSpec{
			Profile:   profileName,
			Postgres:  v1alpha1.PostgresSpec{Version: "17"},
			Instances: new(int32(1)),
			Storage:   v1alpha1.ClusterStorage{Size: resource.MustParse("2Gi")},
			Resources: v1alpha1.ClusterResources{
				Requests: map[corev1.ResourceName]resource.Quantity{corev1.ResourceCPU: resource.MustParse("100m"), corev1.ResourceMemory: resource.MustParse("512Mi")},
				Limits:   map[corev1.ResourceName]resource.Quantity{corev1.ResourceMemory: resource.MustParse("512Mi")},
			},
			Workload:       v1alpha1.WorkloadOLTP,
			Durability:     v1alpha1.DurabilityLocal,
			DeletionPolicy: v1alpha1.DeletionDelete,
		},
	}
}

// configure writes the files that Ceph's programs read. Rook names its mons a=address,...
const configure = `
printf '[global]\nmon_host = %s\n[client.admin]\nkeyring = /etc/ceph/keyring\n' "$(sed 's/[a-z0-9_-]\+=//g' /mons/endpoints)" >/etc/ceph/ceph.conf
printf '[client.admin]\nkey = %s\n' "$(cat /secret/key)" >/etc/ceph/keyring
exec sleep infinity`

// tools is a pod on the database's node with the rights of Ceph's administrator. It mounts
// images for that node.
func tools() *corev1.Pod {
	host := func(name, path string) corev1.Volume {
		return corev1.Volume{Name: name, VolumeSource: corev1.VolumeSource{HostPath: &corev1.HostPathVolumeSource{Path: path, Type: new(corev1.HostPathDirectoryOrCreate)}}}
	}
	return &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Namespace: rookNamespace, Name: toolsName},
		Spec: corev1.PodSpec{
			NodeName: home, TerminationGracePeriodSeconds: new(int64(2)),
			Containers: []corev1.Container{{
				Name: "tools", Image: os.Getenv("PGSTORAGE_CEPH_IMAGE"), Command: []string{"bash", "-ec", configure},
				SecurityContext: &corev1.SecurityContext{Privileged: new(true)},
				ReadinessProbe: &corev1.Probe{
					PeriodSeconds: 1,
					ProbeHandler:  corev1.ProbeHandler{Exec: &corev1.ExecAction{Command: []string{"test", "-s", "/etc/ceph/keyring"}}},
				},
				VolumeMounts: []corev1.VolumeMount{
					{Name: "mons", MountPath: "/mons"}, {Name: "secret", MountPath: "/secret"}, {Name: "dev", MountPath: "/dev"},
					{Name: "images", MountPath: "/images", MountPropagation: new(corev1.MountPropagationBidirectional)},
				},
			}},
			Volumes: []corev1.Volume{
				{Name: "mons", VolumeSource: corev1.VolumeSource{ConfigMap: &corev1.ConfigMapVolumeSource{
					LocalObjectReference: corev1.LocalObjectReference{Name: "rook-ceph-mon-endpoints"}, Items: []corev1.KeyToPath{{Key: "data", Path: "endpoints"}},
				}}},
				{Name: "secret", VolumeSource: corev1.VolumeSource{Secret: &corev1.SecretVolumeSource{
					SecretName: "rook-ceph-mon", Items: []corev1.KeyToPath{{Key: "ceph-secret", Path: "key"}},
				}}},
				host("dev", "/dev"), host("images", "/var/lib/rbd-images"),
			},
		},
	}
}

// mountImage makes the image, and mounts it on the node as a file system.
var mountImage = strings.ReplaceAll(`
rbd create rbd/IMAGE --size 2G
mkdir -p /fuse /images/IMAGE
setsid rbd-fuse -f /fuse >/var/log/rbd-fuse.log 2>&1 </dev/null &
for i in $(seq 150); do [ -e /fuse/IMAGE ] && break; sleep 0.2; done
device=$(losetup -f --show /fuse/IMAGE)
mkfs.ext4 -q "$device"
mount "$device" /images/IMAGE`, "IMAGE", imageName)

// unmountImage undoes mountImage, and leaves the image.
var unmountImage = strings.ReplaceAll(`
umount /images/IMAGE
losetup -d $(losetup -n -O NAME -j /fuse/IMAGE)
for i in $(seq 150); do [ -z "$(losetup -j /fuse/IMAGE)" ] && break; sleep 0.2; done
umount /fuse`, "IMAGE", imageName)

// mounted is the volume of the profile's class on the mounted image.
func mounted() *corev1.PersistentVolume {
	return &corev1.PersistentVolume{
		ObjectMeta: metav1.ObjectMeta{Name: "rbd-" + imageName},
		Spec: corev1.PersistentVolumeSpec{
			StorageClassName: profileName, PersistentVolumeReclaimPolicy: corev1.PersistentVolumeReclaimRetain,
			Capacity:               corev1.ResourceList{corev1.ResourceStorage: resource.MustParse("2Gi")},
			AccessModes:            []corev1.PersistentVolumeAccessMode{corev1.ReadWriteOnce},
			PersistentVolumeSource: corev1.PersistentVolumeSource{Local: &corev1.LocalVolumeSource{Path: "/var/lib/rbd-images/" + imageName}},
			NodeAffinity: &corev1.VolumeNodeAffinity{Required: &corev1.NodeSelector{NodeSelectorTerms: []corev1.NodeSelectorTerm{{
				MatchExpressions: []corev1.NodeSelectorRequirement{{Key: corev1.LabelHostname, Operator: corev1.NodeSelectorOpIn, Values: []string{home}}},
			}}}},
		},
	}
}
