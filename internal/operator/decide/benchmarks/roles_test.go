package benchmarks

import (
	"testing"
	"time"

	cnpgv1 "github.com/cloudnative-pg/cloudnative-pg/api/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/pgstorage/pgstorage/internal/kube/naming"
	"github.com/pgstorage/pgstorage/internal/operator/observed"
)

// A role that CloudNativePG could not apply is written again every other second, until
// CloudNativePG retries on its own. Other roles stay as they are.
func TestRoleIsWrittenAgain(t *testing.T) {
	made := time.Date(2026, 11, 22, 10, 0, 0, 0, time.UTC)
	role := func(applied *bool, asked string) *cnpgv1.DatabaseRole {
		r := &cnpgv1.DatabaseRole{ObjectMeta: metav1.ObjectMeta{CreationTimestamp: metav1.NewTime(made)}, Status: cnpgv1.DatabaseRoleStatus{Applied: applied}}
		if asked != "" {
			r.Annotations = map[string]string{naming.AnnotationAsked: asked}
		}
		return r
	}
	for _, c := range []struct {
		name  string
		role  *cnpgv1.DatabaseRole
		after time.Duration
		asked string
		again bool
	}{
		{name: "none"},
		{name: "not looked at", role: role(nil, ""), after: time.Minute},
		{name: "failed just now", role: role(new(false), ""), after: time.Second, again: true},
		{name: "failed", role: role(new(false), ""), after: 2 * time.Second, asked: "1", again: true},
		{name: "failed again", role: role(new(false), "1"), after: 5 * time.Second, asked: "2", again: true},
		{name: "fails for long", role: role(new(false), "14"), after: time.Hour, asked: "15"},
		{name: "applied at once", role: role(new(true), ""), after: time.Hour},
		{name: "applied at last", role: role(new(true), "2"), after: time.Hour, asked: "2"},
	} {
		now := made.Add(c.after)
		if got := asked(c.role, now); got != c.asked {
			t.Errorf("%s: asked %q, want %q", c.name, got, c.asked)
		}
		for _, facts := range []observed.Benchmark{{Role: c.role, Now: now}, {CheckRole: c.role, Now: now}} {
			if got := AsksAgain(facts); got != c.again {
				t.Errorf("%s: asks again %v, want %v", c.name, got, c.again)
			}
		}
	}
}
