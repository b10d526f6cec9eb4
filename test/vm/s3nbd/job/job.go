// Package job is the job that the host of test/vm gives to a guest, a node with a pool over
// buckets.
package job

import (
	"github.com/pgstorage/pgstorage/api/v1alpha1"
)

// Name of the file among what the guest is given.
const Name = "job.json"

// Job of a node.
type Job struct {
	// Storage that the agent makes.
	Storage *v1alpha1.PgNodeStorage `json:"storage"`
	Servers []Server                `json:"servers"`
	// HostID of the machine, which is in the pool's labels.
	HostID uint32 `json:"hostID"`
	// FirstID of rows that clients write.
	FirstID int64 `json:"firstID"`
	// Parameters of Postgres.
	Parameters map[string]string `json:"parameters"`
}

// Server of one store: the containers of its pod, with the paths of the node.
type Server struct {
	// Name of the store.
	Name string `json:"name"`
	// Directory of its sockets, and Cache of ZeroFS, on the node.
	Directory string `json:"directory"`
	Cache     string `json:"cache"`
	// Files of its configuration, by path.
	Files map[string]string `json:"files"`
	// Preflight and Run are commands.
	Preflight []string `json:"preflight"`
	Run       []string `json:"run"`
	// Environment of both, which has the secrets.
	Environment []string `json:"environment"`
}
