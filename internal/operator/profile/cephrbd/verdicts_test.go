package cephrbd

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	storagev1 "k8s.io/api/storage/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/pgstorage/pgstorage/api/v1alpha1"
	"github.com/pgstorage/pgstorage/internal/kube/naming"
	"github.com/pgstorage/pgstorage/internal/kube/outcome"
	"github.com/pgstorage/pgstorage/internal/kube/plan"
	"github.com/pgstorage/pgstorage/internal/operator/observed"
	"github.com/pgstorage/pgstorage/internal/operator/profile"
	"github.com/pgstorage/pgstorage/internal/operator/profile/cephrbd/rook"
)

func build(t *testing.T, p *v1alpha1.PgStorageProfile, facts observed.Profile) profile.Built {
	t.Helper()
	b, err := Type{}.Build(p, facts)
	if err != nil {
		t.Fatal(err)
	}
	conditions := map[string]bool{}
	for _, o := range b.Outcomes {
		if conditions[o.Condition] {
			t.Errorf("two outcomes of %s", o.Condition)
		}
		conditions[o.Condition] = true
	}
	return b
}

func outcomeOf(b profile.Built, condition string) outcome.Outcome {
	for _, o := range b.Outcomes {
		if o.Condition == condition {
			return o
		}
	}
	return outcome.Outcome{}
}

// open stages of a plan, as far as the profile has objects in them.
func open(p plan.Plan) string {
	var out []string
	for _, stage := range []plan.Stage{plan.StageNodes, plan.StageBacking, plan.StageCeph, plan.StageCephPool, plan.StagePool, plan.StageProbe, plan.StageStorage} {
		if _, held := p.GateOf(stage); !held {
			out = append(out, stage.String())
		}
	}
	return strings.Join(out, " ")
}

func raises(health, name, severity, message string) func(*observed.Profile) {
	return func(f *observed.Profile) {
		own(*f).Cluster.Status.Ceph.Health = health
		if name != "" {
			own(*f).Cluster.Status.Ceph.Details = map[string]rook.HealthMessage{name: {Severity: severity, Message: message}}
		}
	}
}

// applied is the class as the plan has it, put among the facts.
func applied(f *observed.Profile) *storagev1.StorageClass {
	p := onZFS(nil)
	parameters, err := classParameters(p, *f)
	if err != nil {
		panic(err)
	}
	class := &storagev1.StorageClass{ObjectMeta: metav1.ObjectMeta{Name: "ceph", Labels: naming.ProfileLabels("ceph", uid)}, Provisioner: driver(p), Parameters: parameters}
	f.Classes["ceph"] = class
	return class
}

const all = "nodes backing ceph ceph-pool pool probe storage"

