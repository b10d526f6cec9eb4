package plan

import (
	"fmt"
	"reflect"

	"github.com/pgstorage/pgstorage/internal/kube/quantity"
)

// Missing returns the path of the first field that the object claims and live does not
// have with that value. It returns "" when live has all of it, and ignores fields that
// the object does not claim. A read of the object itself would return shown. A Go type
// omits some zero values, and what it never shows cannot be missing.
func (o Object) Missing(live, shown map[string]any) string {
	return missing("", o.Content.Object, live, shown)
}

// Stale says whether live was last applied from another intent: a field that is
// no longer claimed can only be seen so.
func (o Object) Stale(liveAnnotations map[string]string, key string) bool {
	return liveAnnotations[key] != o.Intent()
}

func missing(path string, want, have, shown any) string {
	if have == nil && shown == nil {
		return ""
	}
	switch w := want.(type) {
	case map[string]any:
		h, ok := have.(map[string]any)
		if !ok {
			if len(w) == 0 && have == nil {
				return ""
			}
			return path
		}
		s, _ := shown.(map[string]any)
		return missingInMap(path, w, h, s)
	case []any:
		h, ok := have.([]any)
		if !ok {
			return path
		}
		return missingInList(path, w, h, elements(shown, w))
	}
	if equalScalar(want, have) {
		return ""
	}
	return path
}

func missingInMap(path string, want, have, shown map[string]any) string {
	first := ""
	for k, v := range want {
		if p := missing(path+"."+k, v, have[k], shown[k]); p != "" && (first == "" || p < first) {
			first = p
		}
	}
	return first
}

// missingInList compares lists of objects with names by name, as the API server merges
// them, and others item by item.
func missingInList(path string, want, have, shown []any) string {
	byName := named(have)
	if byName == nil && len(want) != len(have) {
		return path
	}
	for i, w := range want {
		at := fmt.Sprintf("%s[%d]", path, i)
		if m, ok := w.(map[string]any); ok && byName != nil {
			name, _ := m["name"].(string)
			h, found := byName[name]
			if !found {
				return at
			}
			if p := missing(at, w, h, shown[i]); p != "" {
				return p
			}
			continue
		}
		if i >= len(have) {
			return at
		}
		if p := missing(at, w, have[i], shown[i]); p != "" {
			return p
		}
	}
	return ""
}

// elements of a list that is shown, or all that are wanted where their numbers differ.
func elements(shown any, want []any) []any {
	if s, _ := shown.([]any); len(s) == len(want) {
		return s
	}
	return want
}

func named(list []any) map[string]any {
	if len(list) == 0 {
		return nil
	}
	out := make(map[string]any, len(list))
	for _, e := range list {
		m, ok := e.(map[string]any)
		if !ok {
			return nil
		}
		name, ok := m["name"].(string)
		if !ok {
			return nil
		}
		out[name] = e
	}
	return out
}

// equalScalar compares numbers by value and quantities by amount, because the
// API server writes "1000m" back as "1".
func equalScalar(want, have any) bool {
	if reflect.DeepEqual(want, have) {
		return true
	}
	wn, wok := number(want)
	hn, hok := number(have)
	if wok && hok {
		return wn == hn
	}
	ws, wok := want.(string)
	hs, hok := have.(string)
	if !wok || !hok {
		return want == nil && have == nil
	}
	return quantity.Equal(ws, hs)
}

func number(v any) (float64, bool) {
	switch n := v.(type) {
	case int64:
		return float64(n), true
	case float64:
		return n, true
	case int:
		return float64(n), true
	}
	return 0, false
}
