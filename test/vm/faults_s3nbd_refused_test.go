//go:build vm

package vm_test

import (
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/pgstorage/pgstorage/internal/testing/s3"
	"github.com/pgstorage/pgstorage/internal/testing/zerofs"
	"github.com/pgstorage/pgstorage/test/vm/s3nbd/declare"
)

// refusal of a store that is not as required.
type refusal struct {
	name   string
	change func(*declare.Store)
	// preflight and server are the reasons that they report. Where the preflight has one, the
	// kubelet does not start the server; only an administrator who starts it by hand sees the
	// server's reason. The test does not run a program whose reason is empty.
	preflight, server string
	// skew of the guest's clock, as date takes it.
	skew string
	// adds is what names of new objects contain. ZeroFS 0.19.1 opens its database, and takes it
	// from another writer, before it checks the password.
	adds string
}

var refusals = []refusal{
	{"key", func(s *declare.Store) { s.AccessKey = "somebody-else" }, "CredentialsRejected", "CredentialsRejected", "", ""},
	{"secret", func(s *declare.Store) { s.SecretKey = "of-somebody-else" }, "CredentialsRejected", "CredentialsRejected", "", ""},
	{"password", func(s *declare.Store) { s.Password = "another password" }, "", "PasswordWrong", "", "/manifest/"},
	{"short", func(s *declare.Store) { s.Password = "short" }, "PasswordInvalid", "", "", ""},
	{"bucket", func(s *declare.Store) { s.Bucket = "nowhere" }, "BucketNotFound", "BucketNotFound", "", ""},
	{"foreign", func(s *declare.Store) { s.Bucket = "foreign" }, "PrefixNotEmpty", "", "", ""},
	{"ahead", func(*declare.Store) {}, "ClockSkew", "", "+1 hour", ""},
	{"behind", func(*declare.Store) {}, "ClockSkew", "", "-2 hours", ""},
}

// An unsuitable store has a reason of its own, and a refusal changes and deletes nothing in the
// buckets.
func TestS3NBDUnsuitableStoresAreRefused(t *testing.T) {
	t.Parallel()
	store := bucketStore(t, "main", "foreign")
	formatted(t, store)
	if err := store.Put("foreign", declare.Prefix()+"/letters/2019.txt", "of somebody else"); err != nil {
		t.Fatal(err)
	}
	var stores []declare.Store
	for _, r := range refusals {
		declared := declaredStore(r.name, "main", store)
		r.change(&declared)
		stores = append(stores, declared)
	}
	s := newNode(t, stackPrograms(t), stores)
	s.power()
	for _, r := range refusals {
		before := contents(t, store)
		if r.skew != "" {
			s.do("sh date -s '%s'", r.skew)
		}
		s.refuses("preflight "+r.name, r.preflight)
		if r.server != "" {
			s.do("serve %s", r.name)
			s.refuses("fails "+r.name, r.server)
		}
		r.leaves(t, before, contents(t, store))
	}
	formatted(t, store) // it still opens by the right password
}

// leaves checks that the buckets are as they were, except for what the refusal adds.
func (r refusal) leaves(t *testing.T, before, after map[string]string) {
	t.Helper()
	for name := range before {
		if after[name] != before[name] {
			t.Errorf("%s: object %s changed or is gone", r.name, name)
		}
	}
	for name := range after {
		if before[name] == "" && (r.adds == "" || !strings.Contains(name, r.adds)) {
			t.Errorf("%s: object %s is new", r.name, name)
		}
	}
}

// refuses checks the reason of a refusal; without a reason, the store must be accepted.
func (s *stack) refuses(word, reason string) {
	s.Helper()
	said := s.do("%s", word)
	fmt.Printf("refused: %s: %s\n", word, said)
	if !strings.HasPrefix(said, reason+":") && reason+said != "" {
		s.Errorf("%s said %q, want %s", word, said, reason)
	}
}

// formatted has a ZeroFS format the store, so that another password cannot open it.
func formatted(t *testing.T, store *s3.Store) {
	t.Helper()
	program, err := zerofs.Program(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	dir, err := os.MkdirTemp("", "zerofs") //nolint:usetesting // a socket's path is short
	if err != nil {
		t.Fatal(err)
	}
	defer os.RemoveAll(dir) //nolint:errcheck // of a test
	server, err := zerofs.Start(t.Context(), zerofs.Options{Program: program, Config: nativeConfig(store, dir)})
	if err != nil {
		t.Fatal(err)
	}
	if err := server.Stop(time.Minute); err != nil {
		t.Fatal(err)
	}
}

// nativeConfig of a ZeroFS on this host, which opens the prefix of the guest's.
func nativeConfig(store *s3.Store, dir string) zerofs.Config {
	return zerofs.Config{
		Bucket: "main", Prefix: declare.Prefix(), Endpoint: store.Endpoint("127.0.0.1"), Region: s3.Region,
		AccessKey: store.AccessKey, SecretKey: store.SecretKey, Password: password, Dir: dir,
	}
}

func contents(t *testing.T, store *s3.Store) map[string]string {
	t.Helper()
	all := map[string]string{}
	for _, bucket := range []string{"main", "foreign"} {
		objects, err := store.Objects(bucket)
		if err != nil {
			t.Fatal(err)
		}
		for name, digest := range objects {
			all[bucket+"/"+name] = digest
		}
	}
	return all
}
