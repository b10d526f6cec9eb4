//go:build release

// Package release_test makes a whole release with hack/release.sh, for a stand-in of the hosts
// that publish it, and verifies each part as its users would. HELM and COSIGN name the programs.
package release_test

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
)

const (
	image    = "ghcr.io/pgstorage/pgstorage"
	chart    = "ghcr.io/pgstorage/charts/pgstorage"
	version  = "v0.1.0"
	download = "hosts/github.com/pgstorage/pgstorage/releases/"
)

// release is what hack/release.sh made and published, once for all tests.
var release struct {
	// out is the OUT of the script, assets the files of the release.
	out, assets string
	// key is the private key that signed; key + ".pub" verifies.
	key string
	// env of commands that reach the stand-in.
	env []string
}

func TestMain(m *testing.M) {
	os.Exit(run(m))
}

func run(m *testing.M) int {
	folder, err := os.MkdirTemp("", "release")
	if err == nil {
		defer func() { _ = os.RemoveAll(folder) }()
		var stop func()
		stop, err = prepare(folder)
		defer stop()
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	return m.Run()
}

// prepare the release: every stage, published to a stand-in that listens on loopback.
func prepare(folder string) (stop func(), err error) {
	stop = func() {}
	release.out, release.assets = filepath.Join(folder, "dist"), filepath.Join(folder, "dist/assets")
	release.key = filepath.Join(folder, "cosign.key")
	release.env = append(os.Environ(), "OUT="+release.out, "DRY_RUN=1", "COSIGN_KEY="+release.key, "COSIGN_PASSWORD=",
		// Nothing of the user's configuration, and no credentials.
		"DOCKER_CONFIG="+folder, "HELM_CONFIG_HOME="+folder, "HELM_CACHE_HOME="+folder, "HELM_DATA_HOME="+folder, "TUF_ROOT="+folder)
	if err := stage("build", version); err != nil {
		return stop, err
	}
	stop, env, err := standIn(folder)
	if err != nil {
		return stop, err
	}
	release.env = append(release.env, env...)
	if out, err := command(folder, os.Getenv("COSIGN"), "generate-key-pair"); err != nil {
		return stop, fmt.Errorf("key: %w: %s", err, out)
	}
	if err := os.Rename(filepath.Join(folder, "cosign.pub"), release.key+".pub"); err != nil {
		return stop, err
	}
	for _, link := range []string{"download/" + version, "latest/download"} {
		path := filepath.Join(folder, download, link)
		if err := os.MkdirAll(filepath.Dir(path), 0o750); err != nil {
			return stop, err
		}
		if err := os.Symlink(release.assets, path); err != nil {
			return stop, err
		}
	}
	if err := stage("publish", version); err != nil {
		return stop, err
	}
	return stop, stage("sign", version)
}

func stage(args ...string) error {
	out, err := command("", filepath.Join(root, "hack/release.sh"), args...)
	if err != nil {
		return fmt.Errorf("hack/release.sh %s: %w\n%s", strings.Join(args, " "), err, out)
	}
	return nil
}

// standIn starts the program that answers for ghcr.io and github.com, and returns the
// variables that lead commands to it.
func standIn(folder string) (stop func(), env []string, err error) {
	cmd := exec.CommandContext(context.Background(), filepath.Join(release.out, "work/release"), "stand-in", "127.0.0.1", folder)
	cmd.Stderr = os.Stderr
	if err := cmd.Start(); err != nil {
		return func() {}, nil, fmt.Errorf("stand-in: %w", err)
	}
	ended := make(chan error, 1)
	go func() { ended <- cmd.Wait() }()
	stop = func() {
		_ = cmd.Process.Signal(syscall.SIGTERM)
		<-ended //nolint:errcheck // the signal ended it
	}
	limit, tick := time.After(30*time.Second), time.NewTicker(20*time.Millisecond)
	defer tick.Stop()
	for {
		content, err := os.ReadFile(filepath.Join(folder, "env"))
		if err == nil {
			for line := range strings.Lines(string(content)) {
				env = append(env, strings.TrimSpace(strings.TrimPrefix(line, "export ")))
			}
			return stop, env, nil
		}
		select {
		case err := <-ended:
			ended <- err
			return stop, nil, fmt.Errorf("the stand-in ended: %w", err)
		case <-limit:
			return stop, nil, fmt.Errorf("the stand-in is not ready after 30 s")
		case <-tick.C:
		}
	}
}

// command runs a program in a folder, with the release's environment.
func command(folder, program string, args ...string) (string, error) {
	cmd := exec.CommandContext(context.Background(), program, args...)
	var out bytes.Buffer
	cmd.Dir, cmd.Env, cmd.Stdout, cmd.Stderr = folder, release.env, &out, &out
	err := cmd.Run()
	return out.String(), err
}

func must(t *testing.T, program string, args ...string) string {
	t.Helper()
	out, err := command(t.TempDir(), program, args...)
	if err != nil {
		t.Fatalf("%s %s: %v\n%s", filepath.Base(program), strings.Join(args, " "), err, out)
	}
	return out
}
