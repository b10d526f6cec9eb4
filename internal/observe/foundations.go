package observe

import (
	"slices"
	"strings"

	dto "github.com/prometheus/client_model/go"

	"github.com/pgstorage/pgstorage/internal/state"
)

// The series of the queries in package component/monitoring.
const (
	settingMetric  = "cnpg_pgstorage_setting_info"
	overrideMetric = "cnpg_pgstorage_override_rows"
	followerMetric = "cnpg_pgstorage_follower_streams"

	// mostRows of an instance that are kept; its query returns no more.
	mostRows = 100
)

// scraped is what one instance reports.
type scraped struct {
	values        map[string]float64
	settings      map[string]string
	overrides     []state.Override
	followers     []string
	overridesRead bool
}

// add what one instance reports. What roles and databases have is the same everywhere,
// and newest on the primary.
func (s scraped) add(out *state.ReadBack, instance, primary string) {
	out.Instances[instance] = s.values
	if s.settings != nil {
		out.Settings[instance] = s.settings
	}
	if instance == primary {
		out.Overrides, out.OverridesRead = s.overrides, s.overridesRead
	}
	for _, f := range s.followers {
		if !slices.Contains(out.Followers, f) {
			out.Followers = append(out.Followers, f)
		}
	}
	slices.Sort(out.Followers)
}

func readFamilies(families map[string]*dto.MetricFamily) scraped {
	s := scraped{values: values(families[settingsMetric])}
	for _, m := range families[settingMetric].GetMetric() {
		if s.settings == nil {
			s.settings = map[string]string{}
		}
		l := labelsOf(m)
		s.settings[l["name"]] = l["value"]
	}
	for _, m := range families[overrideMetric].GetMetric() {
		s.overridesRead = true
		if l := labelsOf(m); l["name"] != "" && len(s.overrides) < mostRows {
			s.overrides = append(s.overrides, state.Override{Database: l["datname"], Role: l["rolname"], Name: l["name"], Value: l["value"]})
		}
	}
	slices.SortFunc(s.overrides, func(a, b state.Override) int {
		return strings.Compare(a.Database+"\x00"+a.Role+"\x00"+a.Name, b.Database+"\x00"+b.Role+"\x00"+b.Name)
	})
	for _, m := range families[followerMetric].GetMetric() {
		l := labelsOf(m)
		if m.GetGauge().GetValue() > 0 && len(s.followers) < mostRows {
			s.followers = append(s.followers, l["application_name"])
		}
	}
	return s
}

func labelsOf(m *dto.Metric) map[string]string {
	out := map[string]string{}
	for _, l := range m.GetLabel() {
		out[l.GetName()] = l.GetValue()
	}
	return out
}
