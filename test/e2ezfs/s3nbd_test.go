//go:build e2ezfs

package e2ezfs

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/pgstorage/pgstorage/api/v1alpha1"
	"github.com/pgstorage/pgstorage/internal/kube/naming"
	"github.com/pgstorage/pgstorage/internal/testing/acks"
	"github.com/pgstorage/pgstorage/internal/testing/live"
	"github.com/pgstorage/pgstorage/internal/testing/s3pod"
)

const (
	// lake is the name of the profile and of its pool.
	lake           = "lake"
	storeNamespace = "e2e-s3"
)

// TestS3NBD follows one database whose pool is in an S3 store through the failures of each of
// its parts.
func TestS3NBD(t *testing.T) {
	if err := live.Needs("test-e2e-s3nbd", "PGSTORAGE_ZEROFS_IMAGE", "PGSTORAGE_ZEROFS_NEXT_IMAGE", "PGSTORAGE_S3_IMAGE"); err != nil {
		t.Fatal(err)
	}
	if err := helm("extraArgs={--feature-gates=S3NBD=true}", "agent.resync=60s"); err != nil {
		t.Fatal(err)
	}
	// A commit also waits for an emulated ZeroFS: initdb alone takes minutes.
	patience = 30 * time.Minute
	beforeFault, afterFault = 25, 25
	create(t, &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: namespace}}, &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: storeNamespace}})
	shop := database()
	shop.Spec.Profile = lake
	step := live.InTurnOn(t, shop)
	step("from an empty bucket to Ready", bucketToReady)
	step("rows by pgbench", pgbench)
	step("ZeroFS killed while commits are acknowledged", zeroFSKilled)
	step("the server's pod replaced beneath the pool", podReplaced)
	step("another image of the server", imageRolled)
	step("manager and agent killed at once", operatorKilled)
	step("the store silent for ten minutes", storeSilent)
	step("power cut while commits are acknowledged", lakePowerCut)
	step("the node replaced by another machine", nodeReplaced)
	step("deletion exports the pool and stops the server", lakeDeletion)
}

// lakeProfile is a stripe of two small devices.
func lakeProfile(endpoint string) *v1alpha1.PgStorageProfile {
	yes, two := true, int32(2)
	return &v1alpha1.PgStorageProfile{
		ObjectMeta: metav1.ObjectMeta{Name: lake},
		Spec: v1alpha1.PgStorageProfileSpec{
			Type: v1alpha1.ProfileTypeS3NBD, NodeSelector: map[string]string{"pgstorage.dev/pool": pool},
			// The node's processors are emulated.
			InstanceProbes: &v1alpha1.InstanceProbes{Reason: "emulated processors, and commits wait for a store", Timeout: "60s", Liveness: "20m", Startup: "2h"},
			S3NBD: &v1alpha1.S3NBDProfile{
				Pool: v1alpha1.S3NBDPool{Name: lake},
				Stores: []v1alpha1.S3Store{{
					Name: "main", Bucket: s3pod.Bucket, Region: s3pod.Region, Prefix: "e2e", Endpoint: endpoint, AllowHTTP: &yes,
					CredentialsSecret: "lake-keys", EncryptionSecret: "lake-password",
				}},
				Devices: v1alpha1.S3NBDDevices{Count: &two, Size: resource.MustParse("4Gi")},
				ZeroFS: v1alpha1.ZeroFSServer{
					Family: v1alpha1.ZeroFS019, Image: os.Getenv("PGSTORAGE_ZEROFS_IMAGE"),
					Resources: v1alpha1.ZeroFSResources{CPU: resource.MustParse("1"), Memory: resource.MustParse("1Gi")},
					Cache:     v1alpha1.ZeroFSCache{Size: resource.MustParse("2Gi"), Memory: resource.MustParse("64Mi")},
				},
				ARCMax: resource.NewQuantity(arcMax, resource.BinarySI),
			},
		},
	}
}

