package doctor

import (
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"

	"github.com/pgstorage/pgstorage/api/v1alpha1"
	"github.com/pgstorage/pgstorage/internal/cli/snapshot"
)

func TestVolumesWithoutPersistentVolumeAreFound(t *testing.T) {
	of := func(driver, handle string) corev1.PersistentVolume {
		return corev1.PersistentVolume{Spec: corev1.PersistentVolumeSpec{PersistentVolumeSource: corev1.PersistentVolumeSource{CSI: &corev1.CSIPersistentVolumeSource{Driver: driver, VolumeHandle: handle}}}}
	}
	const zfs = "zfs.csi.openebs.io"
	for _, tc := range []struct {
		name    string
		have    []string
		volumes []corev1.PersistentVolume
		unread  bool
		want    string
	}{
		{"each has one", []string{"tank/pgdata/pvc-1", "tank/pgwal/pvc-2"}, []corev1.PersistentVolume{of(zfs, "pvc-1"), of(zfs, "pvc-2")}, false, ""},
		{"one has none", []string{"tank/pgdata/pvc-1", "tank/pgwal/pvc-2"}, []corev1.PersistentVolume{{}, of(zfs, "pvc-1")}, false, "the volume tank/pgwal/pvc-2 without a PersistentVolume"},
		{"of another driver", []string{"tank/pgdata/pvc-1"}, []corev1.PersistentVolume{of("rbd.csi.ceph.com", "pvc-1")}, false, "the volume tank/pgdata/pvc-1 without"},
		{"many", strings.Fields("a/a a/b a/c a/d a/e a/f"), nil, false, "6 volumes (a/a, a/b, a/c, a/d, a/e, …) without"},
		{"nobody may look", []string{"tank/pgdata/pvc-1"}, nil, true, ""},
	} {
		t.Run(tc.name, func(t *testing.T) {
			f := healthy(t)
			f.Volumes = tc.volumes
			if tc.unread {
				f.Unread = append(f.Unread, snapshot.Unread{What: "PersistentVolumes", Why: "forbidden"})
			}
			for _, name := range tc.have {
				f.Storages[0].Status.Volumes = append(f.Storages[0].Status.Volumes, v1alpha1.ObservedVolume{Name: name})
			}
			found := ""
			for _, finding := range Check(f, book(t)) {
				if finding.Level == Warning && finding.Area == "Pools" {
					found += finding.Message
				}
			}
			if (found == "") != (tc.want == "") || !strings.HasPrefix(found, tc.want) {
				t.Errorf("found %q, want %q", found, tc.want)
			}
		})
	}
}
