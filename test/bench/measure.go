package main

import (
	"context"
	"fmt"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

const controllerName = "pgstoragecluster"

// stretch is what the manager did in a stretch of time.
type stretch struct {
	requests counts
	passes   passes
	cpu      time.Duration
	reads    int64
}

// figures are all that was measured.
type figures struct {
	options options
	// creation is until all children exist; ready until every cluster is Ready;
	// rest and crowded are at rest without and with foreign objects.
	creation, ready, rest, crowded stretch
	delays, alone                  []time.Duration
	all                            time.Duration
	idle, full, before, after      heap
	mostWrites                     int
}

// meter reads what the manager has done until now.
func (w *world) meter(ctx context.Context) (stretch, error) {
	found, err := w.manager.scrape(ctx)
	if err != nil {
		return stretch{}, err
	}
	return stretch{requests: w.requests.now(), passes: found.passes(controllerName), cpu: seconds(found.value(metricCPU))}, nil
}

func (s stretch) since(before stretch) stretch {
	return stretch{requests: s.requests.since(before.requests), passes: s.passes.since(before.passes), cpu: s.cpu - before.cpu}
}

func measure(ctx context.Context, w *world, o options) (*figures, error) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	f := &figures{options: o}
	if err := f.idling(ctx, w); err != nil {
		return nil, err
	}
	watched, err := watchChildren(ctx, w)
	if err != nil {
		return nil, err
	}
	names := numbered("shop", o.clusters)
	if err := f.create(ctx, w, watched, names); err != nil {
		return nil, err
	}
	instances, err := f.becomeReady(ctx, w, names)
	if err != nil {
		return nil, err
	}
	defer instances.close()
	if err := f.resting(ctx, w, instances); err != nil {
		return nil, err
	}
	if err := f.crowd(ctx, w, instances); err != nil {
		return nil, err
	}
	return f, f.oneByOne(ctx, w, watched)
}

func numbered(prefix string, n int) []string {
	var out []string
	for i := range n {
		out = append(out, fmt.Sprintf("%s-%04d", prefix, i))
	}
	return out
}

func (f *figures) idling(ctx context.Context, w *world) error {
	say("measuring the idle manager")
	if err := settled(ctx, w.requests); err != nil {
		return err
	}
	var err error
	f.idle, err = w.manager.heap(ctx)
	return err
}

func (f *figures) create(ctx context.Context, w *world, watched *children, names []string) error {
	say("making %d clusters", len(names))
	before, err := w.meter(ctx)
	if err != nil {
		return err
	}
	if err := watched.apply(ctx, w, names); err != nil {
		return err
	}
	if err := watched.await(ctx, w, names, 10*time.Minute); err != nil {
		return err
	}
	f.delays, f.all = watched.delays(names)
	say("all children exist after %s", round(f.all))
	if err := settled(ctx, w.requests); err != nil {
		return err
	}
	after, err := w.meter(ctx)
	if err != nil {
		return err
	}
	f.creation = after.since(before)
	for object, n := range f.creation.requests.written {
		if strings.HasPrefix(object, clusterNamespace+"/") {
			f.mostWrites = max(f.mostWrites, n)
		}
	}
	return nil
}

func (f *figures) becomeReady(ctx context.Context, w *world, names []string) (*simulatedInstances, error) {
	say("simulating CloudNativePG: every Cluster becomes healthy")
	before, err := w.meter(ctx)
	if err != nil {
		return nil, err
	}
	instances, err := simulateHealthy(ctx, w, names)
	if err != nil {
		return nil, err
	}
	if err := settled(ctx, w.requests); err != nil {
		instances.close()
		return nil, err
	}
	after, err := w.meter(ctx)
	if err != nil {
		instances.close()
		return nil, err
	}
	f.ready = after.since(before)
	f.ready.reads = instances.reads.Load()
	return instances, nil
}

// quiet counts what the manager does while nothing is asked of it.
func (f *figures) quiet(ctx context.Context, w *world, instances *simulatedInstances) (stretch, error) {
	before, err := w.meter(ctx)
	if err != nil {
		return stretch{}, err
	}
	reads := instances.reads.Load()
	if err := pause(ctx, f.options.rest); err != nil {
		return stretch{}, err
	}
	after, err := w.meter(ctx)
	if err != nil {
		return stretch{}, err
	}
	out := after.since(before)
	out.reads = instances.reads.Load() - reads
	return out, w.manager.alive()
}

func (f *figures) resting(ctx context.Context, w *world, instances *simulatedInstances) error {
	say("counting for %s at rest", f.options.rest)
	var err error
	if f.rest, err = f.quiet(ctx, w, instances); err != nil {
		return err
	}
	f.full, err = w.manager.heap(ctx)
	return err
}

// crowd fills the API server with what is not ours.
func (f *figures) crowd(ctx context.Context, w *world, instances *simulatedInstances) error {
	if f.options.foreign == 0 {
		return nil
	}
	say("making %d foreign ConfigMaps, Secrets and Pods each", f.options.foreign)
	var err error
	if f.before, err = w.manager.heap(ctx); err != nil {
		return err
	}
	err = parallel(numbered("foreign", f.options.foreign), func(name string) error {
		for _, obj := range foreign(name) {
			if err := w.Create(ctx, obj); err != nil {
				return fmt.Errorf("foreign object: %w", err)
			}
		}
		return nil
	})
	if err != nil {
		return err
	}
	say("counting for %s at rest among them", f.options.rest)
	if f.crowded, err = f.quiet(ctx, w, instances); err != nil {
		return err
	}
	f.after, err = w.manager.heap(ctx)
	return err
}

// foreign objects have sizes that are usual: some kilobytes each.
func foreign(name string) []client.Object {
	key := metav1.ObjectMeta{Namespace: foreignNamespace, Name: name, Labels: map[string]string{"app.kubernetes.io/managed-by": "somebody-else"}}
	return []client.Object{
		&corev1.ConfigMap{ObjectMeta: key, Data: map[string]string{"config": strings.Repeat("setting = value\n", 512)}},
		&corev1.Secret{ObjectMeta: key, Data: map[string][]byte{"certificate": []byte(strings.Repeat("0123456789abcdef", 256))}},
		&corev1.Pod{ObjectMeta: key, Spec: corev1.PodSpec{Containers: []corev1.Container{{
			Name: "main", Image: "registry.example/app:1", Env: []corev1.EnvVar{{Name: "OPTIONS", Value: strings.Repeat("-D", 1024)}},
		}}}},
	}
}

// oneByOne makes clusters while nothing else waits for a pass.
func (f *figures) oneByOne(ctx context.Context, w *world, watched *children) error {
	say("making %d clusters one after another", f.options.single)
	names := numbered("alone", f.options.single)
	for _, name := range names {
		one := []string{name}
		if err := watched.apply(ctx, w, one); err != nil {
			return err
		}
		if err := watched.await(ctx, w, one, time.Minute); err != nil {
			return err
		}
	}
	f.alone, _ = watched.delays(names)
	return nil
}
