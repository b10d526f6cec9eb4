package cephrbd

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/pgstorage/pgstorage/api/v1alpha1"
	"github.com/pgstorage/pgstorage/internal/kube/outcome"
	"github.com/pgstorage/pgstorage/internal/operator/profile/cephrbd/rook"
)

// Verdict on one health check of Ceph.
type Verdict string

const (
	// Accepted checks do not concern data: volumes can be provisioned.
	Accepted Verdict = "Accepted"
	// Waits delays new volumes until the check is gone, which can happen without
	// action.
	Waits Verdict = "Waits"
	// NeedsPerson delays new volumes until an administrator acts.
	NeedsPerson Verdict = "NeedsPerson"
)

// verdicts on the checks that warn (Ceph, Health checks). One that is not here waits.
var verdicts = map[string]Verdict{
	// Checks about the past, about versions, and advice.
	"RECENT_CRASH": Accepted, "RECENT_MGR_MODULE_CRASH": Accepted, "TELEMETRY_CHANGED": Accepted, "DASHBOARD_DEBUG": Accepted,
	"AUTH_INSECURE_GLOBAL_ID_RECLAIM": Accepted, "AUTH_INSECURE_GLOBAL_ID_RECLAIM_ALLOWED": Accepted,
	// Kernels without the keys of newer versions need them.
	"AUTH_INSECURE_CLIENT_KEY_TYPE": Accepted, "AUTH_INSECURE_KEYS_ALLOWED": Accepted, "AUTH_INSECURE_KEYS_CREATABLE": Accepted,
	"DAEMON_OLD_VERSION": Accepted, "OSD_UPGRADE_FINISHED": Accepted, "POOL_APP_NOT_ENABLED": Accepted,
	"POOL_TOO_FEW_PGS": Accepted, "POOL_TOO_MANY_PGS": Accepted, "TOO_MANY_PGS": Accepted, "MANY_OBJECTS_PER_PG": Accepted,
	"PG_NOT_SCRUBBED": Accepted, "PG_NOT_DEEP_SCRUBBED": Accepted, "PG_SLOW_SNAP_TRIMMING": Accepted,
	"MON_DISK_BIG": Accepted, "BLUESTORE_FRAGMENTATION": Accepted, "MGR_MODULE_DEPENDENCY": Accepted,
	// An operation was slow: Ceph repeats it for a day (bluestore_slow_ops_warn_lifetime).
	"BLUESTORE_SLOW_OP_ALERT": Accepted, "BLOCK_DEVICE_STALLED_READ_ALERT": Accepted, "DB_DEVICE_STALLED_READ_ALERT": Accepted, "WAL_DEVICE_STALLED_READ_ALERT": Accepted,
	// All copies are there, and on their way to where they belong.
	"OBJECT_MISPLACED": Accepted,

	// What is away or slow, and can return.
	"OSD_DOWN": Waits, "PG_DEGRADED": Waits, "PG_AVAILABILITY": Waits, "MON_DOWN": Waits, "MGR_DOWN": Waits,
	"SLOW_OPS": Waits, "OSD_SLOW_PING_TIME_BACK": Waits, "OSD_SLOW_PING_TIME_FRONT": Waits, "MON_CLOCK_SKEW": Waits,
	"OSDMAP_FLAGS": Waits, "OSD_FLAGS": Waits,

	// Space, damage, and copies that nowhere can be.
	"OSD_NEARFULL": NeedsPerson, "OSD_BACKFILLFULL": NeedsPerson, "OSD_FULL": NeedsPerson, "PG_BACKFILL_FULL": NeedsPerson, "PG_RECOVERY_FULL": NeedsPerson,
	"POOL_NEARFULL": NeedsPerson, "POOL_NEAR_FULL": NeedsPerson, "POOL_BACKFILLFULL": NeedsPerson, "POOL_FULL": NeedsPerson,
	"MON_DISK_LOW": NeedsPerson, "MON_DISK_CRIT": NeedsPerson, "TOO_FEW_OSDS": NeedsPerson, "TOO_FEW_PGS": Accepted,
	"PG_DAMAGED": NeedsPerson, "OSD_SCRUB_ERRORS": NeedsPerson, "OBJECT_UNFOUND": NeedsPerson, "BLUESTORE_DISK_SIZE_MISMATCH": NeedsPerson,
	"OSD_TOO_MANY_REPAIRS": NeedsPerson, "BLUESTORE_SPURIOUS_READ_ERRORS": NeedsPerson, "BLUESTORE_NO_COMPRESSION": NeedsPerson,
	"POOL_NO_REDUNDANCY": NeedsPerson,
}

