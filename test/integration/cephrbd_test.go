package integration

import (
	"context"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/envtest"

	"github.com/pgstorage/pgstorage/api/v1alpha1"
	"github.com/pgstorage/pgstorage/controllers"
	"github.com/pgstorage/pgstorage/internal/kube/naming"
	"github.com/pgstorage/pgstorage/internal/operator/profile/cephrbd/rook"
	"github.com/pgstorage/pgstorage/internal/testing/apiserver"
	"github.com/pgstorage/pgstorage/internal/testing/manager"
)

// cephOnZFS is a profile of three OSDs on zvols, whose Rook is in a namespace.
func cephOnZFS(name, namespace string) *v1alpha1.PgStorageProfile {
	return &v1alpha1.PgStorageProfile{
		ObjectMeta: metav1.ObjectMeta{Name: name},
		Spec: v1alpha1.PgStorageProfileSpec{
			Type: v1alpha1.ProfileTypeCephRBD, NodeSelector: map[string]string{"test": name},
			CephRBD: &v1alpha1.CephRBDProfile{
				Rook: v1alpha1.RookNames{Namespace: namespace},
				Cluster: &v1alpha1.CephCluster{
					Image:   "quay.io/ceph/ceph:v20.2.4",
					Backing: v1alpha1.CephBacking{ZFS: &v1alpha1.CephZFSBacking{Pool: v1alpha1.CephZFSPool{Name: "tank"}}},
					OSDs:    v1alpha1.CephOSDs{Count: new(int32(3)), Size: new(resource.MustParse("25Gi"))},
				},
			},
		},
	}
}

// unanswered cuts the reads of one resource while it is on.
type unanswered struct {
	inner http.RoundTripper
	path  string
	on    atomic.Bool
	count atomic.Int64
}

func (u *unanswered) RoundTrip(r *http.Request) (*http.Response, error) {
	if u.on.Load() && r.Method == http.MethodGet && strings.HasSuffix(r.URL.Path, u.path) {
		u.count.Add(1)
		return nil, errCut
	}
	return u.inner.RoundTrip(r)
}

// cephStack is a profile on an API server of its own, and the simulated rest.
type cephStack struct {
	// whole test, of which a stage leaves objects for later ones.
	whole     *testing.T
	c         client.Client
	config    *rest.Config
	writes    *writes
	reads     *unanswered
	p         *v1alpha1.PgStorageProfile
	namespace string
	nodes     []string
	osds      []*appsv1.Deployment
	db        *v1alpha1.PgStorageCluster
	backing   []*corev1.PersistentVolume
}

func newCephStack(t *testing.T) *cephStack {
	t.Helper()
	env, stop, err := apiserver.Start(apiserver.CRDs{CNPG: true, ZFSLocalPV: true, VolumeSnapshots: true})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := stop(); err != nil {
			t.Log(err)
		}
	})
	s := &cephStack{whole: t, c: apiserver.Client(t, env.Config), config: env.Config, writes: &writes{}, reads: &unanswered{path: "/zfsnodes"}, namespace: "rook-ceph"}
	config := s.writes.into(env.Config)
	config.Wrap(func(inner http.RoundTripper) http.RoundTripper {
		s.reads.inner = inner
		return s.reads
	})
	manager.Start(t, config, func(o *controllers.Options) { o.Enabled[v1alpha1.ProfileTypeCephRBD] = true })
	create(t, s.c, &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: s.namespace}})
	s.p = cephOnZFS("ceph", s.namespace)
	s.p.Spec.CephRBD.DeletionPolicy = v1alpha1.DeletionDelete
	for _, name := range []string{"n1", "n2", "n3"} {
		node := simulatedNode(t, s.c, name, map[string]string{"test": "ceph", corev1.LabelHostname: name})
		simulatedKubelet(t, s.c, name, func(status *corev1.NodeStatus, _ *corev1.NodeCondition) {
			status.NodeInfo.KernelVersion = "6.1.0-18-amd64"
		})
		simulatedZFSDriver(t, s.c, node, "tank")
		s.nodes = append(s.nodes, name)
	}
	create(t, s.c, s.p)
	for _, node := range s.nodes {
		simulatedAgent(t, s.c, "ceph", node, agentReady())
	}
	return s
}

// says waits for a reason of a condition, and returns its message.
func (s *cephStack) says(t *testing.T, kind, reason string) string {
	t.Helper()
	return profileSays(t, s.c, s.p, kind, reason).Message
}

func (s *cephStack) cluster() *unstructured.Unstructured { return cephClusterIn(s.namespace) }

