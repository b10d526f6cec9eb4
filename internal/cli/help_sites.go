package cli

var switchHelp = help{
	use:   "switch NAME",
	short: "Switch the site of a database that writes, without loss",
	long: `NAME is the PgStorageCluster of the site that writes now. The flags --to-context,
--to-namespace and --to-name say where that of the site that is to write is. At least
one of them differs from the current one.

Without --apply the command checks both sites and shows the steps. It refuses a site
that is not Ready, or that is behind, because writes would be paused longer.
With --apply it sets spec.topology.primary of the site that writes, which stops
writing. Its token says where it stopped. The command gives that token to the other
site, which writes once it has replayed everything. Sites of --also, and the one
that wrote before, then follow it.

The same command continues a switch that was interrupted. If a step takes longer
than --timeout, the command shows how to continue and how to go back. It needs
permission to get and patch each PgStorageCluster.

The exit code is 1 if a step is refused or does not end.`,
	example: `  # What would be done, and is anything against it?
  kubectl pgstorage switch shop --context north -n prod --to-context south

  # Switch, and have a third site follow the new primary
  kubectl pgstorage switch shop --context north -n prod --to-context south --also west/prod/shop --apply`,
}

var promoteHelp = help{
	use:   "promote NAME",
	short: "Promote a site of a database after the loss of the one that writes",
	long: `NAME is the PgStorageCluster of the site that is to write. It gets no token of the
site that wrote before, so commits that it has not received are lost. While that
site is alive, use switch, which loses nothing.

Without --apply the command shows what is known of the loss, and changes nothing.
With --apply it sets spec.topology.primary of the site and consents to the loss. It
waits until the site writes. It needs permission to get and patch the PgStorageCluster.

The site that wrote before must not write any more. Make sure of that first. If it
returns, its operator fences it once its watcher reaches this site. What it wrote until
then is lost.

The command refuses a site that still receives WAL, unless --even-if-streaming is
set. It refuses one that a switch demoted, unless --even-if-demoted is set. The exit
code is then 1.`,
	example: `  # What is lost?
  kubectl pgstorage promote shop --context south -n prod

  # Promote the site, after the instances of the other one are off
  kubectl pgstorage promote shop --context south -n prod --apply`,
}