func TestStages(t *testing.T) {
	const toCeph, toPool, toProbe = "nodes backing ceph ceph-pool", "nodes backing ceph ceph-pool pool", "nodes backing ceph ceph-pool pool probe"
	for _, tc := range []struct {
		name, condition, reason, message string
		kind                             outcome.Kind
		facts                            func(*observed.Profile)
		open                             string
	}{
		{name: "everything", condition: v1alpha1.ConditionCephReady, reason: v1alpha1.ReasonCephReady, message: "CephCluster rook-ceph/rook-ceph is ready: HEALTH_OK", open: all},
		{name: "zfs-localpv is missing", condition: v1alpha1.ConditionDriverReady, reason: v1alpha1.ReasonDriverNotInstalled, kind: outcome.Wait, facts: func(f *observed.Profile) { f.ZFSLocalPV = false }, open: "nodes"},
		{name: "no node", condition: v1alpha1.ConditionNodesReady, reason: v1alpha1.ReasonNoNodeSelected, kind: outcome.Wait, facts: func(f *observed.Profile) { f.Nodes, f.Storages = nil, nil }, open: "nodes"},
		{name: "somebody else's block class", condition: v1alpha1.ConditionBackingReady, reason: v1alpha1.ReasonStorageClassNotOwned, kind: outcome.Invalid, facts: func(f *observed.Profile) { f.Classes["ceph-block"] = &storagev1.StorageClass{} }, open: "nodes"},
		{name: "Rook is missing", condition: v1alpha1.ConditionCephReady, reason: v1alpha1.ReasonRookNotInstalled, kind: outcome.Wait, facts: func(f *observed.Profile) { own(*f).Installed = false }, open: "nodes backing"},
		{name: "no CephCluster yet", condition: v1alpha1.ConditionCephReady, reason: v1alpha1.ReasonCephClusterNotFound, kind: outcome.Wait, facts: func(f *observed.Profile) { own(*f).Cluster = nil }, open: toCeph},
		{
			name: "somebody else's CephCluster", condition: v1alpha1.ConditionCephReady, reason: v1alpha1.ReasonCephNotOwned, kind: outcome.Invalid, open: "nodes backing", facts: func(f *observed.Profile) { own(*f).Cluster.Owner = "" },
			message: "CephCluster rook-ceph/rook-ceph exists and is not this profile's; it is left as it is. To use it, create a profile with spec.cephRBD.external: true; for another, set spec.cephRBD.rook.namespace to a namespace without one",
		},
		{name: "being deleted", condition: v1alpha1.ConditionCephReady, reason: v1alpha1.ReasonDeleting, kind: outcome.Wait, facts: func(f *observed.Profile) { own(*f).Cluster.Deleting = true }, open: "nodes backing ceph"},
		{
			name: "Progressing", condition: v1alpha1.ConditionCephReady, reason: v1alpha1.ReasonCephProgressing, kind: outcome.Wait, open: toCeph,
			message: `CephCluster rook-ceph/rook-ceph is in phase "Progressing": Configuring Ceph Mons`,
			facts: func(f *observed.Profile) {
				own(*f).Cluster.Status.Phase, own(*f).Cluster.Status.Message = rook.PhaseProgressing, "Configuring Ceph Mons"
			},
		},
		{
			name: "OSDs that end and start again", condition: v1alpha1.ConditionCephReady, reason: v1alpha1.ReasonCephProgressing, kind: outcome.Wait, open: toCeph,
			message: `CephCluster rook-ceph/rook-ceph is in phase "Progressing": Processing OSD 0; osd.0 on node node-1 fails: Error, exit code 132; see kubectl -n rook-ceph logs -l ceph-osd-id=0 -c osd --previous`,
			facts: func(f *observed.Profile) {
				own(*f).Cluster.Status.Phase, own(*f).Cluster.Status.Message = rook.PhaseProgressing, "Processing OSD 0"
				own(*f).OSDs = []OSD{{ID: 0, Host: "node-1", Failure: "Error, exit code 132"}}
			},
		},
		{name: "an old generation", condition: v1alpha1.ConditionCephReady, reason: v1alpha1.ReasonCephProgressing, kind: outcome.Wait, facts: func(f *observed.Profile) { own(*f).Cluster.Generation = 3 }, open: toCeph},
		{name: "Connected is not enough", condition: v1alpha1.ConditionCephReady, reason: v1alpha1.ReasonCephProgressing, kind: outcome.Wait, facts: func(f *observed.Profile) { own(*f).Cluster.Status.Phase = rook.PhaseConnected }, open: toCeph},
		{name: "no health yet", condition: v1alpha1.ConditionCephReady, reason: v1alpha1.ReasonCephProgressing, kind: outcome.Wait, facts: raises("", "", "", ""), open: toCeph},
		{
			name: "a warning that waits", condition: v1alpha1.ConditionCephReady, reason: v1alpha1.ReasonCephWarning, kind: outcome.Wait, facts: raises("HEALTH_WARN", "OSD_DOWN", "HEALTH_WARN", "1 osds down"), open: toCeph,
			message: "HEALTH_WARN: OSD_DOWN. New databases wait until that is over; those that run are left alone. A warning that may stay is named in spec.cephRBD.acceptWarnings",
		},
		{
			name: "a slow operation of the last day", condition: v1alpha1.ConditionCephReady, reason: v1alpha1.ReasonCephReady, facts: raises("HEALTH_WARN", "BLUESTORE_SLOW_OP_ALERT", "HEALTH_WARN", "1 OSD(s) experiencing slow operations in BlueStore"), open: all,
			message: "CephCluster rook-ceph/rook-ceph is ready: HEALTH_WARN",
		},
		{
			name: "a warning for a person", condition: v1alpha1.ConditionCephReady, reason: v1alpha1.ReasonCephUnhealthy, kind: outcome.Invalid, facts: raises("HEALTH_WARN", "OSD_NEARFULL", "HEALTH_WARN", "1 nearfull osd(s)"), open: toCeph,
			message: "HEALTH_WARN: OSD_NEARFULL. New databases wait until that is put right; those that run are left alone. See ceph health detail",
		},
		{
			name: "a module that data does not depend on", condition: v1alpha1.ConditionCephReady, reason: v1alpha1.ReasonCephModuleFailed, facts: raises("HEALTH_ERR", "MGR_MODULE_ERROR", "HEALTH_ERR", "Module 'devicehealth' has failed: disk I/O error"), open: all,
			message: "CephCluster rook-ceph/rook-ceph is ready: HEALTH_ERR, because the mgr module devicehealth failed: disk I/O error. Data does not depend on it, and new volumes are created; see ceph health detail",
		},
		{
			name: "a module that volumes need", condition: v1alpha1.ConditionCephReady, reason: v1alpha1.ReasonCephModuleFailed, kind: outcome.Invalid, facts: raises("HEALTH_ERR", "MGR_MODULE_ERROR", "HEALTH_ERR", "Module 'rbd_support' has failed: x"), open: toCeph,
			message: "HEALTH_ERR: the mgr module rbd_support failed: x. New databases wait until it works again; those that run are left alone. To accept it, add MGR_MODULE_ERROR to spec.cephRBD.acceptWarnings",
		},
		{
			name: "modules that Ceph only counts", condition: v1alpha1.ConditionCephReady, reason: v1alpha1.ReasonCephModuleFailed, kind: outcome.Invalid, facts: raises("HEALTH_ERR", "MGR_MODULE_ERROR", "HEALTH_ERR", "2 mgr modules have failed"), open: toCeph,
			message: "HEALTH_ERR: modules of the mgr failed: 2 mgr modules have failed; ceph health detail names them. New databases wait until it works again; those that run are left alone. To accept it, add MGR_MODULE_ERROR to spec.cephRBD.acceptWarnings",
		},
		{name: "a module beside damage", condition: v1alpha1.ConditionCephReady, reason: v1alpha1.ReasonCephUnhealthy, kind: outcome.Invalid, open: toCeph, facts: func(f *observed.Profile) {
			raises("HEALTH_ERR", "MGR_MODULE_ERROR", "HEALTH_ERR", "Module 'devicehealth' has failed: disk I/O error")(f)
			own(*f).Cluster.Status.Ceph.Details["PG_DAMAGED"] = rook.HealthMessage{Severity: "HEALTH_ERR"}
		}},
		{name: "a module beside an OSD that is down", condition: v1alpha1.ConditionCephReady, reason: v1alpha1.ReasonCephWarning, kind: outcome.Wait, open: toCeph, facts: func(f *observed.Profile) {
			raises("HEALTH_ERR", "MGR_MODULE_ERROR", "HEALTH_ERR", "Module 'devicehealth' has failed: disk I/O error")(f)
			own(*f).Cluster.Status.Ceph.Details["OSD_DOWN"] = rook.HealthMessage{Severity: "HEALTH_WARN"}
		}},
		{name: "too few hosts explain degraded placement groups", condition: v1alpha1.ConditionCephReady, reason: v1alpha1.ReasonTooFewDomains, kind: outcome.Wait, open: toCeph, facts: func(f *observed.Profile) {
			raises("HEALTH_WARN", "PG_DEGRADED", "HEALTH_WARN", "")(f)
			own(*f).OSDs[2].Host = "n1"
		}},
		{name: "a warning of the past", condition: v1alpha1.ConditionCephReady, reason: v1alpha1.ReasonCephReady, facts: raises("HEALTH_WARN", "RECENT_CRASH", "HEALTH_WARN", "1 daemons have recently crashed"), open: all},
		{name: "an error", condition: v1alpha1.ConditionCephReady, reason: v1alpha1.ReasonCephUnhealthy, kind: outcome.Invalid, facts: raises("HEALTH_ERR", "OSD_FULL", "HEALTH_ERR", "1 full osd(s)"), open: toCeph},
		{
			name: "a health that Rook cannot read", condition: v1alpha1.ConditionCephReady, reason: v1alpha1.ReasonCephWarning, kind: outcome.Wait, facts: raises("HEALTH_ERR", "error", "Urgent", "failed to get status. . timed out: exit status 1"), open: toCeph,
			message: "Rook cannot read the health of Ceph. New databases wait until it can; those that run are left alone. See whether the mons run: kubectl -n rook-ceph get pod -l app=rook-ceph-mon",
		},
		{name: "an error without a check", condition: v1alpha1.ConditionCephReady, reason: v1alpha1.ReasonCephUnhealthy, kind: outcome.Invalid, facts: raises("HEALTH_ERR", "", "", ""), open: toCeph},
		{
			name: "an OSD does not run", condition: v1alpha1.ConditionCephReady, reason: v1alpha1.ReasonOSDsMissing, kind: outcome.Wait, facts: func(f *observed.Profile) { own(*f).OSDs[1].Up = false }, open: toCeph,
			message: "2 of 3 OSDs run; see kubectl -n rook-ceph get pod -l app=rook-ceph-osd, and of those that were never made the jobs rook-ceph-osd-prepare",
		},
		{
			name: "an OSD of another class", condition: v1alpha1.ConditionCephReady, reason: v1alpha1.ReasonOSDsDiffer, kind: outcome.Invalid, facts: func(f *observed.Profile) { own(*f).OSDs[1].DeviceClass = "hdd" }, open: toCeph,
			message: "spec.cephRBD.cluster.osds.deviceClass is ssd, and Rook reports hdd of osd.1; see ceph osd tree",
		},
		{
			name: "a pool that cannot be satisfied", condition: v1alpha1.ConditionCephReady, reason: v1alpha1.ReasonTooFewDomains, kind: outcome.Wait, facts: func(f *observed.Profile) { own(*f).OSDs[2].Host = "n1" }, open: toCeph,
			message: "OSDs run on 2 failure domains (host: n1, n2) and a block needs 3. A pool would take no writes; add nodes, or create a profile with fewer copies",
		},
		{name: "a volume not read back", condition: v1alpha1.ConditionBackingVerified, reason: v1alpha1.ReasonNotReadBack, kind: outcome.Wait, facts: func(f *observed.Profile) { own(*f).Claims[0].Observed = nil }, open: toCeph, message: "no agent has read back volume pvc-n1 of claim pgstorage-data-n1 yet; 2 of 3 volumes of OSDs were read back"},
		{name: "a claim not bound", condition: v1alpha1.ConditionBackingVerified, reason: v1alpha1.ReasonNotReadBack, kind: outcome.Wait, facts: func(f *observed.Profile) { own(*f).Claims[0] = observed.Claim{Name: "a"} }, open: toCeph, message: "claim a is not bound yet; 2 of 3 volumes of OSDs were read back"},
		{name: "no record of a volume", condition: v1alpha1.ConditionBackingVerified, reason: v1alpha1.ReasonNotReadBack, kind: outcome.Wait, facts: func(f *observed.Profile) { delete(own(*f).Zvols, "pvc-n1") }, open: toCeph, message: "zfs-localpv has no ZFSVolume pvc-n1 of claim pgstorage-data-n1; 2 of 3 volumes of OSDs were read back"},
		{name: "a zvol made thin since", condition: v1alpha1.ConditionBackingVerified, reason: v1alpha1.ReasonVolumeDiffers, kind: outcome.Invalid, facts: func(f *observed.Profile) { own(*f).Claims[0].Observed.Provisioning = "Thin" }, open: toCeph, message: "tank/pgblock/pvc-n1 of claim pgstorage-data-n1 on node n1 has a refreservation below its size, so it is thin: on a full pool it answers its OSD with errors. zfs set refreservation=auto tank/pgblock/pvc-n1 makes it thick where the pool has room. An OSD keeps the volume that it was made on: take it out as docs/spec/pgstorageprofile.md says, delete its claim, and Rook makes another"},
		{name: "thickness not told", condition: v1alpha1.ConditionBackingVerified, reason: v1alpha1.ReasonNotReadBack, kind: outcome.Wait, facts: func(f *observed.Profile) { own(*f).Claims[0].Observed.Provisioning = "" }, open: toCeph, message: "the agent of node n1 does not say yet whether volume pvc-n1 of claim pgstorage-data-n1 is thick; 2 of 3 volumes of OSDs were read back"},
		{name: "a record of a thin zvol", condition: v1alpha1.ConditionBackingVerified, reason: v1alpha1.ReasonVolumeDiffers, kind: outcome.Invalid, facts: func(f *observed.Profile) { own(*f).Zvols["pvc-n1"] = Zvol{Type: "ZVOL", Thin: "yes"} }, open: toCeph, message: "ZFSVolume pvc-n1 of claim pgstorage-data-n1 has thinProvision yes: on a full pool it answers its OSD with errors. An OSD keeps the volume that it was made on: take it out as docs/spec/pgstorageprofile.md says, delete its claim, and Rook makes another"},
		{name: "a record of a dataset", condition: v1alpha1.ConditionBackingVerified, reason: v1alpha1.ReasonVolumeDiffers, kind: outcome.Invalid, facts: func(f *observed.Profile) { own(*f).Zvols["pvc-n1"] = Zvol{Type: "DATASET"} }, open: toCeph},
		{name: "a record of another block size", condition: v1alpha1.ConditionBackingVerified, reason: v1alpha1.ReasonVolumeDiffers, kind: outcome.Invalid, facts: func(f *observed.Profile) {
			own(*f).Zvols["pvc-n1"] = Zvol{Type: "ZVOL", Volblocksize: "8k"}
		}, open: toCeph},
		{name: "no claim yet", condition: v1alpha1.ConditionBackingVerified, reason: v1alpha1.ReasonNotReadBack, kind: outcome.Wait, facts: func(f *observed.Profile) { own(*f).Claims = nil }, open: toCeph},
		{name: "a dataset beneath an OSD", condition: v1alpha1.ConditionBackingVerified, reason: v1alpha1.ReasonVolumeDiffers, kind: outcome.Invalid, facts: func(f *observed.Profile) { own(*f).Claims[0].Observed.Type = "Filesystem" }, open: toCeph},
		{name: "another block size", condition: v1alpha1.ConditionBackingVerified, reason: v1alpha1.ReasonVolumeDiffers, kind: outcome.Invalid, facts: func(f *observed.Profile) { own(*f).Claims[0].Observed.Volblocksize = 16384 }, open: toCeph, message: "tank/pgblock/pvc-n1 of claim pgstorage-data-n1 on node n1 has volblocksize 16384, and not 4096. An OSD keeps the volume that it was made on: take it out as docs/spec/pgstorageprofile.md says, delete its claim, and Rook makes another"},
		{name: "of another parent", condition: v1alpha1.ConditionBackingVerified, reason: v1alpha1.ReasonVolumeDiffers, kind: outcome.Invalid, facts: func(f *observed.Profile) { own(*f).Claims[0].Observed.Name = "tank/pvc-n1" }, open: toCeph},
		{name: "with a property of its own", condition: v1alpha1.ConditionBackingVerified, reason: v1alpha1.ReasonVolumeDiffers, kind: outcome.Invalid, facts: func(f *observed.Profile) {
			own(*f).Claims[0].Observed.Differs = []v1alpha1.ObservedProperty{{Name: "sync", Value: "disabled", Source: "local"}}
		}, open: toCeph},
		{name: "no pool yet", condition: v1alpha1.ConditionBlockPoolReady, reason: v1alpha1.ReasonBlockPoolNotReady, kind: outcome.Wait, facts: func(f *observed.Profile) { delete(own(*f).Pools, "ceph") }, open: toPool, message: "CephBlockPool rook-ceph/ceph is made once Ceph is ready"},
		{name: "a pool that fails", condition: v1alpha1.ConditionBlockPoolReady, reason: v1alpha1.ReasonBlockPoolNotReady, kind: outcome.Wait, facts: func(f *observed.Profile) {
			pool := own(*f).Pools["ceph"]
			pool.Status = rook.PoolStatus{Phase: rook.PhaseFailure}
			own(*f).Pools["ceph"] = pool
		}, open: toPool, message: `CephBlockPool rook-ceph/ceph is in phase "Failure"; see kubectl describe`},
		{name: "a pool of fewer copies", condition: v1alpha1.ConditionBlockPoolReady, reason: v1alpha1.ReasonBlockPoolDiffers, kind: outcome.Wait, facts: func(f *observed.Profile) {
			pool := own(*f).Pools["ceph"]
			pool.Spec.Replicated, pool.Spec.FailureDomain = &rook.Replicated{Size: new(int32(2))}, "osd"
			own(*f).Pools["ceph"] = pool
		}, open: toPool, message: "CephBlockPool rook-ceph/ceph has failureDomain osd (declared: host), replicated.size 2 (declared: 3). It is written as declared once CephReady is True"},
		{name: "a pool that Rook made otherwise", condition: v1alpha1.ConditionBlockPoolReady, reason: v1alpha1.ReasonBlockPoolDiffers, kind: outcome.Wait, facts: func(f *observed.Profile) {
			pool := own(*f).Pools["ceph"]
			pool.Status.Info = map[string]string{"failureDomain": "osd", "type": "Replicated"}
			own(*f).Pools["ceph"] = pool
		}, open: toPool},
		{name: "a pool with settings that the profile no longer has", condition: v1alpha1.ConditionBlockPoolReady, reason: v1alpha1.ReasonBlockPoolDiffers, kind: outcome.Wait, facts: func(f *observed.Profile) {
			pool := own(*f).Pools["ceph"]
			pool.Spec.Parameters = maps.Clone(pool.Spec.Parameters)
			pool.Spec.Parameters["target_size_ratio"], pool.Spec.Parameters["compression_algorithm"] = "0.8", "zstd"
			own(*f).Pools["ceph"] = pool
		}, open: toPool, message: "CephBlockPool rook-ceph/ceph has parameters.compression_algorithm zstd (declared: snappy), parameters.target_size_ratio 0.8 (declared: 0). It is written as declared once CephReady is True"},
		{name: "a pool that is deleted", condition: v1alpha1.ConditionBlockPoolReady, reason: v1alpha1.ReasonBlockPoolNotReady, kind: outcome.Wait, facts: func(f *observed.Profile) { own(*f).Pools["ceph"] = ObservedPool{Owner: uid, Deleting: true} }, open: toPool},
		{name: "somebody else's pool", condition: v1alpha1.ConditionBlockPoolReady, reason: v1alpha1.ReasonCephNotOwned, kind: outcome.Invalid, facts: func(f *observed.Profile) { own(*f).Pools["ceph"] = ObservedPool{} }, open: toCeph},
		{name: "a driver of another name", condition: v1alpha1.ConditionStorageReady, reason: v1alpha1.ReasonDriverNotInstalled, kind: outcome.Wait, facts: func(f *observed.Profile) { own(*f).Drivers = []string{"rook.rbd.csi.ceph.com"} }, open: toProbe, message: "spec.cephRBD.rook: the CSI driver rook-ceph.rbd.csi.ceph.com is not registered; install the chart ceph-csi-drivers; Rook before v1.20 brings it with its first CephCluster. There are: rook.rbd.csi.ceph.com; set operatorNamespace or driver if it is one of them"},
		{name: "a class of another pool", condition: v1alpha1.ConditionStorageReady, reason: v1alpha1.ReasonStorageClassDiffers, kind: outcome.Invalid, facts: func(f *observed.Profile) {
			class := applied(f)
			class.Parameters["pool"], class.Parameters["mine"] = "rbd", "1"
		}, open: toProbe, message: `StorageClass ceph has parameters.mine "1" (declared: ""), parameters.pool "rbd" (declared: "ceph"); a class cannot be changed: delete it, and the operator makes it again. Volumes that exist stay as they are`},
		{name: "the class as it was made", condition: v1alpha1.ConditionStorageReady, reason: v1alpha1.ReasonStorageClassApplied, facts: func(f *observed.Profile) { applied(f) }, open: all},
		{name: "somebody else's class", condition: v1alpha1.ConditionStorageReady, reason: v1alpha1.ReasonStorageClassNotOwned, kind: outcome.Invalid, facts: func(f *observed.Profile) { f.Classes["ceph"] = &storagev1.StorageClass{} }, open: toProbe},
	} {
		t.Run(tc.name, func(t *testing.T) {
			p := onZFS(nil)
			before := build(t, p, healthy(p, "n1", "n2", "n3"))
			facts := healthy(p, "n1", "n2", "n3")
			if tc.facts != nil {
				tc.facts(&facts)
			}
			b := build(t, p, facts)
			o := outcomeOf(b, tc.condition)
			if o.Reason != tc.reason || o.Kind != tc.kind {
				t.Errorf("%s is %s (%d): %s", tc.condition, o.Reason, o.Kind, o.Message)
			}
			if tc.message != "" && o.Message != tc.message {
				t.Errorf("%q\nwant %q", o.Message, tc.message)
			}
			if got := open(b.Plan); got != tc.open {
				t.Errorf("open are %q, want %q", got, tc.open)
			}
			// Whatever is wrong, the objects of Rook and the class stay wanted, and as they were.
			want := keys(before.Plan)
			for key, intent := range keys(b.Plan) {
				if strings.HasPrefix(key, "Ceph") && key != "CephBlockPool rook-ceph/builtin-mgr" && want[key] != intent {
					t.Errorf("%s is not as it was", key)
				}
				delete(want, key)
			}
			for key := range want {
				if !strings.HasPrefix(key, "PgNodeStorage") && !strings.HasPrefix(key, "Job") {
					t.Errorf("%s is no longer wanted", key)
				}
			}
		})
	}
}

