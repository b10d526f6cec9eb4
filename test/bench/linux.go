//go:build linux

package main

import (
	"github.com/pgstorage/pgstorage/test/bench/ceph"
	"github.com/pgstorage/pgstorage/test/bench/harness"
	"github.com/pgstorage/pgstorage/test/bench/runner"
	"github.com/pgstorage/pgstorage/test/bench/s3nbd"
	"github.com/pgstorage/pgstorage/test/bench/zfs"
)

// onLinux are the benchmarks that need a virtual machine or read the host's processors.
var onLinux = []harness.Benchmark{runner.Benchmark, zfs.Benchmark, s3nbd.Benchmark, ceph.Benchmark}
