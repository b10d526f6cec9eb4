package validity

import "fmt"

// DatasetSize says what the reads of the run were of. What fits in memory is read
// from there once it is warm, however slow the storage is.
func DatasetSize(f Facts) Finding {
	d := f.Dataset
	if d == nil || d.Size <= 0 {
		return notRun(CheckDataset, "the size of the dataset")
	}
	cache := "the page cache"
	if d.CacheIsARC {
		cache = "the ARC"
	}
	switch {
	case d.Size <= d.SharedBuffers:
		return Finding{CheckDataset, Caution, ReasonDatasetInSharedBuffers, fmt.Sprintf(
			"the dataset of %s fits in shared_buffers of %s: Postgres read nothing from storage, so the rate does not measure reads. "+
				"Raise the scale until the dataset exceeds %s to measure them", bytes(d.Size), bytes(d.SharedBuffers), bytes(d.memory()))}
	case d.Cache <= 0:
		return notRun(CheckDataset, "the memory beside shared_buffers that can hold the dataset")
	case d.Size <= d.memory():
		return Finding{CheckDataset, Caution, ReasonDatasetInMemory, fmt.Sprintf(
			"the dataset of %s fits in memory, shared_buffers of %s and %s of %s: a warm run reads little from storage. "+
				"To measure reads, raise the scale until the dataset exceeds %s, or start with a cold cache", bytes(d.Size), bytes(d.SharedBuffers), cache, bytes(d.Cache), bytes(d.memory()))}
	}
	return passed(CheckDataset, fmt.Sprintf("the dataset of %s exceeds shared_buffers of %s and %s of %s", bytes(d.Size), bytes(d.SharedBuffers), cache, bytes(d.Cache)))
}

// memory that can hold pages of the dataset, some of them twice.
func (d Dataset) memory() int64 { return d.SharedBuffers + d.Cache }

// bytes in binary units, to three digits.
func bytes(n int64) string {
	for _, unit := range []struct {
		suffix string
		size   int64
	}{{"Ti", 1 << 40}, {"Gi", 1 << 30}, {"Mi", 1 << 20}, {"Ki", 1 << 10}} {
		if n >= unit.size {
			return fmt.Sprintf("%.4g%s", float64(n)/float64(unit.size), unit.suffix)
		}
	}
	return fmt.Sprintf("%d bytes", n)
}
