//go:build e2eceph

package e2eceph

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/pgstorage/pgstorage/api/v1alpha1"
	"github.com/pgstorage/pgstorage/internal/testing/live"
	"github.com/pgstorage/pgstorage/internal/testing/repository"
)

const (
	// machineNode is a virtual machine with a kernel of its own, which has the module rbd.
	machineNode = "zfs1"
	mappedImage = "mapped"
	mapperName  = "mapper"
)

// machineVerb runs hack/zfs-node.sh for the machine.
func machineVerb(t *testing.T, verb string, args ...string) {
	t.Helper()
	out, err := live.Command(t.Context(), 9*time.Minute, filepath.Join(repository.Root(), "hack", "zfs-node.sh"), append([]string{verb, machine, machineNode}, args...)...)
	if err != nil {
		t.Fatal(err, out)
	}
}

// machineJoins adds the node, and lets Ceph create keys that its kernel knows.
func (j *journey) machineJoins(t *testing.T) {
	machineVerb(t, "up", strings.Fields(os.Getenv("PGSTORAGE_MACHINE_IMAGES"))...)
	allowCiphers(t, "aes,aes256k")
}

// machineLeaves restores what machineJoins changed.
func (j *journey) machineLeaves(t *testing.T) {
	kubectl(t, "delete", "node", machineNode)
	machineVerb(t, "down")
	allowCiphers(t, "aes256k")
}

// allowCiphers are the types of keys that Ceph creates and accepts.
func allowCiphers(t *testing.T, types string) {
	t.Helper()
	mustCeph(t, "ceph", "mon", "set", "auth_allowed_ciphers", types)
}

// kernel puts a database on an image that a kernel has mapped. Its flushes go to the OSDs, so
// here is said what a power cut loses. An administrator maps the image, in place of ceph-csi.
func (j *journey) kernel(t *testing.T) {
	cr := j.databaseOnMappedImage(t)
	j.machineFaults(t, cr, "a mapped image", victim, 3)
	j.unmap(t, cr)
}

func (j *journey) databaseOnMappedImage(t *testing.T) *v1alpha1.PgStorageCluster {
	t.Helper()
	mapperKey(t)
	mustCeph(t, "rbd", "create", profileName+"/"+mappedImage, "--size", "2G")
	cr := database()
	cr.Name = "vault"
	// The machine's processors are emulated.
	begin := time.Now()
	create(t, mapper(t), mapped(), cr)
	ready(t, cr)
	t.Logf("the database was Ready %s after it was created", time.Since(begin).Round(time.Second))
	psql(t, cr, "CREATE EXTENSION IF NOT EXISTS amcheck")
	return cr
}

// machineFaults strikes Ceph below a database on the machine, and then the machine. One of the
// node's OSDs or more are deleted, of so many in all.
func (j *journey) machineFaults(t *testing.T, cr *v1alpha1.PgStorageCluster, volume, node string, osds int) {
	t.Helper()
	for _, f := range []struct {
		name   string
		strike func(*testing.T)
	}{
		{"an OSD's pod is deleted below " + volume, func(t *testing.T) {
			killed(t, rookNamespace, "app=rook-ceph-osd,topology-location-host="+node)
			podsReady(t, "rook-ceph-osd", osds)
		}},
		{"the power of a database's machine is cut above " + volume, machinePowerCut},
	} {
		t.Run(f.name, func(t *testing.T) { j.belowTheKernel(t, cr, f.name, f.strike) })
	}
	checked(t, cr)
}

func machinePowerCut(t *testing.T) {
	boot, err := live.BootID(t.Context(), c, machineNode)
	if err != nil {
		t.Fatal(err)
	}
	machineVerb(t, "cut")
	machineVerb(t, "boot")
	eventually(t, "the machine to have booted", func(ctx context.Context) error {
		return live.Rebooted(ctx, c, machineNode, boot)
	})
}

// checked compares every index with its table.
func checked(t *testing.T, cr *v1alpha1.PgStorageCluster) {
	t.Helper()
	kubectl(t, "-n", namespace, "exec", cr.Status.Database.Primary, "-c", "postgres", "--", "pg_amcheck", "--heapallindexed", "-d", "app")
}

// mapperKey gives the kernel a key that it knows. Ceph 20.2.4 makes keys of the type aes256k, and
// Linux 6.1 says of them: "libceph: secret too big". Tickets keep the new type.
func mapperKey(t *testing.T) {
	t.Helper()
	eventually(t, "the mon to create a key of the older type", func(ctx context.Context) error {
		_, err := ceph(ctx, "ceph", "auth", "get-or-create", "client."+mapperName, "mon", "profile rbd", "osd", "profile rbd", "--key_type", "aes")
		return err
	})
	kubectl(t, "-n", rookNamespace, "create", "secret", "generic", mapperName, "--from-literal=key="+mustCeph(t, "ceph", "auth", "print-key", "client."+mapperName))
}

