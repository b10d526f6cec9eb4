package doctor

import (
	"strings"
	"testing"

	appsv1 "k8s.io/api/apps/v1"

	"github.com/pgstorage/pgstorage/api/v1alpha1"
	"github.com/pgstorage/pgstorage/internal/cli/snapshot"
	"github.com/pgstorage/pgstorage/internal/operator/observed"
	"github.com/pgstorage/pgstorage/internal/operator/profile/catalog"
)

// onCeph returns the facts of a cluster with Rook's CRDs and a profile that needs them.
func onCeph(t *testing.T, images ...string) Facts {
	t.Helper()
	f := empty(t)
	f.APIs = &observed.ForeignAPIs{CRDs: map[string]bool{}}
	for _, name := range catalog.All().CRDs() {
		f.APIs.CRDs[name] = true
	}
	f.Profiles = []v1alpha1.PgStorageProfile{{Spec: v1alpha1.PgStorageProfileSpec{Type: v1alpha1.ProfileTypeCephRBD, CephRBD: &v1alpha1.CephRBDProfile{}}}}
	for _, image := range images {
		d := appsv1.Deployment{ObjectMeta: named("rook-ceph", "rook-ceph-operator", nil)}
		d.Spec.Template = pod(image)
		f.Operators = map[string][]appsv1.Deployment{"Rook": append(f.Operators["Rook"], d)}
	}
	return f
}

func TestVersionOfRookIsShown(t *testing.T) {
	for name, tc := range map[string]struct {
		images []string
		level  Level
		want   string
	}{
		"tested":          {[]string{"docker.io/rook/ceph:v1.18.8"}, OK, "version 1.18.8: its chart installs the CSI drivers"},
		"with a digest":   {[]string{"mirror:5000/rook/ceph:v1.20.6@sha256:0123"}, OK, "version 1.20.6: the CSI drivers are a chart of their own"},
		"older":           {[]string{"rook/ceph:v1.16.2"}, Warning, "version 1.16.2: older than 1.18"},
		"newer":           {[]string{"rook/ceph:v1.21.0"}, Note, "version 1.21.0: newer than 1.20"},
		"without a tag":   {[]string{"mirror:5000/rook/ceph"}, Unknown, "cannot read the version from image mirror:5000/rook/ceph"},
		"a tag of others": {[]string{"rook/ceph:master"}, Unknown, "cannot read the version from image rook/ceph:master"},
		"absent":          {nil, Warning, "no Deployment has the label app=rook-ceph-operator"},
	} {
		t.Run(name, func(t *testing.T) {
			for _, f := range Check(onCeph(t, tc.images...), book(t)) {
				if f.Level == tc.level && strings.HasPrefix(f.Subject, "Rook") && strings.Contains(f.Message, tc.want) {
					return
				}
			}
			t.Errorf("no finding %s %q", tc.level, tc.want)
		})
	}
}

func TestUnreadableDeploymentsAreNotMissing(t *testing.T) {
	facts := onCeph(t)
	facts.Unread = []snapshot.Unread{{What: "Deployments of Rook", Why: "forbidden"}}
	for _, f := range Check(facts, book(t)) {
		if strings.Contains(f.Message, "no Deployment has the label") {
			t.Errorf("found %+v", f)
		}
	}
}
