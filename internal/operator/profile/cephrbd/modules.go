package cephrbd

import (
	"fmt"
	"regexp"
	"slices"

	"github.com/pgstorage/pgstorage/api/v1alpha1"
	"github.com/pgstorage/pgstorage/internal/operator/profile/cephrbd/rook"
)

// beside are modules of the mgr that data and new images do not depend on (Ceph, Ceph
// Manager Daemon). They observe, report, or serve other kinds of storage. ceph-csi deletes
// images through rbd_support, and pg_autoscaler sizes new pools: they are not in the list.
var beside = []string{
	"alerts", "balancer", "cephadm", "cli_api", "crash", "dashboard", "devicehealth", "diskprediction_local", "feedback", "hello", "influx", "insights",
	"iostat", "k8sevents", "localpool", "mds_autoscaler", "mirroring", "nfs", "orchestrator", "osd_perf_query", "progress", "prometheus", "restful", "rgw",
	"rook", "selftest", "smb", "snap_schedule", "stats", "status", "telegraf", "telemetry", "test_orchestrator", "volumes", "zabbix",
}

// moduleMessage is the summary of one module that failed; of several Ceph gives the number.
var moduleMessage = regexp.MustCompile(`^Module '([a-z0-9_]+)' has failed(?: dependency)?: (.+)$`)

// judgeModule by the module that the summary of MGR_MODULE_ERROR names.
func judgeModule(p *v1alpha1.PgStorageProfile, message string) Verdict {
	m := moduleMessage.FindStringSubmatch(message)
	switch {
	case m != nil && slices.Contains(beside, m[1]):
		return Accepted
	case slices.Contains(p.Spec.CephRBD.AcceptWarnings, rook.CheckModuleError):
		return Accepted
	}
	return NeedsPerson
}

// moduleText names the module of the mgr that failed, and Ceph's words.
func moduleText(message string) string {
	if m := moduleMessage.FindStringSubmatch(message); m != nil {
		return fmt.Sprintf("the mgr module %s failed: %s", m[1], m[2])
	}
	if message == "" {
		return "a module of the mgr failed; ceph health detail names it"
	}
	return "modules of the mgr failed: " + message + "; ceph health detail names them"
}