// belowTheKernel strikes under load, and looks for each acknowledged row.
func (j *journey) belowTheKernel(t *testing.T, cr *v1alpha1.PgStorageCluster, name string, strike func(*testing.T)) {
	l := loaded(t, cr)
	begin := time.Now()
	strike(t)
	mended := time.Now()
	l.after(t, mended)
	ready(t, cr)
	end := time.Now()
	rows, lost := l.end(t, cr)
	pause := stall(rows, begin, end)
	t.Logf("%d rows were acknowledged, %d are lost; the longest time without one was %.1f s", len(rows), lost, pause.Seconds())
	if lost > 0 {
		t.Errorf("%d of %d acknowledged rows are lost", lost, len(rows))
	}
	j.report.Ended(name, len(rows), lost, pause)
}

// unmap deletes the database and its image.
func (j *journey) unmap(t *testing.T, cr *v1alpha1.PgStorageCluster) {
	t.Helper()
	if err := c.Delete(t.Context(), cr); err != nil {
		t.Fatal(err)
	}
	gone(t, cr)
	kubectl(t, "delete", "pv", mapped().Name)
	kubectl(t, "-n", rookNamespace, "exec", mapperName, "--", "chroot", "/host", "sh", "-c", "echo 0 >/sys/bus/rbd/remove_single_major")
	kubectl(t, "-n", rookNamespace, "delete", "pod,secret", mapperName)
	mustCeph(t, "rbd", "rm", profileName+"/"+mappedImage)
	mustCeph(t, "ceph", "auth", "rm", "client."+mapperName)
}

// mapImage asks the kernel for the device, as rbd map does
// (Documentation/ABI/testing/sysfs-bus-rbd).
const mapImage = `
mons=$(sed 's/[a-z0-9_-]\+=//g' /mons/endpoints)
chroot /host modprobe rbd
[ -b /host/dev/rbd0 ] || echo "$mons name=mapper,secret=$(cat /secret/key) POOL IMAGE" >/host/sys/bus/rbd/add_single_major
until [ -b /host/dev/rbd0 ]; do sleep 0.2; done
exec sleep infinity`

// mapper is a pod with the rights of the machine's administrator. It maps the image again after
// each boot.
func mapper(t *testing.T) *corev1.Pod {
	t.Helper()
	pod := tools()
	pod.Name, pod.Spec.NodeName = mapperName, machineNode
	// The kernel keeps the network of the process that maps the image.
	pod.Spec.HostNetwork = true
	container := &pod.Spec.Containers[0]
	container.Image = strings.Fields(os.Getenv("PGSTORAGE_MACHINE_IMAGES"))[0]
	container.Command = []string{"bash", "-ec", strings.NewReplacer("POOL", profileName, "IMAGE", mappedImage).Replace(mapImage)}
	container.SecurityContext.RunAsUser = new(int64(0))
	container.ReadinessProbe = nil
	container.VolumeMounts = append(container.VolumeMounts[:2:2], corev1.VolumeMount{Name: "host", MountPath: "/host", MountPropagation: new(corev1.MountPropagationHostToContainer)})
	pod.Spec.Volumes[1].Secret = &corev1.SecretVolumeSource{SecretName: mapperName}
	pod.Spec.Volumes = append(pod.Spec.Volumes[:2:2], corev1.Volume{Name: "host", VolumeSource: corev1.VolumeSource{HostPath: &corev1.HostPathVolumeSource{Path: "/"}}})
	return pod
}

// mapped is the volume of the profile's class on the mapped image.
func mapped() *corev1.PersistentVolume {
	pv := mounted()
	pv.Name = "rbd-" + mappedImage
	pv.Spec.Capacity = corev1.ResourceList{corev1.ResourceStorage: resource.MustParse("2Gi")}
	pv.Spec.PersistentVolumeSource = corev1.PersistentVolumeSource{Local: &corev1.LocalVolumeSource{Path: "/dev/rbd0", FSType: new("ext4")}}
	pv.Spec.NodeAffinity.Required.NodeSelectorTerms[0].MatchExpressions[0].Values = []string{machineNode}
	return pv
}

// ready waits until a database is Ready, with its parameters read back.
func ready(t *testing.T, cr *v1alpha1.PgStorageCluster) {
	t.Helper()
	eventually(t, fmt.Sprintf("database %s to be Ready", cr.Name), func(ctx context.Context) error {
		if err := c.Get(ctx, client.ObjectKeyFromObject(cr), cr); err != nil {
			return err
		}
		if cr.Status.Database == nil || cr.Status.Database.Primary == "" {
			return errors.New("it has no primary")
		}
		return live.AllTrue(cr.Status.Conditions, cr.Generation, v1alpha1.ConditionReady, v1alpha1.ConditionParametersApplied)
	})
}
