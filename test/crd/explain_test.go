package crd_test

import (
	"maps"
	"regexp"
	"slices"
	"strings"
	"testing"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
)

type schema = apiextensionsv1.JSONSchemaProps

// walk calls see with every property of every CRD, below its kind.
func walk(t *testing.T, see func(path string, s schema)) {
	t.Helper()
	for _, crd := range crds(t) {
		for _, version := range crd.Spec.Versions {
			descend(crd.Spec.Names.Kind, *version.Schema.OpenAPIV3Schema, see)
		}
	}
}

func descend(path string, s schema, see func(string, schema)) {
	for _, name := range slices.Sorted(maps.Keys(s.Properties)) {
		property := s.Properties[name]
		property.Description = strings.Join(strings.Fields(property.Description), " ") // lines break anywhere
		see(path+"."+name, property)
		descend(path+"."+name, s.Properties[name], see)
	}
	if s.Items != nil && s.Items.Schema != nil {
		descend(path+"[]", *s.Items.Schema, see)
	}
	if s.AdditionalProperties != nil && s.AdditionalProperties.Schema != nil {
		descend(path+"{}", *s.AdditionalProperties.Schema, see)
	}
}

// foreign are the types of Kubernetes, which bound and describe themselves.
var foreign = regexp.MustCompile(`\.resources\.(claims|limits|requests)|\.conditions\[\]|\.pgbench\.resources|\.benchmark\.resources`)

// isSpec reports whether a user writes the field.
func isSpec(path string) bool {
	return strings.Contains(path, ".spec.") && (!foreign.MatchString(path) || strings.HasPrefix(path, "PgStorageCluster.spec.resources."))
}

// isByPerson excludes what the manager writes: its figures and defaults are
// those of the profile, and said there.
func isByPerson(path string) bool {
	return isSpec(path) && !strings.HasPrefix(path, "PgNodeStorage.")
}

// TestEveryFieldIsDescribed is what makes kubectl explain worth calling.
func TestEveryFieldIsDescribed(t *testing.T) {
	fields := 0
	walk(t, func(path string, s schema) {
		fields++
		// The API server knows metadata itself and shows its own words for it.
		if strings.HasSuffix(path, ".metadata") && strings.Count(path, ".") == 1 {
			return
		}
		if strings.TrimSpace(s.Description) == "" {
			t.Errorf("%s has no description", path)
		}
	})
	t.Logf("%d fields are described", fields)
}

// TestDescriptionsSpeakOfTheFieldAsWritten: conventions of Kubernetes want the
// name as it is in YAML, not as it is in Go.
func TestDescriptionsSpeakOfTheFieldAsWritten(t *testing.T) {
	walk(t, func(path string, s schema) {
		if !isSpec(path) {
			return
		}
		name := path[strings.LastIndex(path, ".")+1:]
		if strings.HasPrefix(s.Description, strings.ToUpper(name[:1])+name[1:]+" ") {
			t.Errorf("%s is described under its name in Go: %s", path, s.Description)
		}
	})
}

// TestListsAndMapsAreBounded: without bounds the cost of rules is not either.
func TestListsAndMapsAreBounded(t *testing.T) {
	walk(t, func(path string, s schema) {
		if s.Type == "array" && !foreign.MatchString(path) && s.XListType == nil {
			t.Errorf("%s has no list type", path)
		}
		if !isSpec(path) {
			return
		}
		if s.Type == "array" && s.MaxItems == nil {
			t.Errorf("%s has no maxItems", path)
		}
		if s.AdditionalProperties != nil && s.MaxProperties == nil {
			t.Errorf("%s has no maxProperties", path)
		}
	})
}

// TestStringsAreBounded: a string that a user writes has a choice of values or a greatest
// length, so that rules on it cost little.
func TestStringsAreBounded(t *testing.T) {
	walk(t, func(path string, s schema) {
		if isSpec(path) && s.Type == "string" && s.MaxLength == nil && len(s.Enum) == 0 {
			t.Errorf("%s has neither maxLength nor choices", path)
		}
	})
}

// TestDescriptionsStateTheBoundsOfNumbers: a number has a least and a greatest value, and its
// description names both, and its default.
func TestDescriptionsStateTheBoundsOfNumbers(t *testing.T) {
	walk(t, func(path string, s schema) {
		if !isByPerson(path) || s.Type != "integer" {
			return
		}
		if s.Minimum == nil || s.Maximum == nil {
			t.Errorf("%s is not bounded", path)
			return
		}
		if !strings.Contains(s.Description, "Valid: ") {
			t.Errorf("%s does not say what is valid: %s", path, s.Description)
		}
		if s.Default != nil && !strings.Contains(s.Description, "Default: "+string(s.Default.Raw)) {
			t.Errorf("%s does not say its default %s: %s", path, s.Default.Raw, s.Description)
		}
	})
}

