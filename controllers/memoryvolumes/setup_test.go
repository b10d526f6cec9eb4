package memoryvolumes

import (
	"maps"
	"slices"
	"strconv"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/pgstorage/pgstorage/internal/kube/naming"
)

// The library updates claims of the provisioner with what the informer keeps of them.
func TestOnlyClaimsOfOthersLoseAnnotations(t *testing.T) {
	for _, tc := range []struct {
		key, value string
		all        bool
	}{
		{provisioner, naming.MemoryProvisioner, true},
		{provisionerBeta, naming.MemoryProvisioner, true},
		{provisioner, "zfs.csi.openebs.io", false},
	} {
		claim := &corev1.PersistentVolumeClaim{ObjectMeta: metav1.ObjectMeta{
			Labels: map[string]string{"l": "v"}, Finalizers: []string{"f"}, OwnerReferences: []metav1.OwnerReference{{UID: "u"}},
			Annotations: map[string]string{tc.key: tc.value, naming.AnnotationSelectedNode: "n1", "cnpg.io/nodeSerial": "1", "example.com/large": "x"},
		}}
		want := []string{tc.key, naming.AnnotationSelectedNode}
		if tc.all {
			want = slices.Collect(maps.Keys(claim.Annotations))
		}
		if _, err := slim(claim); err != nil {
			t.Fatal(err)
		}
		if got := slices.Sorted(maps.Keys(claim.Annotations)); !slices.Equal(got, slices.Sorted(slices.Values(want))) {
			t.Errorf("%s: kept %v, want %v", tc.value, got, want)
		}
		if len(claim.Labels) != 1 || len(claim.Finalizers) != 1 || len(claim.OwnerReferences) != 1 {
			t.Errorf("%s: kept %+v", tc.value, claim.ObjectMeta)
		}
	}
}

// Annotations are bounded, and an update with less than the claim has never happens: the claim
// is refused.
func TestLargeAnnotationsAreNotKept(t *testing.T) {
	claim := &corev1.PersistentVolumeClaim{ObjectMeta: metav1.ObjectMeta{Annotations: map[string]string{
		provisioner: naming.MemoryProvisioner, "example.com/large": strings.Repeat("x", mostAnnotations), naming.AnnotationTooLarge: "made by a user",
	}}}
	if _, err := slim(claim); err != nil {
		t.Fatal(err)
	}
	if len(claim.Annotations) != 2 || claim.Annotations[naming.AnnotationTooLarge] != strconv.Itoa(mostAnnotations+len("example.com/large")+len(provisioner)+len(naming.MemoryProvisioner)) {
		t.Errorf("%d annotations, too large: %s", len(claim.Annotations), claim.Annotations[naming.AnnotationTooLarge])
	}
	claim.Annotations = map[string]string{provisioner: naming.MemoryProvisioner, naming.AnnotationTooLarge: "made by a user"}
	if _, err := slim(claim); err != nil || claim.Annotations[naming.AnnotationTooLarge] != "" {
		t.Errorf("a user marks a claim: %v, %v", claim.Annotations, err)
	}
}
