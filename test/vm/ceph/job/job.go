// Package job is the job that the host of test/vm gives to a guest, the only node of a Ceph
// cluster on zvols.
package job

import (
	"github.com/pgstorage/pgstorage/api/v1alpha1"
)

const (
	// Name of the file among what the guest is given.
	Name = "job.json"
	// Ours is the side that a profile makes.
	Ours = "ours"
)

// Job of a node.
type Job struct {
	// Storage that the agent creates: the pool, and the parent of the zvols.
	Storage *v1alpha1.PgNodeStorage `json:"storage"`
	// MonBytes of the mon's volume, which is of the first side's class.
	MonBytes int64 `json:"monBytes"`
	// ManagerCopies of Ceph's own pool.
	ManagerCopies int32 `json:"managerCopies"`
	// Sides are separate within the one cluster. Each has OSDs, a pool on them, and a database
	// in it.
	Sides []Side `json:"sides"`
}

// Side of the cluster.
type Side struct {
	Name  string `json:"name"`
	Zvols Zvols  `json:"zvols"`
	// Config of its OSDs, by option.
	Config map[string]string `json:"config"`
	Pool   Pool              `json:"pool"`
	Images Images            `json:"images"`
	// Parameters of Postgres.
	Parameters map[string]string `json:"parameters"`
}

// Zvols of the OSDs, as zfs-localpv would make them of their class.
type Zvols struct {
	// Parent dataset.
	Parent string `json:"parent"`
	// Volblocksize in bytes; 0 is ZFS' own.
	Volblocksize int64 `json:"volblocksize"`
	Thick        bool  `json:"thick"`
	Count        int   `json:"count"`
	Bytes        int64 `json:"bytes"`
	// DeviceClass of the OSDs in the CRUSH map.
	DeviceClass string `json:"deviceClass"`
}

// Pool of images.
type Pool struct {
	Name          string `json:"name"`
	Copies        int32  `json:"copies"`
	FailureDomain string `json:"failureDomain"`
	// Parameters by ceph osd pool set.
	Parameters map[string]string `json:"parameters"`
}

// Images of a database, one for its data and one for its WAL.
type Images struct {
	Features     []string `json:"features"`
	FSType       string   `json:"fsType"`
	MountOptions []string `json:"mountOptions"`
	DataBytes    int64    `json:"dataBytes"`
	WALBytes     int64    `json:"walBytes"`
}
