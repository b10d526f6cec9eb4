package plugin

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"

	cnpgv1 "github.com/cloudnative-pg/cloudnative-pg/api/v1"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/pgstorage/pgstorage/internal/cli"
	"github.com/pgstorage/pgstorage/internal/testing/apiserver"
)

// TestRecloneDeletesOneInstance loses a standby's node. Its claims and pod are deleted on
// request, and nothing else.
func TestRecloneDeletesOneInstance(t *testing.T) {
	c := apiserver.Client(t, config)
	const ns = "reclone"
	namespace(t, c, ns)
	cluster := clusterOfTwo(t, c, ns)
	instance(t, c, cluster, "shop-1", "here")
	instance(t, c, cluster, "shop-2", "lost")
	primaryReady(t, c, ns, "shop-1")

	if out := must(t, "reclone", "--node", "lost", "-n", "default", "--apply"); out != "No instances with volumes on node lost found in namespace default.\n" {
		t.Errorf("another namespace:\n%s", out)
	}
	out := must(t, "reclone", "--node", "lost")
	if !strings.Contains(out, "Planned") || !strings.Contains(out, "Nothing was deleted") || strings.Contains(out, "shop-1") {
		t.Errorf("the plan:\n%s", out)
	}
	if got := names(t, c, ns); got != "shop-1 shop-1 shop-2 shop-2" {
		t.Errorf("the plan left pods and claims %s", got)
	}
	if out, err := plugin(t, "reclone", "shop-1", "-n", ns, "--apply"); !errors.Is(err, cli.ErrFindings) || !strings.Contains(out, "it is the primary") {
		t.Errorf("the primary: %v\n%s", err, out)
	}
	if out := must(t, "reclone", "shop-2", "-n", ns, "--apply"); !strings.Contains(out, "Deleted") {
		t.Errorf("%s", out)
	}
	if got := names(t, c, ns); got != "shop-1 shop-1" {
		t.Errorf("it left pods and claims %s", got)
	}
	if out := must(t, "reclone", "--node", "lost"); out != "No instances with volumes on node lost found in all namespaces.\n" {
		t.Errorf("afterwards:\n%s", out)
	}
	if _, err := plugin(t, "reclone", "shop-2", "-n", ns); err == nil || !strings.Contains(err.Error(), "has an instance shop-2") {
		t.Errorf("an instance that does not exist: %v", err)
	}
	for _, args := range [][]string{{"reclone"}, {"reclone", "shop-2", "--node", "lost"}} {
		if _, err := plugin(t, args...); err == nil || !strings.Contains(err.Error(), "name one instance, or use --node") {
			t.Errorf("%v: %v", args, err)
		}
	}
}

// TestRecloneSparesANodeThatIsReady: an instance there may only be restarting.
func TestRecloneSparesANodeThatIsReady(t *testing.T) {
	c := apiserver.Client(t, config)
	const ns = "reclone-ready"
	namespace(t, c, ns)
	cluster := clusterOfTwo(t, c, ns)
	instance(t, c, cluster, "shop-1", "elsewhere")
	instance(t, c, cluster, "shop-2", "fine")
	primaryReady(t, c, ns, "shop-1")
	fine := &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: "fine"}}
	create(t, c, fine)
	fine.Status.Conditions = []corev1.NodeCondition{{Type: corev1.NodeReady, Status: corev1.ConditionTrue}}
	if err := c.Status().Update(t.Context(), fine); err != nil {
		t.Fatal(err)
	}
	if out, err := plugin(t, "reclone", "--node", "fine", "--apply"); err == nil || !strings.Contains(err.Error(), "node fine is Ready") {
		t.Errorf("%v\n%s", err, out)
	}
	if got := names(t, c, ns); got != "shop-1 shop-1 shop-2 shop-2" {
		t.Errorf("it left pods and claims %s", got)
	}
}

// TestRecloneNeedsToReadTheNode: a node that the user may not read can be Ready.
func TestRecloneNeedsToReadTheNode(t *testing.T) {
	c := apiserver.Client(t, config)
	const ns = "reclone-blind"
	namespace(t, c, ns)
	cluster := clusterOfTwo(t, c, ns)
	instance(t, c, cluster, "shop-1", "elsewhere")
	instance(t, c, cluster, "shop-2", "hidden")
	primaryReady(t, c, ns, "shop-1")
	create(t, c,
		&rbacv1.ClusterRole{ObjectMeta: metav1.ObjectMeta{Name: ns}, Rules: []rbacv1.PolicyRule{
			{APIGroups: []string{cnpgv1.SchemeGroupVersion.Group}, Resources: []string{"clusters"}, Verbs: []string{"list"}},
			{APIGroups: []string{""}, Resources: []string{"pods", "persistentvolumeclaims"}, Verbs: []string{"list", "delete"}},
		}},
		&rbacv1.ClusterRoleBinding{ObjectMeta: metav1.ObjectMeta{Name: ns}, RoleRef: rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "ClusterRole", Name: ns}, Subjects: []rbacv1.Subject{{Kind: "User", APIGroup: rbacv1.GroupName, Name: "dan"}}})
	eventually(t, "the binding of dan", func(context.Context) error {
		_, err := plugin(t, "reclone", "shop-2", "-n", ns, "--as", "dan")
		return err
	})
	if out, err := plugin(t, "reclone", "--node", "hidden", "--apply", "--as", "dan"); err == nil || !strings.Contains(err.Error(), "cannot read node hidden: ") {
		t.Errorf("%v\n%s", err, out)
	}
	if got := names(t, c, ns); got != "shop-1 shop-1 shop-2 shop-2" {
		t.Errorf("it left pods and claims %s", got)
	}
}

