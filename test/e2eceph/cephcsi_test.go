//go:build e2eceph

package e2eceph

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/resource"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/pgstorage/pgstorage/api/v1alpha1"
)

// nodeSecret is Rook's Secret with which ceph-csi maps images.
const nodeSecret = "rook-csi-rbd-node"

// cephCSI returns the images of ceph-csi as settings of Rook, none where no registry has them.
func cephCSI() map[string]string {
	settings := map[string]string{}
	for field := range strings.FieldsSeq(os.Getenv("PGSTORAGE_CEPH_CSI")) {
		key, image, _ := strings.Cut(field, "=")
		settings[key] = image
	}
	return settings
}

// provisioned puts a database on a volume of the profile's class. Rook installs ceph-csi, which
// creates the image, maps it by the machine's kernel, formats it and grows it.
func (j *journey) provisioned(t *testing.T) {
	images := cephCSI()
	if len(images) == 0 {
		t.Skip("PGSTORAGE_CEPH_CSI is empty: the registries of ceph-csi's images do not answer")
	}
	driverRuns(t, images)
	// Only the machine has a kernel that maps images, and only there the driver runs.
	kubectl(t, "cordon", control, home, victim)
	cr := database()
	cr.Name = "archive"
	begin := time.Now()
	create(t, cr)
	ready(t, cr)
	t.Logf("the database was Ready %s after it was created", time.Since(begin).Round(time.Second))
	pv := volumeOf(t, cr)
	image := pv.Spec.CSI.VolumeAttributes["imageName"]
	if out := mustCeph(t, "rbd", "info", profileName+"/"+image); !strings.Contains(out, "size 2 GiB") {
		t.Errorf("the image of the database's volume: %s", out)
	}
	grows(t, cr, image)
	psql(t, cr, "CREATE EXTENSION IF NOT EXISTS amcheck")
	kubectl(t, "uncordon", control, home, victim)
	j.machineFaults(t, cr, "a volume of ceph-csi", victim, 3)
	if err := c.Delete(t.Context(), cr); err != nil {
		t.Fatal(err)
	}
	gone(t, cr)
	eventually(t, "ceph-csi to delete volume and image", func(ctx context.Context) error {
		if err := c.Get(ctx, client.ObjectKeyFromObject(pv), pv); !apierrors.IsNotFound(err) {
			return fmt.Errorf("volume %s is there: %w", pv.Name, err)
		}
		out, err := ceph(ctx, "rbd", "ls", profileName)
		if err == nil && strings.Contains(out, image) {
			err = fmt.Errorf("image %s is there", image)
		}
		return err
	})
}

// driverRuns waits until Rook has installed ceph-csi. The stand-in for the CSIDriver goes first.
func driverRuns(t *testing.T, images map[string]string) {
	t.Helper()
	olderNodeKey(t)
	if err := c.Delete(t.Context(), driver()); err != nil {
		t.Fatal(err)
	}
	settings := map[string]string{
		"ROOK_CSI_DISABLE_DRIVER":       "false",
		"ROOK_CSI_ENABLE_CEPHFS":        "false",
		"CSI_ENABLE_RBD_SNAPSHOTTER":    "false", // the cluster has no CRDs of snapshots
		"CSI_PROVISIONER_REPLICAS":      "1",
		"CSI_PROVISIONER_NODE_AFFINITY": corev1.LabelHostname + "=" + control,
		"CSI_PLUGIN_NODE_AFFINITY":      corev1.LabelHostname + "=" + machineNode,
	}
	maps.Copy(settings, images)
	patch, err := json.Marshal(map[string]any{"data": settings})
	if err != nil {
		t.Fatal(err)
	}
	kubectl(t, "-n", rookNamespace, "patch", "configmap", "rook-ceph-operator-config", "--type=merge", "--patch", string(patch))
	podsReady(t, "csi-rbdplugin-provisioner", 1)
	podsReady(t, "csi-rbdplugin", 1)
	eventually(t, "Rook to create the CSIDriver", func(ctx context.Context) error {
		return c.Get(ctx, keyOf("", driver().Name), driver())
	})
}

// olderNodeKey gives ceph-csi's user on nodes a key that the machine's kernel knows (mapperKey). Rook
// keeps a key that exists.
func olderNodeKey(t *testing.T) {
	t.Helper()
	user := "client." + kubectl(t, "-n", rookNamespace, "get", "secret", nodeSecret, "-o", `go-template={{.data.userID | base64decode}}`)
	var entities []struct {
		Caps map[string]string `json:"caps"`
	}
	if err := json.Unmarshal([]byte(mustCeph(t, "ceph", "auth", "get", user, "--format", "json")), &entities); err != nil {
		t.Fatal(err)
	}
	create := []string{"ceph", "auth", "get-or-create", user}
	for daemon, caps := range entities[0].Caps {
		create = append(create, daemon, caps)
	}
	mustCeph(t, "ceph", "auth", "rm", user)
	mustCeph(t, append(create, "--key_type", "aes")...)
	patch, err := json.Marshal(map[string]any{"stringData": map[string]string{"userKey": mustCeph(t, "ceph", "auth", "print-key", user)}})
	if err != nil {
		t.Fatal(err)
	}
	kubectl(t, "-n", rookNamespace, "patch", "secret", nodeSecret, "--type=merge", "--patch", string(patch))
}

// volumeOf returns the volume of the database's primary, and expects it of ceph-csi.
func volumeOf(t *testing.T, cr *v1alpha1.PgStorageCluster) *corev1.PersistentVolume {
	t.Helper()
	claim, pv := &corev1.PersistentVolumeClaim{}, &corev1.PersistentVolume{}
	if err := c.Get(t.Context(), keyOf(namespace, cr.Status.Database.Primary), claim); err != nil {
		t.Fatal(err)
	}
	if err := c.Get(t.Context(), keyOf("", claim.Spec.VolumeName), pv); err != nil {
		t.Fatal(err)
	}
	if pv.Spec.CSI == nil || pv.Spec.CSI.Driver != driver().Name {
		t.Fatalf("volume %s is not one of ceph-csi: %+v", pv.Name, pv.Spec.PersistentVolumeSource)
	}
	return pv
}

// grows gives a database that runs a larger volume.
func grows(t *testing.T, cr *v1alpha1.PgStorageCluster, image string) {
	t.Helper()
	size := resource.MustParse("3Gi")
	patch := client.MergeFrom(cr.DeepCopy())
	cr.Spec.Storage.Size = size
	if err := c.Patch(t.Context(), cr, patch); err != nil {
		t.Fatal(err)
	}
	eventually(t, "the claim to have 3Gi", func(ctx context.Context) error {
		claim := &corev1.PersistentVolumeClaim{}
		if err := c.Get(ctx, keyOf(namespace, cr.Status.Database.Primary), claim); err != nil {
			return err
		}
		if got := claim.Status.Capacity.Storage(); got.Cmp(size) < 0 {
			return fmt.Errorf("it has %s", got)
		}
		return nil
	})
	if out := mustCeph(t, "rbd", "info", profileName+"/"+image); !strings.Contains(out, "size 3 GiB") {
		t.Errorf("the image did not grow: %s", out)
	}
	ready(t, cr)
}
