package adoption

import (
	"cmp"

	cnpgv1 "github.com/cloudnative-pg/cloudnative-pg/api/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"

	"github.com/pgstorage/pgstorage/internal/kube/quantity"
)

// volumes of the instances: their sizes and StorageClasses.
func (d *describer) volumes(known Classes) {
	s := d.live.Spec
	size, found := sizeOf(&s.StorageConfiguration)
	if !found {
		d.refuse("spec.storage.size: the Cluster states no size; set it")
	}
	d.spec.Storage.Size = size
	d.out.Class = d.class("storage", &s.StorageConfiguration, known.Data, known.Default)
	d.rests("storage")
	if s.WalStorage == nil {
		return
	}
	wal, found := sizeOf(s.WalStorage)
	if !found {
		d.refuse("spec.walStorage.size: the Cluster states no size; set it")
	}
	d.spec.Storage.WALSize = &wal
	d.out.WALClass = d.class("walStorage", s.WalStorage, known.WAL, known.Default)
	d.rests("walStorage")
}

// rests leaves of a volume what is not its size and class.
func (d *describer) rests(volume string) {
	d.take(volume, "size")
	d.take(volume, "storageClass")
	if v, isMap := d.rest[volume].(map[string]any); isMap && len(v) == 0 {
		delete(d.rest, volume)
	}
}

func sizeOf(s *cnpgv1.StorageConfiguration) (resource.Quantity, bool) {
	if q, err := quantity.Parse(s.Size); err == nil {
		return q, true
	}
	if t := s.PersistentVolumeClaimTemplate; t != nil {
		q, found := t.Resources.Requests[corev1.ResourceStorage]
		return q, found
	}
	return resource.Quantity{}, false
}

// class that a volume names, or else that of its claims, or else the default one.
func (d *describer) class(field string, s *cnpgv1.StorageConfiguration, claimed, byDefault string) string {
	named := ""
	if s.StorageClass != nil {
		named = *s.StorageClass
	}
	if t := s.PersistentVolumeClaimTemplate; t != nil && t.StorageClassName != nil {
		named = cmp.Or(named, *t.StorageClassName)
	}
	if named != "" {
		return named
	}
	class := cmp.Or(claimed, byDefault)
	switch {
	case class == "":
		d.refuse("spec.%s.storageClass: the Cluster names no StorageClass, and neither its claims nor a default one could be read; name it with --storage-class", field)
	case claimed == "":
		d.note("spec.%s.storageClass is empty, so the profile names the default StorageClass %s; the Cluster keeps the empty field", field, class)
	default:
		d.note("spec.%s.storageClass is empty, so the profile names the StorageClass %s of its claims; the Cluster keeps the empty field", field, class)
	}
	return class
}
