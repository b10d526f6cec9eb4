package install_test

import (
	"maps"
	"slices"
	"strings"
	"testing"

	rbacv1 "k8s.io/api/rbac/v1"
)

// right is one row of what the manager or the agent may do. A verb is added here with its
// reason before it is added to a marker.
type right struct {
	group     string
	resources string
	names     string // resourceNames; empty: any
	verbs     string
	reason    string
}

const watched = "get list watch"

var managerRights = []right{
	{"pgstorage.dev", "pgstorageprofiles pgstorageclusters pgbenchmarks", "", watched, "reconciled"},
	{"pgstorage.dev", "pgstorageprofiles pgstorageclusters pgbenchmarks", "", "patch", "their finalizers"},
	{"pgstorage.dev", "pgscheduledbenchmarks", "", watched, "reconciled"},
	{"pgstorage.dev", "pgstoragebranches", "", watched, "reconciled where branches are on; a branch masks its database and limits what others may make"},
	{"pgstorage.dev", "pgstoragebranches/status", "", "patch", "status is applied; it says so where branches are off"},
	{"pgstorage.dev", "pgbenchmarks", "", "create delete", "the inline benchmark of a cluster, the runs of a matrix, and those of a schedule"},
	{"pgstorage.dev", "pgstorageprofiles/status pgstorageclusters/status pgbenchmarks/status pgscheduledbenchmarks/status", "", "patch", "status is applied"},
	{"postgresql.cnpg.io", "clusters", "", watched + " create patch delete", "the database, deleted by deletionPolicy Delete only; what its backups are restored into to verify them"},
	{"postgresql.cnpg.io", "scheduledbackups", "", watched + " create patch delete", "the schedules of a database's backups"},
	{"barmancloud.cnpg.io", "objectstores", "", "get", "what can be restored from the store that a database names; never written"},
	{"postgresql.cnpg.io", "databases databaseroles", "", watched + " create patch delete", "a benchmark's own database and role"},
	{"batch", "jobs", "", watched + " create patch delete", "runs a benchmark; checks a restored backup; probes a pool in Rook's namespace"},
	{"", "secrets", "", "create delete", "the password of a benchmark's role; never read back"},
	{"", "configmaps", "", "get create patch delete", "a benchmark's SQL is read by name; its scripts and series are written; a database's monitoring queries"},
	{"", "serviceaccounts", "", "create patch delete", "the identity of a benchmark's runner"},
	{"rbac.authorization.k8s.io", "roles rolebindings", "", "create patch delete", "lets the runner report into its own PgBenchmark"},
	{"monitoring.coreos.com", "podmonitors", "", watched + " create patch delete", "scrapes the instances"},
	{"pgstorage.dev", "pgnodestorages", "", watched + " create patch delete", "what a node's agent is to make; its finalizer once the node is gone"},
	{"pgstorage.dev", "pgnodestorages/status", "", "patch", "whether the node is Ready, which the agent of one that is off cannot tell"},
	{"storage.k8s.io", "storageclasses", "", watched + " create patch delete", "a profile is Ready when its class exists; some profiles make theirs"},
	{"storage.k8s.io", "csinodes", "", watched, "whether a CSI driver is on a node, and by which name it knows the node"},
	{"", "nodes", "", watched, "the nodes that a profile selects, and whether they are Ready"},
	{"", "persistentvolumes", "", "list watch", "a class stays while a volume needs it; a profile of Ceph waits for the end of its own"},
	{"", "persistentvolumes", "", "get", "which claim a volume is bound to, and to which node it belongs: an agent is believed about no other"},
	{"", "persistentvolumeclaims", "", "list watch", "which volumes a database or an OSD has, to hold them against the profile; whether those of a restored backup are gone"},
	{"", "pods", "", "get", "the address of an instance, whose metrics are read: kubelet writes it, and a Cluster's status may be written by others"},
	{"", "pods", "", "list watch", "which nodes OSDs and instances on Ceph are on, and why Rook cannot prepare an OSD: a selector takes those of Rook, of probes and of CloudNativePG; what the pod said that checks a restored backup"},
	{"zfs.openebs.io", "zfsnodes", "", "list", "whether the driver lists the pool"},
	{"zfs.openebs.io", "zfsvolumes", "", "list watch", "whether the volume of an OSD is a thick zvol"},
	{"ceph.rook.io", "cephclusters cephblockpools", "", watched + " create patch delete", "those of a profile; deleted by deletionPolicy Delete only"},
	{"apps", "deployments", "", "list watch", "which OSDs run, and where: Rook labels theirs, and no others are kept"},
	{"storage.k8s.io", "csidrivers", "", "list watch", "whether Rook's driver is there, by its name"},
	{"snapshot.storage.k8s.io", "volumesnapshotclasses", "", "get create patch delete", "a profile's own"},
	{"snapshot.storage.k8s.io", "volumesnapshots", "", watched, "whether those that a database is made of are usable"},
	{"events.k8s.io", "events", "", "create patch", "tells of transitions"},
	{
		"apiextensions.k8s.io", "customresourcedefinitions",
		"clusters.postgresql.cnpg.io databases.postgresql.cnpg.io databaseroles.postgresql.cnpg.io podmonitors.monitoring.coreos.com " +
			"zfsvolumes.zfs.openebs.io volumesnapshotclasses.snapshot.storage.k8s.io cephclusters.ceph.rook.io cephblockpools.ceph.rook.io " +
			"objectstores.barmancloud.cnpg.io",
		"get", "says which API is not installed",
	},
}

