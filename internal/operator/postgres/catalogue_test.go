//go:build linux

package postgres

import (
	"context"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"
)

// CloudNativePG's images have Debian's Postgres, which is built with lz4 and zstd. What such a
// server accepts is accepted here.
func TestCompressionOfPublishedImagesIsAccepted(t *testing.T) {
	for major := 14; major <= 18; major++ {
		values := map[string][]string{"default_toast_compression": {"pglz", "lz4"}, "wal_compression": {"pglz", "lz4", "zstd", "on", "off"}}
		if major == 14 {
			values["wal_compression"] = []string{"on", "off"} // a boolean before 15
		}
		for name, words := range values {
			for _, value := range words {
				in := base
				in.Major, in.User = major, map[string]string{name: value}
				if _, refusals := Compute(in); len(refusals) > 0 {
					t.Errorf("PostgreSQL %d, %s=%s: %v", major, name, value, refusals)
				}
			}
		}
	}
}

// The table has every parameter of this machine's Postgres, and every value of its enumerations.
func TestCatalogueHasWhatTheServerHas(t *testing.T) {
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	s := started(ctx, t)
	const query = `SELECT current_setting('server_version_num')::int / 10000, lower(name), vartype, context, coalesce(array_to_string(enumvals, ','), '') FROM pg_settings WHERE name !~ '[.]'`
	out, err := s.Command(ctx, "psql", "-h", s.Dir, "-U", "postgres", "-XAtqF", "\t", "-c", query).Output()
	if err != nil {
		t.Fatal(err)
	}
	rows := strings.Split(strings.TrimRight(string(out), "\n"), "\n")
	if len(rows) < 300 {
		t.Fatalf("only %d parameters", len(rows))
	}
	for _, row := range rows {
		f := strings.Split(row, "\t")
		major, err := strconv.Atoi(f[0])
		if err != nil || len(f) != 5 {
			t.Fatalf("row %q: %v", row, err)
		}
		if f[1] == "extension_destdir" {
			continue // Debian's own, for building extensions
		}
		have, ok := catalogue()[major][f[1]]
		if !ok || have.kind != f[2] || have.context != f[3] {
			t.Errorf("%s: the server has %s, %s; the table %+v", f[1], f[2], f[3], have)
		}
		for value := range strings.SplitSeq(f[4], ",") {
			if f[2] == "enum" && !slices.Contains(have.enum, value) {
				t.Errorf("%s: the server accepts %s; the table has only %s", f[1], value, strings.Join(have.enum, ", "))
			}
		}
	}
}
