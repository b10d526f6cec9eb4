package integration

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	authenticationv1 "k8s.io/api/authentication/v1"
	corev1 "k8s.io/api/core/v1"
	eventsv1 "k8s.io/api/events/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/yaml"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/pgstorage/pgstorage/api/v1alpha1"
	"github.com/pgstorage/pgstorage/internal/kube/apply"
	"github.com/pgstorage/pgstorage/internal/kube/naming"
	"github.com/pgstorage/pgstorage/internal/kube/status"
	"github.com/pgstorage/pgstorage/internal/testing/apiserver"
	"github.com/pgstorage/pgstorage/internal/testing/repository"
)

const agentNamespace = "pgstorage-system"

// An agent, with the token that the API server makes for its pod, writes the status
// and the finalizer of its own node's objects. RBAC would let it write those of
// others, and specs; the policy does not.
func TestAgentWritesForItsOwnNodeOnly(t *testing.T) {
	c := apiserver.Client(t, config)
	create(t, c, &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: agentNamespace}})
	for _, file := range []string{"service_account.yaml", "role.yaml", "role_binding.yaml"} {
		createFile(t, c, "config/agent/"+file)
	}
	own, other := policyStorage(t, c, "policy-a"), policyStorage(t, c, "policy-b")
	agent := apiserver.Client(t, boundAgent(t, c, "policy-a"))

	eventually(t, "the agent's rights", func(ctx context.Context) error { return annotate(ctx, agent, other, "before") })
	createFile(t, c, "config/agent/admission_policy.yaml")
	eventually(t, "the policy", func(ctx context.Context) error {
		return refused(annotate(ctx, agent, other, "after"), "the agent of node policy-a may not change the PgNodeStorage of node policy-b")
	})

	t.Run("it works on its own", func(t *testing.T) { worksOn(t, agent, own) })
	t.Run("and on nothing else", func(t *testing.T) { worksOnNothingElse(t, c, agent, own, other) })
	t.Run("events are about its own", func(t *testing.T) { eventsAboutItsOwn(t, agent, own, other) })
	t.Run("events stay about it", func(t *testing.T) { eventsStay(t, c, agent, own) })
	t.Run("nobody else is restrained", func(t *testing.T) {
		if err := annotate(t.Context(), c, own, "by an administrator"); err != nil {
			t.Error(err)
		}
	})
	t.Run("a token of no node", func(t *testing.T) {
		unbound := apiserver.Client(t, withAgentToken(t, c, nil))
		err := mergePatch(t.Context(), unbound, own, "status", `{"status":{"observedGeneration":7}}`)
		if err := refused(err, "the agent's token is bound to no node"); err != nil {
			t.Error(err)
		}
	})
	t.Run("it neither makes nor deletes", func(t *testing.T) {
		more := &rbacv1.ClusterRole{ObjectMeta: metav1.ObjectMeta{Name: "pgstorage-agent"}, Rules: []rbacv1.PolicyRule{{
			APIGroups: []string{v1alpha1.GroupVersion.Group}, Resources: []string{"pgnodestorages"}, Verbs: []string{"create", "delete"},
		}}}
		if err := c.Update(t.Context(), more); err != nil {
			t.Fatal(err)
		}
		const want = "an agent neither makes nor deletes PgNodeStorages"
		eventually(t, "the policy's refusal", func(ctx context.Context) error { return refused(agent.Delete(ctx, own), want) })
		made := &v1alpha1.PgNodeStorage{ObjectMeta: metav1.ObjectMeta{Name: "policy-made"}, Spec: own.Spec}
		if err := refused(agent.Create(t.Context(), made), want); err != nil {
			t.Error(err)
		}
	})
}

