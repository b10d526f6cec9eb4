package s3nbd

import (
	"fmt"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/pgstorage/pgstorage/api/v1alpha1"
	"github.com/pgstorage/pgstorage/internal/kube/naming"
	"github.com/pgstorage/pgstorage/internal/kube/outcome"
	"github.com/pgstorage/pgstorage/internal/operator/component/nbdserver"
	"github.com/pgstorage/pgstorage/internal/operator/observed"
	"github.com/pgstorage/pgstorage/internal/testing/golden"
	"github.com/pgstorage/pgstorage/internal/testing/zfsnodes"
)

func store(name, bucket, region string) v1alpha1.S3Store {
	return v1alpha1.S3Store{
		Name: name, Bucket: bucket, Prefix: "prod", Region: region, PathStyle: new(true),
		CredentialsSecret: name + "-keys", EncryptionSecret: "zerofs",
	}
}

// stripe is a profile with only what is required, as the API server completes it.
func stripe(change func(*v1alpha1.S3NBDProfile)) *v1alpha1.PgStorageProfile {
	n := &v1alpha1.S3NBDProfile{
		Pool:    v1alpha1.S3NBDPool{Name: "lake", Ashift: new(int32(12)), Autotrim: "on", Failmode: "wait", HeadroomPercent: new(int32(20))},
		Stores:  []v1alpha1.S3Store{store("main", "acme-pg", "eu-central-1")},
		Layout:  v1alpha1.S3NBDStripe,
		Devices: v1alpha1.S3NBDDevices{Count: new(int32(3)), Size: resource.MustParse("500Gi")},
		ZeroFS: v1alpha1.ZeroFSServer{
			Family: v1alpha1.ZeroFS2, Image: "ghcr.io/barre/zerofs:2.3.0", FlushInterval: "30s", PriorityClassName: "system-node-critical",
			Resources: v1alpha1.ZeroFSResources{CPU: resource.MustParse("1"), Memory: resource.MustParse("2Gi")},
			Cache:     v1alpha1.ZeroFSCache{HostPath: "/var/lib/pgstorage/zerofs", Size: resource.MustParse("10Gi"), Memory: resource.MustParse("256Mi")},
		},
		Data:         v1alpha1.ZFSDataDataset{ZFSDatasetProperties: zfsnodes.Properties(), Recordsize: "8k", Secondarycache: "all"},
		WAL:          v1alpha1.ZFSWALDataset{ZFSDatasetProperties: zfsnodes.Properties(), Recordsize: "32k", Secondarycache: "none"},
		OnServerLost: v1alpha1.ServerLostWait,
		DriftPolicy:  v1alpha1.DriftRepair,
	}
	if change != nil {
		change(n)
	}
	return &v1alpha1.PgStorageProfile{
		ObjectMeta: metav1.ObjectMeta{Name: "s3", UID: "11111111-2222-3333-4444-555555555555", Generation: 1, CreationTimestamp: metav1.Unix(2000, 0)},
		Spec:       v1alpha1.PgStorageProfileSpec{Type: v1alpha1.ProfileTypeS3NBD, NodeSelector: map[string]string{"pgstorage.dev/pool": "lake"}, S3NBD: n},
	}
}

func threeStores(n *v1alpha1.S3NBDProfile) {
	n.Layout, n.Devices.Count = v1alpha1.S3NBDMirror, new(int32(1))
	n.Stores = []v1alpha1.S3Store{store("fra", "acme-pg-fra", "eu-central-1"), store("dub", "acme-pg-dub", "eu-west-1"), store("sto", "acme-pg-sto", "eu-north-1")}
}

func answered(node string, conditions ...metav1.Condition) *v1alpha1.PgNodeStorage {
	s := zfsnodes.Answered("s3", node, conditions...)
	s.Status.ARC = &v1alpha1.ObservedARC{Max: new(resource.MustParse("8Gi"))}
	return s
}