// bucketToReady puts the store beside the node whose power is cut.
func bucketToReady(t *testing.T, shop *v1alpha1.PgStorageCluster) {
	store := s3pod.Store{
		Namespace: storeNamespace, Image: os.Getenv("PGSTORAGE_S3_IMAGE"), AccessKey: rand.Text(), SecretKey: rand.Text(),
		NodeSelector: map[string]string{"node-role.kubernetes.io/control-plane": ""},
	}
	create(t, store.Objects()...)
	for name, data := range map[string]map[string]string{
		"lake-keys":     {"AWS_ACCESS_KEY_ID": store.AccessKey, "AWS_SECRET_ACCESS_KEY": store.SecretKey},
		"lake-password": {"password": rand.Text()},
	} {
		create(t, &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: operatorNamespace, Name: name}, StringData: data})
	}
	declare(t, lakeProfile(store.Endpoint()))
	lakeReady(t)
	create(t, shop)
	ready(t, shop)
	if err := live.AllTrue(shop.Status.Conditions, shop.Generation, v1alpha1.ConditionProbesApplied); err != nil {
		t.Error(err)
	}
	for _, role := range []string{"Data", "WAL"} {
		if v := volume(t, shop, role); !strings.HasPrefix(v.Dataset, lake+"/") || v.Node != nodeName {
			t.Errorf("volume %+v is not where it belongs", v)
		}
	}
	if got := must(t)(host(t.Context(), "/sbin/zpool", "status", "-P", lake)); strings.Count(got, "/run/pgstorage/lake/") != 2 || !strings.Contains(got, "state: ONLINE") {
		t.Errorf("the pool is\n%s", got)
	}
}

// lakeReady waits until the profile is Ready.
func lakeReady(t *testing.T) {
	t.Helper()
	eventually(t, "the profile to be Ready", func(ctx context.Context) error {
		p := &v1alpha1.PgStorageProfile{}
		if err := c.Get(ctx, client.ObjectKey{Name: lake}, p); err != nil {
			return err
		}
		return live.AllTrue(p.Status.Conditions, p.Generation, v1alpha1.ConditionReady, v1alpha1.ConditionNodesReady, v1alpha1.ConditionServersReady)
	})
}

func pgbench(t *testing.T, shop *v1alpha1.PgStorageCluster) {
	primary := shop.Status.Database.Primary
	must(t)(inPod(t.Context(), shop, primary, "pgbench", "-q", "-i", "-s", "1", "app"))
	out := must(t)(inPod(t.Context(), shop, primary, "pgbench", "-c", "4", "-T", "10", "app"))
	if got := mustPSQL(t, shop, "SELECT count(*) FROM pgbench_accounts"); got != "100000" {
		t.Errorf("%s accounts", got)
	}
	t.Log(out)
}

// driverImage is an image of the node's that has busybox.
func driverImage(t *testing.T) string {
	t.Helper()
	driver := &appsv1.DaemonSet{}
	if err := c.Get(t.Context(), client.ObjectKey{Namespace: "openebs", Name: "openebs-zfs-node"}, driver); err != nil {
		t.Fatal(err)
	}
	return driver.Spec.Template.Spec.Containers[0].Image
}

// signal a program on a node, by a pod that sees all processes there.
func signal(t *testing.T, on, name, program string) {
	t.Helper()
	yes := true
	pod := &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Namespace: storeNamespace, GenerateName: "signal-"},
		Spec: corev1.PodSpec{
			NodeName: on, HostPID: true, RestartPolicy: corev1.RestartPolicyNever,
			Containers: []corev1.Container{{
				Name: "kill", Image: driverImage(t),
				Command:         []string{"/bin/busybox", "sh", "-c", fmt.Sprintf("/bin/busybox kill -%s $(/bin/busybox pidof %s)", name, program)},
				SecurityContext: &corev1.SecurityContext{Privileged: &yes},
			}},
		},
	}
	create(t, pod)
	eventually(t, fmt.Sprintf("%s to have %s", program, name), func(ctx context.Context) error {
		if err := c.Get(ctx, client.ObjectKeyFromObject(pod), pod); err != nil {
			return err
		}
		if pod.Status.Phase != corev1.PodSucceeded {
			return fmt.Errorf("the pod that does it is %s", pod.Status.Phase)
		}
		return nil
	})
}

// zeroFS is the pod of the server.
func zeroFS(ctx context.Context) (*corev1.Pod, error) {
	list := &corev1.PodList{}
	if err := c.List(ctx, list, client.InNamespace(operatorNamespace), client.MatchingLabels{naming.LabelProfile: lake}); err != nil {
		return nil, err
	}
	if len(list.Items) != 1 {
		return nil, fmt.Errorf("%d pods", len(list.Items))
	}
	return &list.Items[0], nil
}

