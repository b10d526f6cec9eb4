package cli

import "github.com/spf13/cobra"

// help is what --help prints of a command.
type help struct{ use, short, long, example string }

// command returns a command that prints this help; the caller adds what it does.
func (h help) command() *cobra.Command {
	return &cobra.Command{Use: h.use, Short: h.short, Long: h.short + ".\n\n" + h.long, Example: h.example}
}

var rootHelp = help{
	use:   "kubectl-pgstorage",
	short: "Manage Postgres clusters together with the storage they run on",
	long: `A PgStorageProfile describes how storage is provisioned, a PgStorageCluster
requests a database on it, and a PgBenchmark measures a database. These commands
show a database with everything it depends on, and explain its settings. They plan
offline what the operator would create, run benchmarks, and check a cluster.`,
	example: `  # Check that the cluster has everything that pgstorage needs
  kubectl pgstorage doctor

  # Show what the operator would create from these files; no cluster is needed
  kubectl pgstorage render -f profile.yaml -f cluster.yaml --node node-1

  # Show the database shop, what it depends on and what it waits for
  kubectl pgstorage status shop

  # Explain the value of shared_buffers
  kubectl pgstorage explain shop shared_buffers`,
}

var statusHelp = help{
	use:   "status [KIND/]NAME",
	short: "Show a database, what it depends on and what it waits for",
	long: `For a PgStorageCluster the output is a tree. It has the profile with the pools on
the nodes, servers and StorageClasses, and the CloudNativePG Cluster with its pods
and volumes. Benchmarks and branches follow. Each object has a state:

  Ready     matches its spec
  Waiting   can become Ready without you; the next line says what it waits for
  Stalled   needs you to act; the next line says how, or names a runbook
  Unknown   not observed yet, or you have no permission to read it

Objects of pgstorage list their conditions with their reasons. KIND is pgsc (the
default), pgsp, pgns, pgb, pgsb or pgbr. Without a name the command lists all
databases of the namespace. Output on a terminal is coloured unless NO_COLOR is set.`,
	example: `  kubectl pgstorage status shop
  kubectl pgstorage status pgsp/zfs-nvme
  kubectl pgstorage status pgb/nightly -o json
  kubectl pgstorage status --all-namespaces`,
}

var explainHelp = help{
	use:   "explain NAME [SETTING...]",
	short: "Explain the settings of a database and its storage",
	long: `For a PgStorageCluster the command shows what an acknowledged commit survives, and
each Postgres parameter that the operator sets. It shows each property of the pool
and datasets with the value that the agents observe.

The source of a parameter is the first of these that has a value:

  Safety     the durability tier, or a missing proof of safety
  User       spec.postgres.parameters
  Profile    the needs of the storage
  Computed   the rules of pgtune, from resources and workload

Parameters that are not listed have the default of CloudNativePG or Postgres. The
source of a property is Profile where the profile changes the default.
Give names of settings to show only those.

For a CloudNativePG Cluster, NAME is cluster.postgresql.cnpg.io/NAME. Nothing of
pgstorage needs to be installed, and you need permission to get that Cluster. The
command shows what its declared settings promise, its volumes, its parameters, and
what pgstorage would set differently. It reads nothing from the instances.`,
	example: `  kubectl pgstorage explain shop
  kubectl pgstorage explain shop work_mem recordsize
  kubectl pgstorage explain cluster.postgresql.cnpg.io/shop
  kubectl pgstorage explain shop -o yaml`,
}

var adoptHelp = help{
	use:   "adopt NAME | --all",
	short: "Adopt CloudNativePG Clusters that exist, without changing them",
	long: `The command describes a CloudNativePG Cluster as a PgStorageCluster with
spec.defaults CloudNativePG, and a PgStorageProfile of type External for its
StorageClass. It asks the API server, as a dry run, what the operator's own plan
changes in the Cluster. It shows the difference and the instances that restart.
Settings that the operator rejects, and fields that it cannot describe, are named.

Without --apply nothing is created. With --apply the command creates the objects
and annotates the Cluster with its consent, if its spec does not change. It needs
permission to patch the Cluster, also for the dry run.

  Unchanged  only labels and annotations change, and no instance restarts.
  Changed    the dry run shows changes of the spec; --apply leaves it alone.
  Refused    the reasons name the fields.
  Owned      a PgStorageCluster has it already.
  Unknown    the API server did not answer the dry run, or the Cluster or a
             PgStorageProfile was different after it.

The exit code is 1 if a Cluster is Refused or Unknown.`,
	example: `  # What would change?
  kubectl pgstorage adopt shop

  # Write the objects to a file, for Git
  kubectl pgstorage adopt shop -o yaml > shop.yaml

  # Check all Clusters of a namespace, then adopt those that do not change
  kubectl pgstorage adopt --all -n prod
  kubectl pgstorage adopt --all -n prod --apply`,
}

