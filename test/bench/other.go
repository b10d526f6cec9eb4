//go:build !linux

package main

import "github.com/pgstorage/pgstorage/test/bench/harness"

var onLinux []harness.Benchmark
