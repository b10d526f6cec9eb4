//go:build e2e

package e2e

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/pgstorage/pgstorage/api/v1alpha1"
	"github.com/pgstorage/pgstorage/internal/kube/naming"
	"github.com/pgstorage/pgstorage/internal/operator/decide/clusters"
	"github.com/pgstorage/pgstorage/internal/testing/acks"
	"github.com/pgstorage/pgstorage/internal/testing/live"
)

// faultRuns is how often each fault happens.
const faultRuns = 5

// TestSiteFaults has parts of two sites fail under load, five times each. The site that writes
// has a quorum of its own; the other one must neither delay it nor lose what it acknowledged.
// It is not in make test.
func TestSiteFaults(t *testing.T) {
	if err := helm("sites.enabled=true"); err != nil {
		t.Fatal(err)
	}
	s := &sites{profile: "site-faults"}
	s.declare(t)
	s.north.Spec.Instances, s.north.Spec.Durability = new(int32(2)), v1alpha1.DurabilityQuorum
	s.north.Spec.Postgres.Parameters = map[string]string{"wal_keep_size": "256MB"}
	s.south.Spec.Postgres.Parameters = s.north.Spec.Postgres.Parameters
	vault := s.archives(t)
	s.follows(t)
	tr := &trial{writer: s.north, follower: s.south}
	tr.begin(t, s.loader())
	instances := func(n int32) func(t *testing.T) {
		return func(t *testing.T) {
			patch(t, s.south, func(spec *v1alpha1.PgStorageClusterSpec) { spec.Instances = new(n) })
			ready(t, s.south)
		}
	}
	for _, h := range []hardship{
		{name: "the instance of the site that follows is killed", strike: func(t *testing.T) { killed(t, s.south) }, most: 5 * time.Second, runs: faultRuns},
		{name: "the site that follows is cut off while 100 MB are written", strike: s.cutOff, most: 10 * time.Second, runs: faultRuns},
		{name: "the standby of the quorum is stopped for 15 s", strike: s.standbyStopped, most: 60 * time.Second, runs: faultRuns},
		{name: "the primary of the site that writes is killed", strike: func(t *testing.T) { killed(t, s.north) }, most: 2 * time.Minute, runs: faultRuns},
		{name: "the object store of the site that writes is away while 100 MB are written", strike: func(t *testing.T) { s.storeAway(t, vault) }, most: 10 * time.Second, runs: faultRuns},
		{name: "the site that follows is cut off until WAL that it needs is removed", strike: func(t *testing.T) { s.walRemoved(t, vault) }, most: 20 * time.Second, runs: cloneRuns},
		{name: "the volume of an instance of the site that follows is lost", before: instances(2), strike: func(t *testing.T) { s.volumeLost(t); soon(t, tr) }, most: 10 * time.Second, runs: faultRuns},
		{name: "the disk of the site that follows is full while 100 MB are written", before: func(t *testing.T) { instances(1)(t); s.limited(t) }, strike: s.diskFull, most: 10 * time.Second, runs: faultRuns},
	} {
		t.Run(h.name, func(t *testing.T) { tr.suffers(t, h) })
	}
	tr.end(t)
}

// soon fails where the follower takes longer than a minute for a row. CloudNativePG can leave an
// instance that takes over without its settings (docs/adr/0075-reload-of-followers.md).
func soon(t *testing.T, tr *trial) {
	t.Helper()
	began := time.Now()
	tr.caughtUp(t)
	if took := time.Since(began); took > time.Minute {
		t.Errorf("the follower had a row after %s, want at most a minute", took.Round(time.Second))
	}
}

// archives has the site that writes keep its WAL in an object store.
func (s *sites) archives(t *testing.T) *vault {
	t.Helper()
	v := &vault{shop: s.north, store: storeIn(t, s.north.Namespace)}
	create(t, v.store.ObjectStore("lake"))
	s.north.Spec.Backup = v.database("shop").Spec.Backup
	return v
}