// TestRecloneSparesNetworkVolumes: a volume that its pod takes to another node is not
// lost, although its claim names the first node.
func TestRecloneSparesNetworkVolumes(t *testing.T) {
	c := apiserver.Client(t, config)
	const ns = "reclone-network"
	namespace(t, c, ns)
	cluster := clusterOfTwo(t, c, ns)
	for name, node := range map[string]string{"shop-1": "elsewhere", "shop-2": "burnt", "shop-3": "burnt"} {
		instance(t, c, cluster, name, node)
	}
	primaryReady(t, c, ns, "shop-1")
	volume(t, c, ns, "shop-2", "")
	volume(t, c, ns, "shop-3", "burnt")
	out, err := plugin(t, "reclone", "--node", "burnt", "--apply")
	if !errors.Is(err, cli.ErrFindings) || !strings.Contains(out, "the node affinity of PersistentVolume reclone-network-shop-2 does not bind it to node burnt alone") {
		t.Errorf("%v\n%s", err, out)
	}
	if got := names(t, c, ns); got != "shop-1 shop-1 shop-2 shop-2" {
		t.Errorf("it left pods and claims %s", got)
	}
}

// volume binds the claim of an instance to a PersistentVolume, on a node or on the network.
func volume(t *testing.T, c client.Client, ns, name, node string) {
	t.Helper()
	claim := &corev1.PersistentVolumeClaim{}
	if err := c.Get(t.Context(), client.ObjectKey{Namespace: ns, Name: name}, claim); err != nil {
		t.Fatal(err)
	}
	v := &corev1.PersistentVolume{ObjectMeta: metav1.ObjectMeta{Name: ns + "-" + name}, Spec: corev1.PersistentVolumeSpec{
		AccessModes: claim.Spec.AccessModes, Capacity: claim.Spec.Resources.Requests,
		PersistentVolumeSource: corev1.PersistentVolumeSource{CSI: &corev1.CSIPersistentVolumeSource{Driver: "zfs.csi.openebs.io", VolumeHandle: name}},
		ClaimRef:               &corev1.ObjectReference{Kind: "PersistentVolumeClaim", APIVersion: "v1", Namespace: ns, Name: name, UID: claim.UID},
	}}
	if node != "" {
		v.Spec.NodeAffinity = &corev1.VolumeNodeAffinity{Required: &corev1.NodeSelector{NodeSelectorTerms: []corev1.NodeSelectorTerm{{
			MatchExpressions: []corev1.NodeSelectorRequirement{{Key: "openebs.io/nodeid", Operator: corev1.NodeSelectorOpIn, Values: []string{node}}},
		}}}}
	}
	create(t, c, v)
	claim.Spec.VolumeName = v.Name
	if err := c.Update(t.Context(), claim); err != nil {
		t.Fatal(err)
	}
}

