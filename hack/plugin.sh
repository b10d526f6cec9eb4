#!/usr/bin/env bash
# The kubectl plugin for every platform, its archives and its krew manifest.
# Usage: hack/plugin.sh platforms
#        hack/plugin.sh archives VERSION FOLDER
#        hack/plugin.sh manifest VERSION FOLDER   (of the archives; prints it)
# VERSION is that of a release, as v0.1.0.
source "$(dirname "${BASH_SOURCE[0]}")/lib/steps.sh"

# os/arch that is built, or those of PLUGIN_PLATFORMS. CI's tests hold the manifest to this list.
read -ra PLATFORMS <<<"${PLUGIN_PLATFORMS:-linux/amd64 linux/arm64 darwin/amd64 darwin/arm64 windows/amd64}"
NAME=kubectl-pgstorage
SITE=https://github.com/pgstorage/pgstorage

archive() { echo "${NAME}_$1_${2/\//_}.tar.gz"; }

program() {
	case $1 in
	windows/*) echo "$NAME.exe" ;;
	*) echo "$NAME" ;;
	esac
}

# build VERSION PLATFORM FOLDER: the program into the folder.
build() {
	(cd "$REPO" && CGO_ENABLED=0 GOOS=${2%/*} GOARCH=${2#*/} go build -trimpath -buildvcs=false \
		-ldflags "-s -w -X main.version=$1" -o "$3/$(program "$2")" ./cmd/kubectl-pgstorage)
}

# archives have the same bytes whenever they are made of the same commit.
archives() {
	local version=$1 folder=$2 platform when
	when=$(git -C "$REPO" log -1 --format=%ct)
	mkdir -p "$folder"
	folder=$(cd "$folder" && pwd)
	work=$(mktemp -d) # not local: the trap runs after this function
	trap 'rm -rf "$work"' EXIT
	for platform in "${PLATFORMS[@]}"; do
		rm -rf "$work/files" && mkdir "$work/files"
		logged "plugin-${platform/\//-}" build "$version" "$platform" "$work/files"
		cp "$REPO/LICENSE" "$REPO/internal/cli/kubectl_complete-pgstorage" "$work/files/"
		tar -c --sort=name --owner=0 --group=0 --numeric-owner --mtime="@$when" -C "$work/files" . |
			gzip -n >"$folder/$(archive "$version" "$platform")"
	done
	manifest "$version" "$folder" >"$folder/pgstorage.yaml"
	say "archives and krew manifest are in $folder"
}

manifest() {
	local version=$1 folder=$2 platform file
	cat <<YAML
apiVersion: krew.googlecontainertools.github.com/v1alpha2
kind: Plugin
metadata:
  name: pgstorage
spec:
  version: $version
  homepage: $SITE
  shortDescription: Look after Postgres on storage that fits it
  description: |
    Shows what a database of pgstorage stands on and what is waited for, explains
    each parameter of Postgres and each property of a dataset, plans offline what
    the operator would make, runs benchmarks, and checks a cluster before and
    while it is used. It needs the operator: $SITE
  caveats: |
    For completion of kubectl pgstorage:
      kubectl pgstorage completion kubectl > ~/.local/bin/kubectl_complete-pgstorage
      chmod +x ~/.local/bin/kubectl_complete-pgstorage
  platforms:
YAML
	for platform in "${PLATFORMS[@]}"; do
		file=$(archive "$version" "$platform")
		[ -f "$folder/$file" ] || die "$folder/$file is not there; make it by: hack/plugin.sh archives $version $folder"
		cat <<YAML
  - selector:
      matchLabels:
        os: ${platform%/*}
        arch: ${platform#*/}
    uri: $SITE/releases/download/$version/$file
    sha256: $(sha256sum "$folder/$file" | cut -d' ' -f1)
    bin: $(program "$platform")
    files:
    - from: $(program "$platform")
      to: .
    - from: LICENSE
      to: .
YAML
	done
}

case ${1:-} in
platforms) printf '%s\n' "${PLATFORMS[@]}" ;;
archives | manifest)
	[ $# = 3 ] || die "usage: hack/plugin.sh $1 VERSION FOLDER"
	[[ $2 =~ ^v[0-9]+\.[0-9]+\.[0-9]+([-+][0-9A-Za-z.-]+)?$ ]] || die "VERSION must be as v0.1.0, not $2"
	"$1" "$2" "$3"
	;;
*) die "usage: hack/plugin.sh platforms|archives VERSION FOLDER|manifest VERSION FOLDER" ;;
esac
