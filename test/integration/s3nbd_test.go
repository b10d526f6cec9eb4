package integration

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	cnpgv1 "github.com/cloudnative-pg/cloudnative-pg/api/v1"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller/controllerutil"

	"github.com/pgstorage/pgstorage/api/v1alpha1"
	"github.com/pgstorage/pgstorage/controllers"
	"github.com/pgstorage/pgstorage/internal/kube/naming"
	"github.com/pgstorage/pgstorage/internal/testing/apiserver"
	"github.com/pgstorage/pgstorage/internal/testing/manager"
)

func s3Store(name, bucket string) v1alpha1.S3Store {
	return v1alpha1.S3Store{Name: name, Bucket: bucket, Prefix: "it", CredentialsSecret: name + "-keys", EncryptionSecret: "zerofs"}
}

func s3Profile(name string, change func(*v1alpha1.S3NBDProfile)) *v1alpha1.PgStorageProfile {
	n := &v1alpha1.S3NBDProfile{
		Pool:    v1alpha1.S3NBDPool{Name: "lake"},
		Stores:  []v1alpha1.S3Store{s3Store("main", "acme-pg")},
		Devices: v1alpha1.S3NBDDevices{Size: resource.MustParse("10Gi")},
		ZeroFS:  v1alpha1.ZeroFSServer{Family: v1alpha1.ZeroFS2, Image: "registry.example/zerofs:2.3.0"},
	}
	if change != nil {
		change(n)
	}
	return &v1alpha1.PgStorageProfile{
		ObjectMeta: metav1.ObjectMeta{Name: name},
		Spec:       v1alpha1.PgStorageProfileSpec{Type: v1alpha1.ProfileTypeS3NBD, NodeSelector: map[string]string{"test": name}, S3NBD: n},
	}
}

// simulatedServer is the pod that the DaemonSet controller and a kubelet would make
// of a store's DaemonSet on a node, with a status.
func simulatedServer(t *testing.T, c client.Client, profile, store, node string, change func(*corev1.PodStatus)) *corev1.Pod {
	t.Helper()
	key := client.ObjectKey{Namespace: manager.Namespace, Name: naming.Server(profile, store)}
	set := get(t, c, key, &appsv1.DaemonSet{})
	pod := &corev1.Pod{ObjectMeta: *set.Spec.Template.ObjectMeta.DeepCopy(), Spec: *set.Spec.Template.Spec.DeepCopy()}
	pod.Namespace, pod.Name, pod.Spec.NodeName = key.Namespace, key.Name+"-"+node, node
	create(t, c, pod)
	t.Cleanup(func() { _ = c.Delete(context.WithoutCancel(t.Context()), pod, client.GracePeriodSeconds(0)) })
	simulatedServerStatus(t, c, pod, change)
	return pod
}

func simulatedServerStatus(t *testing.T, c client.Client, pod *corev1.Pod, change func(*corev1.PodStatus)) {
	t.Helper()
	eventually(t, "the simulated status of "+pod.Name, func(ctx context.Context) error {
		if err := c.Get(ctx, client.ObjectKeyFromObject(pod), pod); err != nil {
			return err
		}
		change(&pod.Status)
		return c.Status().Update(ctx, pod)
	})
}

func serverReady(s *corev1.PodStatus) {
	*s = corev1.PodStatus{Phase: corev1.PodRunning, Conditions: []corev1.PodCondition{{Type: corev1.PodReady, Status: corev1.ConditionTrue}}}
}

