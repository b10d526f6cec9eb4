package plugin

import (
	"bytes"
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/tools/clientcmd"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/pgstorage/pgstorage/api/v1alpha1"
	"github.com/pgstorage/pgstorage/internal/cli"
	"github.com/pgstorage/pgstorage/internal/kube/naming"
	"github.com/pgstorage/pgstorage/internal/testing/apiserver"
)

// siteNames are the members of the database. Each is in a namespace and a context of its
// name.
var siteNames = []string{"north", "south", "west"}

// contexts is a kubeconfig with one context for each site.
func contexts(t *testing.T) string {
	t.Helper()
	c, err := clientcmd.LoadFromFile(kubeconfig(t))
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range siteNames {
		c.Contexts["region/"+name] = &clientcmdapi.Context{Cluster: "test", AuthInfo: "test", Namespace: name}
	}
	path := filepath.Join(t.TempDir(), "contexts")
	if err := clientcmd.WriteToFile(*c, path); err != nil {
		t.Fatal(err)
	}
	return path
}

// site creates the PgStorageCluster of one site.
func site(t *testing.T, c client.Client, ns, self, primary string) client.ObjectKey {
	t.Helper()
	cr := documents(t, samples+"cluster-quorum.yaml")[0]
	cr.SetNamespace(ns)
	cr.SetName("shop")
	var members []any
	for _, name := range siteNames {
		members = append(members, map[string]any{
			"name": name, "host": "shop." + name + ".example",
			"tls": map[string]any{"clientCertificate": name + "-replication", "certificateAuthority": name + "-ca"},
		})
	}
	if err := unstructured.SetNestedMap(cr.Object, map[string]any{"self": self, "primary": primary, "members": members}, "spec", "topology"); err != nil {
		t.Fatal(err)
	}
	create(t, c, cr)
	return client.ObjectKeyFromObject(cr)
}

func readSite(ctx context.Context, t *testing.T, c client.Client, key client.ObjectKey) *v1alpha1.PgStorageCluster {
	t.Helper()
	o := &v1alpha1.PgStorageCluster{}
	if err := c.Get(ctx, key, o); err != nil && ctx.Err() == nil {
		t.Error(err)
	}
	return o
}

// fakeOperator writes the status of sites, as the operator would. It makes one step of one
// site in each pass.
type fakeOperator struct {
	client client.Client
	sites  []client.ObjectKey
}

// run until the test ends.
func (f *fakeOperator) run(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan struct{})
	go func() {
		defer close(done)
		_ = wait.PollUntilContextCancel(ctx, interval, true, func(ctx context.Context) (bool, error) {
			f.pass(ctx, t)
			return false, nil
		})
	}()
	t.Cleanup(func() { cancel(); <-done })
}

func (f *fakeOperator) pass(ctx context.Context, t *testing.T) {
	all := map[string]*v1alpha1.PgStorageCluster{}
	for _, key := range f.sites {
		o := readSite(ctx, t, f.client, key)
		if ctx.Err() != nil {
			return
		}
		all[o.Spec.Topology.Self] = o
	}
	for _, o := range all {
		before := o.DeepCopy()
		if o.Status.Topology == nil {
			o.Status.Topology = &v1alpha1.TopologyStatus{}
			o.Status.Database = &v1alpha1.DatabaseStatus{UID: "uid-of-" + o.Spec.Topology.Self}
		}
		role := next(o, all)
		if before.Status.Topology != nil && role == before.Status.Topology.Role && o.Status.ObservedGeneration == o.Generation {
			continue
		}
		f.write(ctx, t, o, before, role)
	}
}

