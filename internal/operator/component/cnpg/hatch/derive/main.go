// Command derive writes the schema of a CloudNativePG Cluster's spec, without its
// descriptions, from the CRD in CloudNativePG's Go module. make generate runs it.
package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"sigs.k8s.io/yaml"

	"github.com/pgstorage/pgstorage/internal/kube/quantity"
)

const module = "github.com/cloudnative-pg/cloudnative-pg"

func main() {
	if len(os.Args) != 2 {
		fmt.Fprintln(os.Stderr, "usage: derive FILE")
		os.Exit(2)
	}
	if err := run(os.Args[1]); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func run(file string) error {
	dir, err := exec.Command("go", "list", "-m", "-f", "{{.Dir}}", module).Output()
	if err != nil {
		return fmt.Errorf("find module %s: %w", module, err)
	}
	content, err := os.ReadFile(filepath.Join(strings.TrimSpace(string(dir)), "config", "crd", "bases", "postgresql.cnpg.io_clusters.yaml"))
	if err != nil {
		return fmt.Errorf("read the CRD: %w", err)
	}
	crd := &apiextensionsv1.CustomResourceDefinition{}
	if err := yaml.Unmarshal(content, crd); err != nil {
		return fmt.Errorf("read the CRD: %w", err)
	}
	for _, v := range crd.Spec.Versions {
		if v.Storage {
			return write(file, v.Schema.OpenAPIV3Schema.Properties["spec"])
		}
	}
	return fmt.Errorf("the CRD of %s stores no version", module)
}

func write(file string, spec apiextensionsv1.JSONSchemaProps) error {
	undescribed(&spec)
	var out bytes.Buffer
	encoder := json.NewEncoder(&out)
	encoder.SetEscapeHTML(false)
	encoder.SetIndent("", " ")
	if err := encoder.Encode(spec); err != nil {
		return fmt.Errorf("write the schema: %w", err)
	}
	return os.WriteFile(file, out.Bytes(), 0o644) //nolint:gosec // a source file, which everybody may read
}

// undescribed removes descriptions, which are four fifths of the CRD and check nothing, and
// bounds quantities.
func undescribed(s *apiextensionsv1.JSONSchemaProps) {
	s.Description = ""
	if s.Pattern == quantity.Unbounded {
		s.Pattern = quantity.Pattern
	}
	for name, p := range s.Properties {
		undescribed(&p)
		s.Properties[name] = p
	}
	if s.Items != nil && s.Items.Schema != nil {
		undescribed(s.Items.Schema)
	}
	if s.AdditionalProperties != nil && s.AdditionalProperties.Schema != nil {
		undescribed(s.AdditionalProperties.Schema)
	}
}
