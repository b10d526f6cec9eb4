//go:build linux

package main

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	//nolint:depguard // what a measurement writes down

	"github.com/pgstorage/pgstorage/test/bench/harness"
)

var place = harness.Place("bench-ceph")

// introduction of a page that is not there yet.
const introduction = `# What the profile CephRBD is worth, and what each layer writes

%[1]smake bench-ceph%[1]s compares three databases on one pool of one disk, in a virtual machine with a real ZFS kernel and a real Ceph of one
node. *ZFS dataset* is the profile ZFSLocalPV, without Ceph. *Ceph, default* is Ceph on zvols with what ZFS, Ceph and Postgres have
of themselves, data and WAL on one image. *Ceph, ours* is what a profile CephRBD with no field set but names, sizes and two copies
makes: its zvols, its OSDs' options, its pool, its images, and the computed parameters. Both have two OSDs and two copies on the same
disk, which each write reaches twice for that reason. %[1]sfull_page_writes%[1]s is on in all. Durable is %[1]ssynchronous_commit=on%[1]s,
relaxed is %[1]soff%[1]s. The mark: 1.5 times the default's TPS at equal durability.

`

// report of a run, in Markdown.
func report(o options, m *measured, f figures) string {
	var b strings.Builder
	_, _ = fmt.Fprintf(&b, "One run of %s: %d rounds of %d s for each line, after %d s of load. A flush of the disk takes %s. "+
		"%s, 2 virtual processors, %d MiB; Linux %s, OpenZFS %s, %s, %s; ARC at most %s. pgbench %s, scale %d, a database of %d MB. "+
		"Other programs took %.0f%% of the host's processors meanwhile.\n\n",
		m.took.Round(time.Minute), o.plan.Rounds, o.plan.Seconds, o.plan.WarmUp, o.latency,
		harness.Accelerator(m.accelerator), o.memory, m.facts.Kernel, m.facts.ZFS, m.facts.Ceph, m.facts.Postgres, o.arc, o.plan.Script, o.plan.Scale,
		m.facts.DatabaseBytes/1e6, m.elsewhere*100)
	f.marks(&b)
	b.WriteString("\n**Rates**\n\n")
	f.print(&b)
	b.WriteString("\n**kB written per transaction at each layer, median (least to most); 95 % interval of the mean; with what is left to the checkpoint**\n\n")
	f.printLayers(&b)
	b.WriteString("\nPostgres: WAL and pages. RBD: what ext4 wrote to the images. OSD: what the OSDs were asked to write, by the kernel's client and by each other. " +
		"zvol: what the OSDs wrote to their devices. disk: what ZFS wrote, for the mon too.\n")
	harness.Settings(&b, m.facts.Settings, map[string]map[string]string{"ZFS dataset": m.dataset, "Ceph, ours": m.ours})
	return b.String()
}

// save the report in the document, and every run beside it.
func save(folder, text string, m *measured) error {
	document := filepath.Join(folder, "ceph.md")
	if _, err := os.Stat(document); errors.Is(err, os.ErrNotExist) {
		page := fmt.Sprintf(introduction, "`") + place.Begin + "\n" + place.End + "\n"
		if err := errors.Join(os.MkdirAll(folder, 0o755), os.WriteFile(document, []byte(page), 0o644)); err != nil {
			return err
		}
	}
	lines, err := harness.Lines(m.cells)
	if err != nil {
		return err
	}
	return errors.Join(place.Write(document, text), os.WriteFile(filepath.Join(folder, "ceph.jsonl"), lines, 0o644))
}
