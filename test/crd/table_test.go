package crd_test

import (
	"fmt"
	"slices"
	"strings"
)

// stage is where an invalid object is refused.
type stage string

const (
	// onCreate: the API server refuses the object.
	onCreate stage = "create"
	// onUpdate: the API server takes the object as it is before and refuses the change.
	onUpdate stage = "update"
	// onStatus: the API server takes the object and refuses the change of its status.
	onStatus stage = "status"
	// byCondition: only facts decide; the object is stored, the controllers say
	// Ready=False, and no database is made.
	byCondition stage = "condition"
)

// row is one invalid object: the valid base of its kind, before (which keeps it
// valid), and one mutation.
type row struct {
	name   string
	kind   string
	stage  stage
	before []change
	change []change
	// says are parts of the message; together they name field, fault and remedy.
	says []string
}

func cluster(name string, c change, says ...string) row {
	return row{name: name, kind: "PgStorageCluster", stage: onCreate, change: []change{c}, says: says}
}

func benchmark(name string, c change, says ...string) row {
	return row{name: name, kind: "PgBenchmark", stage: onCreate, change: []change{c}, says: says}
}

func profile(name string, c change, says ...string) row {
	return row{name: name, kind: "PgStorageProfile", stage: onCreate, change: []change{c}, says: says}
}

func (r row) with(before ...change) row   { r.before = append(r.before, before...); return r }
func (r row) and(more ...change) row      { r.change = append(r.change, more...); return r }
func (r row) updated() row                { r.stage = onUpdate; return r }
func (r row) condition() row              { r.stage = byCondition; return r }
func parameter(name, value string) change { return set("spec/postgres/parameters/"+name, value) }
func override(path string, v any) change {
	return set("spec/cnpg/spec/"+strings.ReplaceAll(path, ".", "/"), v)
}
func pgbench(field string, v any) change { return set("spec/pgbench/"+field, v) }

// longParameters are so many of 1024 characters.
func longParameters(n int) map[string]any {
	out := map[string]any{}
	for i := range n {
		out["app.p"+string(rune('a'+i))] = strings.Repeat("x", 1024)
	}
	return out
}

var long = strings.Repeat("a", 51)