func TestOtherBackings(t *testing.T) {
	for _, tc := range []struct {
		name, condition, reason string
		profile                 *v1alpha1.PgStorageProfile
		facts                   func(*observed.Profile)
		open                    string
	}{
		{"a class that is there", v1alpha1.ConditionBackingReady, v1alpha1.ReasonStorageClassFound, onClass(nil), nil, all},
		{"a class that is not", v1alpha1.ConditionBackingReady, v1alpha1.ReasonStorageClassNotFound, onClass(nil), func(f *observed.Profile) { delete(f.Classes, "fast-block") }, "nodes backing"},
		{"a class of datasets", v1alpha1.ConditionBackingReady, v1alpha1.ReasonInvalidSpec, onClass(nil), func(f *observed.Profile) {
			f.Classes["fast-block"] = &storagev1.StorageClass{Provisioner: "zfs.csi.openebs.io", Parameters: map[string]string{"fstype": "zfs"}}
		}, "nodes backing"},
		{"devices", v1alpha1.ConditionCephReady, v1alpha1.ReasonOSDsMissing, onDevices(nil), nil, "nodes backing ceph ceph-pool"},
		{"an external CephCluster", v1alpha1.ConditionCephReady, v1alpha1.ReasonCephReady, external(nil), func(f *observed.Profile) { own(*f).Cluster.Owner = "" }, all},
		{"an external CephCluster that is not there", v1alpha1.ConditionCephReady, v1alpha1.ReasonCephClusterNotFound, external(nil), func(f *observed.Profile) { own(*f).Cluster = nil }, "nodes backing ceph ceph-pool"},
		{"a Ceph outside of Kubernetes", v1alpha1.ConditionCephReady, v1alpha1.ReasonCephReady, external(nil), func(f *observed.Profile) {
			own(*f).Cluster.Status.Phase, own(*f).OSDs = rook.PhaseConnected, nil
		}, all},
		{"xfs beside OSDs", v1alpha1.ConditionCephReady, v1alpha1.ReasonInvalidSpec, external(func(c *v1alpha1.CephRBDProfile) { c.VolumeClass.FSType = "xfs" }), nil, "nodes backing ceph ceph-pool"},
		{"racks", v1alpha1.ConditionCephReady, v1alpha1.ReasonTooFewDomains, onClass(func(c *v1alpha1.CephRBDProfile) { c.FailureDomain = "rack" }), func(f *observed.Profile) {
			for i := range own(*f).OSDs {
				own(*f).OSDs[i].Domain = "r1"
			}
		}, "nodes backing ceph ceph-pool"},
		{"OSDs of one node", v1alpha1.ConditionCephReady, v1alpha1.ReasonCephReady, onClass(func(c *v1alpha1.CephRBDProfile) { c.FailureDomain = "osd" }), func(f *observed.Profile) {
			for i := range own(*f).OSDs {
				own(*f).OSDs[i].Host = "n1"
			}
		}, all},
		{"more chunks than hosts", v1alpha1.ConditionCephReady, v1alpha1.ReasonTooFewDomains, onClass(func(c *v1alpha1.CephRBDProfile) {
			c.DataPool = &v1alpha1.CephDataPool{DataChunks: new(int32(2)), CodingChunks: new(int32(2)), Compression: v1alpha1.CephCompression{Mode: "none"}}
		}), nil, "nodes backing ceph ceph-pool"},
		{"a pinned host without an OSD", v1alpha1.ConditionCephReady, v1alpha1.ReasonTooFewDomains, onClass(pinned), nil, "nodes backing ceph ceph-pool"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			facts := healthy(tc.profile, "n1", "n2", "n3")
			if tc.facts != nil {
				tc.facts(&facts)
			}
			b := build(t, tc.profile, facts)
			if o := outcomeOf(b, tc.condition); o.Reason != tc.reason {
				t.Errorf("%s is %s: %s", tc.condition, o.Reason, o.Message)
			}
			if got := open(b.Plan); got != tc.open {
				t.Errorf("open are %q, want %q", got, tc.open)
			}
		})
	}
}