// storeAway has the site that writes archive nothing until it says so.
func (s *sites) storeAway(t *testing.T, v *vault) {
	t.Helper()
	v.lead(t, "nowhere")
	s.bulk(t)
	has(t, s.north, v1alpha1.ConditionBackedUp, metav1.ConditionFalse, v1alpha1.ReasonArchivingFailing)
	v.lead(t, "s3")
	v.archived(t)
}

// cutOff stops the site that follows, writes, and starts it again.
func (s *sites) cutOff(t *testing.T) {
	t.Helper()
	s.stop(t)
	s.bulk(t)
	annotated(t, s.south, naming.AnnotationHibernation, "off")
}

// stop the site that follows.
func (s *sites) stop(t *testing.T) {
	t.Helper()
	annotated(t, s.south, naming.AnnotationHibernation, "on")
	eventually(t, "the site that follows to stop", func(ctx context.Context) error { return gonePod(ctx, s.south) })
}

// bulk writes 100 MB.
func (s *sites) bulk(t *testing.T) {
	t.Helper()
	psql(t, s.north.Namespace, s.north.Status.Database.Primary, "CREATE TABLE bulk AS SELECT g, repeat('x', 1000) AS text FROM generate_series(1, 100000) g; DROP TABLE bulk")
}

// limited gives the site that follows a volume that can be full: a file system of 1.5 GB over its
// folder. Volumes of kind have no limit, and pages of a tmpfs would count as memory of Postgres.
func (s *sites) limited(t *testing.T) {
	t.Helper()
	s.stop(t)
	s.onVolume(t, `mkdir -p /limited && truncate -s 1500M "$1.img" && mkfs.ext4 -q -m 0 "$1.img" && mount -o loop "$1.img" /limited &&
		cp -a "$1/." /limited && umount /limited && mount -o loop "$1.img" "$1"`)
	annotated(t, s.south, naming.AnnotationHibernation, "off")
	ready(t, s.south)
}

// onVolume runs a script on the node. Its argument is the folder of the volume of the site that follows.
func (s *sites) onVolume(t *testing.T, script string) {
	t.Helper()
	volume := kubectl(t, "-n", s.south.Namespace, "get", "pvc", s.south.Status.Database.Primary, "-o", "jsonpath={.spec.volumeName}")
	node := kubectl(t, "get", "nodes", "-o", "jsonpath={.items[0].metadata.name}")
	folder := kubectl(t, "get", "pv", volume, "-o", "jsonpath={.spec.hostPath.path}{.spec.local.path}")
	if out, err := onNode(t, node, "set -- "+folder+"; "+script); err != nil {
		t.Fatal(out, err)
	}
}

// diskFull leaves the site that follows no byte, and writes more than it has room for. It fills
// no other volume than one of limited.
func (s *sites) diskFull(t *testing.T) {
	t.Helper()
	ready(t, s.south)
	s.onVolume(t, `mountpoint "$1" && ! dd if=/dev/zero of="$1/ballast" bs=1M`)
	s.bulk(t)
	began := time.Now()
	eventually(t, "the site that follows to say so", func(ctx context.Context) error {
		if err := c.Get(ctx, client.ObjectKeyFromObject(s.south), s.south); err != nil {
			return err
		}
		if meta.IsStatusConditionTrue(s.south.Status.Conditions, v1alpha1.ConditionReady) {
			return errors.New("it is Ready")
		}
		return nil
	})
	t.Logf("%s after the bulk load the site that follows says %s", time.Since(began).Round(time.Second), conditions(s.south))
	s.onVolume(t, `rm "$1/ballast"`)
}

// conditions that are not True.
func conditions(cr *v1alpha1.PgStorageCluster) string {
	var all []string
	for _, now := range cr.Status.Conditions {
		if now.Status != metav1.ConditionTrue {
			all = append(all, message(cr, now.Type))
		}
	}
	return strings.Join(all, "\n")
}