// simulatedDevices is what the agent of a node reports of its network devices and pool.
func simulatedDevices(t *testing.T, c client.Client, profile, node, health, reason string) {
	t.Helper()
	s := &v1alpha1.PgNodeStorage{}
	eventually(t, "the devices of "+node, func(ctx context.Context) error {
		if err := c.Get(ctx, client.ObjectKey{Name: naming.NodeStorage(profile, node)}, s); err != nil {
			return err
		}
		set := func(kind string, yes bool, reason string) {
			status := metav1.ConditionFalse
			if yes {
				status = metav1.ConditionTrue
			}
			meta.SetStatusCondition(&s.Status.Conditions, metav1.Condition{Type: kind, Status: status, Reason: reason, Message: "simulated", ObservedGeneration: s.Generation})
		}
		whole := reason == v1alpha1.ReasonDevicesAttached
		device := "Attached"
		if !whole {
			device = "Lost"
		}
		set(v1alpha1.ConditionDevicesAttached, whole, reason)
		set(v1alpha1.ConditionPoolReady, health == "ONLINE", "Simulated")
		s.Status.Pool = &v1alpha1.ObservedPool{Name: "lake", Health: health}
		s.Status.NetworkDevices = []v1alpha1.ObservedNetworkDevice{{Path: "/dev/nbd0", Server: "main", Export: "lake-0", State: device}}
		s.Status.FlushLatency = &metav1.Duration{Duration: 30 * time.Millisecond}
		return c.Status().Update(ctx, s)
	})
}

// From a missing Secret to a database whose commits share a flush.
func TestS3NBDProfileFromSecretsToDatabase(t *testing.T) {
	c := apiserver.Client(t, config)
	manager.Start(t, config)
	p := s3Profile("s3", nil)
	simulatedZFSDriver(t, c, simulatedNode(t, c, "s3-node", map[string]string{"test": "s3"}), "lake")
	create(t, c, p)
	simulatedAgent(t, c, "s3", "s3-node", metav1.Condition{Type: v1alpha1.ConditionReady, Status: metav1.ConditionFalse, Reason: v1alpha1.ReasonServerNotRunning, Message: "no server"})
	profileSays(t, c, p, v1alpha1.ConditionServersReady, v1alpha1.ReasonServerNotRunning)
	pod := simulatedServer(t, c, "s3", "main", "s3-node", func(s *corev1.PodStatus) {
		s.InitContainerStatuses = []corev1.ContainerStatus{{Name: "preflight", State: corev1.ContainerState{Waiting: &corev1.ContainerStateWaiting{Reason: "CreateContainerConfigError", Message: `secret "main-keys" not found`}}}}
	})
	got := profileSays(t, c, p, v1alpha1.ConditionServersReady, v1alpha1.ReasonSecretNotFound)
	if want := `1 of 1 servers do not serve: s3-node: the server of store main waits for a Secret in namespace default: secret "main-keys" not found`; got.Message != want {
		t.Errorf("message %q", got.Message)
	}
	simulatedServerStatus(t, c, pod, func(s *corev1.PodStatus) {
		s.InitContainerStatuses = []corev1.ContainerStatus{{Name: "preflight", State: corev1.ContainerState{Terminated: &corev1.ContainerStateTerminated{ExitCode: 1, Message: `{"reason":"BucketNotFound","message":"bucket acme-pg does not exist"}`}}}}
	})
	profileSays(t, c, p, v1alpha1.ConditionReady, v1alpha1.ReasonBucketNotFound)
	if !meta.IsStatusConditionTrue(p.Status.Conditions, v1alpha1.ConditionStalled) {
		t.Errorf("a person is not asked for: %+v", p.Status.Conditions)
	}
	simulatedServerStatus(t, c, pod, serverReady)
	simulatedAgent(t, c, "s3", "s3-node", agentReady())
	simulatedDevices(t, c, "s3", "s3-node", "ONLINE", v1alpha1.ReasonDevicesAttached)
	profileSays(t, c, p, v1alpha1.ConditionReady, v1alpha1.ReasonReady)

	s := get(t, c, client.ObjectKey{Name: naming.NodeStorage("s3", "s3-node")}, &v1alpha1.PgNodeStorage{})
	if d := s.Spec.NetworkDevices; d == nil || len(d.Servers) != 1 || d.Servers[0].URL != "s3://acme-pg/it/s3/s3-node" || strings.Join(d.Exports, " ") != "lake-0 lake-1 lake-2" {
		t.Errorf("network devices %+v", d)
	}
	cr := cluster(namespace(t, c), "shop", "s3")
	create(t, c, cr)
	eventually(t, "commit_delay", func(ctx context.Context) error {
		database := &cnpgv1.Cluster{}
		if err := c.Get(ctx, client.ObjectKeyFromObject(cr), database); err != nil {
			return err
		}
		for name, want := range map[string]string{"commit_delay": "5000", "commit_siblings": "1", "wal_sender_timeout": "1min", "wal_receiver_timeout": "1min", "wal_recycle": "off"} {
			if got := database.Spec.PostgresConfiguration.Parameters[name]; got != want {
				return fmt.Errorf("%s is %q, want %q", name, got, want)
			}
		}
		return nil
	})
}

