// Package controllers wires every controller into a manager.
package controllers

import (
	"fmt"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/utils/clock"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller"

	"github.com/pgstorage/pgstorage/api/v1alpha1"
	"github.com/pgstorage/pgstorage/controllers/backoff"
	"github.com/pgstorage/pgstorage/controllers/benchmetrics"
	"github.com/pgstorage/pgstorage/controllers/memoryvolumes"
	"github.com/pgstorage/pgstorage/controllers/pgbenchmark"
	"github.com/pgstorage/pgstorage/controllers/pgscheduledbenchmark"
	"github.com/pgstorage/pgstorage/controllers/pgstoragebranch"
	"github.com/pgstorage/pgstorage/controllers/pgstoragecluster"
	"github.com/pgstorage/pgstorage/controllers/pgstorageprofile"
	"github.com/pgstorage/pgstorage/controllers/recorder"
	"github.com/pgstorage/pgstorage/controllers/statemetrics"
	"github.com/pgstorage/pgstorage/controllers/verification"
	"github.com/pgstorage/pgstorage/internal/kube/naming"
	"github.com/pgstorage/pgstorage/internal/operator/decide/clusters"
	"github.com/pgstorage/pgstorage/internal/operator/observe"
	"github.com/pgstorage/pgstorage/internal/operator/observed"
	"github.com/pgstorage/pgstorage/internal/operator/profile"
	"github.com/pgstorage/pgstorage/internal/operator/profile/catalog"
)

// Options of the controllers.
type Options struct {
	// Config of what is built.
	Config clusters.Config
	// Operator is where the operator runs, and the image with its programs.
	Operator observed.Operator
	// Kinds of storage. Default: catalog.All().
	Kinds profile.Catalog
	// Enabled are the alpha kinds of storage that may be used.
	Enabled map[v1alpha1.ProfileType]bool
	// MatrixClusters lets a matrix have clusters of its own, which is experimental.
	MatrixClusters bool
	// MaxConcurrentReconciles of each controller. Default: 8.
	MaxConcurrentReconciles int
	// Clock is the time; tests give their own.
	Clock clock.PassiveClock
	// Registry of metrics about benchmarks and the state of objects, or nil for none.
	Registry prometheus.Registerer
	// Dial connects to the pods of databases and watchers. Default: by TCP. Tests give their own.
	Dial observe.Dial
	// SkipNameValidation lets tests run several managers in one process.
	SkipNameValidation bool
}

// CacheOptions keep only objects that the operator created, within the bounds of
// slimOwn and slimOthers, because any user can set labels. The filter is the default,
// not one for each kind. A kind that is named here must exist when the manager starts,
// and foreign CRDs may come later. Servers are in the operator's namespace alone.
func CacheOptions(namespace string) cache.Options {
	own := cache.ByObject{Namespaces: map[string]cache.Config{namespace: {}}, Transform: cache.TransformStripManagedFields()}
	all := cache.ByObject{Label: labels.Everything()}
	tenants := cache.ByObject{Label: labels.Everything(), Transform: slimOwn}
	return cache.Options{
		DefaultTransform:     slimOthers,
		DefaultLabelSelector: labels.SelectorFromSet(labels.Set{naming.LabelManagedBy: naming.ManagedBy}),
		ByObject: map[client.Object]cache.ByObject{
			&v1alpha1.PgStorageProfile{}:     all,
			&v1alpha1.PgStorageCluster{}:     tenants,
			&v1alpha1.PgBenchmark{}:          tenants,
			&v1alpha1.PgScheduledBenchmark{}: tenants,
			&v1alpha1.PgStorageBranch{}:      tenants,
			&storagev1.StorageClass{}:        all,
			&storagev1.CSINode{}:             all,
			&appsv1.DaemonSet{}:              own,
			&corev1.Pod{}:                    own,
			&corev1.Node{}:                   {Label: labels.Everything(), Transform: slimNode},
		},
	}
}

// slimNode keeps of a Node what a profile reads of it, and nothing that changes while
// the node is idle. Of its conditions it keeps Ready only, without the heartbeat and
// the message, which may count seconds.
func slimNode(obj any) (any, error) {
	node, ok := obj.(*corev1.Node)
	if !ok {
		return obj, nil
	}
	slim := &corev1.Node{TypeMeta: node.TypeMeta, ObjectMeta: node.ObjectMeta}
	slim.ManagedFields, slim.Annotations = nil, nil
	slim.Status.NodeInfo.KernelVersion = node.Status.NodeInfo.KernelVersion
	slim.Status.Allocatable = corev1.ResourceList{corev1.ResourceMemory: node.Status.Allocatable[corev1.ResourceMemory]}
	for _, c := range node.Status.Conditions {
		if c.Type == corev1.NodeReady {
			slim.Status.Conditions = []corev1.NodeCondition{{Type: c.Type, Status: c.Status, Reason: c.Reason, LastTransitionTime: c.LastTransitionTime}}
		}
	}
	return slim, nil
}

// complete sets the defaults.
func (o *Options) complete() {
	if o.Clock == nil {
		o.Clock = clock.RealClock{}
	}
	if o.Kinds == nil {
		o.Kinds = catalog.All()
	}
	if o.MaxConcurrentReconciles == 0 {
		o.MaxConcurrentReconciles = 8
	}
}

