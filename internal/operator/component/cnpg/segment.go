package cnpg

import (
	"encoding/json"

	"github.com/pgstorage/pgstorage/api/v1alpha1"
)

// WALSegmentBytes is the size of WAL segments that the escape hatch sets for initdb. It
// is 0 where the hatch sets none, or a value that is not a number.
func WALSegmentBytes(overrides *v1alpha1.CNPGOverrides) int64 {
	if overrides == nil || overrides.Spec == nil {
		return 0
	}
	var extra struct {
		Bootstrap struct {
			InitDB struct {
				WALSegmentSize int64 `json:"walSegmentSize"`
			} `json:"initdb"`
		} `json:"bootstrap"`
	}
	if err := json.Unmarshal(overrides.Spec.Raw, &extra); err != nil {
		return 0 // Merge, or CloudNativePG's own schema, rejects a value that is not a number
	}
	size := extra.Bootstrap.InitDB.WALSegmentSize
	if size < 1 || size > 1024 { // CloudNativePG's bounds, in MB
		return 0
	}
	return size << 20
}