// next role of a site. A writer is demoted in two steps, and a follower with a token
// promoted in two.
func next(o *v1alpha1.PgStorageCluster, all map[string]*v1alpha1.PgStorageCluster) v1alpha1.SiteRole {
	spec, status := o.Spec.Topology, o.Status.Topology
	if spec.Self == spec.Primary {
		proved := spec.PromotionToken != "" || o.Annotations[naming.AnnotationPromote] == o.Status.Database.UID
		if status.Role == "" || status.Role == v1alpha1.SiteWrites || status.Role == v1alpha1.SitePromoting && proved {
			return v1alpha1.SiteWrites
		}
		return v1alpha1.SitePromoting
	}
	primary := all[spec.Primary]
	switch {
	case status.Role == v1alpha1.SiteWrites:
		return v1alpha1.SiteDemoting
	case status.Role == v1alpha1.SiteDemoting, status.Role == v1alpha1.SiteDemoted && primary.Status.Topology.Role != v1alpha1.SiteWrites:
		return v1alpha1.SiteDemoted
	}
	return v1alpha1.SiteFollows
}

// facts that the fake operator reports of each role.
var facts = map[v1alpha1.SiteRole]struct {
	status metav1.ConditionStatus
	reason string
}{
	v1alpha1.SiteWrites:    {metav1.ConditionTrue, v1alpha1.ReasonWriting},
	v1alpha1.SiteFollows:   {metav1.ConditionTrue, v1alpha1.ReasonFollowing},
	v1alpha1.SiteDemoting:  {metav1.ConditionFalse, v1alpha1.ReasonDemoting},
	v1alpha1.SiteDemoted:   {metav1.ConditionFalse, v1alpha1.ReasonDemoted},
	v1alpha1.SitePromoting: {metav1.ConditionFalse, v1alpha1.ReasonPromoting},
}

func (f *fakeOperator) write(ctx context.Context, t *testing.T, o, before *v1alpha1.PgStorageCluster, role v1alpha1.SiteRole) {
	set := func(name string, status metav1.ConditionStatus, reason string) {
		meta.SetStatusCondition(&o.Status.Conditions, metav1.Condition{Type: name, Status: status, Reason: reason, Message: string(role), ObservedGeneration: o.Generation})
	}
	o.Status.ObservedGeneration, o.Status.Topology.Role = o.Generation, role
	set(v1alpha1.ConditionSiteInRole, facts[role].status, facts[role].reason)
	set(v1alpha1.ConditionReady, metav1.ConditionTrue, "Ready")
	set(v1alpha1.ConditionFollowersCaughtUp, metav1.ConditionTrue, v1alpha1.ReasonCaughtUp)
	switch role {
	case v1alpha1.SiteDemoted:
		o.Status.Topology.DemotionToken = "token-of-" + o.Spec.Topology.Self
	case v1alpha1.SiteWrites:
		o.Status.Topology.DemotionToken = ""
	}
	if err := f.client.Status().Patch(ctx, o, client.MergeFrom(before)); err != nil && ctx.Err() == nil {
		t.Error(err)
	}
}

// inRole waits for the fake operator.
func inRole(t *testing.T, c client.Client, key client.ObjectKey, role v1alpha1.SiteRole) {
	t.Helper()
	eventually(t, key.String()+" "+string(role), func(ctx context.Context) error {
		o := readSite(ctx, t, c, key)
		if o.Status.Topology == nil || o.Status.Topology.Role != role || o.Status.ObservedGeneration != o.Generation {
			return errors.New("not yet")
		}
		return nil
	})
}