var operator = observed.Operator{Namespace: "pgstorage-system", Image: "ghcr.io/pgstorage/pgstorage:v0.1.0"}

// pod of a store's server that runs as the profile says.
func pod(t *testing.T, p *v1alpha1.PgStorageProfile, store v1alpha1.S3Store, node string) *corev1.Pod {
	t.Helper()
	revision, err := nbdserver.Server{Profile: p, Store: store, Operator: operator}.Revision()
	if err != nil {
		t.Fatal(err)
	}
	return &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{
			Namespace: "pgstorage-system", Name: naming.Server(p.Name, store.Name) + "-" + node,
			Labels: map[string]string{naming.LabelStore: store.Name}, Annotations: map[string]string{naming.AnnotationRevision: revision},
		},
		Spec: corev1.PodSpec{NodeName: node},
		Status: corev1.PodStatus{
			Conditions:            []corev1.PodCondition{{Type: corev1.PodReady, Status: corev1.ConditionTrue}},
			InitContainerStatuses: []corev1.ContainerStatus{{Name: nbdserver.Preflight, Ready: true, State: corev1.ContainerState{Terminated: &corev1.ContainerStateTerminated{}}}},
			ContainerStatuses:     []corev1.ContainerStatus{{Name: nbdserver.Container, Ready: true, State: corev1.ContainerState{Running: &corev1.ContainerStateRunning{}}}},
		},
	}
}

// healthy facts: two nodes that are as declared, with their servers.
func healthy(t *testing.T, p *v1alpha1.PgStorageProfile) observed.Profile {
	t.Helper()
	f := zfsnodes.Healthy("s3", "lake")
	f.ZFSQuotaType, f.Operator = true, operator
	f.Storages = []*v1alpha1.PgNodeStorage{answered("n1"), answered("n2")}
	for i := range f.Nodes {
		f.Nodes[i].Memory = 64 << 30
	}
	for _, name := range p.Spec.S3NBD.Stores {
		f.Servers = append(f.Servers, pod(t, p, name, "n1"), pod(t, p, name, "n2"))
	}
	return f
}

func TestPlans(t *testing.T) {
	for _, tc := range []struct {
		name    string
		profile *v1alpha1.PgStorageProfile
		facts   func(*observed.Profile)
	}{
		{name: "stripe", profile: stripe(nil)},
		{name: "mirror", profile: stripe(threeStores)},
		{name: "mirror-of-two", profile: stripe(func(n *v1alpha1.S3NBDProfile) {
			threeStores(n)
			n.Stores, n.RequestTimeout = n.Stores[:2], "10s"
		})},
		{name: "family-0.19", profile: stripe(func(n *v1alpha1.S3NBDProfile) {
			n.ZeroFS.Family, n.ZeroFS.Image = v1alpha1.ZeroFS019, "registry.example/zerofs:0.19.1"
			n.Stores[0].Endpoint, n.Stores[0].AllowHTTP = "http://minio.storage.svc:9000", new(true)
		})},
		{name: "l2arc-and-slog", profile: stripe(func(n *v1alpha1.S3NBDProfile) {
			n.L2ARC = &v1alpha1.S3NBDCacheDevice{Device: v1alpha1.ZFSDevice{Path: "/dev/disk/by-id/nvme-cache-part1", Wipe: new(true)}}
			n.SLOG = &v1alpha1.S3NBDLogDevice{AcceptLoss: true, Devices: []v1alpha1.ZFSDevice{{Path: "/dev/disk/by-id/nvme-a-part1"}, {Path: "/dev/disk/by-id/nvme-b-part1"}}}
			n.ARCMax = new(resource.MustParse("8Gi"))
			n.OnServerLost, n.Pool.Failmode = v1alpha1.ServerLostRebootNode, "panic"
			n.ZeroFS.ImagePullSecrets, n.ZeroFS.PriorityClassName = []string{"registry"}, "storage"
		})},
		{name: "a-node-that-is-let-go", profile: stripe(nil), facts: func(f *observed.Profile) { f.Nodes = f.Nodes[:1] }},
		{name: "no-node", profile: stripe(nil), facts: func(f *observed.Profile) { f.Nodes, f.Storages, f.Servers = nil, nil, nil }},
	} {
		t.Run(tc.name, func(t *testing.T) {
			facts := healthy(t, tc.profile)
			if tc.facts != nil {
				tc.facts(&facts)
			}
			built, err := Type{}.Build(tc.profile, facts)
			if err != nil {
				t.Fatal(err)
			}
			golden.Plan(t, tc.name, &built.Plan)
		})
	}
}

