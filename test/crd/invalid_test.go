package crd_test

import (
	"context"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"

	cnpgv1 "github.com/cloudnative-pg/cloudnative-pg/api/v1"
	storagev1 "k8s.io/api/storage/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/util/wait"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/pgstorage/pgstorage/api/v1alpha1"
	hatchrules "github.com/pgstorage/pgstorage/internal/operator/component/cnpg/hatch"
	"github.com/pgstorage/pgstorage/internal/testing/apiserver"
	"github.com/pgstorage/pgstorage/internal/testing/manager"
)

// TestInvalidObjectsAreRefused creates every object of the table and reads what a user would.
func TestInvalidObjectsAreRefused(t *testing.T) {
	c := apiserver.Client(t, config)
	manager.Start(t, config)
	prepareStorage(t, c)
	atAdmission, byConditions := 0, 0
	seen := map[string]bool{}
	for i, r := range rows {
		if seen[r.name] {
			t.Errorf("two rows are called %q", r.name)
		}
		seen[r.name] = true
		refused := t.Run(r.name, func(t *testing.T) {
			object := base(t, r.kind, r.before...)
			if clusterWide(object) {
				object.SetName(fmt.Sprintf("row-%d", i))
			}
			place(t, c, object)
			switch r.stage {
			case onCreate:
				edit(t, object, r.change...)
				mustSay(t, c.Create(t.Context(), object, client.DryRunAll), r.says)
			case onUpdate, onStatus:
				refusedUpdate(t, c, object, r)
			case byCondition:
				refusedByCondition(t, c, object, r)
			}
		})
		if !refused {
			continue
		}
		if r.stage == byCondition {
			byConditions++
		} else {
			atAdmission++
		}
	}
	if t.Run("profile deleted in use", func(t *testing.T) { profileInUse(t, c) }) {
		byConditions++
	}
	total := atAdmission + byConditions
	t.Logf("%d invalid CRs refused: %d at admission, %d by condition", total, atAdmission, byConditions)
	if total < 60 {
		t.Errorf("%d invalid CRs are refused; at least 60 are wanted", total)
	}
}

// refusedUpdate makes the valid object and changes it, or its status.
func refusedUpdate(t *testing.T, c client.Client, object *unstructured.Unstructured, r row) {
	t.Helper()
	if err := c.Create(t.Context(), object); err != nil {
		t.Fatalf("the base is not valid: %v", err)
	}
	err := wait.PollUntilContextTimeout(t.Context(), interval, patience, true, func(ctx context.Context) (bool, error) {
		if err := c.Get(ctx, client.ObjectKeyFromObject(object), object); err != nil {
			return false, err
		}
		edit(t, object, r.change...)
		err := update(ctx, c, object, r.stage)
		if apierrors.IsConflict(err) { // the controllers wrote in between
			return false, nil
		}
		return true, err
	})
	mustSay(t, err, r.says)
}

func update(ctx context.Context, c client.Client, object *unstructured.Unstructured, s stage) error {
	if s == onStatus {
		return c.Status().Update(ctx, object, client.DryRunAll)
	}
	return c.Update(ctx, object, client.DryRunAll)
}

// mustSay checks that an object was found invalid in these words.
func mustSay(t *testing.T, err error, says []string) {
	t.Helper()
	var status apierrors.APIStatus
	if !errors.As(err, &status) {
		t.Fatalf("not refused by the API server: %v", err)
	}
	if !apierrors.IsInvalid(err) && !apierrors.IsBadRequest(err) {
		t.Errorf("refused for another reason than its content: %v", err)
	}
	contains(t, status.Status().Message, says)
}

func contains(t *testing.T, message string, says []string) {
	t.Helper()
	if len(says) == 0 {
		t.Error("the row says nothing")
	}
	for _, s := range says {
		if !strings.Contains(message, s) {
			t.Errorf("the message lacks %q:\n%s", s, message)
		}
	}
}

// refusedByCondition stores the object and waits for the controllers' verdict.
func refusedByCondition(t *testing.T, c client.Client, object *unstructured.Unstructured, r row) {
	t.Helper()
	edit(t, object, r.change...)
	if err := c.Create(t.Context(), object); err != nil {
		t.Fatalf("only facts can refuse it, yet the API server does: %v", err)
	}
	contains(t, notReady(t, c, object, r.says[0]), r.says)
	noDatabase(t, c, object.GetNamespace())
}