func zeroFSKilled(t *testing.T, shop *v1alpha1.PgStorageCluster) {
	before, server := pods(t, shop), mustServer(t)
	writer := loaded(t, shop)
	signal(t, nodeName, "KILL", "zerofs")
	killed, rows := time.Now(), len(acks.Rows(must(t)(logs(t.Context(), writer))))
	acknowledgedAtLeast(t, writer, rows+afterFault)
	t.Logf("%d more commits were acknowledged %s after ZeroFS was killed", afterFault, time.Since(killed).Round(time.Second))
	nothingLost(t, shop, writer)
	intact(t, shop, shop.Status.Database.Primary)
	if diff := cmp.Diff(before, pods(t, shop)); diff != "" {
		t.Errorf("Postgres was touched: %s", diff)
	}
	if now := mustServer(t); now.UID != server.UID || now.Status.ContainerStatuses[0].RestartCount != server.Status.ContainerStatuses[0].RestartCount {
		t.Errorf("the server's pod %s became %s, restarted %d times", server.UID, now.UID, now.Status.ContainerStatuses[0].RestartCount)
	}
	eventually(t, "the restart to be told", func(context.Context) error {
		for _, s := range storageOf(t, lake).Status.Servers {
			if s.Restarts == 1 && s.Phase == "Serving" {
				return nil
			}
		}
		return errors.New("not yet")
	})
}

