package integration

import (
	"context"
	"fmt"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/pgstorage/pgstorage/api/v1alpha1"
	"github.com/pgstorage/pgstorage/internal/bench/pgbench"
	"github.com/pgstorage/pgstorage/internal/bench/record"
	"github.com/pgstorage/pgstorage/internal/bench/runner"
	"github.com/pgstorage/pgstorage/internal/kube/naming"
	"github.com/pgstorage/pgstorage/internal/testing/apiserver"
	"github.com/pgstorage/pgstorage/internal/testing/manager"
)

// asRunner is a client with the rights of a benchmark's runner.
func asRunner(t *testing.T, b *v1alpha1.PgBenchmark) dynamic.Interface {
	t.Helper()
	own := rest.CopyConfig(config)
	own.Impersonate = rest.ImpersonationConfig{UserName: "system:serviceaccount:" + b.Namespace + ":" + naming.BenchmarkObject(b.Name, string(b.UID))}
	c, err := dynamic.NewForConfig(own)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// The runner writes the record that the manager made, and no other ConfigMap; the
// record outlives all else.
func TestRecordOfABenchmarkIsKept(t *testing.T) {
	c := apiserver.Client(t, config)
	manager.Start(t, config)
	b := benchmark(readyCluster(t, c, "recorded"), "kept")
	create(t, c, b)
	startedJob(t, c, b)

	key := client.ObjectKey{Namespace: b.Namespace, Name: naming.BenchmarkRecord(b.Name, string(b.UID))}
	cm := &corev1.ConfigMap{}
	if err := c.Get(t.Context(), key, cm); err != nil {
		t.Fatal(err)
	}
	if !metav1.IsControlledBy(cm, b) || cm.Labels[naming.LabelBenchmark] != b.Name || len(cm.BinaryData) != 0 {
		t.Errorf("made as %+v", cm)
	}
	data, err := record.Encode(record.Record{Attempt: "pod", Runs: []record.Run{{Clients: 1, Repeat: 1, Result: &pgbench.Result{TPS: 7}}}})
	if err != nil {
		t.Fatal(err)
	}
	ofRunner := asRunner(t, b)
	eventually(t, "the runner's rights", func(ctx context.Context) error {
		_, err := runner.ConfigMapKeeper{Client: ofRunner, Namespace: b.Namespace, Name: key.Name}.Keep(ctx, data)
		return err
	})
	for _, other := range []string{naming.BenchmarkObject(b.Name, string(b.UID)), "somebody-elses"} {
		if _, err := (runner.ConfigMapKeeper{Client: ofRunner, Namespace: b.Namespace, Name: other}).Keep(t.Context(), data); !apierrors.IsForbidden(err) {
			t.Errorf("ConfigMap %s: want forbidden, got %v", other, err)
		}
	}

	run := succeeded()
	run["record"] = key.Name
	simulatedReport(t, c, b, run)
	hasPhase(t, c, b, "Succeeded")
	allGone(t, c, b)
	if err := c.Get(t.Context(), key, cm); err != nil {
		t.Fatal("the record went with the Job:", err)
	}
	got, err := record.Decode(cm.BinaryData)
	if err != nil || len(got.Runs) != 1 || got.Runs[0].Result.TPS != 7 || !metav1.IsControlledBy(cm, b) {
		t.Errorf("%+v %v", got, err)
	}
	if err := c.Get(t.Context(), client.ObjectKeyFromObject(b), b); err != nil || b.Status.Run.Record != key.Name {
		t.Errorf("status.run.record %q: %v", b.Status.Run.Record, err)
	}
}

// A figure that is of something else says so in a condition, and in an event.
func TestDoubtfulFiguresAreNotBelievable(t *testing.T) {
	c := apiserver.Client(t, config)
	manager.Start(t, config)
	cr := readyCluster(t, c, "doubted")
	run := func(rejected int64, findings ...any) map[string]any {
		out := succeeded()
		out["results"] = []any{map[string]any{
			"clients": int64(1), "tps": "5.00", "tpsOfRuns": []any{"5.00"}, "failed": int64(0), "retried": int64(0),
			"rejected": rejected, "passed": []any{"Clock"}, "findings": findings,
		}}
		return out
	}
	finding := func(check, verdict, reason string) any {
		return map[string]any{"check": check, "verdict": verdict, "reason": reason, "message": "seen; do this", "runs": int64(1)}
	}
	for _, tc := range []struct {
		name   string
		run    map[string]any
		status metav1.ConditionStatus
		reason string
	}{
		{"throttled", run(1, finding("Throttling", "Rejected", "PodThrottled"), finding("Flush", "NotRun", "NotObserved")), metav1.ConditionFalse, v1alpha1.ReasonPodThrottled},
		{"cautioned", run(0, finding("Dataset", "Caution", "DatasetInMemory")), metav1.ConditionTrue, v1alpha1.ReasonCautions},
		{"unchecked", succeeded(), metav1.ConditionUnknown, v1alpha1.ReasonNotRun},
	} {
		b := benchmark(cr, tc.name)
		create(t, c, b)
		startedJob(t, c, b)
		simulatedReport(t, c, b, tc.run)
		hasPhase(t, c, b, "Succeeded")
		eventually(t, "the condition Believable", func(ctx context.Context) error {
			if err := c.Get(ctx, client.ObjectKeyFromObject(b), b); err != nil {
				return err
			}
			for _, cond := range b.Status.Conditions {
				if cond.Type == v1alpha1.ConditionBelievable && cond.Status == tc.status && cond.Reason == tc.reason && cond.Message != "" {
					return nil
				}
			}
			return fmt.Errorf("conditions %+v", b.Status.Conditions)
		})
		allGone(t, c, b)
		for _, cond := range b.Status.Conditions {
			if cond.Type == v1alpha1.ConditionReady && cond.Reason == v1alpha1.ReasonPodThrottled {
				t.Errorf("a result is no failure: %+v", cond)
			}
			if tc.status == metav1.ConditionFalse && cond.Type == v1alpha1.ConditionBelievable && !strings.Contains(cond.Message, "do this") {
				t.Errorf("it does not say what to do: %s", cond.Message)
			}
		}
	}
}
