package main

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	cnpgv1 "github.com/cloudnative-pg/cloudnative-pg/api/v1"
	monitoringv1 "github.com/prometheus-operator/prometheus-operator/pkg/apis/monitoring/v1"
	corev1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/pgstorage/pgstorage/api/v1alpha1"
	"github.com/pgstorage/pgstorage/internal/scheme"
)

const (
	namespace = "default"
	profile   = "bench"
)

// scene is what a measurement works on.
type scene struct {
	options
	c       client.Client
	proxy   *proxy
	manager *manager
}

func measure(ctx context.Context, o options, config *rest.Config, p *proxy, m *manager) (*figures, error) {
	config = rest.CopyConfig(config)
	config.QPS, config.Burst = -1, -1
	c, err := client.New(config, client.Options{Scheme: scheme.New()})
	if err != nil {
		return nil, fmt.Errorf("client: %w", err)
	}
	s := &scene{options: o, c: c, proxy: p, manager: m}
	f := &figures{clusters: o.clusters, foreign: o.foreign, rest: o.rest}
	for _, step := range []func(context.Context, *figures) error{s.idle, s.create, s.healthy, s.atRest, s.withForeign} {
		if err := step(ctx, f); err != nil {
			return nil, err
		}
	}
	return f, nil
}

// idle measures the heap with one cluster, so that every watch runs.
func (s *scene) idle(ctx context.Context, f *figures) error {
	class := &storagev1.StorageClass{ObjectMeta: metav1.ObjectMeta{Name: profile}, Provisioner: "example.com/none"}
	p := &v1alpha1.PgStorageProfile{
		ObjectMeta: metav1.ObjectMeta{Name: profile},
		Spec:       v1alpha1.PgStorageProfileSpec{Type: v1alpha1.ProfileTypeExternal, External: &v1alpha1.ExternalProfile{StorageClassName: profile}},
	}
	for _, o := range []client.Object{class, p, cluster("warm-up")} {
		if err := s.c.Create(ctx, o); err != nil {
			return fmt.Errorf("create %s: %w", o.GetName(), err)
		}
	}
	if _, err := s.children(ctx, 1); err != nil {
		return err
	}
	if err := s.quiet(ctx); err != nil {
		return err
	}
	var err error
	f.heapIdle, err = s.manager.liveHeap(ctx)
	return err
}

func cluster(name string) *v1alpha1.PgStorageCluster {
	amounts := map[corev1.ResourceName]resource.Quantity{corev1.ResourceCPU: resource.MustParse("4"), corev1.ResourceMemory: resource.MustParse("16Gi")}
	three := int32(3)
	return &v1alpha1.PgStorageCluster{
		ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name},
		Spec: v1alpha1.PgStorageClusterSpec{
			Profile: profile, Postgres: v1alpha1.PostgresSpec{Version: "17"}, Instances: &three,
			Storage:    v1alpha1.ClusterStorage{Size: resource.MustParse("100Gi")},
			Resources:  v1alpha1.ClusterResources{Requests: amounts, Limits: amounts},
			Durability: v1alpha1.DurabilityQuorum,
		},
	}
}

// create applies every cluster and sees when its children exist.
func (s *scene) create(ctx context.Context, f *figures) error {
	before := s.proxy.snapshot()
	start := time.Now()
	applied := make(chan map[string]time.Time, 1)
	failed := make(chan error, 1)
	go func() {
		at := make(map[string]time.Time, s.clusters)
		for i := range s.clusters {
			name := fmt.Sprintf("c-%05d", i)
			at[name] = time.Now()
			if err := s.c.Create(ctx, cluster(name)); err != nil {
				failed <- fmt.Errorf("create: %w", err)
				return
			}
		}
		failed <- nil
		applied <- at
	}()
	creating, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	go func() {
		if err := <-failed; err != nil {
			cancel(err)
		}
	}()
	seen, err := s.children(creating, s.clusters+1)
	if err != nil {
		return errors.Join(err, context.Cause(creating))
	}
	f.total = time.Since(start)
	for name, at := range <-applied {
		f.times = append(f.times, seen[name].Sub(at))
	}
	slices.Sort(f.times)
	if err := s.quiet(ctx); err != nil {
		return err
	}
	f.requests = since(s.proxy.snapshot(), before)
	return nil
}

