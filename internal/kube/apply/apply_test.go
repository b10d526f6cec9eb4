package apply

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"testing"

	cnpgv1 "github.com/cloudnative-pg/cloudnative-pg/api/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"sigs.k8s.io/controller-runtime/pkg/client"

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

// recording is a Writer that keeps what it is given.
type recording struct{ applied []map[string]any }

func (r *recording) Apply(_ context.Context, obj runtime.ApplyConfiguration, _ ...client.ApplyOption) error {
	raw, err := json.Marshal(obj)
	content := map[string]any{}
	r.applied = append(r.applied, content)
	return errors.Join(err, json.Unmarshal(raw, &content))
}

func (*recording) Delete(context.Context, client.Object, ...client.DeleteOption) error { return nil }

// An object that was seen is written with its UID, which takes no part in its intent.
func TestWriteIsForTheObjectThatWasSeen(t *testing.T) {
	o, seen := applied(t)
	seen.UID, seen.Spec.Instances = "first", 2
	for uid, live := range map[string]plan.Live{"": {}, "first": {o.Key(): seen}} {
		w := &recording{}
		if _, err := Plan(t.Context(), w, &plan.Plan{Objects: []plan.Object{o}}, live); err != nil {
			t.Fatal(err)
		}
		if len(w.applied) != 1 {
			t.Fatalf("%d writes", len(w.applied))
		}
		if got, _, _ := unstructured.NestedString(w.applied[0], "metadata", "uid"); got != uid {
			t.Errorf("applied with UID %q, want %q", got, uid)
		}
	}
	if o.Content.GetUID() != "" {
		t.Errorf("the plan has UID %s", o.Content.GetUID())
	}
}

// rejecting is a Writer whose API server rejects the objects of one kind.
type rejecting struct {
	recording
	kind string
}

func (r *rejecting) Apply(ctx context.Context, obj runtime.ApplyConfiguration, opts ...client.ApplyOption) error {
	if err := r.recording.Apply(ctx, obj, opts...); err != nil {
		return err
	}
	if r.applied[len(r.applied)-1]["kind"] == r.kind {
		return apierrors.NewForbidden(schema.GroupResource{}, "shop", errors.New("exceeded quota"))
	}
	return nil
}

// A rejected object holds others back only where they build on it.
func TestRejectionHoldsBackOnlyWhatBuildsOnIt(t *testing.T) {
	stages := []plan.Stage{plan.StageDatabase, plan.StageBackups, plan.StageReadPools, plan.StageSites, plan.StageMonitors, plan.StageInlineBenchmark}
	p := &plan.Plan{}
	for _, stage := range stages {
		p.Add(plan.FromContent(stage, map[string]any{"apiVersion": "v1", "kind": stage.String(), "metadata": map[string]any{"name": "shop"}}))
	}
	for _, stage := range stages {
		t.Run(stage.String(), func(t *testing.T) {
			done, err := Plan(t.Context(), &rejecting{kind: stage.String()}, p, plan.Live{})
			if stage == plan.StageDatabase {
				if !Rejected(err) || len(done.Changes) > 0 || len(done.Rejected) > 0 {
					t.Errorf("%+v, %v", done, err)
				}
				return
			}
			if err != nil || len(done.Changes) != len(stages)-1 {
				t.Fatalf("%d changes, %v", len(done.Changes), err)
			}
			if r := done.Rejected; len(r) != 1 || r[0].Stage != stage || !Rejected(r[0].Err) {
				t.Errorf("rejected %+v", r)
			}
		})
	}
}

// A user has nothing to change where the object is gone, or is another one by now.
func TestOutdatedIsNotRejected(t *testing.T) {
	of := schema.GroupKind{Group: "postgresql.cnpg.io", Kind: "Cluster"}
	invalid := func(path ...string) error {
		return apierrors.NewInvalid(of, "shop", field.ErrorList{field.Invalid(field.NewPath(path[0], path[1:]...), "x", "field is immutable")})
	}
	for name, tc := range map[string]struct {
		err                error
		outdated, rejected bool
	}{
		"none":        {},
		"gone":        {err: apierrors.NewConflict(schema.GroupResource{}, "shop", errors.New("uid mismatch")), outdated: true},
		"another one": {err: invalid("metadata", "uid"), outdated: true},
		"invalid":     {err: invalid("spec", "instances"), rejected: true},
		"forbidden":   {err: apierrors.NewForbidden(schema.GroupResource{}, "shop", errors.New("quota")), rejected: true},
		"unknown":     {err: errors.New("connection refused")},
	} {
		t.Run(name, func(t *testing.T) {
			err := tc.err
			if err != nil {
				err = fmt.Errorf("apply Cluster shop: %w", err)
			}
			if Outdated(err) != tc.outdated || Rejected(err) != tc.rejected {
				t.Errorf("outdated %v, rejected %v", Outdated(err), Rejected(err))
			}
		})
	}
}
