package postgres

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
)

// unitsOf lists the units that Postgres reads for each base unit, largest first,
// in the base's smallest common measure: bytes, or microseconds. Units are case
// sensitive, and M is 1024 k (documentation, "Parameter Names and Values").
var memoryUnits = []unit{{"TB", 1 << 40}, {"GB", 1 << 30}, {"MB", 1 << 20}, {"kB", 1 << 10}, {"B", 1}}
var timeUnits = []unit{{"d", 86400e6}, {"h", 3600e6}, {"min", 60e6}, {"s", 1e6}, {"ms", 1e3}, {"us", 1}}

type unit struct {
	name string
	size float64
}

func unitsOf(base string) ([]unit, float64) {
	for _, family := range [][]unit{memoryUnits, timeUnits} {
		for _, u := range family {
			if u.name == base {
				return family, u.size
			}
		}
	}
	if base == "8kB" {
		return memoryUnits, 8192
	}
	return nil, 1
}

// parseBool reads a boolean as Postgres does: any unambiguous beginning of true,
// false, yes, no, on, off, in any case, or 1 or 0.
func parseBool(v string) (value, ok bool) {
	v = strings.ToLower(v)
	switch v {
	case "1", "on":
		return true, true
	case "0", "of", "off":
		return false, true
	case "":
		return false, false
	}
	if strings.HasPrefix("true", v) || strings.HasPrefix("yes", v) {
		return true, true
	}
	return false, strings.HasPrefix("false", v) || strings.HasPrefix("no", v)
}

// invalid is why a value was not read, with the reason of the refusal.
type invalid struct{ reason, text string }

func (e *invalid) Error() string { return e.text }

func bad(format string, args ...any) *invalid {
	return &invalid{RefusedInvalid, fmt.Sprintf(format, args...)}
}

// normalise reads a value and prints it as Postgres would.
func (s setting) normalise(v string) (string, *invalid) {
	if strings.ContainsAny(v, "\n\r\x00") {
		return "", bad("must be one line of text")
	}
	switch s.kind {
	case "bool":
		on, ok := parseBool(v)
		if !ok {
			return "", bad("%q is not a boolean; use on or off", v)
		}
		return map[bool]string{true: "on", false: "off"}[on], nil
	case "enum":
		return s.normaliseEnum(v)
	case "integer", "real":
		n, err := s.number(v)
		if err != nil {
			return "", err
		}
		return s.print(n), nil
	}
	if read, ok := texts[strings.ToLower(s.name)]; ok {
		return read(v)
	}
	return v, nil
}

// normaliseEnum knows that an enum with on and off also reads true, yes, 1, ...
func (s setting) normaliseEnum(v string) (string, *invalid) {
	lower := strings.ToLower(v)
	if i := slices.IndexFunc(s.enum, func(e string) bool { return strings.ToLower(e) == lower }); i >= 0 {
		return s.enum[i], nil
	}
	spelling := map[string]string{"true": "on", "yes": "on", "1": "on", "false": "off", "no": "off", "0": "off"}[lower]
	if spelling != "" && slices.Contains(s.enum, spelling) {
		return spelling, nil
	}
	return "", bad("%q is not one of %s", v, strings.Join(s.enum, ", "))
}

// number in the parameter's base unit.
func (s setting) number(v string) (float64, *invalid) {
	n, suffix, ok := split(strings.TrimSpace(v))
	if !ok {
		return 0, bad("%q is not a number%s", v, s.unitHelp())
	}
	n, unknown := s.scale(n, suffix, v)
	if unknown != nil {
		return 0, unknown
	}
	if s.kind == "integer" {
		n = math.RoundToEven(n)
	}
	if n < s.min || n > s.max {
		return 0, &invalid{RefusedRange, fmt.Sprintf("%q is outside %s to %s", v, s.print(s.min), s.print(s.max))}
	}
	return n, nil
}

// split parts a number from the unit behind it.
func split(text string) (n float64, suffix string, ok bool) {
	end := strings.IndexFunc(text, func(r rune) bool { return !strings.ContainsRune("0123456789.+-eE", r) })
	if end < 0 {
		end = len(text)
	}
	n, err := strconv.ParseFloat(text[:end], 64)
	if err != nil && !strings.ContainsAny(text[:end], "eE") {
		if i, hex := strconv.ParseInt(text, 0, 64); hex == nil { // 0x10 and 010 are integers to Postgres
			n, err, end = float64(i), nil, len(text)
		}
	}
	if err != nil || math.IsNaN(n) || math.IsInf(n, 0) {
		return 0, "", false
	}
	return n, strings.TrimSpace(text[end:]), true
}

func (s setting) scale(n float64, suffix, whole string) (float64, *invalid) {
	if suffix == "" {
		return n, nil
	}
	family, base := unitsOf(s.unit)
	for _, u := range family {
		if u.name == suffix {
			return n * u.size / base, nil
		}
	}
	return 0, bad("%q has an unknown unit%s", whole, s.unitHelp())
}

func (s setting) unitHelp() string {
	family, _ := unitsOf(s.unit)
	if family == nil {
		return "; this parameter is a plain number"
	}
	names := make([]string, 0, len(family))
	for _, u := range slices.Backward(family) {
		names = append(names, u.name)
	}
	return "; use one of the units " + strings.Join(names, ", ") + " (case matters)"
}

// print a number in the largest unit that holds it whole, as SHOW does. Values
// that are special (0 and below) have no unit.
func (s setting) print(n float64) string {
	family, base := unitsOf(s.unit)
	for _, u := range family {
		if q := n * base / u.size; n > 0 && q >= 1 && q == math.Trunc(q) && q < 1<<53 {
			return strconv.FormatFloat(q, 'f', -1, 64) + u.name
		}
	}
	if math.Abs(n) < 1e15 {
		return strconv.FormatFloat(n, 'f', -1, 64)
	}
	return strconv.FormatFloat(n, 'g', -1, 64)
}

// BaseValue of a boolean (0 or 1) or number, in the unit that pg_settings reports
// it in, which for numbers is the parameter's base unit. False for text, enums and
// what does not parse.
func BaseValue(major int, name, value string) (float64, bool) {
	s, known := catalogue()[major][name]
	if !known {
		return 0, false
	}
	switch s.kind {
	case "bool":
		on, ok := parseBool(value)
		if on {
			return 1, ok
		}
		return 0, ok
	case "integer", "real":
		n, err := s.number(value)
		return n, err == nil
	}
	return 0, false
}