// walRemoved writes more while the site that follows is away than the other one keeps, and gives it a new database.
func (s *sites) walRemoved(t *testing.T, v *vault) {
	t.Helper()
	ready(t, s.south)
	s.stop(t)
	for range 24 {
		psql(t, s.north.Namespace, s.north.Status.Database.Primary, "SELECT pg_logical_emit_message(false, 'test', 'x'); SELECT pg_switch_wal()")
	}
	v.archived(t) // a file that is not archived is not removed
	psql(t, s.north.Namespace, s.north.Status.Database.Primary, "CHECKPOINT")
	annotated(t, s.south, naming.AnnotationHibernation, "off")
	eventually(t, "the site that follows to miss WAL", func(ctx context.Context) error {
		out, err := command(ctx, "kubectl", "-n", s.south.Namespace, "logs", s.south.Status.Database.Primary, "-c", "postgres", "--tail=200")
		if err == nil && !strings.Contains(out, "has already been removed") {
			err = errors.New("its log does not say so")
		}
		return err
	})
	has(t, s.south, v1alpha1.ConditionFollowersCaughtUp, metav1.ConditionFalse, v1alpha1.ReasonNotStreaming)
	t.Log(message(s.south, v1alpha1.ConditionFollowersCaughtUp))
	s.recreated(t, s.south)
}

// volumeLost deletes the volume of the instance that receives WAL, and the instance.
func (s *sites) volumeLost(t *testing.T) {
	t.Helper()
	ready(t, s.south)
	volume := func(claim string) string {
		return kubectl(t, "-n", s.south.Namespace, "get", "pvc", claim, "--ignore-not-found", "-o", "jsonpath={.spec.volumeName}")
	}
	instance := s.south.Status.Database.Primary
	lost := volume(instance)
	kubectl(t, "-n", s.south.Namespace, "delete", "pvc", instance, "--wait=false")
	killed(t, s.south)
	eventually(t, "two instances without the volume", func(ctx context.Context) error {
		pods, err := live.Instances(ctx, c, s.south.Namespace, s.south.Name)
		if now := volume(instance); err != nil || len(pods) != 2 || now == lost {
			return errors.Join(err, fmt.Errorf("there are %v, and %s has volume %s", pods, instance, now))
		}
		return nil
	})
	ready(t, s.south)
	if now := s.south.Status.Database.Primary; now != "shop-1" {
		eventually(t, "the settings to name "+now, func(ctx context.Context) error {
			return answered(ctx, s.south, "SELECT current_setting('pgstorage.receiver', true)", now)
		})
	}
}

// standbyStopped fences the only standby that can confirm a commit.
func (s *sites) standbyStopped(t *testing.T) {
	t.Helper()
	ready(t, s.north)
	standby := "shop-1"
	if s.north.Status.Database.Primary == standby {
		standby = "shop-2"
	}
	annotated(t, s.north, clusters.AnnotationCNPGFenced, fmt.Sprintf("[%q]", standby))
	eventually(t, "the standby to stop", func(ctx context.Context) error {
		if _, err := command(ctx, "kubectl", "-n", s.north.Namespace, "exec", standby, "-c", "postgres", "--", "psql", "-XAtqc", "SELECT 1"); err == nil {
			return fmt.Errorf("it answers")
		}
		return nil
	})
	stopped, began := len(acks.Rows(logs(t, s.north.Namespace, "loader"))), time.Now()
	eventually(t, "15 s without the standby", func(context.Context) error {
		if time.Since(began) < 15*time.Second {
			return fmt.Errorf("%s", time.Since(began).Round(time.Second))
		}
		return nil
	})
	// What was under way when the standby stopped may have been confirmed by it.
	if more := len(acks.Rows(logs(t, s.north.Namespace, "loader"))) - stopped; more > 1 {
		t.Errorf("%d commits were acknowledged while no standby could confirm them", more)
	}
	annotated(t, s.north, clusters.AnnotationCNPGFenced, "[]")
}
