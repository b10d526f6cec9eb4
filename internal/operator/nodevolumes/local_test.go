package nodevolumes

import (
	"testing"

	corev1 "k8s.io/api/core/v1"
)

// A volume is on one node only if its affinity says so by a label that identifies the node.
func TestIsOnlyOn(t *testing.T) {
	const id, zone = "openebs.io/nodeid", corev1.LabelTopologyZone
	n1, n2 := labelled("n1", corev1.LabelHostname, "n1"), labelled("n2", corev1.LabelHostname, "n2")
	zonal := labelled("n2", zone, "a")
	with := func(change func(*corev1.NodeSelector)) *corev1.PersistentVolume {
		v := volumeOf(id, "n2")
		change(v.Spec.NodeAffinity.Required)
		return v
	}
	for _, tc := range []struct {
		name   string
		volume *corev1.PersistentVolume
		nodes  []corev1.Node
		want   bool
	}{
		{"by the node ID of zfs-localpv", volumeOf(id, "n2"), []corev1.Node{n1}, true},
		{"by the other key of zfs-localpv", volumeOf("openebs.io/nodename", "n2"), []corev1.Node{n1, n2}, true},
		{"by the host name, as in memory", volumeOf(corev1.LabelHostname, "n2"), []corev1.Node{n1}, true},
		{"by a host name that differs from the name", volumeOf(corev1.LabelHostname, "n2.example"), []corev1.Node{labelled("n2", corev1.LabelHostname, "n2.example")}, true},
		{"by the name", with(func(s *corev1.NodeSelector) {
			s.NodeSelectorTerms = []corev1.NodeSelectorTerm{{MatchFields: []corev1.NodeSelectorRequirement{{Key: "metadata.name", Operator: corev1.NodeSelectorOpIn, Values: []string{"n2"}}}}}
		}), nil, true},
		{"on another node", volumeOf(id, "n1"), []corev1.Node{n1}, false},
		{"with disks that another node took over", volumeOf(id, "n2"), []corev1.Node{labelled("n5", id, "n2")}, false},
		{"in the zone of the only node", volumeOf(zone, "a"), []corev1.Node{n1, zonal}, false},
		{"in another zone than all others", with(func(s *corev1.NodeSelector) {
			s.NodeSelectorTerms[0].MatchExpressions[0] = corev1.NodeSelectorRequirement{Key: zone, Operator: corev1.NodeSelectorOpNotIn, Values: []string{"b"}}
		}), []corev1.Node{labelled("n1", zone, "b"), zonal}, false},
		{"on one of two nodes", with(func(s *corev1.NodeSelector) { s.NodeSelectorTerms[0].MatchExpressions[0].Values = []string{"n2", "n3"} }), []corev1.Node{n1}, false},
		{"with an alternative", with(func(s *corev1.NodeSelector) {
			s.NodeSelectorTerms = append(s.NodeSelectorTerms, volumeOf(zone, "a").Spec.NodeAffinity.Required.NodeSelectorTerms...)
		}), []corev1.Node{n1}, false},
		{"with an empty affinity", with(func(s *corev1.NodeSelector) { s.NodeSelectorTerms = nil }), nil, false},
		{"without an affinity", &corev1.PersistentVolume{}, []corev1.Node{n1}, false},
	} {
		if got := IsOnlyOn(tc.volume, "n2", tc.nodes); got != tc.want {
			t.Errorf("%s: got %v, want %v", tc.name, got, tc.want)
		}
	}
}