// The real API server accepts everything that every form of the profile renders, with strict
// validation. It also accepts Pods as the template would create them.
func TestAPIServerAcceptsEveryS3NBDProfile(t *testing.T) {
	c := apiserver.Client(t, config)
	manager.Start(t, config)
	for name, change := range map[string]func(*v1alpha1.S3NBDProfile){
		"s3-stripe": nil,
		"s3-mirror": func(n *v1alpha1.S3NBDProfile) {
			n.Layout = v1alpha1.S3NBDMirror
			n.Stores = []v1alpha1.S3Store{s3Store("a", "acme-a"), s3Store("b", "acme-b"), s3Store("c", "acme-c")}
		},
		"s3-old-family": func(n *v1alpha1.S3NBDProfile) {
			n.ZeroFS.Family, n.ZeroFS.Image = v1alpha1.ZeroFS019, "registry.example/zerofs:0.19.1"
			n.Stores[0].Endpoint, n.Stores[0].AllowHTTP = "http://minio.example:9000/", new(true)
		},
		"s3-with-local-disks": func(n *v1alpha1.S3NBDProfile) {
			n.L2ARC = &v1alpha1.S3NBDCacheDevice{Device: v1alpha1.ZFSDevice{Path: "/dev/disk/by-id/cache"}}
			n.SLOG = &v1alpha1.S3NBDLogDevice{AcceptLoss: true, Devices: []v1alpha1.ZFSDevice{{Path: "/dev/disk/by-id/log"}}}
			n.ARCMax = new(resource.MustParse("1Gi"))
		},
	} {
		t.Run(name, func(t *testing.T) {
			p := s3Profile(name, change)
			simulatedNode(t, c, name, map[string]string{"test": name})
			create(t, c, p)
			simulatedAgent(t, c, name, name, agentReady())
			for _, store := range p.Spec.S3NBD.Stores {
				get(t, c, client.ObjectKey{Namespace: manager.Namespace, Name: naming.Server(name, store.Name)}, &corev1.ConfigMap{})
				pod := simulatedServer(t, c, name, store.Name, name, serverReady)
				if got := get(t, c, client.ObjectKeyFromObject(pod), pod).Status.QOSClass; got != "" && got != corev1.PodQOSGuaranteed {
					t.Errorf("the pod is of class %s", got)
				}
			}
			profileSays(t, c, p, v1alpha1.ConditionServersReady, v1alpha1.ReasonServersReady)
		})
	}
}

// Where the prefixes of two profiles overlap, the later profile is refused. Nothing of it is
// created until the other is gone.
func TestS3NBDPrefixesDoNotMeet(t *testing.T) {
	c := apiserver.Client(t, config)
	manager.Start(t, config)
	first := s3Profile("meets", nil)
	create(t, c, first)
	profileSays(t, c, first, v1alpha1.ConditionServersReady, v1alpha1.ReasonServersReady)
	// A later second: the API server's times have no fractions.
	eventually(t, "a second to pass", func(context.Context) error {
		if time.Since(first.CreationTimestamp.Time) < 1100*time.Millisecond {
			return fmt.Errorf("%s", time.Since(first.CreationTimestamp.Time))
		}
		return nil
	})
	second := s3Profile("meets-later", func(n *v1alpha1.S3NBDProfile) { n.Stores[0].Prefix = "it/meets" })
	simulatedNode(t, c, "meets-later", map[string]string{"test": "meets-later"})
	create(t, c, second)
	profileSays(t, c, second, v1alpha1.ConditionReady, v1alpha1.ReasonPrefixCollision)
	absent(t, c, client.ObjectKey{Namespace: manager.Namespace, Name: naming.Server("meets-later", "main")}, &appsv1.DaemonSet{})
	absent(t, c, client.ObjectKey{Name: naming.NodeStorage("meets-later", "meets-later")}, &v1alpha1.PgNodeStorage{})
	if err := c.Delete(t.Context(), first); err != nil {
		t.Fatal(err)
	}
	profileSays(t, c, second, v1alpha1.ConditionServersReady, v1alpha1.ReasonServerNotRunning)
	get(t, c, client.ObjectKey{Name: naming.NodeStorage("meets-later", "meets-later")}, &v1alpha1.PgNodeStorage{})
}