// made are the UIDs, and generations where there are, of all that the profile has made,
// by kind and name.
func (s *cephStack) made(t *testing.T) map[string]string {
	t.Helper()
	out := map[string]string{}
	for _, o := range []client.Object{
		s.cluster(), poolIn(s.namespace, "ceph"), poolIn(s.namespace, "builtin-mgr"),
		&storagev1.StorageClass{ObjectMeta: metav1.ObjectMeta{Name: "ceph"}}, &storagev1.StorageClass{ObjectMeta: metav1.ObjectMeta{Name: "ceph-block"}},
		&v1alpha1.PgNodeStorage{ObjectMeta: metav1.ObjectMeta{Name: naming.NodeStorage("ceph", "n1")}},
	} {
		if err := s.c.Get(t.Context(), client.ObjectKeyFromObject(o), o); err != nil {
			t.Fatalf("%T %s: %v", o, o.GetName(), err)
		}
		if o.GetDeletionTimestamp() != nil {
			t.Errorf("%T %s is being deleted", o, o.GetName())
		}
		out[fmt.Sprintf("%T %s", o, o.GetName())] = fmt.Sprintf("%s of generation %d", o.GetUID(), o.GetGeneration())
	}
	return out
}

// A profile passes its stages, from a Kubernetes cluster without Rook to the deletion of all
// its objects. The test simulates what Rook does in between.
func TestCephRBD(t *testing.T) {
	s := newCephStack(t)
	for _, stage := range []struct {
		name string
		run  func(*testing.T)
	}{
		{"Rook comes later", s.rookComesLater}, {"a device cannot be prepared", s.prepareFails}, {"OSDs", s.osdsCome},
		{"pools", s.poolsCome}, {"a probe fails", s.probeFails}, {"class", s.classComes},
		{"at rest", s.atRest}, {"checks of health", s.checksOfHealth}, {"blinks", s.blinks}, {"OSDs go", s.osdsGo},
		{"read back", s.readBack}, {"deleted by hand", s.deletedByHand}, {"instances", s.instances}, {"a database runs", s.databaseRuns}, {"an external CephCluster", s.external},
		{"deletion is blocked", s.deletionIsBlocked}, {"Rook's order", s.rooksOrder},
	} {
		if !t.Run(stage.name, stage.run) {
			return
		}
	}
}

func (s *cephStack) rookComesLater(t *testing.T) {
	message := s.says(t, v1alpha1.ConditionCephReady, v1alpha1.ReasonRookNotInstalled)
	if !strings.Contains(message, "install its Helm chart") {
		t.Errorf("no remedy in %q", message)
	}
	get(t, s.c, client.ObjectKey{Name: "ceph-block"}, &storagev1.StorageClass{})
	files, err := apiserver.Foreign(apiserver.CRDs{Rook: true})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := envtest.InstallCRDs(s.config, envtest.CRDInstallOptions{Paths: files, ErrorIfPathMissing: true}); err != nil {
		t.Fatal(err)
	}
	cluster := get(t, s.c, client.ObjectKeyFromObject(s.cluster()), s.cluster())
	if cluster.GetLabels()[naming.LabelOwnerUID] != string(s.p.UID) || len(cluster.GetOwnerReferences()) != 0 {
		t.Errorf("labels %v, owners %v", cluster.GetLabels(), cluster.GetOwnerReferences())
	}
	if _, found, _ := unstructured.NestedMap(cluster.Object, "spec", "cleanupPolicy", "sanitizeDisks"); found {
		t.Error("a cleanup policy is set")
	}
	s.says(t, v1alpha1.ConditionCephReady, v1alpha1.ReasonCephProgressing)
	for _, message := range []string{"Detecting Ceph version", "Configuring Ceph Mons", "Configuring Ceph OSDs"} {
		simulatedRook(t, s.c, cluster, progressing(message))
		eventually(t, message, func(context.Context) error {
			if got := s.says(t, v1alpha1.ConditionCephReady, v1alpha1.ReasonCephProgressing); !strings.HasSuffix(got, message) {
				return fmt.Errorf("%q", got)
			}
			return nil
		})
	}
	simulatedRook(t, s.c, cluster, cephStatus("HEALTH_WARN", "TOO_FEW_OSDS", "HEALTH_WARN"))
	s.says(t, v1alpha1.ConditionCephReady, v1alpha1.ReasonCephUnhealthy)
	absent(t, s.c, client.ObjectKeyFromObject(poolIn(s.namespace, "ceph")), poolIn(s.namespace, "ceph"))
	// Ceph's own pool can be what keeps Ceph from being healthy, so it waits for nothing.
	mgr := get(t, s.c, client.ObjectKey{Namespace: s.namespace, Name: "builtin-mgr"}, poolIn(s.namespace, "builtin-mgr"))
	if size, _, _ := unstructured.NestedInt64(mgr.Object, "spec", "replicated", "size"); size != 3 {
		t.Errorf("size %d", size)
	}
	if floor, _, _ := unstructured.NestedString(mgr.Object, "spec", "parameters", "min_size"); floor != "2" {
		t.Errorf("min_size %s", floor)
	}
}

