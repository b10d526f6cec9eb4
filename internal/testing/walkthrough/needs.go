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
	// ZFS needs one with blank disks.
	ZFS = "docs/tutorial-zfs.md"
	// S3NBD needs one with nbd, and an S3 store.
	S3NBD = "docs/tutorial-s3nbd.md"
)

// Need is what the tests on kind lack for a block of commands.
type Need struct {
	// What the block needs, and which test comes nearest to it.
	What string
	// RunBy is the test that types the block elsewhere, as FOLDER NAME. Empty: none does.
	RunBy string
}

// Needs has each marker of a block.
var Needs = map[string]Need{
	"aws":       {What: "an account at Amazon, whose resources are billed, or a stand-in for its APIs", RunBy: "test/e2ezfs TestTutorialOfS3NBD"},
	"branches":  {What: "a database on a node with OpenZFS, and psql", RunBy: "test/e2ezfs TestTutorialOfBranches"},
	"ceph":      {What: "three nodes with ZFS and Rook; make test-e2e-ceph takes the steps of Rook through the API, on other disks"},
	"offline":   {What: "no cluster", RunBy: "test/install TestOfflineCommandsOfTutorialsRun"},
	"own-store": {What: "an S3 store of the reader, and its administrator's keys", RunBy: "test/e2ezfs TestTutorialOfS3NBD"},
	"s3nbd":     {What: "a node with OpenZFS and nbd, and a bucket", RunBy: "test/e2ezfs TestTutorialOfS3NBD"},
	"registry":  {What: "public registries; a release is installed by make test-install from local ones"},
	"snapshots": {What: "a driver with VolumeSnapshots; make test-e2e-snapshot-backups takes the same steps through the API"},
	"zfs-node":  {What: "a node with OpenZFS and blank disks", RunBy: "test/e2ezfs TestTutorialOfZFS"},
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
