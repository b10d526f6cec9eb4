package cli

var benchHelp = help{
	use:   "bench",
	short: "Start, follow and list benchmarks",
	long: `A PgBenchmark runs pgbench against a PgStorageCluster, with a database and a role
that the operator creates for it. Its spec is immutable; create another PgBenchmark
to run it again. Each result belongs to the durability tier of its run. Results of
different tiers are not comparable.`,
	example: `  kubectl pgstorage bench start shop --scale 100 --clients 1,16,64 --duration 5m --repeats 5 --follow
  kubectl pgstorage bench follow shop-x7k2p
  kubectl pgstorage bench result shop-x7k2p --statements
  kubectl pgstorage bench list`,
}

var benchStartHelp = help{
	use:   "start CLUSTER",
	short: "Start a benchmark of a database",
	long: `The command creates a PgBenchmark with a generated name, or the one of --name. The
benchmark runs once the database is Ready, its spec.benchmarkPolicy admits it, and
no other benchmark of the database is running. Flags that are not set have the
default of the API, which kubectl explain pgb.spec.pgbench describes. For custom
scripts or resources of the runner, edit the file that --dry-run=client -o yaml
prints.`,
	example: `  kubectl pgstorage bench start shop
  kubectl pgstorage bench start shop --scale 100 --clients 1,16,64 --duration 5m --repeats 5 --follow
  kubectl pgstorage bench start shop --script SelectOnly --transactions 10000
  kubectl pgstorage bench start shop --dry-run=client -o yaml > benchmark.yaml`,
}

var benchFollowHelp = help{
	use:   "follow NAME",
	short: "Show the progress of a benchmark until it ends, and then its result",
	long: `On a terminal the progress is a bar; otherwise the command prints a line for each
change. The exit code is 0 if the benchmark succeeded, and 1 if it failed or the
timeout expired. Interrupting this command does not stop the benchmark.`,
	example: `  kubectl pgstorage bench follow nightly
  kubectl pgstorage bench follow nightly --timeout 1h`,
}

var benchResultHelp = help{
	use:   "result NAME",
	short: "Show the result of a benchmark",
	long: `The output has the median of the repeats for each client count, latencies in
milliseconds, and the results of the integrity checks. For a matrix it has the
progress, the variants grouped by durability tier, and their ranks once the matrix
has ended. Results of different tiers are not comparable.
-o prints the PgBenchmark object. For more detail use kubectl pgstorage report.`,
	example: `  kubectl pgstorage bench result nightly
  kubectl pgstorage bench result nightly --statements
  kubectl pgstorage bench result nightly -o json | jq .status.run.results`,
}

var benchListHelp = help{
	use:   "list [CLUSTER]",
	short: "List benchmarks, oldest first",
	long: `TPS is the best median over the client counts, and DURABILITY the tier it was
measured in. Name a PgStorageCluster to list only its benchmarks. For a matrix RUNS
counts the runs that have ended. Each run is a PgBenchmark too; list them with
--runs.`,
	example: `  kubectl pgstorage bench list shop
  kubectl pgstorage bench list -A -o json`,
}

var reportHelp = help{
	use:   "report NAME...",
	short: "Report on a benchmark, with intervals, comparisons and charts",
	long: `The report of a PgBenchmark, single or with a matrix, shows each variant with its
95% interval, and significant differences within a durability tier. It shows the
findings of each run, latencies, and each run over time. The report uses the
records of the runs. Where a record is missing it uses the status, and says so. An
incomplete benchmark is marked as incomplete and has no ranking.

Several names show the variants side by side. One chart has the TPS of all runs over
time. Their runs were not interleaved, so they are not ranked.

The form is text, markdown, html (one self-contained page), svg (the charts), csv
or json. The default follows the extension of --file, or else is text. Use --from
to show a report that -o json wrote in another form, without a cluster.`,
	example: `  kubectl pgstorage report tiers
  kubectl pgstorage report disk memory
  kubectl pgstorage report tiers -o json -f tiers.json
  kubectl pgstorage report --from tiers.json -o markdown`,
}