// worksOn an object as the agent's controller does: hold, report, let go.
func worksOn(t *testing.T, agent client.Client, s *v1alpha1.PgNodeStorage) {
	t.Helper()
	if err := agent.Get(t.Context(), client.ObjectKeyFromObject(s), s); err != nil {
		t.Fatal(err)
	}
	if err := apply.AddFinalizer(t.Context(), agent, s, naming.NodeStorageFinalizer); err != nil {
		t.Errorf("hold: %v", err)
	}
	want := v1alpha1.PgNodeStorageStatus{ObservedGeneration: s.Generation, Pool: &v1alpha1.ObservedPool{Name: "tank", Health: "ONLINE"}}
	if _, err := status.Apply(t.Context(), agent, naming.AgentFieldOwner, s, v1alpha1.GroupVersion.WithKind("PgNodeStorage"), s.Status, want); err != nil {
		t.Errorf("report: %v", err)
	}
	if err := agent.Get(t.Context(), client.ObjectKeyFromObject(s), s); err != nil || s.Status.Pool == nil {
		t.Errorf("nothing was reported: %v, %+v", err, s.Status)
	}
	if err := apply.RemoveFinalizer(t.Context(), agent, s, naming.NodeStorageFinalizer); err != nil {
		t.Errorf("let go: %v", err)
	}
}

// eventsAboutItsOwn tries to write events about what an agent has nothing to say of.
func eventsAboutItsOwn(t *testing.T, agent client.Client, own, other *v1alpha1.PgNodeStorage) {
	t.Helper()
	const want = "an agent writes events about the PgNodeStorages of its own node only"
	about := func(name string, regarding corev1.ObjectReference) *eventsv1.Event {
		return &eventsv1.Event{
			ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: name}, EventTime: metav1.NowMicro(), Regarding: regarding,
			Type: "Normal", Reason: "Test", Action: "Test", ReportingController: "pgstorage-agent", ReportingInstance: "x",
		}
	}
	ref := func(s *v1alpha1.PgNodeStorage) corev1.ObjectReference {
		return corev1.ObjectReference{APIVersion: v1alpha1.GroupVersion.String(), Kind: "PgNodeStorage", Name: s.Name}
	}
	eventually(t, "the policy on events", func(ctx context.Context) error {
		return refused(agent.Create(ctx, about("policy-other", ref(other))), want)
	})
	named := func(profile, node string) corev1.ObjectReference {
		return ref(&v1alpha1.PgNodeStorage{ObjectMeta: metav1.ObjectMeta{Name: naming.NodeStorage(profile, node)}})
	}
	for name, regarding := range map[string]corev1.ObjectReference{
		// These names contain the node's own, but are of other nodes.
		"longer":         named("policy", "policy-a-b"),
		"longer-as-hash": named("policy", "policy-a-0123abcd"),
		"with-domain":    named("policy", "x.policy-a"),
		"in-the-profile": named("x.policy-a-y", "policy-b"),
		"all-of-both":    named("x.policy-a", "policy-b"),

		"database": {APIVersion: "postgresql.cnpg.io/v1", Kind: "Cluster", Namespace: "default", Name: "shop.policy-a"},
		"pod":      {APIVersion: "v1", Kind: "Pod", Namespace: "default", Name: "x.policy-a"},
		"nothing":  {},
	} {
		if err := refused(agent.Create(t.Context(), about("policy-"+name, regarding)), want); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
	for name, regarding := range map[string]corev1.ObjectReference{"own": ref(own), "own-of-a-dotted-profile": named("x.policy", "policy-a")} {
		if err := agent.Create(t.Context(), about("policy-"+name, regarding)); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// eventsStay about what they were. The API server lets no one change that through events.k8s.io,
// and everyone through the core API. The policy holds there too.
func eventsStay(t *testing.T, c, agent client.Client, own *v1alpha1.PgNodeStorage) {
	t.Helper()
	more := metav1.ObjectMeta{Namespace: "default", Name: "pgstorage-agent-core-events"}
	create(t, c, &rbacv1.Role{ObjectMeta: more, Rules: []rbacv1.PolicyRule{{APIGroups: []string{""}, Resources: []string{"events"}, Verbs: []string{"patch"}}}}, &rbacv1.RoleBinding{
		ObjectMeta: more,
		RoleRef:    rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "Role", Name: more.Name},
		Subjects:   []rbacv1.Subject{{Kind: rbacv1.ServiceAccountKind, Namespace: agentNamespace, Name: "pgstorage-agent"}},
	})
	event := &corev1.Event{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "policy-own"}}
	patch := func(ctx context.Context, patch string) error {
		return agent.Patch(ctx, event.DeepCopy(), client.RawPatch(types.MergePatchType, []byte(patch)))
	}
	eventually(t, "the agent's rights", func(ctx context.Context) error { return patch(ctx, `{"metadata":{"labels":{"test":"rights"}}}`) })
	// The other object is of the agent's own node too.
	other := fmt.Sprintf(`{"involvedObject":{"name":%q}}`, naming.NodeStorage("more", own.Spec.NodeName))
	if err := refused(patch(t.Context(), other), "an agent may not change what an event is about"); err != nil {
		t.Error(err)
	}
	if err := c.Get(t.Context(), client.ObjectKeyFromObject(event), event); err != nil || event.InvolvedObject.Name != own.Name {
		t.Errorf("the event is about %s, error %v", event.InvolvedObject.Name, err)
	}
}