// prepareFails: Rook starts over and says only that, and the condition has the words of its
// job until the job succeeds.
func (s *cephStack) prepareFails(t *testing.T) {
	simulatedRook(t, s.c, s.cluster(), progressing("Detecting Ceph version"))
	pod := simulatedPrepare(t, s.c, s.namespace, "n2", "first line\nosd.0 belonging to a different ceph cluster\n")
	const want = "Rook cannot prepare OSDs: job/rook-ceph-osd-prepare-n2 on node n2: osd.0 belonging to a different ceph cluster. "
	if got := s.says(t, v1alpha1.ConditionCephReady, v1alpha1.ReasonOSDPrepareFailed); !strings.HasPrefix(got, want) {
		t.Errorf("%q", got)
	}
	settled(t, s.writes) // the operator remembers the failure by its own condition
	deleted(t, s.c, pod)
	settled(t, s.writes)
	s.says(t, v1alpha1.ConditionCephReady, v1alpha1.ReasonOSDPrepareFailed)
	again := simulatedPod(t, s.c, s.namespace, "rook-ceph-osd-prepare-n2-y", "n2", pod.Labels)
	simulatedEnd(t, s.c, again, corev1.PodSucceeded, 0, "")
	s.says(t, v1alpha1.ConditionCephReady, v1alpha1.ReasonCephProgressing)
}

// osdsCome: the pool waits until their volumes are as declared.
func (s *cephStack) osdsCome(t *testing.T) {
	simulatedRook(t, s.c, s.cluster(), cephStatus("HEALTH_OK"))
	s.says(t, v1alpha1.ConditionCephReady, v1alpha1.ReasonOSDsMissing)
	for id, node := range s.nodes {
		s.osds = append(s.osds, simulatedOSD(t, s.c, s.namespace, id, node))
	}
	s.says(t, v1alpha1.ConditionCephReady, v1alpha1.ReasonCephReady)
	s.says(t, v1alpha1.ConditionBackingVerified, v1alpha1.ReasonNotReadBack)
	for _, node := range s.nodes[:2] {
		pv, _ := simulatedOSDVolume(t, s.c, s.p, node, "no")
		s.backing = append(s.backing, pv)
	}
	pv, zvol := simulatedOSDVolume(t, s.c, s.p, s.nodes[2], "yes")
	s.backing = append(s.backing, pv)
	if got := s.says(t, v1alpha1.ConditionBackingVerified, v1alpha1.ReasonVolumeDiffers); !strings.HasPrefix(got, "ZFSVolume pvc-ceph-n3 of claim pgstorage-data-n3 has thinProvision yes") {
		t.Errorf("%q", got)
	}
	absent(t, s.c, client.ObjectKeyFromObject(poolIn(s.namespace, "ceph")), poolIn(s.namespace, "ceph"))
	changed(t, s.c, zvol, func() { zvol.Object["spec"].(fields)["thinProvision"] = "no" })
	s.says(t, v1alpha1.ConditionBackingVerified, v1alpha1.ReasonVerified)
}

func (s *cephStack) poolsCome(t *testing.T) {
	for _, name := range []string{"ceph", "builtin-mgr"} {
		pool := get(t, s.c, client.ObjectKey{Namespace: s.namespace, Name: name}, poolIn(s.namespace, name))
		s.says(t, v1alpha1.ConditionBlockPoolReady, v1alpha1.ReasonBlockPoolNotReady)
		simulatedRook(t, s.c, pool, poolReady)
	}
	s.says(t, v1alpha1.ConditionBlockPoolReady, v1alpha1.ReasonBlockPoolReady)
	s.says(t, v1alpha1.ConditionPoolVerified, v1alpha1.ReasonProbePending)
	create(t, s.c, &storagev1.CSIDriver{ObjectMeta: metav1.ObjectMeta{Name: "rook-ceph.rbd.csi.ceph.com"}})
	s.says(t, v1alpha1.ConditionStorageReady, v1alpha1.ReasonStorageClassNotFound)
}

// probeFails: Rook calls the pool Ready, no image can be created, and no class comes. The
// words stay until another probe has ended.
func (s *cephStack) probeFails(t *testing.T) {
	job := simulatedProbe(t, s.c, s.namespace, "ceph", "pool ceph: rbd create failed: rbd: create error: (95) Operation not supported")
	const want = ": pool ceph: rbd create failed: rbd: create error: (95) Operation not supported (Simulated). "
	if got := s.says(t, v1alpha1.ConditionPoolVerified, v1alpha1.ReasonProbeFailed); !strings.Contains(got, want) {
		t.Errorf("%q", got)
	}
	settled(t, s.writes)
	absent(t, s.c, client.ObjectKey{Name: "ceph"}, &storagev1.StorageClass{})
	if key := s.p.Status.Ceph.ProbedKey; key != "" {
		t.Errorf("probed %s", key)
	}
	deleted(t, s.c, job)
	get(t, s.c, client.ObjectKeyFromObject(job), job)
	settled(t, s.writes)
	s.says(t, v1alpha1.ConditionPoolVerified, v1alpha1.ReasonProbeFailed)
}

