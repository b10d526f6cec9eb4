package verification

import (
	"encoding/json"
	"fmt"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	batchv1ac "k8s.io/client-go/applyconfigurations/batch/v1"
	corev1ac "k8s.io/client-go/applyconfigurations/core/v1"

	"github.com/pgstorage/pgstorage/api/v1alpha1"
	"github.com/pgstorage/pgstorage/internal/bench/restorecheck"
	"github.com/pgstorage/pgstorage/internal/kube/naming"
	"github.com/pgstorage/pgstorage/internal/kube/plan"
	"github.com/pgstorage/pgstorage/internal/operator/component/pod"
)

const (
	binDir  = "/pgstorage/bin"
	caDir   = "/pgstorage/ca"
	workDir = "/pgstorage/work"
	// superuser and adminDatabase are of every cluster of CloudNativePG.
	superuser     = "postgres"
	adminDatabase = "postgres"
)

// JobInputs are the inputs of Job.
type JobInputs struct {
	CR *v1alpha1.PgStorageCluster
	// Image of Postgres, with pg_amcheck in it.
	Image string
	// ProgramImage holds the static program at /bench.
	ProgramImage string
	// PlatformUsers leaves the user and groups of the pod to the platform.
	PlatformUsers bool
	// System is the system identifier of the database that was backed up.
	System string
	// Seconds is how long the checks may take, with the start of their pod.
	Seconds int64
}

// Job checks a restored database. It has the passwords of the restored cluster and no other,
// and no token.
func Job(in JobInputs) (plan.Object, error) {
	cr := in.CR
	name := naming.Verification(cr.Name, string(cr.UID))
	environment, err := environment(in, name)
	if err != nil {
		return plan.Object{}, err
	}
	spec := corev1ac.PodSpec().
		WithAutomountServiceAccountToken(false).
		WithRestartPolicy(corev1.RestartPolicyNever).
		WithTerminationGracePeriodSeconds(15).
		WithSecurityContext(pod.SecurityContext(in.PlatformUsers)).
		WithInitContainers(pod.Confined(corev1ac.Container().
			WithName("program").
			WithImage(in.ProgramImage).
			WithCommand("/bench", "copy", binDir+"/bench").
			WithVolumeMounts(pod.Mount("bin", binDir, false)).
			WithResources(requests()))).
		WithContainers(pod.Confined(corev1ac.Container().
			WithName("check").
			WithImage(in.Image).
			WithCommand(binDir+"/bench", "check-restore", corev1.TerminationMessagePathDefault).
			WithWorkingDir(workDir).
			WithEnv(environment...).
			WithVolumeMounts(pod.Mount("bin", binDir, true), pod.Mount("ca", caDir, true), pod.Mount("work", workDir, false)).
			WithResources(requests()))).
		WithVolumes(
			corev1ac.Volume().WithName("bin").WithEmptyDir(corev1ac.EmptyDirVolumeSource().WithSizeLimit(resource.MustParse("256Mi"))),
			corev1ac.Volume().WithName("work").WithEmptyDir(corev1ac.EmptyDirVolumeSource().WithSizeLimit(resource.MustParse("64Mi"))),
			pod.Authority("ca", name))
	return plan.FromApply(plan.StageBenchmark, batchv1ac.Job(name, cr.Namespace).
		WithLabels(naming.VerifyLabels(cr.Name)).
		WithOwnerReferences(plan.ControllerReference(kind, cr)).
		WithSpec(batchv1ac.JobSpec().
			WithBackoffLimit(0).
			WithActiveDeadlineSeconds(in.Seconds).
			WithTemplate(corev1ac.PodTemplateSpec().WithLabels(naming.VerifyLabels(cr.Name)).WithSpec(spec))))
}

func requests() *corev1ac.ResourceRequirementsApplyConfiguration {
	return corev1ac.ResourceRequirements().WithRequests(corev1.ResourceList{corev1.ResourceCPU: resource.MustParse("50m"), corev1.ResourceMemory: resource.MustParse("64Mi")})
}

func environment(in JobInputs, cluster string) ([]*corev1ac.EnvVarApplyConfiguration, error) {
	cr, known := in.CR, in.CR.Status.BackupVerification
	spec := restorecheck.Spec{
		Database: cr.Spec.Postgres.Database, Owner: cr.Spec.Postgres.Owner, System: in.System,
		Tables: cr.Spec.Backup.Verify.Tables, Query: cr.Spec.Backup.Verify.Query, Seconds: in.Seconds,
	}
	if known != nil {
		spec.WAL = known.ExpectedWAL
	}
	text, err := json.Marshal(spec)
	if err != nil {
		return nil, fmt.Errorf("marshal what is checked: %w", err)
	}
	return []*corev1ac.EnvVarApplyConfiguration{
		pod.Variable("PGHOST", naming.ReadWriteService(cluster)),
		pod.Variable("PGPORT", "5432"),
		pod.Variable("PGDATABASE", adminDatabase),
		pod.Variable("PGUSER", superuser),
		pod.Password("PGPASSWORD", naming.SuperuserSecret(cluster)),
		pod.Password(restorecheck.EnvOwnerPassword, naming.ApplicationSecret(cluster)),
		pod.Variable("PGSSLMODE", "verify-full"),
		pod.Variable("PGSSLROOTCERT", caDir+"/ca.crt"),
		pod.Variable("PGAPPNAME", "pgstorage-verify"),
		pod.Variable("HOME", workDir),
		pod.Variable("TMPDIR", workDir),
		// A value is not expanded where its $ is written twice.
		pod.Variable(restorecheck.EnvSpec, strings.ReplaceAll(string(text), "$", "$$")),
	}, nil
}