func TestHealthChecks(t *testing.T) {
	p := onZFS(func(c *v1alpha1.CephRBDProfile) { c.AcceptWarnings = []string{"SLOW_OPS", "PG_AVAILABILITY", "MINE"} })
	one := onZFS(pinned)
	for _, tc := range []struct {
		profile        *v1alpha1.PgStorageProfile
		name, severity string
		want           Verdict
	}{
		{p, "RECENT_CRASH", rook.HealthWarn, Accepted},
		{p, "OBJECT_MISPLACED", rook.HealthWarn, Accepted},
		{p, "OSD_DOWN", rook.HealthWarn, Waits},
		{p, "OSD_HOST_DOWN", rook.HealthWarn, Waits},
		{p, "SLOW_OPS", rook.HealthWarn, Accepted},
		{p, "PG_AVAILABILITY", rook.HealthWarn, Waits},
		{p, "OSD_NEARFULL", rook.HealthWarn, NeedsPerson},
		{p, "MINE", rook.HealthWarn, Accepted},
		{p, "MINE", rook.HealthErr, NeedsPerson},
		{p, "MGR_MODULE_DEPENDENCY", rook.HealthWarn, Accepted},
		{p, "MGR_MODULE_ERROR", rook.HealthErr, NeedsPerson},
		{onZFS(func(c *v1alpha1.CephRBDProfile) { c.AcceptWarnings = []string{"MGR_MODULE_ERROR"} }), "MGR_MODULE_ERROR", rook.HealthErr, Accepted},
		{p, "OF_TOMORROW", rook.HealthWarn, Waits},
		{p, "RECENT_CRASH", rook.HealthErr, NeedsPerson},
		{p, "POOL_NO_REDUNDANCY", rook.HealthWarn, NeedsPerson},
		{one, "POOL_NO_REDUNDANCY", rook.HealthWarn, Accepted},
	} {
		if got := judge(tc.profile, tc.name, rook.HealthMessage{Severity: tc.severity}); got != tc.want {
			t.Errorf("%s (%s) is %s, want %s", tc.name, tc.severity, got, tc.want)
		}
	}
	for _, name := range never {
		if verdicts[name] == Accepted || verdicts[name] == "" {
			t.Errorf("%s can be accepted", name)
		}
	}
}