func (s *cephStack) classComes(t *testing.T) {
	job := simulatedProbe(t, s.c, s.namespace, "ceph", "")
	s.says(t, v1alpha1.ConditionPoolVerified, v1alpha1.ReasonPoolVerified)
	s.says(t, v1alpha1.ConditionReady, v1alpha1.ReasonReady)
	// Kubernetes deletes the Job, and no other one comes.
	deleted(t, s.c, job)
	settled(t, s.writes)
	absent(t, s.c, client.ObjectKeyFromObject(job), job)
	s.says(t, v1alpha1.ConditionReady, v1alpha1.ReasonReady)
	class := get(t, s.c, client.ObjectKey{Name: "ceph"}, &storagev1.StorageClass{})
	if p := class.Parameters; p["pool"] != "ceph" || p["clusterID"] != s.namespace || p["imageFeatures"] != "layering,exclusive-lock,object-map,fast-diff,deep-flatten" {
		t.Errorf("parameters %v", p)
	}
	if r := s.p.Status.Ceph; r.Health != "HEALTH_OK" || *r.OSDs != 3 || *r.OSDsUp != 3 || r.ClusterUID == "" || !slices.Equal(r.OSDHosts, s.nodes) {
		t.Errorf("%+v", r)
	}
}

// atRest nothing is written: not when Rook reports a check, nor when Ceph fills.
func (s *cephStack) atRest(t *testing.T) {
	before := settled(t, s.writes)
	status := cephStatus("HEALTH_OK")
	status["ceph"].(fields)["lastChecked"] = "2026-11-21T00:01:00Z"
	status["ceph"].(fields)["capacity"].(fields)["bytesUsed"] = int64(2) << 30
	simulatedRook(t, s.c, s.cluster(), status)
	// A pass that changes nothing.
	create(t, s.c, storageClass("wakes-every-profile"))
	if n := settled(t, s.writes) - before; n != 0 {
		t.Errorf("%d writes at rest", n)
	}
}

// checksOfHealth: each changes what is said, and no object.
func (s *cephStack) checksOfHealth(t *testing.T) {
	before, objects := s.made(t), s.writes.objects.Load()
	const warn, bad = "HEALTH_WARN", "HEALTH_ERR"
	for _, check := range []struct{ health, name, severity, reason string }{
		{warn, "OSD_DOWN", warn, v1alpha1.ReasonCephWarning}, {warn, "PG_DEGRADED", warn, v1alpha1.ReasonCephWarning},
		{warn, "PG_AVAILABILITY", warn, v1alpha1.ReasonCephWarning}, {warn, "MON_DOWN", warn, v1alpha1.ReasonCephWarning},
		{warn, "SLOW_OPS", warn, v1alpha1.ReasonCephWarning}, {warn, "OSD_NEARFULL", warn, v1alpha1.ReasonCephUnhealthy},
		{warn, "POOL_NO_REDUNDANCY", warn, v1alpha1.ReasonCephUnhealthy}, {warn, "MON_DISK_LOW", warn, v1alpha1.ReasonCephUnhealthy},
		{warn, "RECENT_CRASH", warn, v1alpha1.ReasonCephReady}, {warn, "OBJECT_MISPLACED", warn, v1alpha1.ReasonCephReady},
		{bad, "OSD_FULL", bad, v1alpha1.ReasonCephUnhealthy}, {bad, "PG_DAMAGED", bad, v1alpha1.ReasonCephUnhealthy},
		{bad, "MON_DISK_CRIT", bad, v1alpha1.ReasonCephUnhealthy}, {bad, "MGR_MODULE_ERROR", bad, v1alpha1.ReasonCephModuleFailed},
	} {
		simulatedRook(t, s.c, s.cluster(), cephStatus(check.health, check.name, check.severity))
		eventually(t, check.name, func(context.Context) error {
			s.says(t, v1alpha1.ConditionCephReady, check.reason)
			if c := s.p.Status.Ceph.Checks; len(c) != 1 || c[0].Name != check.name {
				return fmt.Errorf("%+v", c)
			}
			return nil
		})
	}
	simulatedRook(t, s.c, s.cluster(), cephStatus("HEALTH_OK"))
	s.says(t, v1alpha1.ConditionReady, v1alpha1.ReasonReady)
	s.unchanged(t, before, objects)
}

// unchanged says that no object was written, deleted or made again.
func (s *cephStack) unchanged(t *testing.T, before map[string]string, objects int64) {
	t.Helper()
	settled(t, s.writes)
	if n := s.writes.objects.Load() - objects; n != 0 {
		t.Errorf("%d objects were written or deleted", n)
	}
	for what, now := range s.made(t) {
		if now != before[what] {
			t.Errorf("%s is %s, was %s", what, now, before[what])
		}
	}
}

