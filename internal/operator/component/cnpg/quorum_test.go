package cnpg

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

const zone = "topology.kubernetes.io/zone"

func TestSpread(t *testing.T) {
	exists := map[string]any{"key": zone, "operator": "Exists"}
	terms := func(terms ...any) map[string]any {
		return map[string]any{"requiredDuringSchedulingIgnoredDuringExecution": map[string]any{"nodeSelectorTerms": terms}}
	}
	disks := map[string]any{"key": "disk", "operator": "In", "values": []any{"nvme"}}
	for _, tc := range []struct {
		name           string
		affinity, want map[string]any // of the Cluster
		refused        string
	}{
		{"nothing set", nil, map[string]any{"nodeAffinity": terms(map[string]any{"matchExpressions": []any{exists}})}, ""},
		{
			"terms of the author", map[string]any{"nodeAffinity": terms(map[string]any{"matchExpressions": []any{disks}}, map[string]any{})},
			map[string]any{"nodeAffinity": terms(map[string]any{"matchExpressions": []any{disks, exists}}, map[string]any{})}, "",
		},
		{"the same key", map[string]any{"topologyKey": zone}, map[string]any{"nodeAffinity": terms(map[string]any{"matchExpressions": []any{exists}})}, ""},
		{"another key", map[string]any{"topologyKey": "rack"}, nil, "spec.cnpg.spec.affinity.topologyKey: spec.quorum.acrossFailureDomain needs " + zone},
		{"preferred", map[string]any{"podAntiAffinityType": "preferred"}, nil, "spec.cnpg.spec.affinity.podAntiAffinityType: spec.quorum.acrossFailureDomain needs required"},
		{"off", map[string]any{"enablePodAntiAffinity": false}, nil, "spec.cnpg.spec.affinity.enablePodAntiAffinity: spec.quorum.acrossFailureDomain needs true"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			spec := map[string]any{"postgresql": map[string]any{"parameters": map[string]any{"work_mem": "4MB"}}}
			if tc.affinity != nil {
				spec["affinity"] = tc.affinity
			}
			refused := strings.Join(Spread(map[string]any{"spec": spec}, zone), "\n")
			if tc.refused != "" {
				if !strings.Contains(refused, tc.refused) {
					t.Errorf("refused %q, want %q", refused, tc.refused)
				}
				return
			}
			tc.want["enablePodAntiAffinity"], tc.want["topologyKey"], tc.want["podAntiAffinityType"] = true, zone, "required"
			want := map[string]any{"affinity": tc.want, "postgresql": map[string]any{
				"parameters":                    map[string]any{"work_mem": "4MB"},
				"syncReplicaElectionConstraint": map[string]any{"enabled": true, "nodeLabelsAntiAffinity": []any{zone}},
			}}
			if diff := cmp.Diff(want, spec); diff != "" || refused != "" {
				t.Errorf("refused %q: %s", refused, diff)
			}
		})
	}
}
