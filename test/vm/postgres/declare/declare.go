//go:build linux

// Package declare renders on the host what the manager would. It renders a node's storage of
// the profile ZFSLocalPV, and the parameters of a small cluster on it.
package declare

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"

	apiextensions "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	structuralschema "k8s.io/apiextensions-apiserver/pkg/apiserver/schema"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/defaulting"
	"sigs.k8s.io/yaml"

	"github.com/pgstorage/pgstorage/api/v1alpha1"
	"github.com/pgstorage/pgstorage/internal/bench/durability"
	"github.com/pgstorage/pgstorage/internal/operator/observed"
	"github.com/pgstorage/pgstorage/internal/operator/postgres"
	"github.com/pgstorage/pgstorage/internal/operator/profile/zfslocalpv"
	"github.com/pgstorage/pgstorage/test/vm/postgres/server"
)

// Cluster is what the parameters depend on.
type Cluster struct {
	// Pool, made of one disk with this serial.
	Pool, Serial string
	// ARCMax as spec.zfsLocalPV.arcMax; empty leaves it alone.
	ARCMax                           string
	MemoryBytes, DataBytes, WALBytes int64
}

// Job for a guest: everything that is not in Cluster has the default of the API.
func (c Cluster) Job(root string) (server.Job, error) {
	p, err := c.profile(root)
	if err != nil {
		return server.Job{}, err
	}
	storage, err := nodeStorage(p)
	if err != nil {
		return server.Job{}, err
	}
	parameters, err := c.parameters(p)
	return server.Job{Storage: storage, Parameters: parameters}, err
}

func (c Cluster) profile(root string) (*v1alpha1.PgStorageProfile, error) {
	spec := map[string]any{
		"pool": map[string]any{
			"name":   c.Pool,
			"create": map[string]any{"vdevs": []any{map[string]any{"devices": []any{map[string]any{"path": "/dev/disk/by-id/virtio-" + c.Serial}}}}},
		},
	}
	if c.ARCMax != "" {
		spec["arcMax"] = c.ARCMax
	}
	return Profile(root, map[string]any{"type": "ZFSLocalPV", "nodeSelector": map[string]any{"pool": c.Pool}, "zfsLocalPV": spec})
}

// Profile with this spec, and the defaults of the API for all that is not in it.
func Profile(root string, spec map[string]any) (*v1alpha1.PgStorageProfile, error) {
	content := map[string]any{
		"apiVersion": "pgstorage.dev/v1alpha1", "kind": "PgStorageProfile",
		"metadata": map[string]any{"name": "vm", "uid": "11111111-2222-3333-4444-555555555555", "generation": int64(1)},
		"spec":     spec,
	}
	schema, err := crdSchema(filepath.Join(root, "config", "crd", "bases", "pgstorage.dev_pgstorageprofiles.yaml"))
	if err != nil {
		return nil, err
	}
	defaulting.Default(content, schema)
	p := &v1alpha1.PgStorageProfile{}
	return p, convert(content, p)
}

// crdSchema knows the defaults that the API server would set.
func crdSchema(path string) (*structuralschema.Structural, error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	crd := &apiextensionsv1.CustomResourceDefinition{}
	if err := yaml.Unmarshal(text, crd); err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	internal := &apiextensions.JSONSchemaProps{}
	if err := apiextensionsv1.Convert_v1_JSONSchemaProps_To_apiextensions_JSONSchemaProps(crd.Spec.Versions[0].Schema.OpenAPIV3Schema, internal, nil); err != nil {
		return nil, err
	}
	return structuralschema.NewStructural(internal)
}

func nodeStorage(p *v1alpha1.PgStorageProfile) (*v1alpha1.PgNodeStorage, error) {
	built, err := zfslocalpv.Type{}.Build(p, observed.Profile{Nodes: []observed.Node{{Name: "guest", Selected: true}}})
	if err != nil {
		return nil, err
	}
	for _, object := range built.Plan.Objects {
		if object.Content.GetKind() == "PgNodeStorage" {
			s := &v1alpha1.PgNodeStorage{}
			err := convert(object.Content.Object, s)
			s.Generation = 1
			return s, err
		}
	}
	return nil, fmt.Errorf("profile %s plans no PgNodeStorage", p.Name)
}

func (c Cluster) parameters(p *v1alpha1.PgStorageProfile) (map[string]string, error) {
	volumes := zfslocalpv.Type{}.Volumes(p)
	return Parameters(postgres.Inputs{
		Major: 15, Workload: postgres.OLTP, Medium: volumes.Medium, Tier: durability.Local, Instances: 1, CPUs: 2,
		MemoryBytes: c.MemoryBytes, DataBytes: c.DataBytes, WALBytes: c.WALBytes, Profile: volumes.Parameters,
	})
}

// Parameters that are computed, by name.
func Parameters(in postgres.Inputs) (map[string]string, error) {
	parameters, refusals := postgres.Compute(in)
	if len(refusals) > 0 {
		return nil, fmt.Errorf("refused: %+v", refusals)
	}
	out := map[string]string{}
	for _, parameter := range parameters {
		out[parameter.Name] = parameter.Value
	}
	return out, nil
}

func convert(from, to any) error {
	raw, err := json.Marshal(from)
	if err != nil {
		return err
	}
	return json.Unmarshal(raw, to)
}
