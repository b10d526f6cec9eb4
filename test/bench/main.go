// Command bench measures what this project claims: what a reconcile and a benchmark's
// runner cost, and what each storage profile is worth. Each benchmark compares within one
// run, prints its figures, writes its page of docs/benchmarks, and fails where it misses a
// mark.
package main

import (
	"github.com/pgstorage/pgstorage/test/bench/harness"
	"github.com/pgstorage/pgstorage/test/bench/reconcile"
)

func main() {
	harness.Main(append([]harness.Benchmark{reconcile.Benchmark}, onLinux...)...)
}
