//go:build e2e

package e2e

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strconv"
	"strings"
	"testing"
	"time"

	cnpgv1 "github.com/cloudnative-pg/cloudnative-pg/api/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/pgstorage/pgstorage/api/v1alpha1"
	"github.com/pgstorage/pgstorage/internal/testing/acks"
	"github.com/pgstorage/pgstorage/internal/testing/faults"
	"github.com/pgstorage/pgstorage/internal/testing/live"
)

// protection is a database under load whose archive suffers faults.
type protection struct {
	*vault
	report faults.Report
}

// TestProtection measures what a lost site costs, and has each fault of an archive named.
func TestProtection(t *testing.T) {
	p := &protection{vault: vaultIn(t), report: faults.Report{Seconds: "seconds"}}
	p.report.WhenDone(t, os.Getenv("PGSTORAGE_PROTECTION_REPORT"))
	step := live.InTurn(t)
	step("a database under load is recoverable", p.begin)
	for run := range 5 {
		step(fmt.Sprintf("the site is lost, run %d", run+1), func(t *testing.T) { p.siteLost(t, run) })
	}
	step("credentials are revoked", p.revoked)
	step("the store is away during a base backup", p.awayInBackup)
	step("the store is away during a restore", p.awayInRestore)
	step("a WAL file is missing", p.missingWAL)
	step("base backups are deleted during a restore", p.deletedInRestore)
	step("a base backup is damaged", p.damaged)
}

func (p *protection) begin(t *testing.T) {
	create(t, p.store.ObjectStore("lake"))
	p.shop.Spec.Backup.Verify = &v1alpha1.BackupVerifySpec{Schedule: yearly, Suspend: new(true), Timeout: "5m"}
	create(t, p.shop)
	ready(t, p.shop)
	has(t, p.shop, v1alpha1.ConditionBackedUp, metav1.ConditionTrue, v1alpha1.ReasonRecoverable)
	client1(t, p.shop, "prepare", `psql -XAtq -v ON_ERROR_STOP=1 -c "CREATE TABLE acked (id int PRIMARY KEY)"`)
	create(t, clientPod(p.shop, "loader", insertLoop))
	atLeast(t, p.shop, 50)
	p.report.Versions = "Barman Cloud plugin 0.15.0, PostgreSQL " + serverVersion(t, p.shop)
}

// passed waits until something went on for a time.
func passed(t *testing.T, what string, d time.Duration) {
	t.Helper()
	began := time.Now()
	eventually(t, fmt.Sprintf("%s of %s", what, d), func(context.Context) error {
		if time.Since(began) < d {
			return errors.New("it has not passed")
		}
		return nil
	})
}

// archiver stops the process that archives WAL, or has it continue.
func (v *vault) archiver(t *testing.T, signal string) {
	t.Helper()
	kubectl(t, "-n", v.shop.Namespace, "exec", v.shop.Status.Database.Primary, "-c", "postgres", "--", "pkill", "-"+signal, "-f", "^postgres.*archiver")
}

// siteLost restores what was in the archive at one moment. From then on the archiver is
// stopped, so the archive has what it would have if the whole site had been lost. The moments
// are spread over the minute after which Postgres archives a file that is not full.
func (p *protection) siteLost(t *testing.T, run int) {
	before := rows(t, p.shop)
	passed(t, "the load", 70*time.Second+time.Duration(run)*11*time.Second)
	p.archiver(t, "STOP")
	log := logs(t, p.shop.Namespace, "loader")
	cr := p.restored(fmt.Sprintf("after-%d", run), restores, nil)
	create(t, cr)
	ready(t, cr)
	missing := lacking(t, log, cr.Namespace, cr.Status.Database.Primary)
	age := lastAck(log).Sub(lastKept(t, log, missing))
	t.Logf("%d of %d acknowledged rows are lost, the commits of the last %s", len(missing), len(acks.Rows(log)), age)
	if limit := 90 * time.Second; age > limit {
		t.Errorf("the commits of %s are lost, want at most maxArchiveAge of 1m and the time of an upload", age)
	}
	p.report.Ended("the site is lost under load: age of the oldest commit that is lost", len(acks.Rows(log))-before, len(missing), age)
	p.archiver(t, "CONT")
	discard(t, cr)
}