var agentRights = []right{
	{"pgstorage.dev", "pgnodestorages", "", watched, "reconciled; the cache holds those of the agent's own node, which RBAC cannot tell apart"},
	{"pgstorage.dev", "pgnodestorages", "", "patch", "its finalizer; the admission policy keeps other nodes' objects and every spec"},
	{"pgstorage.dev", "pgnodestorages/status", "", "patch", "what was read back; the admission policy keeps other nodes' objects"},
}

// agentEventRights are the agent's in the namespace default, where the events of
// objects without a namespace are.
var agentEventRights = []right{
	{"events.k8s.io", "events", "", "create patch", "reports what it created and repaired"},
}

// matrixRights are the manager's where matrixClusters is on, and only there.
var matrixRights = []right{
	{"pgstorage.dev", "pgstorageclusters", "", "create delete", "those that a matrix makes to be measured; deleted by name, owner and UID"},
}

// readPoolRights are the manager's where readPools is on, and only there.
var readPoolRights = []right{
	{"pgstorage.dev", "pgstorageclusters", "", "create delete", "those of read pools; deleted by name, owner and UID"},
}

// siteRights are the manager's where sites is on, and only there.
var siteRights = []right{
	{"apps", "statefulsets", "", "get create patch delete", "the watchers of other sites, by name"},
}

// branchRights are the manager's where branches is on, and only there.
var branchRights = []right{
	{"pgstorage.dev", "pgstorageclusters", "", "create delete", "the database of a branch; deleted by name, owner and UID"},
	{"pgstorage.dev", "pgstoragebranches", "", "patch delete", "their finalizers; the end of spec.ttl"},
	{"snapshot.storage.k8s.io", "volumesnapshots", "", "create delete", "those that a branch is made of; deleted once its volumes are gone"},
	{"postgresql.cnpg.io", "clusters/status", "", "patch", "replaces the instance of a promoted branch by its copy"},
	{"postgresql.cnpg.io", "backups", "", "list delete", "those of a schedule with VolumeSnapshots; the old ones beyond keep"},
}

// memoryRights are the manager's where memory is on, and only there.
var memoryRights = []right{
	{"", "persistentvolumes", "", watched + " create patch delete", "the volumes in memory that claims of databases ask for, and their finalizer"},
	{"", "persistentvolumeclaims", "", watched + " update", "which node the scheduler chose; a node without room is given back to it"},
	{"", "events", "", "create patch", "on claims: what becomes of their volumes"},
}

// serverRights are the manager's in its own namespace. It has none to read Secrets.
var serverRights = []right{
	{"apps", "daemonsets", "", watched + " create patch delete", "the ZeroFS servers of a profile"},
	{"", "pods", "", watched, "how those servers are, and which Secret the kubelet does not find"},
}

// flat is every single right: "group/resource[name] verb".
func flat(rules []rbacv1.PolicyRule) map[string]bool {
	all := map[string]bool{}
	for _, rule := range rules {
		names := rule.ResourceNames
		if len(names) == 0 {
			names = []string{""}
		}
		for _, group := range rule.APIGroups {
			for _, resource := range rule.Resources {
				for _, name := range names {
					for _, verb := range rule.Verbs {
						all[group+"/"+resource+"["+name+"] "+verb] = true
					}
				}
			}
		}
	}
	return all
}

func (r right) rule() rbacv1.PolicyRule {
	return rbacv1.PolicyRule{
		APIGroups: []string{r.group}, Resources: strings.Fields(r.resources),
		ResourceNames: strings.Fields(r.names), Verbs: strings.Fields(r.verbs),
	}
}

