package cli

var verifyHelp = help{
	use:   "verify NAME",
	short: "Verify the newest backup of a database now",
	long: `The command annotates a PgStorageCluster that declares spec.backup.verify. The
operator then restores its newest backup into a temporary Cluster, checks it, and
deletes it. The schedule of spec.backup.verify continues unchanged. A verification
that runs already ends first.

Without --wait the command returns at once, and kubectl pgstorage status shows the
result. With --wait it shows each phase, the result and each check. Interrupting it
does not stop the verification. It needs permission to get and patch the
PgStorageCluster.

The exit code is 1 if the result is neither Verified nor PartlyChecked.`,
	example: `  # Before a risky change, verify that the last backup can be restored
  kubectl pgstorage verify shop -n prod --wait

  # Request it, and look at the result later
  kubectl pgstorage verify shop -n prod
  kubectl pgstorage status shop -n prod`,
}