// TestSwitchAndPromoteChangeTheSiteThatWrites switches sites there and back, over the
// contexts of a kubeconfig, and then promotes one without a token.
func TestSwitchAndPromoteChangeTheSiteThatWrites(t *testing.T) {
	c := apiserver.Client(t, config)
	operator := &fakeOperator{client: c}
	for _, name := range siteNames {
		namespace(t, c, name)
		operator.sites = append(operator.sites, site(t, c, name, name, "north"))
	}
	operator.run(t)
	north, south, west := operator.sites[0], operator.sites[1], operator.sites[2]
	inRole(t, c, north, v1alpha1.SiteWrites)
	inRole(t, c, south, v1alpha1.SiteFollows)
	inRole(t, c, west, v1alpha1.SiteFollows)
	path := contexts(t)
	there := []string{"switch", "shop", "--kubeconfig", path, "--context", "region/north", "--to-context", "region/south", "--to-namespace", "south", "--also", "region/west/west/shop"}

	out := must(t, there...)
	if !strings.Contains(out, "Switch from site north (north/shop in context region/north) to site south (south/shop in context region/south):") || !strings.Contains(out, "Nothing was changed") {
		t.Errorf("the plan:\n%s", out)
	}
	if o := readSite(t.Context(), t, c, north); o.Generation != 1 || o.Spec.Topology.Primary != "north" {
		t.Errorf("the plan changed %+v", o.Spec.Topology)
	}

	out = must(t, append(there, "--apply")...)
	for _, want := range []string{"set spec.topology.primary of site north to south; writes stop now", "gave its token to site south", "site south writes; writes were paused for ", "spec.topology.primary of site west is south", "the switch is complete"} {
		if !strings.Contains(out, want) {
			t.Errorf("no %q in\n%s", want, out)
		}
	}
	for _, key := range operator.sites {
		if o := readSite(t.Context(), t, c, key); o.Spec.Topology.Primary != "south" || (o.Spec.Topology.PromotionToken == "token-of-north") != (key == south) {
			t.Errorf("%s: %+v", key, o.Spec.Topology)
		}
	}
	if managers := readSite(t.Context(), t, c, south).ManagedFields; !slices.ContainsFunc(managers, func(m metav1.ManagedFieldsEntry) bool { return m.Manager == "kubectl-pgstorage" }) {
		t.Errorf("managers %+v", managers)
	}
	generation := readSite(t.Context(), t, c, south).Generation
	if out := must(t, append(there, "--apply")...); !strings.Contains(out, "the switch is complete") || readSite(t.Context(), t, c, south).Generation != generation {
		t.Errorf("the second run:\n%s", out)
	}
	if out, err := plugin(t, "switch", "shop", "-n", "west", "--to-namespace", "north", "--apply"); !errors.Is(err, cli.ErrFindings) || !strings.Contains(out, "run the command for the PgStorageCluster of site south") {
		t.Errorf("from a site that follows: %v\n%s", err, out)
	}

	// The way back is interrupted after writes were stopped.
	o := readSite(t.Context(), t, c, south)
	stopped := o.DeepCopy()
	stopped.Spec.Topology.Primary, stopped.Spec.Topology.PromotionToken = "north", ""
	if err := c.Patch(t.Context(), stopped, client.MergeFrom(o)); err != nil {
		t.Fatal(err)
	}
	inRole(t, c, south, v1alpha1.SiteDemoted)
	if out, err := plugin(t, "promote", "shop", "-n", "south"); !errors.Is(err, cli.ErrFindings) || !strings.Contains(out, "was demoted by a switch, and its own token promotes it without loss") {
		t.Errorf("promote a site that was demoted: %v\n%s", err, out)
	}
	if out := must(t, "switch", "shop", "-n", "south", "--to-namespace", "north", "--apply"); !strings.Contains(out, "continuing a switch that is under way") || !strings.Contains(out, "the switch is complete") {
		t.Errorf("the way back:\n%s", out)
	}

	// Site north is lost.
	if out := must(t, "promote", "shop", "-n", "west"); !strings.Contains(out, "Promote site west (west/shop) without a token.") || !strings.Contains(out, "Nothing was changed") {
		t.Errorf("what is known:\n%s", out)
	}
	if out := must(t, "promote", "shop", "-n", "west", "--apply"); !strings.Contains(out, "site west writes\n") {
		t.Errorf("promote:\n%s", out)
	}
	promoted := readSite(t.Context(), t, c, west)
	if promoted.Spec.Topology.Primary != "west" || promoted.Annotations[naming.AnnotationPromote] != "uid-of-west" {
		t.Errorf("%+v %v", promoted.Spec.Topology, promoted.Annotations)
	}
	if out := must(t, "promote", "shop", "-n", "west", "--apply"); out != "Site west writes. Nothing is left to do.\n" {
		t.Errorf("the second run:\n%s", out)
	}
}