// notReady waits until Ready is False for this generation with these words, and
// returns its message.
func notReady(t *testing.T, c client.Client, object *unstructured.Unstructured, says string) string {
	t.Helper()
	message, last := "", "no condition Ready"
	err := wait.PollUntilContextTimeout(t.Context(), interval, patience, true, func(ctx context.Context) (bool, error) {
		if err := c.Get(ctx, client.ObjectKeyFromObject(object), object); err != nil {
			return false, err
		}
		conditions, _, err := unstructured.NestedSlice(object.Object, "status", "conditions")
		if err != nil {
			return false, err
		}
		for _, entry := range conditions {
			condition, _ := entry.(map[string]any)
			if condition["type"] != v1alpha1.ConditionReady {
				continue
			}
			message, _ = condition["message"].(string)
			last = fmt.Sprintf("Ready=%v (%v): %s", condition["status"], condition["reason"], message)
			if condition["status"] == "False" && condition["observedGeneration"] == object.GetGeneration() && strings.Contains(message, says) {
				return true, nil
			}
		}
		return false, nil
	})
	if err != nil {
		t.Fatalf("waited for Ready=False with %q: %v; last: %s", says, err, last)
	}
	return message
}

// noDatabase checks that no CloudNativePG Cluster was made in a namespace.
func noDatabase(t *testing.T, c client.Client, ns string) {
	t.Helper()
	if ns == "" {
		return
	}
	list := &cnpgv1.ClusterList{}
	if err := c.List(t.Context(), list, client.InNamespace(ns)); err != nil {
		t.Fatal(err)
	}
	if len(list.Items) > 0 {
		t.Errorf("a database was made: %s", list.Items[0].Name)
	}
}

// profileInUse deletes a profile that a cluster uses.
func profileInUse(t *testing.T, c client.Client) {
	p := base(t, "PgStorageProfile", set("metadata/name", "used"))
	if err := c.Create(t.Context(), p); err != nil {
		t.Fatal(err)
	}
	ns := namespace(t, c)
	user := base(t, "PgStorageCluster", set("spec/profile", "used"), set("metadata/namespace", ns), set("spec/suspend", true))
	if err := c.Create(t.Context(), user); err != nil {
		t.Fatal(err)
	}
	held := wait.PollUntilContextTimeout(t.Context(), interval, patience, true, func(ctx context.Context) (bool, error) {
		err := c.Get(ctx, client.ObjectKeyFromObject(p), p)
		clusters, _, _ := unstructured.NestedInt64(p.Object, "status", "clusters")
		return err == nil && clusters == 1 && len(p.GetFinalizers()) > 0, err
	})
	if held != nil {
		t.Fatalf("the profile was not counted and held: %v", held)
	}
	if err := c.Delete(t.Context(), p); err != nil {
		t.Fatal(err)
	}
	says := "deletion waits for the PgStorageClusters that use this profile: "
	contains(t, notReady(t, c, p, says), []string{says, ns + "/shop"})
	noDatabase(t, c, ns)
}

// prepareStorage makes the profile of the bases, Ready on a StorageClass that
// exists, so that nothing but the mutation holds a database back.
func prepareStorage(t *testing.T, c client.Client) {
	t.Helper()
	class := &storagev1.StorageClass{ObjectMeta: metav1.ObjectMeta{Name: "fast"}, Provisioner: "example.com/none"}
	if err := c.Create(t.Context(), class); err != nil {
		t.Fatal(err)
	}
	if err := c.Create(t.Context(), base(t, "PgStorageProfile")); err != nil {
		t.Fatal(err)
	}
}

// TestAnUnchangedBaseIsAccepted is the other half of the table: without its
// mutation, nothing of a row keeps a database from being made.
func TestAnUnchangedBaseIsAccepted(t *testing.T) {
	c := apiserver.Client(t, config)
	manager.Start(t, config)
	class := &storagev1.StorageClass{ObjectMeta: metav1.ObjectMeta{Name: "control"}, Provisioner: "example.com/none"}
	if err := c.Create(t.Context(), class); err != nil {
		t.Fatal(err)
	}
	p := base(t, "PgStorageProfile", set("metadata/name", "control"), set("spec/external/storageClassName", "control"))
	if err := c.Create(t.Context(), p); err != nil {
		t.Fatal(err)
	}
	object := base(t, "PgStorageCluster", set("spec/profile", "control"))
	place(t, c, object)
	if err := c.Create(t.Context(), object); err != nil {
		t.Fatal(err)
	}
	err := wait.PollUntilContextTimeout(t.Context(), interval, patience, true, func(ctx context.Context) (bool, error) {
		err := c.Get(ctx, client.ObjectKeyFromObject(object), &cnpgv1.Cluster{})
		return err == nil, client.IgnoreNotFound(err)
	})
	if err != nil {
		_ = c.Get(t.Context(), client.ObjectKeyFromObject(object), object)
		_ = c.Get(t.Context(), client.ObjectKeyFromObject(p), p)
		t.Errorf("no database was made: %v; cluster: %v; profile: %v", err, object.Object["status"], p.Object["status"])
	}
}