var rows = slices.Concat([]row{
	// Bounds.
	cluster("an exponent that cannot be parsed", set("spec/resources/limits/cpu", "1e99999999999999999999"), "spec.resources.limits.cpu", "should match"),
	benchmark("a quantity of the runner that cannot be parsed", pgbench("resources", map[string]any{"limits": map[string]any{"cpu": "1e99999999999999999999"}}), "spec.pgbench.resources.limits.cpu", "should match"),
	benchmark("a limit that the runner has not", pgbench("resources", map[string]any{"limits": map[string]any{"hugepages-2Mi": "2Mi"}}), "spec.pgbench.resources.limits: Invalid value", "spec.pgbench.resources.limits may name cpu, memory and ephemeral-storage only"),
	cluster("a limit that the runner of an inline benchmark has not", set("spec/benchmark/resources", map[string]any{"limits": map[string]any{"example.com/gpu": "1"}}), "spec.benchmark.resources.limits: Invalid value", "spec.pgbench.resources.limits may name cpu, memory and ephemeral-storage only"),
	benchmark("a resource that the runner has not", pgbench("resources", map[string]any{"requests": map[string]any{"example.com/gpu": "1"}}), "spec.pgbench.resources.requests may name cpu, memory and ephemeral-storage only"),
	cluster("a long parameter", parameter("log_line_prefix", strings.Repeat("x", 1025)), "spec.postgres.parameters: names have at most 127 characters, values at most 1024, and all of them together at most 16384; shorten or remove some"),
	cluster("many long parameters", set("spec/postgres/parameters", longParameters(17)), "spec.postgres.parameters: names have at most 127 characters, values at most 1024, and all of them together at most 16384; shorten or remove some"),
	cluster("large overrides", override("description", strings.Repeat("x", 65536)), "spec.cnpg.spec: its JSON exceeds 65536 bytes; remove fields").condition(),
	profile("a long value of a node label", set("spec/nodeSelector", map[string]any{"a": strings.Repeat("x", 64)}), "spec.nodeSelector: names of labels have at most 317 characters, values at most 63"),
	// Quorum and defaults.
	cluster("quorum without the tier", set("spec/quorum/standbys", 1), "spec.quorum: Invalid value", "spec.quorum applies to durability: Quorum only; remove it, or set spec.durability: Quorum").and(set("spec/instances", 3)),
	cluster("as many standbys as instances", set("spec/quorum/standbys", 3), "spec.quorum.standbys must be less than spec.instances, because one instance is the primary; lower it or raise spec.instances").with(set("spec/instances", 3), set("spec/durability", "Quorum")),
	cluster("no standby", set("spec/quorum/standbys", 0), "spec.quorum.standbys", "should be greater than or equal to 1").with(set("spec/instances", 3), set("spec/durability", "Quorum")),
	cluster("a method that Postgres has not", set("spec/quorum/method", "All"), "spec.quorum.method", "supported values: \"Any\", \"First\"").with(set("spec/instances", 3), set("spec/durability", "Quorum")),
	cluster("a failure domain that is no label", set("spec/quorum/acrossFailureDomain", "zone a"), "spec.quorum.acrossFailureDomain must be the name of a node label, as topology.kubernetes.io/zone").with(set("spec/instances", 3), set("spec/durability", "Quorum")),
	// Read pools and followers.
	cluster("pool without a name", set("spec/readPools", pools(nil)), "spec.readPools[0].name: Required value"),
	cluster("pool with a bad name", set("spec/readPools", pools(map[string]any{"name": "-far"})), "spec.readPools[].name must be lower-case letters, digits and '-'"),
	cluster("pool with a long name", set("spec/readPools", pools(map[string]any{"name": "reports"})), "spec.readPools[].name: <cluster>-<name> must be at most 50 characters").with(set("metadata/name", strings.Repeat("a", 43))),
	cluster("two pools of one name", set("spec/readPools", []any{map[string]any{"name": "far"}, map[string]any{"name": "far"}}), "spec.readPools[1]: Duplicate value"),
	cluster("pool without instances", set("spec/readPools", pools(map[string]any{"name": "far", "instances": 0})), "spec.readPools[0].instances", "should be greater than or equal to 1"),
	cluster("stale reads refused without a limit", set("spec/readPools", pools(map[string]any{"name": "far", "staleReads": "Refuse", "maxLag": map[string]any{"time": "30s"}})), "spec.readPools[].staleReads: Refuse needs spec.readPools[].maxLag.bytes"),
	cluster("stale reads refused by several instances", set("spec/readPools", pools(map[string]any{"name": "far", "instances": 2, "staleReads": "Refuse", "maxLag": map[string]any{"bytes": "64Mi"}})), "spec.readPools[].staleReads: Refuse needs instances: 1"),
	cluster("lag of nothing", set("spec/readPools", pools(map[string]any{"name": "far", "maxLag": map[string]any{}})), "spec.readPools[0].maxLag", "should have at least 1 properties"),
	cluster("lag of no time", set("spec/readPools", pools(map[string]any{"name": "far", "maxLag": map[string]any{"time": "0s"}})), "maxLag.time must be a duration from 1s to 24h"),
	cluster("lag of a week", set("spec/readPools", pools(map[string]any{"name": "far", "maxLag": map[string]any{"time": "168h"}})), "maxLag.time must be a duration from 1s to 24h"),
	cluster("too many pools", set("spec/readPools", manyPools(9)), "spec.readPools", "must have at most 8 items"),
	cluster("a follower with pools", set("spec/readPools", pools(map[string]any{"name": "far"})), "spec.readPools: a follower has none").with(set("spec/follow/cluster", "bank"), set("spec/durability", "Local")),
	cluster("a follower with a tier", set("spec/durability", "Async"), "spec.durability of a follower is Local").with(set("spec/follow/cluster", "bank")),
	cluster("a database made a follower", set("spec/follow/cluster", "bank"), "spec.follow cannot be added or removed").with(set("spec/durability", "Local")).updated(),
	cluster("a follower made a database", unset("spec/follow"), "spec.follow cannot be added or removed").with(set("spec/durability", "Local"), set("spec/follow/cluster", "bank")).updated(),
	cluster("a follower of another cluster", set("spec/follow/cluster", "mill"), "spec.follow.cluster is immutable").with(set("spec/durability", "Local"), set("spec/follow/cluster", "bank")).updated(),
	cluster("unknown defaults", set("spec/defaults", "Postgres"), "spec.defaults", "supported values: \"pgstorage\", \"CloudNativePG\""),
	cluster("no resources after all", set("spec/defaults", "pgstorage"), "spec.resources is required unless spec.defaults is CloudNativePG").with(set("spec/defaults", "CloudNativePG"), unset("spec/resources")).updated(),
	// Names.
	cluster("name too long", set("metadata/name", long), "metadata.name must be at most 50 lower-case letters, digits and '-', and begin with a letter: CloudNativePG names pods, Services and Secrets after it"),
	cluster("name starts with a digit", set("metadata/name", "1shop"), "metadata.name must be at most 50 lower-case letters, digits and '-', and begin with a letter"),
	cluster("name with a dot", set("metadata/name", "shop.one"), "metadata.name must be at most 50 lower-case letters, digits and '-', and begin with a letter"),
	benchmark("benchmark name too long", set("metadata/name", long), "metadata.name must be at most 50 characters: the Job and the database role are named after it"),

	// Unknown and missing fields.
	cluster("unknown field", set("spec/instnces", 3), `unknown field "spec.instnces"`),
	cluster("unknown field of postgres", set("spec/postgres/parameter", map[string]string{}), `unknown field "spec.postgres.parameter"`),
	benchmark("unknown field of pgbench", pgbench("client", 4), `unknown field "spec.pgbench.client"`),
	profile("unknown field of a profile", set("spec/external/class", "fast"), `unknown field "spec.external.class"`),
	cluster("no spec", unset("spec"), "spec: Required value"),
	cluster("no profile", unset("spec/profile"), "spec.profile: Required value"),
	cluster("no durability", unset("spec/durability"), "spec.durability: Required value"),
	cluster("no postgres", unset("spec/postgres"), "spec.postgres: Required value"),
	cluster("no version", set("spec/postgres", map[string]any{"database": "app"}), "spec.postgres.version: Required value"),
	cluster("no storage", unset("spec/storage"), "spec.storage: Required value"),
	cluster("no resources", unset("spec/resources"), "spec.resources: Required value: spec.resources is required unless spec.defaults is CloudNativePG: the operator derives Postgres parameters from it; set spec.resources.requests"),
	benchmark("no cluster", unset("spec/cluster"), "spec needs either cluster or template: set cluster to the PgStorageCluster to measure, or template for the temporary clusters of a matrix"),

	// Enums.
	cluster("unknown workload", set("spec/workload", "oltp"), `spec.workload: Unsupported value: "oltp": supported values: "Web", "OLTP", "Analytics", "Mixed", "Desktop"`),
	cluster("unknown durability", set("spec/durability", "Sync"), `spec.durability: Unsupported value: "Sync": supported values: "Quorum", "Local", "Async", "Ephemeral"`),
	cluster("unknown benchmarkPolicy", set("spec/benchmarkPolicy", "All"), `spec.benchmarkPolicy: Unsupported value: "All": supported values: "Own", "Any"`),
	cluster("unknown deletionPolicy", set("spec/deletionPolicy", "Orphan"), `spec.deletionPolicy: Unsupported value: "Orphan": supported values: "Retain", "Delete"`),
	cluster("unknown podMonitor", set("spec/monitoring/podMonitor", "Enabled"), `spec.monitoring.podMonitor: Unsupported value: "Enabled": supported values: "Auto", "Disabled"`),
	cluster("suspend is text", set("spec/suspend", "yes"), `spec.suspend: Invalid value: "string": spec.suspend in body must be of type boolean`),

	// Instances.
	cluster("no instances", set("spec/instances", 0), "spec.instances: Invalid value: 0: spec.instances in body should be greater than or equal to 1"),
	cluster("17 instances", set("spec/instances", 17), "spec.instances: Invalid value: 17: spec.instances in body should be less than or equal to 16"),
	cluster("Quorum with one instance", set("spec/durability", "Quorum"), "spec.durability: Quorum needs spec.instances of at least 2, because a commit waits for a standby (3 keeps writes going when one instance is lost); raise spec.instances or choose Local"),
	cluster("Quorum loses its standby", set("spec/instances", 1), "spec.durability: Quorum needs spec.instances of at least 2").with(set("spec/instances", 3), set("spec/durability", "Quorum")).updated(),

	// Versions and images.
	cluster("version 13", set("spec/postgres/version", "13"), `spec.postgres.version must be a PostgreSQL version from 14 to 18, as "17" or "17.6"`),
	cluster("version 19", set("spec/postgres/version", "19"), `spec.postgres.version must be a PostgreSQL version from 14 to 18, as "17" or "17.6"`),
	cluster("version latest", set("spec/postgres/version", "latest"), `spec.postgres.version must be a PostgreSQL version from 14 to 18, as "17" or "17.6"`),
	cluster("version with three parts", set("spec/postgres/version", "17.6.1"), `spec.postgres.version must be a PostgreSQL version from 14 to 18, as "17" or "17.6"`),
	cluster("version is a number", set("spec/postgres/version", 17), `spec.postgres.version: Invalid value: "integer": spec.postgres.version in body must be of type string`),
	cluster("version too long", set("spec/postgres/version", "17.000006"), "spec.postgres.version: Too long: may not be more than 8 bytes"),
	cluster("major lowered", set("spec/postgres/version", "16"), "spec.postgres.version: the major version cannot be lowered; create a new cluster and restore a dump into it").updated(),
	cluster("image without tag", set("spec/postgres/image", "registry.example/postgresql"), "spec.postgres.image must be repository:tag with a tag that begins with the PostgreSQL major version, as registry.example/postgresql:17.6"),
	cluster("image with a port and no tag", set("spec/postgres/image", "registry.example:5000/postgresql"), "spec.postgres.image must be repository:tag with a tag that begins with the PostgreSQL major version, as registry.example/postgresql:17.6"),
	cluster("image with tag latest", set("spec/postgres/image", "registry.example/postgresql:latest"), "spec.postgres.image must be repository:tag with a tag that begins with the PostgreSQL major version, as registry.example/postgresql:17.6"),
	cluster("image by digest only", set("spec/postgres/image", "registry.example/postgresql@sha256:"+strings.Repeat("0", 64)), "spec.postgres.image must be repository:tag with a tag that begins with the PostgreSQL major version"),
	cluster("image of another major", set("spec/postgres/image", "registry.example/postgresql:16.4"), "spec.postgres.image: its tag must begin with the major of spec.postgres.version, because CloudNativePG reads the major from the tag; change the tag or the version"),
	cluster("version raised without its image", set("spec/postgres/version", "18"), "spec.postgres.image: its tag must begin with the major of spec.postgres.version").with(set("spec/postgres/image", "registry.example:5000/postgresql:17.6-bookworm")).updated(),

	// The first database.
	cluster("database postgres", set("spec/postgres/database", "postgres"), "spec.postgres.database must be a plain lower-case identifier that is not postgres, template0, template1 or pgstorage_*"),
	cluster("database template1", set("spec/postgres/database", "template1"), "spec.postgres.database must be a plain lower-case identifier that is not postgres, template0, template1 or pgstorage_*"),
	cluster("database of the operator", set("spec/postgres/database", "pgstorage_bench"), "spec.postgres.database must be a plain lower-case identifier that is not postgres, template0, template1 or pgstorage_*"),
	cluster("database with a dash", set("spec/postgres/database", "my-shop"), "spec.postgres.database must be a plain lower-case identifier"),
	cluster("database too long", set("spec/postgres/database", strings.Repeat("d", 64)), "spec.postgres.database: Too long: may not be more than 63 bytes"),
	cluster("owner postgres", set("spec/postgres/owner", "postgres"), "spec.postgres.owner must be a plain lower-case identifier that is not postgres, streaming_replica, pg_*, cnpg_* or pgstorage_*"),
	cluster("owner streaming_replica", set("spec/postgres/owner", "streaming_replica"), "spec.postgres.owner must be a plain lower-case identifier that is not postgres, streaming_replica, pg_*, cnpg_* or pgstorage_*"),
	cluster("owner pg_monitor", set("spec/postgres/owner", "pg_monitor"), "spec.postgres.owner must be a plain lower-case identifier that is not postgres, streaming_replica, pg_*, cnpg_* or pgstorage_*"),
	cluster("owner in capitals", set("spec/postgres/owner", "Shop"), "spec.postgres.owner must be a plain lower-case identifier"),
	cluster("database changed", set("spec/postgres/database", "other"), "spec.postgres.database is immutable because only initdb uses it; create further databases with CloudNativePG's Database kind").updated(),
	cluster("owner changed", set("spec/postgres/owner", "other"), "spec.postgres.owner is immutable because only initdb uses it; create further roles with CloudNativePG's DatabaseRole kind").updated(),
	cluster("database removed", set("spec/postgres/database", "app"), "spec.postgres.database is immutable because only initdb uses it").with(set("spec/postgres/database", "shop")).updated(),
	cluster("profile changed", set("spec/profile", "slow"), "spec.profile is immutable because volumes do not move between kinds of storage; create a PgStorageCluster on the other profile and replicate or restore into it").updated(),

	// Volumes.
	cluster("size with a wrong unit", set("spec/storage/size", "100GB"), "spec.storage.size must be a quantity of at least 1Gi, as 100Gi"),
	cluster("size with a blank", set("spec/storage/size", "100 Gi"), "spec.storage.size must be a quantity of at least 1Gi, as 100Gi"),
	cluster("size too small", set("spec/storage/size", "100Mi"), "spec.storage.size must be a quantity of at least 1Gi, as 100Gi"),
	cluster("size as a bare number", set("spec/storage/size", 100), "spec.storage.size must be a quantity of at least 1Gi, as 100Gi"),
	cluster("size negative", set("spec/storage/size", "-10Gi"), "spec.storage.size must be a quantity of at least 1Gi, as 100Gi"),
	cluster("walSize with a wrong unit", set("spec/storage/walSize", "5gb"), "spec.storage.walSize must be a quantity of at least 1Gi, as 20Gi"),
	cluster("walSize too small", set("spec/storage/walSize", "64Mi"), "spec.storage.walSize must be a quantity of at least 1Gi, as 20Gi"),
	cluster("size shrinks", set("spec/storage/size", "5Gi"), "spec.storage.size cannot shrink: volumes only grow; create a smaller cluster and restore into it").updated(),
	cluster("walSize shrinks", set("spec/storage/walSize", "2Gi"), "spec.storage.walSize cannot shrink: volumes only grow; create a new cluster and restore into it").with(set("spec/storage/walSize", "5Gi")).updated(),
	cluster("walSize removed", unset("spec/storage/walSize"), "spec.storage.walSize cannot be removed: CloudNativePG cannot move WAL back onto the data volume; set it again").with(set("spec/storage/walSize", "5Gi")).updated(),

	// Resources.
	cluster("no memory", unset("spec/resources/requests/memory"), "spec.resources.requests.memory must be a quantity of at least 256Mi, as 4Gi: the operator derives memory parameters of Postgres from it"),
	cluster("memory too small", set("spec/resources/requests/memory", "128Mi"), "spec.resources.requests.memory must be a quantity of at least 256Mi, as 4Gi: the operator derives memory parameters of Postgres from it"),
	cluster("memory with a wrong unit", set("spec/resources/requests/memory", "1gigabyte"), "spec.resources.requests.memory must be a quantity of at least 256Mi, as 4Gi"),
	cluster("memory as a bare number", set("spec/resources/requests/memory", 1024), "spec.resources.requests.memory must be a quantity of at least 256Mi, as 4Gi"),
	cluster("no cpu", unset("spec/resources/requests/cpu"), "spec.resources.requests.cpu must be a quantity of at least 50m, as 500m or 2: the operator derives the parallelism of Postgres from it"),
	cluster("cpu too small", set("spec/resources/requests/cpu", "10m"), "spec.resources.requests.cpu must be a quantity of at least 50m, as 500m or 2"),
	cluster("requests missing", set("spec/resources", map[string]any{"limits": map[string]any{"cpu": "1"}}), "spec.resources.requests: Required value: spec.resources.requests is required unless spec.defaults is CloudNativePG"),
	cluster("disk request with a wrong unit", set("spec/resources/requests/ephemeral-storage", "1GB"), "spec.resources.requests must be quantities, as 500m or 2Gi"),
	cluster("unknown resource", set("spec/resources/requests/mem", "1Gi"), "spec.resources.requests may name cpu, memory, ephemeral-storage, hugepages-2Mi and hugepages-1Gi only"),
	cluster("unknown limit", set("spec/resources/limits/gpu", "1"), "spec.resources.limits may name cpu, memory, ephemeral-storage, hugepages-2Mi and hugepages-1Gi only"),
	cluster("memory limit below request", set("spec/resources/limits/memory", "512Mi"), "spec.resources.limits.memory is below spec.resources.requests.memory; raise the limit or lower the request"),
	cluster("huge pages without a limit", set("spec/resources/requests/hugepages-2Mi", "256Mi"), "spec.resources.limits.hugepages-2Mi must equal spec.resources.requests.hugepages-2Mi, because huge pages cannot be overcommitted; set both to the same quantity"),
	cluster("huge pages overcommitted", set("spec/resources/requests/hugepages-1Gi", "1Gi"), "spec.resources.limits.hugepages-1Gi must equal spec.resources.requests.hugepages-1Gi").with(set("spec/resources/limits/hugepages-1Gi", "2Gi")),
	cluster("cpu limit below request", set("spec/resources/limits/cpu", "500m"), "spec.resources.limits.cpu is below spec.resources.requests.cpu; raise the limit or lower the request"),
	cluster("limit with a wrong unit", set("spec/resources/limits/memory", "2GB"), "spec.resources.limits must be quantities, as 500m or 2Gi"),

	// Parameters that a CR alone refuses.
	cluster("fsync=off", parameter("fsync", "off"), "spec.postgres.parameters[fsync] must stay on: off lets a crash corrupt the database beyond recovery; remove it, or use durability: Async for faster commits"),
	cluster("fsync=false", parameter("fsync", "false"), "spec.postgres.parameters[fsync] must stay on"),
	cluster("fsync=no", parameter("fsync", "no"), "spec.postgres.parameters[fsync] must stay on"),
	cluster("fsync: off without quotes", set("spec/postgres/parameters/fsync", false), `spec.postgres.parameters.fsync: Invalid value: "boolean": spec.postgres.parameters.fsync in body must be of type string`),
	cluster("fsync=OFF", parameter("fsync", "OFF"), "spec.postgres.parameters[fsync] must stay on"),
	cluster("synchronous_commit=off under Local", parameter("synchronous_commit", "off"), "spec.postgres.parameters[synchronous_commit] is below the durability tier: it must be on or remote_apply; set spec.durability to Async to accept the loss of the last commits"),
	cluster("synchronous_commit=local under Quorum", parameter("synchronous_commit", "local"), "spec.postgres.parameters[synchronous_commit] is below the durability tier").with(set("spec/durability", "Quorum"), set("spec/instances", 3)),
	cluster("synchronous_commit below a raised tier", set("spec/durability", "Local"), "spec.postgres.parameters[synchronous_commit] is below the durability tier").with(set("spec/durability", "Async"), parameter("synchronous_commit", "off")).updated(),
	cluster("archive_command", parameter("archive_command", "/bin/true"), "spec.postgres.parameters has a parameter that CloudNativePG sets itself (archiving, replication, connection, TLS, paths or logging); remove it, see docs/spec/pgstoragecluster.md"),
	cluster("listen_addresses", parameter("listen_addresses", "*"), "spec.postgres.parameters has a parameter that CloudNativePG sets itself"),
	cluster("synchronous_standby_names", parameter("synchronous_standby_names", ""), "spec.postgres.parameters has a parameter that CloudNativePG sets itself"),
	cluster("shared_preload_libraries", parameter("shared_preload_libraries", "pg_cron"), "spec.postgres.parameters[shared_preload_libraries]: CloudNativePG has its own field; set spec.cnpg.spec.postgresql.shared_preload_libraries"),
	cluster("parameter in capitals", parameter("Work_Mem", "64MB"), "spec.postgres.parameters: names are lower-case Postgres names, as work_mem or pg_stat_statements.max"),
	cluster("parameter with a dash", parameter("work-mem", "64MB"), "spec.postgres.parameters: names are lower-case Postgres names, as work_mem or pg_stat_statements.max"),
	cluster("parameter is a number", set("spec/postgres/parameters/max_connections", 100), `spec.postgres.parameters.max_connections: Invalid value: "integer": spec.postgres.parameters.max_connections in body must be of type string`),

	// The inline benchmark has the rules of a PgBenchmark.
	cluster("inline benchmark scale", set("spec/benchmark/scale", 0), "spec.benchmark.scale: Invalid value: 0: spec.benchmark.scale in body should be greater than or equal to 1"),
	cluster("inline benchmark with a cold cache", set("spec/benchmark", map[string]any{"coldCache": true, "warmUp": "0s"}), "spec.benchmark.coldCache", "empties caches of the server, which is allowed only on temporary clusters of a matrix; remove it, or create a PgBenchmark with spec.template"),
	cluster("inline benchmark duration", set("spec/benchmark/duration", "5 minutes"), "spec.benchmark.duration", "duration must be whole hours, minutes and seconds from 1s to 24h, as 5m or 90s"),
	cluster("cnpg without spec", set("spec/cnpg", map[string]any{}), "spec.cnpg.spec: Required value"),
	cluster("cnpg spec is a list", set("spec/cnpg/spec", []string{"affinity"}), `spec.cnpg.spec: Invalid value: "array": spec.cnpg.spec in body must be of type object`),

	// Profiles.
	profile("unknown type", set("spec/type", "Ceph"), `spec.type: Unsupported value: "Ceph": supported values: "External", "ZFSLocalPV"`),
	profile("no type", unset("spec/type"), "spec.type: Required value"),
	profile("union member missing", unset("spec/external"), "spec.external is missing, but spec.type is External; set spec.external.storageClassName to an existing StorageClass"),
	profile("no class", set("spec/external", map[string]any{"medium": "SSD"}), "spec.external.storageClassName: Required value"),
	profile("empty class", set("spec/external/storageClassName", ""), "spec.external.storageClassName in body should be at least 1 chars long"),
	profile("class in capitals", set("spec/external/storageClassName", "Fast_SSD"), "spec.external.storageClassName must be the name of a StorageClass: lower case letters, digits, '-' and '.'; see kubectl get storageclass"),
	profile("class with a slash", set("spec/external/storageClassName", "fast/ssd"), "spec.external.storageClassName must be the name of a StorageClass"),
	profile("WAL class in capitals", set("spec/external/walStorageClassName", "WAL"), "spec.external.walStorageClassName must be the name of a StorageClass: lower case letters, digits, '-' and '.'; see kubectl get storageclass"),
	profile("class too long", set("spec/external/storageClassName", strings.Repeat("c", 254)), "spec.external.storageClassName: Too long: may not be more than 253 bytes"),
	profile("unknown medium", set("spec/external/medium", "NVMe"), `spec.external.medium: Unsupported value: "NVMe": supported values: "SSD", "HDD", "SAN"`),
	profile("class changed", set("spec/external/storageClassName", "slow"), "spec.external.storageClassName is immutable because existing volumes do not move; create another PgStorageProfile and a new cluster on it").updated(),
	profile("WAL class changed", set("spec/external/walStorageClassName", "slow"), "spec.external.walStorageClassName is immutable because existing volumes do not move; create another PgStorageProfile and a new cluster on it").with(set("spec/external/walStorageClassName", "wal")).updated(),
	profile("WAL class added", set("spec/external/walStorageClassName", "wal"), "spec.external.walStorageClassName is immutable because existing volumes do not move; create another PgStorageProfile").updated(),
	profile("WAL class removed", unset("spec/external/walStorageClassName"), "spec.external.walStorageClassName is immutable because existing volumes do not move; create another PgStorageProfile").with(set("spec/external/walStorageClassName", "wal")).updated(),

	// Benchmarks.
	benchmark("scale 0", pgbench("scale", 0), "spec.pgbench.scale: Invalid value: 0: spec.pgbench.scale in body should be greater than or equal to 1"),
	benchmark("scale too large", pgbench("scale", 100001), "spec.pgbench.scale in body should be less than or equal to 100000"),
	benchmark("no clients", pgbench("clients", []int{}), "spec.pgbench.clients: Invalid value: 0: spec.pgbench.clients in body should have at least 1 items"),
	benchmark("0 clients", pgbench("clients", []int{0}), "spec.pgbench.clients[0]: Invalid value: 0: spec.pgbench.clients[0] in body should be greater than or equal to 1"),
	benchmark("1001 clients", pgbench("clients", []int{1, 1001}), "spec.pgbench.clients[1]: Invalid value: 1001: spec.pgbench.clients[1] in body should be less than or equal to 1000"),
	benchmark("duplicate clients", pgbench("clients", []int{4, 4}), "spec.pgbench.clients[1]: Duplicate value: 4"),
	benchmark("17 client counts", pgbench("clients", []int{1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17}), "spec.pgbench.clients: Too many: 17: must have at most 16 items"),
	benchmark("duration and transactions", pgbench("duration", "1m"), "spec.pgbench.transactions", "duration and transactions exclude each other: pgbench runs for a time or for a number of transactions; remove one").and(pgbench("transactions", 1000)),
	benchmark("duration in words", pgbench("duration", "5 minutes"), "spec.pgbench.duration", "duration must be whole hours, minutes and seconds from 1s to 24h, as 5m or 90s"),
	benchmark("duration 0s", pgbench("duration", "0s"), "spec.pgbench.duration", "duration must be whole hours, minutes and seconds from 1s to 24h, as 5m or 90s"),
	benchmark("duration 25h", pgbench("duration", "25h"), "spec.pgbench.duration", "duration must be whole hours, minutes and seconds from 1s to 24h, as 5m or 90s"),
	benchmark("duration in fractions", pgbench("duration", "1.5s"), "spec.pgbench.duration", "duration must be whole hours, minutes and seconds from 1s to 24h, as 5m or 90s"),
	benchmark("duration beyond measure", pgbench("duration", "99999999999999999999h"), "spec.pgbench.duration", "duration must be whole hours, minutes and seconds from 1s to 24h, as 5m or 90s"),
	benchmark("warmUp 2h", pgbench("warmUp", "2h"), "spec.pgbench.warmUp", "warmUp must be whole hours, minutes and seconds from 0s to 1h, as 30s"),
	benchmark("warmUp in milliseconds", pgbench("warmUp", "500ms"), "spec.pgbench.warmUp", "warmUp must be whole hours, minutes and seconds from 0s to 1h, as 30s"),
	benchmark("script and customScripts", pgbench("script", "TPCB"), "spec.pgbench.customScripts", "script and customScripts exclude each other; remove one").and(pgbench("customScripts", []any{map[string]any{"configMap": "sql", "key": "a.sql"}})),
	benchmark("unknown script", pgbench("script", "tpcb-like"), `spec.pgbench.script: Unsupported value: "tpcb-like": supported values: "TPCB", "SimpleUpdate", "SelectOnly"`),
	benchmark("empty customScripts", pgbench("customScripts", []any{}), "spec.pgbench.customScripts in body should have at least 1 items"),
	benchmark("customScripts of one key", pgbench("customScripts", []any{map[string]any{"configMap": "a", "key": "x.sql"}, map[string]any{"configMap": "b", "key": "x.sql"}}), "spec.pgbench.customScripts[1]: Duplicate value"),
	benchmark("customScripts key is a path", pgbench("customScripts", []any{map[string]any{"configMap": "sql", "key": "../a.sql"}}), "spec.pgbench.customScripts[0].key", "customScripts[].key must be a key of a ConfigMap: letters, digits, '-', '_' and '.'"),
	benchmark("customScripts without ConfigMap", pgbench("customScripts", []any{map[string]any{"key": "a.sql"}}), "spec.pgbench.customScripts[0].configMap: Required value"),
	benchmark("customScripts weight 0", pgbench("customScripts", []any{map[string]any{"configMap": "sql", "key": "a.sql", "weight": 0}}), "spec.pgbench.customScripts[0].weight in body should be greater than or equal to 1"),
	benchmark("bad protocol", pgbench("protocol", "simple"), `spec.pgbench.protocol: Unsupported value: "simple": supported values: "Simple", "Extended", "Prepared"`),
	benchmark("maxTries 0", pgbench("maxTries", 0), "spec.pgbench.maxTries: Invalid value: 0: spec.pgbench.maxTries in body should be greater than or equal to 1"),
	benchmark("repeats 21", pgbench("repeats", 21), "spec.pgbench.repeats: Invalid value: 21: spec.pgbench.repeats in body should be less than or equal to 20"),
	benchmark("rate 0", pgbench("rate", 0), "spec.pgbench.rate: Invalid value: 0: spec.pgbench.rate in body should be greater than or equal to 1"),
	benchmark("jobs 257", pgbench("jobs", 257), "spec.pgbench.jobs in body should be less than or equal to 256"),
	benchmark("transactions 0", pgbench("transactions", 0), "spec.pgbench.transactions in body should be greater than or equal to 1"),
	benchmark("bad integrity", pgbench("integrity", "None"), `spec.pgbench.integrity: Unsupported value: "None": supported values: "Full", "Basic"`),
	benchmark("bad cleanup", pgbench("cleanup", "Later"), `spec.pgbench.cleanup: Unsupported value: "Later": supported values: "Always", "OnSuccess", "Never"`),
	benchmark("spec changed", pgbench("scale", 20), "spec is immutable because a PgBenchmark is one run; create another PgBenchmark").updated(),
	benchmark("cluster changed", set("spec/cluster", "other"), "spec is immutable because a PgBenchmark is one run; create another PgBenchmark").updated(),

	// What facts decide.
	cluster("unknown profile", set("spec/profile", "nowhere"), `spec.profile: PgStorageProfile "nowhere" does not exist`).condition(),
	profile("class that does not exist", set("spec/external/storageClassName", "nowhere"), "StorageClass nowhere does not exist; create it, or make a profile that names one of kubectl get storageclass").condition(),
	benchmark("cluster that does not exist", set("spec/cluster", "nowhere"), "spec.cluster: PgStorageCluster nowhere does not exist in namespace", "create it, or choose one from kubectl -n").condition(),
	cluster("full_page_writes=off on a class that proves nothing", parameter("full_page_writes", "off"), "spec.postgres.parameters[full_page_writes]: off is unsafe: a page torn by a crash could not be repaired, and this kind of storage cannot be proved never to tear one. Remove it, or use a profile of type ZFSLocalPV or S3NBD").condition(),
	cluster("full_page_writes=0", parameter("full_page_writes", "0"), "spec.postgres.parameters[full_page_writes]: off is unsafe").condition(),
	cluster("unknown parameter", parameter("wrk_mem", "64MB"), "spec.postgres.parameters[wrk_mem]: PostgreSQL 17 has no such parameter; did you mean work_mem? Else remove it").condition(),
	cluster("parameter of a newer version", parameter("io_method", "worker"), "spec.postgres.parameters[io_method]: PostgreSQL 17 has no such parameter; ").condition(),
	cluster("parameter fixed by CloudNativePG", parameter("restart_after_crash", "on"), "spec.postgres.parameters[restart_after_crash]: CloudNativePG sets it itself and takes no other value; remove it").condition(),
	cluster("revocation list fixed by CloudNativePG", parameter("ssl_crl_file", "/tmp/crl"), "spec.postgres.parameters[ssl_crl_file]: CloudNativePG sets it itself and takes no other value; remove it").condition(),
	cluster("library by its path", parameter("session_preload_libraries", "/tmp/evil.so"), `spec.postgres.parameters[session_preload_libraries]: "/tmp/evil.so" is unsafe: Postgres would run a file from outside of the directories of its image`).condition(),
	cluster("ALTER SYSTEM by parameter", parameter("allow_alter_system", "on"), "spec.postgres.parameters[allow_alter_system]: ALTER SYSTEM is off so that the cluster runs as declared; remove it").condition(),
	cluster("parameter that only reports", parameter("block_size", "8192"), "spec.postgres.parameters[block_size]: Postgres reports it and does not let it be set; remove it").condition(),
	cluster("parameter with a wrong unit", parameter("work_mem", "64mb"), `spec.postgres.parameters[work_mem]: "64mb" has an unknown unit; use one of the units B, kB, MB, GB, TB (case matters)`).condition(),
	cluster("time with a wrong unit", parameter("checkpoint_timeout", "5m"), `spec.postgres.parameters[checkpoint_timeout]: "5m" has an unknown unit; use one of the units us, ms, s, min, h, d (case matters)`).condition(),
	cluster("parameter out of range", parameter("max_connections", "0"), `spec.postgres.parameters[max_connections]: "0" is outside 1 to 262143`).condition(),
	cluster("parameter that is no boolean", parameter("autovacuum", "perhaps"), `spec.postgres.parameters[autovacuum]: "perhaps" is not a boolean; use on or off`).condition(),
	cluster("parameter that is no choice", parameter("wal_compression", "brotli"), `spec.postgres.parameters[wal_compression]: "brotli" is not one of `).condition(),
	cluster("shared_buffers beyond memory", parameter("shared_buffers", "900MB"), "spec.postgres.parameters[shared_buffers]: 900MB leaves too little of the 1", "of memory for connections; use at most 768", "(three quarters), or raise spec.resources.requests.memory").condition(),
	cluster("memory that cannot hold shared_buffers", set("spec/resources/requests/memory", "512Mi"), "spec.postgres.parameters[shared_buffers]", "or raise spec.resources.requests.memory").with(parameter("shared_buffers", "600MB")).condition(),
	cluster("more connections than memory holds", parameter("max_connections", "500"), "spec.postgres.parameters[max_connections]: 500 does not fit the memory: ", "(500 connections + ", "let a pooler share them, or raise spec.resources.requests.memory to at least ").condition(),
	cluster("a time zone that is none", parameter("timezone", "Mars/Olympus"), `spec.postgres.parameters[timezone]: "Mars/Olympus" is not a time zone`).condition(),
	cluster("huge pages that are not requested", parameter("huge_pages", "on"), "spec.postgres.parameters[huge_pages]: on needs huge pages, and spec.resources requests none").condition(),
	cluster("work_mem beyond memory", parameter("work_mem", "2GB"), "spec.postgres.parameters[work_mem]: 2GB is not below the 1", "of memory; lower it, or raise spec.resources.requests.memory").condition(),
	cluster("max_wal_size beyond the volume", parameter("max_wal_size", "20GB"), "spec.postgres.parameters[max_wal_size]: 20GB is not below the 10", " data volume; lower it, or raise spec.storage.size").condition(),
	cluster("max_wal_size below two segments", parameter("max_wal_size", "16MB"), "spec.postgres.parameters[max_wal_size]: 16MB is below two WAL segments, with which Postgres does not start; use at least 32MB").condition(),
	cluster("reserved connections", parameter("superuser_reserved_connections", "100"), "spec.postgres.parameters[superuser_reserved_connections]: 100 leaves no connection for users", "raise max_connections or reserve fewer").with(parameter("max_connections", "50")).condition(),
	cluster("wal_level=minimal", parameter("wal_level", "minimal"), "spec.postgres.parameters[wal_level]: minimal is unsafe: archiving and standbys need replica or logical; remove it, or set logical or replica").condition(),
	cluster("zero_damaged_pages", parameter("zero_damaged_pages", "true"), "spec.postgres.parameters[zero_damaged_pages]: on is unsafe: damaged pages are erased instead of reported; remove it, and restore from a backup").condition(),
	cluster("ignore_checksum_failure", parameter("ignore_checksum_failure", "on"), "spec.postgres.parameters[ignore_checksum_failure]: on is unsafe: corrupt pages are read as if they were good and can spread; remove it, and restore from a backup").condition(),
	cluster("too few wal senders", parameter("max_wal_senders", "2"), "spec.postgres.parameters[max_wal_senders]: 2 is too few: 1 instances and backups need at least 3; raise or remove it").condition(),
	cluster("too few workers", parameter("max_worker_processes", "1"), "spec.postgres.parameters[max_worker_processes]: 1 is too few: replication and parallel queries share these; use at least 8, or remove it").condition(),

	// What the escape hatch does not open.
	hatch("instances", 3, "set spec.instances"),
	hatch("imageName", "registry.example/postgresql:17", "set spec.postgres.version or spec.postgres.image"),
	cluster("override imageCatalogRef.major", override("imageCatalogRef", map[string]any{"apiGroup": "postgresql.cnpg.io", "kind": "ClusterImageCatalog", "name": "c", "major": 16}), "spec.cnpg.spec.imageCatalogRef.major: not open to overrides: it is not the major of spec.postgres.version, 17, which decides the parameters that exist; set both to the same").condition(),
	hatch("storage.size", "1Gi", "set spec.storage.size"),
	hatch("storage.storageClass", "other", "set spec.profile"),
	hatch("storage.pvcTemplate.storageClassName", "other", "set spec.profile; the StorageClass of the profile may be repeated"),
	hatch("storage.pvcTemplate.resources.requests", map[string]any{"storage": "1Gi"}, "set spec.storage; the same size may be repeated"),
	hatch("storage.pvcTemplate.resources.limits", map[string]any{"storage": "1Gi"}, "a volume has the size of its request; remove it"),
	hatch("storage.pvcTemplate.volumeMode", "Block", "Postgres needs a file system"),
	hatch("walStorage.size", "1Gi", "set spec.storage.walSize"),
	hatch("walStorage.storageClass", "other", "set spec.profile"),
	hatch("walStorage.pvcTemplate.storageClassName", "other", "set spec.profile; the StorageClass of the profile may be repeated"),
	hatch("walStorage.pvcTemplate.resources.requests", map[string]any{"storage": "1Gi"}, "set spec.storage; the same size may be repeated"),
	hatch("walStorage.pvcTemplate.resources.limits", map[string]any{"storage": "1Gi"}, "a volume has the size of its request; remove it"),
	hatch("walStorage.pvcTemplate.volumeMode", "Block", "Postgres needs a file system"),
	hatch("resources", map[string]any{}, "set spec.resources: parameters are computed from it"),
	hatch("minSyncReplicas", 1, "with durability Quorum the operator chooses the standbys; set spec.quorum").with(set("spec/durability", "Quorum"), set("spec/instances", 2)),
	hatch("maxSyncReplicas", 1, "with durability Quorum the operator chooses the standbys; set spec.quorum").with(set("spec/durability", "Quorum"), set("spec/instances", 2)),
	hatch("postgresql.parameters", map[string]any{"fsync": "off"}, "set spec.postgres.parameters, which are checked"),
	hatch("postgresql.synchronous", map[string]any{"number": 1, "method": "any"}, "with durability Quorum the operator chooses the standbys; set spec.quorum").with(set("spec/durability", "Quorum"), set("spec/instances", 2)),
	hatch("postgresql.syncReplicaElectionConstraint", map[string]any{"enabled": true}, "with durability Quorum the operator chooses the standbys; set spec.quorum").with(set("spec/durability", "Quorum"), set("spec/instances", 2)),
	hatch("postgresql.enableAlterSystem", true, "ALTER SYSTEM would change parameters behind the checks; set spec.postgres.parameters"),
	hatch("bootstrap.initdb.database", "other", "set spec.postgres.database"),
	hatch("bootstrap.initdb.owner", "other", "set spec.postgres.owner"),
	hatch("bootstrap.initdb.dataChecksums", false, "data checksums are on; remove it, or set spec.defaults: CloudNativePG"),
	hatch("bootstrap.initdb.options", []string{"--no-sync"}, "initdb's options could turn checksums or fsync off; set the single fields of bootstrap.initdb"),
	hatch("replica", map[string]any{"enabled": true}, "a replica cluster follows another primary, whose durability tier this object could not state"),
	hatch("bootstrap.recovery.database", "other", "set spec.postgres.database"),
	hatch("bootstrap.recovery.owner", "other", "set spec.postgres.owner"),
	hatch("bootstrap.pg_basebackup.database", "other", "set spec.postgres.database"),
	hatch("bootstrap.pg_basebackup.owner", "other", "set spec.postgres.owner"),
	hatch("monitoring.enablePodMonitor", true, "the operator makes the PodMonitor; remove it, or set spec.monitoring.podMonitor: Disabled"),
	hatch("monitoring.podMonitorMetricRelabelings", []any{map[string]any{"action": "drop"}}, "the operator makes the PodMonitor; remove it, or set spec.monitoring.podMonitor: Disabled"),
	hatch("monitoring.podMonitorRelabelings", []any{map[string]any{"action": "drop"}}, "the operator makes the PodMonitor; remove it, or set spec.monitoring.podMonitor: Disabled"),
	cluster("override env", override("env", []any{map[string]any{"name": "PGOPTIONS", "value": "-c fsync=off"}}), "spec.cnpg.spec.env[0]: not open to overrides: PGOPTIONS changes what Postgres runs ").condition(),
	cluster("override envFrom", override("envFrom", []any{map[string]any{"configMapRef": map[string]any{"name": "e"}}}), "spec.cnpg.spec.envFrom[0].configMapRef.name: it sets any variable from objects that others change", "ask a cluster administrator to add envFrom.configMapRef.name to spec.allowedOverrides of PgStorageProfile ").condition(),

	// What it opens by consent of the profile alone, and what CloudNativePG would not take.
	cluster("override by consent", override("securityContext.privileged", true), "spec.cnpg.spec.securityContext.privileged: it decides the privileges of the containers on their node; remove or correct it, or ask a cluster administrator to add securityContext.privileged to spec.allowedOverrides of PgStorageProfile fast").condition(),
	cluster("override null", override("bootstrap.initdb.encoding", []any{nil}), "spec.cnpg.spec.bootstrap.initdb.encoding[0]: null is not a value; remove the field").condition(),
	cluster("override unknown", override("affinity.toplogyKey", "zone"), "spec.cnpg.spec.affinity.toplogyKey: CloudNativePG has no such field in the version that this operator was made for; correct its name or remove it").condition(),
	cluster("override of a wrong type", override("affinity.topologyKey", 7), "spec.cnpg.spec.affinity.topologyKey: Invalid value: ", "must be of type string").condition(),
	cluster("override against a rule", override("bootstrap.initdb.icuLocale", "de"), "icuLocale is only available when localeProvider is set to `icu`").condition(),
	cluster("image of another repository", set("spec/postgres/image", "registry.example/postgis:17"), "spec.postgres.image: registry.example/postgis:17 is not an image of ", "ask a cluster administrator to add imageName to spec.allowedOverrides of PgStorageProfile fast").condition(),

	// What time instances have.
	profile("time for instances without a reason", set("spec/instanceProbes", map[string]any{"liveness": "5m"}), "spec.instanceProbes.reason: Required value"),
	profile("a reason alone", set("spec/instanceProbes", map[string]any{"reason": "r"}), "spec.instanceProbes changes nothing; set timeout, liveness or startup, or remove it"),
	profile("a reason too long", set("spec/instanceProbes", map[string]any{"reason": strings.Repeat("r", 257), "liveness": "5m"}), "spec.instanceProbes.reason: Too long: may not be more than 256 bytes"),
	profile("a timeout of no time", set("spec/instanceProbes", map[string]any{"reason": "r", "timeout": "0s"}), "spec.instanceProbes.timeout must be between 1s and 60s, written as 20s"),
	profile("a timeout too long", set("spec/instanceProbes", map[string]any{"reason": "r", "timeout": "61s"}), "spec.instanceProbes.timeout must be between 1s and 60s, written as 20s"),
	profile("liveness too short", set("spec/instanceProbes", map[string]any{"reason": "r", "liveness": "29s"}), "spec.instanceProbes.liveness must be between 30s and 30m, written as 90s or 5m"),
	profile("liveness too long", set("spec/instanceProbes", map[string]any{"reason": "r", "liveness": "31m"}), "spec.instanceProbes.liveness must be between 30s and 30m, written as 90s or 5m"),
	profile("liveness without a unit", set("spec/instanceProbes", map[string]any{"reason": "r", "liveness": "300"}), "spec.instanceProbes.liveness must be between 30s and 30m, written as 90s or 5m"),
	profile("startup too long", set("spec/instanceProbes", map[string]any{"reason": "r", "startup": "25h"}), "spec.instanceProbes.startup must be between 1m and 24h, written as 90s, 10m or 2h"),
	profile("startup too short", set("spec/instanceProbes", map[string]any{"reason": "r", "startup": "59s"}), "spec.instanceProbes.startup must be between 1m and 24h, written as 90s, 10m or 2h"),

	// What consent is.
	profile("consent by a wildcard", set("spec/allowedOverrides", []any{"*"}), "spec.allowedOverrides: an entry is the path of a field that needs consent, a field above or one below, as securityContext or managed.roles.superuser, without indexes or wildcards; docs/spec/pgstoragecluster.md lists them"),
	profile("consent by an index", set("spec/allowedOverrides", []any{"plugins", "managed.roles[0].superuser"}), "spec.allowedOverrides: an entry is the path"),
	profile("consent to what is closed", set("spec/allowedOverrides", []any{"postgresql.parameters"}), "spec.allowedOverrides: an entry is the path"),
	profile("consent to nothing", set("spec/allowedOverrides", []any{"securtyContext"}), "spec.allowedOverrides: an entry is the path"),
	profile("consent twice", set("spec/allowedOverrides", []any{"plugins", "plugins"}), `spec.allowedOverrides[1]: Duplicate value: "plugins"`),
	profile("consent of no name", set("spec/allowedOverrides", []any{""}), "spec.allowedOverrides[0] in body should be at least 1 chars long"),
	profile("consent of a long name", set("spec/allowedOverrides", []any{strings.Repeat("a", 129)}), "spec.allowedOverrides[0]: Too long: may not be more than 128 bytes"),
	profile("65 consents", set("spec/allowedOverrides", below("plugins.", 65)), "spec.allowedOverrides: Too many: 65: must have at most 64 items"),
}, matrixRows(), layersRows(), scheduleRows(), zfsRows(), s3Rows(), cephRows(), memoryRows(), topologyRows(), backupRows(), branchRows(), quantityRows(), guidRows(), statusRows())

// below are n different paths below a field.
func below(field string, n int) []any {
	var out []any
	for range n {
		field += "a"
		out = append(out, field)
	}
	return out
}

// hatch is a field of CloudNativePG that spec.cnpg.spec does not reach.
func hatch(path string, value any, remedy string) row {
	return cluster("override "+path, override(path, value), "spec.cnpg.spec."+path+": not open to overrides: "+remedy).condition()
}

func pools(pool map[string]any) []any {
	if pool == nil {
		pool = map[string]any{"instances": 1}
	}
	return []any{pool}
}

func manyPools(n int) []any {
	var out []any
	for i := range n {
		out = append(out, map[string]any{"name": fmt.Sprintf("pool-%d", i)})
	}
	return out
}
