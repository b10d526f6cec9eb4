//go:build linux

package zfs

import (
	"strings"

	"github.com/pgstorage/pgstorage/internal/bench/fingerprint"
	"github.com/pgstorage/pgstorage/internal/bench/matrix"
	"github.com/pgstorage/pgstorage/internal/testing/repository"
	"github.com/pgstorage/pgstorage/test/bench/harness"
	"github.com/pgstorage/pgstorage/test/bench/zfs/cell"
	"github.com/pgstorage/pgstorage/test/vm/postgres/declare"
)

// theProfile is the variant with which the others are compared.
const theProfile = "profile"

// variants of the matrix. Each but the first two after the profile changes one thing of
// it. Those two, 128k with lz4, 16k, the profile and primarycache=metadata are the rows
// of the table that was published, as config/samples/seeds-zfs-matrix.yaml has them.
var variants = []cell.Variant{
	{Name: theProfile},
	{Name: "as ZFS comes", Data: []string{"recordsize=128k", "compression=off", "atime=on"}},
	{Name: "atime=off alone", Data: []string{"recordsize=128k", "compression=off"}},
	{Name: "recordsize=128k", Data: []string{"recordsize=128k"}},
	{Name: "recordsize=16k", Data: []string{"recordsize=16k"}},
	{Name: "compression=off", Data: []string{"compression=off"}},
	{Name: "atime=on", Data: []string{"atime=on"}},
	{Name: "primarycache=metadata", Data: []string{"primarycache=metadata"}},
	{Name: "logbias=throughput of the WAL", WAL: []string{"logbias=throughput"}},
	{Name: "full_page_writes=off", Parameters: map[string]string{"full_page_writes": "off"}},
}

// varied on purpose.
var varied = map[fingerprint.Group][]string{
	fingerprint.Storage:  {"data.recordsize", "data.compression", "data.atime", "data.primarycache", "wal.logbias"},
	fingerprint.Postgres: {"full_page_writes", "synchronous_commit"},
}

// matrixMemory of each cluster of the matrix, as the limit of a container would be. All
// clusters are served at once, and each has a quarter of it as shared_buffers.
const matrixMemory = 256 << 20

// name of a variant in its tier.
func name(variant string, durable bool) string {
	return variant + ", " + harness.Group{Durable: durable}.Commit()
}

// addMatrix to the plan, with every variant once in each repeat, in both tiers, in the
// order that the operator itself would draw.
func (o *options) addMatrix() error {
	if o.repeats == 0 {
		return nil
	}
	s := matrix.Spec{Repeats: o.repeats, Seed: o.seed}
	turns := map[string]cell.Turn{}
	for _, durable := range []bool{true, false} {
		for _, v := range variants {
			s.Variants = append(s.Variants, matrix.Variant{Name: name(v.Name, durable)})
			turns[name(v.Name, durable)] = cell.Turn{Variant: v.Name, Durable: durable}
		}
	}
	p, err := matrix.New(s)
	if err != nil {
		return err
	}
	for _, r := range p.Runs {
		turn := turns[r.Variant]
		turn.Repeat = r.Repeat
		o.matrix.Turns = append(o.matrix.Turns, turn)
	}
	o.matrix.Variants = variants
	job, err := declare.Cluster{
		Pool: o.Plan.Pool, Serial: o.Plan.Serial, ARCMax: o.ARC, MemoryBytes: matrixMemory, DataBytes: diskBytes / 16, WALBytes: diskBytes / 32,
	}.Job(repository.Root())
	o.matrix.Parameters = job.Parameters
	return err
}

// changes of a variant, as they were made.
func changes(v cell.Variant) string {
	all := append(append([]string{}, v.Data...), v.WAL...)
	for parameter, value := range v.Parameters {
		all = append(all, parameter+"="+value)
	}
	return strings.Join(all, ", ")
}
