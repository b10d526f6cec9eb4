package main

import (
	"github.com/grafana/grafana-foundation-sdk/go/cog"
	"github.com/grafana/grafana-foundation-sdk/go/common"
	"github.com/grafana/grafana-foundation-sdk/go/dashboard"
	"github.com/grafana/grafana-foundation-sdk/go/prometheus"
	"github.com/grafana/grafana-foundation-sdk/go/stat"
	"github.com/grafana/grafana-foundation-sdk/go/table"
	"github.com/grafana/grafana-foundation-sdk/go/timeseries"
)

// Colours that mean good, doubtful and bad.
const green, orange, red = "green", "orange", "red"

// Heights of panels, in units of Grafana's grid of 24 columns.
const (
	statHeight  = 4
	graphHeight = 8
)

// tag that links the dashboards with one another.
const tag = "pgstorage"

// board is a dashboard in the making.
type board struct {
	builder *dashboard.DashboardBuilder //nolint:staticcheck // the schema of every Grafana since 8; version 2 is newer
	panels  uint32
}

// query and how its series are named. Cells of a table are named by their column.
type query struct{ expr, legend string }

// panel is what every panel has. Width is in columns of 24.
type panel struct {
	width               uint32
	title, about, unit  string
	thresholds          []dashboard.Threshold
	mappings            map[string]dashboard.ValueMappingResult
	stacked, fromZeroTo bool
}

// source is the data source that the user selects.
func source() common.DataSourceRef {
	return common.DataSourceRef{Type: new("prometheus"), Uid: new("${datasource}")}
}

func newBoard(uid, title, about string, variables ...cog.Builder[dashboard.VariableModel]) *board {
	links := dashboard.NewDashboardLinkBuilder("pgstorage").Type(dashboard.DashboardLinkTypeDashboards).Tags([]string{tag}).KeepTime(true).IncludeVars(true)
	all := append([]cog.Builder[dashboard.VariableModel]{
		dashboard.NewDatasourceVariableBuilder("datasource").Label("Data source").Type("prometheus"),
	}, variables...)
	return &board{builder: dashboard.NewDashboardBuilder("pgstorage / "+title). //nolint:staticcheck // as above
											Uid(uid).Description(about).Tags([]string{tag}).Timezone("browser").
											Tooltip(dashboard.DashboardCursorSyncCrosshair).
											Time("now-3h", "now").Refresh("1m").Link(links).Variables(all)}
}

// variable whose values are those of a label. One that takes several has all at first.
func variable(name, label, values string, several bool) *dashboard.QueryVariableBuilder {
	v := dashboard.NewQueryVariableBuilder(name).Label(label).Datasource(source()).
		Query(dashboard.StringOrMap{String: &values}).Definition(values).
		Refresh(dashboard.VariableRefreshOnTimeRangeChanged).Sort(dashboard.VariableSortAlphabeticalAsc).
		Multi(several).IncludeAll(several)
	if several {
		all := func(text string) dashboard.StringOrArrayOfString {
			return dashboard.StringOrArrayOfString{ArrayOfString: []string{text}}
		}
		v.Current(dashboard.VariableOption{Selected: new(true), Text: all("All"), Value: all("$__all")})
	}
	return v
}

func (b *board) next() uint32 {
	b.panels++
	return b.panels
}

func (b *board) row(title string) { b.builder.WithRow(dashboard.NewRowBuilder(title).Id(b.next())) }

// stat shows the present value of each series.
func (b *board) stat(p panel, queries ...query) {
	built := stat.NewPanelBuilder().Id(b.next()).Title(p.title).Description(p.about).Datasource(source()).
		Unit(p.unit).Span(p.width).Height(statHeight).Thresholds(p.steps()).Mappings(p.texts()).
		ColorMode(common.BigValueColorModeValue).GraphMode(common.BigValueGraphModeNone).
		ReduceOptions(common.NewReduceDataOptionsBuilder().Calcs([]string{"lastNotNull"}))
	for i, q := range queries {
		built.WithTarget(target(i, q).Instant())
	}
	b.builder.WithPanel(built)
}

