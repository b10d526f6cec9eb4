package install_test

import (
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/pgstorage/pgstorage/api/v1alpha1"
	"github.com/pgstorage/pgstorage/internal/operator/profile/catalog"
)

// The table of parameters of profiles has those that each type recommends.
func TestParametersOfProfilesAreDocumented(t *testing.T) {
	documented := map[string][]string{}
	for _, row := range cells(section(t, "docs/parameters.md", "Of profiles")) {
		if !strings.HasPrefix(row[0], "`") {
			continue
		}
		for kind := range strings.SplitSeq(row[1], ", ") {
			for name := range strings.SplitSeq(row[0], ", ") {
				documented[kind] = append(documented[kind], strings.Trim(name, "`"))
			}
		}
	}
	p := &v1alpha1.PgStorageProfile{Spec: v1alpha1.PgStorageProfileSpec{CephRBD: &v1alpha1.CephRBDProfile{}}}
	p.Status.FlushLatency = &metav1.Duration{Duration: 60 * time.Millisecond}
	for _, kind := range catalog.All() {
		name := string(kind.Name())
		slices.Sort(documented[name])
		if diff := cmp.Diff(slices.Sorted(maps.Keys(kind.Volumes(p).Parameters)), documented[name]); diff != "" {
			t.Errorf("docs/parameters.md, %s:\n%s", name, diff)
		}
		delete(documented, name)
	}
	for name := range documented {
		t.Errorf("docs/parameters.md: the type %s does not exist", name)
	}
}
