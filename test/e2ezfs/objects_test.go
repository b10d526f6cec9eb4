//go:build e2ezfs

package e2ezfs

import (
	"maps"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/pgstorage/pgstorage/api/v1alpha1"
	"github.com/pgstorage/pgstorage/internal/kube/naming"
)

const (
	namespace = "e2e-zfs"
	// profileName is that of the tutorials.
	profileName = "zfs-nvme"
	// device is the machine's blank disk.
	device = "/dev/disk/by-id/virtio-tank"
	gib    = 1 << 30
	arcMax = 256 << 20
)

// profile makes a pool of the blank disk. Where it can, it differs from the
// defaults of ZFS and from ours, so that nothing is right by chance.
func profile() *v1alpha1.PgStorageProfile {
	return &v1alpha1.PgStorageProfile{
		ObjectMeta: metav1.ObjectMeta{Name: profileName},
		Spec: v1alpha1.PgStorageProfileSpec{
			Type:         v1alpha1.ProfileTypeZFSLocalPV,
			NodeSelector: map[string]string{"pgstorage.dev/pool": pool},
			// Eleven databases at once share two processors here. A restart makes none of them faster.
			InstanceProbes: &v1alpha1.InstanceProbes{Reason: "emulated processors", Timeout: "60s", Liveness: "20m", Startup: "2h"},
			ZFSLocalPV: &v1alpha1.ZFSLocalPVProfile{
				Pool: v1alpha1.ZFSPool{
					Name:     pool,
					Autotrim: "on",
					Create:   &v1alpha1.ZFSPoolCreate{Vdevs: []v1alpha1.ZFSVdev{{Type: v1alpha1.VdevStripe, Devices: []v1alpha1.ZFSDevice{{Path: device}}}}},
				},
				Data: v1alpha1.ZFSDataDataset{
					Recordsize:     "8k",
					Secondarycache: "metadata",
					ZFSDatasetProperties: v1alpha1.ZFSDatasetProperties{
						Compression: "lz4", Relatime: "on", Dnodesize: "auto", RedundantMetadata: "most", Checksum: "fletcher4",
						Quota: resource.NewQuantity(12*gib, resource.BinarySI),
					},
				},
				WAL: v1alpha1.ZFSWALDataset{
					Recordsize: "64k",
					ZFSDatasetProperties: v1alpha1.ZFSDatasetProperties{
						Compression: "zle", Logbias: "throughput", Primarycache: "metadata",
						Reservation: resource.NewQuantity(2*gib, resource.BinarySI),
					},
				},
				ARCMax: resource.NewQuantity(arcMax, resource.BinarySI),
			},
		},
	}
}

// handedDown is what a volume must have of its parent, in the words of zfs get -p.
func handedDown(parent string) map[string]string {
	wanted := map[string]string{
		"recordsize": "8192", "compression": "lz4", "atime": "off", "relatime": "on", "logbias": "latency",
		"primarycache": "all", "secondarycache": "metadata", "xattr": "sa", "dnodesize": "auto",
		"redundant_metadata": "most", "checksum": "fletcher4", "sync": "standard", "special_small_blocks": "0", "dedup": "off",
	}
	if parent == naming.WALDataset(pool) {
		maps.Copy(wanted, map[string]string{
			"recordsize": "65536", "compression": "zle", "relatime": "off", "logbias": "throughput", "primarycache": "metadata",
			"secondarycache": "none", "dnodesize": "legacy", "redundant_metadata": "all", "checksum": "on",
		})
	}
	return wanted
}

// parentsOwn is what a parent has for itself.
func parentsOwn(parent string) map[string]string {
	if parent == naming.WALDataset(pool) {
		return map[string]string{"reservation": "2147483648", "canmount": "off", "mountpoint": "none"}
	}
	return map[string]string{"quota": "12884901888", "canmount": "off", "mountpoint": "none"}
}

func database() *v1alpha1.PgStorageCluster {
	walSize := resource.MustParse("1Gi")
	return &v1alpha1.PgStorageCluster{
		ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: "shop"},
		Spec: v1alpha1.PgStorageClusterSpec{
			Profile:  profileName,
			Postgres: v1alpha1.PostgresSpec{Version: "17"},
			Storage:  v1alpha1.ClusterStorage{Size: resource.MustParse("2Gi"), WALSize: &walSize},
			Resources: v1alpha1.ClusterResources{
				Requests: map[corev1.ResourceName]resource.Quantity{corev1.ResourceCPU: resource.MustParse("100m"), corev1.ResourceMemory: resource.MustParse("768Mi")},
				Limits:   map[corev1.ResourceName]resource.Quantity{corev1.ResourceMemory: resource.MustParse("768Mi")},
			},
			Workload:   v1alpha1.WorkloadOLTP,
			Durability: v1alpha1.DurabilityLocal,
			// Tests create PgBenchmarks of their own against it.
			BenchmarkPolicy: v1alpha1.BenchmarkAny,
			DeletionPolicy:  v1alpha1.DeletionDelete,
		},
	}
}

// insertLoop commits one row after another, and prints each only when Postgres has acknowledged
// it. It does not reuse the number of a row whose fate is unknown: after a cut, the next
// session starts with numbers of its own. It prints when each row was acknowledged, in seconds
// since 1970 by its own clock, which is that of the test. It ends when the table "stop" exists.
const insertLoop = `
set -o pipefail
session=0
until [ "$(psql -XAtq -c "SELECT to_regclass('stop') IS NOT NULL" 2>/dev/null)" = t ]; do
  session=$((session+1))
  for i in {1..100}; do
    echo "INSERT INTO acked VALUES ($((session*1000+i))) RETURNING 'ack ' || id;"
  done | timeout 30 stdbuf -oL psql -XAtq -v ON_ERROR_STOP=1 2>/dev/null | while read -r acknowledged; do
    echo "at $EPOCHREALTIME"
    echo "$acknowledged"
  done || { echo "cut $session"; sleep 1; }
done
echo done`

// loader is a pod that runs insertLoop.
func loader(shop *v1alpha1.PgStorageCluster) *corev1.Pod {
	return application(shop, "bash", "-c", insertLoop)
}

// application is a pod beside the node whose power is cut. It reaches the database as an
// application does.
func application(shop *v1alpha1.PgStorageCluster, command ...string) *corev1.Pod {
	from := func(env, key string) corev1.EnvVar {
		return corev1.EnvVar{Name: env, ValueFrom: &corev1.EnvVarSource{SecretKeyRef: &corev1.SecretKeySelector{
			LocalObjectReference: corev1.LocalObjectReference{Name: shop.Status.Secrets.Application}, Key: key,
		}}}
	}
	return &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Namespace: shop.Namespace, GenerateName: "loader-"},
		Spec: corev1.PodSpec{
			RestartPolicy: corev1.RestartPolicyNever,
			NodeSelector:  map[string]string{"node-role.kubernetes.io/control-plane": ""},
			Containers: []corev1.Container{{
				Name: "client", Image: shop.Status.Database.Image, Command: command,
				Env: []corev1.EnvVar{
					{Name: "PGHOST", Value: naming.ReadWriteService(shop.Name)}, {Name: "PGSSLMODE", Value: "require"},
					{Name: "PGCONNECT_TIMEOUT", Value: "5"},
					from("PGUSER", "username"), from("PGPASSWORD", "password"), from("PGDATABASE", "dbname"),
				},
			}},
		},
	}
}
