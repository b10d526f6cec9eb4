//go:build linux

package declare

import (
	"reflect"
	"testing"

	"github.com/pgstorage/pgstorage/internal/testing/repository"
	"github.com/pgstorage/pgstorage/test/vm/ceph/job"
)

// A guest gets what a profile renders for Rook and the drivers.
func TestJobIsThatOfTheProfile(t *testing.T) {
	got, err := Stack{
		Pool: "tank", Serial: "disk", ARCMax: "256Mi", OSDs: 2, OSDSize: "5Gi", Copies: 2,
		MemoryBytes: 1 << 30, DataBytes: 2 << 30, WALBytes: 1 << 30,
	}.Job(repository.Root())
	if err != nil {
		t.Fatal(err)
	}
	if got.Storage.Spec.Pool.Create == nil || got.MonBytes != 1<<30 || got.ManagerCopies != 2 || len(got.Sides) != 1 {
		t.Fatalf("%+v", got)
	}
	side := got.Sides[0]
	if p := side.Parameters; p["full_page_writes"] == "off" || p["wal_recycle"] == "off" || p["checkpoint_timeout"] != "15min" {
		t.Errorf("parameters %v", p)
	}
	side.Parameters = nil
	want := job.Side{
		Name:   job.Ours,
		Zvols:  job.Zvols{Parent: "tank/pgblock", Volblocksize: 4096, Thick: true, Count: 2, Bytes: 5 << 30, DeviceClass: "ssd"},
		Config: map[string]string{"bluestore_min_alloc_size": "4096", "osd_memory_target": "2147483648"},
		Pool: job.Pool{
			Name: "vm", Copies: 2, FailureDomain: "osd",
			Parameters: map[string]string{"compression_algorithm": "snappy", "compression_mode": "none", "csum_type": "crc32c", "min_size": "2", "target_size_ratio": "0"},
		},
		Images: job.Images{
			Features: []string{"layering", "exclusive-lock", "object-map", "fast-diff", "deep-flatten"}, FSType: "ext4",
			MountOptions: []string{"discard"}, DataBytes: 2 << 30, WALBytes: 1 << 30,
		},
	}
	if !reflect.DeepEqual(side, want) {
		t.Errorf("side is\n%+v, want\n%+v", side, want)
	}
}

// On a pool that another profile creates, the job creates nothing from disks.
func TestExistingPoolCreatesNothing(t *testing.T) {
	got, err := Stack{Pool: "tank", ARCMax: "256Mi", OSDs: 2, OSDSize: "5Gi", Copies: 2, MemoryBytes: 1 << 30, DataBytes: 2 << 30, WALBytes: 1 << 30}.Job(repository.Root())
	if err != nil {
		t.Fatal(err)
	}
	if got.Storage.Spec.Pool.Create != nil {
		t.Errorf("%+v", got.Storage.Spec.Pool)
	}
}