// TestEveryRuleHasARow: a CEL rule that no row of the table breaks may say
// anything, or nothing.
func TestEveryRuleHasARow(t *testing.T) {
	rules := 0
	check := func(path string, s schema) {
		for _, rule := range s.XValidations {
			rules++
			shown := slices.ContainsFunc(rows, func(r row) bool {
				return slices.ContainsFunc(r.says, func(s string) bool { return strings.Contains(rule.Message, s) || strings.Contains(s, rule.Message) })
			})
			if !shown {
				t.Errorf("%s: no row shows %q", path, rule.Message)
			}
		}
	}
	for _, crd := range crds(t) {
		for _, version := range crd.Spec.Versions {
			check(crd.Spec.Names.Kind, *version.Schema.OpenAPIV3Schema)
		}
	}
	walk(t, check)
	t.Logf("%d rules are shown", rules)
}

// TestEveryBoundOfZFSHasARow: each rule, choice, bound and required field has a row at its own
// path. This covers the profile types that make storage, and PgNodeStorage. The
// datasets of S3NBD have the schema of ZFSLocalPV's.
func TestEveryBoundOfZFSHasARow(t *testing.T) {
	index := regexp.MustCompile(`\[[0-9]+\]`)
	said := map[string][]string{}
	for _, r := range rows {
		kind := base(t, r.kind).GetKind()
		for _, s := range r.says {
			said[kind] = append(said[kind], index.ReplaceAllString(s, "[]"))
		}
	}
	bounds := 0
	walk(t, func(path string, s schema) {
		kind, field, _ := strings.Cut(path, ".")
		if kind != "PgNodeStorage" && !regexp.MustCompile(`^PgStorageProfile\.spec\.(zfsLocalPV|s3NBD|cephRBD|memory|nodeSelector|type)\b`).MatchString(path) || strings.HasPrefix(path, "PgStorageProfile.spec.s3NBD.data") || strings.HasPrefix(path, "PgStorageProfile.spec.s3NBD.wal") || !strings.HasPrefix(field+".", "spec.") {
			return
		}
		for _, want := range bounded(field, s) {
			bounds++
			if !slices.ContainsFunc(said[kind], func(s string) bool { return strings.HasPrefix(s, want[0]) && strings.Contains(s, want[1]) }) {
				t.Errorf("%s: no row shows %s ... %s", kind, want[0], want[1])
			}
		}
	})
	t.Logf("%d rules, choices and bounds are shown at their paths", bounds)
}

// bounded are beginnings and parts of what the API server says of a field that is
// out of bounds, with [] for any index.
func bounded(field string, s schema) [][2]string {
	var out [][2]string
	say := func(format string, bound any) {
		out = append(out, [2]string{field + ": ", fmt.Sprintf(format, bound)})
	}
	for _, rule := range s.XValidations {
		out = append(out, [2]string{field + rule.FieldPath + ": ", rule.Message})
	}
	for _, name := range s.Required {
		out = append(out, [2]string{field + "." + name + ": Required value", ""})
	}
	if len(s.Enum) > 0 {
		var choices []string
		for _, choice := range s.Enum {
			choices = append(choices, string(choice.Raw))
		}
		say("supported values: %s", strings.Join(choices, ", "))
	}
	for format, bound := range map[string]*float64{"greater than or equal to %v": s.Minimum, "less than or equal to %v": s.Maximum} {
		if bound != nil {
			say(format, *bound)
		}
	}
	for format, bound := range map[string]*int64{
		"at least %d chars": s.MinLength, "more than %d bytes": s.MaxLength, "at least %d items": s.MinItems, "at most %d items": s.MaxItems,
		"at least %d properties": s.MinProperties, "must have at most %d items": s.MaxProperties,
	} {
		if bound != nil {
			say(format, *bound)
		}
	}
	if s.Pattern != "" {
		say("%s", "should match")
	}
	return out
}

// TestEveryRefusedOverrideHasARow: each field that no consent opens in the escape hatch has a
// row.
func TestEveryRefusedOverrideHasARow(t *testing.T) {
	for path := range hatchrules.Never() {
		if !slices.ContainsFunc(rows, func(r row) bool { return r.name == "override "+path }) {
			t.Errorf("no row for spec.cnpg.spec.%s", path)
		}
	}
}
