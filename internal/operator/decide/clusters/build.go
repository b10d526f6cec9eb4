// Package clusters composes a plan from a CR and the facts about it. Every
// function here is total and pure: the same inputs give byte-equal output.
package clusters

import (
	"encoding/json"
	"fmt"
	"strconv"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/pgstorage/pgstorage/api/v1alpha1"
	"github.com/pgstorage/pgstorage/internal/bench/durability"
	"github.com/pgstorage/pgstorage/internal/kube/naming"
	"github.com/pgstorage/pgstorage/internal/kube/outcome"
	"github.com/pgstorage/pgstorage/internal/kube/plan"
	"github.com/pgstorage/pgstorage/internal/operator/component/cnpg"
	"github.com/pgstorage/pgstorage/internal/operator/component/cnpg/hatch"
	"github.com/pgstorage/pgstorage/internal/operator/component/monitoring"
	"github.com/pgstorage/pgstorage/internal/operator/observed"
	"github.com/pgstorage/pgstorage/internal/operator/postgres"
	"github.com/pgstorage/pgstorage/internal/operator/profile"
	"github.com/pgstorage/pgstorage/internal/operator/profile/catalog"
)

// Config is what the operator was started with.
type Config struct {
	// ImageRepository of Postgres; spec.postgres.version is its tag.
	ImageRepository string
	// BenchImage holds the benchmark runner.
	BenchImage string
}

// Cluster is what follows from a PgStorageCluster and the facts about it.
type Cluster struct {
	Plan       plan.Plan
	Parameters []postgres.Parameter
	// Outcomes that are decided before anything is applied.
	Outcomes []outcome.Outcome
	// verified says whether the volumes are as the profile declares; nil where
	// nothing is read back.
	verified *outcome.Outcome
}

// PgStorageCluster builds the plan of a PgStorageCluster.
func Build(cr *v1alpha1.PgStorageCluster, facts observed.Cluster, config Config) (Cluster, error) {
	var out Cluster
	storage := storageOutcome(cr, facts)
	out.Outcomes = append(out.Outcomes, storage)
	if storage.Kind != outcome.Done && (facts.Cluster == nil || facts.Profile == nil) {
		out.Plan.AddGate(plan.StageStorage, storage.Reason, storage.Message)
	}
	volumes, err := volumes(facts.Profile)
	if err != nil {
		return out, err
	}
	verified, wholePages := verify(cr, facts)
	out.verified = verified
	in := inputs(cr, volumes)
	in.WholePages, in.InPlace = consumed(cr, facts, overrides(cr), wholePages), inPlace(cr, facts.Cluster)
	parameters, refusals := postgres.Compute(in)
	out.Parameters = parameters
	object, overridden, err := database(cnpg.Inputs{
		CR: cr, Volumes: volumes, Image: image(cr, config), Parameters: parameters, BackupFromPrimary: in.StandbysCannotBackUp(),
	}, consent(cr, facts.Profile))
	if err != nil {
		return out, err
	}
	accepted := acceptance(refusals, append(foreignImage(cr, facts.Profile, config), overridden...))
	out.Outcomes = append(out.Outcomes, accepted)
	if accepted.Kind != outcome.Done {
		out.Plan.AddGate(plan.StageStorage, accepted.Reason, accepted.Message)
	}
	holdDatabase(&out.Plan, cr, facts)
	out.Plan.Add(object)
	queries, err := plan.FromApply(plan.StageDatabase, monitoring.Queries(cr))
	if err != nil {
		return out, err
	}
	out.Plan.Add(queries)
	return out, addCompanions(&out.Plan, cr, facts)
}

func storageOutcome(cr *v1alpha1.PgStorageCluster, facts observed.Cluster) outcome.Outcome {
	const c = v1alpha1.ConditionStorageReady
	if facts.Profile == nil {
		return outcome.WaitFor(c, v1alpha1.ReasonProfileNotFound, fmt.Sprintf("spec.profile: PgStorageProfile %q does not exist; create it, or see kubectl get pgsp for those that do", cr.Spec.Profile))
	}
	ready := meta.FindStatusCondition(facts.Profile.Status.Conditions, v1alpha1.ConditionReady)
	if ready == nil {
		return outcome.WaitFor(c, v1alpha1.ReasonProfileNotReady, fmt.Sprintf("PgStorageProfile %s was not looked at yet", cr.Spec.Profile))
	}
	if ready.Status == metav1.ConditionTrue && ready.ObservedGeneration == facts.Profile.Generation {
		return outcome.DoneWith(c, v1alpha1.ReasonReady, fmt.Sprintf("PgStorageProfile %s is Ready", cr.Spec.Profile))
	}
	if serves(facts.Profile, ready) {
		return outcome.DoneWith(c, ready.Reason, fmt.Sprintf("the StorageClasses of PgStorageProfile %s are there, but %s", cr.Spec.Profile, ready.Message))
	}
	return outcome.WaitFor(c, v1alpha1.ReasonProfileNotReady, fmt.Sprintf("PgStorageProfile %s is not Ready: %s: %s", cr.Spec.Profile, ready.Reason, ready.Message))
}