func ended(code int32, message string) corev1.ContainerState {
	return corev1.ContainerState{Terminated: &corev1.ContainerStateTerminated{ExitCode: code, Message: message}}
}

func waiting(reason, message string) corev1.ContainerState {
	return corev1.ContainerState{Waiting: &corev1.ContainerStateWaiting{Reason: reason, Message: message}}
}

// A server that does not run, in the words of the kubelet or of the preflight.
func TestServers(t *testing.T) {
	failed := metav1.Condition{Type: v1alpha1.ConditionReady, Status: metav1.ConditionFalse, Reason: v1alpha1.ReasonServerNotRunning, Message: "no server"}
	checked := func(reason, message string) func(*corev1.Pod) {
		return func(p *corev1.Pod) {
			p.Status.Conditions, p.Status.ContainerStatuses = nil, nil
			p.Status.InitContainerStatuses[0] = corev1.ContainerStatus{Name: nbdserver.Preflight, State: waiting("CrashLoopBackOff", "back-off"), LastTerminationState: ended(1, fmt.Sprintf(`{"reason":%q,"message":%q}`, reason, message))}
		}
	}
	again := func(reason, message string) func(*corev1.Pod) {
		return func(p *corev1.Pod) {
			checked(reason, message)(p)
			p.Status.InitContainerStatuses[0].State = corev1.ContainerState{Running: &corev1.ContainerStateRunning{}}
		}
	}
	held := func(reason, message string) func(*corev1.Pod) {
		return func(p *corev1.Pod) {
			p.Status.Conditions = nil
			p.Status.InitContainerStatuses[0] = corev1.ContainerStatus{Name: nbdserver.Preflight, State: waiting(reason, message)}
		}
	}
	for _, tc := range []struct {
		name    string
		pod     func(*corev1.Pod)
		reason  string
		kind    outcome.Kind
		message string
	}{
		{"runs and does not serve yet", func(p *corev1.Pod) { p.Status.Conditions = nil }, v1alpha1.ReasonServerNotRunning, outcome.Wait, "is starting"},
		{"runs", func(*corev1.Pod) {}, v1alpha1.ReasonServersReady, outcome.Done, "2 ZeroFS servers run"},
		{"no pod", func(p *corev1.Pod) { p.Spec.NodeName = "elsewhere" }, v1alpha1.ReasonServerNotRunning, outcome.Wait, "has no pod yet; if it stays, see the events of its DaemonSet in the operator's namespace"},
		{"stopped", func(p *corev1.Pod) { p.DeletionTimestamp = &metav1.Time{Time: time.Unix(1, 0)} }, v1alpha1.ReasonServerNotRunning, outcome.Wait, "is being stopped"},
		{"starts", func(p *corev1.Pod) { p.Status = corev1.PodStatus{} }, v1alpha1.ReasonServerNotRunning, outcome.Wait, "is starting"},
		{"no Secret", held("CreateContainerConfigError", `secret "main-keys" not found`), v1alpha1.ReasonSecretNotFound, outcome.Wait, `waits for a Secret in namespace pgstorage-system: secret "main-keys" not found`},
		{"no key", held("CreateContainerConfigError", "couldn't find key password in Secret pgstorage-system/zerofs"), v1alpha1.ReasonSecretNotFound, outcome.Wait, "waits for a Secret in namespace pgstorage-system: couldn't find key password in Secret pgstorage-system/zerofs"},
		{"no image", held("ImagePullBackOff", "not found"), v1alpha1.ReasonServerNotRunning, outcome.Wait, "does not start: container preflight of pod zerofs-s3-main-" + naming.Hash([]string{"s3", "main"})[:8] + "-n1: ImagePullBackOff: not found"},
		{"not scheduled", func(p *corev1.Pod) {
			p.Status = corev1.PodStatus{Conditions: []corev1.PodCondition{{Type: corev1.PodScheduled, Status: corev1.ConditionFalse, Message: "insufficient memory"}}}
		}, v1alpha1.ReasonServerNotRunning, outcome.Wait, "is not given to the node: insufficient memory"},
		{"endpoint away", checked("EndpointUnreachable", "no route"), v1alpha1.ReasonEndpointUnreachable, outcome.Wait, "no route"},
		{"clocks", checked("ClockSkew", "an hour"), v1alpha1.ReasonClockSkew, outcome.Wait, "an hour"},
		{"credentials", checked("CredentialsRejected", "AccessDenied"), v1alpha1.ReasonCredentialsRejected, outcome.Invalid, "AccessDenied"},
		{"credentials, checked again", again("CredentialsRejected", "AccessDenied"), v1alpha1.ReasonCredentialsRejected, outcome.Invalid, "AccessDenied"},
		{"check passed at last", func(p *corev1.Pod) {
			again("CredentialsRejected", "AccessDenied")(p)
			p.Status.InitContainerStatuses[0].Ready, p.Status.InitContainerStatuses[0].State = true, ended(0, "")
		}, v1alpha1.ReasonServerNotRunning, outcome.Wait, "is starting"},
		{"bucket", checked("BucketNotFound", "no such bucket"), v1alpha1.ReasonBucketNotFound, outcome.Invalid, "no such bucket"},
		{"foreign data", checked("PrefixNotEmpty", "a, b"), v1alpha1.ReasonPrefixNotEmpty, outcome.Invalid, "a, b"},
		{"no conditional writes", checked("ConditionalPutUnsupported", "it wrote over"), v1alpha1.ReasonConditionalPutUnsupported, outcome.Invalid, "it wrote over"},
		{"password", checked("PasswordWrong", "not the one"), v1alpha1.ReasonPasswordWrong, outcome.Invalid, "not the one"},
		{"a reason of nobody", checked("Ready", "trust me"), v1alpha1.ReasonServerNotRunning, outcome.Wait, "container preflight of pod zerofs-s3-main-" + naming.Hash([]string{"s3", "main"})[:8] + "-n1 ended with exit code 1; see its log"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			p := stripe(nil)
			facts := healthy(t, p)
			facts.Storages[0] = answered("n1", failed)
			tc.pod(facts.Servers[0])
			built, err := Type{}.Build(p, facts)
			if err != nil {
				t.Fatal(err)
			}
			o := built.Outcomes[0]
			want := tc.message
			if tc.kind != outcome.Done {
				want = "1 of 2 servers do not serve: n1: the server of store main " + tc.message
				if got := "the server of store main " + tc.message + "; no server"; built.Status.Nodes[0].Message != got {
					t.Errorf("node says %q, want %q", built.Status.Nodes[0].Message, got)
				}
			}
			if o.Condition != v1alpha1.ConditionServersReady || o.Reason != tc.reason || o.Kind != tc.kind || o.Message != want || o.Informative {
				t.Errorf("%+v\nwant %s %d: %q", o, tc.reason, tc.kind, want)
			}
		})
	}
}

