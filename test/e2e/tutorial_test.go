//go:build e2e

package e2e

import (
	"crypto/rand"
	"os"
	"testing"

	"github.com/pgstorage/pgstorage/internal/testing/s3pod"
	"github.com/pgstorage/pgstorage/internal/testing/walkthrough"
)

// TestTutorials types the commands of the tutorials as they stand. The others continue the
// first, which then removes everything. Under -short it omits the one that takes minutes because
// it measures, as other tests do.
func TestTutorials(t *testing.T) {
	if err := helm(); err != nil {
		t.Fatal(err)
	}
	session := walkthrough.Reader(t)
	page, err := walkthrough.Read(walkthrough.External)
	if err != nil {
		t.Fatal(err)
	}
	first, last := page.Before("9. Remove")
	session.WalkPage(t, first, "", dump)
	if !testing.Short() {
		session.Walk(t, walkthrough.Benchmark, "", dump)
	}
	session.Walk(t, walkthrough.ReadPools, "", dump)
	session.Walk(t, walkthrough.Memory, "", dump)
	session.WalkPage(t, last, "", dump)
}

// TestTutorialOfSites needs nothing of the others. It is not in make test, where TestSites takes
// the same steps.
func TestTutorialOfSites(t *testing.T) {
	if err := helm(); err != nil {
		t.Fatal(err)
	}
	walkthrough.Reader(t).Walk(t, walkthrough.Sites, "", dump)
}

// TestTutorialOfBackups needs the Barman Cloud plugin and an S3 server. It is not in make test.
func TestTutorialOfBackups(t *testing.T) {
	store := s3pod.Store{Namespace: namespace(t), Image: os.Getenv("PGSTORAGE_S3_IMAGE"), AccessKey: rand.Text(), SecretKey: rand.Text()}
	create(t, store.Objects()...)
	session := walkthrough.Reader(t, "ENDPOINT="+store.Endpoint(), "DESTINATION=s3://"+s3pod.Bucket+"/tutorial", "ACCESS_KEY_ID="+store.AccessKey, "ACCESS_SECRET_KEY="+store.SecretKey)
	session.Walk(t, walkthrough.Backup, "", dump)
}