// serves says that a profile lacks nothing but nodes that are out of reach: new
// databases can be made on the others.
func serves(p *v1alpha1.PgStorageProfile, ready *metav1.Condition) bool {
	return (ready.Reason == v1alpha1.ReasonNodeNotReady || ready.Reason == v1alpha1.ReasonNodeNotFound) &&
		ready.ObservedGeneration == p.Generation && meta.IsStatusConditionTrue(p.Status.Conditions, v1alpha1.ConditionStorageReady)
}

func volumes(p *v1alpha1.PgStorageProfile) (profile.Volumes, error) {
	if p == nil {
		return profile.Volumes{Medium: postgres.Medium(v1alpha1.MediumSSD)}, nil
	}
	t, err := catalog.For(p.Spec.Type)
	if err != nil {
		return profile.Volumes{}, err
	}
	return t.Volumes(p), nil
}

// verify the volumes of the database by its profile.
func verify(cr *v1alpha1.PgStorageCluster, facts observed.Cluster) (*outcome.Outcome, postgres.Proof) {
	if facts.Profile == nil {
		return nil, postgres.Proof{Possible: true, Missing: "the profile does not exist"}
	}
	t, err := catalog.For(facts.Profile.Spec.Type)
	if err != nil {
		return nil, postgres.Proof{}
	}
	o, proof := t.Verify(facts.Profile, int(Instances(cr)), facts.Claims)
	if o != nil {
		o.Message += outOfReach(facts.Claims)
	}
	return o, proof
}

// outOfReach says of which nodes the read-back may be old.
func outOfReach(claims []observed.Claim) string {
	text, told := "", map[string]bool{}
	for _, c := range claims {
		if c.Unreachable != "" && !told[c.Node] {
			text, told[c.Node] = text+". "+c.Unreachable, true
		}
	}
	return text
}

func inputs(cr *v1alpha1.PgStorageCluster, v profile.Volumes) postgres.Inputs {
	in := postgres.Inputs{
		Major:       major(cr.Spec.Postgres.Version),
		Workload:    postgres.Workload(cr.Spec.Workload),
		Medium:      v.Medium,
		Tier:        durability.Tier(cr.Spec.Durability),
		Instances:   int(Instances(cr)),
		MemoryBytes: bytes(cr.Spec.Resources.Requests, corev1.ResourceMemory),
		CPUs:        cores(cr.Spec.Resources),
		User:        cr.Spec.Postgres.Parameters,
		Profile:     v.Parameters,
		DataBytes:   cr.Spec.Storage.Size.Value(),

		HugePages:       hugePages(cr.Spec.Resources),
		WALSegmentBytes: cnpg.WALSegmentBytes(cr.Spec.CNPG),
	}
	if w := cr.Spec.Storage.WALSize; w != nil {
		in.WALBytes = w.Value()
	}
	return in
}

// hugePages that an instance requests. Kubernetes takes a limit for a request, and
// admission refuses a request without its limit.
func hugePages(r v1alpha1.ClusterResources) []postgres.HugePages {
	var out []postgres.HugePages
	for _, size := range []string{"2Mi", "1Gi"} {
		q := resource.MustParse(size)
		if n := bytes(r.Limits, corev1.ResourceName(corev1.ResourceHugePagesPrefix+size)); n > 0 {
			out = append(out, postgres.HugePages{Size: q.Value(), Bytes: n})
		}
	}
	return out
}

func bytes(amounts map[corev1.ResourceName]resource.Quantity, name corev1.ResourceName) int64 {
	q := amounts[name]
	return q.Value()
}

// cores that an instance may use: its limit, else its request, in whole cores.
func cores(r v1alpha1.ClusterResources) int {
	q, limited := r.Limits[corev1.ResourceCPU]
	if !limited {
		q = r.Requests[corev1.ResourceCPU]
	}
	return max(1, int(q.Value()))
}

// Instances that the spec asks for.
func Instances(cr *v1alpha1.PgStorageCluster) int32 {
	if cr.Spec.Instances == nil {
		return 1
	}
	return *cr.Spec.Instances
}