// blinks are reads that fail: they delete nothing and create nothing again.
func (s *cephStack) blinks(t *testing.T) {
	before, objects := s.made(t), s.writes.objects.Load()
	simulatedRook(t, s.c, s.cluster(), nil)
	s.says(t, v1alpha1.ConditionCephReady, v1alpha1.ReasonCephProgressing)
	simulatedRook(t, s.c, poolIn(s.namespace, "ceph"), nil)
	s.says(t, v1alpha1.ConditionBlockPoolReady, v1alpha1.ReasonBlockPoolNotReady)
	driver := &storagev1.CSIDriver{ObjectMeta: metav1.ObjectMeta{Name: "rook-ceph.rbd.csi.ceph.com"}}
	deleted(t, s.c, driver)
	s.says(t, v1alpha1.ConditionStorageReady, v1alpha1.ReasonDriverNotInstalled)
	// A pass that cannot read writes nothing at all.
	all := settled(t, s.writes)
	s.reads.on.Store(true)
	simulatedRook(t, s.c, s.cluster(), cephStatus("HEALTH_ERR"))
	eventually(t, "a pass that fails", func(context.Context) error {
		if n := s.reads.count.Load(); n < 2 {
			return fmt.Errorf("%d reads failed", n)
		}
		return nil
	})
	if n := settled(t, s.writes) - all; n != 0 {
		t.Errorf("%d writes without having read", n)
	}
	s.reads.on.Store(false)
	s.says(t, v1alpha1.ConditionCephReady, v1alpha1.ReasonCephUnhealthy)
	simulatedRook(t, s.c, s.cluster(), cephStatus("HEALTH_OK"))
	simulatedRook(t, s.c, poolIn(s.namespace, "ceph"), poolReady)
	create(t, s.c, &storagev1.CSIDriver{ObjectMeta: metav1.ObjectMeta{Name: "rook-ceph.rbd.csi.ceph.com"}})
	s.says(t, v1alpha1.ConditionReady, v1alpha1.ReasonReady)
	s.unchanged(t, before, objects)
}

// osdsGo: one whose pod is away, one that moved to another's node, and a wrong class.
func (s *cephStack) osdsGo(t *testing.T) {
	before, objects := s.made(t), s.writes.objects.Load()
	simulatedOSDPods(t, s.c, s.osds[1], 0)
	if got := s.says(t, v1alpha1.ConditionCephReady, v1alpha1.ReasonOSDsMissing); !strings.HasPrefix(got, "2 of 3 OSDs run") {
		t.Errorf("%q", got)
	}
	simulatedOSDPods(t, s.c, s.osds[1], 1)
	s.says(t, v1alpha1.ConditionCephReady, v1alpha1.ReasonCephReady)
	change := func(node, class string) {
		t.Helper()
		d := s.osds[2]
		changed(t, s.c, d, func() {
			d.Spec.Template.Spec.NodeSelector[corev1.LabelHostname], d.Labels["device-class"] = node, class
		})
	}
	change("n1", "ssd")
	if got := s.says(t, v1alpha1.ConditionCephReady, v1alpha1.ReasonTooFewDomains); !strings.Contains(got, "2 failure domains (host: n1, n2) and a block needs 3") {
		t.Errorf("%q", got)
	}
	change("n3", "hdd")
	if got := s.says(t, v1alpha1.ConditionCephReady, v1alpha1.ReasonOSDsDiffer); !strings.Contains(got, "hdd of osd.2") {
		t.Errorf("%q", got)
	}
	change("n3", "ssd")
	s.says(t, v1alpha1.ConditionReady, v1alpha1.ReasonReady)
	s.unchanged(t, before, objects)
}

// readBack: the profile names a manual change, and reverts it where it can.
func (s *cephStack) readBack(t *testing.T) {
	simulatedRook(t, s.c, s.cluster(), cephStatus("HEALTH_ERR"))
	s.says(t, v1alpha1.ConditionCephReady, v1alpha1.ReasonCephUnhealthy)
	pool := get(t, s.c, client.ObjectKey{Namespace: s.namespace, Name: "ceph"}, poolIn(s.namespace, "ceph"))
	changed(t, s.c, pool, func() {
		if err := unstructured.SetNestedField(pool.Object, int64(2), "spec", "replicated", "size"); err != nil {
			t.Fatal(err)
		}
	})
	if got := s.says(t, v1alpha1.ConditionBlockPoolReady, v1alpha1.ReasonBlockPoolDiffers); !strings.Contains(got, "has replicated.size 2 (declared: 3)") {
		t.Errorf("%q", got)
	}
	simulatedRook(t, s.c, s.cluster(), cephStatus("HEALTH_OK"))
	s.says(t, v1alpha1.ConditionBlockPoolReady, v1alpha1.ReasonBlockPoolNotReady)
	simulatedRook(t, s.c, pool, poolReady)
	s.says(t, v1alpha1.ConditionReady, v1alpha1.ReasonReady)
	if size, _, _ := unstructured.NestedInt64(pool.Object, "spec", "replicated", "size"); size != 3 {
		t.Errorf("size %d", size)
	}

	class := get(t, s.c, client.ObjectKey{Name: "ceph"}, &storagev1.StorageClass{})
	if err := s.c.Delete(t.Context(), class); err != nil {
		t.Fatal(err)
	}
	uid := class.UID
	eventually(t, "the class made anew", func(ctx context.Context) error {
		if err := s.c.Get(ctx, client.ObjectKey{Name: "ceph"}, class); err != nil || class.UID == uid {
			return fmt.Errorf("%s %w", class.UID, err)
		}
		return nil
	})
	s.says(t, v1alpha1.ConditionReady, v1alpha1.ReasonReady)
}

