//go:build e2e

package e2e

import (
	"context"
	"fmt"
	"maps"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	cnpgv1 "github.com/cloudnative-pg/cloudnative-pg/api/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/pgstorage/pgstorage/api/v1alpha1"
	"github.com/pgstorage/pgstorage/internal/kube/naming"
	"github.com/pgstorage/pgstorage/internal/testing/acks"
	"github.com/pgstorage/pgstorage/internal/testing/live"
	"github.com/pgstorage/pgstorage/internal/testing/long"
)

// sites are namespaces, each with one site of a database.
type sites struct {
	profile      string
	north, south *v1alpha1.PgStorageCluster
	// west is nil where there are two sites.
	west *v1alpha1.PgStorageCluster
	// writer is the site that writes.
	writer *v1alpha1.PgStorageCluster
	// distance between the sites; nil where there is none.
	distance *distance
}

// all sites by name.
func (s *sites) all() map[string]*v1alpha1.PgStorageCluster {
	out := map[string]*v1alpha1.PgStorageCluster{"north": s.north, "south": s.south}
	if s.west != nil {
		out["west"] = s.west
	}
	return out
}

// other than the site that writes.
func (s *sites) other() *v1alpha1.PgStorageCluster {
	if s.writer == s.north {
		return s.south
	}
	return s.north
}

// TestSites creates a database of two sites, and switches the one that writes under load. Then
// it promotes a site whose other one is gone, and has that one return.
func TestSites(t *testing.T) {
	long.Skip(t, "make test-e2e")
	if err := helm("sites.enabled=true"); err != nil {
		t.Fatal(err)
	}
	s := &sites{profile: "sites"}
	s.declare(t)
	step := live.InTurn(t)
	step("a site follows the one that writes", s.follows)
	step("what is not allowed is refused by name", s.refuses)
	step("switches under load lose nothing", s.switches)
	step("a site whose other one is gone is promoted with consent", s.promotes)
	step("the site that returns is fenced until it follows", s.returns)
}

// declare a profile that allows topologies, and the specs of both sites.
func (s *sites) declare(t *testing.T) {
	t.Helper()
	create(t, &v1alpha1.PgStorageProfile{
		ObjectMeta: metav1.ObjectMeta{Name: s.profile},
		Spec: v1alpha1.PgStorageProfileSpec{
			Type: v1alpha1.ProfileTypeExternal, External: &v1alpha1.ExternalProfile{StorageClassName: "standard"},
			AllowedOverrides: []string{"externalClusters"},
		},
	})
	t.Cleanup(func() {
		if err := c.Delete(context.Background(), &v1alpha1.PgStorageProfile{ObjectMeta: metav1.ObjectMeta{Name: s.profile}}); err != nil {
			t.Log(err)
		}
	})
	s.north, s.south = cluster(namespace(t), "shop"), cluster(namespace(t), "shop")
	if s.west != nil {
		s.west = cluster(namespace(t), "shop")
	}
	s.writer = s.north
	service := naming.ReadWriteService("shop")
	if delay := siteDelay(t); delay > 0 {
		s.distance = newDistance(t, delay)
		for _, cr := range s.all() {
			s.distance.to(t, cr.Namespace)
		}
		service = farService
	}
	var members []v1alpha1.SiteMember
	for _, name := range slices.Sorted(maps.Keys(s.all())) {
		members = append(members, v1alpha1.SiteMember{
			Name: name, Host: service + "." + s.all()[name].Namespace + ".svc",
			TLS: v1alpha1.SiteTLS{ClientCertificate: "shop-" + name + "-replication", CertificateAuthority: "shop-" + name + "-ca"},
		})
	}
	for name, cr := range s.all() {
		cr.Spec.Profile, cr.Spec.DeletionPolicy = s.profile, v1alpha1.DeletionDelete
		cr.Spec.Topology = &v1alpha1.TopologySpec{Self: name, Primary: "north", Members: members}
	}
}