// A server stays while the agent has not released the pool on it. This holds when its node is
// no longer selected, and when its profile is deleted.
func TestS3NBDServersOutliveTheirPools(t *testing.T) {
	c := apiserver.Client(t, config)
	w := &writes{}
	manager.Start(t, w.into(config))
	p := s3Profile("outlive", nil)
	node := simulatedNode(t, c, "outlive", map[string]string{"test": "outlive"})
	create(t, c, p)
	s := simulatedAgent(t, c, "outlive", "outlive", agentReady())
	finalizer(t, c, s, controllerutil.AddFinalizer)
	key := client.ObjectKey{Namespace: manager.Namespace, Name: naming.Server("outlive", "main")}
	on := func(want string) {
		t.Helper()
		eventually(t, "servers on "+want, func(ctx context.Context) error {
			set := &appsv1.DaemonSet{}
			if err := c.Get(ctx, key, set); err != nil {
				return err
			}
			terms := set.Spec.Template.Spec.Affinity.NodeAffinity.RequiredDuringSchedulingIgnoredDuringExecution.NodeSelectorTerms
			if len(terms) != 1 || terms[0].MatchFields[0].Values[0] != want {
				return fmt.Errorf("%+v", terms)
			}
			return nil
		})
	}
	on("outlive")
	settled(t, w)
	servers := get(t, c, key, &appsv1.DaemonSet{})
	before := node.DeepCopy()
	node.Labels["test"] = "no-more"
	if err := c.Patch(t.Context(), node, client.MergeFrom(before)); err != nil {
		t.Fatal(err)
	}
	eventually(t, "the PgNodeStorage to go", func(ctx context.Context) error {
		if err := c.Get(ctx, client.ObjectKeyFromObject(s), s); err != nil {
			return err
		}
		if s.DeletionTimestamp.IsZero() {
			return fmt.Errorf("it is not deleted")
		}
		return nil
	})
	settled(t, w)
	on("outlive")
	untouched(t, c, servers, &appsv1.DaemonSet{})
	if err := c.Delete(t.Context(), p); err != nil {
		t.Fatal(err)
	}
	profileSays(t, c, p, v1alpha1.ConditionReady, v1alpha1.ReasonDeleting)
	settled(t, w)
	on("outlive")
	untouched(t, c, servers, &appsv1.DaemonSet{})
	finalizer(t, c, s, controllerutil.RemoveFinalizer)
	gone(t, c, client.ObjectKeyFromObject(p), p)
	absent(t, c, key, &appsv1.DaemonSet{})
	absent(t, c, key, &corev1.ConfigMap{})
}

// Experimental features are off by default.
func TestS3NBDIsOffByDefault(t *testing.T) {
	c := apiserver.Client(t, config)
	manager.Start(t, config, func(o *controllers.Options) { o.Enabled = nil })
	p := s3Profile("withheld", nil)
	simulatedNode(t, c, "withheld", map[string]string{"test": "withheld"})
	create(t, c, p)
	profileSays(t, c, p, v1alpha1.ConditionReady, v1alpha1.ReasonInvalidSpec)
	absent(t, c, client.ObjectKey{Namespace: manager.Namespace, Name: naming.Server("withheld", "main")}, &appsv1.DaemonSet{})
	absent(t, c, client.ObjectKey{Name: naming.NodeStorage("withheld", "withheld")}, &v1alpha1.PgNodeStorage{})
	if err := c.Delete(t.Context(), p); err != nil {
		t.Fatal(err)
	}
	gone(t, c, client.ObjectKeyFromObject(p), p)
}

