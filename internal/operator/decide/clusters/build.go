package clusters

import (
	"slices"

	"github.com/pgstorage/pgstorage/api/v1alpha1"
	"github.com/pgstorage/pgstorage/internal/bench/durability"
	"github.com/pgstorage/pgstorage/internal/kube/outcome"
	"github.com/pgstorage/pgstorage/internal/kube/plan"
	"github.com/pgstorage/pgstorage/internal/operator/component/cnpg"
	"github.com/pgstorage/pgstorage/internal/operator/component/monitoring"
	"github.com/pgstorage/pgstorage/internal/operator/observed"
	"github.com/pgstorage/pgstorage/internal/operator/postgres"
	"github.com/pgstorage/pgstorage/internal/operator/profile"
)

// Config is what the operator was started with.
type Config struct {
	// ImageRepository of Postgres; spec.postgres.version is its tag.
	ImageRepository string
	// BenchImage holds the benchmark runner.
	BenchImage string
	// PodMonitorLabels by which a Prometheus selects the PodMonitors of clusters.
	PodMonitorLabels map[string]string
	// ReadPools lets clusters have read pools, which is experimental.
	ReadPools bool
	// Sites lets a cluster be one site of several, which is experimental.
	Sites bool
	// Branches lets databases be branched, which is experimental.
	Branches bool
	// PlatformUsers leaves the user and groups of pods to the platform, as OpenShift
	// requires.
	PlatformUsers bool
}

// Cluster is what follows from a PgStorageCluster and the facts about it.
type Cluster struct {
	Plan       plan.Plan
	Parameters []postgres.Parameter
	// Outcomes that follow from the spec and the profile. Build decides them before
	// anything is applied.
	Outcomes outcome.Set
	// verified says whether the volumes are as the profile declares. It is nil where
	// nothing is read back.
	verified *outcome.Outcome
	// snapshots says whether base backups can be VolumeSnapshots. It is nil where no schedule
	// takes any.
	snapshots *outcome.Outcome
	// OldBackups are to be deleted with their VolumeSnapshots.
	OldBackups []plan.Seen
	// flush says where a flush of the profile's volumes goes.
	flush durability.Flush
}

// Build returns the plan of a PgStorageCluster. Where the profile, the spec or the owner
// of an existing Cluster forbids a stage, the plan has a gate that says why. It returns an
// error only for an unknown type of profile, or for content that JSON cannot express.
func Build(cr *v1alpha1.PgStorageCluster, facts observed.Cluster, kinds profile.Catalog, config Config) (Cluster, error) {
	var out Cluster
	storage := storageOutcome(kinds, cr, facts)
	out.Outcomes.Add(storage)
	if storage.Kind != outcome.Done && (facts.Cluster == nil || facts.Profile == nil) {
		out.Plan.AddGate(plan.StageStorage, storage.Reason, storage.Message)
	}
	volumes, err := volumes(kinds, facts.Profile)
	if err != nil {
		return out, err
	}
	out.flush = volumes.Flush
	verified, wholePages := verify(kinds, cr, facts)
	out.verified = verified
	out.holdFollower(cr, facts)
	out.holdSite(cr, facts, config)
	out.holdBackup(cr, facts)
	out.holdOrigin(cr, facts)
	out.takeSnapshots(cr, facts, volumes, config)
	in := inputs(cr, volumes)
	in.AtLeast = standbyMinimum(cr, facts)
	in.Held = held(facts)
	in.WholePages, in.InPlace = consumed(cr, facts, overrides(cr), pages(cr, wholePages)), inPlace(cr, facts.Cluster)
	parameters, refusals := postgres.Compute(in)
	out.Parameters = parameters
	object, overridden, err := database(cnpg.Inputs{
		CR: cr, Volumes: volumes, Image: image(cr, config), Parameters: parameters, Archive: toArchive(cr, facts),
		BackupFromPrimary: fromPrimary(cr, in), SnapshotClass: snapshotClass(out.snapshots, volumes),
		Probes: probes(facts.Profile), Source: sourceOf(cr, facts), Site: cnpg.SiteOf(cr, existing(facts), epoch(cr, facts)),
		Receiver: cnpg.ReceiverOf(existing(facts), following(cr)),
		Closed:   masking(facts),
	}, consent(cr, facts.Profile), existing(facts))
	if err != nil {
		return out, err
	}
	accepted := acceptance(refusals, slices.Concat(foreignImage(cr, facts.Profile, config), foreignHosts(cr, facts.Profile), undeclaredMajor(cr, facts), unconsented(cr, facts), standbyBackups(cr, in.StandbysCannotBackUp()), snapshotsOnNode(cr, volumes), overridden))
	accepted = tierAccepted(cr, facts.Profile, accepted)
	out.Outcomes.Add(accepted)
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
	return out, out.addOthers(cr, facts, config)
}

// addOthers adds what stands beside the database.
func (c *Cluster) addOthers(cr *v1alpha1.PgStorageCluster, facts observed.Cluster, config Config) error {
	if err := c.addBackups(cr, facts); err != nil {
		return err
	}
	if err := c.addReadPools(cr, facts, config); err != nil {
		return err
	}
	if err := c.addWatcher(cr, config); err != nil {
		return err
	}
	return addCompanions(&c.Plan, cr, facts, config)
}
