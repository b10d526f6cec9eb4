//go:build e2eceph

package e2eceph

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/pgstorage/pgstorage/api/v1alpha1"
	"github.com/pgstorage/pgstorage/internal/testing/live"
)

const managerSelector = "app.kubernetes.io/component=manager"

// fault of which the profile must report what an administrator needs.
type fault struct {
	name string
	// strike causes the fault; mend, if set, ends it.
	strike, mend func(*testing.T)
	// reasons of CephReady, one of which the profile must show meanwhile; none: it is not
	// expected to notice.
	reasons []string
	// message that the condition then has, in part.
	message string
	// stored: databases that run keep StorageReady.
	stored bool
}

func (j *journey) faults(t *testing.T) {
	j.report.Versions = versions(t, psql(t, j.ledger, "SHOW server_version"))
	psql(t, j.ledger, "CREATE EXTENSION IF NOT EXISTS amcheck")
	for _, f := range []fault{
		{
			name:    "an OSD's pod is deleted",
			strike:  func(t *testing.T) { killed(t, rookNamespace, "app=rook-ceph-osd,topology-location-host="+victim) },
			reasons: []string{v1alpha1.ReasonOSDsMissing, v1alpha1.ReasonCephWarning}, stored: true,
		},
		{
			name: "the only mon is deleted",
			strike: func(t *testing.T) {
				killed(t, rookNamespace, "app=rook-ceph-mon")
				podsReady(t, "rook-ceph-mon", 1)
			},
			stored: true,
		},
		{
			name:   "an OSD's disk fails, and works again",
			strike: func(t *testing.T) { disk(t, victim).fails(t) },
			mend: func(t *testing.T) {
				disk(t, victim).works(t)
				// A new pod does not wait for kubelet's next attempt.
				killed(t, rookNamespace, "app=rook-ceph-osd,topology-location-host="+victim)
			},
			reasons: []string{v1alpha1.ReasonOSDsMissing, v1alpha1.ReasonCephWarning}, stored: true,
		},
		{
			name: "the OSDs are nearly full",
			// The devices would take long to fill, so the ratio falls below what they hold.
			strike:  func(t *testing.T) { mustCeph(t, "ceph", "osd", "set-nearfull-ratio", "0.001") },
			mend:    func(t *testing.T) { mustCeph(t, "ceph", "osd", "set-nearfull-ratio", "0.85") },
			reasons: []string{v1alpha1.ReasonCephUnhealthy}, message: "OSD_NEARFULL",
		},
		{
			name:    "a node with an OSD loses its power, and returns",
			strike:  func(t *testing.T) { node(t, "stop", victim) },
			mend:    func(t *testing.T) { node(t, "start", victim) },
			reasons: []string{v1alpha1.ReasonCephWarning, v1alpha1.ReasonOSDsMissing}, stored: true,
		},
		{
			name:   "the operator is killed",
			strike: func(t *testing.T) { killed(t, operatorNamespace, managerSelector) },
			mend:   managerRuns, stored: true,
		},
	} {
		if !live.Completed(t, f.name, func(t *testing.T) { j.run(t, f) }) {
			t.Fatal("the next fault would begin with the remains of this one")
		}
	}
	checked(t, j.ledger)
}

// run a fault under load.
func (j *journey) run(t *testing.T, f fault) {
	before := instances(t, j.ledger)
	l := loaded(t, j.ledger)
	begin := time.Now()
	f.strike(t)
	if len(f.reasons) > 0 {
		seen := j.profile.shows(t, begin, v1alpha1.ConditionCephReady, f.reasons...)
		if !strings.Contains(seen.condition.Message, f.message) {
			t.Errorf("the message lacks %s", f.message)
		}
	}
	if f.mend != nil {
		f.mend(t)
	}
	mended := time.Now()
	j.profileReady(t)
	l.after(t, mended)
	ready(t, j.ledger)
	end := time.Now()
	t.Logf("%s after the fault everything was Ready", end.Sub(begin).Round(time.Second))
	rows, lost := l.end(t, j.ledger)
	pause := stall(rows, begin, end)
	t.Logf("%d rows were acknowledged, %d are lost; the longest time without one was %.1f s", len(rows), lost, pause.Seconds())
	if lost > 0 {
		t.Errorf("%d of %d acknowledged rows are lost", lost, len(rows))
	}
	j.report.Ended(f.name, len(rows), lost, pause)
	j.profile.log(t, begin, v1alpha1.ConditionCephReady)
	j.database.log(t, begin, v1alpha1.ConditionStorageReady)
	if f.stored {
		j.stored(t, begin)
	}
	if after := instances(t, j.ledger); before != after {
		t.Errorf("the fault touched Postgres: %s, before %s", after, before)
	}
}

// stored: a database that runs is not called unstored because of a fault that Ceph bears.
// While placement groups peer, Ceph may report PG_AVAILABILITY: then blocks do not answer,
// and the database is right to report it.
func (j *journey) stored(t *testing.T, begin time.Time) {
	t.Helper()
	for _, c := range j.database.since(begin, v1alpha1.ConditionStorageReady) {
		if c.condition.Status != "True" && !strings.Contains(c.condition.Message, "PG_AVAILABILITY") {
			t.Errorf("%s", c)
		}
	}
}

func instances(t *testing.T, ledger *v1alpha1.PgStorageCluster) string {
	t.Helper()
	pods, err := live.Instances(t.Context(), c, ledger.Namespace, ledger.Name)
	if err != nil {
		t.Fatal(err)
	}
	return fmt.Sprint(pods)
}

// managerRuns waits until another pod of the manager is ready, and holds the lease.
func managerRuns(t *testing.T) {
	t.Helper()
	eventually(t, "the manager to run again", func(ctx context.Context) error {
		list := &corev1.PodList{}
		if err := c.List(ctx, list, client.InNamespace(operatorNamespace), client.MatchingLabels{"app.kubernetes.io/component": "manager"}); err != nil {
			return err
		}
		if !slices.ContainsFunc(list.Items, func(p corev1.Pod) bool { return isReady(&p) }) {
			return errors.New("no pod is ready")
		}
		return nil
	})
}
