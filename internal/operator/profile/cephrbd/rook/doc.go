// Package rook is the part of Rook's API (ceph.rook.io/v1) that the operator writes and
// reads. Rook's own types are not used, because their module cannot be resolved without
// replaced and excluded modules, and brings clients of key stores (ADR 22). Every field
// is optional and omitted when it is not set, so that server-side apply claims nothing
// else. A test compares all of them with Rook's CRDs.
package rook

import (
	"k8s.io/apimachinery/pkg/runtime/schema"
	metav1ac "k8s.io/client-go/applyconfigurations/meta/v1"
)

// APIVersion of every kind here.
const APIVersion = "ceph.rook.io/v1"

// The kinds that are written and read.
var (
	CephClusterKind   = schema.GroupVersionKind{Group: "ceph.rook.io", Version: "v1", Kind: "CephCluster"}
	CephBlockPoolKind = schema.GroupVersionKind{Group: "ceph.rook.io", Version: "v1", Kind: "CephBlockPool"}
)

// Object has what each kind has; see [CephCluster] and [CephBlockPool].
type Object struct {
	metav1ac.TypeMetaApplyConfiguration    `json:",inline"`
	*metav1ac.ObjectMetaApplyConfiguration `json:"metadata,omitempty"`
}

func object(kind, namespace, name string, labels map[string]string) Object {
	var o Object
	o.WithKind(kind).WithAPIVersion(APIVersion)
	o.ObjectMetaApplyConfiguration = metav1ac.ObjectMeta().WithNamespace(namespace).WithName(name).WithLabels(labels)
	return o
}

// Name of the object.
func (o Object) Name() string {
	if o.ObjectMetaApplyConfiguration == nil || o.ObjectMetaApplyConfiguration.Name == nil {
		return ""
	}
	return *o.ObjectMetaApplyConfiguration.Name
}
