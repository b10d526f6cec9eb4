package hatch

import (
	"fmt"
	"maps"

	structuralschema "k8s.io/apiextensions-apiserver/pkg/apiserver/schema"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/pgstorage/pgstorage/internal/kube/naming"
)

// WithoutDefaults is a copy of a Cluster's spec without the values that CloudNativePG's
// CRD sets automatically. Lists stay as they are.
func WithoutDefaults(spec map[string]any) (map[string]any, error) {
	s, err := load()
	if err != nil {
		return nil, fmt.Errorf("read CloudNativePG's schema: %w", err)
	}
	out := runtime.DeepCopyJSON(spec)
	strip(s.structural, out)
	return out, nil
}

func strip(s *structuralschema.Structural, fields map[string]any) {
	for name := range maps.Clone(fields) {
		p, found := s.Properties[name]
		if !found {
			continue
		}
		if d := p.Default.Object; d != nil && naming.Hash(d) == naming.Hash(fields[name]) {
			delete(fields, name)
			continue
		}
		child, isMap := fields[name].(map[string]any)
		if !isMap || len(child) == 0 {
			continue
		}
		if strip(&p, child); len(child) == 0 {
			delete(fields, name)
		}
	}
}