// deletedByHand: no other CephCluster is made in the place of one that had OSDs; one
// that is restored with its labels is the profile's again.
func (s *cephStack) deletedByHand(t *testing.T) {
	cluster := get(t, s.c, client.ObjectKeyFromObject(s.cluster()), s.cluster())
	objects := s.writes.objects.Load()
	if err := s.c.Delete(t.Context(), cluster); err != nil {
		t.Fatal(err)
	}
	if got := s.says(t, v1alpha1.ConditionCephReady, v1alpha1.ReasonCephDeleted); !strings.HasSuffix(got, naming.AnnotationRecreateCeph+"="+string(cluster.GetUID())) {
		t.Errorf("%q", got)
	}
	settled(t, s.writes)
	absent(t, s.c, client.ObjectKeyFromObject(cluster), s.cluster())
	if n := s.writes.objects.Load() - objects; n != 0 {
		t.Errorf("%d objects were written or deleted", n)
	}
	restored := s.cluster()
	restored.SetLabels(cluster.GetLabels())
	restored.SetAnnotations(cluster.GetAnnotations())
	restored.Object["spec"] = cluster.Object["spec"]
	create(t, s.c, restored)
	simulatedRook(t, s.c, restored, cephStatus("HEALTH_OK"))
	// It may be another Ceph, so its pools are probed again.
	probe := simulatedProbe(t, s.c, s.namespace, "ceph", "")
	s.says(t, v1alpha1.ConditionReady, v1alpha1.ReasonReady)
	deleted(t, s.c, probe)
	if got := s.p.Status.Ceph.ClusterUID; got != string(restored.GetUID()) {
		t.Errorf("known as %s", got)
	}
}

// instances are found on the nodes of their pods, on volumes that nothing attaches.
func (s *cephStack) instances(t *testing.T) {
	cr := cluster(namespace(s.whole, s.c), "shop", "ceph")
	create(s.whole, s.c, cr)
	eventually(t, "the copies of shop", func(context.Context) error {
		s.says(t, v1alpha1.ConditionReady, v1alpha1.ReasonReady)
		if c := s.p.Status.Ceph.Copies; len(c) != 1 || c[0].Cluster != cr.Namespace+"/shop" {
			return fmt.Errorf("%+v", c)
		}
		return nil
	})
	claim := &corev1.PersistentVolumeClaim{ObjectMeta: metav1.ObjectMeta{Namespace: cr.Namespace, Name: "shop-1"}}
	pv := simulatedPV("pvc-shop-1", "ceph", "rook-ceph.rbd.csi.ceph.com", claim)
	create(t, s.c, pv)
	s.says(t, v1alpha1.ConditionFailuresIndependent, v1alpha1.ReasonIndependent)
	simulatedPod(t, s.c, cr.Namespace, "shop-1", "n2", map[string]string{"cnpg.io/cluster": "shop"}, "shop-1")
	if got := s.says(t, v1alpha1.ConditionFailuresIndependent, v1alpha1.ReasonSharedNodes); !strings.Contains(got, "n2 ("+cr.Namespace+"/shop shop-1)") {
		t.Errorf("%q", got)
	}
	s.db = cr
}

// databaseRuns keeps its storage while Ceph only warns, and not while data is not available.
func (s *cephStack) databaseRuns(t *testing.T) {
	simulatedHealthy(t, s.c, client.ObjectKeyFromObject(s.db))
	hasCondition(t, s.c, s.db, v1alpha1.ConditionStorageReady, metav1.ConditionTrue, v1alpha1.ReasonReady)
	simulatedRook(t, s.c, s.cluster(), cephStatus("HEALTH_WARN", "PG_DEGRADED", "HEALTH_WARN"))
	hasCondition(t, s.c, s.db, v1alpha1.ConditionStorageReady, metav1.ConditionTrue, v1alpha1.ReasonCephWarning)
	simulatedRook(t, s.c, s.cluster(), cephStatus("HEALTH_WARN", "PG_AVAILABILITY", "HEALTH_WARN"))
	hasCondition(t, s.c, s.db, v1alpha1.ConditionStorageReady, metav1.ConditionFalse, v1alpha1.ReasonProfileNotReady)
	simulatedRook(t, s.c, s.cluster(), cephStatus("HEALTH_OK"))
	simulatedOSDPods(t, s.c, s.osds[1], 0)
	hasCondition(t, s.c, s.db, v1alpha1.ConditionStorageReady, metav1.ConditionTrue, v1alpha1.ReasonOSDsMissing)
	simulatedOSDPods(t, s.c, s.osds[1], 1)
	hasCondition(t, s.c, s.db, v1alpha1.ConditionStorageReady, metav1.ConditionTrue, v1alpha1.ReasonReady)
	deleted(t, s.c, s.db)
}