// TestDescriptionsStateDefaults: a description says which value the API server sets where the
// user leaves the field out.
func TestDescriptionsStateDefaults(t *testing.T) {
	walk(t, func(path string, s schema) {
		if !isByPerson(path) || s.Default == nil {
			return
		}
		value := strings.Trim(string(s.Default.Raw), `"`)
		if value == "{}" { // an object, whose fields say their own
			return
		}
		text := strings.ToLower(s.Description)
		said := strings.Contains(text, "default") && strings.Contains(strings.ReplaceAll(text, " ", ""), strings.ToLower(value))
		if !said {
			t.Errorf("%s does not say its default %s: %s", path, value, s.Description)
		}
	})
}

// TestDescriptionsStateTheFormatOfQuantities: the schema has these as text, so only the
// description gives their format.
func TestDescriptionsStateTheFormatOfQuantities(t *testing.T) {
	want := map[string][]string{
		"PgStorageCluster.spec.storage.size":              {"at least 1Gi", "never shrinks"},
		"PgStorageCluster.spec.storage.walSize":           {"at least 1Gi", "never removed or shrunk"},
		"PgStorageCluster.spec.resources.requests":        {"at least 256Mi", "at least 50m"},
		"PgStorageCluster.spec.postgres.version":          {"from 14 to", "18"},
		"PgStorageCluster.spec.postgres.parameters":       {"at most 128"},
		"PgStorageCluster.spec.benchmark.duration":        {"1s to 24h", "60s"},
		"PgStorageBranch.spec.ttl":                        {"1m to 8760h", "Default: "},
		"PgStorageBranch.spec.promote":                    {"cannot be undone", "Default: false"},
		"PgBenchmark.spec.pgbench.duration":               {"1s to 24h", "60s"},
		"PgBenchmark.spec.pgbench.warmUp":                 {"0s to 1h"},
		"PgBenchmark.spec.pgbench.clients":                {"1 to 16 counts of 1 to 1000"},
		"PgBenchmark.spec.pgbench.jobs":                   {"Default: the"},
		"PgBenchmark.spec.pgbench.resources":              {"Default: "},
		"PgStorageProfile.spec.external.medium":           {"SSD", "HDD", "SAN"},
		"PgStorageCluster.spec.durability":                {"there is no default"},
		"PgStorageProfile.spec.external.storageClassName": {"Immutable"},

		"PgStorageProfile.spec.type":                                          {"External", "ZFSLocalPV", "Immutable"},
		"PgStorageProfile.spec.nodeSelector":                                  {"1 to 8 labels", "keeps its pool"},
		"PgStorageProfile.spec.zfsLocalPV.arcMax":                             {"at least 64Mi", "Default: "},
		"PgStorageProfile.spec.zfsLocalPV.pool":                               {"pool on every selected node"},
		"PgStorageProfile.spec.zfsLocalPV.pool.name":                          {"1 to 63", "Immutable"},
		"PgStorageProfile.spec.zfsLocalPV.pool.create":                        {"blank", "Default: "},
		"PgStorageProfile.spec.zfsLocalPV.pool.create.vdevs[].devices[].path": {"/dev/disk/by-id", "/dev/disk/by-partlabel", "255"},
		"PgStorageProfile.spec.zfsLocalPV.pool.create.vdevs[].devices[].wipe": {"destroyed", "Default: false"},
		"PgStorageProfile.spec.zfsLocalPV.pool.create.vdevs[].selector.count": {"1 to 64"},
		"PgStorageProfile.spec.zfsLocalPV.pool.create.vdevs[].selector.model": {"* and ?"},
		"PgStorageProfile.spec.zfsLocalPV.data.recordsize":                    {"to 1M", "Default: 8k"},
		"PgStorageProfile.spec.zfsLocalPV.wal.recordsize":                     {"to 1M", "Default: 32k"},
		"PgStorageProfile.spec.zfsLocalPV.data.quota":                         {"snapshots included", "Default: "},
		"PgStorageProfile.spec.zfsLocalPV.data.reservation":                   {"Default: none"},
		"PgStorageProfile.spec.zfsLocalPV.data.sync":                          {"disabled is rejected"},
		"PgStorageProfile.spec.zfsLocalPV.data.checksum":                      {"off is rejected"},
		"PgStorageProfile.spec.zfsLocalPV.data.dedup":                         {"acceptDedup"},
		"PgStorageProfile.spec.zfsLocalPV.block.volblocksize":                 {"4k to 128k", "Default: 16k", "Immutable"},
		"PgStorageProfile.spec.zfsLocalPV.block.provisioning":                 {"Thick", "Thin", "Immutable"},
		"PgNodeStorage.spec.nodeName":                                         {"agent"},
		"PgNodeStorage.spec.arcMax":                                           {"absent: left alone"},
	}
	walk(t, func(path string, s schema) {
		for _, words := range want[path] {
			if !strings.Contains(s.Description, words) {
				t.Errorf("%s does not say %q: %s", path, words, s.Description)
			}
		}
		delete(want, path)
	})
	for path := range want {
		t.Errorf("%s does not exist", path)
	}
}
