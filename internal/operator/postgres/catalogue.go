package postgres

import (
	_ "embed"
	"strconv"
	"strings"
	"sync"
)

//go:embed settings.tsv
var settingsTSV string

// setting is what pg_settings says of one parameter of one major. min and max are in
// unit, the base unit of Postgres, such as 8kB for shared_buffers.
type setting struct {
	name, kind, unit string
	min, max         float64
	enum             []string
	context          string
}

var catalogue = sync.OnceValue(func() map[int]map[string]setting {
	out := map[int]map[string]setting{}
	for line := range strings.Lines(settingsTSV) {
		f := strings.Split(strings.TrimRight(line, "\n"), "\t")
		major, err := strconv.Atoi(f[0])
		if err != nil || len(f) < 8 {
			continue // a comment
		}
		s := setting{name: f[1], kind: f[2], unit: f[3], context: f[7]}
		s.min, _ = strconv.ParseFloat(f[4], 64)
		s.max, _ = strconv.ParseFloat(f[5], 64)
		if f[6] != "" {
			s.enum = strings.Split(f[6], ",")
		}
		if out[major] == nil {
			out[major] = map[string]setting{}
		}
		out[major][strings.ToLower(s.name)] = s
	}
	return out
})

// Known says whether this version has the parameter.
func Known(major int, name string) bool {
	_, ok := catalogue()[major][name]
	return ok
}

// nearest known name, or "" where nothing is near enough to suggest.
func nearest(major int, name string) string {
	best, distance := "", len(name)/3+2
	for candidate := range catalogue()[major] {
		d := editDistance(name, candidate)
		if d < distance || d == distance && best != "" && candidate < best {
			best, distance = candidate, d
		}
	}
	return best
}

func editDistance(a, b string) int {
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		diagonal := row[0]
		row[0] = i + 1
		for j := range len(b) {
			cost := 1
			if a[i] == b[j] {
				cost = 0
			}
			diagonal, row[j+1] = row[j+1], min(row[j+1]+1, row[j]+1, diagonal+cost)
		}
	}
	return row[len(b)]
}
