package adoption

import (
	"regexp"
	"strconv"
	"strings"

	cnpgv1 "github.com/cloudnative-pg/cloudnative-pg/api/v1"

	"github.com/pgstorage/pgstorage/api/v1alpha1"
	"github.com/pgstorage/pgstorage/internal/operator/postgres"
)

var majorOfTag = regexp.MustCompile(`:([0-9]+)[^/:]*$`)

// image of Postgres and its major.
func (d *describer) image() {
	s := d.live.Spec
	major := 0
	if info := d.live.Status.PGDataImageInfo; info != nil {
		major = info.MajorVersion
	}
	switch {
	case s.ImageCatalogRef != nil:
		major = s.ImageCatalogRef.Major
	case s.ImageName != "":
		d.spec.Postgres.Image = s.ImageName
		if major == 0 {
			major = tagged(s.ImageName)
		}
		d.take("imageName")
	case major == 0:
		major = tagged(defaultImage())
		d.note("the Cluster names no image and reports no version, so PostgreSQL %d is assumed, as in CloudNativePG's default image %s", major, defaultImage())
	}
	d.spec.Postgres.Version = strconv.Itoa(major)
	if major == 0 {
		d.refuse("spec.imageName: %q has no tag that begins with the major version of Postgres; use such a tag", s.ImageName)
	}
}

func tagged(image string) int {
	image, _, _ = strings.Cut(image, "@")
	m := majorOfTag.FindStringSubmatch(image)
	if m == nil {
		return 0
	}
	n, err := strconv.Atoi(m[1])
	if err != nil {
		return 0
	}
	return n
}

// parameters that are not CloudNativePG's own.
func (d *describer) parameters() {
	out := map[string]string{}
	rest, _ := d.rest["postgresql"].(map[string]any)
	given, _ := rest["parameters"].(map[string]any)
	for name := range given {
		if !postgres.Managed(name) {
			out[name] = d.live.Spec.PostgresConfiguration.Parameters[name]
		}
	}
	if len(out) > 0 {
		d.spec.Postgres.Parameters = out
	}
	d.take("postgresql", "parameters")
}

// durability that the Cluster has at least.
func (d *describer) durability() {
	s := d.live.Spec
	commit, set := s.PostgresConfiguration.Parameters["synchronous_commit"]
	major, _ := strconv.Atoi(d.spec.Postgres.Version) // 0 is refused
	sync := s.PostgresConfiguration.Synchronous
	switch {
	case set && !postgres.Synchronous(major, commit):
		d.spec.Durability = v1alpha1.DurabilityAsync
	case sync != nil && isQuorum(s):
		d.spec.Durability = v1alpha1.DurabilityQuorum
		q := &v1alpha1.QuorumSpec{Method: v1alpha1.QuorumAny, Standbys: int32(sync.Number)} //nolint:gosec // admission bounds it
		if sync.Method == cnpgv1.SynchronousReplicaConfigurationMethodFirst {
			q.Method = v1alpha1.QuorumFirst
		}
		d.spec.Quorum = q
		d.take("postgresql", "synchronous")
	default:
		d.spec.Durability = v1alpha1.DurabilityLocal
		if sync != nil || s.MinSyncReplicas+s.MaxSyncReplicas > 0 {
			d.note("synchronous replication stays as it is, in spec.cnpg.spec, and durability is Local: %s", Weaker(s))
		}
	}
}

// isQuorum says that a Cluster keeps what the tier Quorum promises.
func isQuorum(s cnpgv1.ClusterSpec) bool {
	return Weaker(s) == "" && !s.PostgresConfiguration.SyncReplicaElectionConstraint.Enabled && s.PostgresConfiguration.Synchronous.MaxStandbyNamesFromCluster == nil
}

// Weaker says why synchronous replication of a Cluster is not the tier Quorum.
func Weaker(s cnpgv1.ClusterSpec) string {
	sync := s.PostgresConfiguration.Synchronous
	switch {
	case sync == nil && s.MinSyncReplicas+s.MaxSyncReplicas > 0:
		return "minSyncReplicas and maxSyncReplicas let commits continue without a standby when too few are ready"
	case sync == nil:
		return "no standby confirms commits"
	case len(sync.StandbyNamesPre)+len(sync.StandbyNamesPost) > 0:
		return "standbyNamesPre and standbyNamesPost name standbys that are not its instances"
	case sync.DataDurability != cnpgv1.DataDurabilityLevelRequired:
		return "dataDurability is not required, so commits continue without a standby"
	case !sync.FailoverQuorum:
		return "failoverQuorum is false, so a standby without the last commits may be promoted"
	}
	return ""
}