// The write-up's overlap of layers: what each does, with and without compression.
func TestLayers(t *testing.T) {
	force := func(c *v1alpha1.CephRBDProfile) { c.Pool.Compression = v1alpha1.CephCompression{Mode: "force"} }
	for _, tc := range []struct {
		name    string
		profile *v1alpha1.PgStorageProfile
		zvols   string
		want    string
	}{
		{"neither asked for", onZFS(nil), "lz4", "BlueStore and ZFS, ZFS, Postgres and BlueStore, Ceph, RBD"},
		{"BlueStore compresses", onZFS(force), "off", "BlueStore and ZFS, BlueStore, Postgres and BlueStore, Ceph, RBD"},
		{"the data pool does", onZFS(erasureCoded), "off", "BlueStore and ZFS, BlueStore, Postgres and BlueStore, Ceph, RBD"},
		{"both were asked for", onZFS(func(c *v1alpha1.CephRBDProfile) { force(c); c.Cluster.Backing.ZFS.Compression = "zstd" }), "zstd", "BlueStore and ZFS, BlueStore and ZFS, Postgres and BlueStore, Ceph, RBD"},
		{"the ARC as well, and mirrors", onZFS(func(c *v1alpha1.CephRBDProfile) {
			z := c.Cluster.Backing.ZFS
			z.Primarycache, z.Compression = "all", "off"
			z.Pool.Create = &v1alpha1.CephZFSPoolCreate{Vdevs: []v1alpha1.CephZFSVdev{{Type: v1alpha1.VdevMirror, Devices: []v1alpha1.ZFSDevice{{Path: "a"}, {Path: "b"}}}}}
		}), "off", "BlueStore and ZFS, none, Postgres, BlueStore and ARC, Ceph and ZFS, RBD"},
		{"raw devices", onDevices(nil), "", "BlueStore, none, Postgres and BlueStore, Ceph, RBD"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			if zfsOf(tc.profile) != nil && zvolCompression(tc.profile) != tc.zvols {
				t.Errorf("zvols have compression=%s, want %s", zvolCompression(tc.profile), tc.zvols)
			}
			var got []string
			for _, d := range layers(tc.profile) {
				got = append(got, d.Layer)
				if d.Reason == "" {
					t.Errorf("%s has no reason", d.Concern)
				}
			}
			if text := strings.Join(got, ", "); text != tc.want {
				t.Errorf("%s\nwant %s", text, tc.want)
			}
		})
	}
}

