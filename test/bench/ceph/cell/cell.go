//go:build linux

// Package cell is what the guest of the Ceph benchmark is asked and tells.
package cell

import (
	"github.com/pgstorage/pgstorage/test/bench/measure"
	"github.com/pgstorage/pgstorage/test/vm/ceph/job"
)

// Configurations that are compared.
const (
	// Dataset is the profile ZFSLocalPV, without Ceph.
	Dataset = "ZFS dataset"
	// Default is Ceph on zvols with the settings that ZFS, Ceph and Postgres have of
	// themselves.
	Default = "Ceph, default"
	// Ours is the profile CephRBD.
	Ours = "Ceph, ours"
)

// Sides of the cluster that the configurations on Ceph are.
var Sides = map[string]string{Default: "default", Ours: job.Ours}

// Configurations in the order of the table.
func Configurations() []string { return []string{Dataset, Default, Ours} }

// Files that the guest is given.
const (
	PlanFile = "plan.json"
	// DatasetFile is a server.Job, CephFile a job.Job.
	DatasetFile = "dataset.json"
	CephFile    = "ceph.json"
)

// Plan of a run.
type Plan struct {
	Serial, Pool    string
	Script          string
	Scale           int
	Clients         []int
	Rounds          int
	Seconds, WarmUp int // of each measured run, and of the load before it
}

// Layers have the bytes that were written at each. Without Ceph there are the first and
// the last only.
type Layers struct {
	// Postgres wrote WAL and pages.
	Postgres int64
	// RBD is what ext4 wrote to the images.
	RBD int64
	// OSD is what OSDs were asked to write, by the client and by each other.
	OSD int64
	// Zvol is what OSDs wrote to their devices.
	Zvol int64
	// Disk is what ZFS wrote, for all that is on it: the mon's volume too.
	Disk int64
}

// Since then.
func (l Layers) Since(then Layers) Layers {
	return Layers{l.Postgres - then.Postgres, l.RBD - then.RBD, l.OSD - then.OSD, l.Zvol - then.Zvol, l.Disk - then.Disk}
}

// Cell is one measured run.
type Cell struct {
	Round         int
	Configuration string
	Durable       bool
	Clients       int
	TPS           float64
	Transactions  int64
	// Written from the first transaction until a checkpoint and a sync of the pool have
	// written what the last one left.
	Written Layers
	// Disk from the first to the last transaction.
	Disk measure.Counters
	// SettleSeconds is how long checkpoint and sync took.
	SettleSeconds float64
	// Busy is the part of the guest's processors that worked.
	Busy float64
}

// Facts of the guest, for the report.
type Facts struct {
	measure.Versions
	Ceph string
	// Settings that the figures depend on, a line each.
	Settings []string
	// DatabaseBytes once it was filled.
	DatabaseBytes int64
}
