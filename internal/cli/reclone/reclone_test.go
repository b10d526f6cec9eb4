package reclone

import (
	"errors"
	"strings"
	"testing"

	cnpgv1 "github.com/cloudnative-pg/cloudnative-pg/api/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/pgstorage/pgstorage/internal/kube/naming"
)

func meta(name, instance string) metav1.ObjectMeta {
	return metav1.ObjectMeta{
		Namespace: "prod", Name: name, Labels: map[string]string{naming.LabelCNPGCluster: "shop", naming.LabelCNPGInstance: instance},
		OwnerReferences: []metav1.OwnerReference{{APIVersion: cnpgv1.SchemeGroupVersion.String(), Kind: "Cluster", Name: "shop", UID: "shop-uid", Controller: new(true)}},
	}
}

func pod(name, node string, isReady bool) corev1.Pod {
	p := corev1.Pod{ObjectMeta: meta(name, name), Spec: corev1.PodSpec{NodeName: node}}
	if isReady {
		p.Status.Conditions = []corev1.PodCondition{{Type: corev1.PodReady, Status: corev1.ConditionTrue}}
	}
	return p
}

func claim(name, instance, node string) corev1.PersistentVolumeClaim {
	c := corev1.PersistentVolumeClaim{ObjectMeta: meta(name, instance)}
	c.Annotations = map[string]string{naming.AnnotationSelectedNode: node}
	return c
}

// shop has the primary shop-1 on n1, and shop-2 whose node n2 is gone.
func shop() Objects {
	o := Objects{
		Cluster: cnpgv1.Cluster{ObjectMeta: metav1.ObjectMeta{Namespace: "prod", Name: "shop", UID: "shop-uid"}},
		Pods:    []corev1.Pod{pod("shop-1", "n1", true), pod("shop-2", "", false)},
		Claims:  []corev1.PersistentVolumeClaim{claim("shop-1", "shop-1", "n1"), claim("shop-2-wal", "shop-2", "n2"), claim("shop-2", "shop-2", "n2")},
	}
	o.Cluster.Status.CurrentPrimary, o.Cluster.Status.TargetPrimary = "shop-1", "shop-1"
	return o
}

func TestInstances(t *testing.T) {
	nodes := map[string]NodeState{"n1": NodeReady, "gone": NodeGone, "silent": NodeNotReady}
	for _, tc := range []struct {
		name     string
		instance string
		change   func(*Objects)
		outcome  Outcome
		force    bool
		why      string
	}{
		{"a pod that waits for a node", "shop-2", nil, Planned, false, ""},
		{"no pod", "shop-2", func(o *Objects) { o.Pods = o.Pods[:1] }, Planned, false, ""},
		{"a pod on a node without an object", "shop-2", func(o *Objects) {
			o.Pods[1] = pod("shop-2", "gone", true)
			o.Pods[1].DeletionTimestamp = &metav1.Time{}
		}, Planned, true, ""},
		{"a pod that fails on a node that is Ready", "shop-2", func(o *Objects) { o.Pods[1] = pod("shop-2", "n1", false) }, Planned, false, ""},
		{"a pod on a silent node", "shop-2", func(o *Objects) { o.Pods[1] = pod("shop-2", "silent", false) }, Refused, false, "make sure that the machine is off"},
		{"a node that the user may not read", "shop-2", func(o *Objects) { o.Pods[1] = pod("shop-2", "hidden", false) }, Refused, false, "may not read node hidden"},
		{"the primary", "shop-1", nil, Refused, false, "it is the primary"},
		{"the instance that is being promoted", "shop-2", func(o *Objects) { o.Cluster.Status.TargetPrimary = "shop-2" }, Refused, false, "it is the primary"},
		{"a primary that is not ready", "shop-2", func(o *Objects) { o.Pods[0] = pod("shop-1", "n1", false) }, Refused, false, "only copy"},
		{"a pod with the primary's name that is not the Cluster's", "shop-2", func(o *Objects) { o.Pods[0].OwnerReferences = nil }, Refused, false, "only copy"},
		{"no primary", "shop-2", func(o *Objects) { o.Cluster.Status.CurrentPrimary = "" }, Refused, false, "no primary"},
		{"an instance that is ready", "shop-2", func(o *Objects) { o.Pods[1] = pod("shop-2", "n1", true) }, Refused, false, "it is ready"},
		{"claims that are deleted already", "shop-2", func(o *Objects) { o.Claims = o.Claims[:1] }, Refused, false, "no claims"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			o := shop()
			if tc.change != nil {
				tc.change(&o)
			}
			got := Instances(o, func(name string) NodeState { return nodes[name] }, Selection{Name: tc.instance})
			if len(got) != 1 || got[0].Outcome != tc.outcome || got[0].Force != tc.force || (tc.why == "") != (got[0].Why == "") || !strings.Contains(got[0].Why, tc.why) {
				t.Errorf("got %+v", got)
			}
		})
	}
}

