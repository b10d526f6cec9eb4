package clusters

import (
	"slices"
	"strings"
	"testing"

	cnpgv1 "github.com/cloudnative-pg/cloudnative-pg/api/v1"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/pgstorage/pgstorage/api/v1alpha1"
	"github.com/pgstorage/pgstorage/internal/operator/observed"
	"github.com/pgstorage/pgstorage/internal/operator/postgres"
	"github.com/pgstorage/pgstorage/internal/operator/profile/catalog"
)

// full_page_writes is off only where every volume is proved, and where no other cluster
// replays the WAL.
func TestWhoReplaysWALWithoutPageImages(t *testing.T) {
	yes := true
	tablespace := func(name, role string, recordsize int64) observed.Claim {
		c := observed.Claim{Name: name, Instance: name, Role: role, Volume: "pvc-" + name, Node: "n1"}
		if recordsize > 0 {
			c.Observed = &v1alpha1.ObservedVolume{Name: "tank/pgdata/pvc-" + name, Type: "Filesystem", Recordsize: recordsize}
		}
		return c
	}
	for _, tc := range []struct {
		name      string
		spec      func(*v1alpha1.PgStorageClusterSpec)
		overrides string
		facts     func(*observed.Cluster)
		value     string
		reason    string
	}{
		{name: "nobody", value: "off"},
		{name: "a follower", spec: func(s *v1alpha1.PgStorageClusterSpec) { s.Follow = &v1alpha1.FollowSpec{Cluster: "main"} }, value: "on", reason: "a follower writes no WAL of its own"},
		{name: "other sites", spec: sites("north", "north"), value: "on", reason: "the database has other sites"},
		{name: "a declared backup", spec: nightly, value: "on", reason: "WAL is archived (spec.backup), "},
		{name: "an archive in an override", overrides: `{"backup":{"barmanObjectStore":{"destinationPath":"s3://x"}}}`, value: "on", reason: "WAL is archived (spec.backup.barmanObjectStore)"},
		{name: "a plugin that archives", overrides: `{"plugins":[{"name":"barman-cloud.cloudnative-pg.io","isWALArchiver":true}]}`, value: "on", reason: "WAL is archived (spec.plugins, barman-cloud"},
		{name: "a plugin that does not", overrides: `{"plugins":[{"name":"other"}]}`, value: "off"},
		{name: "volume snapshots", overrides: `{"backup":{"volumeSnapshot":{"className":"x"}}}`, value: "off"},
		{name: "an archive by somebody else", facts: func(f *observed.Cluster) {
			f.Cluster.Spec.Plugins = []cnpgv1.PluginConfiguration{{Name: "barman", IsWALArchiver: &yes}}
		}, value: "on", reason: "WAL is archived"},
		{name: "a replica cluster by somebody else", facts: func(f *observed.Cluster) { f.Cluster.Spec.ReplicaCluster = &cnpgv1.ReplicaClusterConfiguration{} }, value: "on", reason: "spec.replica"},
		{name: "a follower elsewhere", facts: func(f *observed.Cluster) { f.ReadBack.Followers = []string{"far-1"} }, value: "on", reason: `"far-1" streams WAL`},
		{name: "its own standby", facts: func(f *observed.Cluster) {
			f.Cluster.Status.InstanceNames, f.ReadBack.Followers = []string{"shop-1", "shop-2"}, []string{"shop-2"}
		}, value: "off"},
		{name: "tablespaces that are proved", overrides: `{"tablespaces":[{"name":"fast"}]}`, facts: func(f *observed.Cluster) {
			f.Claims = append(f.Claims, tablespace("shop-1-tbs-fast", roleTablespace, 8192), tablespace("shop-2-tbs-fast", roleTablespace, 8192))
		}, value: "off"},
		{name: "a tablespace on other storage", overrides: `{"tablespaces":[{"name":"fast"}]}`, facts: func(f *observed.Cluster) {
			f.Claims = append(f.Claims, tablespace("shop-1-tbs-fast", roleTablespace, 8192), tablespace("shop-2-tbs-fast", roleTablespace, 0))
		}, value: "on", reason: "claim shop-2-tbs-fast of a tablespace"},
		{name: "a tablespace of small records", facts: func(f *observed.Cluster) {
			f.Claims = append(f.Claims, tablespace("shop-1-tbs-fast", roleTablespace, 4096))
		}, value: "on", reason: "has recordsize 4096"},
		{name: "a tablespace without a volume yet", overrides: `{"tablespaces":[{"name":"fast"}]}`, value: "on", reason: "0 of 2 volumes of tablespaces"},
		{name: "a claim of an unknown role", facts: func(f *observed.Cluster) { f.Claims = append(f.Claims, tablespace("shop-1-x", "PG_FUTURE", 8192)) }, value: "on", reason: "role PG_FUTURE, which is not known"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			f := facts()
			inTheirPlace(&f)
			if tc.facts != nil {
				tc.facts(&f)
			}
			cr := shop(withoutFullPages)
			if tc.spec != nil {
				tc.spec(&cr.Spec)
			}
			if tc.overrides != "" {
				cr.Spec.CNPG = &v1alpha1.CNPGOverrides{Spec: &runtime.RawExtension{Raw: []byte(tc.overrides)}}
			}
			built, err := Build(cr, f, catalog.All(), config)
			if err != nil {
				t.Fatal(err)
			}
			i := slices.IndexFunc(built.Parameters, func(p postgres.Parameter) bool { return p.Name == "full_page_writes" })
			if i < 0 {
				t.Fatalf("full_page_writes is not among %+v", built.Parameters)
			}
			if p := built.Parameters[i]; p.Value != tc.value || !strings.Contains(p.Reason, tc.reason) {
				t.Errorf("%s: %s; want %s: %s", p.Value, p.Reason, tc.value, tc.reason)
			}
		})
	}
}
