package layout

import "fmt"

// Layer of a write, from Postgres down.
type Layer struct {
	Name string
	// Factor of this layer, and Total down to it.
	Factor, Total float64
	Formula       string
}

// stripeUnit of an erasure coded pool (osd_pool_erasure_code_stripe_unit).
const stripeUnit = 4096

// Writes of one changed page, layer by layer. It is an estimate of data: what each
// layer writes about the data (ext4's journal, RocksDB, ZFS' metadata) is left out.
func (c Ceph) Writes() []Layer {
	out := []Layer{
		{Name: "Postgres", Factor: 2, Formula: "the page, and its image in the WAL when it is first changed after a checkpoint (full_page_writes); less with longer checkpoints"},
		{Name: "RBD", Factor: 1, Formula: "an image has no journal of its own"},
		c.osd(),
	}
	if c.ZFS != nil {
		out = append(out, c.zvol(), c.pool())
	}
	total := 1.0
	for i := range out {
		total *= out[i].Factor
		out[i].Total = total
	}
	return out
}

// osd writes of a page: to each copy, or as a stripe of the erasure code. What is
// smaller than a unit of allocation goes to RocksDB's log first (deferred write).
func (c Ceph) osd() Layer {
	l := Layer{Name: "OSD"}
	if c.erasureCoded() {
		stripe := c.DataChunks * stripeUnit
		bytes := roundUp(pageBytes, stripe)
		l.Factor = float64(bytes) / pageBytes * c.expansion()
		l.Formula = fmt.Sprintf("a page of %d bytes rewrites stripes of %d, x %s", pageBytes, stripe, c.expansionText())
		return l
	}
	l.Factor = float64(c.Size)
	l.Formula = c.expansionText()
	if c.AllocBytes > pageBytes {
		l.Factor *= 2
		l.Formula += fmt.Sprintf(" x 2, because a page of %d bytes is less than minAllocSize %d and is written to the log of RocksDB first", pageBytes, c.AllocBytes)
	}
	return l
}

// unit in which an OSD writes a page, or its share of one.
func (c Ceph) unit() int {
	if c.erasureCoded() {
		return stripeUnit
	}
	return pageBytes
}

// zvol writes: whole blocks, and each synchronous write twice, to the intent log and to
// its place. With logbias=throughput the log has only the place.
func (c Ceph) zvol() Layer {
	unit := c.unit()
	bytes := roundUp(unit, c.ZFS.Volblock)
	l := Layer{Name: "Zvol", Factor: float64(bytes) / float64(unit), Formula: fmt.Sprintf("%d bytes in blocks of %d", unit, c.ZFS.Volblock)}
	if c.ZFS.Indirect {
		l.Formula += ", once (logbias=throughput)"
		return l
	}
	l.Factor++
	l.Formula += ", and the bytes themselves in the intent log before (logbias=latency)"
	return l
}

func (c Ceph) pool() Layer {
	f, text := c.ZFS.redundancy()
	return Layer{Name: "Pool", Factor: f, Formula: text}
}