// A database that was retained keeps the servers that its volume lives from.
func TestServersOutliveTheProfileOfARetainedVolume(t *testing.T) {
	c := apiserver.Client(t, config)
	w := &writes{}
	manager.Start(t, w.into(config))
	p := s3Profile("retained", nil)
	simulatedNode(t, c, "retained", map[string]string{"test": "retained"})
	create(t, c, p)
	get(t, c, client.ObjectKey{Name: naming.NodeStorage("retained", "retained")}, &v1alpha1.PgNodeStorage{})
	settled(t, w)
	servers := get(t, c, client.ObjectKey{Namespace: manager.Namespace, Name: naming.Server("retained", "main")}, &appsv1.DaemonSet{})
	storage := get(t, c, client.ObjectKey{Name: naming.NodeStorage("retained", "retained")}, &v1alpha1.PgNodeStorage{})
	volume := &corev1.PersistentVolume{ObjectMeta: metav1.ObjectMeta{Name: "pvc-retained"}, Spec: corev1.PersistentVolumeSpec{
		StorageClassName: naming.DataClass("retained"), AccessModes: []corev1.PersistentVolumeAccessMode{corev1.ReadWriteOnce},
		Capacity:               corev1.ResourceList{corev1.ResourceStorage: resource.MustParse("1Gi")},
		PersistentVolumeSource: corev1.PersistentVolumeSource{CSI: &corev1.CSIPersistentVolumeSource{Driver: "zfs.csi.openebs.io", VolumeHandle: "pvc-retained"}},
	}}
	create(t, c, volume)
	if err := c.Delete(t.Context(), p); err != nil {
		t.Fatal(err)
	}
	profileSays(t, c, p, v1alpha1.ConditionReady, v1alpha1.ReasonInUse)
	settled(t, w)
	untouched(t, c, servers, &appsv1.DaemonSet{})
	untouched(t, c, storage, &v1alpha1.PgNodeStorage{})
	deleted(t, c, volume)
	gone(t, c, client.ObjectKeyFromObject(p), p)
}