func mustServer(t *testing.T) *corev1.Pod {
	t.Helper()
	pod, err := zeroFS(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return pod
}

// imageRolled gives the profile another name of the same image. The server that serves stays
// until an administrator deletes its pod.
func imageRolled(t *testing.T, shop *v1alpha1.PgStorageCluster) {
	p := &v1alpha1.PgStorageProfile{}
	if err := c.Get(t.Context(), client.ObjectKey{Name: lake}, p); err != nil {
		t.Fatal(err)
	}
	patched := p.DeepCopy()
	patched.Spec.S3NBD.ZeroFS.Image = os.Getenv("PGSTORAGE_ZEROFS_NEXT_IMAGE")
	next := patched.Spec.S3NBD.ZeroFS.Image
	if err := c.Patch(t.Context(), patched, client.MergeFrom(p)); err != nil {
		t.Fatal(err)
	}
	eventually(t, "the servers' DaemonSet to have the image", func(ctx context.Context) error {
		list := &appsv1.DaemonSetList{}
		if err := c.List(ctx, list, client.InNamespace(operatorNamespace), client.MatchingLabels{naming.LabelProfile: lake}); err != nil {
			return err
		}
		if len(list.Items) != 1 || !has(list.Items[0].Spec.Template.Spec, next) {
			return fmt.Errorf("%d DaemonSets, none with %s", len(list.Items), next)
		}
		return nil
	})
	if server := mustServer(t); has(server.Spec, next) || server.DeletionTimestamp != nil {
		t.Error("the operator replaced a server that serves")
	}
	podReplaced(t, shop)
	if server := mustServer(t); !has(server.Spec, next) {
		t.Errorf("the server has %+v", server.Spec.Containers)
	}
}

// has a pod a container of an image?
func has(spec corev1.PodSpec, image string) bool {
	return slices.ContainsFunc(spec.Containers, func(c corev1.Container) bool { return c.Image == image })
}

// podReplaced deletes the server's pod while commits are acknowledged.
func podReplaced(t *testing.T, shop *v1alpha1.PgStorageCluster) {
	t.Helper()
	before, server, imports := pods(t, shop), mustServer(t), lakeImports(t)
	writer := loaded(t, shop)
	rows, begin := len(acks.Rows(must(t)(logs(t.Context(), writer)))), time.Now()
	if err := c.Delete(t.Context(), server); err != nil {
		t.Fatal(err)
	}
	eventually(t, "another pod to serve", func(ctx context.Context) error {
		pod, err := zeroFS(ctx)
		if err != nil {
			return err
		}
		s := &v1alpha1.PgNodeStorage{}
		if err := c.Get(ctx, client.ObjectKey{Name: naming.NodeStorage(lake, nodeName)}, s); err != nil {
			return err
		}
		if pod.UID == server.UID || len(s.Status.Servers) != 1 || s.Status.Servers[0].Phase != "Serving" {
			return fmt.Errorf("pod %s, servers %+v", pod.UID, s.Status.Servers)
		}
		if !meta.IsStatusConditionTrue(s.Status.Conditions, v1alpha1.ConditionDevicesAttached) {
			return errors.New(summary(s.Status.Conditions))
		}
		return nil
	})
	continues(t, shop, writer, begin, rows)
	if now := lakeImports(t); now != imports {
		t.Errorf("the pool was imported %d times, and before %d", now, imports)
	}
	if diff := cmp.Diff(before, pods(t, shop)); diff != "" {
		t.Errorf("Postgres was touched: %s", diff)
	}
	lakeReady(t)
}

// continues: more commits are acknowledged, none is lost and no page is damaged.
func continues(t *testing.T, shop *v1alpha1.PgStorageCluster, writer *corev1.Pod, begin time.Time, rows int) {
	t.Helper()
	acknowledgedAtLeast(t, writer, rows+afterFault)
	t.Logf("%d more commits were acknowledged %s after it began", afterFault, time.Since(begin).Round(time.Second))
	nothingLost(t, shop, writer)
	intact(t, shop, shop.Status.Database.Primary)
}

// operatorKilled ends both in one moment, as the loss of the control plane's node does.
func operatorKilled(t *testing.T, shop *v1alpha1.PgStorageCluster) {
	before, server, imports := pods(t, shop), mustServer(t), lakeImports(t)
	writer := loaded(t, shop)
	rows, begin := len(acks.Rows(must(t)(logs(t.Context(), writer)))), time.Now()
	must(t)(command(t.Context(), "kubectl", "-n", operatorNamespace, "delete", "pod", "--force", "--grace-period=0",
		"-l", "app.kubernetes.io/name=pgstorage,app.kubernetes.io/component in (manager, agent)"))
	for _, workload := range []string{"deployment/pgstorage-manager", "daemonset/pgstorage-agent"} {
		must(t)(command(t.Context(), "kubectl", "-n", operatorNamespace, "rollout", "status", workload, "--timeout=5m"))
	}
	continues(t, shop, writer, begin, rows)
	lakeReady(t)
	if now := lakeImports(t); now != imports {
		t.Errorf("the pool was imported %d times, and before %d", now, imports)
	}
	if diff := cmp.Diff(before, pods(t, shop)); diff != "" || mustServer(t).UID != server.UID {
		t.Errorf("Postgres or the server was touched: %s", diff)
	}
}

const (
	// outage is how long the store is silent.
	outage = 10 * time.Minute
	// silenceTold bounds how long that is not reported: the relay waits for 30 s and looks each 10 s,
	// and the agent looks each minute. The rest is for emulated processors.
	silenceTold = 3 * time.Minute
)

// storeSilent halts the store: connections to it stay, and it answers nothing.
func storeSilent(t *testing.T, shop *v1alpha1.PgStorageCluster) {
	before, imports := pods(t, shop), lakeImports(t)
	writer := loaded(t, shop)
	begin := time.Now()
	control := machine + "-control-plane"
	signal(t, control, "STOP", "versitygw")
	eventually(t, "the outage to be told", func(ctx context.Context) error {
		p := &v1alpha1.PgStorageProfile{}
		if err := c.Get(ctx, client.ObjectKey{Name: lake}, p); err != nil {
			return err
		}
		if told := meta.FindStatusCondition(p.Status.Conditions, v1alpha1.ConditionServersReady); told == nil || told.Reason != v1alpha1.ReasonStoreUnavailable {
			return errors.New(summary(p.Status.Conditions))
		}
		return nil
	})
	if told := time.Since(begin).Round(time.Second); told > silenceTold {
		t.Errorf("the outage was told %s after the store was halted", told)
	} else {
		t.Logf("it was told %s after the store was halted", told)
	}
	eventually(t, "ten minutes to pass", func(ctx context.Context) error {
		now, err := live.Instances(ctx, c, shop.Namespace, shop.Name)
		if err != nil {
			return err
		}
		if diff := cmp.Diff(before, now); diff != "" {
			t.Fatalf("Postgres was touched in the outage: %s", diff)
		}
		if left := outage - time.Since(begin); left > 0 {
			return fmt.Errorf("%s to go", left.Round(time.Minute))
		}
		return nil
	})
	rows, back := len(acks.Rows(must(t)(logs(t.Context(), writer)))), time.Now()
	signal(t, control, "CONT", "versitygw")
	continues(t, shop, writer, back, rows)
	lakeReady(t)
	if now := lakeImports(t); now != imports {
		t.Errorf("the pool was imported %d times, and before %d", now, imports)
	}
}

// lakeImports counts how often the pool was imported.
func lakeImports(t *testing.T) int {
	t.Helper()
	return strings.Count(must(t)(host(t.Context(), "/sbin/zpool", "history", lake)), "zpool import ")
}

// lakePowerCut starts the same machine again, which imports its pool.
func lakePowerCut(t *testing.T, shop *v1alpha1.PgStorageCluster) {
	machineLost(t, shop, func() { node(t, "cut", nodeName); node(t, "boot", nodeName) })
}

// nodeReplaced gives the node's name to a machine that has nothing of the lost one. Its agent
// takes the pool over, because its servers have the bucket's fence.
func nodeReplaced(t *testing.T, shop *v1alpha1.PgStorageCluster) {
	machineLost(t, shop, func() { node(t, "replace", nodeName) })
	if history := must(t)(host(t.Context(), "/sbin/zpool", "history", lake)); !strings.Contains(history, "zpool import -N -f ") {
		t.Errorf("the pool was not taken over:\n%s", history)
	}
}

// machineLost loses the machine while commits are acknowledged, and has another one boot.
func machineLost(t *testing.T, shop *v1alpha1.PgStorageCluster, another func()) {
	t.Helper()
	guid, boot, imports := storageOf(t, lake).Status.Pool.GUID, bootID(t), lakeImports(t)
	writer := loaded(t, shop)
	begin, rows := time.Now(), len(acks.Rows(must(t)(logs(t.Context(), writer))))
	another()
	eventually(t, "the node to have booted", func(ctx context.Context) error {
		return live.Rebooted(ctx, c, nodeName, boot)
	})
	acknowledgedAtLeast(t, writer, rows+afterFault)
	t.Logf("%d more commits were acknowledged %s after %d", afterFault, time.Since(begin).Round(time.Second), rows)
	ready(t, shop)
	lakeReady(t)
	if got := storageOf(t, lake).Status.Pool.GUID; got != guid {
		t.Errorf("pool %s is another one than %s", got, guid)
	}
	if now := lakeImports(t); now != imports+1 {
		t.Errorf("the pool was imported %d times, and before %d", now, imports)
	}
	nothingLost(t, shop, writer)
	intact(t, shop, shop.Status.Database.Primary)
}

func lakeDeletion(t *testing.T, shop *v1alpha1.PgStorageCluster) {
	if err := c.Delete(t.Context(), shop); err != nil {
		t.Fatal(err)
	}
	gone(t, shop)
	p, s := &v1alpha1.PgStorageProfile{ObjectMeta: metav1.ObjectMeta{Name: lake}}, storageOf(t, lake)
	if err := c.Delete(t.Context(), p); err != nil {
		t.Fatal(err)
	}
	gone(t, s)
	gone(t, p)
	gone(t, &storagev1.StorageClass{ObjectMeta: metav1.ObjectMeta{Name: naming.DataClass(lake)}})
	eventually(t, "the server to have ended", func(ctx context.Context) error {
		pod, err := zeroFS(ctx)
		if err == nil {
			return fmt.Errorf("pod %s is %s", pod.Name, pod.Status.Phase)
		}
		return nil
	})
	if got := must(t)(host(t.Context(), "/sbin/zpool", "list", "-Ho", "name")); strings.Contains(got, lake) {
		t.Errorf("the node has the pools %q", got)
	}
	record := must(t)(host(t.Context(), "/bin/cat", naming.ServerDirectory(lake, "main")+"/incarnation.json"))
	if !strings.Contains(record, `"state":"Stopped"`) {
		t.Errorf("the server did not end in order: %s", record)
	}
}
