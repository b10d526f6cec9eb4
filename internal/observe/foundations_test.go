package observe

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/pgstorage/pgstorage/internal/state"
)

const exported = `# TYPE cnpg_pg_settings_setting gauge
cnpg_pg_settings_setting{name="fsync"} 0
# TYPE cnpg_pgstorage_setting_info gauge
cnpg_pgstorage_setting_info{name="fsync",value="off"} 1
cnpg_pgstorage_setting_info{name="synchronous_standby_names",value="ANY 1 (\"shop-2\",\"shop-1\")"} 1
# TYPE cnpg_pgstorage_override_rows gauge
cnpg_pgstorage_override_rows{datname="",rolname="",name="",value=""} 1
cnpg_pgstorage_override_rows{datname="",rolname="app",name="synchronous_commit",value="off"} 1
# TYPE cnpg_pgstorage_follower_streams gauge
cnpg_pgstorage_follower_streams{application_name=""} 0
cnpg_pgstorage_follower_streams{application_name="far-1"} 1
`

// What the instances say of durability is read; what a standby says of roles is not newer
// than what the primary does.
func TestFoundationsAreRead(t *testing.T) {
	body := exported
	metrics := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write([]byte(body)) }))
	defer metrics.Close()
	r := &ReadBack{Client: metrics.Client()}
	read := func(instance, primary string, out *state.ReadBack) {
		t.Helper()
		found, err := r.settings(t.Context(), metrics.URL)
		if err != nil {
			t.Fatal(err)
		}
		found.add(out, instance, primary)
	}
	fresh := func() *state.ReadBack {
		return &state.ReadBack{Instances: map[string]map[string]float64{}, Settings: map[string]map[string]string{}}
	}
	got := fresh()
	read("shop-1", "shop-1", got)
	want := &state.ReadBack{
		Instances:     map[string]map[string]float64{"shop-1": {"fsync": 0}},
		Settings:      map[string]map[string]string{"shop-1": {"fsync": "off", "synchronous_standby_names": `ANY 1 ("shop-2","shop-1")`}},
		Overrides:     []state.Override{{Role: "app", Name: "synchronous_commit", Value: "off"}},
		OverridesRead: true,
		Followers:     []string{"far-1"},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	got = fresh()
	read("shop-2", "shop-1", got)
	if got.OverridesRead || len(got.Overrides) > 0 {
		t.Errorf("a standby's overrides count: %+v", got)
	}
	// An instance that does not run the queries says nothing, which is not the same as none.
	body = strings.Split(exported, "# TYPE cnpg_pgstorage_setting_info")[0]
	got = fresh()
	read("shop-1", "shop-1", got)
	if got.OverridesRead || got.Settings["shop-1"] != nil {
		t.Errorf("%+v", got)
	}
}
