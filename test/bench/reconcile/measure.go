package reconcile

import (
	"context"
	"fmt"
	"slices"
	"strconv"
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
	"github.com/pgstorage/pgstorage/internal/kube/scheme"
)

const (
	namespace = "default"
	profile   = "bench"
	major     = 17
)

// scene is what a measurement works on.
type scene struct {
	options
	c         client.Client
	proxy     *proxy
	instances *instances
	manager   *manager
}

func (s *scene) measure(ctx context.Context, config *rest.Config) (*figures, error) {
	config = rest.CopyConfig(config)
	config.QPS, config.Burst = -1, -1
	var err error
	if s.c, err = client.New(config, client.Options{Scheme: scheme.New()}); err != nil {
		return nil, fmt.Errorf("client: %w", err)
	}
	f := &figures{clusters: s.clusters, foreign: s.foreign, rest: s.rest}
	if f.limit, err = memoryLimit(); err != nil {
		return nil, err
	}
	for _, step := range []func(context.Context, *figures) error{s.idle, s.create, s.ready, s.atRest, s.withForeign, s.besiege} {
		if err := step(ctx, f); err != nil {
			return nil, err
		}
	}
	return f, nil
}

// phase measures what the manager did while something was done, and its heap
// afterwards. What is done returns how long the manager took.
func (s *scene) phase(ctx context.Context, name string, do func(context.Context) (time.Duration, error)) (*phase, error) {
	families, err := s.manager.scrape(ctx)
	if err != nil {
		return nil, err
	}
	earlier, before, scrapes := passes(families), s.proxy.snapshot(), s.instances.scrapes.Load()
	p := &phase{name: name}
	if p.took, err = do(ctx); err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	p.requests = s.proxy.snapshot().since(before)
	p.scrapes = s.instances.scrapes.Load() - scrapes
	if families, err = s.manager.scrape(ctx); err != nil {
		return nil, err
	}
	p.passes = passes(families).since(earlier)
	p.heap, err = s.manager.liveHeap(ctx)
	return p, err
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
			Profile: profile, Postgres: v1alpha1.PostgresSpec{Version: strconv.Itoa(major)}, Instances: &three,
			Storage:    v1alpha1.ClusterStorage{Size: resource.MustParse("100Gi")},
			Resources:  v1alpha1.ClusterResources{Requests: amounts, Limits: amounts},
			Durability: v1alpha1.DurabilityQuorum,
		},
	}
}

// create applies every cluster and sees when its children exist. Requests are
// counted until the manager writes no more.
func (s *scene) create(ctx context.Context, f *figures) error {
	var err error
	f.create, err = s.phase(ctx, "create", func(ctx context.Context) (time.Duration, error) {
		start := time.Now()
		applied, seen, err := s.applyAndSee(ctx)
		if err != nil {
			return 0, err
		}
		last := start
		for name, at := range applied {
			f.times = append(f.times, seen[name].Sub(at))
			if seen[name].After(last) {
				last = seen[name]
			}
		}
		slices.Sort(f.times)
		return last.Sub(start), s.quiet(ctx)
	})
	return err
}

// applyAndSee returns when each cluster was applied and when its children were
// seen. It ends with the first error of either.
func (s *scene) applyAndSee(ctx context.Context) (applied, seen map[string]time.Time, err error) {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	done := make(chan map[string]time.Time)
	go func() {
		at, err := s.applyAll(ctx)
		if err != nil {
			cancel(err)
		}
		done <- at
	}()
	seen, err = s.children(ctx, s.clusters+1)
	if err != nil {
		cancel(err)
		err = because(ctx, err)
	}
	return <-done, seen, err
}