// Setup adds every controller to the manager.
func Setup(mgr ctrl.Manager, o Options) error {
	o.complete()
	options := func() controller.Options {
		return controller.Options{
			MaxConcurrentReconciles: o.MaxConcurrentReconciles,
			ReconciliationTimeout:   time.Minute,
			SkipNameValidation:      &o.SkipNameValidation,
			RateLimiter:             backoff.Limiter(50 * time.Millisecond),
			UsePriorityQueue:        new(backoff.PriorityQueue),
		}
	}
	caches, err := addSourceCaches(mgr, o.Kinds)
	if err != nil {
		return err
	}
	readers := observe.Readers{Cache: mgr.GetClient(), Live: mgr.GetAPIReader(), Scheme: mgr.GetScheme(), Kinds: o.Kinds, BySource: map[observe.SourceGroup]client.Reader{}}
	for group, c := range caches {
		readers.BySource[group] = c
	}
	o.Operator.PlatformUsers = o.Config.PlatformUsers
	apis := &observe.ForeignAPIs{Reader: mgr.GetAPIReader(), Clock: o.Clock, CRDs: o.Kinds.CRDs()}
	cluster := &pgstoragecluster.Reconciler{
		Client:   mgr.GetClient(),
		Readers:  readers,
		APIs:     apis,
		ReadBack: &observe.ReadBack{Pods: mgr.GetAPIReader(), Clock: o.Clock, Dial: o.Dial},
		Backups:  observe.Backups{Cache: mgr.GetClient(), Live: mgr.GetAPIReader(), Clock: o.Clock, Kinds: o.Kinds, Snapshots: o.Config.Branches},
		Sites:    &observe.Sites{Live: mgr.GetAPIReader(), Dial: o.Dial},
		Config:   o.Config,
		Clock:    o.Clock,
		Events:   recorder.Bounded(mgr.GetEventRecorder("pgstorage")),
	}
	if err := cluster.SetupWithManager(mgr, options()); err != nil {
		return fmt.Errorf("set up pgstoragecluster: %w", err)
	}
	storage := &pgstorageprofile.Reconciler{Client: mgr.GetClient(), Readers: readers, APIs: apis, Operator: o.Operator, Clock: o.Clock, Events: recorder.Bounded(mgr.GetEventRecorder("pgstorage")), Kinds: o.Kinds, Enabled: o.Enabled, Caches: caches}
	if err := storage.SetupWithManager(mgr, options()); err != nil {
		return fmt.Errorf("set up pgstorageprofile: %w", err)
	}
	benchmark := &pgbenchmark.Reconciler{Client: mgr.GetClient(), Readers: readers, APIs: apis, Config: o.Config, Clock: o.Clock, Events: recorder.Bounded(mgr.GetEventRecorder("pgstorage")), MatrixClusters: o.MatrixClusters}
	if err := benchmark.SetupWithManager(mgr, options()); err != nil {
		return fmt.Errorf("set up pgbenchmark: %w", err)
	}
	scheduled := &pgscheduledbenchmark.Reconciler{Client: mgr.GetClient(), Live: mgr.GetAPIReader(), Readers: readers, Clock: o.Clock, Events: recorder.Bounded(mgr.GetEventRecorder("pgstorage"))}
	if err := scheduled.SetupWithManager(mgr, options()); err != nil {
		return fmt.Errorf("set up pgscheduledbenchmark: %w", err)
	}
	verifies := &verification.Reconciler{Client: mgr.GetClient(), Readers: readers, APIs: apis, Config: o.Config, Clock: o.Clock, Events: recorder.Bounded(mgr.GetEventRecorder("pgstorage"))}
	if err := verifies.SetupWithManager(mgr, options()); err != nil {
		return fmt.Errorf("set up verification: %w", err)
	}
	branched := &pgstoragebranch.Reconciler{Client: mgr.GetClient(), Readers: readers, APIs: apis, Kinds: o.Kinds, Config: o.Config, Clock: o.Clock, Events: recorder.Bounded(mgr.GetEventRecorder("pgstorage"))}
	if err := branched.SetupWithManager(mgr, options()); err != nil {
		return fmt.Errorf("set up pgstoragebranch: %w", err)
	}
	if err := provision(mgr, o, readers); err != nil {
		return err
	}
	return register(o, mgr.GetClient())
}

// provision volumes in memory, where profiles of that type are enabled.
func provision(mgr ctrl.Manager, o Options, readers observe.Readers) error {
	if !o.Enabled[v1alpha1.ProfileTypeMemory] {
		return nil
	}
	volumes := &memoryvolumes.Provisioner{Client: mgr.GetClient(), Readers: readers}
	if err := volumes.SetupWithManager(mgr); err != nil {
		return fmt.Errorf("set up memoryvolumes: %w", err)
	}
	return nil
}

// register the metrics about benchmarks, clusters, profiles and nodes.
func register(o Options, cached client.Reader) error {
	if o.Registry == nil {
		return nil
	}
	if err := o.Registry.Register(&benchmetrics.Collector{Reader: cached, Clock: o.Clock}); err != nil {
		return fmt.Errorf("register metrics of benchmarks: %w", err)
	}
	if err := o.Registry.Register(&statemetrics.Collector{Reader: cached}); err != nil {
		return fmt.Errorf("register metrics of clusters, profiles and nodes: %w", err)
	}
	return nil
}
