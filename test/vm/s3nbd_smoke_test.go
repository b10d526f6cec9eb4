//go:build vm

package vm_test

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/pgstorage/pgstorage/internal/testing/s3"
	"github.com/pgstorage/pgstorage/internal/testing/vm"
	"github.com/pgstorage/pgstorage/internal/testing/zerofs"
)

const (
	// hostOfGuest is this host's loopback for a guest.
	hostOfGuest = "10.0.2.2"
	// s3nbdTime bounds a guest's work on a pool over a bucket.
	s3nbdTime = 5 * time.Minute
)

// A pool over a bucket outlives its node: all that it needs is in the bucket. ZeroFS
// runs in the guest, as on a real node; the store is here.
func TestS3NBDSmoke(t *testing.T) {
	t.Parallel()
	store := bucketStore(t, "pool")
	payload := zerofsPayload(t, zerofs.Config{
		Bucket: "pool", Prefix: "node", Endpoint: store.Endpoint(hostOfGuest), Region: s3.Region,
		AccessKey: store.AccessKey, SecretKey: store.SecretKey,
		Password: "correct horse battery staple", Dir: "/var/lib/zerofs",
	})
	payload["run"] = guestBinary(t, "test/vm/s3nbd")

	m := smoke(t, payload, "TestWrite")
	line, err := m.WaitFor(t.Context(), "smoke: wrote ")
	if err != nil {
		t.Fatal(err)
	}
	powersOff(t, m)
	fmt.Printf("requests of the boot that wrote:\n%s\n", store.ResetCounts())
	var guid, hash string
	if _, err := fmt.Sscanf(line, "smoke: wrote %s %s", &guid, &hash); err != nil {
		t.Fatal(err)
	}
	powersOff(t, smoke(t, payload, "TestRead", "PGSTORAGE_POOL="+guid, "PGSTORAGE_HASH="+hash))
	fmt.Printf("requests of the boot that read:\n%s\n", store.Counts())
}

// smoke boots for one test of test/vm/s3nbd.
func smoke(t *testing.T, payload map[string]string, test string, env ...string) *vm.Machine {
	t.Helper()
	return boot(t, vm.Options{
		Payload: payload, Args: []string{"-test.v", "-test.run=^" + test + "$", "-test.timeout=" + s3nbdTime.String()},
		Env: env, Timeout: s3nbdTime + bootTime, Console: &tally{name: test, to: os.Stdout},
	})
}

func powersOff(t *testing.T, m *vm.Machine) {
	t.Helper()
	result, err := m.Wait(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if result.ExitCode != 0 {
		t.Fatalf("the guest ended with exit code %d", result.ExitCode)
	}
}

// bucketStore is an S3 server of this host that ends with the test.
func bucketStore(t *testing.T, buckets ...string) *s3.Store {
	t.Helper()
	program, err := s3.Program(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	store, err := s3.Start(t.Context(), s3.Options{Program: program, Dir: t.TempDir(), Buckets: buckets, Log: os.Stderr})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = store.Close() })
	return store
}

// zerofsPayload has the program and its configuration for the guest.
func zerofsPayload(t *testing.T, config zerofs.Config) map[string]string {
	t.Helper()
	program, err := zerofs.Program(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	content, err := json.Marshal(config)
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "zerofs.json")
	if err := os.WriteFile(path, content, 0o600); err != nil {
		t.Fatal(err)
	}
	return map[string]string{"zerofs": program, "zerofs.json": path}
}
