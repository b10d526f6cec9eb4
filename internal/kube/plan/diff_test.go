package plan

import (
	"encoding/json"
	"slices"
	"testing"
)

func object(t *testing.T, text string) map[string]any {
	t.Helper()
	out := map[string]any{}
	if err := json.Unmarshal([]byte(text), &out); err != nil {
		t.Fatal(err)
	}
	return out
}

func TestMissing(t *testing.T) {
	for _, tc := range []struct{ name, want, have, path string }{
		{"equal", `{"a": 1}`, `{"a": 1}`, ""},
		{"more than claimed", `{"a": {"b": "x"}}`, `{"a": {"b": "x", "c": "y"}, "d": 1}`, ""},
		{"another value", `{"a": {"b": "x"}}`, `{"a": {"b": "z"}}`, ".a.b"},
		{"no value", `{"a": {"b": "x"}}`, `{"a": {}}`, ".a.b"},
		{"no parent", `{"a": {"b": "x"}}`, `{}`, ".a"},
		{"the first of several", `{"b": 1, "a": 1}`, `{}`, ".a"},
		{"an empty object that is absent", `{"a": {}}`, `{}`, ""},
		{"a quantity written otherwise", `{"a": "1000m"}`, `{"a": "1"}`, ""},
		{"texts that take Go minutes to compare as quantities", `{"a": "1e20000000"}`, `{"a": "10e19999999"}`, ".a"},
		{"another quantity", `{"a": "1000m"}`, `{"a": "2"}`, ".a"},
		{"numbers of two kinds", `{"a": 1}`, `{"a": 1.0}`, ""},
		{"a list in order", `{"a": [1, 2]}`, `{"a": [1, 2]}`, ""},
		{"a list in another order", `{"a": [1, 2]}`, `{"a": [2, 1]}`, ".a[0]"},
		{"a shorter list", `{"a": [1, 2]}`, `{"a": [1]}`, ".a"},
		{"a longer list", `{"a": [1]}`, `{"a": [1, 2]}`, ".a"},
		{"named elements in another order, and more", `{"a": [{"name": "x", "v": 1}]}`, `{"a": [{"name": "y"}, {"name": "x", "v": 1, "w": 2}]}`, ""},
		{"a named element that differs", `{"a": [{"name": "x", "v": 1}]}`, `{"a": [{"name": "x", "v": 2}]}`, ".a[0].v"},
		{"a named element that is absent", `{"a": [{"name": "x"}]}`, `{"a": [{"name": "y"}]}`, ".a[0]"},
		{"null", `{"a": null}`, `{}`, ""},
		{"a string that is no quantity", `{"a": "on"}`, `{"a": "off"}`, ".a"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			if got := missing("", object(t, tc.want), object(t, tc.have), object(t, tc.want)); got != tc.path {
				t.Errorf("missing %q, want %q", got, tc.path)
			}
		})
	}
}

func TestIntentFollowsContent(t *testing.T) {
	a := FromContent(StageDatabase, object(t, `{"kind": "X", "metadata": {"name": "n"}, "spec": {"a": 1}}`))
	same := FromContent(StageDatabase, object(t, `{"spec": {"a": 1}, "metadata": {"name": "n"}, "kind": "X"}`))
	other := FromContent(StageDatabase, object(t, `{"kind": "X", "spec": {"a": 2}}`))
	if a.Intent() == "" || a.Intent() != same.Intent() || a.Intent() == other.Intent() {
		t.Errorf("intents %q %q %q", a.Intent(), same.Intent(), other.Intent())
	}
	again := FromContent(StageDatabase, a.Content.DeepCopy().Object)
	if again.Intent() != a.Intent() {
		t.Error("the annotation takes part in its own hash")
	}
}

func TestGates(t *testing.T) {
	p := Plan{}
	for stage := StageAccess; stage <= StageInlineBenchmark; stage++ {
		p.Add(FromContent(stage, map[string]any{"kind": stage.String()}))
	}
	p.AddGate(StageDatabase, "Because", "it waits")
	var open []string
	for _, o := range p.Open() {
		open = append(open, o.Content.GetKind())
	}
	if !slices.Equal(open, []string{"access", "servers", "nodes", "backing", "ceph", "ceph-pool", "pool", "probe", "storage"}) {
		t.Errorf("open %v", open)
	}
	for _, o := range p.Objects {
		if !p.Has(o.Key()) {
			t.Errorf("a held object left the plan: %s", o.Key())
		}
	}
}

func TestGateOfAStageThatIsAloneHoldsNoOther(t *testing.T) {
	for _, alone := range []Stage{StageBackups, StageReadPools, StageSites, StageMonitors, StageInlineBenchmark} {
		p := Plan{}
		p.AddGate(alone, "Because", "it waits")
		for stage := StageAccess; stage <= StageInlineBenchmark; stage++ {
			if _, held := p.GateOf(stage); held != (stage == alone) {
				t.Errorf("the gate of %s holds %s: %v", alone, stage, held)
			}
		}
	}
}