func TestProgramsHaveTheRightsTheyUse(t *testing.T) {
	for _, test := range []struct {
		name, file string
		rights     []right
	}{
		{"ClusterRole /pgstorage-manager", "config/rbac/role.yaml", managerRights},
		{"ClusterRole /pgstorage-agent", "config/agent/role.yaml", agentRights},
		{"Role default/pgstorage-agent", "config/agent/role.yaml", agentEventRights},
		{"ClusterRole /pgstorage-matrix-clusters", "config/matrix-clusters/role.yaml", matrixRights},
		{"ClusterRole /pgstorage-read-pools", "config/read-pools/role.yaml", readPoolRights},
		{"ClusterRole /pgstorage-sites", "config/sites/role.yaml", siteRights},
		{"ClusterRole /pgstorage-branches", "config/branches/role.yaml", branchRights},
		{"ClusterRole /pgstorage-memory", "config/memory/role.yaml", memoryRights},
		{"Role " + namespace + "/pgstorage-servers", "config/rbac/servers.yaml", serverRights},
	} {
		t.Run(test.name, func(t *testing.T) {
			var rules []rbacv1.PolicyRule
			for _, r := range test.rights {
				if r.reason == "" {
					t.Errorf("%s %s: no reason", r.resources, r.verbs)
				}
				rules = append(rules, r.rule())
			}
			want := flat(rules)
			got := flat(into[rbacv1.ClusterRole](t, parse(t, readFile(t, test.file))[test.name]).Rules)
			for _, name := range slices.Sorted(maps.Keys(got)) {
				if !want[name] {
					t.Errorf("%s grants %s, which this test gives no reason for", test.file, name)
				}
			}
			for _, name := range slices.Sorted(maps.Keys(want)) {
				if !got[name] {
					t.Errorf("%s lacks %s", test.file, name)
				}
			}
		})
	}
}

// The agent, which runs on every node, has less than this beside what no role has.
var forbiddenToTheAgent = map[string]string{
	"/secrets":        "it needs none",
	"/configmaps":     "it needs none",
	"/pods":           "it needs none",
	"/nodes":          "its own name comes with its pod",
	"/persistentvol":  "volumes belong to their driver",
	"/storageclasses": "the manager's",
	"] delete":        "it deletes nothing",
	"] update":        "it patches",
	"/events":         "a hostile node must not write events into the namespaces of tenants",
}

func TestAgentHasNoForbiddenRights(t *testing.T) {
	for name := range flat(into[rbacv1.ClusterRole](t, installed(t, everything...)["ClusterRole /pgstorage-agent"]).Rules) {
		for part, reason := range forbiddenToTheAgent {
			if strings.Contains(name, part) {
				t.Errorf("the agent has %s: %s", name, reason)
			}
		}
		if strings.HasPrefix(name, "pgstorage.dev/pgnodestorages[] create") {
			t.Errorf("the agent has %s: the manager makes them", name)
		}
	}
}

// forbidden are rights that no role of an installation has, as parts of what
// flat prints.
var forbidden = map[string]string{
	"*":                  "a wildcard grants what nobody has thought of",
	"/secrets[] get":     "every password of the Kubernetes cluster",
	"/secrets[] list":    "every password of the Kubernetes cluster",
	"/secrets[] watch":   "every password of the Kubernetes cluster",
	"] escalate":         "becomes anyone",
	"] bind":             "becomes anyone",
	"] impersonate":      "becomes anyone",
	"/pods/exec":         "runs programs in any pod",
	"/pods/ephemeral":    "runs programs in any pod",
	"/nodes/":            "speaks to kubelets",
	"/nodes[] create":    "nodes are read",
	"/nodes[] patch":     "nodes are read",
	"/nodes[] update":    "nodes are read",
	"/nodes[] delete":    "nodes are read",
	"claims[] create":    "claims belong to CloudNativePG",
	"claims[] patch":     "claims belong to CloudNativePG",
	"claims[] update":    "claims belong to CloudNativePG",
	"claims[] delete":    "claims belong to CloudNativePG",
	"volumes[] create":   "volumes belong to their driver",
	"volumes[] patch":    "volumes belong to their driver",
	"volumes[] update":   "volumes belong to their driver",
	"volumes[] delete":   "volumes belong to their driver",
	"/serviceaccounts/t": "tokens of any ServiceAccount",
	"webhookconfig":      "there are no webhooks",
	"/clusterrole":       "rights beyond a namespace",
}

// exceptions are rights that a role has all the same, because a switch that is off by
// default installs it for them.
var exceptions = map[string][]right{"ClusterRole /pgstorage-memory": memoryRights}