// children waits until n clusters have all their children and returns when each
// was first seen so.
func (s *scene) children(ctx context.Context, n int) (map[string]time.Time, error) {
	seen := map[string]time.Time{}
	last := -1
	err := wait.PollUntilContextTimeout(ctx, 250*time.Millisecond, s.patience, true, func(ctx context.Context) (bool, error) {
		clusters, monitors := &cnpgv1.ClusterList{}, &monitoringv1.PodMonitorList{}
		if err := s.c.List(ctx, clusters); err != nil {
			return false, fmt.Errorf("list Clusters: %w", err)
		}
		if err := s.c.List(ctx, monitors); err != nil {
			return false, fmt.Errorf("list PodMonitors: %w", err)
		}
		have := map[string]bool{}
		for i := range clusters.Items {
			have[clusters.Items[i].Name] = true
		}
		now := time.Now()
		for _, m := range monitors.Items {
			if _, known := seen[m.Name]; have[m.Name] && !known {
				seen[m.Name] = now
			}
		}
		if len(seen)/100 != last {
			last = len(seen) / 100
			progress("%d of %d clusters have their children", len(seen), n)
		}
		return len(seen) >= n, nil
	})
	if err != nil {
		return nil, fmt.Errorf("%d of %d clusters have their children: %w", len(seen), n, err)
	}
	return seen, nil
}

// quiet waits until nothing was written for three seconds, events included.
func (s *scene) quiet(ctx context.Context) error {
	last, same := -1, 0
	return wait.PollUntilContextTimeout(ctx, 250*time.Millisecond, s.patience, true, func(context.Context) (bool, error) {
		now := atRest(s.proxy.snapshot())
		if now != last {
			last, same = now, 0
		}
		same++
		return same > 12, nil
	})
}

// healthy simulates what CloudNativePG reports of every Cluster.
func (s *scene) healthy(ctx context.Context, f *figures) error {
	list := &cnpgv1.ClusterList{}
	if err := s.c.List(ctx, list); err != nil {
		return fmt.Errorf("list Clusters: %w", err)
	}
	for i := range list.Items {
		pg := &list.Items[i]
		before := pg.DeepCopy()
		pg.Status.Phase = cnpgv1.PhaseHealthy
		pg.Status.Instances, pg.Status.ReadyInstances = pg.Spec.Instances, pg.Spec.Instances
		pg.Status.CurrentPrimary = pg.Name + "-1"
		pg.Status.Conditions = []metav1.Condition{{Type: string(cnpgv1.ConditionClusterReady), Status: metav1.ConditionTrue, Reason: "ClusterIsReady", Message: "simulated", LastTransitionTime: metav1.Now()}}
		if err := s.c.Status().Patch(ctx, pg, client.MergeFrom(before)); err != nil {
			return fmt.Errorf("simulate status: %w", err)
		}
	}
	err := wait.PollUntilContextTimeout(ctx, time.Second, s.patience, true, s.allReady)
	if err != nil {
		return fmt.Errorf("wait for Ready: %w", err)
	}
	progress("all clusters are Ready")
	if err := s.quiet(ctx); err != nil {
		return err
	}
	families, err := s.manager.scrape(ctx)
	if err != nil {
		return err
	}
	f.passP50, f.passP95 = passQuantile(families, 0.50), passQuantile(families, 0.95)
	return nil
}

func (s *scene) allReady(ctx context.Context) (bool, error) {
	crs := &v1alpha1.PgStorageClusterList{}
	if err := s.c.List(ctx, crs); err != nil {
		return false, fmt.Errorf("list: %w", err)
	}
	for i := range crs.Items {
		if !meta.IsStatusConditionTrue(crs.Items[i].Status.Conditions, v1alpha1.ConditionReady) {
			return false, nil
		}
	}
	return true, nil
}

// atRest counts writes while nobody changes anything.
func (s *scene) atRest(ctx context.Context, f *figures) error {
	var err error
	f.restRequests, err = s.watchRest(ctx)
	if err != nil {
		return err
	}
	f.heap, err = s.manager.liveHeap(ctx)
	return err
}

func (s *scene) watchRest(ctx context.Context) (map[string]int, error) {
	progress("at rest for %s", s.rest)
	before := s.proxy.snapshot()
	timer := time.NewTimer(s.rest)
	defer timer.Stop()
	select {
	case <-timer.C:
		return since(s.proxy.snapshot(), before), nil
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// withForeign measures again beside objects of other people.
func (s *scene) withForeign(ctx context.Context, f *figures) error {
	progress("making %d foreign ConfigMaps, Secrets and Pods", s.foreign)
	text := map[string]string{"text": fmt.Sprintf("%01024d", 0)}
	for i := range s.foreign {
		at := metav1.ObjectMeta{Namespace: namespace, Name: fmt.Sprintf("foreign-%05d", i)}
		for _, o := range []client.Object{
			&corev1.ConfigMap{ObjectMeta: at, Data: text},
			&corev1.Secret{ObjectMeta: at, StringData: text},
			&corev1.Pod{ObjectMeta: at, Spec: corev1.PodSpec{Containers: []corev1.Container{{Name: "c", Image: "none"}}}},
		} {
			if err := s.c.Create(ctx, o); err != nil {
				return fmt.Errorf("create foreign object: %w", err)
			}
		}
	}
	var err error
	if f.foreignRequests, err = s.watchRest(ctx); err != nil {
		return err
	}
	f.heapForeign, err = s.manager.liveHeap(ctx)
	return err
}