// A server that runs and is not ready is judged by what the agent of its node reads.
func TestServersThatHold(t *testing.T) {
	for _, tc := range []struct {
		phase, reason, message string
		kind                   outcome.Kind
	}{
		{"Holding", v1alpha1.ReasonStoreUnavailable, "holds what the pool asks until its store answers: StoreLost: 503", outcome.Wait},
		{"Fenced", v1alpha1.ReasonFenced, "holds every request of the pool, because another writer opened its prefix: StoreLost: 503", outcome.Invalid},
		{"Starting", v1alpha1.ReasonServerNotRunning, "is starting", outcome.Wait},
	} {
		t.Run(tc.phase, func(t *testing.T) {
			p := stripe(nil)
			facts := healthy(t, p)
			facts.Storages[0] = answered("n1", metav1.Condition{Type: v1alpha1.ConditionReady, Status: metav1.ConditionFalse, Reason: tc.reason, Message: "waits"})
			facts.Storages[0].Status.Servers = []v1alpha1.ObservedServer{{Name: "other"}, {Name: "main", Phase: tc.phase, Message: "StoreLost: 503"}}
			facts.Servers[0].Status.Conditions = nil
			built, err := Type{}.Build(p, facts)
			if err != nil {
				t.Fatal(err)
			}
			want := outcome.Outcome{Condition: v1alpha1.ConditionServersReady, Kind: tc.kind, Reason: tc.reason, Message: "1 of 2 servers do not serve: n1: the server of store main " + tc.message}
			if built.Outcomes[0] != want {
				t.Errorf("%+v\nwant %+v", built.Outcomes[0], want)
			}
		})
	}
}