// external: the profile uses a foreign CephCluster without changing it, and a pool stays when
// the profile is deleted.
func (s *cephStack) external(t *testing.T) {
	create(t, s.c, &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: "rook-shared"}})
	shared := cephClusterIn("rook-shared")
	shared.Object["spec"] = fields{"external": fields{"enable": true}}
	create(t, s.c, shared)
	p := &v1alpha1.PgStorageProfile{ObjectMeta: metav1.ObjectMeta{Name: "shared"}, Spec: v1alpha1.PgStorageProfileSpec{
		Type: v1alpha1.ProfileTypeCephRBD, CephRBD: &v1alpha1.CephRBDProfile{External: new(true), Rook: v1alpha1.RookNames{Namespace: "rook-shared"}},
	}}
	create(t, s.c, p)
	profileSays(t, s.c, p, v1alpha1.ConditionCephReady, v1alpha1.ReasonCephProgressing)
	simulatedRook(t, s.c, shared, fields{"phase": "Connected", "state": "Connected", "message": "Cluster connected successfully", "ceph": fields{"health": "HEALTH_OK"}})
	pool := get(t, s.c, client.ObjectKey{Namespace: "rook-shared", Name: "shared"}, poolIn("rook-shared", "shared"))
	version := get(t, s.c, client.ObjectKeyFromObject(shared), shared).GetResourceVersion()
	simulatedRook(t, s.c, pool, poolReady)
	profileSays(t, s.c, p, v1alpha1.ConditionReady, v1alpha1.ReasonReady)
	if c := profileSays(t, s.c, p, v1alpha1.ConditionPoolVerified, v1alpha1.ReasonNotVerified); c.Status != metav1.ConditionUnknown {
		t.Errorf("%+v", c)
	}
	// The profile's volumes do not hold it, and it does not take their class.
	pv := simulatedPV("pvc-shared", "shared", "rook-ceph.rbd.csi.ceph.com", &corev1.PersistentVolumeClaim{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "kept-1"}})
	create(t, s.c, pv)
	if err := s.c.Delete(t.Context(), p); err != nil {
		t.Fatal(err)
	}
	gone(t, s.c, client.ObjectKeyFromObject(p), p)
	get(t, s.c, client.ObjectKey{Name: "shared"}, &storagev1.StorageClass{})
	if pool := get(t, s.c, client.ObjectKeyFromObject(pool), pool); pool.GetDeletionTimestamp() != nil {
		t.Error("the pool is being deleted")
	}
	if now := get(t, s.c, client.ObjectKeyFromObject(shared), shared).GetResourceVersion(); now != version {
		t.Error("the CephCluster was written")
	}
}

// deletionIsBlocked while clusters use the profile, and then while its volumes exist.
func (s *cephStack) deletionIsBlocked(t *testing.T) {
	for _, o := range []*unstructured.Unstructured{s.cluster(), poolIn(s.namespace, "ceph"), poolIn(s.namespace, "builtin-mgr")} {
		simulatedFinalizer(t, s.c, o, true)
	}
	cr := cluster(namespace(s.whole, s.c), "last", "ceph")
	create(s.whole, s.c, cr)
	before := s.made(t)
	eventually(t, "the cluster is counted", func(context.Context) error {
		s.says(t, v1alpha1.ConditionStorageReady, v1alpha1.ReasonStorageClassApplied)
		if s.p.Status.Clusters == nil || *s.p.Status.Clusters != 1 {
			return fmt.Errorf("%v", s.p.Status.Clusters)
		}
		return nil
	})
	if err := s.c.Delete(t.Context(), s.p); err != nil {
		t.Fatal(err)
	}
	if got := s.says(t, v1alpha1.ConditionStorageReady, v1alpha1.ReasonInUse); !strings.Contains(got, cr.Namespace+"/last") {
		t.Errorf("%q", got)
	}
	deleted(t, s.c, cr)
	eventually(t, "the volumes are named", func(context.Context) error {
		if got := s.says(t, v1alpha1.ConditionStorageReady, v1alpha1.ReasonInUse); !strings.Contains(got, "1 PersistentVolumes of StorageClass ceph: pvc-shop-1") {
			return fmt.Errorf("%q", got)
		}
		return nil
	})
	for what, now := range s.made(t) {
		if now != before[what] {
			t.Errorf("%s is %s, was %s", what, now, before[what])
		}
	}
}