// copied gives a namespace the Secret of another one under a name, as an administrator does.
func copied(t *testing.T, from, name, to, as string, keys ...string) {
	t.Helper()
	secret := &corev1.Secret{}
	if err := c.Get(t.Context(), client.ObjectKey{Namespace: from, Name: name}, secret); err != nil {
		t.Fatal(err)
	}
	out := &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: to, Name: as}, Type: secret.Type, Data: map[string][]byte{}}
	for _, key := range keys {
		out.Data[key] = secret.Data[key]
	}
	if len(keys) == 1 {
		out.Type = corev1.SecretTypeOpaque
	}
	// A site that was created again has other certificates.
	if err := client.IgnoreNotFound(c.Delete(t.Context(), &corev1.Secret{ObjectMeta: out.ObjectMeta})); err != nil {
		t.Fatal(err)
	}
	create(t, out)
}

// introduced copies what one site needs to connect to another.
func introduced(t *testing.T, site string, of, to *v1alpha1.PgStorageCluster) {
	t.Helper()
	copied(t, of.Namespace, naming.ReplicationSecret("shop"), to.Namespace, "shop-"+site+"-replication", corev1.TLSCertKey, corev1.TLSPrivateKeyKey)
	copied(t, of.Namespace, naming.CASecret("shop"), to.Namespace, "shop-"+site+"-ca", "ca.crt")
	// The kubelet shows a pod a Secret that changed after a minute or so, and a new pod at once.
	pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: to.Namespace, Name: naming.SiteWatcher("shop") + "-0"}}
	if err := client.IgnoreNotFound(c.Delete(t.Context(), pod)); err != nil {
		t.Fatal(err)
	}
}

func (s *sites) follows(t *testing.T) {
	create(t, s.north)
	ready(t, s.north)
	has(t, s.north, v1alpha1.ConditionSiteInRole, metav1.ConditionTrue, v1alpha1.ReasonWriting)
	followers := s.all()
	delete(followers, "north")
	for _, cr := range followers {
		introduced(t, "north", s.north, cr)
		copied(t, s.north.Namespace, "shop-app", cr.Namespace, "shop-app", "username", "password", "dbname", "host", "port", "user", "uri")
		create(t, cr)
	}
	for name, cr := range followers {
		ready(t, cr)
		for other, to := range s.all() {
			if other != name {
				introduced(t, name, cr, to)
			}
		}
		has(t, cr, v1alpha1.ConditionSiteInRole, metav1.ConditionTrue, v1alpha1.ReasonFollowing)
		has(t, cr, v1alpha1.ConditionFollowersCaughtUp, metav1.ConditionTrue, v1alpha1.ReasonCaughtUp)
		if e := cr.Status.Endpoints; e == nil || e.ReadWrite != "" || e.Read == "" {
			t.Errorf("endpoints of the site that follows: %+v", e)
		}
	}
	s.names(t, s.north, slices.Sorted(maps.Keys(followers)))
	s.agree(t)
}

// names waits until the site that writes names those that follow.
func (s *sites) names(t *testing.T, writer *v1alpha1.PgStorageCluster, followers []string) {
	t.Helper()
	eventually(t, writer.Spec.Topology.Self+" to name its followers", func(ctx context.Context) error {
		if err := c.Get(ctx, client.ObjectKeyFromObject(writer), writer); err != nil {
			return err
		}
		if got := writer.Status.Topology; got == nil || !slices.Equal(slices.Sorted(slices.Values(got.Followers)), followers) {
			return fmt.Errorf("%+v", got)
		}
		return nil
	})
}

// agree waits until each site knows that the others have the same members and the same primary.
func (s *sites) agree(t *testing.T) {
	t.Helper()
	for _, cr := range s.all() {
		has(t, cr, v1alpha1.ConditionSitesAgree, metav1.ConditionTrue, v1alpha1.ReasonAgreed)
	}
}

