package cli

var branchHelp = help{
	use:   "branch",
	short: "Create, list, promote and delete branches of databases",
	long: `A PgStorageBranch is a writable copy of a PgStorageCluster. It shares the blocks of
its source until either of them writes, where the storage is copy-on-write. Its
PgStorageCluster has the name of the branch, and can be a source itself. The source
must have spec.branchPolicy Any.`,
	example: `  kubectl pgstorage branch create shop --name pr-123 --ttl 24h --mask shop-mask
  kubectl pgstorage branch psql pr-123 -- -c 'SELECT count(*) FROM orders'
  kubectl pgstorage branch list
  kubectl pgstorage branch delete pr-123 --apply`,
}

var branchCreateHelp = help{
	use:   "create SOURCE --name NAME",
	short: "Create a branch of a database, and wait until it is Ready",
	long: `The command creates a PgStorageBranch of the PgStorageCluster SOURCE, and shows its
progress. Each line has the number of conditions that are True, and what the branch
waits for. At the end the command shows the Service and the Secret to connect with.

The branch has the present state of its source. With --from-backup it is restored
from backups, until the end of WAL or one of the targets. It then shares no space
with its source. --mask names SQL that runs before anyone can connect to the branch.

The exit code is 1 if the branch is Stalled or the timeout expires. The message is
that of its condition. Interrupting this command does not stop the branch.`,
	example: `  # A branch for a day
  kubectl pgstorage branch create shop --name pr-123 --ttl 24h

  # A branch with masked data
  kubectl pgstorage branch create shop --name pr-123 --mask shop-mask/names.sql --timeout 10m

  # The state of a point in time
  kubectl pgstorage branch create shop --name before --from-backup --target-time 2026-03-01T12:00:00Z

  # The state of a restore point
  kubectl pgstorage branch create shop --name old --from-backup --target-name v2 --backup-id 20260301T023000

  # A file to edit
  kubectl pgstorage branch create shop --name pr-123 --dry-run=client > branch.yaml`,
}

var branchListHelp = help{
	use:   "list",
	short: "List branches as a tree",
	long: `Branches of a branch are below it. SPACE is what a branch alone takes of its storage,
where the operator knows it. EXPIRES is the time until the operator deletes a branch
with its data. The others exist until you delete them.`,
	example: `  kubectl pgstorage branch list
  kubectl pgstorage branch list -A -o json`,
}

var branchDeleteHelp = help{
	use:   "delete NAME...",
	short: "Delete branches with their data",
	long: `Without --apply nothing is deleted, and the table shows what would be. The data of a
branch is deleted with it. A promoted branch that is independent keeps its
PgStorageCluster and its data.

CHILDREN are branches that share the volumes of a branch. The operator deletes its
database at once, and its volumes once they are deleted or promoted. With --wait the
command shows what each branch waits for.`,
	example: `  # What would be deleted?
  kubectl pgstorage branch delete pr-123

  # Delete two branches, and wait until their storage is free
  kubectl pgstorage branch delete pr-123 pr-124 --apply --wait`,
}

var branchPromoteHelp = help{
	use:   "promote NAME",
	short: "Make a branch independent of its source",
	long: `The operator copies all data of the branch onto new volumes, and then deletes its
snapshots. Afterwards the branch does not expire, and its PgStorageCluster stays
when the PgStorageBranch is deleted. It needs space for all of the data, and
for a second instance meanwhile. It cannot be undone.

Without --apply the command changes nothing. With --apply it requests the
promotion. With --wait it shows the progress. The exit code is then 1 if the branch
is Stalled or the timeout expires. Interrupting this command does not stop the promotion.`,
	example: `  kubectl pgstorage branch promote pr-123
  kubectl pgstorage branch promote pr-123 --apply --wait`,
}

var branchPsqlHelp = help{
	use:   "psql NAME [-- ARG...]",
	short: "Run psql on a branch",
	long: `The command runs kubectl exec in the pod of the branch's primary. There psql connects
to the database of the branch as the superuser postgres. Arguments after -- are those
of psql. You need permission to create pods/exec. The program kubectl must be on the
PATH. The exit code is that of kubectl, which is that of psql.

The command refuses a branch that is not Ready, because its masking may not have run.`,
	example: `  kubectl pgstorage branch psql pr-123
  kubectl pgstorage branch psql pr-123 -n prod -- -At -c 'SELECT 1'
  kubectl pgstorage branch psql pr-123 < changes.sql`,
}
