package hatch

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// modelled are the fields of a sample that a PgStorageCluster has fields of its own for.
var modelled = [][]string{
	{"instances"}, {"imageName"}, {"storage"}, {"walStorage"}, {"resources"}, {"minSyncReplicas"}, {"maxSyncReplicas"},
	{"postgresql", "parameters"}, {"postgresql", "synchronous"}, {"monitoring", "enablePodMonitor"},
	{"bootstrap", "initdb", "database"}, {"bootstrap", "initdb", "owner"}, {"bootstrap", "initdb", "dataChecksums"},
	{"bootstrap", "recovery", "database"}, {"bootstrap", "recovery", "owner"}, {"bootstrap", "pg_basebackup", "database"}, {"bootstrap", "pg_basebackup", "owner"},
}

// samples are the Clusters among CloudNativePG's own samples, without what is modelled, and
// the files that they are in.
func samples(t *testing.T) (names []string, specs []map[string]any) {
	t.Helper()
	var files []string
	for _, pattern := range []string{"*.yaml", "*/*.yaml"} {
		found, err := filepath.Glob(filepath.Join(moduleDir(t), "docs", "src", "samples", pattern))
		if err != nil {
			t.Fatal(err)
		}
		files = append(files, found...)
	}
	for _, file := range files {
		content, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for document := range strings.SplitSeq(string(content), "\n---") {
			o := parse(t, document)
			if o["kind"] != "Cluster" {
				continue
			}
			spec, _ := o["spec"].(map[string]any)
			for _, path := range modelled {
				unstructured.RemoveNestedField(spec, path...)
			}
			names, specs = append(names, filepath.Base(file)), append(specs, spec)
		}
	}
	return names, specs
}

// TestReach counts which of CloudNativePG's own samples a PgStorageCluster can express:
// without consent, and with consent to all that can be consented to.
func TestReach(t *testing.T) {
	var open, consented, refused []string
	names, specs := samples(t)
	for i, spec := range specs {
		of := app
		if major, found, _ := unstructured.NestedFloat64(spec, "imageCatalogRef", "major"); found {
			of.Major = int(major)
		}
		switch {
		case len(Review(spec, of, Consent{Entries: Consentable()})) > 0, len(invalidHere(spec)) > 0:
			refused = append(refused, names[i])
		case len(Review(spec, of, Consent{})) > 0:
			consented = append(consented, names[i])
		default:
			open = append(open, names[i])
		}
	}
	slices.Sort(refused)
	t.Logf("open %d, by consent %d, refused %d", len(open), len(consented), len(refused))
	if diff := cmp.Diff(closed, refused); diff != "" {
		t.Errorf("other samples are refused: %s", diff)
	}
	if len(open) < 15 || len(open)+len(consented) < 50 {
		t.Errorf("open %d %s\nby consent %d %s", len(open), open, len(consented), consented)
	}
}

// closed are the samples that no consent opens. They are replica clusters;
// CloudNativePG's own CRD rejects two of them.
var closed = []string{
	"cluster-dc-a.yaml", "cluster-dc-b.yaml", // replica
	"cluster-example-bis.yaml", // backup.volumeSnapshot.groupSnapshot does not exist
	"cluster-example-replica-from-backup-simple.yaml", "cluster-example-replica-from-volume-snapshot.yaml", "cluster-example-replica-streaming.yaml",
	"cluster-replica-async.yaml", "cluster-replica-basicauth.yaml", "cluster-replica-from-backup-other-namespace.yaml", "cluster-replica-restore.yaml", "cluster-replica-tls.yaml",
	"cluster-restore-with-tablespaces.yaml", // tablespaces is a list
}

func invalidHere(spec map[string]any) []string {
	spec["instances"], spec["storage"] = int64(1), map[string]any{"size": "1Gi"}
	defer unstructured.RemoveNestedField(spec, "instances")
	defer unstructured.RemoveNestedField(spec, "storage")
	return Validate(spec)
}