// TestSwitchOutlivesItsOutput: the reader of the output and the terminal end while writes are
// paused.
func TestSwitchOutlivesItsOutput(t *testing.T) {
	c := apiserver.Client(t, config)
	operator := &fakeOperator{client: c}
	for _, name := range []string{"pipe-a", "pipe-b"} {
		namespace(t, c, name)
	}
	operator.sites = []client.ObjectKey{site(t, c, "pipe-a", "north", "north"), site(t, c, "pipe-b", "south", "north")}
	operator.pass(t.Context(), t)
	reader, writer, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	program, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	p := exec.CommandContext(ctx, program, "switch", "shop", "--kubeconfig", kubeconfig(t), "--cache-dir", t.TempDir(), "-n", "pipe-a", "--to-namespace", "pipe-b", "--apply")
	var stderr bytes.Buffer
	p.Env, p.Stdout, p.Stderr = append(os.Environ(), asProgram+"=1"), writer, &stderr
	if err := errors.Join(reader.Close(), p.Start(), writer.Close()); err != nil {
		t.Fatal(err)
	}
	eventually(t, "the demotion of site north", func(ctx context.Context) error {
		if o := readSite(ctx, t, c, operator.sites[0]); o.Spec.Topology.Primary != "south" {
			return errors.New("not yet")
		}
		return nil
	})
	if err := p.Process.Signal(syscall.SIGHUP); err != nil {
		t.Error(err)
	}
	operator.run(t)
	if err := p.Wait(); err != nil {
		t.Errorf("%v\n%s", err, &stderr)
	}
	if o := readSite(t.Context(), t, c, operator.sites[1]); o.Spec.Topology.PromotionToken != "token-of-north" || o.Status.Topology.Role != v1alpha1.SiteWrites {
		t.Errorf("site south: %+v %+v", o.Spec.Topology, o.Status.Topology)
	}
}

// Without an operator writes do not stop, and the command says how to continue and go back.
func TestSwitchEndsAfterItsTimeout(t *testing.T) {
	c := apiserver.Client(t, config)
	operator := &fakeOperator{client: c}
	for _, name := range []string{"slow-a", "slow-b"} {
		namespace(t, c, name)
	}
	operator.sites = []client.ObjectKey{site(t, c, "slow-a", "north", "north"), site(t, c, "slow-b", "south", "north")}
	operator.pass(t.Context(), t)
	out, err := plugin(t, "switch", "shop", "-n", "slow-a", "--to-namespace", "slow-b", "--apply", "--timeout", (2 * time.Second).String())
	if err == nil || !strings.Contains(err.Error(), "timeout expired before site north (slow-a/shop) had stopped writing: the operator has not observed the current spec") {
		t.Errorf("%v", err)
	}
	for _, want := range []string{"To continue, run the same command again.\n", `  kubectl -n slow-a patch pgsc shop --type=merge -p '{"spec":{"topology":{"primary":"north","promotionToken":"'$(kubectl -n slow-a get pgsc shop`} {
		if !strings.Contains(out, want) {
			t.Errorf("no %q in\n%s", want, out)
		}
	}
	if _, err := plugin(t, "switch", "shop", "-n", "slow-a", "--to-namespace", "missing"); err == nil || !strings.Contains(err.Error(), `read PgStorageCluster missing/shop: pgstorageclusters.pgstorage.dev "shop" not found`) {
		t.Errorf("a site that does not exist: %v", err)
	}
	if _, err := plugin(t, "switch", "shop", "-n", "slow-a", "--to-context", "nowhere"); err == nil || !strings.Contains(err.Error(), `context "nowhere" does not exist`) {
		t.Errorf("a context that does not exist: %v", err)
	}
}
