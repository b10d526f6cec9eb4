package sites

import (
	"encoding/json"

	"github.com/pgstorage/pgstorage/internal/kube/naming"
)

// patch is a JSON merge patch of spec.topology. It fails with a conflict if the object
// changed after it was read.
func (s Site) patch(topology, annotations map[string]any) []byte {
	metadata := map[string]any{"resourceVersion": s.Object.ResourceVersion}
	if len(annotations) > 0 {
		metadata["annotations"] = annotations
	}
	raw, err := json.Marshal(map[string]any{"metadata": metadata, "spec": map[string]any{"topology": topology}})
	if err != nil {
		panic(err) // a bug: the maps have strings and nil only
	}
	return raw
}

// demotion stops the writes of a site. An old token must not promote it again.
func (s Site) demotion(primary string) []byte {
	return s.patch(map[string]any{"primary": primary, "promotionToken": nil}, nil)
}

// promotion gives a site its role and the token in one patch, so that the operator never
// sees one without the other.
func (s Site) promotion(token string) []byte {
	return s.patch(map[string]any{"primary": s.self(), "promotionToken": token}, nil)
}

// unplanned promotes a site without a token.
func (s Site) unplanned() []byte {
	return s.patch(map[string]any{"primary": s.self(), "promotionToken": nil}, map[string]any{naming.AnnotationPromote: s.database()})
}

// following has a site follow another primary.
func (s Site) following(primary string) []byte {
	return s.patch(map[string]any{"primary": primary}, nil)
}
