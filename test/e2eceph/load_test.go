//go:build e2eceph

package e2eceph

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/pgstorage/pgstorage/api/v1alpha1"
	"github.com/pgstorage/pgstorage/internal/kube/naming"
)

// fourClients each commit one row after another, and print a row only when Postgres has
// acknowledged it. They do not reuse the number of a row whose fate is unknown: the next
// session starts with numbers of its own. They end when the table "stop" exists.
const fourClients = `
client() {
  session=0
  until [ "$(psql -XAtq -c "SELECT to_regclass('stop') IS NOT NULL" 2>/dev/null)" = t ]; do
    session=$((session+1))
    for i in {1..200}; do
      echo "INSERT INTO acked VALUES ($(($1*100000000+session*1000+i))) RETURNING 'ack ' || id;"
    done | timeout 150 stdbuf -oL psql -XAtq -v ON_ERROR_STOP=1 2>/dev/null || { echo "cut $session"; sleep 1; }
  done
}
for n in 1 2 3 4; do client $n & done
wait
echo done`

// load is the pod with the clients.
type load struct {
	pod *corev1.Pod
}

// loaded starts the clients, and returns once they have had commits acknowledged.
func loaded(t *testing.T, ledger *v1alpha1.PgStorageCluster) *load {
	t.Helper()
	psql(t, ledger, "SET ROLE app; DROP TABLE IF EXISTS stop, acked; CREATE TABLE acked (id int PRIMARY KEY)")
	l := &load{clients(t, ledger)}
	create(t, l.pod)
	l.atLeast(t, 100)
	return l
}

// clients run beside the mon. They reach the database by its Service's address, because a
// node with DNS may be the one that is lost.
func clients(t *testing.T, ledger *v1alpha1.PgStorageCluster) *corev1.Pod {
	t.Helper()
	service := &corev1.Service{}
	if err := c.Get(t.Context(), client.ObjectKey{Namespace: ledger.Namespace, Name: naming.ReadWriteService(ledger.Name)}, service); err != nil {
		t.Fatal(err)
	}
	from := func(env, key string) corev1.EnvVar {
		return corev1.EnvVar{Name: env, ValueFrom: &corev1.EnvVarSource{SecretKeyRef: &corev1.SecretKeySelector{
			LocalObjectReference: corev1.LocalObjectReference{Name: ledger.Status.Secrets.Application}, Key: key,
		}}}
	}
	return &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Namespace: ledger.Namespace, GenerateName: "clients-"},
		Spec: corev1.PodSpec{
			NodeName: control, RestartPolicy: corev1.RestartPolicyNever, TerminationGracePeriodSeconds: new(int64(2)),
			Containers: []corev1.Container{{
				Name: "clients", Image: ledger.Status.Database.Image, Command: []string{"bash", "-c", fourClients},
				Env: []corev1.EnvVar{
					{Name: "PGHOST", Value: service.Spec.ClusterIP}, {Name: "PGSSLMODE", Value: "require"}, {Name: "PGCONNECT_TIMEOUT", Value: "10"},
					from("PGUSER", "username"), from("PGPASSWORD", "password"), from("PGDATABASE", "dbname"),
				},
			}},
		},
	}
}

// acked row, and when kubelet read its line.
type acked struct {
	id string
	at time.Time
}

// rows that were acknowledged, in the order of their lines.
func (l *load) rows(ctx context.Context) ([]acked, error) {
	out, err := command(ctx, "kubectl", "-n", l.pod.Namespace, "logs", "--timestamps", l.pod.Name)
	if err != nil {
		return nil, err
	}
	var rows []acked
	for line := range strings.SplitSeq(out, "\n") {
		stamp, text, _ := strings.Cut(line, " ")
		id, found := strings.CutPrefix(text, "ack ")
		if !found {
			continue
		}
		at, err := time.Parse(time.RFC3339Nano, stamp)
		if err != nil {
			return nil, err
		}
		rows = append(rows, acked{id, at})
	}
	return rows, nil
}

// atLeast waits for so many rows.
func (l *load) atLeast(t *testing.T, n int) {
	t.Helper()
	eventually(t, fmt.Sprintf("%d acknowledged rows", n), func(ctx context.Context) error {
		rows, err := l.rows(ctx)
		if err != nil {
			return errors.New("the clients have not started")
		}
		if len(rows) < n {
			return errors.New("fewer so far")
		}
		return nil
	})
}

// after waits for rows that were acknowledged after a time.
func (l *load) after(t *testing.T, begin time.Time) {
	t.Helper()
	eventually(t, "50 rows acknowledged since then", func(ctx context.Context) error {
		rows, err := l.rows(ctx)
		if err != nil {
			return err
		}
		if len(rows) < 50 || !rows[len(rows)-50].at.After(begin) {
			return errors.New("fewer so far")
		}
		return nil
	})
}

// end ends the clients, looks for each acknowledged row, and returns the rows and how many of
// them are lost.
func (l *load) end(t *testing.T, ledger *v1alpha1.PgStorageCluster) (rows []acked, lost int) {
	t.Helper()
	psql(t, ledger, "SET ROLE app; CREATE TABLE stop ()")
	eventually(t, "the clients to end", func(ctx context.Context) error {
		if err := c.Get(ctx, client.ObjectKeyFromObject(l.pod), l.pod); err != nil {
			return err
		}
		if l.pod.Status.Phase != corev1.PodSucceeded {
			return fmt.Errorf("they are %s", l.pod.Status.Phase)
		}
		return nil
	})
	rows, err := l.rows(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	there := stored(t, ledger)
	for _, row := range rows {
		if !there[row.id] {
			lost++
		}
	}
	return rows, lost
}

// stored rows. kubectl exec sometimes breaks off long outputs, so the rows are counted, too.
func stored(t *testing.T, ledger *v1alpha1.PgStorageCluster) map[string]bool {
	t.Helper()
	var there map[string]bool
	eventually(t, "the rows to be read", func(ctx context.Context) error {
		out, err := trySQL(ctx, ledger, "SELECT count(*) FROM acked UNION ALL SELECT id FROM acked")
		if err != nil {
			return err
		}
		count, ids, _ := strings.Cut(out, "\n")
		there = map[string]bool{}
		for id := range strings.SplitSeq(ids, "\n") {
			there[id] = true
		}
		if fmt.Sprint(len(there)) != count {
			return fmt.Errorf("%d of %s rows were read", len(there), count)
		}
		return nil
	})
	return there
}

// stall is the longest time without an acknowledged row that overlaps the fault.
func stall(rows []acked, begin, end time.Time) time.Duration {
	var longest time.Duration
	for i := 1; i < len(rows); i++ {
		from, to := rows[i-1].at, rows[i].at
		if to.After(begin) && from.Before(end) {
			longest = max(longest, to.Sub(from))
		}
	}
	return longest
}

// psql runs SQL as postgres in the primary's pod.
func psql(t *testing.T, ledger *v1alpha1.PgStorageCluster, sql string) string {
	t.Helper()
	out, err := trySQL(t.Context(), ledger, sql)
	if err != nil {
		t.Fatal(err)
	}
	return out
}

func trySQL(ctx context.Context, ledger *v1alpha1.PgStorageCluster, sql string) (string, error) {
	return command(ctx, "kubectl", "-n", ledger.Namespace, "exec", ledger.Status.Database.Primary, "-c", "postgres", "--",
		"psql", "-XAtq", "-v", "ON_ERROR_STOP=1", "-d", "app", "-c", sql)
}