// A CephCluster that had OSDs is not created again after a user deleted it.
func TestDeletedByHand(t *testing.T) {
	p := onZFS(nil)
	facts := healthy(p, "n1", "n2", "n3")
	p.Status.Ceph = build(t, p, facts).Status.Ceph
	if p.Status.Ceph.ClusterUID != "ceph-uid" {
		t.Fatalf("known as %q", p.Status.Ceph.ClusterUID)
	}
	own(facts).Cluster, own(facts).OSDs = nil, nil
	b := build(t, p, facts)
	o := outcomeOf(b, v1alpha1.ConditionCephReady)
	const want = "CephCluster rook-ceph/rook-ceph (uid ceph-uid) was deleted by hand after it had OSDs, and is not created again automatically, because a new one would be empty. To accept that: kubectl annotate pgsp ceph pgstorage.dev/recreate-ceph=ceph-uid"
	if o.Reason != v1alpha1.ReasonCephDeleted || o.Kind != outcome.Invalid || o.Message != want {
		t.Errorf("%+v", o)
	}
	if got := open(b.Plan); got != "nodes backing" {
		t.Errorf("open are %q", got)
	}
	if b.Status.Ceph.ClusterUID != "ceph-uid" {
		t.Errorf("forgotten: %q", b.Status.Ceph.ClusterUID)
	}
	p.Annotations = map[string]string{naming.AnnotationRecreateCeph: "ceph-uid"}
	b = build(t, p, facts)
	if o := outcomeOf(b, v1alpha1.ConditionCephReady); o.Reason != v1alpha1.ReasonCephClusterNotFound || open(b.Plan) != "nodes backing ceph ceph-pool" {
		t.Errorf("after consent: %+v, open %q", o, open(b.Plan))
	}
	facts = healthy(p, "n1", "n2", "n3")
	own(facts).Cluster.UID = "another"
	if got := build(t, p, facts).Status.Ceph.ClusterUID; got != "another" {
		t.Errorf("known as %q", got)
	}
}

// An OSD restarts on a node that lost the labels of spec.nodeSelector. New OSDs need them.
func TestOnlyNewOSDsNeedTheLabelsOfNodes(t *testing.T) {
	set := claimStorage(onZFS(nil)).DeviceSets[0]
	if set.Placement.NodeAffinity != nil || len(set.Placement.TopologySpreadConstraints) != 1 {
		t.Errorf("placement of OSDs: %+v", set.Placement)
	}
	if p := set.PreparePlacement; p == nil || p.NodeAffinity == nil || len(p.TopologySpreadConstraints) != 1 {
		t.Errorf("placement of the jobs that create them: %+v", p)
	}
	if set = claimStorage(onClass(nil)).DeviceSets[0]; set.PreparePlacement != nil {
		t.Errorf("without spec.nodeSelector Rook takes the placement of OSDs: %+v", set.PreparePlacement)
	}
}

// Rook unsets no property of a pool. What the profile does not set is written with Ceph's
// default.
func TestPoolsHaveEveryParameter(t *testing.T) {
	want := map[string]string{"min_size": "2", "csum_type": "crc32c", "compression_mode": "none", "compression_algorithm": "snappy", "target_size_ratio": "0"}
	if got := imagePool(onZFS(nil), "ceph").Spec.Parameters; !maps.Equal(got, want) {
		t.Errorf("without fields: %v", got)
	}
	p := onZFS(func(c *v1alpha1.CephRBDProfile) {
		c.Pool.TargetSizePercent, c.Pool.Compression = new(int32(7)), v1alpha1.CephCompression{Mode: "force", Algorithm: "zstd"}
	})
	want["compression_mode"], want["compression_algorithm"], want["target_size_ratio"] = "force", "zstd", "0.07"
	if got := imagePool(p, "ceph").Spec.Parameters; !maps.Equal(got, want) {
		t.Errorf("with them: %v", got)
	}
}

func TestReport(t *testing.T) {
	p := onZFS(corrected)
	facts := healthy(p, "n1", "n2", "n3")
	raises("HEALTH_WARN", "RECENT_CRASH", "HEALTH_WARN", "1 daemons have recently crashed")(&facts)
	r := build(t, p, facts).Status.Ceph
	if r.Health != "HEALTH_WARN" || len(r.Checks) != 1 || r.Checks[0].Verdict != "Accepted" {
		t.Errorf("health %s, checks %+v", r.Health, r.Checks)
	}
	if *r.OSDs != 3 || *r.OSDsUp != 3 || !slices.Equal(r.OSDHosts, []string{"n1", "n2", "n3"}) {
		t.Errorf("OSDs %d, up %d, on %v", *r.OSDs, *r.OSDsUp, r.OSDHosts)
	}
	// 3 x 25Gi x 0.85 / 3 = 21.25Gi.
	if r.Usable.String() != "21760Mi" {
		t.Errorf("usable %s of %s", r.Usable, r.UsableFormula)
	}
	// Without a database, three instances are the example.
	if len(r.Copies) != 1 || r.Copies[0].Cluster != "" || r.Copies[0].RawPerByte != "9" {
		t.Errorf("copies %+v", r.Copies)
	}
	// 2 (page and image) x 1 x 3 (copies) x 2 (log and place) x 1.
	if last := r.WriteAmplification[len(r.WriteAmplification)-1]; last.Total != "12" {
		t.Errorf("written %+v", r.WriteAmplification)
	}
	facts.Clusters = []v1alpha1.PgStorageCluster{
		{ObjectMeta: metav1.ObjectMeta{Namespace: "prod", Name: "shop"}, Spec: v1alpha1.PgStorageClusterSpec{Instances: new(int32(3))}},
		{ObjectMeta: metav1.ObjectMeta{Namespace: "dev", Name: "shop"}},
	}
	if c := build(t, p, facts).Status.Ceph.Copies; len(c) != 2 || c[0].Cluster != "dev/shop" || c[0].RawPerByte != "3" || c[1].RawPerByte != "9" {
		t.Errorf("copies %+v", c)
	}
	// The schema of the status allows 256.
	facts.Clusters = nil
	for i := range 300 {
		facts.Clusters = append(facts.Clusters, v1alpha1.PgStorageCluster{ObjectMeta: metav1.ObjectMeta{Namespace: "dev", Name: fmt.Sprintf("shop-%03d", 299-i)}})
	}
	if c := build(t, p, facts).Status.Ceph.Copies; len(c) != 256 || c[0].Cluster != "dev/shop-000" || c[255].Cluster != "dev/shop-255" {
		t.Errorf("%d copies, the first is %s", len(c), c[0].Cluster)
	}
	// Of disks, what Ceph counts is shared out: 3 x 25Gi over 3 OSDs.
	raw := onDevices(nil)
	if u := build(t, raw, healthy(raw, "n1", "n2", "n3")).Status.Ceph.Usable; u.String() != "29013Mi" {
		t.Errorf("usable %s", u)
	}
}

