//go:build linux

package zerofs

import (
	"os"
	"path/filepath"
	"testing"
)

const want = `[cache]
dir = "/var/lib/zerofs/cache"
disk_size_gb = 1
memory_size_gb = 0.1
[storage]
encryption_password = "quo\"te and $$dollar"
url = "s3://pool/node"
[servers.nbd]
unix_socket = "/var/lib/zerofs/nbd.sock"
[servers.ninep]
unix_socket = "/var/lib/zerofs/9p.sock"
[servers.rpc]
unix_socket = "/var/lib/zerofs/rpc.sock"
[lsm]
flush_interval_secs = 5
l0_max_ssts = 1000000
[aws]
access_key_id = "key"
allow_http = "true"
default_region = "us-east-1"
endpoint = "http://10.0.2.2:7070"
secret_access_key = "secret"
`

func TestRender(t *testing.T) {
	c := Config{
		Bucket: "pool", Prefix: "node", Endpoint: "http://10.0.2.2:7070", AccessKey: "key", SecretKey: "secret",
		Region: "us-east-1", Password: `quo"te and $dollar`, Dir: "/var/lib/zerofs", FlushSeconds: 5,
	}
	if got := c.render(); got != want {
		t.Errorf("got:\n%s\nwant:\n%s", got, want)
	}
}

func TestWriteKeepsSecrets(t *testing.T) {
	c := Config{Dir: filepath.Join(t.TempDir(), "zerofs")}
	if err := c.Write(); err != nil {
		t.Fatal(err)
	}
	info, err := os.Stat(c.Path())
	if err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("%v, %v", info.Mode(), err)
	}
}