// The manager fences an instance while its devices are lost, and never lifts a fence that an
// administrator set. The proof of whole pages is lost with the devices.
func TestLostDevicesFenceTheirInstance(t *testing.T) {
	c := apiserver.Client(t, config)
	manager.Start(t, config)
	p := s3Profile("lost", nil)
	simulatedZFSDriver(t, c, simulatedNode(t, c, "lost", map[string]string{"test": "lost"}), "lake")
	create(t, c, p)
	simulatedAgent(t, c, "lost", "lost", agentReady())
	simulatedServer(t, c, "lost", "main", "lost", serverReady)
	simulatedDevices(t, c, "lost", "lost", "ONLINE", v1alpha1.ReasonDevicesAttached)
	profileSays(t, c, p, v1alpha1.ConditionReady, v1alpha1.ReasonReady)
	cr := cluster(namespace(t, c), "shop", "lost")
	cr.Spec.Postgres.Parameters = map[string]string{"full_page_writes": "off"}
	create(t, c, cr)
	key := client.ObjectKeyFromObject(cr)
	get(t, c, key, &cnpgv1.Cluster{})
	simulatedClaim(t, c, cr, "shop-1", "pvc-lost")
	simulatedHealthy(t, c, key)
	simulatedVolume(t, c, "lost", v1alpha1.ObservedVolume{Name: "lake/pgdata/pvc-lost", Type: "Filesystem", Recordsize: 8192})
	has := func(fences, pages string) {
		t.Helper()
		eventually(t, "fences "+fences+", full_page_writes="+pages, func(ctx context.Context) error {
			database := &cnpgv1.Cluster{}
			if err := c.Get(ctx, key, database); err != nil {
				return err
			}
			got, set := database.Annotations["cnpg.io/fencedInstances"], database.Spec.PostgresConfiguration.Parameters["full_page_writes"]
			if got != fences || set != pages {
				return fmt.Errorf("fences %q, full_page_writes=%s", got, set)
			}
			return nil
		})
	}
	has("", "off")
	hasCondition(t, c, cr, v1alpha1.ConditionVolumesAttached, metav1.ConditionTrue, v1alpha1.ReasonDevicesAttached)

	// An instance that waits for its store continues without help.
	for _, reason := range []string{v1alpha1.ReasonStoreUnavailable, v1alpha1.ReasonReconnecting} {
		simulatedDevices(t, c, "lost", "lost", "ONLINE", reason)
		hasCondition(t, c, cr, v1alpha1.ConditionVolumesAttached, metav1.ConditionFalse, reason)
		has("", "off")
	}

	simulatedDevices(t, c, "lost", "lost", "ONLINE", v1alpha1.ReasonFenced)
	has(`["shop-1"]`, "on")
	hasCondition(t, c, cr, v1alpha1.ConditionVolumesAttached, metav1.ConditionFalse, v1alpha1.ReasonFenced)
	simulatedDevices(t, c, "lost", "lost", "ONLINE", v1alpha1.ReasonDevicesAttached)
	has("", "off")

	simulatedDevices(t, c, "lost", "lost", "ONLINE", v1alpha1.ReasonServerLost)
	has(`["shop-1"]`, "on")
	hasCondition(t, c, cr, v1alpha1.ConditionVolumesAttached, metav1.ConditionFalse, v1alpha1.ReasonServerLost)

	database := get(t, c, key, &cnpgv1.Cluster{})
	before := database.DeepCopy()
	database.Annotations["cnpg.io/fencedInstances"] = `["shop-1","shop-7"]`
	if err := c.Patch(t.Context(), database, client.MergeFrom(before)); err != nil {
		t.Fatal(err)
	}
	simulatedDevices(t, c, "lost", "lost", "ONLINE", v1alpha1.ReasonDevicesAttached)
	has(`["shop-7"]`, "off")
	hasCondition(t, c, cr, v1alpha1.ConditionVolumesAttached, metav1.ConditionTrue, v1alpha1.ReasonDevicesAttached)
	if got := get(t, c, key, database).Annotations[naming.AnnotationFenced]; got != "" {
		t.Errorf("%s is still %q", naming.AnnotationFenced, got)
	}

	// A released database keeps the fence that it needs, and the manager no longer owns the
	// fence.
	simulatedDevices(t, c, "lost", "lost", "ONLINE", v1alpha1.ReasonServerLost)
	has(`["shop-1","shop-7"]`, "on")
	if err := c.Delete(t.Context(), cr); err != nil {
		t.Fatal(err)
	}
	gone(t, c, key, &v1alpha1.PgStorageCluster{})
	kept := get(t, c, key, &cnpgv1.Cluster{}).Annotations
	if kept["cnpg.io/fencedInstances"] != `["shop-1","shop-7"]` || kept[naming.AnnotationFenced] != "" {
		t.Errorf("a retained database has %v", kept)
	}
	emitted(t, c, key.Namespace, "FenceLeft")
}

// A pass that changes nothing writes nothing, whatever the API server has added to a
// DaemonSet.
func TestS3NBDProfileAtRestWritesNothing(t *testing.T) {
	c := apiserver.Client(t, config)
	w := &writes{}
	manager.Start(t, w.into(config))
	p := s3Profile("rest", func(n *v1alpha1.S3NBDProfile) {
		n.ZeroFS.Resources = v1alpha1.ZeroFSResources{CPU: resource.MustParse("1500m"), Memory: resource.MustParse("3072Mi")}
	})
	simulatedNode(t, c, "rest", map[string]string{"test": "rest"})
	create(t, c, p)
	simulatedAgent(t, c, "rest", "rest", agentReady())
	pod := simulatedServer(t, c, "rest", "main", "rest", serverReady)
	profileSays(t, c, p, v1alpha1.ConditionServersReady, v1alpha1.ReasonServersReady)
	// The other profiles of this API server must be at rest too.
	before := settled(t, w)
	simulatedServerStatus(t, c, pod, func(s *corev1.PodStatus) { s.Message = "wake up" })
	if n := settled(t, w) - before; n != 0 {
		t.Errorf("%d writes at rest", n)
	}
}
