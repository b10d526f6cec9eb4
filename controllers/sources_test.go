package controllers

import (
	"errors"
	"testing"

	"github.com/pgstorage/pgstorage/internal/kube/scheme"
	"github.com/pgstorage/pgstorage/internal/operator/observe"
	"github.com/pgstorage/pgstorage/internal/operator/profile"
	"github.com/pgstorage/pgstorage/internal/operator/profile/catalog"
)

// An object of a source, of a Go type, unstructured or metadata only, reaches the Trim of
// that source.
func TestEverySourceIsTrimmedByItsOwnTrim(t *testing.T) {
	scheme := scheme.New()
	for _, kind := range catalog.All() {
		for _, s := range kind.Hooks().Sources {
			marked := errors.New("trimmed")
			s.Trim = func(profile.Object) (profile.Object, error) { return nil, marked }
			if _, err := trim(scheme, []profile.Source{s})(observe.Prototype(scheme, s)); !errors.Is(err, marked) {
				t.Errorf("%s %s: got error %v, want its own Trim", kind.Name(), s.Kind, err)
			}
		}
	}
}
