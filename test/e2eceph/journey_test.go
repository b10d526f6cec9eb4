//go:build e2eceph

package e2eceph

import (
	"context"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/pgstorage/pgstorage/api/v1alpha1"
	"github.com/pgstorage/pgstorage/internal/testing/faults"
	"github.com/pgstorage/pgstorage/internal/testing/live"
)

// journey is what its steps share.
type journey struct {
	ledger   *v1alpha1.PgStorageCluster
	profile  *history
	database *history
	report   *faults.Report
}

// TestCephRBD follows a profile and a database on it from blank devices to the deletion.
func TestCephRBD(t *testing.T) {
	create(t, &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: namespace}})
	j := &journey{ledger: database(), profile: follow(t, profileConditions), database: follow(t, databaseConditions), report: &faults.Report{Seconds: stalls}}
	j.report.WhenDone(t, os.Getenv("PGSTORAGE_CEPH_REPORT"))
	for _, step := range []struct {
		name string
		run  func(*testing.T)
	}{
		{"from blank devices to a pool, with the operator killed twice", j.blankDevicesToPool},
		{"Ready with the class", j.poolToReady},
		{"Ceph itself has what the profile says", j.readFromCeph},
		{"metrics", j.metrics},
		{"a database on an image", j.databaseOnImage},
		{"faults", j.faults},
		{"a machine joins", j.machineJoins},
		{"a database on an image that a kernel has mapped", j.kernel},
		{"a database on a volume that ceph-csi provides", j.provisioned},
		{"the machine leaves", j.machineLeaves},
		{"deletion out of order is refused", j.deletionOutOfOrder},
		{"deletion in order", j.deletionInOrder},
	} {
		if !live.Completed(t, step.name, step.run) {
			t.Fatalf("%s did not come to its end, and the rest builds on it", step.name)
		}
	}
}

// podsReady waits until a daemon of Rook's runs.
func podsReady(t *testing.T, app string, n int) {
	t.Helper()
	eventually(t, fmt.Sprintf("%d pods of %s to be ready", n, app), func(ctx context.Context) error {
		list := &corev1.PodList{}
		if err := c.List(ctx, list, client.InNamespace(rookNamespace), client.MatchingLabels{"app": app}); err != nil {
			return err
		}
		ready := 0
		for i := range list.Items {
			// A canary only shows Rook where a mon can run.
			if isReady(&list.Items[i]) && list.Items[i].Labels["mon_canary"] == "" {
				ready++
			}
		}
		if ready < n {
			return fmt.Errorf("%d so far", ready)
		}
		return nil
	})
}

func isReady(p *corev1.Pod) bool {
	return p.DeletionTimestamp == nil && slices.ContainsFunc(p.Status.Conditions, func(c corev1.PodCondition) bool {
		return c.Type == corev1.PodReady && c.Status == corev1.ConditionTrue
	})
}

func (j *journey) blankDevicesToPool(t *testing.T) {
	// The mon and the mgr go to the node that no test stops.
	kubectl(t, "cordon", home, victim)
	begin := time.Now()
	create(t, profile())
	j.profile.shows(t, begin, v1alpha1.ConditionCephReady, v1alpha1.ReasonCephProgressing)
	podsReady(t, "rook-ceph-mon", 1)
	killed(t, operatorNamespace, managerSelector)
	podsReady(t, "rook-ceph-mgr", 1)
	kubectl(t, "uncordon", home, victim)
	podsReady(t, "rook-ceph-osd", 3)
	j.profile.shows(t, begin, v1alpha1.ConditionCephReady, v1alpha1.ReasonCephReady)
	killed(t, operatorNamespace, managerSelector)
	j.profile.shows(t, begin, v1alpha1.ConditionBlockPoolReady, v1alpha1.ReasonBlockPoolReady)
	t.Logf("pools were ready %s after the profile was created", time.Since(begin).Round(time.Second))
	j.profile.log(t, begin, v1alpha1.ConditionCephReady)
	j.profile.log(t, begin, v1alpha1.ConditionBlockPoolReady)
	// On the way nothing needed an administrator.
	j.profile.only(t, begin, v1alpha1.ConditionCephReady, v1alpha1.ReasonCephClusterNotFound, v1alpha1.ReasonCephProgressing,
		v1alpha1.ReasonCephWarning, v1alpha1.ReasonOSDsMissing, v1alpha1.ReasonTooFewDomains, v1alpha1.ReasonCephReady)
}

// poolToReady: a probe makes an image first, and the class exists only with its driver.
func (j *journey) poolToReady(t *testing.T) {
	begin := time.Now()
	j.profile.shows(t, begin, v1alpha1.ConditionPoolVerified, v1alpha1.ReasonPoolVerified)
	j.profile.shows(t, begin, v1alpha1.ConditionStorageReady, v1alpha1.ReasonDriverNotInstalled)
	create(t, driver())
	j.profileReady(t)
	class := &storagev1.StorageClass{}
	if err := c.Get(t.Context(), client.ObjectKey{Name: profileName}, class); err != nil {
		t.Fatal(err)
	}
	if p := class.Parameters; p["pool"] != profileName || p["clusterID"] != rookNamespace {
		t.Errorf("parameters of the StorageClass: %v", p)
	}
}

func (j *journey) profileReady(t *testing.T) {
	t.Helper()
	eventually(t, "the profile to be Ready", func(ctx context.Context) error {
		p, err := current(ctx)
		if err != nil {
			return err
		}
		return live.AllTrue(p.Status.Conditions, p.Generation, v1alpha1.ConditionReady, v1alpha1.ConditionCephReady, v1alpha1.ConditionBlockPoolReady, v1alpha1.ConditionPoolVerified)
	})
}

// current profile.
func current(ctx context.Context) (*v1alpha1.PgStorageProfile, error) {
	p := &v1alpha1.PgStorageProfile{}
	err := c.Get(ctx, client.ObjectKey{Name: profileName}, p)
	return p, err
}

// databaseOnImage: an instance and an OSD share a node here, and the profile says so.
func (j *journey) databaseOnImage(t *testing.T) {
	kubectl(t, "-n", rookNamespace, "exec", toolsName, "--", "bash", "-ec", mountImage)
	begin := time.Now()
	create(t, mounted(), j.ledger)
	ready(t, j.ledger)
	t.Logf("the database was Ready %s after it was created", time.Since(begin).Round(time.Second))
	j.profile.shows(t, time.Now(), v1alpha1.ConditionFailuresIndependent, v1alpha1.ReasonSharedNodes)
	claim := &corev1.PersistentVolumeClaim{}
	if err := c.Get(t.Context(), client.ObjectKey{Namespace: namespace, Name: j.ledger.Status.Database.Primary}, claim); err != nil {
		t.Fatal(err)
	}
	if got := claim.Spec.VolumeName; got != mounted().Name {
		t.Errorf("the database is on volume %q, not on the image", got)
	}
	if out := mustCeph(t, "rbd", "status", "rbd/"+imageName); !strings.Contains(out, "watcher=") {
		t.Errorf("nothing has the image open: %s", out)
	}
}
