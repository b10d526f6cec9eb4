package postgres

import (
	"strconv"
	"testing"
)

// The default of 10 stays where it is enough, because another value restarts every instance.
func TestSendersForAllThatStream(t *testing.T) {
	for _, tc := range []struct {
		name                     string
		instances, pools, others int
		want                     string // "" is the default
	}{
		{"one instance", 1, 0, 0, ""},
		{"the most that the default serves", 8, 0, 0, ""},
		{"one more", 9, 0, 0, "11"},
		{"the most that the API admits", 16, 0, 0, "18"},
		{"with the most read pools", 16, 8, 0, "29"},
		{"one instance with pools", 1, 4, 0, ""},
		{"one instance with the most pools", 1, 8, 0, "14"},
		{"sites", 3, 0, 3, ""},
		{"sites of many instances", 8, 0, 1, "11"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			in := base
			in.Instances, in.Pools, in.Sites = tc.instances, tc.pools, tc.others
			got := computedValues(in)["max_wal_senders"]
			if got != tc.want {
				t.Errorf("computed %q, want %q", got, tc.want)
			}
			// What is computed, a user may set.
			in.User = map[string]string{"max_wal_senders": strconv.Itoa(in.leastSenders())}
			if _, refusals := Compute(in); len(refusals) > 0 {
				t.Error(refusals)
			}
			if got == "" {
				return
			}
			// A lower value is refused, and does not take the place of what is needed.
			in.User["max_wal_senders"] = "10"
			if _, refusals := Compute(in); len(refusals) != 1 || computedValues(in)["max_wal_senders"] != tc.want {
				t.Errorf("10 senders: %v, %s", refusals, computedValues(in)["max_wal_senders"])
			}
			in.User, in.GivenOnly = nil, true
			if got, set := computedValues(in)["max_wal_senders"]; set {
				t.Errorf("defaults CloudNativePG have %s senders", got)
			}
		})
	}
}

// Each sender is a process.
func TestSendersTakeMemory(t *testing.T) {
	in := base
	own := in.senders(in.final(nil))
	in.Pools = 2
	if with := in.senders(in.final(nil)); with != own+5 {
		t.Errorf("%d senders with two pools, %d without", with, own)
	}
	in.Instances, in.Pools = 16, 8
	parameters, _ := Compute(in)
	if n := in.senders(in.final(parameters)); n != int64(in.leastSenders()) {
		t.Errorf("%d senders count, and %d are set", n, in.leastSenders())
	}
}
