package schedules

import (
	"maps"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/pgstorage/pgstorage/api/v1alpha1"
	"github.com/pgstorage/pgstorage/internal/kube/naming"
)

const kind = "PgScheduledBenchmark"

// benchmark for a time, compared with a baseline where there is one: the first run of
// a schedule has none. It goes with the schedule, whose deletion it does not block.
func benchmark(s *v1alpha1.PgScheduledBenchmark, due time.Time, baseline string) *v1alpha1.PgBenchmark {
	t := s.Spec.Template.DeepCopy()
	labels, annotations := map[string]string{}, map[string]string{}
	maps.Copy(labels, t.Metadata.Labels)
	maps.Copy(labels, naming.ScheduleLabels(s.Name))
	maps.Copy(annotations, t.Metadata.Annotations)
	annotations[naming.AnnotationScheduledAt] = at(due)
	b := &v1alpha1.PgBenchmark{
		ObjectMeta: metav1.ObjectMeta{
			Namespace: s.Namespace, Name: naming.ScheduledBenchmark(s.Name, due), Labels: labels, Annotations: annotations,
			OwnerReferences: []metav1.OwnerReference{{
				APIVersion: v1alpha1.GroupVersion.String(), Kind: kind, Name: s.Name, UID: s.UID, Controller: new(true),
			}},
		},
		Spec: t.Spec,
	}
	if g := s.Spec.Gate; g != nil && baseline != "" {
		b.Spec.Gate = &v1alpha1.BenchmarkGate{Baseline: baseline, Threshold: g.Threshold, Confidence: g.Confidence}
	}
	return b
}
