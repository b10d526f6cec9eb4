package apply

import (
	"encoding/json"
	"testing"

	cnpgv1 "github.com/cloudnative-pg/cloudnative-pg/api/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/pgstorage/pgstorage/internal/kube/naming"
	"github.com/pgstorage/pgstorage/internal/kube/plan"
)

// zeros are fields that a user sets to the zero value, which the Go type omits.
const zeros = `{"apiVersion": "postgresql.cnpg.io/v1", "kind": "Cluster", "metadata": {"name": "shop"}, "spec": {
	"instances": 1, "failoverDelay": 0, "enableSuperuserAccess": false, "nodeMaintenanceWindow": {"inProgress": false},
	"monitoring": {"tls": {"enabled": false}}, "affinity": {"tolerations": []},
	"managed": {"roles": [{"name": "app1", "login": true}, {"name": "app2", "login": true, "superuser": false}]}}}`

// applied is the object that a plan wants, and the Cluster as a cache has it afterwards.
func applied(t *testing.T) (plan.Object, *cnpgv1.Cluster) {
	t.Helper()
	content := map[string]any{}
	if err := json.Unmarshal([]byte(zeros), &content); err != nil {
		t.Fatal(err)
	}
	o := plan.FromContent(plan.StageDatabase, content)
	live := &cnpgv1.Cluster{}
	if err := runtime.DefaultUnstructuredConverter.FromUnstructured(o.Content.Object, live); err != nil {
		t.Fatal(err)
	}
	live.Kind, live.APIVersion = "", ""
	return o, live
}

// What a Go type never shows is not drift, unless another writer set it.
func TestDriftOfZeroValues(t *testing.T) {
	for _, tc := range []struct {
		name   string
		change func(*cnpgv1.Cluster)
		want   string
	}{
		{"as applied", func(*cnpgv1.Cluster) {}, ""},
		{"roles in another order", func(c *cnpgv1.Cluster) {
			r := c.Spec.Managed.Roles
			r[0], r[1] = r[1], r[0]
		}, ""},
		{"a superuser", func(c *cnpgv1.Cluster) { c.Spec.Managed.Roles[1].Superuser = true }, ".spec.managed.roles[1].superuser"},
		{"another value of the same role", func(c *cnpgv1.Cluster) { c.Spec.Managed.Roles[1].Login = false }, ".spec.managed.roles[1].login"},
		{"a role less", func(c *cnpgv1.Cluster) { c.Spec.Managed.Roles = c.Spec.Managed.Roles[:1] }, ".spec.managed.roles[1]"},
		{"a delay", func(c *cnpgv1.Cluster) { c.Spec.FailoverDelay = 1 }, ".spec.failoverDelay"},
		{"no window", func(c *cnpgv1.Cluster) { c.Spec.NodeMaintenanceWindow = nil }, ".spec.nodeMaintenanceWindow"},
		{"a pointer that is gone", func(c *cnpgv1.Cluster) { c.Spec.EnableSuperuserAccess = nil }, ".spec.enableSuperuserAccess"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			o, live := applied(t)
			tc.change(live)
			drift, needed, err := needs(o, live)
			if err != nil || drift != tc.want || needed != (tc.want != "") {
				t.Errorf("drift %q, needed %v, %v; want %q", drift, needed, err, tc.want)
			}
		})
	}
}

// An object without a Go type shows every value, so a field that is absent was removed.
func TestDriftOfAnUntypedObject(t *testing.T) {
	o, _ := applied(t)
	live := &unstructured.Unstructured{Object: o.Content.DeepCopy().Object}
	if drift, needed, err := needs(o, live); err != nil || needed {
		t.Errorf("drift %q, %v", drift, err)
	}
	unstructured.RemoveNestedField(live.Object, "spec", "failoverDelay")
	if drift, _, err := needs(o, live); err != nil || drift != ".spec.failoverDelay" {
		t.Errorf("drift %q, %v", drift, err)
	}
	live.SetAnnotations(map[string]string{naming.AnnotationIntent: "before"})
	if drift, needed, err := needs(o, live); err != nil || drift != "" || !needed {
		t.Errorf("an older intent: drift %q, needed %v, %v", drift, needed, err)
	}
}
