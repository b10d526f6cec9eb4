//go:build linux

package zerofs

import (
	"cmp"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
)

// Config is as much of ZeroFS's as its tests need, in keys that 0.19 and 2 share.
type Config struct {
	// Bucket and Prefix belong to one ZeroFS: a second one takes them over.
	Bucket, Prefix string
	// Endpoint, AccessKey, SecretKey and Region of the store.
	Endpoint, AccessKey, SecretKey, Region string
	// Password that the data is encrypted with.
	Password string
	// Dir has the cache, the sockets, and all else that one ZeroFS has locally. Its
	// path is short: a socket's has at most 107 bytes.
	Dir string
	// FlushSeconds between the flushes of ZeroFS's own; its default 30, if 0.
	FlushSeconds int
	// L0MaxSSTs is how many flushes may wait for a compaction. ZeroFS 0.19 acknowledges one
	// more without storing it, and a clean stop does not store it either. Its own number is 16.
	// If 0, the tests use a number that they never reach.
	L0MaxSSTs int
}

// NBD is the socket of its devices.
func (c Config) NBD() string { return filepath.Join(c.Dir, "nbd.sock") }

// NineP is the socket of its file system.
func (c Config) NineP() string { return filepath.Join(c.Dir, "9p.sock") }

// RPC is the socket of its own client.
func (c Config) RPC() string { return filepath.Join(c.Dir, "rpc.sock") }

// Path of the file with the configuration.
func (c Config) Path() string { return filepath.Join(c.Dir, "zerofs.toml") }

// cacheGB is small: a test has few data, and a guest's disk little room.
const cacheGB = "1"

const neverFull = 1_000_000

func (c Config) tables() []table {
	return []table{
		{"cache", keys{"dir": quoted(filepath.Join(c.Dir, "cache")), "disk_size_gb": cacheGB, "memory_size_gb": "0.1"}},
		{"storage", keys{"url": quoted("s3://" + c.Bucket + "/" + c.Prefix), "encryption_password": quoted(c.Password)}},
		{"servers.nbd", keys{"unix_socket": quoted(c.NBD())}},
		{"servers.ninep", keys{"unix_socket": quoted(c.NineP())}},
		{"servers.rpc", keys{"unix_socket": quoted(c.RPC())}},
		{"lsm", c.lsm()},
		{"aws", keys{
			"access_key_id": quoted(c.AccessKey), "secret_access_key": quoted(c.SecretKey),
			"default_region": quoted(c.Region), "endpoint": quoted(c.Endpoint), "allow_http": `"true"`,
		}},
	}
}

func (c Config) lsm() keys {
	set := keys{"l0_max_ssts": strconv.Itoa(cmp.Or(c.L0MaxSSTs, neverFull))}
	if c.FlushSeconds != 0 {
		set["flush_interval_secs"] = strconv.Itoa(c.FlushSeconds)
	}
	return set
}

// quoted is a string of TOML. ZeroFS takes one dollar for a variable.
func quoted(text string) string {
	return strconv.Quote(strings.ReplaceAll(text, "$", "$$"))
}

type keys map[string]string

type table struct {
	name string
	keys keys
}

func (c Config) render() string {
	var b strings.Builder
	for _, t := range c.tables() {
		fmt.Fprintf(&b, "[%s]\n", t.name)
		for _, key := range slices.Sorted(maps.Keys(t.keys)) {
			fmt.Fprintf(&b, "%s = %s\n", key, t.keys[key])
		}
	}
	return b.String()
}

// Write makes the file, which has secrets, and the folder.
func (c Config) Write() error {
	if err := os.MkdirAll(c.Dir, 0o700); err != nil {
		return err
	}
	return os.WriteFile(c.Path(), []byte(c.render()), 0o600)
}
