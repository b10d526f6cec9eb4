package branches

import (
	"fmt"
	"slices"
	"strings"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/pgstorage/pgstorage/api/v1alpha1"
	"github.com/pgstorage/pgstorage/internal/kube/naming"
	"github.com/pgstorage/pgstorage/internal/kube/outcome"
	"github.com/pgstorage/pgstorage/internal/operator/component/branch"
	"github.com/pgstorage/pgstorage/internal/operator/component/cnpg"
)

// database of the branch: create its PgStorageCluster, and wait until it is Ready.
func (p *pass) database() (bool, error) {
	const c = v1alpha1.ConditionDatabaseReady
	cr := p.facts.Cluster
	switch {
	case p.facts.ForeignCluster:
		return p.wait(outcome.InvalidBecause(c, v1alpha1.ReasonClusterNotOwned, fmt.Sprintf(msgNotOwned, p.b.Name))), nil
	case p.facts.Refusal != "":
		return p.wait(outcome.InvalidBecause(c, v1alpha1.ReasonRejected, fmt.Sprintf(msgRejected, p.facts.Refusal))), nil
	case cr == nil && p.s.Cluster != "":
		return p.wait(outcome.InvalidBecause(c, v1alpha1.ReasonClusterNotFound, fmt.Sprintf(msgClusterDeleted, p.b.Name))), nil
	case cr == nil && p.facts.ForeignDatabase != "":
		return p.wait(outcome.InvalidBecause(c, v1alpha1.ReasonClusterNotOwned, fmt.Sprintf(msgDatabaseNotOwned, p.b.Name))), nil
	case cr == nil && p.facts.Source == nil:
		return p.wait(outcome.WaitFor(c, v1alpha1.ReasonSourceNotFound, fmt.Sprintf(msgSourceNotFound, p.b.Spec.Source.Cluster))), nil
	case cr == nil:
		p.decision.Cluster = branch.Cluster(p.b, p.facts.Source)
		return p.wait(outcome.WaitFor(c, v1alpha1.ReasonClusterCreating, msgCreating)), nil
	}
	return p.running(cr), nil
}

// running says whether the database is Ready.
func (p *pass) running(cr *v1alpha1.PgStorageCluster) bool {
	const c = v1alpha1.ConditionDatabaseReady
	ready := meta.FindStatusCondition(cr.Status.Conditions, v1alpha1.ConditionReady)
	switch {
	case ready == nil || ready.ObservedGeneration != cr.Generation:
		return p.wait(outcome.WaitFor(c, v1alpha1.ReasonClusterCreating, msgCreating))
	case ready.Status != metav1.ConditionTrue:
		o := outcome.WaitFor(c, ready.Reason, fmt.Sprintf(msgClusterNotReady, cr.Name, ready.Message))
		if meta.IsStatusConditionTrue(cr.Status.Conditions, v1alpha1.ConditionStalled) {
			o.Kind = outcome.Invalid
		}
		p.add(o)
		// A promotion takes the database through states that are not Ready.
		if p.b.Spec.Source.Backup == nil {
			p.promotion()
		}
		return false
	}
	p.add(outcome.DoneWith(c, v1alpha1.ReasonHealthy, fmt.Sprintf(msgClusterReady, cr.Name)))
	return true
}

// masking runs the SQL of spec.masking once, and waits until the database is open again.
func (p *pass) masking() (bool, error) {
	const c = v1alpha1.ConditionMasked
	if p.b.Spec.Masking == nil {
		return true, nil
	}
	from := p.b.Spec.Masking.ConfigMap
	running, complete := p.jobs()
	switch {
	case p.s.Masked != "" && p.closed():
		return p.wait(outcome.WaitFor(c, v1alpha1.ReasonMasking, msgOpening)), nil
	case p.s.Masked != "":
		p.add(outcome.DoneWith(c, v1alpha1.ReasonMasked, fmt.Sprintf(msgMasked, from.Name)))
		return true, nil
	case complete != "":
		p.s.Masked = complete[strings.LastIndex(complete, "-")+1:]
		p.event(corev1.EventTypeNormal, EventMasked, fmt.Sprintf(msgMasked, from.Name))
		return p.wait(outcome.WaitFor(c, v1alpha1.ReasonMasking, msgOpening)), nil
	case running != "":
		return p.wait(outcome.WaitFor(c, v1alpha1.ReasonMasking, fmt.Sprintf(msgMaskingRuns, from.Name, running))), nil
	case p.facts.SQL == nil:
		return p.wait(outcome.InvalidBecause(c, v1alpha1.ReasonMaskingNotFound, fmt.Sprintf(msgNoSQL, from.Name, from.Key))), nil
	case p.facts.ForeignJob:
		return p.wait(outcome.InvalidBecause(c, v1alpha1.ReasonMaskingFailed, fmt.Sprintf(msgJobNotOwned, p.jobName()))), nil
	case p.failed():
		return p.wait(outcome.InvalidBecause(c, v1alpha1.ReasonMaskingFailed, fmt.Sprintf(msgMaskingFailed, from.Name, p.b.Namespace, p.jobName()))), nil
	}
	return p.startMasking()
}

// jobs are one that runs the SQL, of whatever text, and one that has run it; empty where there
// is none. The SQL runs once, and never twice at a time.
func (p *pass) jobs() (running, complete string) {
	for _, j := range p.facts.Jobs {
		switch {
		case ended(&j, batchv1.JobComplete):
			complete = j.Name
		case !ended(&j, batchv1.JobFailed):
			running = j.Name
		}
	}
	return running, complete
}

// failed says that the SQL of now did.
func (p *pass) failed() bool {
	return slices.ContainsFunc(p.facts.Jobs, func(j batchv1.Job) bool { return j.Name == p.jobName() })
}

// startMasking once the database is closed to others.
func (p *pass) startMasking() (bool, error) {
	if p.facts.Database == nil || !p.closed() || p.facts.Database.Status.Image == "" {
		return p.wait(outcome.WaitFor(v1alpha1.ConditionMasked, v1alpha1.ReasonMasking, msgClosing)), nil
	}
	o, err := branch.Masking(branch.MaskingInputs{
		Branch: p.b, Cluster: p.facts.Cluster, Image: p.facts.Database.Status.Image, SQL: *p.facts.SQL, PlatformUsers: p.config.PlatformUsers,
	})
	if err != nil {
		return false, err
	}
	p.decision.Plan.Add(o)
	return p.wait(outcome.WaitFor(v1alpha1.ConditionMasked, v1alpha1.ReasonMasking, fmt.Sprintf(msgMaskingRuns, p.b.Spec.Masking.ConfigMap.Name, p.jobName()))), nil
}

func (p *pass) jobName() string {
	return naming.BranchMasking(p.b.Name, string(p.b.UID), *p.facts.SQL)
}

// closed says that the Cluster admits only the owner of the database.
func (p *pass) closed() bool {
	return p.facts.Database != nil && slices.Contains(p.facts.Database.Spec.PostgresConfiguration.PgHBA, cnpg.Reject)
}

func ended(j *batchv1.Job, how batchv1.JobConditionType) bool {
	return slices.ContainsFunc(j.Status.Conditions, func(c batchv1.JobCondition) bool {
		return c.Type == how && c.Status == corev1.ConditionTrue
	})
}