func (s *scene) applyAll(ctx context.Context) (map[string]time.Time, error) {
	at := make(map[string]time.Time, s.clusters)
	for i := range s.clusters {
		name := fmt.Sprintf("c-%05d", i)
		at[name] = time.Now()
		if err := s.c.Create(ctx, cluster(name)); err != nil {
			return nil, fmt.Errorf("create: %w", err)
		}
	}
	return at, nil
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
		now := s.proxy.snapshot().changes()
		if now != last {
			last, same = now, 0
		}
		same++
		return same > 12, nil
	})
}

// ready simulates what CloudNativePG and its instances report, and sees when every
// cluster is Ready with its parameters read back.
func (s *scene) ready(ctx context.Context, f *figures) error {
	list := &cnpgv1.ClusterList{}
	if err := s.c.List(ctx, list); err != nil {
		return fmt.Errorf("list Clusters: %w", err)
	}
	s.instances.run(major, list.Items[0].Spec.PostgresConfiguration.Parameters)
	var err error
	f.ready, err = s.phase(ctx, "ready", func(ctx context.Context) (time.Duration, error) {
		start := time.Now()
		for i := range list.Items {
			s.instances.report(&list.Items[i])
			if err := s.instancesRun(ctx, &list.Items[i]); err != nil {
				return 0, err
			}
			list.Items[i].Status = cnpgv1.ClusterStatus{}
			if err := s.healthy(ctx, &list.Items[i]); err != nil {
				return 0, err
			}
		}
		if err := wait.PollUntilContextTimeout(ctx, 250*time.Millisecond, s.patience, true, s.allReady); err != nil {
			return 0, fmt.Errorf("wait for Ready and ParametersApplied: %w", err)
		}
		took := time.Since(start)
		progress("all clusters are Ready, their parameters read back")
		return took, s.quiet(ctx)
	})
	return err
}

func (s *scene) healthy(ctx context.Context, pg *cnpgv1.Cluster) error {
	before := pg.DeepCopy()
	s.instances.report(pg)
	pg.Status.Conditions = []metav1.Condition{{Type: string(cnpgv1.ConditionClusterReady), Status: metav1.ConditionTrue, Reason: "ClusterIsReady", Message: "simulated", LastTransitionTime: metav1.Now()}}
	if err := s.c.Status().Patch(ctx, pg, client.MergeFrom(before)); err != nil {
		return fmt.Errorf("simulate status: %w", err)
	}
	return nil
}

func (s *scene) allReady(ctx context.Context) (bool, error) {
	crs := &v1alpha1.PgStorageClusterList{}
	if err := s.c.List(ctx, crs); err != nil {
		return false, fmt.Errorf("list: %w", err)
	}
	for i := range crs.Items {
		for _, condition := range []string{v1alpha1.ConditionReady, v1alpha1.ConditionParametersApplied} {
			if !meta.IsStatusConditionTrue(crs.Items[i].Status.Conditions, condition) {
				return false, nil
			}
		}
	}
	return true, nil
}

// atRest counts writes while the test changes nothing.
func (s *scene) atRest(ctx context.Context, f *figures) error {
	var err error
	f.atRest, err = s.phase(ctx, "rest", s.watchRest)
	return err
}

func (s *scene) watchRest(ctx context.Context) (time.Duration, error) {
	progress("at rest for %s", s.rest)
	timer := time.NewTimer(s.rest)
	defer timer.Stop()
	select {
	case <-timer.C:
		return s.rest, nil
	case <-ctx.Done():
		return 0, context.Cause(ctx)
	}
}

// withForeign measures again beside objects of other people.
func (s *scene) withForeign(ctx context.Context, f *figures) error {
	progress("making %d foreign ConfigMaps, Secrets and Pods", s.foreign)
	var err error
	f.withForeign, err = s.phase(ctx, "rest-foreign", func(ctx context.Context) (time.Duration, error) {
		if err := s.makeForeign(ctx); err != nil {
			return 0, err
		}
		return s.watchRest(ctx)
	})
	return err
}

func (s *scene) makeForeign(ctx context.Context) error {
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
	return nil
}