// rooksOrder is class, pools, Ceph's own pool, CephCluster, and the objects below it. Each is
// deleted once Rook released the one before.
func (s *cephStack) rooksOrder(t *testing.T) {
	blocked := func(o *unstructured.Unstructured, kind, message string) {
		t.Helper()
		eventually(t, "the deletion of "+o.GetName(), func(ctx context.Context) error {
			if err := s.c.Get(ctx, client.ObjectKeyFromObject(o), o); err != nil || o.GetDeletionTimestamp() == nil {
				return fmt.Errorf("it is not deleted %w", err)
			}
			return nil
		})
		if policy, found, _ := unstructured.NestedMap(o.Object, "spec", "cleanupPolicy"); found && policy["confirmation"] != nil && policy["confirmation"] != "" {
			t.Errorf("cleanupPolicy %v", policy)
		}
		simulatedRook(t, s.c, o, blockedBy(kind, message))
		eventually(t, "Rook's words", func(context.Context) error {
			if got := s.says(t, v1alpha1.ConditionStorageReady, v1alpha1.ReasonDeleting); !strings.HasSuffix(got, "is held by Rook: "+message) {
				return fmt.Errorf("%q", got)
			}
			return nil
		})
	}
	standing := func(o client.Object) {
		t.Helper()
		if err := s.c.Get(t.Context(), client.ObjectKeyFromObject(o), o); err != nil || o.GetDeletionTimestamp() != nil {
			t.Errorf("%T %s: %v, deleted %v", o, o.GetName(), err, o.GetDeletionTimestamp())
		}
	}
	deleted(t, s.c, &corev1.PersistentVolume{ObjectMeta: metav1.ObjectMeta{Name: "pvc-shop-1"}})
	gone(t, s.c, client.ObjectKey{Name: "ceph"}, &storagev1.StorageClass{})
	pool, mgr, cluster := poolIn(s.namespace, "ceph"), poolIn(s.namespace, "builtin-mgr"), s.cluster()
	blocked(pool, rook.ConditionPoolDeletionIsBlocked, "pool \"ceph\" contains images or snapshots")
	standing(mgr)
	standing(cluster)
	simulatedFinalizer(t, s.c, pool, false)
	blocked(mgr, rook.ConditionDeletionIsBlocked, "simulated")
	standing(cluster)
	simulatedFinalizer(t, s.c, mgr, false)
	blocked(cluster, rook.ConditionDeletionIsBlocked, "CephFilesystem: [shared]")
	standing(&v1alpha1.PgNodeStorage{ObjectMeta: metav1.ObjectMeta{Name: naming.NodeStorage("ceph", "n1")}})
	simulatedFinalizer(t, s.c, cluster, false)
	eventually(t, "the volumes of the OSDs", func(context.Context) error {
		if got := s.says(t, v1alpha1.ConditionStorageReady, v1alpha1.ReasonDeleting); !strings.Contains(got, "3 PersistentVolumes of OSDs and mons") {
			return fmt.Errorf("%q", got)
		}
		return nil
	})
	standing(&v1alpha1.PgNodeStorage{ObjectMeta: metav1.ObjectMeta{Name: naming.NodeStorage("ceph", "n1")}})
	for _, pv := range s.backing {
		deleted(t, s.c, pv)
	}
	gone(t, s.c, client.ObjectKeyFromObject(s.p), s.p)
	absent(t, s.c, client.ObjectKey{Name: naming.BlockClass("ceph")}, &storagev1.StorageClass{})
	absent(t, s.c, client.ObjectKey{Name: naming.NodeStorage("ceph", "n1")}, &v1alpha1.PgNodeStorage{})
}

// Experimental features are off by default.
func TestCephRBDIsOffByDefault(t *testing.T) {
	c := apiserver.Client(t, config)
	manager.Start(t, config)
	p := &v1alpha1.PgStorageProfile{
		ObjectMeta: metav1.ObjectMeta{Name: "ceph-withheld"},
		Spec: v1alpha1.PgStorageProfileSpec{
			Type: v1alpha1.ProfileTypeCephRBD, NodeSelector: map[string]string{"test": "ceph-withheld"},
			CephRBD: &v1alpha1.CephRBDProfile{Cluster: &v1alpha1.CephCluster{
				Image:   "quay.io/ceph/ceph:v20.2.4",
				Backing: v1alpha1.CephBacking{ZFS: &v1alpha1.CephZFSBacking{Pool: v1alpha1.CephZFSPool{Name: "tank"}}},
				OSDs:    v1alpha1.CephOSDs{Count: new(int32(3)), Size: new(resource.MustParse("25Gi"))},
			}},
		},
	}
	simulatedNode(t, c, "ceph-withheld", p.Spec.NodeSelector)
	create(t, c, p)
	profileSays(t, c, p, v1alpha1.ConditionReady, v1alpha1.ReasonInvalidSpec)
	absent(t, c, client.ObjectKey{Name: naming.NodeStorage("ceph-withheld", "ceph-withheld")}, &v1alpha1.PgNodeStorage{})
	absent(t, c, client.ObjectKey{Name: naming.BlockClass("ceph-withheld")}, &storagev1.StorageClass{})
	if err := c.Delete(t.Context(), p); err != nil {
		t.Fatal(err)
	}
	gone(t, c, client.ObjectKeyFromObject(p), p)
}