func TestMonthlyStorage(t *testing.T) {
	p := stripe(nil)
	facts := healthy(t, p)
	if built, err := (Type{}).Build(p, facts); err != nil || built.Status.EstimatedMonthlyStorage != nil {
		t.Errorf("%v %v", built.Status.EstimatedMonthlyStorage, err)
	}
	facts.Storages[1].Status.EstimatedMonthlyStorage = new(resource.MustParse("120Gi"))
	facts.Storages = append(facts.Storages, answered("n3"))
	facts.Storages[2].Status.EstimatedMonthlyStorage = new(resource.MustParse("30Gi"))
	built, err := Type{}.Build(p, facts)
	if err != nil || built.Status.EstimatedMonthlyStorage.String() != "150Gi" {
		t.Errorf("%v %v", built.Status.EstimatedMonthlyStorage, err)
	}
}

// A mirror serves without one of its servers. The status reports that, and volumes can
// still be provisioned.
func TestAServerThatIsNotMissedTakesNoPartInReady(t *testing.T) {
	p := stripe(threeStores)
	facts := healthy(t, p)
	facts.Servers[0].Status.Conditions = nil
	built, err := Type{}.Build(p, facts)
	if err != nil {
		t.Fatal(err)
	}
	if o := built.Outcomes[0]; o.Kind != outcome.Wait || !o.Informative {
		t.Errorf("%+v", o)
	}
	if n := built.Status.Nodes[0]; n.Ready != metav1.ConditionTrue || n.Message != "the server of store fra is starting" {
		t.Errorf("%+v", n)
	}
	if len(built.Plan.Gates) > 0 {
		t.Errorf("held: %+v", built.Plan.Gates)
	}
}

func TestAnOlderServerIsTold(t *testing.T) {
	p := stripe(nil)
	facts := healthy(t, p)
	p.Spec.S3NBD.ZeroFS.Image = "ghcr.io/barre/zerofs:2.4.0"
	built, err := Type{}.Build(p, facts)
	if err != nil {
		t.Fatal(err)
	}
	if o := built.Outcomes[0]; o.Kind != outcome.Done {
		t.Errorf("%+v", o)
	}
	const want = "store main: the pod of its server was made before the last change of image or settings. They reach it when it is next stopped cleanly"
	if n := built.Status.Nodes[0]; n.Ready != metav1.ConditionTrue || n.Message != want {
		t.Errorf("%+v", n)
	}
}

