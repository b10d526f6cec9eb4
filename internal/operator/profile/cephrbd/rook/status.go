package rook

import (
	"encoding/json"
	"fmt"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/pgstorage/pgstorage/internal/kube/excerpt"
)

// Phases of CephCluster and CephBlockPool (ConditionType of Rook's types.go).
const (
	PhaseReady       = "Ready"
	PhaseConnected   = "Connected"
	PhaseProgressing = "Progressing"
	PhaseFailure     = "Failure"
)

// Conditions by which Rook says that a deletion waits for what depends on it.
const (
	ConditionDeletionIsBlocked     = "DeletionIsBlocked"
	ConditionPoolDeletionIsBlocked = "PoolDeletionIsBlocked"
)

// Health of a Ceph cluster, and severity of a check.
const (
	HealthOK   = "HEALTH_OK"
	HealthWarn = "HEALTH_WARN"
	HealthErr  = "HEALTH_ERR"
)

// CheckModuleError is the health check of a module of the mgr that failed.
const CheckModuleError = "MGR_MODULE_ERROR"

// CheckUnread is Rook's own entry, beside HEALTH_ERR, while it cannot read Ceph's status
// (pkg/operator/ceph/cluster, cephStatusOnError).
const CheckUnread = "error"

// MaxText is the length, in bytes, of a text of Rook's or Ceph's that a status or a cache
// keeps.
const MaxText = 512

// ClusterStatus is what Rook says of a CephCluster.
type ClusterStatus struct {
	Phase              string      `json:"phase,omitempty"`
	Message            string      `json:"message,omitempty"`
	ObservedGeneration int64       `json:"observedGeneration,omitempty"`
	Ceph               CephStatus  `json:"ceph,omitzero"`
	Conditions         []Condition `json:"conditions,omitempty"`
}

// CephStatus is what Ceph says of itself.
type CephStatus struct {
	Health string `json:"health,omitempty"`
	// Details are the checks that it raises, by name.
	Details  map[string]HealthMessage `json:"details,omitempty"`
	Capacity Capacity                 `json:"capacity,omitzero"`
}

// HealthMessage of one check.
type HealthMessage struct {
	Severity string `json:"severity,omitempty"`
	Message  string `json:"message,omitempty"`
}

// Capacity of all OSDs together, in bytes of their devices.
type Capacity struct {
	TotalBytes int64 `json:"bytesTotal,omitempty"`
	UsedBytes  int64 `json:"bytesUsed,omitempty"`
}

// PoolStatus is what Rook says of a CephBlockPool.
type PoolStatus struct {
	// Info has failureDomain and type of the pool that was made.
	Info               map[string]string `json:"info,omitempty"`
	Phase              string            `json:"phase,omitempty"`
	ObservedGeneration int64             `json:"observedGeneration,omitempty"`
	Conditions         []Condition       `json:"conditions,omitempty"`
}

// Read a field of an object, spec or status, as the API server has it. What is absent
// leaves into as it is.
func Read(object map[string]any, field string, into any) error {
	part, found, err := unstructured.NestedMap(object, field)
	if err != nil || !found {
		return err
	}
	raw, err := json.Marshal(part)
	if err == nil {
		err = json.Unmarshal(raw, into)
	}
	if err != nil {
		return fmt.Errorf("read %s of %v: %w", field, object["kind"], err)
	}
	return nil
}

// Condition of Rook's.
type Condition struct {
	Type    string `json:"type,omitempty"`
	Status  string `json:"status,omitempty"`
	Reason  string `json:"reason,omitempty"`
	Message string `json:"message,omitempty"`
}

// Blocked is why Rook does not delete yet; empty where it does not say so.
func Blocked(conditions []Condition) string {
	for _, c := range conditions {
		if (c.Type == ConditionDeletionIsBlocked || c.Type == ConditionPoolDeletionIsBlocked) && c.Status == "True" {
			return c.Message
		}
	}
	return ""
}

// Slim leaves what does not move while Ceph is at rest.
func (s *ClusterStatus) Slim() {
	s.Message = excerpt.LastLine(s.Message, MaxText)
	for name, check := range s.Ceph.Details {
		kept := HealthMessage{Severity: check.Severity}
		if name == CheckModuleError {
			// It names the module, and counts nothing.
			kept.Message = excerpt.LastLine(check.Message, MaxText)
		}
		s.Ceph.Details[name] = kept
	}
	s.Ceph.Capacity.UsedBytes = 0
	s.Conditions = blocking(s.Conditions)
}

// Slim leaves what does not move while Ceph is at rest.
func (s *PoolStatus) Slim() { s.Conditions = blocking(s.Conditions) }

// blocking are the conditions that hold a deletion back.
func blocking(conditions []Condition) []Condition {
	var out []Condition
	for _, c := range conditions {
		if Blocked([]Condition{c}) != "" {
			out = append(out, c)
		}
	}
	return out
}
