//go:build e2e

package e2e

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path"
	"slices"
	"strings"
	"testing"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/pgstorage/pgstorage/api/v1alpha1"
	"github.com/pgstorage/pgstorage/internal/kube/naming"
	"github.com/pgstorage/pgstorage/internal/operator/component/nbdserver"
	"github.com/pgstorage/pgstorage/internal/testing/live"
	"github.com/pgstorage/pgstorage/internal/testing/s3pod"
	"github.com/pgstorage/pgstorage/internal/zerofs"
)

// lake is an S3NBD profile whose server serves, and refused is one whose keys the
// store does not take.
type lake struct {
	lake, refused *v1alpha1.PgStorageProfile
	// secrets that nothing may show.
	secrets []string
	// node that the servers are on.
	node string
}

// TestS3NBD runs the servers of profiles of type S3NBD. Without ZFS and NBD in the node's
// kernel, nothing else of a profile runs; the pools have tests in virtual machines.
func TestS3NBD(t *testing.T) {
	l := &lake{node: anyNode(t)}
	dryRun := "agent.dryRun=false"
	if loadable(t, l.node) {
		dryRun = "agent.dryRun=true" // it would be loaded on the machine that this runs on
	}
	if err := helm("extraArgs={--feature-gates=S3NBD=true}", "agent.enabled=true", dryRun); err != nil {
		t.Fatal(err)
	}
	l.create(t)
	step := live.InTurn(t)
	step("a server starts and serves", l.serves)
	step("keys that the store refuses are told", l.refuses)
	step("a node without the kernel's part is told", l.lacksDriver)
	step("no secret is shown", l.keepsSecrets)
	step("ZeroFS killed is started again in its pod", l.survives)
	step("deletion stops the servers in order", l.ends)
}

func anyNode(t *testing.T) string {
	t.Helper()
	nodes := &corev1.NodeList{}
	if err := c.List(t.Context(), nodes); err != nil || len(nodes.Items) == 0 {
		t.Fatalf("%d nodes, %v", len(nodes.Items), err)
	}
	return nodes.Items[0].Name
}

// onNode runs a shell command on a node, which kind makes as a container of its name.
func onNode(t *testing.T, node, script string) (string, error) {
	t.Helper()
	return command(t.Context(), "docker", "exec", node, "sh", "-c", script)
}

// loadable says that the kernel has the NBD module, or could load it: nodes share it
// with the machine that they are on.
func loadable(t *testing.T, node string) bool {
	t.Helper()
	_, err := onNode(t, node, "test -e /sys/module/nbd || modprobe -n nbd")
	return err == nil
}

// create the store and the profiles. The one that is refused has the right key and a
// wrong secret.
func (l *lake) create(t *testing.T) {
	t.Helper()
	store := s3pod.Store{Namespace: namespace(t), Image: os.Getenv("PGSTORAGE_S3_IMAGE"), AccessKey: rand.Text(), SecretKey: rand.Text()}
	create(t, store.Objects()...)
	wrong, password := rand.Text(), rand.Text()
	l.secrets = []string{store.SecretKey, wrong, password}
	l.lake, l.refused = s3Profile("lake", store.Endpoint()), s3Profile("refused", store.Endpoint())
	for _, o := range []client.Object{
		operatorSecret("lake-keys", map[string]string{"AWS_ACCESS_KEY_ID": store.AccessKey, "AWS_SECRET_ACCESS_KEY": store.SecretKey}),
		operatorSecret("refused-keys", map[string]string{"AWS_ACCESS_KEY_ID": store.AccessKey, "AWS_SECRET_ACCESS_KEY": wrong}),
		operatorSecret("lake-password", map[string]string{"password": password}),
		l.lake, l.refused,
	} {
		create(t, o)
		t.Cleanup(func() {
			if err := client.IgnoreNotFound(c.Delete(context.Background(), o)); err != nil {
				t.Errorf("delete %s: %v", o.GetName(), err)
			}
		})
	}
}

func operatorSecret(name string, data map[string]string) *corev1.Secret {
	return &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: operatorNamespace, Name: name}, StringData: data}
}

