package pgbenchmark

import (
	"context"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/controller/controllerutil"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/pgstorage/pgstorage/api/v1alpha1"
	"github.com/pgstorage/pgstorage/internal/kube/apply"
	"github.com/pgstorage/pgstorage/internal/kube/naming"
	"github.com/pgstorage/pgstorage/internal/kube/outcome"
	"github.com/pgstorage/pgstorage/internal/kube/plan"
	"github.com/pgstorage/pgstorage/internal/kube/status"
	"github.com/pgstorage/pgstorage/internal/operator/decide/benchmarks"
	"github.com/pgstorage/pgstorage/internal/operator/observed"
)

// runPass is one reconcile of a benchmark of a single run.
type runPass struct {
	*Reconciler
	b     *v1alpha1.PgBenchmark
	facts observed.Benchmark
	live  plan.Live
	// preparing is true until the Job exists. Only then is there a plan.
	preparing bool
	built     benchmarks.Benchmark
	outcomes  outcome.Set
	// failure of a write, which report returns after it wrote the status.
	failure error
}

func (p *runPass) observe(ctx context.Context) error {
	apis, err := p.APIs.Get(ctx)
	if err != nil {
		return err
	}
	if err := p.Watch(apis); err != nil {
		return fmt.Errorf("watch foreign kinds: %w", err)
	}
	if p.facts, p.live, err = p.Readers.Benchmark(ctx, p.b, apis); err != nil {
		return err
	}
	p.facts.Now = p.Clock.Now()
	return nil
}

func (p *runPass) build() error {
	switch {
	case benchmarks.Ended(p.b):
		p.outcomes = benchmarks.Finished(p.b, p.facts)
		return nil
	case p.facts.Job != nil || p.b.Status.Job != "":
		p.outcomes = benchmarks.Started(p.b, p.facts)
		return nil
	}
	var err error
	p.preparing = true
	if p.built, err = benchmarks.Build(p.b, p.facts, p.Config); err == nil {
		p.outcomes = p.built.Outcomes(p.b, p.facts)
	}
	return err
}

// apply creates everything up to the Job.
func (p *runPass) apply(ctx context.Context) error {
	if !p.preparing {
		return nil
	}
	if err := apply.AddFinalizer(ctx, p.Client, p.b, naming.BenchmarkFinalizer); err != nil {
		return err
	}
	if p.built.Target.Kind == outcome.Done && p.facts.Role == nil {
		if err := p.passwords(ctx, p.b, p.built.Passwords); err != nil {
			return err
		}
	}
	_, p.failure = apply.Plan(ctx, p.Client, &p.built.Plan, p.live)
	if apply.Rejected(p.failure) {
		p.outcomes.Add(benchmarks.Rejected(p.failure))
		p.failure = nil
	}
	return nil
}

// prune deletes what the cleanup policy does not keep of a benchmark that has ended.
func (p *runPass) prune(ctx context.Context) error {
	if !benchmarks.Ended(p.b) {
		return nil
	}
	remove := p.teardown
	if benchmarks.Keeps(p.b) {
		remove = p.removeSuperuser
	}
	waits, err := remove(ctx, p.b, p.facts)
	if err != nil {
		return err
	}
	p.outcomes.Add(benchmarks.CleanedUp(p.b, waits))
	return nil
}

// report writes the status and emits the event of a new phase.
func (p *runPass) report(ctx context.Context) (reconcile.Result, error) {
	if err := p.writeStatus(ctx); err != nil || !p.preparing {
		return reconcile.Result{}, err
	}
	if apply.Outdated(p.failure) {
		return reconcile.Result{RequeueAfter: apply.OutdatedDelay}, nil
	}
	result := reconcile.Result{}
	for _, o := range p.outcomes {
		switch o.Reason {
		case v1alpha1.ReasonScriptNotFound, v1alpha1.ReasonCNPGNotInstalled, v1alpha1.ReasonCNPGTooOld, v1alpha1.ReasonRejected:
			result.RequeueAfter = pollInterval
		}
	}
	if benchmarks.AsksAgain(p.facts) {
		result.RequeueAfter = benchmarks.AskAgain
	}
	return result, p.failure
}

func (p *runPass) writeStatus(ctx context.Context) error {
	now := metav1.NewTime(p.Clock.Now()).Rfc3339Copy()
	completion, found := p.outcomes.Get(v1alpha1.ConditionComplete)
	if !found {
		// A deleted benchmark reports only its cleanup.
		completion, _ = p.outcomes.Get(v1alpha1.ConditionCleanedUp)
	}
	want := benchmarks.Status(p.b, p.facts, completion, now)
	want.Conditions = status.Conditions(p.b.Status.Conditions, p.b.Generation, now, p.outcomes)
	have := *p.b.Status.DeepCopy()
	// The runner owns run: it is neither compared nor claimed.
	have.Run = nil
	if _, err := status.Apply(ctx, p.Client, naming.FieldOwner, p.b, gvk, have, want); err != nil {
		return err
	}
	if want.Phase != have.Phase {
		kind := corev1.EventTypeNormal
		if want.Phase == v1alpha1.PhaseFailed {
			kind = corev1.EventTypeWarning
		}
		p.Events.Eventf(p.b, nil, kind, want.Phase, "Benchmark", "%s", completion.Message)
	}
	p.emitUnreliable(p.b, have, want)
	return nil
}

// finalize deletes everything of a deleted benchmark before its finalizer.
func (p *runPass) finalize(ctx context.Context) (reconcile.Result, error) {
	if !controllerutil.ContainsFinalizer(p.b, naming.BenchmarkFinalizer) {
		return reconcile.Result{}, nil
	}
	waits, err := p.teardown(ctx, p.b, p.facts)
	if err != nil {
		return reconcile.Result{}, err
	}
	if waits == "" {
		return reconcile.Result{}, apply.RemoveFinalizer(ctx, p.Client, p.b, naming.BenchmarkFinalizer)
	}
	p.outcomes = outcome.NewSet(benchmarks.Deleting(waits))
	return reconcile.Result{RequeueAfter: pollInterval}, p.writeStatus(ctx)
}