func TestPrefixCollision(t *testing.T) {
	other := func(change func(*v1alpha1.PgStorageProfile)) *v1alpha1.PgStorageProfile {
		q := stripe(nil)
		q.Name, q.CreationTimestamp = "old", metav1.Unix(1000, 0)
		change(q)
		return q
	}
	for _, tc := range []struct {
		name    string
		own     func(*v1alpha1.S3NBDProfile)
		other   *v1alpha1.PgStorageProfile
		message string
	}{
		{"the same prefix, other profile", nil, other(func(*v1alpha1.PgStorageProfile) {}), ""},
		{
			"within the other's", func(n *v1alpha1.S3NBDProfile) { n.Stores[0].Prefix = "prod/old" }, other(func(*v1alpha1.PgStorageProfile) {}),
			"spec.s3NBD.stores[main].prefix: prod/old/s3/ of bucket acme-pg meets prod/old/ of PgStorageProfile old, which is older, and a prefix has one writer. Create this profile again with another prefix",
		},
		{
			"around the other's", nil, other(func(q *v1alpha1.PgStorageProfile) { q.Spec.S3NBD.Stores[0].Prefix = "prod/s3" }),
			"spec.s3NBD.stores[main].prefix: prod/s3/ of bucket acme-pg meets prod/s3/old/ of PgStorageProfile old, which is older, and a prefix has one writer. Create this profile again with another prefix",
		},
		{"of a younger one", nil, other(func(q *v1alpha1.PgStorageProfile) {
			q.Spec.S3NBD.Stores[0].Prefix, q.CreationTimestamp = "prod/s3", metav1.Unix(3000, 0)
		}), ""},
		{
			"of the same second", nil, other(func(q *v1alpha1.PgStorageProfile) {
				q.Spec.S3NBD.Stores[0].Prefix, q.CreationTimestamp = "prod/s3", metav1.Unix(2000, 0)
			}),
			"spec.s3NBD.stores[main].prefix: prod/s3/ of bucket acme-pg meets prod/s3/old/ of PgStorageProfile old, which is older, and a prefix has one writer. Create this profile again with another prefix",
		},
		{"in another bucket", nil, other(func(q *v1alpha1.PgStorageProfile) {
			q.Spec.S3NBD.Stores[0].Prefix, q.Spec.S3NBD.Stores[0].Bucket = "prod/s3", "other"
		}), ""},
		{"at another endpoint", nil, other(func(q *v1alpha1.PgStorageProfile) {
			q.Spec.S3NBD.Stores[0].Prefix, q.Spec.S3NBD.Stores[0].Endpoint = "prod/s3", "https://minio.example"
		}), ""},
		{
			"Amazon by another name", nil, other(func(q *v1alpha1.PgStorageProfile) {
				q.Spec.S3NBD.Stores[0].Prefix, q.Spec.S3NBD.Stores[0].Endpoint = "prod/s3", "https://s3.eu-central-1.amazonaws.com/"
			}),
			"spec.s3NBD.stores[main].prefix: prod/s3/ of bucket acme-pg meets prod/s3/old/ of PgStorageProfile old, which is older, and a prefix has one writer. Create this profile again with another prefix",
		},
		{"a name that only begins alike", func(n *v1alpha1.S3NBDProfile) { n.Stores[0].Prefix = "prod/older" }, other(func(*v1alpha1.PgStorageProfile) {}), ""},
		{
			"two stores, one bucket", func(n *v1alpha1.S3NBDProfile) {
				threeStores(n)
				n.Stores[2].Bucket, n.Stores[2].Endpoint = "acme-pg-fra", "https://s3.amazonaws.com"
			}, nil,
			"spec.s3NBD.stores[fra] and [sto] are the same bucket acme-pg-fra, and a mirror inside one bucket is lost with it. Create the profile again with a bucket for each",
		},
	} {
		t.Run(tc.name, func(t *testing.T) {
			p := stripe(tc.own)
			facts := healthy(t, p)
			if tc.other != nil {
				facts.Others = []*v1alpha1.PgStorageProfile{tc.other}
			}
			built, err := Type{}.Build(p, facts)
			if err != nil {
				t.Fatal(err)
			}
			o := built.Outcomes[0]
			if collides := o.Reason == v1alpha1.ReasonPrefixCollision; collides != (tc.message != "") || collides && (o.Message != tc.message || o.Kind != outcome.Invalid) {
				t.Errorf("%+v\nwant %q", o, tc.message)
			}
			if applied := len(built.Plan.Open()) > 0; applied != (tc.message == "") {
				t.Errorf("applied %v", applied)
			}
		})
	}
}