// worksOnNothingElse tries each write that RBAC lets through, and reads what came of it.
func worksOnNothingElse(t *testing.T, c, agent client.Client, own, other *v1alpha1.PgNodeStorage) {
	t.Helper()
	const (
		another  = "the agent of node policy-a may not change the PgNodeStorage of node policy-b"
		spec     = "an agent may not change a spec"
		metadata = "an agent may change no metadata but its finalizer"
		// dropped by the API server itself, which takes only the status there.
		dropped = ""
	)
	for name, test := range map[string]struct {
		object      *v1alpha1.PgNodeStorage
		subresource string
		patch, want string
	}{
		"status of another":     {other, "status", `{"status":{"observedGeneration":7}}`, another},
		"finalizer of another":  {other, "", `{"metadata":{"finalizers":["pgstorage.dev/node"]}}`, another},
		"spec of another":       {other, "", `{"spec":{"driftPolicy":"Report"}}`, another},
		"wipe a disk there":     {other, "", wipePatch, another},
		"wipe a disk here":      {own, "", wipePatch, spec},
		"its own spec":          {own, "", `{"spec":{"driftPolicy":"Report"}}`, spec},
		"its labels":            {own, "", `{"metadata":{"labels":{"a":"b"}}}`, metadata},
		"its annotations":       {own, "", `{"metadata":{"annotations":{"a":"b"}}}`, metadata},
		"its owners":            {own, "", `{"metadata":{"ownerReferences":[{"apiVersion":"v1","kind":"Node","name":"policy-b","uid":"7c1f0e5a-0000-4000-8000-000000000000"}]}}`, metadata},
		"another finalizer":     {own, "", `{"metadata":{"finalizers":["example.com/other"]}}`, metadata},
		"labels through status": {own, "status", `{"metadata":{"labels":{"a":"b"}}}`, dropped},
		"spec through status":   {own, "status", `{"spec":{"driftPolicy":"Report"}}`, dropped},
	} {
		t.Run(name, func(t *testing.T) {
			before := readStorage(t, c, test.object)
			err := mergePatch(t.Context(), agent, test.object, test.subresource, test.patch)
			if test.want != dropped {
				if err := refused(err, test.want); err != nil {
					t.Error(err)
				}
			}
			after := readStorage(t, c, test.object)
			after.ManagedFields, after.ResourceVersion = before.ManagedFields, before.ResourceVersion
			if !equality.Semantic.DeepEqual(before, after) {
				t.Errorf("it was changed from %+v to %+v", before, after)
			}
		})
	}
}

const wipePatch = `{"spec":{"pool":{"create":{"vdevs":[{"devices":[{"path":"/dev/disk/by-id/nvme-a","wipe":true}]}]}}}}`