// major of a version that admission has checked; 0 for any other.
func major(version string) int {
	m, _, _ := strings.Cut(version, ".")
	n, err := strconv.Atoi(m)
	if err != nil {
		return 0
	}
	return n
}

func image(cr *v1alpha1.PgStorageCluster, config Config) string {
	if cr.Spec.Postgres.Image != "" {
		return cr.Spec.Postgres.Image
	}
	return config.ImageRepository + ":" + cr.Spec.Postgres.Version
}

func database(in cnpg.Inputs, allowed hatch.Consent) (plan.Object, []string, error) {
	object, err := plan.FromApply(plan.StageDatabase, cnpg.Cluster(in))
	if err != nil {
		return plan.Object{}, nil, err
	}
	refused := cnpg.Merge(object.Content.Object, in.CR.Spec.CNPG, allowed)
	cnpg.AddQueries(object.Content.Object, naming.DurabilityQueries(in.CR.Name, string(in.CR.UID)), naming.DurabilityQueriesKey)
	return plan.FromContent(plan.StageDatabase, object.Content.Object), refused, nil
}

// overrides are what a Cluster has by spec.cnpg alone, refused or not; empty where they
// are no object, which their own outcome says.
func overrides(cr *v1alpha1.PgStorageCluster) map[string]any {
	spec := map[string]any{}
	if cr.Spec.CNPG != nil && cr.Spec.CNPG.Spec != nil && json.Unmarshal(cr.Spec.CNPG.Spec.Raw, &spec) != nil {
		spec = map[string]any{}
	}
	return map[string]any{"spec": spec}
}

func acceptance(refusals []postgres.Refusal, overridden []string) outcome.Outcome {
	const c = v1alpha1.ConditionParametersAccepted
	if len(refusals) > 0 {
		messages := make([]string, 0, len(refusals))
		for _, r := range refusals {
			messages = append(messages, r.Message)
		}
		return outcome.InvalidBecause(c, v1alpha1.ReasonInvalidParameters, strings.Join(messages, "; "))
	}
	if len(overridden) > 0 {
		return outcome.InvalidBecause(c, v1alpha1.ReasonOverrideRefused, strings.Join(overridden, "; "))
	}
	return outcome.DoneWith(c, v1alpha1.ReasonAccepted, "every parameter and override is valid and safe")
}

// holdDatabase keeps a Cluster from being made where that would not be safe.
func holdDatabase(p *plan.Plan, cr *v1alpha1.PgStorageCluster, facts observed.Cluster) {
	if o := CNPGOutcome(facts.ForeignAPIs); o.Kind != outcome.Done {
		p.AddGate(plan.StageDatabase, o.Reason, o.Message)
	}
	if o, held := ownership(cr, facts); held {
		p.AddGate(plan.StageDatabase, o.Reason, o.Message)
	}
}

// CNPGOutcome says whether CloudNativePG can take what we apply.
func CNPGOutcome(apis observed.ForeignAPIs) outcome.Outcome {
	const c = v1alpha1.ConditionDatabaseReady
	if !apis.CNPGInstalled {
		return outcome.WaitFor(c, v1alpha1.ReasonCNPGNotInstalled, "CloudNativePG is not installed (no CRD clusters.postgresql.cnpg.io); install version 1.30 or newer: https://cloudnative-pg.io/documentation/current/installation_upgrade/")
	}
	if len(apis.CNPGMissing) > 0 {
		return outcome.WaitFor(c, v1alpha1.ReasonCNPGTooOld, fmt.Sprintf("CloudNativePG is too old: its CRDs lack %s; upgrade to version 1.30 or newer", strings.Join(apis.CNPGMissing, ", ")))
	}
	return outcome.DoneWith(c, v1alpha1.ReasonHealthy, "")
}

// ownership refuses a namesake that is not ours, and a new empty database in
// place of one that somebody deleted.
func ownership(cr *v1alpha1.PgStorageCluster, facts observed.Cluster) (outcome.Outcome, bool) {
	const c = v1alpha1.ConditionDatabaseReady
	if o, refused := namesake(cr, facts); refused {
		return o, true
	}
	known := cr.Status.Database
	if facts.Cluster != nil || facts.Namesake != nil || known == nil || known.UID == "" || known.Initialized == nil || !*known.Initialized {
		return outcome.Outcome{}, false
	}
	if cr.Annotations[naming.AnnotationRecreate] == known.UID {
		return outcome.Outcome{}, false
	}
	return outcome.InvalidBecause(c, v1alpha1.ReasonClusterDeleted, fmt.Sprintf("the CloudNativePG Cluster %s (uid %s) was deleted by hand after its database had been initialised; a new one would be empty. Restore from a backup through spec.cnpg.spec.bootstrap.recovery, or accept an empty database; either way then: kubectl -n %s annotate pgsc %s %s=%s", known.Name, known.UID, cr.Namespace, cr.Name, naming.AnnotationRecreate, known.UID)), true
}