// stamps are when rows were acknowledged, in the order of the log.
func stamps(log string) (at []time.Time, rows []string) {
	var last time.Time
	for line := range strings.SplitSeq(log, "\n") {
		if text, ok := strings.CutPrefix(line, "at "); ok {
			seconds, err := strconv.ParseFloat(text, 64)
			if err == nil {
				last = time.UnixMicro(int64(seconds * 1e6))
			}
		}
		if id, ok := strings.CutPrefix(line, "ack "); ok {
			at, rows = append(at, last), append(rows, id)
		}
	}
	return at, rows
}

func lastAck(log string) time.Time {
	at, _ := stamps(log)
	return at[len(at)-1]
}

// lastKept is when the newest row was acknowledged that is not lost. No row after it may be
// there, and none before it lost.
func lastKept(t *testing.T, log string, lost map[string]bool) time.Time {
	t.Helper()
	at, rows := stamps(log)
	kept := 0
	for i, id := range rows {
		if lost[id] {
			continue
		}
		if kept = i; i > 0 && lost[rows[i-1]] {
			t.Errorf("row %s is lost, and the later row %s is not", rows[i-1], id)
		}
	}
	return at[kept]
}

// recovers waits until WAL is archived again, and records how long that took.
func (p *protection) recovers(t *testing.T, name string, began time.Time, before int) {
	t.Helper()
	p.archived(t)
	has(t, p.shop, v1alpha1.ConditionBackedUp, metav1.ConditionTrue, v1alpha1.ReasonRecoverable)
	log := logs(t, p.shop.Namespace, "loader")
	lost := lacking(t, log, p.shop.Namespace, p.shop.Status.Database.Primary)
	if len(lost) > 0 {
		t.Errorf("%d acknowledged rows are lost", len(lost))
	}
	p.report.Ended(name, len(acks.Rows(log))-before, len(lost), time.Since(began))
}

// keys sets the secret key that the plugin has.
func (p *protection) keys(t *testing.T, key string) {
	t.Helper()
	s := &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: p.shop.Namespace, Name: "lake-keys"}}
	if err := c.Get(t.Context(), client.ObjectKeyFromObject(s), s); err != nil {
		t.Fatal(err)
	}
	s.Data["ACCESS_SECRET_KEY"] = []byte(key)
	if err := c.Update(t.Context(), s); err != nil {
		t.Fatal(err)
	}
}

func (p *protection) revoked(t *testing.T) {
	before := rows(t, p.shop)
	p.keys(t, "revoked")
	has(t, p.shop, v1alpha1.ConditionBackedUp, metav1.ConditionFalse, v1alpha1.ReasonArchivingFailing)
	p.keys(t, p.store.SecretKey)
	p.recovers(t, "credentials are revoked: until WAL is archived, after they are given back", time.Now(), before)
}

// outage is how long a store is away.
const outage = 2 * time.Minute

// awayFor has the store away for a while.
func (p *protection) awayFor(t *testing.T, d time.Duration) {
	t.Helper()
	p.lead(t, "nowhere")
	passed(t, "the outage", d)
	p.lead(t, "s3")
}

// lead the store's Service to the pods of an app.
func (v *vault) lead(t *testing.T, app string) {
	t.Helper()
	kubectl(t, "-n", v.store.Namespace, "patch", "service", "s3", "--type=merge", "-p", `{"spec":{"selector":{"app":"`+app+`"}}}`)
}

// backUp takes a base backup.
func (v *vault) backUp(t *testing.T, name string) {
	t.Helper()
	create(t, &cnpgv1.Backup{
		ObjectMeta: metav1.ObjectMeta{Namespace: v.shop.Namespace, Name: name},
		Spec: cnpgv1.BackupSpec{
			Method: cnpgv1.BackupMethodPlugin, Cluster: cnpgv1.LocalObjectReference{Name: v.shop.Name},
			PluginConfiguration: &cnpgv1.BackupPluginConfiguration{Name: "barman-cloud.cloudnative-pg.io"},
		},
	})
}