func TestSharedNodes(t *testing.T) {
	p := onZFS(asWritten)
	facts := healthy(p, "n1", "n2", "n3")
	facts.Instances = []observed.Placement{{Cluster: "prod/shop", Instance: "shop-1", Node: "n4"}}
	if o := outcomeOf(build(t, p, facts), v1alpha1.ConditionFailuresIndependent); o.Reason != v1alpha1.ReasonIndependent || !o.Informative {
		t.Errorf("%+v", o)
	}
	facts.Instances[0].Node = "n2"
	o := outcomeOf(build(t, p, facts), v1alpha1.ConditionFailuresIndependent)
	if o.Reason != v1alpha1.ReasonSharedNodes || !o.Informative || !strings.Contains(o.Message, "n2 (prod/shop shop-1)") {
		t.Errorf("%+v", o)
	}
}

func TestMemoryBudget(t *testing.T) {
	p := onZFS(nil)
	facts := healthy(p, "n1", "n2", "n3")
	// 8Gi of ARC + 5Gi of an OSD + 1.6Gi of reserve = 14.6Gi of 16Gi; with 4Gi of
	// shared_buffers 18.6Gi.
	for i := range facts.Nodes {
		facts.Nodes[i].Memory = 16 << 30
	}
	if o := outcomeOf(build(t, p, facts), v1alpha1.ConditionMemoryBudget); o.Reason != v1alpha1.ReasonWithinBudget || o.Message != "the ARC, the OSDs, shared_buffers and a reserve of 10% fit the memory of each node" {
		t.Errorf("%+v", o)
	}
	cr := v1alpha1.PgStorageCluster{ObjectMeta: metav1.ObjectMeta{Namespace: "prod", Name: "shop"}, Spec: v1alpha1.PgStorageClusterSpec{Postgres: v1alpha1.PostgresSpec{Version: "17"}}}
	cr.Status.Parameters = []v1alpha1.Parameter{{Name: "shared_buffers", Value: "4GB"}}
	facts.Clusters = []v1alpha1.PgStorageCluster{cr}
	facts.Instances = []observed.Placement{{Cluster: "prod/shop", Instance: "shop-1", Node: "n2"}}
	const want = "more memory is promised than there is, and the kernel will kill a database for it: n2: ARC 8Gi + OSDs 5Gi + shared_buffers of 1 instances 4Gi + reserve 1638Mi = 19046Mi of 16Gi. Set or lower spec.cephRBD.cluster.backing.zfs.arcMax, or move instances"
	if o := outcomeOf(build(t, p, facts), v1alpha1.ConditionMemoryBudget); o.Reason != v1alpha1.ReasonOverBudget || o.Message != want {
		t.Errorf("%s: %q\nwant %q", o.Reason, o.Message, want)
	}
}

func TestImageFeatures(t *testing.T) {
	for _, tc := range []struct {
		name    string
		kernels map[string]string
		class   *storagev1.StorageClass
		asked   []string
		want    string
	}{
		{"new kernels", map[string]string{"n1": "5.4.0", "n2": "6.12.9-amd64", "n3": "10.0"}, nil, nil, "layering,exclusive-lock,object-map,fast-diff,deep-flatten"},
		{"one old kernel", map[string]string{"n1": "6.1.0-18-amd64", "n2": "5.3.18-150300-default"}, nil, nil, "layering"},
		{"a kernel of el7", map[string]string{"n1": "3.10.0-1160.el7"}, nil, nil, "layering"},
		{"no kernel known", nil, nil, nil, "layering"},
		{"nonsense", map[string]string{"n1": "generic"}, nil, nil, "layering"},
		{"nonsense with dots", map[string]string{"n1": "a.b.c"}, nil, nil, "layering"},
		{"what the class has", map[string]string{"n1": "6.1.0"}, &storagev1.StorageClass{Parameters: map[string]string{"imageFeatures": "layering"}}, nil, "layering"},
		{"asked for, in Rook's order", nil, nil, []string{"exclusive-lock", "layering"}, "layering,exclusive-lock"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			p := external(func(c *v1alpha1.CephRBDProfile) { c.VolumeClass.ImageFeatures = tc.asked })
			facts := observed.Profile{Classes: map[string]*storagev1.StorageClass{"ceph": tc.class}, Own: &Facts{Kernels: tc.kernels}}
			if got := strings.Join(imageFeatures(p, facts), ","); got != tc.want {
				t.Errorf("%s, want %s", got, tc.want)
			}
		})
	}
}

func TestMemoryLimit(t *testing.T) {
	for target, want := range map[string]string{"4Gi": "5Gi", "2Gi": "2560Mi", "3G": "3577Mi"} {
		if got := memoryLimit(resource.MustParse(target)); got.String() != want {
			t.Errorf("%s is limited to %s, want %s", target, got.String(), want)
		}
	}
}

func TestClasses(t *testing.T) {
	for _, tc := range []struct {
		profile *v1alpha1.PgStorageProfile
		want    []string
	}{
		{onZFS(nil), []string{"ceph", "ceph-block"}}, {onClass(nil), []string{"ceph", "fast-block"}},
		{onDevices(nil), []string{"ceph"}}, {external(nil), []string{"ceph"}}, {profileOf(nil, nil), []string{"ceph"}},
	} {
		if got := (Type{}).Classes(tc.profile); !slices.Equal(got, tc.want) {
			t.Errorf("%v, want %v", got, tc.want)
		}
	}
}

func TestVolumes(t *testing.T) {
	for _, tc := range []struct {
		name               string
		profile            *v1alpha1.PgStorageProfile
		to, node, store    string
		checkpoint, reason string
	}{
		{"three copies", onZFS(nil), "to the pool, as 3 copies on as many OSDs, of which at least 2 must be up", "kept in the pool: the instance's volume goes to another node with it", "Lost", "15min", "the first change of a page after a checkpoint writes all of it to WAL, which becomes 3 copies on as many OSDs"},
		{"erasure coded", onZFS(erasureCoded), "to the pool, as 4 chunks on as many OSDs, of which at least 3 must be up", "kept in the pool: the instance's volume goes to another node with it", "Lost", "15min", "the first change of a page after a checkpoint writes all of it to WAL, which becomes 4 chunks on as many OSDs"},
		{"pinned", onZFS(pinned), "to the pool, as 1 copies on as many OSDs, of which at least 1 must be up", "the instance's only copy is on its node", "", "15min", ""},
	} {
		t.Run(tc.name, func(t *testing.T) {
			v := Type{}.Volumes(tc.profile)
			if v.StorageClass != "ceph" || v.WALStorageClass != "ceph" || v.Medium != "SAN" {
				t.Errorf("%+v", v)
			}
			if v.Flush.To != tc.to || v.Flush.Node != tc.node || (v.Flush.Store == nil) != (tc.store == "") {
				t.Errorf("%+v", v.Flush)
			}
			if got := slices.Sorted(maps.Keys(v.Parameters)); !slices.Equal(got, []string{"checkpoint_timeout", "wal_receiver_timeout", "wal_sender_timeout"}) {
				t.Errorf("parameters %v: wal_recycle and wal_init_zero are for copy-on-write file systems", got)
			}
			if c := v.Parameters["checkpoint_timeout"]; c.Value != tc.checkpoint || tc.reason != "" && c.Reason != tc.reason {
				t.Errorf("%+v", c)
			}
		})
	}
}