var recloneHelp = help{
	use:   "reclone INSTANCE | --node NODE",
	short: "Have instances cloned again whose volumes were lost with a node",
	long: `A volume on a node's own disks is lost with the node. The claim of the instance
stays, and so its pod waits for a node that does not return. The command deletes
claims and pod, and CloudNativePG clones the instance on another node.

Without --apply nothing is deleted, and the table shows what would be. What is on
the volumes is lost. It can include commits that the primary does not have, if the
cluster failed over without a quorum: see the losses in kubectl pgstorage explain.

The command refuses an instance that is the primary, or ready. If the primary is not
ready, these volumes may be the only copy, and it refuses too. A pod on a node that
exists and is not Ready may still run Postgres. It is refused until you delete the
Node, after the machine is off.

--node selects instances of all namespaces, or of the one that --namespace names. It
refuses a node that is Ready, because its instances may only be restarting. It also
refuses an instance with a volume that is not bound to that node alone, because a
network volume is intact. Name an instance if its volumes are lost all the
same.

The exit code is 1 if an instance is Refused.`,
	example: `  # Node n2 does not return: what was on it?
  kubectl delete node n2
  kubectl pgstorage reclone --node n2

  # Have its instances cloned on other nodes
  kubectl pgstorage reclone --node n2 --apply

  # One instance
  kubectl pgstorage reclone shop-2 -n prod --apply`,
}

var renderHelp = help{
	use:   "render -f FILE...",
	short: "Show what the operator would create from files, without a cluster",
	long: `The command applies the defaults and rules of the API server and of the operator.
An object that either would reject is rejected here with the same message and
exit code 1. So the command can check a change before it is merged.

Give a PgStorageCluster with its PgStorageProfile, and a PgBenchmark with both. A
profile that provisions storage on nodes needs nodes. Name them with --node, or
give Node objects with -f, as kubectl get node -o yaml prints them. Comments at
the top list what the command assumes about the cluster. Stages that the operator
delays until it observes something are marked "held".`,
	example: `  kubectl pgstorage render -f profile.yaml -f cluster.yaml
  kubectl pgstorage render -f profile-zfs.yaml --node node-1 --node node-2
  kubectl get pgsp,pgsc -n prod -o yaml | kubectl pgstorage render -f -
  kubectl pgstorage render -f deploy/ -o json | jq '.items[].kind'`,
}

var doctorHelp = help{
	use:   "doctor",
	short: "Check that a cluster has what pgstorage needs",
	long: `Run it before and after installing. The command checks the CRDs and their
versions, the operator, its agents and permissions, CloudNativePG, CSI drivers and
nodes. It also checks kernel modules and pools as the agents report them, and your
own permissions. Missing parts are failures only if an existing profile needs them.
Each finding that is not OK has a remedy and a link to the documentation.

The command changes nothing. What you cannot read is listed as not checked. The
exit code is 1 if there is a failure, or if the API server does not answer.`,
	example: `  kubectl pgstorage doctor
  kubectl pgstorage doctor -o json | jq '.[] | select(.level == "Failure")'`,
}

var runbookHelp = help{
	use:   "runbook [REASON]",
	short: "Show the runbook for a condition reason or an alert",
	long: `The pages are part of this program, so the command needs no network. It ignores
upper and lower case. Without a reason it lists all pages, with the other reasons
that each page covers.`,
	example: `  kubectl pgstorage runbook PoolLost
  kubectl pgstorage runbook`,
}

var completionHelp = help{
	use:   "completion",
	short: "Print a script that completes commands and names",
	long: `The kubectl script is for users of kubectl completion who type kubectl pgstorage:
kubectl runs the program kubectl_complete-pgstorage from the PATH. The release
archives contain it; krew does not install it, so print it once. The other scripts
are for users who type kubectl-pgstorage.`,
	example: `  kubectl pgstorage completion kubectl > ~/.local/bin/kubectl_complete-pgstorage
  chmod +x ~/.local/bin/kubectl_complete-pgstorage

  source <(kubectl-pgstorage completion bash)`,
}

var versionHelp = help{
	use:   "version",
	short: "Show the version of this program",
	long: `The output includes the API version that the program supports. The plugin works
with an operator of another version if both have the same CRDs; compare them with
kubectl pgstorage doctor.`,
	example: `  kubectl pgstorage version
  kubectl pgstorage version -o json`,
}