// s3Profile is a stripe of small devices on every node.
func s3Profile(name, endpoint string) *v1alpha1.PgStorageProfile {
	yes, one := true, int32(1)
	return &v1alpha1.PgStorageProfile{
		ObjectMeta: metav1.ObjectMeta{Name: name},
		Spec: v1alpha1.PgStorageProfileSpec{
			Type: v1alpha1.ProfileTypeS3NBD, NodeSelector: map[string]string{corev1.LabelOSStable: "linux"},
			S3NBD: &v1alpha1.S3NBDProfile{
				Pool: v1alpha1.S3NBDPool{Name: name},
				Stores: []v1alpha1.S3Store{{
					Name: "main", Bucket: s3pod.Bucket, Region: s3pod.Region, Prefix: "e2e", Endpoint: endpoint, AllowHTTP: &yes,
					CredentialsSecret: name + "-keys", EncryptionSecret: "lake-password",
				}},
				Devices: v1alpha1.S3NBDDevices{Count: &one, Size: resource.MustParse("1Gi")},
				ZeroFS: v1alpha1.ZeroFSServer{
					Family: v1alpha1.ZeroFS019, Image: os.Getenv("PGSTORAGE_ZEROFS_IMAGE"),
					Resources: v1alpha1.ZeroFSResources{CPU: resource.MustParse("100m"), Memory: resource.MustParse("1Gi")},
					Cache:     v1alpha1.ZeroFSCache{Size: resource.MustParse("2Gi"), Memory: resource.MustParse("64Mi")},
				},
			},
		},
	}
}

// holds says whether a condition is as wanted.
func holds(conditions []metav1.Condition, kind string, status metav1.ConditionStatus, reason string) error {
	got := meta.FindStatusCondition(conditions, kind)
	if got == nil || got.Status != status || got.Reason != reason {
		return fmt.Errorf("%s: %+v", kind, got)
	}
	return nil
}

// serversReady waits for the condition of a profile.
func serversReady(t *testing.T, p *v1alpha1.PgStorageProfile, status metav1.ConditionStatus, reason string) {
	t.Helper()
	eventually(t, fmt.Sprintf("servers of profile %s to be %s", p.Name, reason), func(ctx context.Context) error {
		if err := c.Get(ctx, client.ObjectKeyFromObject(p), p); err != nil {
			return err
		}
		return holds(p.Status.Conditions, v1alpha1.ConditionServersReady, status, reason)
	})
}

// server is the one pod of a profile.
func server(ctx context.Context, p *v1alpha1.PgStorageProfile) (*corev1.Pod, error) {
	pods := &corev1.PodList{}
	if err := c.List(ctx, pods, client.InNamespace(operatorNamespace), client.MatchingLabels{naming.LabelProfile: p.Name}); err != nil {
		return nil, err
	}
	if len(pods.Items) != 1 {
		return nil, fmt.Errorf("%d pods of profile %s", len(pods.Items), p.Name)
	}
	return &pods.Items[0], nil
}

// metrics of the server, by way of the API server.
func metrics(ctx context.Context, pod *corev1.Pod) (string, error) {
	return command(ctx, "kubectl", "get", "--raw", fmt.Sprintf("/api/v1/namespaces/%s/pods/%s:%d/proxy/metrics", pod.Namespace, pod.Name, nbdserver.MetricsPort))
}

const servingNow = `pgstorage_s3nbd_phase{phase="Serving"} 1`

func (l *lake) serves(t *testing.T) {
	serversReady(t, l.lake, metav1.ConditionTrue, v1alpha1.ReasonServersReady)
	pod, err := server(t.Context(), l.lake)
	if err != nil {
		t.Fatal(err)
	}
	if pod.Status.QOSClass != corev1.PodQOSGuaranteed || !podReady(pod) {
		t.Errorf("pod is %s: %+v", pod.Status.QOSClass, pod.Status.Conditions)
	}
	told, err := metrics(t.Context(), pod)
	if err != nil {
		t.Fatal(err)
	}
	for _, line := range []string{servingNow, "pgstorage_s3nbd_restarts_total 0"} {
		if !strings.Contains(told, line) {
			t.Errorf("metrics lack %s:\n%s", line, told)
		}
	}
}