// graph shows series over time.
func (b *board) graph(p panel, queries ...query) {
	built := timeseries.NewPanelBuilder().Id(b.next()).Title(p.title).Description(p.about).Datasource(source()).
		Unit(p.unit).Span(p.width).Height(graphHeight).Min(0).Thresholds(p.steps()).FillOpacity(5).ShowPoints(common.VisibilityModeNever).
		Legend(common.NewVizLegendOptionsBuilder().ShowLegend(true).DisplayMode(common.LegendDisplayModeTable).Placement(common.LegendPlacementBottom).Calcs([]string{"lastNotNull", "max"}))
	if p.fromZeroTo {
		built.Max(1)
	}
	if p.stacked {
		built.Stacking(common.NewStackingConfigBuilder().Mode(common.StackingModeNormal)).FillOpacity(20)
	}
	if len(p.thresholds) > 0 {
		built.ThresholdsStyle(common.NewGraphThresholdsStyleConfigBuilder().Mode(common.GraphThresholdsStyleModeLine))
	}
	for i, q := range queries {
		built.WithTarget(target(i, q).Range())
	}
	b.builder.WithPanel(built)
}

// table shows one row for each set of labels that the queries share.
func (b *board) table(p panel, columns map[string]string, queries ...query) {
	hidden := map[string]bool{"Time": true}
	for i, q := range queries {
		if q.legend == "" {
			hidden[valueColumn(i, len(queries))] = true
		} else {
			columns[valueColumn(i, len(queries))] = q.legend
		}
	}
	built := table.NewPanelBuilder().Id(b.next()).Title(p.title).Description(p.about).Datasource(source()).
		Unit(p.unit).Span(p.width).Height(graphHeight).Thresholds(p.steps()).
		Footer(common.NewTableFooterOptionsBuilder().Reducer([]string{})).
		WithTransformation(dashboard.DataTransformerConfig{Id: "merge", Options: map[string]any{}}).
		WithTransformation(dashboard.DataTransformerConfig{Id: "organize", Options: map[string]any{"excludeByName": hidden, "renameByName": columns}})
	for i, q := range queries {
		built.WithTarget(target(i, query{expr: q.expr}).Instant().Format(prometheus.PromQueryFormatTable))
	}
	b.builder.WithPanel(built)
}

// valueColumn is how Grafana names the values of a query after a merge.
func valueColumn(i, queries int) string {
	if queries == 1 {
		return "Value"
	}
	return "Value #" + refID(i)
}

func refID(i int) string { return "ABCDEFGH"[i : i+1] }

func target(i int, q query) *prometheus.DataqueryBuilder {
	return prometheus.NewDataqueryBuilder().RefId(refID(i)).Datasource(source()).Expr(q.expr).LegendFormat(q.legend)
}

func (p panel) steps() *dashboard.ThresholdsConfigBuilder {
	steps := p.thresholds
	if len(steps) == 0 {
		steps = []dashboard.Threshold{{Color: green}}
	}
	return dashboard.NewThresholdsConfigBuilder().Mode(dashboard.ThresholdsModeAbsolute).Steps(steps)
}

func (p panel) texts() []dashboard.ValueMapping {
	if p.mappings == nil {
		return nil
	}
	return []dashboard.ValueMapping{{ValueMap: &dashboard.ValueMap{Type: dashboard.MappingTypeValueToText, Options: p.mappings}}}
}

// from is bad, and what is below is good.
func from(bad float64) []dashboard.Threshold {
	return []dashboard.Threshold{{Color: green}, {Value: &bad, Color: red}}
}

// rising: doubtful from one value, bad from another.
func rising(doubtful, bad float64) []dashboard.Threshold {
	return []dashboard.Threshold{{Color: green}, {Value: &doubtful, Color: orange}, {Value: &bad, Color: red}}
}

// least is good, and what is below is bad.
func least(good float64) []dashboard.Threshold {
	return []dashboard.Threshold{{Color: red}, {Value: &good, Color: green}}
}

// yesNo are the texts of 1 and 0.
func yesNo(yes, yesColour, no, noColour string) map[string]dashboard.ValueMappingResult {
	return map[string]dashboard.ValueMappingResult{
		"1": {Text: &yes, Color: &yesColour},
		"0": {Text: &no, Color: &noColour},
	}
}
