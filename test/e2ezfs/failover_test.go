//go:build e2ezfs

package e2ezfs

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/pgstorage/pgstorage/api/v1alpha1"
	"github.com/pgstorage/pgstorage/internal/testing/acks"
	"github.com/pgstorage/pgstorage/internal/testing/faults"
)

// failover kills the primary of two instances that run without full-page images.
// pg_rewind is let in because they are on while the former primary is away.
func failover(t *testing.T, shop *v1alpha1.PgStorageCluster, report *faults.Report) {
	begin := time.Now()
	scaleOut(t, shop)
	t.Logf("two instances after %s", time.Since(begin).Round(time.Second))
	before := claims(t, shop)
	former := shop.Status.Database.Primary
	writer := loaded(t, shop)
	rows := len(acks.Rows(must(t)(logs(t.Context(), writer))))
	begin = time.Now()
	crash(t, shop, former)
	eventually(t, "full_page_writes on, and another primary", func(ctx context.Context) error {
		if err := c.Get(ctx, client.ObjectKeyFromObject(shop), shop); err != nil {
			return err
		}
		if p := parameter(shop, "full_page_writes"); p.Value != "on" || !strings.Contains(p.Reason, "pg_rewind") {
			return fmt.Errorf("%+v", p)
		}
		if shop.Status.Database.Primary == former {
			return fmt.Errorf("%s is still the primary", former)
		}
		return nil
	})
	t.Logf("%s is the primary %s after the crash", shop.Status.Database.Primary, time.Since(begin).Round(time.Second))
	ready(t, shop)
	t.Logf("%s is back %s after the crash", former, time.Since(begin).Round(time.Second))
	eventually(t, former+" to stream", func(ctx context.Context) error {
		got, err := psql(ctx, shop, "SELECT application_name || ' ' || state || ' ' || sync_state FROM pg_stat_replication")
		if err == nil && got != former+" streaming quorum" {
			err = fmt.Errorf("standbys: %q", got)
		}
		return err
	})
	offEverywhere(t, shop)
	rewound(t, shop, former)
	if diff := cmp.Diff(before, claims(t, shop)); diff != "" {
		t.Errorf("the claims are other ones: %s", diff)
	}
	acknowledgedAtLeast(t, writer, rows+afterFault)
	ended(t, report, "the primary is killed, full_page_writes=off, on Kubernetes", shop, writer, begin)
	for pod := range pods(t, shop) {
		intact(t, shop, pod)
	}
	readBack(t)
}

// scaleOut also makes a commit wait for the standby, so that none is lost with the
// primary.
func scaleOut(t *testing.T, shop *v1alpha1.PgStorageCluster) {
	t.Helper()
	two := int32(2)
	patched := shop.DeepCopy()
	patched.Spec.Instances, patched.Spec.Durability = &two, v1alpha1.DurabilityQuorum
	if err := c.Patch(t.Context(), patched, client.MergeFrom(shop)); err != nil {
		t.Fatal(err)
	}
	ready(t, shop)
	offEverywhere(t, shop)
}

// offEverywhere asks each of the two instances.
func offEverywhere(t *testing.T, shop *v1alpha1.PgStorageCluster) {
	t.Helper()
	got := map[string]string{}
	for pod := range pods(t, shop) {
		got[pod] = must(t)(inPod(t.Context(), shop, pod, "psql", "-XAtqc", "SHOW full_page_writes"))
	}
	if len(got) != 2 || slices.Contains(slices.Collect(maps.Values(got)), "on") {
		t.Errorf("full_page_writes is %v, %+v", got, parameter(shop, "full_page_writes"))
	}
}

func parameter(shop *v1alpha1.PgStorageCluster, name string) v1alpha1.Parameter {
	for _, p := range shop.Status.Parameters {
		if p.Name == name {
			return p
		}
	}
	return v1alpha1.Parameter{}
}

// crash ends Postgres before the pod, which would shut it down and leave nothing to
// rewind.
func crash(t *testing.T, shop *v1alpha1.PgStorageCluster, pod string) {
	t.Helper()
	must(t)(inPod(t.Context(), shop, pod, "bash", "-c", `kill -9 $(head -n 1 "$PGDATA/postmaster.pid")`))
	must(t)(command(t.Context(), "kubectl", "-n", shop.Namespace, "delete", "pod", pod, "--force", "--grace-period=0", "--wait=false"))
}

// rewound looks into the log of the pod that has taken the former primary's place.
func rewound(t *testing.T, shop *v1alpha1.PgStorageCluster, pod string) {
	t.Helper()
	log := must(t)(command(t.Context(), "kubectl", "-n", shop.Namespace, "logs", pod, "-c", "postgres"))
	for _, want := range []string{"servers diverged at WAL location", "rewinding from last common checkpoint"} {
		if !strings.Contains(log, want) {
			t.Errorf("the log of %s does not have %q", pod, want)
		}
	}
	t.Logf("pg_rewind was refused %d times before it was let in", strings.Count(log, "full_page_writes must be enabled in the source server"))
}

// claims of the database with their UIDs.
func claims(t *testing.T, shop *v1alpha1.PgStorageCluster) map[string]string {
	t.Helper()
	list := &corev1.PersistentVolumeClaimList{}
	if err := c.List(t.Context(), list, client.InNamespace(shop.Namespace), client.MatchingLabels{"cnpg.io/cluster": shop.Name}); err != nil {
		t.Fatal(err)
	}
	out := map[string]string{}
	for _, claim := range list.Items {
		out[claim.Name] = string(claim.UID) + " " + claim.Spec.VolumeName
	}
	return out
}
