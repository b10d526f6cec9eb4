package admit

import (
	"encoding/json"
	"strings"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// Field describes a field of a CRD.
type Field struct {
	// Description of the API reference, on one line.
	Description string
	// Default as text; empty without a default.
	Default string
}

// Field returns the field of a kind at a path, such as spec, zfsLocalPV, data, atime.
func (s *Schemas) Field(gvk schema.GroupVersionKind, path ...string) (Field, bool) {
	k := s.kinds[gvk]
	if k == nil {
		return Field{}, false
	}
	at := *k.version.Schema.OpenAPIV3Schema
	for _, name := range path {
		next, found := at.Properties[name]
		if !found {
			return Field{}, false
		}
		at = next
	}
	return Field{Description: strings.Join(strings.Fields(at.Description), " "), Default: text(at.Default)}, true
}

func text(v *apiextensionsv1.JSON) string {
	if v == nil {
		return ""
	}
	var plain string
	if json.Unmarshal(v.Raw, &plain) == nil {
		return plain
	}
	return string(v.Raw)
}