func mergePatch(ctx context.Context, c client.Client, s *v1alpha1.PgNodeStorage, subresource, patch string) error {
	target := &v1alpha1.PgNodeStorage{ObjectMeta: metav1.ObjectMeta{Name: s.Name}}
	raw := client.RawPatch(types.MergePatchType, []byte(patch))
	if subresource != "" {
		return c.SubResource(subresource).Patch(ctx, target, raw)
	}
	return c.Patch(ctx, target, raw)
}

func policyStorage(t *testing.T, c client.Client, node string) *v1alpha1.PgNodeStorage {
	t.Helper()
	s := &v1alpha1.PgNodeStorage{
		ObjectMeta: metav1.ObjectMeta{Name: naming.NodeStorage("policy", node)},
		Spec:       v1alpha1.PgNodeStorageSpec{NodeName: node, Profile: "policy", Pool: v1alpha1.NodePool{Name: "tank"}},
	}
	create(t, c, s)
	t.Cleanup(func() { _ = c.Delete(context.WithoutCancel(t.Context()), s) })
	return s
}

// boundAgent has the token of a pod of the DaemonSet on a node.
func boundAgent(t *testing.T, c client.Client, node string) *rest.Config {
	t.Helper()
	simulatedNode(t, c, node, nil)
	pod := &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Namespace: agentNamespace, Name: "pgstorage-agent-x"},
		Spec: corev1.PodSpec{
			NodeName: node, ServiceAccountName: "pgstorage-agent",
			Containers: []corev1.Container{{Name: "agent", Image: "registry.example/pgstorage:test"}},
		},
	}
	create(t, c, pod)
	return withAgentToken(t, c, &authenticationv1.BoundObjectReference{APIVersion: "v1", Kind: "Pod", Name: pod.Name, UID: pod.UID})
}

func withAgentToken(t *testing.T, c client.Client, bound *authenticationv1.BoundObjectReference) *rest.Config {
	t.Helper()
	account := &corev1.ServiceAccount{ObjectMeta: metav1.ObjectMeta{Namespace: agentNamespace, Name: "pgstorage-agent"}}
	request := &authenticationv1.TokenRequest{Spec: authenticationv1.TokenRequestSpec{BoundObjectRef: bound}}
	if err := c.SubResource("token").Create(t.Context(), account, request); err != nil {
		t.Fatal(err)
	}
	agent := rest.AnonymousClientConfig(config)
	agent.BearerToken = request.Status.Token
	return agent
}

// annotate says whether the caller may change the metadata of an object.
func annotate(ctx context.Context, c client.Client, s *v1alpha1.PgNodeStorage, value string) error {
	return mergePatch(ctx, c, s, "", fmt.Sprintf(`{"metadata":{"annotations":{"test":%q}}}`, value))
}

func refused(err error, want string) error {
	switch {
	case err == nil:
		return fmt.Errorf("want it refused with %q, but it was done", want)
	case !apierrors.IsForbidden(err) || !strings.Contains(err.Error(), want):
		return fmt.Errorf("want it refused with %q: %w", want, err)
	}
	return nil
}

func readStorage(t *testing.T, c client.Client, s *v1alpha1.PgNodeStorage) *v1alpha1.PgNodeStorage {
	t.Helper()
	found := &v1alpha1.PgNodeStorage{}
	if err := c.Get(t.Context(), client.ObjectKeyFromObject(s), found); err != nil {
		t.Fatal(err)
	}
	return found
}

// createFile creates the objects of an installed file, as they are.
func createFile(t *testing.T, c client.Client, path string) {
	t.Helper()
	content, err := os.ReadFile(filepath.Join(repository.Root(), path))
	if err != nil {
		t.Fatal(err)
	}
	decoder := yaml.NewYAMLOrJSONDecoder(bytes.NewReader(content), 4096)
	for {
		object := &unstructured.Unstructured{}
		if err := decoder.Decode(&object.Object); errors.Is(err, io.EOF) {
			return
		} else if err != nil {
			t.Fatal(err)
		}
		if len(object.Object) == 0 {
			continue
		}
		create(t, c, object)
		t.Cleanup(func() { _ = c.Delete(context.WithoutCancel(t.Context()), object) })
	}
}