func podReady(p *corev1.Pod) bool {
	return slices.ContainsFunc(p.Status.Conditions, func(c corev1.PodCondition) bool {
		return c.Type == corev1.PodReady && c.Status == corev1.ConditionTrue
	})
}

func (l *lake) refuses(t *testing.T) {
	serversReady(t, l.refused, metav1.ConditionFalse, v1alpha1.ReasonCredentialsRejected)
	for _, args := range [][]string{{"get", "pgsp", l.refused.Name, "-o", "wide"}, {"describe", "pgsp", l.refused.Name}} {
		eventually(t, "kubectl "+strings.Join(args, " ")+" to show the cause", func(ctx context.Context) error {
			out, err := command(ctx, "kubectl", args...)
			if err == nil && !strings.Contains(out, v1alpha1.ReasonCredentialsRejected) {
				err = errors.New("it does not")
			}
			return err
		})
	}
}

// lacksDriver: kind's nodes have neither ZFS nor NBD of their own. The agent reports that, and
// keeps running.
func (l *lake) lacksDriver(t *testing.T) {
	storage := &v1alpha1.PgNodeStorage{}
	eventually(t, "the agent to tell of the NBD module", func(ctx context.Context) error {
		if err := c.Get(ctx, client.ObjectKey{Name: naming.NodeStorage(l.lake.Name, l.node)}, storage); err != nil {
			return err
		}
		got := meta.FindStatusCondition(storage.Status.Conditions, v1alpha1.ConditionDevicesAttached)
		if got == nil || got.Status == metav1.ConditionTrue || !strings.Contains(got.Message, "nbd") {
			return fmt.Errorf("DevicesAttached: %+v", got)
		}
		t.Logf("DevicesAttached is %s (%s): %s", got.Status, got.Reason, got.Message)
		return nil
	})
	agents := &corev1.PodList{}
	if err := c.List(t.Context(), agents, client.InNamespace(operatorNamespace), client.MatchingLabels{"app.kubernetes.io/component": "agent"}); err != nil {
		t.Fatal(err)
	}
	if len(agents.Items) == 0 {
		t.Error("no agent runs")
	}
	for i := range agents.Items {
		if p := &agents.Items[i]; !podReady(p) || p.Status.ContainerStatuses[0].RestartCount > 0 {
			t.Errorf("agent %s: %+v", p.Name, p.Status)
		}
	}
}

// keepsSecrets looks at what others than those who may read Secrets can see.
func (l *lake) keepsSecrets(t *testing.T) {
	pod, err := server(t.Context(), l.lake)
	if err != nil {
		t.Fatal(err)
	}
	refused, err := server(t.Context(), l.refused)
	if err != nil {
		t.Fatal(err)
	}
	logs := []string{"-n", operatorNamespace, "logs", "--all-containers", "--ignore-errors", "--prefix"}
	for _, look := range []struct {
		args []string
		// shows something that must be there, or nothing was looked at.
		shows string
	}{
		{[]string{"-n", operatorNamespace, "get", "daemonsets,controllerrevisions,pods,configmaps,events", "-o", "yaml"}, "${ZEROFS_PASSWORD}"},
		{[]string{"get", "pgsp,pgnodestorages", "-o", "yaml"}, v1alpha1.ReasonCredentialsRejected},
		{append(logs, pod.Name), "ZeroFS started"},
		{append(logs, refused.Name), v1alpha1.ReasonCredentialsRejected},
		{append(logs, "deployment/pgstorage-manager"), "Starting workers"},
		{append(logs, "daemonset/pgstorage-agent"), "Starting workers"},
	} {
		out, err := command(t.Context(), "kubectl", look.args...)
		if err != nil {
			t.Fatal(err)
		}
		l.hidden(t, strings.Join(look.args, " "), out, look.shows)
	}
	out, err := onNode(t, l.node, "ps -e -o args; cat "+l.file(zerofs.StatusFile)+" "+l.file(zerofs.IncarnationFile))
	if err != nil {
		t.Fatal(err)
	}
	l.hidden(t, "processes and files of the node", out, "zerofs run -c")
}