// refuses a promotion that nothing proves to be safe; the site keeps following.
func (s *sites) refuses(t *testing.T) {
	for reason, token := range map[string]string{
		v1alpha1.ReasonTokenRequired: "",
		v1alpha1.ReasonTokenRefused:  "bm90aGluZw==",
	} {
		s.set(t, s.south, "south", token)
		has(t, s.south, v1alpha1.ConditionSiteInRole, metav1.ConditionFalse, reason)
	}
	if got := psql(t, s.south.Namespace, s.south.Status.Database.Primary, "SELECT pg_is_in_recovery()"); got != "t" {
		t.Errorf("a refused promotion was done: in recovery %s", got)
	}
	s.set(t, s.south, "north", "")
	has(t, s.south, v1alpha1.ConditionSiteInRole, metav1.ConditionTrue, v1alpha1.ReasonFollowing)
}

// set which site writes, and by which token, in one write.
func (s *sites) set(t *testing.T, cr *v1alpha1.PgStorageCluster, primary, token string) {
	t.Helper()
	eventually(t, fmt.Sprintf("primary of %s set to %s", cr.Spec.Topology.Self, primary), func(ctx context.Context) error {
		if err := c.Get(ctx, client.ObjectKeyFromObject(cr), cr); err != nil {
			return err
		}
		cr.Spec.Topology.Primary, cr.Spec.Topology.PromotionToken = primary, token
		return c.Update(ctx, cr)
	})
}

// loader writes to whichever site does, as an application that knows every host.
func (s *sites) loader() *corev1.Pod {
	pod := clientPod(s.north, "loader", insertLoop)
	env := pod.Spec.Containers[0].Env
	var hosts []string
	for _, m := range s.north.Spec.Topology.Members {
		hosts = append(hosts, m.Host)
	}
	for i := range env {
		if env[i].Name == "PGHOST" {
			env[i].Value = strings.Join(hosts, ",")
		}
	}
	pod.Spec.Containers[0].Env = append(env, corev1.EnvVar{Name: "PGTARGETSESSIONATTRS", Value: "read-write"})
	return pod
}

// switches the site that writes to and fro while a client commits.
func (s *sites) switches(t *testing.T) {
	rounds := 1
	if text := os.Getenv("PGSTORAGE_SWITCHES"); text != "" {
		n, err := strconv.Atoi(text)
		if err != nil {
			t.Fatal(err)
		}
		rounds = n
	}
	s.load(t)
	for round := range rounds {
		s.switched(t, round == 0)
	}
	s.lostNothing(t)
}

// load the site that writes.
func (s *sites) load(t *testing.T) {
	t.Helper()
	client1(t, s.north, "prepare", `psql -XAtq -v ON_ERROR_STOP=1 -c "CREATE TABLE acked (id int PRIMARY KEY)"`)
	create(t, s.loader())
	atLeast(t, s.north, 20)
}

// lostNothing ends the load, and looks for each acknowledged row.
func (s *sites) lostNothing(t *testing.T) {
	t.Helper()
	writer := s.writer
	psql(t, writer.Namespace, writer.Status.Database.Primary, "CREATE TABLE stop ()")
	clientEnded(t, s.north.Namespace, "loader")
	log := logs(t, s.north.Namespace, "loader")
	if lost := lacking(t, log, writer.Namespace, writer.Status.Database.Primary); len(lost) > 0 {
		t.Errorf("%d acknowledged rows are lost: %v", len(lost), lost)
	}
	t.Logf("%d rows were acknowledged; the longest pause was %s", len(acks.Rows(log)), acks.Pause(log, time.Time{}))
}

