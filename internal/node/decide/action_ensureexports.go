package decide

import (
	"context"
	"fmt"
	"strings"

	"github.com/pgstorage/pgstorage/api/v1alpha1"
	"github.com/pgstorage/pgstorage/internal/kube/outcome"
)

// EnsureExports creates or grows exports of servers.
type EnsureExports struct{ Exports []ExportChange }

// ExportChange creates an export, or grows one that has fewer bytes.
type ExportChange struct {
	Server, Name string
	Bytes        uint64
	Create       bool
}

// String names the action and its exports.
func (a EnsureExports) String() string {
	var out []string
	for _, e := range a.Exports {
		verb := "grow"
		if e.Create {
			verb = "create"
		}
		out = append(out, fmt.Sprintf("%s %s/%s of %d", verb, e.Server, e.Name, e.Bytes))
	}
	return strings.Join(out, "; ")
}

// Execute calls EnsureExports of e.
func (a EnsureExports) Execute(ctx context.Context, e NetworkExecutor) error {
	return e.EnsureExports(ctx, a)
}

// exports returns the exports to create or to grow before devices can be attached. An
// export that shrank, or disappeared from a pool that existed, lost its data: then the
// agent creates none and returns the problem.
func (d networkDecider) exports(devices []NetworkDevice) ([]ExportChange, *outcome.Outcome) {
	want := exportBytes(d.s)
	var out []ExportChange
	for _, device := range devices {
		offered, listed := d.net.Exports[device.Server]
		if !listed {
			o := networkWait(v1alpha1.ReasonServerNotRunning, msgExportsNotListed, device.Server, d.net.Unasked[device.Server]).Outcome
			return nil, &o
		}
		have := offered[device.Export]
		known := d.net.Record.Sizes[device.Name()]
		switch {
		case have < known || have == 0 && (knownGUID(d.s) != "" || d.seen.Pool != nil):
			o := networkInvalid(v1alpha1.ReasonExportShrunk, msgExportShrunk, device.Name(), have, known, d.s.Spec.Pool.Name).Outcome
			return nil, &o
		case have < want:
			out = append(out, ExportChange{Server: device.Server, Name: device.Export, Bytes: want, Create: have == 0})
		}
	}
	return out, nil
}