// awayInBackup has a base backup fail. It stays the last one until another succeeds.
func (p *protection) awayInBackup(t *testing.T) {
	before := rows(t, p.shop)
	p.backUp(t, "during")
	p.awayFor(t, outage)
	back := time.Now()
	has(t, p.shop, v1alpha1.ConditionBackedUp, metav1.ConditionFalse, v1alpha1.ReasonBackupFailed)
	p.backUp(t, "after")
	p.recovers(t, "the store is away for 2 minutes during a base backup: until the next one succeeded, after it is back", back, before)
}

func (p *protection) awayInRestore(t *testing.T) {
	before := rows(t, p.shop)
	p.restoring(t)
	began := time.Now()
	p.awayFor(t, outage)
	last := p.result(t, began.Add(-time.Minute))
	t.Logf("the verification during the outage: %s: %s", last.Reason, last.Message)
	if last.Reason != v1alpha1.ReasonVerified {
		if last.Reason != v1alpha1.ReasonRestoreFailed {
			t.Errorf("%+v", last)
		}
		if last = p.verify(t); last.Reason != v1alpha1.ReasonVerified {
			t.Errorf("the next one: %+v", last)
		}
	}
	p.report.Ended("the store is away for 2 minutes during a restore: until a backup is verified, after it is back", rows(t, p.shop)-before, 0, time.Since(began)-outage)
}

// restoring asks for a verification, and waits until its restore runs.
func (p *protection) restoring(t *testing.T) {
	t.Helper()
	p.ask(t)
	eventually(t, "a restore to run", func(ctx context.Context) error {
		out, err := command(ctx, "kubectl", "-n", p.shop.Namespace, "get", "pods", "-o", "name")
		if err != nil || !strings.Contains(out, "full-recovery") {
			return fmt.Errorf("%s, %w", out, err)
		}
		return nil
	})
}

// deletedInRestore deletes every base backup from the store while one is restored. A backup
// behind the missing WAL is needed before, and another one afterwards.
func (p *protection) deletedInRestore(t *testing.T) {
	before := rows(t, p.shop)
	p.backUp(t, "behind")
	p.inPhase(t, "behind", cnpgv1.BackupPhaseCompleted)
	if last := p.verify(t); last.Reason != v1alpha1.ReasonVerified {
		t.Fatalf("behind the missing WAL: %+v", last)
	}
	p.restoring(t)
	began := time.Now()
	p.s3(t, `for o in s.list_objects_v2(Bucket="lake", Prefix="backups/shop/base/")["Contents"]:
    s.delete_object(Bucket="lake", Key=o["Key"])`)
	last := p.result(t, began.Add(-time.Minute))
	t.Logf("the verification whose backup is deleted: %s: %s", last.Reason, last.Message)
	if last.Reason != v1alpha1.ReasonVerified && last.Reason != v1alpha1.ReasonRestoreFailed {
		t.Errorf("%+v", last)
	}
	p.backUp(t, "again")
	p.inPhase(t, "again", cnpgv1.BackupPhaseCompleted)
	if last := p.verify(t); last.Reason != v1alpha1.ReasonVerified {
		t.Errorf("the next backup: %+v", last)
	}
	p.report.Ended("all base backups are deleted while one is restored: until the next one is verified", rows(t, p.shop)-before, 0, time.Since(began))
}

// damaged writes over the first part of each base backup.
func (p *protection) damaged(t *testing.T) {
	before := rows(t, p.shop)
	p.s3(t, `for o in s.list_objects_v2(Bucket="lake", Prefix="backups/shop/base/")["Contents"]:
    if o["Key"].endswith(".tar.gz"):
        body = bytearray(s.get_object(Bucket="lake", Key=o["Key"])["Body"].read())
        body[len(body)//2:len(body)//2+4096] = b"x" * 4096
        s.put_object(Bucket="lake", Key=o["Key"], Body=bytes(body))`)
	began := time.Now()
	last := p.verify(t)
	t.Logf("%s: %s", last.Reason, last.Message)
	if last.Reason != v1alpha1.ReasonRestoreFailed && last.Reason != v1alpha1.ReasonRestoreDamaged {
		t.Errorf("%+v", last)
	}
	p.report.Ended("4 KiB of each base backup are overwritten: until a verification finds it", rows(t, p.shop)-before, 0, time.Since(began))
}