func TestMemoryOfCacheAndServers(t *testing.T) {
	const device = "/dev/disk/by-id/nvme-cache"
	for _, tc := range []struct {
		name, recordsize, cache string
		memory                  int64
		reason, message         string
	}{
		{"fits", "128k", "100Gi", 64 << 30, v1alpha1.ReasonWithinBudget, "the ARC, the ZeroFS servers, shared_buffers and a reserve of 10% fit the memory of each node"},
		// 400Gi / 8k x 100 B = 5000Mi of headers; a third of 8Gi is 2730Mi.
		{"headers", "8k", "400Gi", 64 << 30, v1alpha1.ReasonOverBudget, "the L2ARC is larger than the ARC can keep record of, so part of it stays unused: n1: an L2ARC of 400Gi needs 5000Mi of headers, and an ARC of 8Gi holds 2730Mi of them. Raise spec.s3NBD.arcMax, use a smaller partition, or larger records"},
		// 8Gi + 2Gi + 1Gi of 10Gi
		{"memory", "128k", "1Gi", 10 << 30, v1alpha1.ReasonOverBudget, "more memory is promised than there is, and the kernel will kill a database for it: n1: ARC 8Gi + ZeroFS servers 2Gi + shared_buffers of 0 instances 0 + reserve 1023Mi = 11263Mi of 10Gi. Set or lower spec.s3NBD.arcMax, or move instances"},
		{"a device that is not listed", "8k", "", 64 << 30, v1alpha1.ReasonWithinBudget, "the ARC, the ZeroFS servers, shared_buffers and a reserve of 10% fit the memory of each node"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			p := stripe(func(n *v1alpha1.S3NBDProfile) {
				n.L2ARC = &v1alpha1.S3NBDCacheDevice{Device: v1alpha1.ZFSDevice{Path: device}}
				n.Data.Recordsize = v1alpha1.ZFSRecordsize(tc.recordsize)
			})
			facts := healthy(t, p)
			facts.Nodes, facts.Storages = facts.Nodes[:1], facts.Storages[:1]
			facts.Nodes[0].Memory = tc.memory
			if tc.cache != "" {
				facts.Storages[0].Status.Devices = []v1alpha1.ObservedDevice{{Path: device, Size: new(resource.MustParse(tc.cache))}}
			}
			built, err := Type{}.Build(p, facts)
			if err != nil {
				t.Fatal(err)
			}
			for _, o := range built.Outcomes {
				if o.Condition == v1alpha1.ConditionMemoryBudget && (o.Reason != tc.reason || o.Message != tc.message || !o.Informative) {
					t.Errorf("%+v\nwant %s: %q", o, tc.reason, tc.message)
				}
			}
		})
	}
}

