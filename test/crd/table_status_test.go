package crd_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/pgstorage/pgstorage/internal/testing/apiserver"
)

// statusRows are the rules of statuses: the agent of one node writes PgNodeStorages, and
// clusters are computed from what profiles collect of them.
func statusRows() []row {
	const duration = "flushLatency must be a duration, as 12.5ms"
	var out []row
	for _, kind := range []string{"PgNodeStorage", "PgStorageProfile"} {
		latency := func(name, value string) row {
			return row{
				name: kind + " flushLatency " + name, kind: kind, stage: onStatus,
				change: []change{set("status/flushLatency", value)},
				says:   []string{refusedValue("status.flushLatency", `"`+value+`"`, duration)},
			}
		}
		out = append(out,
			latency("in words", "soon"), latency("empty", ""), latency("without a unit", "12"), latency("of days", "1d"),
			latency("negative", "-1s"), latency("with a blank", "1 s"), latency("too long", strings.Repeat("1s", 17)))
	}
	return out
}

// validStatuses are at the edges of what the statuses accept.
var validStatuses = []edge{
	{"latency of a node", "PgNodeStorage", []change{set("status/flushLatency", "12.5ms")}},
	{"latency of a node in microseconds", "PgNodeStorage", []change{set("status/flushLatency", "830µs")}},
	{"no latency of a node", "PgNodeStorage", []change{set("status/flushLatency", "0s")}},
	{"latency of a profile", "PgStorageProfile", []change{set("status/flushLatency", "2540400h10m10.000000001s")}},
	{"latency of a profile in microseconds", "PgStorageProfile", []change{set("status/flushLatency", "830.5µs")}},
}

func TestValidStatusesAreAccepted(t *testing.T) {
	c := apiserver.Client(t, config)
	for i, v := range validStatuses {
		t.Run(v.name, func(t *testing.T) {
			object := base(t, v.kind, set("metadata/name", fmt.Sprintf("status-%d", i)))
			if err := c.Create(t.Context(), object); err != nil {
				t.Fatal(err)
			}
			edit(t, object, v.change...)
			if err := update(t.Context(), c, object, onStatus); err != nil {
				t.Error(err)
			}
		})
	}
}
