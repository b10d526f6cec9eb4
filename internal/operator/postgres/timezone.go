package postgres

import (
	_ "embed"
	"regexp"
	"strconv"
	"strings"
	"sync"
)

//go:embed timezones.txt
var timezonesText string

// timezones by name in lower case, as Postgres compares them. CloudNativePG's images
// take Postgres from Debian's packages, which read the system's tzdata and not the copy
// in Postgres, so the list is Debian's. A name that only tzdata-legacy has is not in
// every image: it has the name to use instead.
var timezones = sync.OnceValue(func() map[string]struct{ name, instead string } {
	out := map[string]struct{ name, instead string }{}
	for line := range strings.Lines(timezonesText) {
		name, instead, _ := strings.Cut(strings.TrimSpace(line), "\t")
		if name != "" && !strings.HasPrefix(name, "#") {
			out[strings.ToLower(name)] = struct{ name, instead string }{name, instead}
		}
	}
	return out
})

// offset from UTC without daylight saving, in the form of POSIX.
var offset = regexp.MustCompile(`^(<[+-]?[A-Za-z0-9]{3,8}>|[A-Za-z]{3,8})[+-]?([0-9]{1,2})(:[0-5][0-9]){0,2}$`)

// timezone reads a name of the list, or an offset in the form of POSIX.
func timezone(v string) (string, *invalid) {
	zone, known := timezones()[strings.ToLower(v)]
	switch {
	case known && zone.instead != "":
		return "", bad("%q is a former name that images without tzdata-legacy do not have, where Postgres would not start; use %s", v, zone.instead)
	case known:
		return zone.name, nil
	}
	if m := offset.FindStringSubmatch(v); m != nil {
		if hours, err := strconv.Atoi(m[2]); err == nil && hours <= 24 {
			return v, nil
		}
	}
	return "", bad("%q is not a time zone, and Postgres does not start with an unknown one; use a name as Europe/Berlin or Etc/UTC", v)
}

// sessionZone also reads a number of hours from UTC, as timezone does and
// log_timezone does not.
func sessionZone(v string) (string, *invalid) {
	if n, err := strconv.ParseFloat(v, 64); err == nil && n >= -24 && n <= 24 {
		return v, nil
	}
	return timezone(v)
}
