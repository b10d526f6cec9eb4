//go:build linux

package apiserver

import (
	"bufio"
	"fmt"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"
)

// role in the environment makes this test binary another program.
const role = "PGSTORAGE_TEST_ROLE"

func TestMain(m *testing.M) {
	switch os.Getenv(role) {
	case "":
		os.Exit(m.Run())
	case "test":
		_, _, err := Start(CRDs{WithoutOurs: true})
		fmt.Fprintln(os.Stderr, err) // it is to be killed before
	case "etcd":
		beHealthy()
	}
	os.Exit(1)
}

// beHealthy is as much of etcd as envtest waits for before it starts kube-apiserver.
func beHealthy() {
	for _, argument := range os.Args {
		if address, found := strings.CutPrefix(argument, "--listen-client-urls=http://"); found {
			listener, err := net.Listen("tcp", address)
			if err != nil {
				fmt.Fprintln(os.Stderr, err)
				return
			}
			_ = http.Serve(listener, http.HandlerFunc(func(http.ResponseWriter, *http.Request) {}))
		}
	}
}

// programs are stand-ins that print their process IDs, unless envtest asks for their flags.
var programs = map[string]string{
	"etcd":           role + `=etcd exec "$TEST_BINARY" "$@"`,
	"kube-apiserver": "exec sleep 1000",
}

// A test that is killed does not stop its API server. Both programs hold the write end of a
// pipe: its end of file is the end of the last of them.
func TestAPIServerEndsWithTheTest(t *testing.T) {
	cmd, output := startTest(t)
	lines := bufio.NewScanner(output)
	for range programs {
		lines.Scan()
		pid, err := strconv.Atoi(lines.Text())
		if err != nil {
			t.Fatalf("a program prints %q, %v", lines.Text(), lines.Err())
		}
		t.Cleanup(func() {
			if t.Failed() {
				_ = syscall.Kill(pid, syscall.SIGKILL)
			}
		})
	}
	if err := cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	if lines.Scan(); lines.Err() != nil {
		t.Errorf("a program outlives the test: %v", lines.Err())
	}
	_ = cmd.Wait()
}

// startTest starts a test with an API server of the stand-ins, and returns what they print within
// a minute.
func startTest(t *testing.T) (*exec.Cmd, *os.File) {
	t.Helper()
	assets := t.TempDir()
	for name, ends := range programs {
		script := "#!/bin/sh\n[ \"$1\" != --help ] || exit 0\necho $$\n" + ends + "\n"
		if err := os.WriteFile(filepath.Join(assets, name), []byte(script), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	reader, writer, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(t.Context(), os.Args[0])
	cmd.Env = append(os.Environ(), role+"=test", "TEST_BINARY="+os.Args[0], "KUBEBUILDER_ASSETS="+assets, "KUBEBUILDER_ATTACH_CONTROL_PLANE_OUTPUT=true")
	cmd.Stdout, cmd.Stderr = writer, os.Stderr
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	if err := writer.Close(); err != nil {
		t.Fatal(err)
	}
	if err := reader.SetReadDeadline(time.Now().Add(time.Minute)); err != nil {
		t.Fatal(err)
	}
	return cmd, reader
}