// TestRecloneShowsWhatItDidBeforeAnError runs as a user who may delete one instance of three.
func TestRecloneShowsWhatItDidBeforeAnError(t *testing.T) {
	c := apiserver.Client(t, config)
	const ns = "reclone-fails"
	namespace(t, c, ns)
	cluster := clusterOfTwo(t, c, ns)
	instance(t, c, cluster, "shop-1", "elsewhere")
	for _, name := range []string{"shop-2", "shop-3", "shop-4"} {
		instance(t, c, cluster, name, "flooded")
	}
	primaryReady(t, c, ns, "shop-1")
	create(t, c,
		&rbacv1.ClusterRole{ObjectMeta: metav1.ObjectMeta{Name: ns}, Rules: []rbacv1.PolicyRule{
			{APIGroups: []string{cnpgv1.SchemeGroupVersion.Group}, Resources: []string{"clusters"}, Verbs: []string{"list"}},
			{APIGroups: []string{""}, Resources: []string{"pods", "persistentvolumeclaims"}, Verbs: []string{"list"}},
			{APIGroups: []string{""}, Resources: []string{"pods", "persistentvolumeclaims"}, Verbs: []string{"delete"}, ResourceNames: []string{"shop-2"}},
			{APIGroups: []string{""}, Resources: []string{"nodes", "persistentvolumes"}, Verbs: []string{"get", "list"}},
		}},
		&rbacv1.ClusterRoleBinding{ObjectMeta: metav1.ObjectMeta{Name: ns}, RoleRef: rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "ClusterRole", Name: ns}, Subjects: []rbacv1.Subject{{Kind: "User", APIGroup: rbacv1.GroupName, Name: "erin"}}})
	args := []string{"reclone", "--node", "flooded", "-n", ns, "--as", "erin"}
	eventually(t, "the binding of erin", func(context.Context) error {
		_, err := plugin(t, args...)
		return err
	})
	out, err := plugin(t, append(args, "--apply")...)
	if err == nil || errors.Is(err, cli.ErrFindings) || !strings.Contains(err.Error(), "delete claim reclone-fails/shop-3: ") {
		t.Errorf("%v", err)
	}
	for _, want := range []string{"shop-2   Deleted   -\n", "shop-3   Failed    delete claim reclone-fails/shop-3: ", "shop-4   Planned   -\n", "The command ended early."} {
		if !strings.Contains(out, want) {
			t.Errorf("no %q in\n%s", want, out)
		}
	}
	if got := names(t, c, ns); got != "shop-1 shop-1 shop-3 shop-3 shop-4 shop-4" {
		t.Errorf("it left pods and claims %s", got)
	}
}

// clusterOfTwo creates the Cluster shop, whose primary is shop-1.
func clusterOfTwo(t *testing.T, c client.Client, ns string) *cnpgv1.Cluster {
	t.Helper()
	cluster := &cnpgv1.Cluster{ObjectMeta: metav1.ObjectMeta{Namespace: ns, Name: "shop"}, Spec: cnpgv1.ClusterSpec{Instances: 2, StorageConfiguration: cnpgv1.StorageConfiguration{Size: "1Gi"}}}
	create(t, c, cluster)
	cluster.Status.CurrentPrimary, cluster.Status.TargetPrimary = "shop-1", "shop-1"
	if err := c.Status().Update(t.Context(), cluster); err != nil {
		t.Fatal(err)
	}
	return cluster
}

// instance creates the pod and the claim of one, without a kubelet that runs it.
func instance(t *testing.T, c client.Client, cluster *cnpgv1.Cluster, name, node string) {
	t.Helper()
	object := metav1.ObjectMeta{
		Namespace: cluster.Namespace, Name: name, Labels: map[string]string{"cnpg.io/cluster": cluster.Name, "cnpg.io/instanceName": name},
		OwnerReferences: []metav1.OwnerReference{*metav1.NewControllerRef(cluster, cnpgv1.SchemeGroupVersion.WithKind("Cluster"))},
	}
	claim := &corev1.PersistentVolumeClaim{ObjectMeta: object, Spec: corev1.PersistentVolumeClaimSpec{
		AccessModes: []corev1.PersistentVolumeAccessMode{corev1.ReadWriteOnce},
		Resources:   corev1.VolumeResourceRequirements{Requests: corev1.ResourceList{corev1.ResourceStorage: resource.MustParse("1Gi")}},
	}}
	claim.Annotations = map[string]string{"volume.kubernetes.io/selected-node": node}
	create(t, c, claim)
	// No controller removes the protection of claims that no pod uses.
	claim.Finalizers = nil
	if err := c.Update(t.Context(), claim); err != nil {
		t.Fatal(err)
	}
	create(t, c, &corev1.Pod{ObjectMeta: object, Spec: corev1.PodSpec{Containers: []corev1.Container{{Name: "postgres", Image: "pg.example/postgresql:17"}}}})
}

func primaryReady(t *testing.T, c client.Client, ns, name string) {
	t.Helper()
	pod := &corev1.Pod{}
	if err := c.Get(t.Context(), client.ObjectKey{Namespace: ns, Name: name}, pod); err != nil {
		t.Fatal(err)
	}
	pod.Status.Conditions = []corev1.PodCondition{{Type: corev1.PodReady, Status: corev1.ConditionTrue}}
	if err := c.Status().Update(t.Context(), pod); err != nil {
		t.Fatal(err)
	}
}

// names of the pods and claims of a namespace that are not being deleted.
func names(t *testing.T, c client.Client, ns string) string {
	t.Helper()
	var out []string
	pods, claims := &corev1.PodList{}, &corev1.PersistentVolumeClaimList{}
	for _, list := range []client.ObjectList{pods, claims} {
		if err := c.List(t.Context(), list, client.InNamespace(ns)); err != nil {
			t.Fatal(err)
		}
	}
	for _, p := range pods.Items {
		out = append(out, p.Name)
	}
	for _, p := range claims.Items {
		if p.DeletionTimestamp == nil {
			out = append(out, p.Name)
		}
	}
	slices.Sort(out)
	return strings.Join(out, " ")
}
