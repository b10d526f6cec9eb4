package integration

import (
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/tools/clientcmd"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/pgstorage/pgstorage/internal/testing/apiserver"
	"github.com/pgstorage/pgstorage/internal/testing/repository"
)

// helm runs the pinned Helm and returns what it prints.
func helm(t *testing.T, args ...string) (string, error) {
	t.Helper()
	program, err := exec.CommandContext(t.Context(), filepath.Join(repository.Root(), "hack", "tools.sh"), "helm").Output()
	if err != nil {
		t.Fatalf("hack/tools.sh helm: %v", err)
	}
	lines := strings.Fields(string(program))
	out, err := exec.CommandContext(t.Context(), lines[len(lines)-1], args...).CombinedOutput()
	return string(out), err
}

// Helm deletes what a release does not render any more. Without its CRDs, every database of the
// Kubernetes cluster would be gone.
func TestUpgradesOfTheChart(t *testing.T) {
	env, stop, err := apiserver.Start(apiserver.CRDs{WithoutOurs: true})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := stop(); err != nil {
			t.Log(err)
		}
	})
	c := apiserver.Client(t, env.Config)
	kubeconfig := filepath.Join(t.TempDir(), "kubeconfig")
	if err := clientcmd.WriteToFile(reachedBy(env.Config), kubeconfig); err != nil {
		t.Fatal(err)
	}
	crd := &metav1.PartialObjectMetadata{}
	crd.SetGroupVersionKind(schema.GroupVersionKind{Group: "apiextensions.k8s.io", Version: "v1", Kind: "CustomResourceDefinition"})
	for _, step := range []struct{ set, refused string }{
		{set: "crds.keep=false"},
		{set: "crds.keep=false,crds.install=false", refused: "Upgrade with crds.keep=true first"},
		{set: "crds.install=false", refused: "Upgrade with crds.install=true and crds.keep=true first"},
		{set: "crds.keep=true,leaderElection.enabled=false"},
		{set: "crds.install=false"},
	} {
		out, err := helm(t, "upgrade", "--install", "pgstorage", filepath.Join(repository.Root(), "charts", "pgstorage"),
			"--kubeconfig", kubeconfig, "--namespace", "pgstorage-system", "--create-namespace", "--reset-values", "--set", step.set)
		if refused := err != nil; refused != (step.refused != "") || !strings.Contains(out, step.refused) {
			t.Fatalf("%s: %v\n%s", step.set, err, out)
		}
		if err := c.Get(t.Context(), client.ObjectKey{Name: "pgstorageclusters.pgstorage.dev"}, crd); err != nil || crd.DeletionTimestamp != nil {
			t.Fatalf("%s: the CRD is deleted at %v: %v", step.set, crd.DeletionTimestamp, err)
		}
	}
}
