package rook

// CephBlockPool is a pool for images.
type CephBlockPool struct {
	Object `json:",inline"`

	Spec PoolSpec `json:"spec"`
}

// NewCephBlockPool without a spec.
func NewCephBlockPool(namespace, name string, labels map[string]string) *CephBlockPool {
	return &CephBlockPool{Object: object("CephBlockPool", namespace, name, labels)}
}

// PoolSpec declares a pool: either Replicated or ErasureCoded.
type PoolSpec struct {
	// Name of the pool in Ceph where it is not the object's: .mgr only.
	Name          string        `json:"name,omitempty"`
	FailureDomain string        `json:"failureDomain,omitempty"`
	CrushRoot     string        `json:"crushRoot,omitempty"`
	DeviceClass   string        `json:"deviceClass,omitempty"`
	Replicated    *Replicated   `json:"replicated,omitempty"`
	ErasureCoded  *ErasureCoded `json:"erasureCoded,omitempty"`
	EnableStats   *bool         `json:"enableRBDStats,omitempty"`
	// EnableCrushUpdates lets Rook change failure domain and device class of a pool that
	// exists in Ceph already.
	EnableCrushUpdates *bool             `json:"enableCrushUpdates,omitempty"`
	Parameters         map[string]string `json:"parameters,omitempty"`
}

// Replicated pool.
type Replicated struct {
	Size                   *int32 `json:"size,omitempty"`
	RequireSafeReplicaSize *bool  `json:"requireSafeReplicaSize,omitempty"`
}

// ErasureCoded pool.
type ErasureCoded struct {
	DataChunks   *int32 `json:"dataChunks,omitempty"`
	CodingChunks *int32 `json:"codingChunks,omitempty"`
}