// never are accepted, whatever the profile says: as CEL refuses them.
var never = []string{"OSD_FULL", "POOL_FULL", "PG_AVAILABILITY", "PG_DAMAGED", "PG_RECOVERY_FULL", "OBJECT_UNFOUND", "OSD_SCRUB_ERRORS", "MON_DISK_CRIT", "TOO_FEW_OSDS"}

// judge one check. Ceph calls a module that failed an error, whatever the module does.
func judge(p *v1alpha1.PgStorageProfile, name string, check rook.HealthMessage) Verdict {
	v, known := verdicts[name]
	switch {
	case name == rook.CheckModuleError:
		return judgeModule(p, check.Message)
	case check.Severity == rook.HealthErr:
		return NeedsPerson
	case slices.Contains(never, name):
		return v
	case slices.Contains(p.Spec.CephRBD.AcceptWarnings, name):
		return Accepted
	case name == "POOL_NO_REDUNDANCY" && poolSize(p) == 1:
		// The spec requests it.
		return Accepted
	case !known:
		return Waits
	}
	return v
}

// checks that Ceph raises, by name, with a verdict each.
func checks(p *v1alpha1.PgStorageProfile, status rook.CephStatus) []v1alpha1.ObservedCephCheck {
	var out []v1alpha1.ObservedCephCheck
	for _, name := range slices.Sorted(maps.Keys(status.Details)) {
		d := status.Details[name]
		out = append(out, v1alpha1.ObservedCephCheck{Name: name, Severity: d.Severity, Verdict: string(judge(p, name, d))})
	}
	return out
}

const msgUnread = "Rook cannot read the health of Ceph. New databases wait until it can; those that run are left alone. See whether the mons run: kubectl -n "

// healthOutcome is nil where new volumes may be made.
func healthOutcome(p *v1alpha1.PgStorageProfile, status rook.CephStatus) *outcome.Outcome {
	const c = v1alpha1.ConditionCephReady
	raised := checks(p, status)
	persons, waits := names(raised, NeedsPerson), names(raised, Waits)
	_, unread := status.Details[rook.CheckUnread]
	var o outcome.Outcome
	switch {
	case unread:
		// A mon that restarts is enough, and images are read and written meanwhile.
		o = outcome.WaitFor(c, v1alpha1.ReasonCephWarning, msgUnread+p.Spec.CephRBD.Rook.Namespace+" get pod -l app=rook-ceph-mon")
	case slices.Equal(persons, []string{rook.CheckModuleError}):
		o = outcome.InvalidBecause(c, v1alpha1.ReasonCephModuleFailed, fmt.Sprintf("%s: %s. New databases wait until it works again; those that run are left alone. To accept it, add %s to spec.cephRBD.acceptWarnings", status.Health, moduleText(status.Details[rook.CheckModuleError].Message), rook.CheckModuleError))
	case len(persons) > 0:
		o = outcome.InvalidBecause(c, v1alpha1.ReasonCephUnhealthy, fmt.Sprintf("%s: %s. New databases wait until that is put right; those that run are left alone. See ceph health detail", status.Health, strings.Join(append(persons, waits...), ", ")))
	case status.Health == rook.HealthErr && !explained(raised):
		o = outcome.InvalidBecause(c, v1alpha1.ReasonCephUnhealthy, "HEALTH_ERR without a check that Rook reports; see ceph health detail")
	case len(waits) > 0:
		o = outcome.WaitFor(c, v1alpha1.ReasonCephWarning, fmt.Sprintf("%s: %s. New databases wait until that is over; those that run are left alone. A warning that may stay is named in spec.cephRBD.acceptWarnings", status.Health, strings.Join(waits, ", ")))
	case status.Health == "":
		o = outcome.WaitFor(c, v1alpha1.ReasonCephProgressing, "Ceph has not reported its health yet")
	default:
		return nil
	}
	return &o
}

// explained reports whether a check is the error that HEALTH_ERR stands for.
func explained(raised []v1alpha1.ObservedCephCheck) bool {
	return slices.ContainsFunc(raised, func(c v1alpha1.ObservedCephCheck) bool { return c.Severity == rook.HealthErr })
}

// names of the checks with a verdict. Their messages count seconds and objects, and
// would change the condition with them.
func names(raised []v1alpha1.ObservedCephCheck, verdict Verdict) []string {
	var out []string
	for _, c := range raised {
		if c.Verdict == string(verdict) {
			out = append(out, c.Name)
		}
	}
	return out
}
