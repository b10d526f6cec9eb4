package main

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/pgstorage/pgstorage/internal/testing/faults"
)

// column of the matrix is a profile with its file of runs.
type column struct{ Profile, File string }

var columns = []column{
	{"[ZFSLocalPV](zfslocalpv.md)", "docs/faults/zfslocalpv.jsonl"},
	{"[S3NBD](s3nbd.md)", "docs/faults/s3nbd.jsonl"},
	{"[CephRBD](cephrbd.md)", "docs/faults/cephrbd.jsonl"},
}

// line of the matrix is a fault, with the names that it has in the files.
type line struct {
	Fault string
	Cases []string
}

var lines = []line{
	{"power of the node", []string{
		"the node's power is cut", "the node's power is cut, full_page_writes=off", "the node's power is cut, full_page_writes=on",
		"the node's power is cut, full_page_writes=off, on Kubernetes",
		"the server's container is killed (SIGKILL of supervisor and ZeroFS), node reset",
		"a node with an OSD loses its power, and returns", "the power of a database's machine is cut above a mapped image",
		"the power of a database's machine is cut above a volume of ceph-csi", "the power of a database's machine is cut above a mapped image on zvols",
	}},
	{"node gone for good", []string{"the primary's node is gone for good, on Kubernetes"}},
	{"primary killed", []string{"the primary is killed, full_page_writes=off, on Kubernetes"}},
	{"ordered shutdown of the node", []string{"everything is shut down cleanly, and the node boots"}},
	{"node frozen and replaced", []string{"the node is frozen, another machine takes its place, and it thaws"}},
	{"process of the storage killed", []string{
		"ZeroFS is killed (SIGKILL)", "an OSD's pod is deleted", "an OSD's pod is deleted below a mapped image",
		"an OSD's pod is deleted below a volume of ceph-csi", "an OSD's pod is deleted below a mapped image on zvols",
	}},
	{"process of the storage restarted", []string{"ZeroFS is told to end (SIGTERM)", "the server's pod is deleted and comes back (graceful restart)", "the only mon is deleted"}},
	{"agent or operator killed", []string{"the agent is killed three times while it detaches, grows and attaches", "the operator is killed"}},
	{"second writer of the same data", []string{"a second ZeroFS opens the prefix, node reset"}},
	{"store answers with errors", []string{"the S3 server answers 503 for 1m0s"}},
	{"store does not answer", []string{"the S3 server is frozen (SIGSTOP) for 1m0s"}},
	{"store restarted", []string{"the S3 server is killed, and started after 10 s"}},
	{"a copy or a device is gone", []string{"one of three buckets of a mirror is gone (requestTimeout 20s); seconds are the stall", "an OSD's disk fails, and works again"}},
	{"disk nearly full or full", []string{"the disk of ZeroFS' cache is full for 30 s", "the OSDs are nearly full"}},
	{"growth under load", []string{"the exports are grown while clients write; Postgres restarts for the new size"}},
}

// matrix has a row for each fault and a column for each profile.
func (r root) matrix(columns []column, lines []line) (string, error) {
	var b strings.Builder
	b.WriteString("| fault |")
	for _, c := range columns {
		b.WriteString(" " + c.Profile + " |")
	}
	b.WriteString("\n|---|" + strings.Repeat("---|", len(columns)) + "\n")
	cells := make([][]string, len(columns))
	for i, c := range columns {
		runs, err := r.runs(c.File)
		if err != nil {
			return "", err
		}
		if cells[i], err = cellsOf(runs, lines); err != nil {
			return "", fmt.Errorf("%s: %w", c.File, err)
		}
	}
	for row, l := range lines {
		b.WriteString("| " + l.Fault + " |")
		for i := range columns {
			b.WriteString(" " + cells[i][row] + " |")
		}
		b.WriteString("\n")
	}
	return b.String(), nil
}

// cellsOf one column. It is an error if a case has no row.
func cellsOf(runs []*faults.Run, lines []line) ([]string, error) {
	sorted, unknown := make([][]*faults.Run, len(lines)), []error{}
	for _, run := range runs {
		i := slices.IndexFunc(lines, func(l line) bool { return slices.Contains(l.Cases, run.Case) })
		if i < 0 {
			unknown = append(unknown, fmt.Errorf("no row of the matrix has the case %q; add it to hack/maturity/matrix.go", run.Case))
			continue
		}
		sorted[i] = append(sorted[i], run)
	}
	out := make([]string, len(lines))
	for i := range lines {
		out[i] = cell(sorted[i])
	}
	return out, errors.Join(unknown...)
}

func cell(runs []*faults.Run) string {
	if len(runs) == 0 {
		return "not run"
	}
	lost := 0
	for _, run := range runs {
		lost += run.Lost
	}
	median, worst := faults.Seconds(runs)
	if len(runs) == 1 {
		return fmt.Sprintf("1 run, %d lost, %.0f s", lost, median)
	}
	return fmt.Sprintf("%d runs, %d lost, %.0f s (worst %.0f)", len(runs), lost, median, worst)
}
