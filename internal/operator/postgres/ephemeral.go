package postgres

import (
	"fmt"
	"slices"

	"github.com/pgstorage/pgstorage/internal/bench/durability"
)

// waived are the foundations that a tier does without: any value of them keeps it.
var waived = map[durability.Tier][]string{
	durability.Async:     {"synchronous_commit"},
	durability.Ephemeral: {"fsync", "full_page_writes", "synchronous_commit"},
}

func waives(t durability.Tier, name string) bool { return slices.Contains(waived[t], name) }

// nonDurable are the settings of the tier Ephemeral beside synchronous_commit. PostgreSQL
// lists them for databases that promise nothing (non-durability.html). Checksums stay on,
// because a test that reads a damaged page has to fail.
func (in Inputs) nonDurable() []Parameter {
	if in.Tier != durability.Ephemeral {
		return nil
	}
	return []Parameter{
		{"fsync", "off", FromComputed, "durability Ephemeral: the volumes are memory, to which nothing is flushed"},
		in.withoutImages(FromComputed, "durability Ephemeral: nothing promises that a torn page can be repaired"),
	}
}

// withoutImages is full_page_writes=off under the tier Ephemeral, unless another server
// needs the page images. pg_rewind does: it reads pages while they are written, and a
// tmpfs does not lock them against that, as ZFS does.
func (in Inputs) withoutImages(source Source, reason string) Parameter {
	missing := in.WholePages.Missing
	if in.Instances > 1 {
		missing = fmt.Sprintf("a former primary of %d instances returns by pg_rewind, which needs page images", in.Instances)
	}
	if missing != "" {
		return Parameter{"full_page_writes", "on", FromSafety, "durability Ephemeral allows off, but " + missing}
	}
	return Parameter{"full_page_writes", "off", source, reason}
}

// ephemeral keeps a database of the tier Ephemeral fast, and its WAL small, because WAL
// takes memory. max_wal_size stays bounded by the volume.
func (c *computation) ephemeral() {
	if c.in.Tier != durability.Ephemeral {
		return
	}
	c.class.minWAL = 0
	c.set("checkpoint_timeout", "30min", "durability Ephemeral: fewer checkpoints; max_wal_size bounds WAL")
	c.set("archive_timeout", "0", "durability Ephemeral: nothing is archived, and each WAL file that is closed early takes memory")
}
