// Package crd_test shows what the author of a custom resource sees. It covers what is refused
// and with which message, what is accepted, the defaults, and the output of kubectl explain. A
// real API server answers, and the controllers run for what only they can refuse.
package crd_test

import (
	"encoding/json"
	"os"
	"strconv"
	"strings"
	"testing"
	"time"

	"go.uber.org/zap/zapcore"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/client-go/rest"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/log/zap"
	"sigs.k8s.io/yaml"

	"github.com/pgstorage/pgstorage/internal/testing/apiserver"
)

const (
	// patience bounds every wait of this suite: more than the minute after which a pass
	// that hangs is begun again.
	patience = 2 * time.Minute
	interval = 50 * time.Millisecond
)

var config *rest.Config

func TestMain(m *testing.M) {
	ctrl.SetLogger(zap.New(zap.UseDevMode(true), zap.Level(zapcore.ErrorLevel)))
	os.Exit(apiserver.Run(m, &config))
}

// The bases of the tables: valid objects with only what is required.
var bases = map[string]string{
	"PgStorageCluster": `
apiVersion: pgstorage.dev/v1alpha1
kind: PgStorageCluster
metadata: {name: shop}
spec:
  profile: fast
  postgres: {version: "17"}
  storage: {size: 10Gi}
  resources:
    requests: {cpu: "1", memory: 1Gi}
  durability: Local
`,
	"PgStorageProfile": `
apiVersion: pgstorage.dev/v1alpha1
kind: PgStorageProfile
metadata: {name: fast}
spec:
  type: External
  external: {storageClassName: fast}
`,
	"PgBenchmark": `
apiVersion: pgstorage.dev/v1alpha1
kind: PgBenchmark
metadata: {name: first}
spec:
  cluster: shop
`,
	"PgScheduledBenchmark": `
apiVersion: pgstorage.dev/v1alpha1
kind: PgScheduledBenchmark
metadata: {name: nightly}
spec:
  schedule: "30 2 * * *"
  template:
    spec: {cluster: shop}
`,
	"PgStorageBranch": `
apiVersion: pgstorage.dev/v1alpha1
kind: PgStorageBranch
metadata: {name: shop-test}
spec:
  source: {cluster: shop}
`,
	// A matrix of one variant, on a cluster of its own.
	"Matrix": `
apiVersion: pgstorage.dev/v1alpha1
kind: PgBenchmark
metadata: {name: first}
spec:
  template:
    profile: fast
    postgres: {version: "17"}
    storage: {size: 10Gi}
    resources:
      requests: {cpu: "1", memory: 1Gi}
    durability: Local
  matrix: {}
`,
	// A profile of another type.
	"ZFSLocalPV": `
apiVersion: pgstorage.dev/v1alpha1
kind: PgStorageProfile
metadata: {name: tank}
spec:
  type: ZFSLocalPV
  nodeSelector: {pgstorage.dev/pool: tank}
  zfsLocalPV: {pool: {name: tank}}
`,
	"S3NBD": `
apiVersion: pgstorage.dev/v1alpha1
kind: PgStorageProfile
metadata: {name: lake}
spec:
  type: S3NBD
  nodeSelector: {pgstorage.dev/pool: lake}
  s3NBD:
    pool: {name: lake}
    stores:
    - {name: main, bucket: acme-pg, prefix: pg, credentialsSecret: keys, encryptionSecret: zerofs}
    devices: {size: 100Gi}
    zeroFS: {family: "2", image: "ghcr.io/barre/zerofs:2.3.0"}
`,
	"CephRBD": `
apiVersion: pgstorage.dev/v1alpha1
kind: PgStorageProfile
metadata: {name: ceph}
spec:
  type: CephRBD
  nodeSelector: {pgstorage.dev/pool: tank}
  cephRBD:
    cluster:
      image: "quay.io/ceph/ceph:v20.2.4"
      backing: {zfs: {pool: {name: tank}}}
      osds: {count: 3, size: 25Gi}
`,
	"Memory": `
apiVersion: pgstorage.dev/v1alpha1
kind: PgStorageProfile
metadata: {name: cache}
spec:
  type: Memory
  nodeSelector: {pgstorage.dev/memory: "yes"}
  memory: {maxPerNode: 16Gi}
`,
	"NodeMemory": `
apiVersion: pgstorage.dev/v1alpha1
kind: PgNodeStorage
metadata: {name: node-1-cache}
spec:
  nodeName: node-1
  profile: cache
  memory: {volumes: [{name: pvc-1, size: 1Gi}]}
`,
	"PgNodeStorage": `
apiVersion: pgstorage.dev/v1alpha1
kind: PgNodeStorage
metadata: {name: node-1-tank}
spec:
  nodeName: node-1
  profile: tank
  pool: {name: tank}
`,
}

// change sets a field of an object. The path is separated by "/", and a number
// steps into a list; a nil value removes the field.
type change struct {
	path  string
	value any
}

func set(path string, value any) change { return change{path, value} }
func unset(path string) change          { return change{path: path} }

// base returns the valid object of a kind with changes made to it.
func base(t testing.TB, kind string, changes ...change) *unstructured.Unstructured {
	t.Helper()
	object := parse(t, bases[kind])
	edit(t, object, changes...)
	return object
}

func parse(t testing.TB, text string) *unstructured.Unstructured {
	t.Helper()
	content, err := yaml.YAMLToJSON([]byte(text))
	if err != nil {
		t.Fatal(err)
	}
	object := &unstructured.Unstructured{}
	if err := object.UnmarshalJSON(content); err != nil {
		t.Fatal(err)
	}
	return object
}

func edit(t testing.TB, object *unstructured.Unstructured, changes ...change) {
	t.Helper()
	for _, c := range changes {
		value := c.value
		if value != nil {
			value = plain(t, value)
		}
		put(object.Object, strings.Split(c.path, "/"), value)
	}
}

// put returns a node with the value at a path below it replaced.
func put(node any, path []string, value any) any {
	if len(path) == 0 {
		return value
	}
	if list, ok := node.([]any); ok {
		if i, err := strconv.Atoi(path[0]); err == nil {
			list[i] = put(list[i], path[1:], value)
			return list
		}
	}
	object, ok := node.(map[string]any)
	if !ok {
		object = map[string]any{}
	}
	if len(path) == 1 && value == nil {
		delete(object, path[0])
		return object
	}
	object[path[0]] = put(object[path[0]], path[1:], value)
	return object
}

// plain turns a value into what JSON decodes to in an unstructured object.
func plain(t testing.TB, value any) any {
	t.Helper()
	content, err := json.Marshal(map[string]any{"value": value})
	if err != nil {
		t.Fatal(err)
	}
	holder := &unstructured.Unstructured{}
	// The decoder of unstructured objects keeps whole numbers whole.
	if err := holder.UnmarshalJSON([]byte(`{"apiVersion":"v1","kind":"Holder",` + string(content[1:]))); err != nil {
		t.Fatal(err)
	}
	return holder.Object["value"]
}

func namespace(t testing.TB, c client.Client) string {
	t.Helper()
	ns := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{GenerateName: "crd-"}}
	if err := c.Create(t.Context(), ns); err != nil {
		t.Fatal(err)
	}
	return ns.Name
}

// place gives an object a namespace of its own, where its kind has one.
func place(t testing.TB, c client.Client, object *unstructured.Unstructured) {
	t.Helper()
	if !clusterWide(object) {
		object.SetNamespace(namespace(t, c))
	}
}

func clusterWide(object *unstructured.Unstructured) bool {
	return object.GetKind() == "PgStorageProfile" || object.GetKind() == "PgNodeStorage"
}
