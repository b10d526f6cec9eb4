package nodevolumes

import (
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/pgstorage/pgstorage/api/v1alpha1"
	"github.com/pgstorage/pgstorage/internal/kube/naming"
	"github.com/pgstorage/pgstorage/internal/operator/observed"
)

// A volume in memory is the tmpfs that its path names. Another one in its place, a node that
// booted, and a node that is gone have lost it; a silent agent has not.
func TestVolumeInMemoryIsLostWithItsTmpfs(t *testing.T) {
	const path = "/run/pgstorage/memory/fast/pvc-1/ab"
	mounted := v1alpha1.ObservedMemoryVolume{Name: "pvc-1", State: v1alpha1.MemoryVolumeMounted, Path: path}
	for _, tc := range []struct {
		name           string
		reported       []v1alpha1.ObservedMemoryVolume
		node           string
		lost, unproved string
	}{
		{"mounted", []v1alpha1.ObservedMemoryVolume{mounted}, "a", "", ""},
		{"lost", []v1alpha1.ObservedMemoryVolume{{Name: "pvc-1", State: v1alpha1.MemoryVolumeLost}}, "a", "its tmpfs on node a is gone", ""},
		{"another tmpfs in its place", []v1alpha1.ObservedMemoryVolume{{Name: "pvc-1", State: v1alpha1.MemoryVolumeMounted, Path: path + "cd"}}, "a", "its tmpfs on node a is gone", ""},
		{"not reported", nil, "a", "", "the agent of node a has not read back volume pvc-1"},
		{"its node is gone", []v1alpha1.ObservedMemoryVolume{mounted}, "b", "its node does not exist any more", "belongs by its node affinity to no node"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			s := reports("a")
			s.Spec.Memory, s.Status.Memory, s.Status.Conditions = &v1alpha1.NodeMemory{}, &v1alpha1.ObservedMemory{Volumes: tc.reported}, nil
			v := volumeOf(corev1.LabelHostname, tc.node)
			v.Spec.CSI, v.Spec.Local = nil, &corev1.LocalVolumeSource{Path: path}
			v.Annotations = map[string]string{provisionedBy: naming.MemoryProvisioner}
			claim := &corev1.PersistentVolumeClaim{ObjectMeta: metav1.ObjectMeta{Namespace: "prod", Name: "shop-1", UID: "1"}}
			claim.Spec.VolumeName = v.Name
			got := observed.Claim{Name: claim.Name}
			Read("fast", []v1alpha1.PgNodeStorage{s}, []corev1.Node{labelled("a", corev1.LabelHostname, "a")}).Locate(&got, claim, v)
			if (got.Lost == "") != (tc.lost == "") || !strings.HasPrefix(got.Lost, tc.lost) || (got.Memory != nil) != (tc.unproved == "") || !strings.Contains(got.Unproved, tc.unproved) {
				t.Errorf("%+v", got)
			}
		})
	}
}

func TestInMemorySumsDeclaredVolumes(t *testing.T) {
	s := reports("a")
	if got := InMemory(&s); got != 0 {
		t.Errorf("%d of a pool", got)
	}
	s.Spec.Memory = &v1alpha1.NodeMemory{Volumes: []v1alpha1.NodeMemoryVolume{{Size: resource.MustParse("1Gi")}, {Size: resource.MustParse("2Gi")}}}
	if got := InMemory(&s); got != 3<<30 {
		t.Errorf("%d", got)
	}
}
