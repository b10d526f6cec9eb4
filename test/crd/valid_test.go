package crd_test

import (
	"bytes"
	"errors"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/yaml"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/pgstorage/pgstorage/internal/testing/apiserver"
	"github.com/pgstorage/pgstorage/internal/testing/repository"
)

// TestSamplesAreAccepted gives every document of config/samples to the API server.
func TestSamplesAreAccepted(t *testing.T) {
	c := apiserver.Client(t, config)
	files, err := filepath.Glob(filepath.Join(repository.Root(), "config", "samples", "*.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	accepted := 0
	for _, file := range files {
		if filepath.Base(file) == "kustomization.yaml" { // for kustomize, not for the API server
			continue
		}
		content, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for _, object := range documents(t, content) {
			t.Run(filepath.Base(file)+"/"+object.GetKind(), func(t *testing.T) {
				if err := c.Create(t.Context(), object, client.DryRunAll); err != nil {
					t.Error(err)
				}
			})
			accepted++
		}
	}
	if accepted == 0 {
		t.Error("there are no samples")
	}
}

func documents(t *testing.T, content []byte) []*unstructured.Unstructured {
	t.Helper()
	var out []*unstructured.Unstructured
	decoder := yaml.NewYAMLOrJSONDecoder(bytes.NewReader(content), 4096)
	for {
		object := &unstructured.Unstructured{}
		err := decoder.Decode(object)
		if errors.Is(err, io.EOF) {
			return out
		}
		if err != nil {
			t.Fatal(err)
		}
		if len(object.Object) > 0 {
			out = append(out, object)
		}
	}
}

type edge struct {
	name, kind string
	change     []change
}

// valid are objects at the edges of what is allowed.
var valid = []edge{
	{"least cluster", "PgStorageCluster", nil},
	{"least profile", "PgStorageProfile", nil},
	{"least benchmark", "PgBenchmark", nil},
	{"longest name", "PgStorageCluster", []change{set("metadata/name", strings.Repeat("a", 50))}},
	{"longest name of a benchmark", "PgBenchmark", []change{set("metadata/name", strings.Repeat("a", 50))}},
	{"name of one letter", "PgStorageCluster", []change{set("metadata/name", "a")}},
	{"least sizes", "PgStorageCluster", []change{set("spec/storage/size", "1Gi"), set("spec/storage/walSize", "1Gi"), set("spec/resources/requests/memory", "256Mi"), set("spec/resources/requests/cpu", "50m")}},
	{"sizes in other units", "PgStorageCluster", []change{set("spec/storage/size", "1.5Ti"), set("spec/storage/walSize", "20G"), set("spec/resources/requests/cpu", 2)}},
	{"oldest version", "PgStorageCluster", []change{set("spec/postgres/version", "14")}},
	{"newest version", "PgStorageCluster", []change{set("spec/postgres/version", "18.12")}},
	{"image with port, tag and digest", "PgStorageCluster", []change{set("spec/postgres/image", "registry.example:5000/pg/postgresql:17.6-bookworm@sha256:"+strings.Repeat("a", 64))}},
	{"image with the major as tag", "PgStorageCluster", []change{set("spec/postgres/image", "registry.example/postgresql:17")}},
	{"fsync said to be on, as Postgres reads it", "PgStorageCluster", []change{parameter("fsync", "ON"), parameter("full_page_writes", "true")}},
	{"synchronous_commit above the tier", "PgStorageCluster", []change{parameter("synchronous_commit", "remote_apply")}},
	{"synchronous_commit off under Async", "PgStorageCluster", []change{set("spec/durability", "Async"), parameter("synchronous_commit", "off")}},
	{"parameter of an extension", "PgStorageCluster", []change{parameter("pg_stat_statements.max", "10000")}},
	{"most of everything", "PgStorageCluster", []change{
		set("spec/instances", 16), set("spec/durability", "Quorum"), set("spec/workload", "Analytics"), set("spec/deletionPolicy", "Delete"), set("spec/benchmarkPolicy", "Any"), set("spec/suspend", true),
		set("spec/postgres", map[string]any{"version": "17.6", "database": "_" + strings.Repeat("d", 62), "owner": strings.Repeat("o", 63)}),
		set("spec/storage/walSize", "5Gi"), set("spec/resources/limits", map[string]any{"cpu": "1", "memory": "1Gi", "hugepages-2Mi": "512Mi"}), set("spec/resources/requests/hugepages-2Mi", "512Mi"),
		set("spec/monitoring/podMonitor", "Disabled"), set("spec/benchmark/transactions", 1000),
		override("affinity.topologyKey", "topology.kubernetes.io/zone"), override("managed.roles", []any{map[string]any{"name": "reader"}}),
	}},
	{"defaults of CloudNativePG", "PgStorageCluster", []change{set("spec/defaults", "CloudNativePG"), unset("spec/resources")}},
	{"small resources with defaults of CloudNativePG", "PgStorageCluster", []change{set("spec/defaults", "CloudNativePG"), set("spec/resources", map[string]any{"requests": map[string]any{"cpu": "10m"}, "limits": map[string]any{"memory": "128Mi"}})}},
	{"most of a quorum", "PgStorageCluster", []change{set("spec/instances", 16), set("spec/durability", "Quorum"), set("spec/quorum", map[string]any{"method": "First", "standbys": 15, "acrossFailureDomain": "topology.kubernetes.io/zone"})}},
	{"consent to all", "PgStorageProfile", []change{set("spec/allowedOverrides", []any{"securityContext.seccompProfile.type", "managed", "postgresql", "bootstrap.recovery", "imageName", "inheritedMetadata"})}},
	{"most time for instances", "PgStorageProfile", []change{set("spec/instanceProbes", map[string]any{"reason": strings.Repeat("é", 256), "timeout": "1m", "liveness": "1800s", "startup": "24h"})}},
	{"least time for instances", "PgStorageProfile", []change{set("spec/instanceProbes", map[string]any{"reason": "r", "timeout": "1s", "liveness": "30s", "startup": "1m"})}},
	{"most of a profile", "PgStorageProfile", []change{set("spec/external", map[string]any{"storageClassName": "fast.ssd-1", "walStorageClassName": "9wal", "medium": "HDD"})}},
	{"most of a benchmark", "PgBenchmark", []change{set("spec/pgbench", map[string]any{
		"scale": 100000, "clients": []int{1, 1000}, "jobs": 256, "duration": "24h", "warmUp": "1h", "repeats": 20, "rate": 10000000, "protocol": "Prepared", "maxTries": 1000,
		"integrity": "Basic", "cleanup": "Never", "resources": map[string]any{"limits": map[string]any{"cpu": "4"}},
		"customScripts": []any{map[string]any{"configMap": "sql", "key": "a.sql", "weight": 1000}, map[string]any{"configMap": "sql", "key": "b_2.sql"}},
	})}},
	{"least layers", "PgBenchmark", []change{set("spec/layers", map[string]any{})}},
	{"most of layers", "PgBenchmark", []change{
		ofLayers("volumeSize", "100Gi"), ofLayers("fioImage", "registry.example.com:5000/fio@sha256:0000"), ofLayers("duration", "10m"), ofLayers("repeats", 20),
	}},
	{"layers of a matrix", "Matrix", []change{ofLayers("volumeSize", "256Mi")}},
	{"least matrix", "Matrix", nil},
	{"matrix on a cluster that is given", "Matrix", []change{unset("spec/template"), set("spec/cluster", "shop"), ofMatrix("scripts", []string{"TPCB", "SelectOnly"})}},
	{"matrix of 64 variants", "Matrix", []change{
		unset("spec/template/profile"), unset("spec/template/durability"), pgbench("clients", []int{1, 8}),
		ofMatrix("profiles", []string{"a", "b"}), ofMatrix("durability", []string{"Local", "Async"}),
		ofMatrix("parameters", []any{axis("work_mem", "4MB", "8MB"), axis("jit", "on", "off"), axis("wal_compression", "off", "lz4")}),
	}},
	{"matrix by name", "Matrix", []change{
		unset("spec/template/profile"), set("spec/template/instances", 2), ofMatrix("totalTimeout", "168h"), ofMatrix("rest", "0s"),
		byName(map[string]any{"name": "A.1", "profile": "a", "durability": "Quorum"}, map[string]any{"name": "b", "profile": "b", "script": "SelectOnly", "parameters": []any{map[string]any{"name": "jit", "value": "off"}}}),
		set("spec/gate", map[string]any{"baseline": "last", "threshold": 99, "confidence": 80}),
	}},
	{"longest values of variants", "Matrix", []change{ofMatrix("variants", longVariants(8))}},
	{"matrix with a cold cache", "Matrix", []change{pgbench("coldCache", true), pgbench("warmUp", "0s")}},
	{"durations of several units", "PgBenchmark", []change{pgbench("duration", "1h30m5s"), pgbench("warmUp", "0s")}},
}

func TestValidObjectsAreAccepted(t *testing.T) {
	c := apiserver.Client(t, config)
	for _, v := range slices.Concat(valid, validZFS, validS3, validCeph, validMemory, validTopology, validBackup, validBranches) {
		t.Run(v.name, func(t *testing.T) {
			object := base(t, v.kind, v.change...)
			if clusterWide(object) { // where other tests have theirs
				object.SetName("edge")
			}
			place(t, c, object)
			if err := c.Create(t.Context(), object, client.DryRunAll); err != nil {
				t.Error(err)
			}
		})
	}
}

// TestValidChangesAreAccepted changes what may change.
func TestValidChangesAreAccepted(t *testing.T) {
	c := apiserver.Client(t, config)
	for name, r := range map[string]row{
		"grow":                        {change: []change{set("spec/storage/size", "20Gi")}},
		"equal size, other unit":      {change: []change{set("spec/storage/size", "10240Mi")}},
		"WAL on a volume of its own":  {change: []change{set("spec/storage/walSize", "2Gi")}},
		"major raised":                {change: []change{set("spec/postgres/version", "18")}},
		"minor lowered":               {before: []change{set("spec/postgres/version", "17.6")}, change: []change{set("spec/postgres/version", "17.5")}},
		"major raised with its image": {before: []change{set("spec/postgres/image", "r.example/pg:17.6")}, change: []change{set("spec/postgres/version", "18"), set("spec/postgres/image", "r.example/pg:18.1")}},
		"Quorum":                      {change: []change{set("spec/instances", 3), set("spec/durability", "Quorum")}},
		"suspend":                     {change: []change{set("spec/suspend", true)}},
		"branches allowed":            {change: []change{set("spec/branchPolicy", "Any")}},
		"branches forbidden":          {before: []change{set("spec/branchPolicy", "Any")}, change: []change{set("spec/branchPolicy", "None")}},
		"backups added":               {change: []change{backup()}},
		"backups into another store":  {before: []change{backup()}, change: []change{set("spec/backup/objectStore/name", "sea"), set("spec/backup/maxArchiveAge", "1m")}},
		"backups removed":             {before: []change{backup()}, change: []change{unset("spec/backup")}},
		"branch promoted":             {kind: "PgStorageBranch", before: []change{set("spec/ttl", "24h")}, change: []change{set("spec/promote", true)}},
		"branch kept longer":          {kind: "PgStorageBranch", before: []change{set("spec/ttl", "24h"), mask()}, change: []change{set("spec/ttl", "48h")}},
		"branch kept":                 {kind: "PgStorageBranch", before: []change{set("spec/ttl", "24h")}, change: []change{unset("spec/ttl")}},
	} {
		t.Run(name, func(t *testing.T) {
			if r.kind == "" {
				r.kind = "PgStorageCluster"
			}
			object := base(t, r.kind, r.before...)
			place(t, c, object)
			if err := c.Create(t.Context(), object); err != nil {
				t.Fatal(err)
			}
			edit(t, object, r.change...)
			if err := c.Update(t.Context(), object, client.DryRunAll); err != nil {
				t.Error(err)
			}
		})
	}
}

// defaulted is what is written into a base, and what comes out besides.
type defaulted struct{ before, defaults []change }

// TestDefaultsAreAsDocumented compares what is stored with what was written plus
// the defaults that the descriptions promise.
func TestDefaultsAreAsDocumented(t *testing.T) {
	c := apiserver.Client(t, config)
	run := map[string]any{"scale": 10, "clients": []int{1, 4}, "warmUp": "5s", "repeats": 1, "protocol": "Simple", "maxTries": 1, "integrity": "Full", "cleanup": "Always"}
	for name, test := range map[string]defaulted{
		"PgStorageCluster": {
			before: []change{set("spec/monitoring", map[string]any{}), set("spec/benchmark", map[string]any{}), backup()},
			defaults: []change{
				set("spec/instances", 1), set("spec/workload", "Mixed"), set("spec/deletionPolicy", "Retain"), set("spec/benchmarkPolicy", "Own"), set("spec/branchPolicy", "None"), set("spec/defaults", "pgstorage"),
				set("spec/postgres/database", "app"), set("spec/postgres/owner", "app"), set("spec/monitoring/podMonitor", "Auto"), set("spec/benchmark", run),
				set("spec/backup/maxArchiveAge", "15m"),
			},
		},
		"PgStorageBranch": {
			before:   []change{mask()},
			defaults: []change{set("spec/masking/configMap/key", "mask.sql")},
		},
		"PgStorageProfile": {defaults: []change{set("spec/external/medium", "SSD")}},
		"PgBenchmark": {
			before:   []change{set("spec/layers", map[string]any{})},
			defaults: []change{set("spec/pgbench", run), set("spec/layers", map[string]any{"volumeSize": "1Gi", "duration": "5s", "repeats": 3})},
		},
		"PgScheduledBenchmark": {
			before: []change{set("spec/template/spec/matrix", map[string]any{}), set("spec/gate", map[string]any{})},
			defaults: []change{
				set("spec/timeZone", "UTC"), set("spec/successfulHistoryLimit", 3), set("spec/failedHistoryLimit", 1),
				set("spec/gate", map[string]any{"threshold": 5, "confidence": 95}), set("spec/template/spec/pgbench", run),
				set("spec/template/spec/matrix", map[string]any{"repeats": 5, "seed": 1, "rest": "10s", "targetTimeout": "20m", "maxFailures": 2}),
			},
		},
		"Matrix asks": {
			before: []change{set("spec/gate", map[string]any{"baseline": "last"})},
			defaults: []change{
				set("spec/pgbench", run), set("spec/gate/threshold", 5), set("spec/gate/confidence", 95),
				set("spec/matrix", map[string]any{"repeats": 5, "seed": 1, "rest": "10s", "targetTimeout": "20m", "maxFailures": 2}),
				set("spec/template/instances", 1), set("spec/template/workload", "Mixed"), set("spec/template/postgres/database", "app"), set("spec/template/postgres/owner", "app"),
			},
		},
		"ZFSLocalPV adopts": {defaults: zfsDefaults},
		"ZFSLocalPV makes":  zfsMade,
		"S3NBD asks":        {defaults: s3Defaults},
		"CephRBD asks":      {defaults: cephDefaults},
		"PgNodeStorage": {
			before:   []change{set("spec/pool/create", fields("vdevs", []any{selected(2)}))},
			defaults: []change{set("spec/driftPolicy", "Repair"), set("spec/pool/create/ashift", 12), set("spec/pool/create/vdevs/0/type", "stripe")},
		},
	} {
		t.Run(name, func(t *testing.T) {
			kind, _, _ := strings.Cut(name, " ")
			object := base(t, kind, append(test.before, set("metadata/name", "defaults-"+strings.ToLower(strings.ReplaceAll(name, " ", "-"))))...)
			place(t, c, object)
			want := object.DeepCopy()
			edit(t, want, test.defaults...)
			if err := c.Create(t.Context(), object); err != nil {
				t.Fatal(err)
			}
			if err := c.Get(t.Context(), client.ObjectKeyFromObject(object), object); err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(want.Object["spec"], object.Object["spec"]); diff != "" {
				t.Errorf("stored otherwise than documented (-documented +stored):\n%s", diff)
			}
		})
	}
}

// crds reads our CRDs back from the API server, which has found their CEL rules
// within its cost budget: it refuses CRDs that are not.
func crds(t *testing.T) []apiextensionsv1.CustomResourceDefinition {
	t.Helper()
	types := runtime.NewScheme()
	if err := apiextensionsv1.AddToScheme(types); err != nil {
		t.Fatal(err)
	}
	c, err := client.New(config, client.Options{Scheme: types})
	if err != nil {
		t.Fatal(err)
	}
	var out []apiextensionsv1.CustomResourceDefinition
	for _, plural := range []string{"pgbenchmarks", "pgnodestorages", "pgscheduledbenchmarks", "pgstoragebranches", "pgstorageclusters", "pgstorageprofiles"} {
		crd := apiextensionsv1.CustomResourceDefinition{}
		if err := c.Get(t.Context(), client.ObjectKey{Name: plural + ".pgstorage.dev"}, &crd); err != nil {
			t.Fatal(err)
		}
		for _, condition := range crd.Status.Conditions {
			if condition.Type == apiextensionsv1.NonStructuralSchema && condition.Status == apiextensionsv1.ConditionTrue {
				t.Errorf("%s: %s", crd.Name, condition.Message)
			}
		}
		out = append(out, crd)
	}
	return out
}

// TestKubectlShowsWhatMatters checks short names, the category and columns.
func TestKubectlShowsWhatMatters(t *testing.T) {
	short := map[string]string{"PgStorageCluster": "pgsc", "PgStorageBranch": "pgbr", "PgStorageProfile": "pgsp", "PgBenchmark": "pgb", "PgScheduledBenchmark": "pgsb", "PgNodeStorage": "pgns"}
	columns := map[string][]string{
		"PgStorageCluster": {"Profile", "Instances", "Up", "Primary", "Durability", "Ready", "Reason", "Message", "Age"},
		"PgStorageBranch":  {"Source", "Ready", "Reason", "Space", "Expires", "Endpoint", "Children", "Message", "Age"},
		"PgStorageProfile": {"Type", "Class", "Clusters", "Ready", "Reason", "Message", "Age"},
		"PgNodeStorage":    {"Node", "Profile", "Pool", "Health", "Used", "Stored", "Ready", "Reachable", "Reason", "Message", "Age"},
		"PgBenchmark":      {"Cluster", "Phase", "Percent", "Runs", "TPS", "Durability", "Doing", "Reason", "Believable", "Age"},

		"PgScheduledBenchmark": {"Schedule", "Zone", "Suspend", "Active", "Last", "Result", "TPS", "NotRegressed", "Next", "Reason", "Age"},
	}
	for _, crd := range crds(t) {
		kind := crd.Spec.Names.Kind
		if !slices.Equal(crd.Spec.Names.ShortNames, []string{short[kind]}) {
			t.Errorf("%s: short names %v", kind, crd.Spec.Names.ShortNames)
		}
		if !slices.Contains(crd.Spec.Names.Categories, "pgstorage") {
			t.Errorf("%s: categories %v", kind, crd.Spec.Names.Categories)
		}
		var got []string
		for _, version := range crd.Spec.Versions {
			if version.Subresources == nil || version.Subresources.Status == nil {
				t.Errorf("%s: no subresource status", kind)
			}
			for _, column := range version.AdditionalPrinterColumns {
				got = append(got, column.Name)
			}
		}
		if !slices.Equal(got, columns[kind]) {
			t.Errorf("%s: columns %v, not %v", kind, got, columns[kind])
		}
	}
}
