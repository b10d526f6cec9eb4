package naming

import (
	"fmt"
	"strconv"
	"strings"
	"time"
)

// InlineBenchmark is the name of the PgBenchmark for a cluster's inline benchmark. A
// change of the spec changes the name, because a run is immutable.
func InlineBenchmark(cluster string, spec any) string {
	const room = 50 - 9
	if len(cluster) > room {
		cluster = cluster[:room]
	}
	return cluster + "-" + Hash(spec)[:8]
}

// BenchmarkObject is the name of a benchmark's Job, ConfigMap, ServiceAccount, Role,
// RoleBinding, Database, DatabaseRole and Secret. The UID in it prevents a collision
// with an object of another owner, so none has to be read first.
func BenchmarkObject(benchmark, uid string) string { return benchmark + "-" + Hash(uid)[:8] }

// BenchmarkChecker is the name of the DatabaseRole and Secret of the superuser that
// observes the server.
func BenchmarkChecker(benchmark, uid string) string { return BenchmarkObject(benchmark, uid) + "-chk" }

// BenchmarkRecord is the ConfigMap that the runs of a benchmark are kept in.
func BenchmarkRecord(benchmark, uid string) string {
	return BenchmarkObject(benchmark, uid) + "-record"
}

// BenchmarkDatabase is the database, and the role that owns it, of a benchmark.
func BenchmarkDatabase(uid string) string { return BenchmarkPrefix + "_" + Hash(uid)[:10] }

// BenchmarkCheckRole is the superuser role that observes the server of a benchmark.
func BenchmarkCheckRole(uid string) string { return "pgstorage_check_" + Hash(uid)[:10] }

// ScheduledBenchmark is the PgBenchmark that a schedule makes for one of its times, by
// the minute since 1970 as a CronJob's Jobs.
func ScheduledBenchmark(schedule string, at time.Time) string {
	return fmt.Sprintf("%s-%d", schedule, at.Unix()/60)
}

// MatrixRun is the PgBenchmark of one run of a matrix. The hash includes the UID of the
// PgBenchmark with the matrix, so that a later one of the same name does not collide
// with it.
func MatrixRun(benchmark, uid, variant string, repeat int) string {
	const room = 50 - len("-r20-") - 8
	name := strings.TrimRight(benchmark[:min(len(benchmark), room)], "-.")
	return fmt.Sprintf("%s-r%d-%s", name, repeat, Hash([]string{uid, variant, strconv.Itoa(repeat)})[:8])
}

// MatrixCluster is the PgStorageCluster that a matrix makes for a target. Its name
// begins with a letter and has no dots, as CloudNativePG wants it.
func MatrixCluster(benchmark, uid, target string) string {
	const room = 50 - len("pgb-") - 1 - 8
	name := strings.ReplaceAll(benchmark, ".", "-")
	name = strings.TrimRight(name[:min(len(name), room)], "-")
	return "pgb-" + name + "-" + Hash([]string{uid, target})[:8]
}
