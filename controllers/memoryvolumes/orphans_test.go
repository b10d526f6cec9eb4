package memoryvolumes

import (
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/tools/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"

	"github.com/pgstorage/pgstorage/api/v1alpha1"
	"github.com/pgstorage/pgstorage/internal/kube/scheme"
	"github.com/pgstorage/pgstorage/internal/operator/observe"
)

// A volume stays while the API server has its PersistentVolume, also where the informers have
// neither that nor its claim yet.
func TestOrphansAreNotWhatTheInformersLack(t *testing.T) {
	s := &v1alpha1.PgNodeStorage{ObjectMeta: metav1.ObjectMeta{Name: "mem-n1"}, Spec: v1alpha1.PgNodeStorageSpec{
		Profile: "mem", NodeName: "n1", Memory: &v1alpha1.NodeMemory{Volumes: []v1alpha1.NodeMemoryVolume{{Name: "pvc-made"}, {Name: "pvc-orphan"}}},
	}}
	c := fake.NewClientBuilder().WithScheme(scheme.New()).WithObjects(s, &corev1.PersistentVolume{ObjectMeta: metav1.ObjectMeta{Name: "pvc-made"}}).Build()
	p := &Provisioner{Client: c, Readers: observe.Readers{Live: c}}
	none := cache.NewStore(cache.MetaNamespaceKeyFunc)
	if err := p.removeOrphans(t.Context(), none, none); err != nil {
		t.Fatal(err)
	}
	if err := c.Get(t.Context(), client.ObjectKeyFromObject(s), s); err != nil {
		t.Fatal(err)
	}
	if v := s.Spec.Memory.Volumes; len(v) != 1 || v[0].Name != "pvc-made" {
		t.Errorf("%+v", v)
	}
}