// hidden says that a text has no secret, and that it is the one that was meant.
func (l *lake) hidden(t *testing.T, where, text, shows string) {
	t.Helper()
	if !strings.Contains(text, shows) {
		t.Errorf("%s: %q is not there, so this is not what was meant:\n%.2000s", where, shows, text)
	}
	for _, secret := range l.secrets {
		if i := strings.Index(text, secret); i >= 0 {
			t.Errorf("%s: a secret is shown after %q", where, text[max(0, i-100):i])
		}
	}
}

// file of the server on its node.
func (l *lake) file(name string) string {
	return path.Join(naming.ServerDirectory(l.lake.Name, l.lake.Spec.S3NBD.Stores[0].Name), name)
}

func (l *lake) survives(t *testing.T) {
	before, err := server(t.Context(), l.lake)
	if err != nil {
		t.Fatal(err)
	}
	pids, err := onNode(t, l.node, "pgrep -x zerofs")
	if err != nil || len(strings.Fields(pids)) != 1 {
		t.Fatalf("processes of ZeroFS: %q, %v", pids, err)
	}
	killed := time.Now()
	if _, err := onNode(t, l.node, "kill -KILL "+pids); err != nil {
		t.Fatal(err)
	}
	eventually(t, "ZeroFS to serve again", func(ctx context.Context) error {
		told, err := metrics(ctx, before)
		if err != nil {
			return err
		}
		if !strings.Contains(told, "pgstorage_s3nbd_restarts_total 1") || !strings.Contains(told, servingNow) {
			return errors.New("not yet")
		}
		return nil
	})
	t.Logf("ZeroFS serves again %s after it was killed", time.Since(killed).Round(100*time.Millisecond))
	after, err := server(t.Context(), l.lake)
	if err != nil {
		t.Fatal(err)
	}
	if b, a := before.Status.ContainerStatuses[0], after.Status.ContainerStatuses[0]; after.UID != before.UID || a.ContainerID != b.ContainerID || a.RestartCount != 0 {
		t.Errorf("pod %s, container %s became pod %s, container %s, restarted %d times", before.UID, b.ContainerID, after.UID, a.ContainerID, a.RestartCount)
	}
	serversReady(t, l.lake, metav1.ConditionTrue, v1alpha1.ReasonServersReady)
}

func (l *lake) ends(t *testing.T) {
	for _, p := range []*v1alpha1.PgStorageProfile{l.lake, l.refused} {
		if err := c.Delete(t.Context(), p); err != nil {
			t.Fatal(err)
		}
	}
	for _, p := range []*v1alpha1.PgStorageProfile{l.lake, l.refused} {
		eventually(t, "profile "+p.Name+" to be gone, with all that was made of it", func(ctx context.Context) error {
			return gone(ctx, p)
		})
	}
	raw, err := onNode(t, l.node, "cat "+l.file(zerofs.IncarnationFile))
	if err != nil {
		t.Fatal(err)
	}
	var last zerofs.Incarnation
	if err := json.Unmarshal([]byte(raw), &last); err != nil {
		t.Fatal(err)
	}
	if last.State != zerofs.StateStopped || !last.Served {
		t.Errorf("the server did not end in order: %s", raw)
	}
}

// gone says whether anything of a profile is there still.
func gone(ctx context.Context, p *v1alpha1.PgStorageProfile) error {
	of := client.MatchingLabels{naming.LabelProfile: p.Name}
	for _, list := range []client.ObjectList{&appsv1.DaemonSetList{}, &corev1.ConfigMapList{}, &corev1.PodList{}, &v1alpha1.PgNodeStorageList{}} {
		if err := c.List(ctx, list, of); err != nil {
			return err
		}
		if n := meta.LenList(list); n > 0 {
			return fmt.Errorf("%d of %T", n, list)
		}
	}
	err := c.Get(ctx, client.ObjectKeyFromObject(p), p)
	if apierrors.IsNotFound(err) {
		return nil
	}
	return errors.Join(errors.New("it is there"), err)
}
