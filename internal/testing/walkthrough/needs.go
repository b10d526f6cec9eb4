package walkthrough

import (
	"path/filepath"

	"github.com/pgstorage/pgstorage/internal/testing/repository"
)

// The tutorials whose blocks without a marker make test-e2e runs on kind, in this order.
const (
	External  = "docs/tutorial-external.md"
	Benchmark = "docs/tutorial-benchmark.md"
	ReadPools = "docs/tutorial-read-pools.md"
	Memory    = "docs/tutorial-memory.md"
	Sites     = "docs/tutorial-sites.md"
	Backup    = "docs/tutorial-backup.md"
	// Branches needs a node with ZFS.
	Branches = "docs/tutorial-branches.md"
)

// Needs has each marker of a block, and why a kind cluster does not run the block.
var Needs = map[string]string{
	"aws":        "an account at Amazon, whose resources are billed",
	"branches":   "a database on a node with OpenZFS; make test-e2e-branches types the commands there",
	"ceph":       "three nodes with ZFS and Rook; make test-e2e-ceph takes the steps of Rook through the API, on other disks",
	"migrations": "psql, and migrations of the reader",
	"minio":      "a MinIO server of the reader; its client is not a dependency of the tests",
	"offline":    "nothing: make test-install runs it without a cluster",
	"s3nbd":      "a node with OpenZFS and nbd, and a bucket; make test-e2e-s3nbd takes the same steps through the API",
	"registry":   "public registries; a release is installed by make test-install from local ones",
	"snapshots":  "a driver with VolumeSnapshots; make test-e2e-snapshot-backups takes the same steps through the API",
	"zfs-node":   "a node with OpenZFS and blank disks; make test-e2e-zfs takes the same steps through the API",
}

// Tutorials returns every tutorial of the repository.
func Tutorials() ([]Page, error) {
	files, err := filepath.Glob(filepath.Join(repository.Root(), "docs", "tutorial-*.md"))
	if err != nil {
		return nil, err
	}
	var out []Page
	for _, file := range files {
		p, err := Read("docs/" + filepath.Base(file))
		if err != nil {
			return nil, err
		}
		out = append(out, p)
	}
	return out, nil
}
