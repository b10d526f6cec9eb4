//go:build e2e

package e2e

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/pgstorage/pgstorage/api/v1alpha1"
	"github.com/pgstorage/pgstorage/internal/kube/naming"
	"github.com/pgstorage/pgstorage/internal/testing/acks"
)

// clientPod runs a shell beside psql that reaches the database as an application
// does: by the -rw Service, with the application's Secret.
func clientPod(shop *v1alpha1.PgStorageCluster, name, script string) *corev1.Pod {
	from := func(env, key string) corev1.EnvVar {
		return corev1.EnvVar{Name: env, ValueFrom: &corev1.EnvVarSource{SecretKeyRef: &corev1.SecretKeySelector{
			LocalObjectReference: corev1.LocalObjectReference{Name: shop.Status.Secrets.Application}, Key: key,
		}}}
	}
	return &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Namespace: shop.Namespace, Name: name},
		Spec: corev1.PodSpec{
			RestartPolicy: corev1.RestartPolicyNever,
			Containers: []corev1.Container{{
				Name: "client", Image: shop.Status.Database.Image, Command: []string{"bash", "-c", script},
				Env: []corev1.EnvVar{
					{Name: "PGHOST", Value: naming.ReadWriteService(shop.Name)}, {Name: "PGSSLMODE", Value: "require"},
					{Name: "PGCONNECT_TIMEOUT", Value: "3"},
					from("PGUSER", "username"), from("PGPASSWORD", "password"), from("PGDATABASE", "dbname"),
				},
			}},
		},
	}
}

// client1 runs a script to its end and returns what it printed.
func client1(t *testing.T, shop *v1alpha1.PgStorageCluster, name, script string) string {
	t.Helper()
	return outputOf(t, clientPod(shop, name, script))
}

// patientClient tries again where its script fails, as an application does. CloudNativePG restarts
// a restored database once more after it is up.
func patientClient(t *testing.T, shop *v1alpha1.PgStorageCluster, name, script string) string {
	t.Helper()
	pod := clientPod(shop, name, script)
	pod.Spec.RestartPolicy = corev1.RestartPolicyOnFailure
	return outputOf(t, pod)
}

// outputOf waits until a client has succeeded, and returns what it printed. The test logs why it
// failed before.
func outputOf(t *testing.T, pod *corev1.Pod) string {
	t.Helper()
	create(t, pod)
	eventually(t, "the client "+pod.Name, func(ctx context.Context) error {
		if err := c.Get(ctx, client.ObjectKeyFromObject(pod), pod); err != nil {
			return err
		}
		if pod.Status.Phase == corev1.PodSucceeded {
			return nil
		}
		out, _ := command(ctx, "kubectl", "-n", pod.Namespace, "logs", pod.Name)
		return fmt.Errorf("it is %s: %s", pod.Status.Phase, out)
	})
	for _, s := range pod.Status.ContainerStatuses {
		if s.RestartCount > 0 {
			out, _ := command(t.Context(), "kubectl", "-n", pod.Namespace, "logs", "--previous", pod.Name)
			t.Logf("the client %s tried %d times again; the last time it had failed with %s", pod.Name, s.RestartCount, out)
		}
	}
	return logs(t, pod.Namespace, pod.Name)
}

func logs(t *testing.T, namespace, pod string) string {
	t.Helper()
	out, err := command(t.Context(), "kubectl", "-n", namespace, "logs", pod)
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// insertLoop commits one row after another and prints each only when Postgres has
// acknowledged it. A row whose fate is unknown is not tried again under its
// number. It prints when each row was acknowledged, in seconds since 1970, and ends when the
// table "stop" exists.
const insertLoop = `
n=0
while :; do
  n=$((n+1))
  out=$(timeout 10 psql -XAtq -v ON_ERROR_STOP=1 -c "INSERT INTO acked VALUES ($n) RETURNING id" -c "SELECT to_regclass('stop') IS NOT NULL" 2>/dev/null) || { echo "fail $n"; continue; }
  echo "at $EPOCHREALTIME"
  echo "ack $n"
  case $out in *t) echo done; exit 0 ;; esac
done`

// rows counts those that were acknowledged to the client "loader".
func rows(t *testing.T, shop *v1alpha1.PgStorageCluster) int {
	t.Helper()
	return len(acks.Rows(logs(t, shop.Namespace, "loader")))
}

// lacking are the rows that were acknowledged in a client's log and that an instance does not
// have.
func lacking(t *testing.T, log, namespace, instance string) map[string]bool {
	t.Helper()
	told := acks.Rows(log)
	for id := range strings.SplitSeq(psql(t, namespace, instance, "SELECT id FROM acked"), "\n") {
		delete(told, id)
	}
	return told
}

// killPrimary deletes the primary's pod without grace while a client commits, and then looks
// for every row that was acknowledged to the client.
func killPrimary(t *testing.T, shop *v1alpha1.PgStorageCluster) {
	old := shop.Status.Database.Primary
	client1(t, shop, "prepare", `psql -XAtq -v ON_ERROR_STOP=1 -c "CREATE TABLE acked (id int PRIMARY KEY)"`)
	create(t, clientPod(shop, "loader", insertLoop))
	atLeast(t, shop, 50)
	now := int64(0)
	if err := c.Delete(t.Context(), &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: shop.Namespace, Name: old}}, &client.DeleteOptions{GracePeriodSeconds: &now}); err != nil {
		t.Fatal(err)
	}
	killed, before := time.Now(), len(acks.Rows(logs(t, shop.Namespace, "loader")))
	atLeast(t, shop, before+50)
	t.Logf("50 more commits were acknowledged %s after the kill", time.Since(killed).Round(100*time.Millisecond))
	ready(t, shop)
	primary := shop.Status.Database.Primary
	psql(t, shop.Namespace, primary, "CREATE TABLE stop ()")
	clientEnded(t, shop.Namespace, "loader")
	if lost := lacking(t, logs(t, shop.Namespace, "loader"), shop.Namespace, primary); len(lost) > 0 {
		t.Errorf("%d acknowledged rows are lost: %v", len(lost), lost)
	}
	t.Logf("primary %s was killed, %s took over, no acknowledged row is lost", old, primary)
}

func atLeast(t *testing.T, shop *v1alpha1.PgStorageCluster, rows int) {
	t.Helper()
	eventually(t, fmt.Sprintf("%d acknowledged rows", rows), func(ctx context.Context) error {
		out, err := command(ctx, "kubectl", "-n", shop.Namespace, "logs", "loader")
		if err != nil {
			return fmt.Errorf("the client has not started")
		}
		if len(acks.Rows(out)) < rows {
			return fmt.Errorf("not yet")
		}
		return nil
	})
}