func TestWhereAFlushGoes(t *testing.T) {
	for _, tc := range []struct {
		name     string
		change   func(*v1alpha1.S3NBDProfile)
		to, node string
		store    string
	}{
		{"stripe", nil, "to the store main (bucket acme-pg)", "kept in the store; a node of the same name imports the pool from there", "Lost"},
		{"mirror", threeStores, "to every store of the mirror that can be reached, of fra (bucket acme-pg-fra), dub (bucket acme-pg-dub), sto (bucket acme-pg-sto)", "kept in the store; a node of the same name imports the pool from there", "Kept"},
		{
			"log device", func(n *v1alpha1.S3NBDProfile) { n.SLOG = &v1alpha1.S3NBDLogDevice{AcceptLoss: true} },
			"to the log device of the node, and some seconds later to the store main (bucket acme-pg)", "the commits since the last transaction group, some seconds, are on the log device of the node only", "Lost",
		},
	} {
		t.Run(tc.name, func(t *testing.T) {
			f := Type{}.Volumes(stripe(tc.change)).Flush
			if f.To != tc.to || f.Node != tc.node || f.Store.AcknowledgedCommits != tc.store {
				t.Errorf("%+v %+v", f, f.Store)
			}
		})
	}
}

func TestFlushLatencyAndCommitDelay(t *testing.T) {
	for _, tc := range []struct {
		name   string
		before time.Duration
		nodes  []time.Duration
		want   time.Duration
		delay  string
	}{
		{"not measured", 0, []time.Duration{0, 0}, 0, ""},
		{"of one node", 0, []time.Duration{0, 41 * time.Millisecond}, 41 * time.Millisecond, "6800"},
		{"median of three", 0, []time.Duration{time.Second, 30 * time.Millisecond, 31900 * time.Microsecond}, 31900 * time.Microsecond, "5300"},
		{"moved by half", 40 * time.Millisecond, []time.Duration{60 * time.Millisecond}, 40 * time.Millisecond, "6600"},
		{"moved by more than half", 40 * time.Millisecond, []time.Duration{61 * time.Millisecond}, 61 * time.Millisecond, "10000"},
		{"fell by more than half", 40 * time.Millisecond, []time.Duration{19 * time.Millisecond}, 19 * time.Millisecond, "3100"},
		{"no longer measured", 40 * time.Millisecond, nil, 40 * time.Millisecond, "6600"},
		{"at most what Postgres takes", 0, []time.Duration{3 * time.Second}, 3 * time.Second, "100000"},
		{"a fast one", 0, []time.Duration{123 * time.Microsecond}, 123 * time.Microsecond, "20"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			p := stripe(nil)
			if tc.before > 0 {
				p.Status.FlushLatency = &metav1.Duration{Duration: tc.before}
			}
			facts := healthy(t, p)
			facts.Storages = nil
			for i, l := range tc.nodes {
				s := answered(fmt.Sprintf("n%d", i+1))
				if l > 0 {
					s.Status.FlushLatency = &metav1.Duration{Duration: l}
				}
				facts.Storages = append(facts.Storages, s)
			}
			away := answered("away", metav1.Condition{Type: v1alpha1.ConditionDevicesAttached, Status: metav1.ConditionFalse, Reason: v1alpha1.ReasonStoreUnavailable})
			away.Status.FlushLatency = &metav1.Duration{Duration: time.Minute}
			facts.Storages = append(facts.Storages, away)
			built, err := Type{}.Build(p, facts)
			if err != nil {
				t.Fatal(err)
			}
			var got time.Duration
			if built.Status.FlushLatency != nil {
				got = built.Status.FlushLatency.Duration
			}
			if got != tc.want {
				t.Errorf("%s, want %s", got, tc.want)
			}
			p.Status.FlushLatency = built.Status.FlushLatency
			parameters := (Type{}).Volumes(p).Parameters
			if delay := parameters["commit_delay"].Value; delay != tc.delay {
				t.Errorf("commit_delay %q, want %q", delay, tc.delay)
			}
			if siblings := parameters["commit_siblings"].Value; (siblings == "1") != (tc.delay != "") {
				t.Errorf("commit_siblings %q", siblings)
			}
		})
	}
}
