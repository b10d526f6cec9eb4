package cephrbd

import (
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/util/version"
)

func TestVersionsOfRookAreJudged(t *testing.T) {
	for text, want := range map[string]struct {
		tested  bool
		differs string
		remedy  bool
	}{
		"v1.17.9":       {false, "older than 1.18", true},
		"v1.18.8":       {true, "through ceph-csi-operator", false},
		"v1.19.6":       {true, "through ceph-csi-operator", false},
		"v1.20.6":       {true, "a chart of their own", false},
		"v1.21.0-rc.1":  {false, "newer than 1.20", false},
		"v2.0.0":        {false, "newer than 1.20", false},
		"1.20.0-beta.0": {true, "a chart of their own", false},
	} {
		t.Run(text, func(t *testing.T) {
			got := judgeRelease(version.MustParseGeneric(text))
			if got.Tested != want.tested || !strings.Contains(got.Differs, want.differs) || (got.Remedy != "") != want.remedy {
				t.Errorf("got %+v, want %+v", got, want)
			}
		})
	}
}
