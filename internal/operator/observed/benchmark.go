package observed

import (
	"time"

	cnpgv1 "github.com/cloudnative-pg/cloudnative-pg/api/v1"
	batchv1 "k8s.io/api/batch/v1"

	"github.com/pgstorage/pgstorage/api/v1alpha1"
)

// Benchmark has the facts about one PgBenchmark of a single run.
type Benchmark struct {
	ForeignAPIs
	// Target is the PgStorageCluster; nil when it does not exist.
	Target *v1alpha1.PgStorageCluster
	// Source is the PgStorageCluster that the target follows; nil where the target follows
	// none, or where the source does not exist.
	Source *v1alpha1.PgStorageCluster
	// Image that the target's instances run; pgbench is in it.
	Image string
	// Before names the PgBenchmark that runs first. It is one of the same target, of the
	// cluster that it follows, or of another read pool of that cluster.
	Before string
	// MissingScripts are custom scripts whose ConfigMap or key does not exist.
	MissingScripts []string
	// RefusedScripts are custom scripts that may not be run, each with why.
	RefusedScripts []string
	// Scratch is where layers can be measured; nil where the spec requests none, or the
	// Job exists already.
	Scratch *Scratch
	// Volumes of the target and of its source; empty once the Job was made.
	Volumes, SourceVolumes Volumes
	// Now is the time of the reconcile.
	Now time.Time
	// Role, CheckRole and Database of the benchmark; nil when there is none.
	Role, CheckRole *cnpgv1.DatabaseRole
	Database        *cnpgv1.Database
	// Job that runs pgbench; nil when there is none.
	Job *batchv1.Job
}
