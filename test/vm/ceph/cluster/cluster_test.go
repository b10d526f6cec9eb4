//go:build linux

package cluster

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"path/filepath"
	"testing"
	"time"

	"github.com/pgstorage/pgstorage/api/v1alpha1"
	"github.com/pgstorage/pgstorage/internal/node/zfs"
)

func TestCleanNeedsEveryPlacementGroup(t *testing.T) {
	for _, tc := range []struct {
		name, text string
		want       bool
	}{
		{"all", `{"pg_ready":true,"pg_summary":{"num_pg_by_state":[{"name":"active+clean","num":30},{"name":"active+clean+scrubbing","num":3}],"num_pgs":33}}`, true},
		{"some are not known yet", `{"pg_ready":true,"pg_summary":{"num_pg_by_state":[{"name":"unknown","num":32},{"name":"active+clean","num":1}],"num_pgs":33}}`, false},
		{"a copy is missing", `{"pg_ready":true,"pg_summary":{"num_pg_by_state":[{"name":"active+undersized+degraded","num":33}],"num_pgs":33}}`, false},
		{"no OSD has reported yet", `{"pg_ready":false,"pg_summary":{"num_pg_by_state":[{"name":"active+clean","num":33}],"num_pgs":33}}`, false},
		{"no pool yet", `{"pg_ready":true,"pg_summary":{"num_pg_by_state":[],"num_pgs":0}}`, false},
	} {
		t.Run(tc.name, func(t *testing.T) {
			var p placed
			if err := json.Unmarshal([]byte(tc.text), &p); err != nil {
				t.Fatal(err)
			}
			if got := p.clean(1); got != tc.want {
				t.Errorf("%v", got)
			}
		})
	}
}

// inherits compares only what a zvol inherits with its parent, in whatever words it was
// declared.
func TestOnlyInheritedPropertiesAreCompared(t *testing.T) {
	declared := []v1alpha1.ZFSProperty{{Name: "compression", Value: "lz4"}, {Name: "sync", Value: "standard"}, {Name: "quota", Value: "none"}, {Name: "atime", Value: "off"}}
	seen := zfs.Dataset{Name: "tank/pgblock/pvc-a", Kind: zfs.Volume, Properties: map[string]zfs.Property{
		"compression": {Value: "lz4", Source: "inherited from tank/pgblock"}, "sync": {Value: "standard", Source: "default"},
	}}
	if err := inherits(seen, declared); err != nil {
		t.Error(err)
	}
	seen.Properties["sync"] = zfs.Property{Value: "disabled", Source: "local"}
	if err := inherits(seen, declared); err == nil {
		t.Error("sync=disabled, and no error")
	}
}

// A daemon's admin socket takes a command that ends with a zero byte, and answers with a
// length and JSON.
func TestAskReadsALengthAndJSON(t *testing.T) {
	path := filepath.Join(t.TempDir(), "osd.0.asok")
	listener, err := net.Listen("unix", path)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = listener.Close() })
	asked := make(chan string, 1)
	go func() {
		conn, err := listener.Accept()
		if err != nil {
			return
		}
		defer conn.Close() //nolint:errcheck // a test
		var command []byte
		for b := make([]byte, 1); len(command) == 0 || command[len(command)-1] != 0; {
			if _, err := conn.Read(b); err != nil {
				return
			}
			command = append(command, b[0])
		}
		asked <- string(bytes.TrimRight(command, "\x00"))
		const answer = `{"state": "active"}`
		_ = binary.Write(conn, binary.BigEndian, uint32(len(answer)))
		_, _ = conn.Write([]byte(answer))
	}()
	var status struct{ State string }
	if err := askAt(path, map[string]string{"prefix": "status"}, &status); err != nil || status.State != "active" {
		t.Errorf("%+v, %v", status, err)
	}
	if got, want := <-asked, `{"prefix":"status"}`; got != want {
		t.Errorf("asked %s, want %s", got, want)
	}
}

func TestUntilEndsAtItsLimit(t *testing.T) {
	dead := fmt.Errorf("mon.a: %w", errDead)
	for _, tc := range []struct {
		name  string
		limit time.Duration
		there func() (bool, error)
		want  error
	}{
		{"it is there", time.Hour, func() (bool, error) { return true, nil }, nil},
		{"a daemon has died", time.Hour, func() (bool, error) { return false, dead }, errDead},
		{"its time is over", -1, func() (bool, error) { return false, errStuck }, errStuck},
	} {
		t.Run(tc.name, func(t *testing.T) {
			if err := until(t.Context(), "x", tc.limit, tc.there); !errors.Is(err, tc.want) {
				t.Errorf("%v, want %v", err, tc.want)
			}
		})
	}
}

// A command's output is its standard output; what went wrong is in its error.
func TestRunReturnsStandardOutput(t *testing.T) {
	out, err := run(t.Context(), "sh", "-c", "echo out; echo problem >&2")
	if err != nil || out != "out\n" {
		t.Errorf("%q, %v", out, err)
	}
	_, err = run(t.Context(), "sh", "-c", "echo problem >&2; exit 3")
	if want := "sh -c echo problem >&2; exit 3: exit status 3: problem\n"; err == nil || err.Error() != want {
		t.Errorf("%v, want %q", err, want)
	}
}
