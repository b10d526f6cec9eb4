package clusters

import (
	"strings"
	"testing"

	"github.com/pgstorage/pgstorage/internal/operator/postgres"
)

// Numbers are printed as a reader would compare them with pg_settings: no exponents,
// and no zeros that were not read.
func TestDifferencesArePlainNumbers(t *testing.T) {
	for _, tc := range []struct {
		name, value string
		have        float64
		says        string
	}{
		{"shared_buffers", "16GB", 2097153, "shared_buffers = 2097153, wanted 2097152 (16GB)"},
		{"max_wal_size", "1GB", 10000000, "max_wal_size = 10000000, wanted 1024 (1GB)"},
		{"log_min_duration_statement", "250", -1, "log_min_duration_statement = -1, wanted 250 (250)"},
		{"random_page_cost", "1.1", 4, "random_page_cost = 4, wanted 1.1 (1.1)"},
		{"cpu_tuple_cost", "0.01", 0.00001, "cpu_tuple_cost = 0.00001, wanted 0.01 (0.01)"},
		{"wal_recycle", "off", 1, "wal_recycle = 1, wanted 0 (off)"},
	} {
		n, got := compare(17, "shop-1", []postgres.Parameter{{Name: tc.name, Value: tc.value}}, map[string]float64{tc.name: tc.have})
		if want := "shop-1 has " + tc.says; n != 1 || strings.Join(got, "; ") != want {
			t.Errorf("%d compared: %q, want %q", n, got, want)
		}
	}
}