// switched moves the role of the site that writes, by the plugin or by hand, and waits until
// the other one follows.
func (s *sites) switched(t *testing.T, plugged bool) {
	t.Helper()
	from, to := s.writer, s.other()
	site, began := to.Spec.Topology.Self, time.Now()
	if plugged {
		t.Log(plugin(t, from.Namespace, "switch", "shop", "--to-namespace", to.Namespace, "--apply"))
	} else {
		s.byHand(t, from, to)
	}
	has(t, to, v1alpha1.ConditionSiteInRole, metav1.ConditionTrue, v1alpha1.ReasonWriting)
	ready(t, to)
	has(t, from, v1alpha1.ConditionSiteInRole, metav1.ConditionTrue, v1alpha1.ReasonFollowing)
	ready(t, from)
	s.writer = to
	t.Logf("%s took over from %s in %s; the longest pause between two commits so far is %s",
		site, from.Spec.Topology.Self, time.Since(began).Round(time.Second), acks.Pause(logs(t, s.north.Namespace, "loader"), time.Time{}))
}

// byHand is a switch as the documentation of spec.topology describes it.
func (s *sites) byHand(t *testing.T, from, to *v1alpha1.PgStorageCluster) {
	t.Helper()
	site := to.Spec.Topology.Self
	s.set(t, from, site, "")
	eventually(t, from.Spec.Topology.Self+" to have stopped writing", func(ctx context.Context) error {
		if err := c.Get(ctx, client.ObjectKeyFromObject(from), from); err != nil {
			return err
		}
		if got := from.Status.Topology; got == nil || got.Role != v1alpha1.SiteDemoted || got.DemotionToken == "" {
			return fmt.Errorf("%+v: %s", got, message(from, v1alpha1.ConditionSiteInRole))
		}
		return nil
	})
	s.set(t, to, site, from.Status.Topology.DemotionToken)
}

func message(cr *v1alpha1.PgStorageCluster, kind string) string {
	if now := meta.FindStatusCondition(cr.Status.Conditions, kind); now != nil {
		return now.Reason + ": " + now.Message
	}
	return kind + " is not set"
}

// annotated sets an annotation of the CloudNativePG Cluster of a site.
func annotated(t *testing.T, cr *v1alpha1.PgStorageCluster, name, value string) {
	t.Helper()
	pg := &cnpgv1.Cluster{ObjectMeta: metav1.ObjectMeta{Namespace: cr.Namespace, Name: cr.Name}}
	patch := fmt.Sprintf(`{"metadata": {"annotations": {%q: %q}}}`, name, value)
	if err := c.Patch(t.Context(), pg, client.RawPatch(types.MergePatchType, []byte(patch))); err != nil {
		t.Fatal(err)
	}
}

// promotes the site that follows once the other one is gone: first it is refused, then the
// loss is accepted.
func (s *sites) promotes(t *testing.T) {
	writer, other := s.writer, s.other()
	annotated(t, writer, naming.AnnotationHibernation, "on")
	eventually(t, "the site that wrote to be gone", func(ctx context.Context) error {
		return gonePod(ctx, writer)
	})
	site := other.Spec.Topology.Self
	s.set(t, other, site, "")
	has(t, other, v1alpha1.ConditionSiteInRole, metav1.ConditionFalse, v1alpha1.ReasonTokenRequired)
	t.Log(message(other, v1alpha1.ConditionSiteInRole))
	has(t, other, v1alpha1.ConditionFollowersCaughtUp, metav1.ConditionFalse, v1alpha1.ReasonNotStreaming)
	began := time.Now()
	t.Log(plugin(t, other.Namespace, "promote", "shop", "--apply"))
	has(t, other, v1alpha1.ConditionSiteInRole, metav1.ConditionTrue, v1alpha1.ReasonWriting)
	t.Logf("%s wrote %s after the consent", site, time.Since(began).Round(100*time.Millisecond))
	ready(t, other)
	if other.Annotations[naming.AnnotationPromote] != "" {
		t.Error("the consent was not removed, and would allow the next promotion too")
	}
	psql(t, other.Namespace, other.Status.Database.Primary, "CREATE TABLE kept (id int)")
	s.writer = other
}

