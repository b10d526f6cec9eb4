//go:build linux

// Package cell has what the Ceph benchmark and its guest exchange.
package cell

import (
	"github.com/pgstorage/pgstorage/test/bench/measure"
	"github.com/pgstorage/pgstorage/test/vm/ceph/job"
)

// Configurations that are compared.
const (
	// Dataset is the profile ZFSLocalPV, without Ceph.
	Dataset = "ZFS dataset"
	// Default is Ceph on zvols with the defaults of ZFS, Ceph and Postgres.
	Default = "Ceph, default"
	// Ours is the profile CephRBD.
	Ours = "Ceph, ours"
)

// Sides of the cluster that the configurations on Ceph are.
var Sides = map[string]string{Default: "default", Ours: job.Ours}

// Configurations in the order of the table.
func Configurations() []string { return []string{Dataset, Default, Ours} }

// Files that the guest reads, beside its plan.
const (
	// DatasetFile is a server.Job, CephFile a job.Job.
	DatasetFile = "dataset.json"
	CephFile    = "ceph.json"
)

// Layers have the bytes that were written at each. Without Ceph, only Postgres and Disk
// are set.
type Layers struct {
	// Postgres wrote WAL and pages.
	Postgres int64
	// RBD is what ext4 wrote to the images.
	RBD int64
	// OSD is what clients and other OSDs wrote to the OSDs.
	OSD int64
	// Zvol is what the OSDs wrote to their devices.
	Zvol int64
	// Disk is what ZFS wrote, including the volume of the monitor.
	Disk int64
}

// Since then.
func (l Layers) Since(then Layers) Layers {
	return Layers{l.Postgres - then.Postgres, l.RBD - then.RBD, l.OSD - then.OSD, l.Zvol - then.Zvol, l.Disk - then.Disk}
}

// Cell is one measured run.
type Cell struct {
	measure.Sample
	// Written from the first transaction until the pool has settled.
	Written Layers
	// Disk from the first to the last transaction.
	Disk measure.Counters
}

// WrittenPerTransaction has the bytes that each layer wrote for a transaction.
func (c Cell) WrittenPerTransaction() Layers {
	n, w := max(1, c.Transactions), c.Written
	return Layers{Postgres: w.Postgres / n, RBD: w.RBD / n, OSD: w.OSD / n, Zvol: w.Zvol / n, Disk: w.Disk / n}
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
