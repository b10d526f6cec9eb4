package branch

import (
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	batchv1ac "k8s.io/client-go/applyconfigurations/batch/v1"
	corev1ac "k8s.io/client-go/applyconfigurations/core/v1"

	"github.com/pgstorage/pgstorage/api/v1alpha1"
	"github.com/pgstorage/pgstorage/internal/kube/naming"
	"github.com/pgstorage/pgstorage/internal/kube/plan"
	"github.com/pgstorage/pgstorage/internal/operator/component/pod"
)

const (
	caDir   = "/pgstorage/ca"
	sqlDir  = "/pgstorage/sql"
	workDir = "/pgstorage/work"
	// longestMasking is how long the SQL may take, in seconds.
	longestMasking = 6 * 60 * 60
	// noConnection is psql's exit code where it could not connect, or lost the connection
	// (https://www.postgresql.org/docs/current/app-psql.html#APP-PSQL-EXIT-STATUS).
	noConnection = 2
	// connects is how often the Job tries again then, after 10 s and twice as long each time.
	connects = 6
)

// MaskingInputs are the inputs of Masking.
type MaskingInputs struct {
	Branch  *v1alpha1.PgStorageBranch
	Cluster *v1alpha1.PgStorageCluster
	// Image of Postgres, with psql in it.
	Image string
	// SQL that the ConfigMap has now.
	SQL string
	// PlatformUsers leaves the user and groups of the pod to the platform.
	PlatformUsers bool
}

// Masking is the Job that runs the SQL of spec.masking as the owner of the branch's database.
// It has the password of that owner and no other, and no token.
func Masking(in MaskingInputs) (plan.Object, error) {
	b, cr := in.Branch, in.Cluster
	name := naming.BranchMasking(b.Name, string(b.UID), in.SQL)
	labels := naming.BranchLabels(b.Name, string(b.UID))
	from := b.Spec.Masking.ConfigMap
	psql := pod.Confined(corev1ac.Container().
		WithName("psql").
		WithImage(in.Image).
		WithCommand("psql", "--no-psqlrc", "--set=ON_ERROR_STOP=1", "--single-transaction", "--file="+sqlDir+"/"+from.Key).
		WithWorkingDir(workDir).
		WithEnv(
			pod.Variable("PGHOST", naming.ReadWriteService(cr.Name)),
			pod.Variable("PGPORT", "5432"),
			pod.Variable("PGDATABASE", cr.Spec.Postgres.Database),
			pod.Variable("PGUSER", cr.Spec.Postgres.Owner),
			pod.Password("PGPASSWORD", naming.ApplicationSecret(cr.Name)),
			pod.Variable("PGSSLMODE", "verify-full"),
			pod.Variable("PGSSLROOTCERT", caDir+"/ca.crt"),
			pod.Variable("PGAPPNAME", "pgstorage-masking"),
			pod.Variable("HOME", workDir),
			pod.Variable("TMPDIR", workDir),
		).
		WithVolumeMounts(pod.Mount("sql", sqlDir, true), pod.Mount("ca", caDir, true), pod.Mount("work", workDir, false)).
		WithResources(corev1ac.ResourceRequirements().WithRequests(corev1.ResourceList{corev1.ResourceCPU: resource.MustParse("50m"), corev1.ResourceMemory: resource.MustParse("64Mi")})))
	spec := corev1ac.PodSpec().
		WithAutomountServiceAccountToken(false).
		WithRestartPolicy(corev1.RestartPolicyNever).
		WithTerminationGracePeriodSeconds(15).
		WithSecurityContext(pod.SecurityContext(in.PlatformUsers)).
		WithContainers(psql).
		WithVolumes(
			corev1ac.Volume().WithName("sql").WithConfigMap(corev1ac.ConfigMapVolumeSource().WithName(from.Name).
				WithItems(corev1ac.KeyToPath().WithKey(from.Key).WithPath(from.Key))),
			corev1ac.Volume().WithName("work").WithEmptyDir(corev1ac.EmptyDirVolumeSource().WithSizeLimit(resource.MustParse("64Mi"))),
			pod.Authority("ca", cr.Name))
	return plan.FromApply(plan.StageDatabase, batchv1ac.Job(name, b.Namespace).
		WithLabels(labels).
		WithOwnerReferences(plan.ControllerReference("PgStorageBranch", b)).
		WithSpec(batchv1ac.JobSpec().
			WithBackoffLimit(connects).
			WithPodFailurePolicy(failures()).
			WithActiveDeadlineSeconds(longestMasking).
			WithTemplate(corev1ac.PodTemplateSpec().WithLabels(labels).WithSpec(spec))))
}

// failures ends the Job where the SQL fails. The Job tries again where the database does not
// answer for a moment, or the pod is evicted.
func failures() *batchv1ac.PodFailurePolicyApplyConfiguration {
	return batchv1ac.PodFailurePolicy().WithRules(
		batchv1ac.PodFailurePolicyRule().WithAction(batchv1.PodFailurePolicyActionIgnore).
			WithOnPodConditions(batchv1ac.PodFailurePolicyOnPodConditionsPattern().WithType(corev1.DisruptionTarget).WithStatus(corev1.ConditionTrue)),
		batchv1ac.PodFailurePolicyRule().WithAction(batchv1.PodFailurePolicyActionFailJob).
			WithOnExitCodes(batchv1ac.PodFailurePolicyOnExitCodesRequirement().WithContainerName("psql").
				WithOperator(batchv1.PodFailurePolicyOnExitCodesOpNotIn).WithValues(noConnection)),
	)
}