// namesake refuses a Cluster of our name that was not given to us, or is not safe to
// take over.
func namesake(cr *v1alpha1.PgStorageCluster, facts observed.Cluster) (outcome.Outcome, bool) {
	const c = v1alpha1.ConditionDatabaseReady
	if n := facts.Namesake; n != nil && n.AdoptBy != cr.Name {
		return outcome.InvalidBecause(c, v1alpha1.ReasonClusterNotOwned, fmt.Sprintf("a CloudNativePG Cluster %s exists and was not made by this object; choose another name, or let it be taken over, with its data and this spec: kubectl -n %s annotate clusters.postgresql.cnpg.io %s %s=%s", cr.Name, cr.Namespace, cr.Name, naming.AnnotationAdopt, cr.Name)), true
	}
	if unsafe := unadoptable(cr, facts); len(unsafe) > 0 {
		return outcome.InvalidBecause(c, v1alpha1.ReasonAdoptionRefused, fmt.Sprintf("the CloudNativePG Cluster %s is not taken over, and was not changed: %s", cr.Name, strings.Join(unsafe, "; "))), true
	}
	return outcome.Outcome{}, false
}

func addCompanions(p *plan.Plan, cr *v1alpha1.PgStorageCluster, facts observed.Cluster) error {
	if cr.Spec.Monitoring == nil || cr.Spec.Monitoring.PodMonitor != v1alpha1.PodMonitorDisabled {
		o, err := plan.FromApply(plan.StageMonitors, monitoring.PodMonitor(cr, metricsTLS(p)))
		if err != nil {
			return err
		}
		p.Add(o)
		if o := MonitoredOutcome(cr, facts); o.Reason == v1alpha1.ReasonCRDNotInstalled || o.Kind == outcome.Invalid {
			p.AddGate(plan.StageMonitors, o.Reason, o.Message)
		}
	}
	if cr.Spec.Benchmark == nil {
		return nil
	}
	benchmark, err := inlineBenchmark(cr)
	if err != nil {
		return err
	}
	o, err := plan.FromApply(plan.StageBenchmark, benchmark)
	if err != nil {
		return err
	}
	p.Add(o)
	return nil
}

// metricsTLS says whether the database of the plan serves its metrics over TLS,
// which only an override can ask for.
func metricsTLS(p *plan.Plan) bool {
	for _, o := range p.Objects {
		if enabled, found, err := unstructured.NestedBool(o.Content.Object, "spec", "monitoring", "tls", "enabled"); err == nil && found {
			return enabled
		}
	}
	return false
}

// MonitoredOutcome says whether a PodMonitor can be made.
func MonitoredOutcome(cr *v1alpha1.PgStorageCluster, facts observed.Cluster) outcome.Outcome {
	o := outcome.DoneWith(v1alpha1.ConditionMonitored, v1alpha1.ReasonPodMonitorApplied, fmt.Sprintf("PodMonitor %s selects the instances", cr.Name))
	switch {
	case cr.Spec.Monitoring != nil && cr.Spec.Monitoring.PodMonitor == v1alpha1.PodMonitorDisabled:
		o = outcome.WaitFor(o.Condition, v1alpha1.ReasonDisabled, "spec.monitoring.podMonitor is Disabled")
	case !facts.PodMonitors:
		o = outcome.WaitFor(o.Condition, v1alpha1.ReasonCRDNotInstalled, "the PodMonitor CRD of prometheus-operator is not installed; install it, or set spec.monitoring.podMonitor: Disabled")
	case facts.ForeignPodMonitor:
		o = outcome.InvalidBecause(o.Condition, v1alpha1.ReasonClusterNotOwned, fmt.Sprintf("a PodMonitor %s exists and was not made by this operator; rename it, or set spec.monitoring.podMonitor: Disabled", cr.Name))
	case !facts.PodMonitor:
		o = outcome.WaitFor(o.Condition, v1alpha1.ReasonProgressing, "the PodMonitor is made together with the database")
	}
	o.Informative = true
	return o
}

// BenchmarkName is the PgBenchmark of the current inline benchmark, or "".
func BenchmarkName(cr *v1alpha1.PgStorageCluster) string {
	if cr.Spec.Benchmark == nil {
		return ""
	}
	return naming.InlineBenchmark(cr.Name, cr.Spec.Benchmark)
}