func TestNoRoleHasForbiddenRights(t *testing.T) {
	checked := 0
	for key, object := range installed(t, everything...) {
		var rules []rbacv1.PolicyRule
		switch object.GetKind() {
		case "ClusterRole":
			rules = into[rbacv1.ClusterRole](t, object).Rules
		case "Role":
			rules = into[rbacv1.Role](t, object).Rules
		default:
			continue
		}
		checked++
		var granted []rbacv1.PolicyRule
		for _, r := range exceptions[key] {
			granted = append(granted, r.rule())
		}
		excepted := flat(granted)
		for name := range flat(rules) {
			if excepted[name] {
				continue
			}
			for part, reason := range forbidden {
				if strings.Contains(name, part) {
					t.Errorf("%s grants %s: %s", key, name, reason)
				}
			}
		}
	}
	if checked == 0 {
		t.Error("no role was found to check")
	}
}

// Every binding is of a ServiceAccount to a role, both of this installation.
func TestBindingsAreOfThisInstallation(t *testing.T) {
	all := installed(t, everything...)
	for key, object := range all {
		var ref rbacv1.RoleRef
		var subjects []rbacv1.Subject
		roleNamespace := ""
		switch object.GetKind() {
		case "ClusterRoleBinding":
			binding := into[rbacv1.ClusterRoleBinding](t, object)
			ref, subjects = binding.RoleRef, binding.Subjects
		case "RoleBinding":
			binding := into[rbacv1.RoleBinding](t, object)
			ref, subjects, roleNamespace = binding.RoleRef, binding.Subjects, binding.Namespace
		default:
			continue
		}
		if all[ref.Kind+" "+roleNamespace+"/"+ref.Name] == nil {
			t.Errorf("%s binds %s %s, which is not installed", key, ref.Kind, ref.Name)
		}
		for _, subject := range subjects {
			if all[subject.Kind+" "+subject.Namespace+"/"+subject.Name] == nil {
				t.Errorf("%s has subject %s %s/%s, which is not installed", key, subject.Kind, subject.Namespace, subject.Name)
			}
		}
	}
}

// Users see everything and write their own kinds. Manager and agents write PgNodeStorages: a
// user who could change one could have any disk wiped.
func TestUsersWriteOnlyTheirKinds(t *testing.T) {
	all := installed(t)
	const (
		written = "create delete patch update"
		changed = "create delete get list patch update watch"
	)
	for name, want := range map[string]struct {
		aggregated string
		verbs      map[string]string // by resource
	}{
		"pgstorage-view": {"admin edit view", map[string]string{
			"pgstorageprofiles": watched, "pgnodestorages": watched, "pgstorageclusters": watched, "pgstoragebranches": watched, "pgbenchmarks": watched, "pgscheduledbenchmarks": watched,
		}},
		"pgstorage-edit":          {"admin edit", map[string]string{"pgstorageclusters": written, "pgstoragebranches": written, "pgbenchmarks": written, "pgscheduledbenchmarks": written}},
		"pgstorage-admin":         {"admin", map[string]string{"pgstorageclusters": "deletecollection", "pgstoragebranches": "deletecollection", "pgbenchmarks": "deletecollection", "pgscheduledbenchmarks": "deletecollection"}},
		"pgstorage-profile-admin": {"", map[string]string{"pgstorageprofiles": changed, "pgnodestorages": "delete " + watched}},
	} {
		role := into[rbacv1.ClusterRole](t, all["ClusterRole /"+name])
		aggregated, verbs, got := map[string]bool{}, map[string]map[string]bool{}, map[string]string{}
		for label := range role.Labels {
			if to, found := strings.CutPrefix(label, "rbac.authorization.k8s.io/aggregate-to-"); found {
				aggregated[to] = true
			}
		}
		if to := words(aggregated); to != want.aggregated {
			t.Errorf("%s: aggregated to %q, want %q", name, to, want.aggregated)
		}
		for one := range flat(role.Rules) {
			resource, verb, _ := strings.Cut(strings.TrimPrefix(one, "pgstorage.dev/"), "[] ")
			if verbs[resource] == nil {
				verbs[resource] = map[string]bool{}
			}
			verbs[resource][verb] = true
			got[resource] = words(verbs[resource])
		}
		if !maps.Equal(got, want.verbs) {
			t.Errorf("%s: verbs %v, want %v", name, got, want.verbs)
		}
	}
}

func words(set map[string]bool) string {
	return strings.Join(slices.Sorted(maps.Keys(set)), " ")
}
