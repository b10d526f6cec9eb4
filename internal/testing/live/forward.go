package live

import (
	"bufio"
	"os"
	"os/exec"
	"regexp"
	"testing"
	"time"

	"github.com/pgstorage/pgstorage/internal/testing/process"
)

var forwarding = regexp.MustCompile(`^Forwarding from (127\.0\.0\.1:\d+) `)

// Forwarded is an address of this machine that leads to the metrics of the manager until the
// test ends.
func Forwarded(t *testing.T) string {
	t.Helper()
	cmd := exec.Command("kubectl", "-n", OperatorNamespace, "port-forward", "deployment/pgstorage-manager", ":8443") //nolint:noctx // it ends with the test
	read, write, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	cmd.Stdout, cmd.Stderr = write, os.Stderr
	p, err := process.Start(cmd)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = p.Kill()
		_, _ = read.Close(), write.Close()
	})
	if err := read.SetReadDeadline(time.Now().Add(time.Minute)); err != nil {
		t.Fatal(err)
	}
	lines := bufio.NewScanner(read)
	for lines.Scan() {
		if m := forwarding.FindStringSubmatch(lines.Text()); m != nil {
			return m[1]
		}
	}
	t.Fatalf("kubectl port-forward says no address: %v", lines.Err())
	return ""
}