// bound gives a claim a volume, which has a node affinity if key is not empty.
func bound(o *Objects, claim int, key, value string) corev1.PersistentVolume {
	c := &o.Claims[claim]
	c.UID, c.Spec.VolumeName = types.UID(c.Name), "pv-"+c.Name
	v := corev1.PersistentVolume{ObjectMeta: metav1.ObjectMeta{Name: c.Spec.VolumeName}}
	v.Spec.ClaimRef = &corev1.ObjectReference{Namespace: c.Namespace, Name: c.Name, UID: c.UID}
	if key != "" {
		v.Spec.NodeAffinity = &corev1.VolumeNodeAffinity{Required: &corev1.NodeSelector{NodeSelectorTerms: []corev1.NodeSelectorTerm{{
			MatchExpressions: []corev1.NodeSelectorRequirement{{Key: key, Operator: corev1.NodeSelectorOpIn, Values: []string{value}}},
		}}}}
	}
	return v
}

func named(node string) corev1.Node {
	return corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: node, Labels: map[string]string{corev1.LabelHostname: node}}}
}

// A selection by node includes only instances whose volumes are lost with it. The annotation
// of a claim does not prove that, because a network volume follows its pod.
func TestInstancesOfANode(t *testing.T) {
	const zfs = "openebs.io/nodeid"
	for _, tc := range []struct {
		name    string
		change  func(*Objects, *Selection)
		outcome Outcome
		why     string
	}{
		{"claims without volumes", nil, Planned, ""},
		{"volumes of zfs-localpv", func(o *Objects, s *Selection) { s.add(bound(o, 1, zfs, "n2"), bound(o, 2, zfs, "n2")) }, Planned, ""},
		{"a volume in memory whose claim has no annotation", func(o *Objects, s *Selection) {
			o.Claims = append(o.Claims[:1], claim("shop-2", "shop-2", ""))
			s.add(bound(o, 1, corev1.LabelHostname, "n2"))
		}, Planned, ""},
		{"a volume, and a claim without one", func(o *Objects, s *Selection) { s.add(bound(o, 2, zfs, "n2")) }, Planned, ""},
		{"a network volume whose pod moved", func(o *Objects, s *Selection) {
			s.add(bound(o, 2, "", ""))
			o.Pods[1] = pod("shop-2", "n1", false)
		}, Refused, "its pod is scheduled to node n1; if its volumes are lost all the same, name it: kubectl pgstorage reclone shop-2 -n prod"},
		{"a network volume, and no pod", func(o *Objects, s *Selection) {
			s.add(bound(o, 2, "", ""))
			o.Pods = o.Pods[:1]
		}, Refused, "the node affinity of PersistentVolume pv-shop-2 does not bind it to node n2 alone"},
		{"one network volume", func(o *Objects, s *Selection) { s.add(bound(o, 1, "", ""), bound(o, 2, zfs, "n2")) }, Refused, "PersistentVolume pv-shop-2-wal"},
		{"a volume of a zone", func(o *Objects, s *Selection) { s.add(bound(o, 2, corev1.LabelTopologyZone, "a")) }, Refused, "does not bind it"},
		{"a volume of another node", func(o *Objects, s *Selection) { s.add(bound(o, 2, zfs, "n1")) }, Refused, "does not bind it"},
		{"volumes that the user may not read", func(o *Objects, s *Selection) {
			bound(o, 2, zfs, "n2")
			s.Unread = errors.New("forbidden")
		}, Refused, "cannot read where PersistentVolume pv-shop-2 is: forbidden"},
		{"a volume that does not exist", func(o *Objects, _ *Selection) { bound(o, 2, zfs, "n2") }, Refused, "PersistentVolume pv-shop-2 does not exist"},
		{"the volume of another claim", func(o *Objects, s *Selection) {
			s.add(bound(o, 2, zfs, "n2"))
			o.Claims[2].UID = "another"
		}, Refused, "PersistentVolume pv-shop-2 is not bound to claim shop-2"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			o, s := shop(), Selection{Node: "n2", Nodes: []corev1.Node{named("n1")}, Volumes: map[string]corev1.PersistentVolume{}}
			if tc.change != nil {
				tc.change(&o, &s)
			}
			got := Instances(o, func(string) NodeState { return NodeReady }, s)
			if len(got) != 1 || got[0].Name != "shop-2" || got[0].Node != "n2" || got[0].Outcome != tc.outcome || (tc.why == "") != (got[0].Why == "") || !strings.Contains(got[0].Why, tc.why) {
				t.Errorf("got %+v", got)
			}
		})
	}
}

func (s *Selection) add(volumes ...corev1.PersistentVolume) {
	for _, v := range volumes {
		s.Volumes[v.Name] = v
	}
}

func TestTableOfANode(t *testing.T) {
	o := shop()
	foreign := claim("tenant", "shop-3", "n2")
	foreign.OwnerReferences = nil
	o.Claims = append(o.Claims, foreign)
	got := Instances(o, func(string) NodeState { return NodeReady }, Selection{Node: "n2"})
	if len(got) != 1 || got[0].Name != "shop-2" || len(got[0].Claims) != 2 {
		t.Fatalf("got %+v", got)
	}
	want := "NAMESPACE   CLUSTER   INSTANCE   NODE   CLAIMS              OUTCOME   DETAIL\n" +
		"prod        shop      shop-2     n2     shop-2,shop-2-wal   Planned   -\n"
	if text := Table(got); text != want {
		t.Errorf("table\n%s", text)
	}
}