func gonePod(ctx context.Context, cr *v1alpha1.PgStorageCluster) error {
	pod := &corev1.Pod{}
	if err := c.Get(ctx, client.ObjectKey{Namespace: cr.Namespace, Name: cr.Status.Database.Primary}, pod); !apierrors.IsNotFound(err) {
		return fmt.Errorf("pod %s is there: %w", cr.Status.Database.Primary, err)
	}
	return nil
}

// returns starts the site again that wrote before. It does not know that the other one was
// promoted.
func (s *sites) returns(t *testing.T) {
	old := s.other()
	began := time.Now()
	annotated(t, old, naming.AnnotationHibernation, "off")
	has(t, old, v1alpha1.ConditionSitesAgree, metav1.ConditionFalse, v1alpha1.ReasonTwoSitesWrite)
	t.Logf("fenced %s after it was started: %s", time.Since(began).Round(100*time.Millisecond), message(old, v1alpha1.ConditionSitesAgree))
	has(t, s.writer, v1alpha1.ConditionSiteInRole, metav1.ConditionTrue, v1alpha1.ReasonWriting)
	if out, err := command(t.Context(), "kubectl", "-n", old.Namespace, "exec", old.Status.Database.Primary, "-c", "postgres", "--", "psql", "-XAtq", "-d", "app", "-c", "CREATE TABLE lost ()"); err == nil {
		// The fence was written a moment ago.
		t.Logf("it still accepted a write: %s", out)
	}
	eventually(t, "the site that returned to accept no writes", func(ctx context.Context) error {
		if out, err := command(ctx, "kubectl", "-n", old.Namespace, "exec", old.Status.Database.Primary, "-c", "postgres", "--", "psql", "-XAtq", "-d", "app", "-c", "CREATE TABLE IF NOT EXISTS lost ()"); err == nil {
			return fmt.Errorf("it accepted one: %s", out)
		}
		return nil
	})
	s.clonedAgain(t, old)
}

// clonedAgain gives a site whose data has diverged a new database.
func (s *sites) clonedAgain(t *testing.T, old *v1alpha1.PgStorageCluster) {
	t.Helper()
	s.set(t, old, s.writer.Spec.Topology.Self, "")
	s.recreated(t, old)
	if got := psql(t, old.Namespace, old.Status.Database.Primary, "SELECT to_regclass('kept'), to_regclass('lost')"); got != "kept|" {
		t.Errorf("the site that was cloned again has %q", got)
	}
}

// recreated clones a site that follows again, as the runbook has it.
func (s *sites) recreated(t *testing.T, old *v1alpha1.PgStorageCluster) {
	t.Helper()
	pg := &cnpgv1.Cluster{}
	if err := c.Get(t.Context(), client.ObjectKeyFromObject(old), pg); err != nil {
		t.Fatal(err)
	}
	if err := c.Delete(t.Context(), pg); err != nil {
		t.Fatal(err)
	}
	patch := fmt.Sprintf(`{"metadata": {"annotations": {%q: %q}}}`, naming.AnnotationRecreate, pg.UID)
	if err := c.Patch(t.Context(), old, client.RawPatch(types.MergePatchType, []byte(patch))); err != nil {
		t.Fatal(err)
	}
	eventually(t, "another Cluster", func(ctx context.Context) error {
		next := &cnpgv1.Cluster{}
		if err := c.Get(ctx, client.ObjectKeyFromObject(old), next); err != nil || next.UID == pg.UID {
			return fmt.Errorf("it is %s: %w", next.UID, err)
		}
		return nil
	})
	ready(t, old)
	has(t, old, v1alpha1.ConditionSiteInRole, metav1.ConditionTrue, v1alpha1.ReasonFollowing)
	introduced(t, old.Spec.Topology.Self, old, s.writer)
	s.agree(t)
}