// full_page_writes=off needs a proof that no image can give.
func TestNothingProvesWholePages(t *testing.T) {
	o, proof := Type{}.Verify(onZFS(nil), 1, []observed.Claim{{Name: "shop-1", Volume: "pvc-1"}})
	if o != nil || proof.Possible || proof.Holds() {
		t.Errorf("%+v %+v", o, proof)
	}
}

func TestTeardown(t *testing.T) {
	ours := &storagev1.StorageClass{ObjectMeta: metav1.ObjectMeta{Name: "ceph", Labels: naming.ProfileLabels("ceph", uid)}}
	gone := func(names ...string) func(*observed.Profile) {
		return func(f *observed.Profile) {
			for _, n := range names {
				delete(own(*f).Pools, n)
			}
		}
	}
	blockedBy := []rook.Condition{{Type: rook.ConditionPoolDeletionIsBlocked, Status: "True", Message: "pool ceph contains images"}}
	remove := func(c *v1alpha1.CephRBDProfile) { c.DeletionPolicy = v1alpha1.DeletionDelete }
	for _, tc := range []struct {
		name    string
		profile *v1alpha1.PgStorageProfile
		facts   func(*observed.Profile)
		want    profile.Teardown
	}{
		{"volumes are first", onZFS(remove), func(f *observed.Profile) {
			own(*f).Volumes, f.Classes["ceph"] = []string{"pvc-1", "pvc-2", "pvc-3", "pvc-4", "pvc-5", "pvc-6"}, ours
		}, profile.Teardown{Reason: v1alpha1.ReasonInUse, Waits: "deletion waits for 6 PersistentVolumes of StorageClass ceph: pvc-1, pvc-2, pvc-3, pvc-4, pvc-5 and 1 more; delete them, or what they belong to, once nothing of them is needed"}},
		{"then the class", onZFS(remove), func(f *observed.Profile) { f.Classes["ceph"] = ours }, profile.Teardown{Kind: "StorageClass", Names: []string{"ceph"}}},
		{"somebody else's class stays", onZFS(remove), func(f *observed.Profile) { f.Classes["ceph"] = &storagev1.StorageClass{} }, profile.Teardown{Kind: "CephBlockPool", Names: []string{"ceph"}}},
		{"Retain leaves all of it", onZFS(nil), func(f *observed.Profile) { f.Classes["ceph"], own(*f).Volumes = ours, []string{"pvc-1"} }, profile.Teardown{}},
		{"then the pools", onZFS(func(c *v1alpha1.CephRBDProfile) { erasureCoded(c); remove(c) }), nil, profile.Teardown{Kind: "CephBlockPool", Names: []string{"ceph", "ceph-data"}}},
		{"Rook holds a pool with images", onZFS(remove), func(f *observed.Profile) {
			own(*f).Pools["ceph"] = ObservedPool{Owner: uid, Deleting: true, Status: rook.PoolStatus{Conditions: blockedBy}}
		}, profile.Teardown{Reason: v1alpha1.ReasonDeleting, Waits: "deletion waits: CephBlockPool rook-ceph/ceph is held by Rook: pool ceph contains images"}},
		{"a pool on its way", onZFS(remove), func(f *observed.Profile) { own(*f).Pools["ceph"] = ObservedPool{Owner: uid, Deleting: true} }, profile.Teardown{Reason: v1alpha1.ReasonDeleting, Waits: "deletion waits: CephBlockPool rook-ceph/ceph is being deleted by Rook"}},
		{"then Ceph's own pool", onZFS(remove), gone("ceph"), profile.Teardown{Kind: "CephBlockPool", Names: []string{"builtin-mgr"}}},
		{"which is awaited", onZFS(remove), func(f *observed.Profile) {
			gone("ceph")(f)
			own(*f).Pools["builtin-mgr"] = ObservedPool{Owner: uid, Deleting: true}
		}, profile.Teardown{Reason: v1alpha1.ReasonDeleting, Waits: "deletion waits: CephBlockPool builtin-mgr is being deleted by Rook"}},
		{"then the CephCluster", onZFS(remove), gone("ceph", "builtin-mgr"), profile.Teardown{Kind: "CephCluster", Names: []string{"rook-ceph"}}},
		{"which Rook holds", onZFS(remove), func(f *observed.Profile) {
			gone("ceph", "builtin-mgr")(f)
			own(*f).Cluster.Deleting = true
			own(*f).Cluster.Status.Conditions = []rook.Condition{{Type: rook.ConditionDeletionIsBlocked, Status: "True", Message: "CephFilesystem a exists"}}
		}, profile.Teardown{Reason: v1alpha1.ReasonDeleting, Waits: "deletion waits: CephCluster rook-ceph/rook-ceph is held by Rook: CephFilesystem a exists"}},
		{"then what OSDs and mons stood on", onZFS(remove), func(f *observed.Profile) {
			gone("ceph", "builtin-mgr")(f)
			own(*f).Cluster, own(*f).Backing = nil, []string{"pvc-a", "pvc-b"}
		}, profile.Teardown{Reason: v1alpha1.ReasonDeleting, Waits: "deletion waits for 2 PersistentVolumes of OSDs and mons, whose claims go with the CephCluster: pvc-a, pvc-b"}},
		{"and nothing is left", onZFS(remove), func(f *observed.Profile) { gone("ceph", "builtin-mgr")(f); own(*f).Cluster = nil }, profile.Teardown{}},
		{"a foreign CephCluster stays", onZFS(remove), func(f *observed.Profile) { gone("ceph", "builtin-mgr")(f); own(*f).Cluster.Owner = "" }, profile.Teardown{}},
		{"an external one loses our pool", external(remove), nil, profile.Teardown{Kind: "CephBlockPool", Names: []string{"ceph"}}},
		{"and stays", external(remove), gone("ceph"), profile.Teardown{}},
		{"with a foreign pool", external(remove), func(f *observed.Profile) { own(*f).Pools["ceph"] = ObservedPool{} }, profile.Teardown{}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			facts := healthy(tc.profile, "n1", "n2", "n3")
			own(facts).Probes = nil // Kubernetes deletes them ten minutes after their end
			if tc.facts != nil {
				tc.facts(&facts)
			}
			got := teardown(tc.profile, facts)
			if got.Kind != tc.want.Kind || got.Reason != tc.want.Reason || !slices.Equal(got.Names, tc.want.Names) || got.Waits != tc.want.Waits {
				t.Errorf("%+v\nwant %+v", got, tc.want)
			}
		})
	}
}
