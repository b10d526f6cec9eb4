#!/usr/bin/env bash
# A release in stages, which GitHub's workflow and make test-release run alike.
# Usage: hack/release.sh STAGE VERSION, with VERSION as v0.1.0:
#   notes     prints the section of that version in CHANGELOG.md
#   build     makes every file of the release below OUT (default: dist); it publishes nothing
#   publish   pushes the image and the chart that build made
#   sign      signs and attests what was published, and the checksums
#   repository  writes index.yaml alone again
# or hack/release.sh image VERSION REFERENCE, which builds the image alone and pushes it.
# DRY_RUN=1 accepts changes without a commit and a section without a date. COSIGN_KEY names a
# private key; without it cosign signs with the identity of the workflow. PREVIOUS_INDEX names
# the index.yaml of the release before, whose charts the new one lists too. PLATFORMS of the image
# and PLUGIN_PLATFORMS are fewer where a test needs no others.
source "$(dirname "${BASH_SOURCE[0]}")/lib/steps.sh"

REGISTRY=ghcr.io/pgstorage
IMAGE=$REGISTRY/pgstorage
DOWNLOADS=https://github.com/pgstorage/pgstorage/releases/download
PROGRAMS=(./cmd/manager ./cmd/agent ./cmd/bench ./cmd/site)
read -ra PLATFORMS <<<"${PLATFORMS:-linux/amd64 linux/arm64}"
OUT=${OUT:-$REPO/dist}
mkdir -p "$OUT"
OUT=$(cd "$OUT" && pwd)
WORK=$OUT/work
ASSETS=$OUT/assets
SOURCE_DATE_EPOCH=$(git -C "$REPO" log -1 --format=%ct)
export SOURCE_DATE_EPOCH

# notes VERSION: what stands below the heading "## VERSION - DATE", without the heading.
notes() {
	local heading
	heading=$(grep -E "^## ${1//./\\.}( |$)" "$REPO/CHANGELOG.md") || die "CHANGELOG.md has no section \"## $1 - DATE\"; write it"
	[ -n "${DRY_RUN:-}" ] || [[ $heading =~ \ -\ [0-9]{4}-[0-9]{2}-[0-9]{2}$ ]] ||
		die "CHANGELOG.md: \"$heading\" has no date; write \"## $1 - $(date -u +%F)\""
	awk -v heading="$heading" '$0 == heading {on = 1; next} /^## / {on = 0} on' "$REPO/CHANGELOG.md"
}

# programs VERSION FOLDER: the image's programs, a folder for each platform.
programs() {
	local platform
	for platform in "${PLATFORMS[@]}"; do
		mkdir -p "$2/${platform/\//_}"
		(cd "$REPO" && CGO_ENABLED=0 GOOS=${platform%/*} GOARCH=${platform#*/} go build -trimpath -buildvcs=false \
			-ldflags "-s -w -X main.version=$1" -o "$2/${platform/\//_}/" "${PROGRAMS[@]}")
	done
}

tool() { (cd "$REPO/hack/release" && CGO_ENABLED=0 go build -buildvcs=false -o "$1" .); }

# release runs the program of hack/release, which begin builds.
release() { "$WORK/release" "$@"; }

begin() {
	mkdir -p "$WORK" "$ASSETS"
	logged release-tool tool "$WORK/release"
}

image() {
	logged release-programs programs "$1" "$WORK/programs"
	logged release-image release image "$1" "$WORK/programs" "$OUT/image"
}

# packed FOLDER FILE: a gzipped tar whose bytes follow from the files and the commit alone.
packed() {
	tar -c --sort=name --owner=0 --group=0 --numeric-owner --mode=u=rwX,go=rX --mtime="@$SOURCE_DATE_EPOCH" -C "$1" pgstorage | gzip -n >"$2"
	touch --date="@$SOURCE_DATE_EPOCH" "$2"
}

# chart VERSION: of a copy that names the version and the image's digest.
chart() {
	local helm digest copy=$WORK/chart
	helm=$("$REPO/hack/tools.sh" helm)
	digest=$(release digest "$OUT/image")
	rm -rf "$copy" && mkdir -p "$copy/packed"
	cp -r "$REPO/charts/pgstorage" "$copy/"
	sed -i "s/^version: .*/version: ${1#v}/; s/^appVersion: .*/appVersion: $1/; s/^  pgstorage.dev\/image-digest: .*/  pgstorage.dev\/image-digest: $digest/" "$copy/pgstorage/Chart.yaml"
	"$helm" lint --strict --kube-version 1.34.0 "$copy/pgstorage"
	"$helm" package "$copy/pgstorage" --destination "$copy"
	tar -xzf "$copy/pgstorage-${1#v}.tgz" -C "$copy/packed"
	packed "$copy/packed" "$ASSETS/pgstorage-${1#v}.tgz"
}

# repository VERSION: index.yaml, which makes the files of a release a Helm repository. Helm
# writes the present time; entries of this run get that of the commit.
repository() {
	local helm start folder=$WORK/repository
	helm=$("$REPO/hack/tools.sh" helm)
	start=$(date -u +%FT%T)
	rm -rf "$folder" && mkdir -p "$folder"
	cp "$ASSETS/pgstorage-${1#v}.tgz" "$folder/"
	TZ=UTC "$helm" repo index "$folder" --url "$DOWNLOADS/$1" ${PREVIOUS_INDEX:+--merge "$PREVIOUS_INDEX"}
	awk -v start="\"$start" -v commit="$(date -u -d "@$SOURCE_DATE_EPOCH" +%FT%TZ)" \
		'/^ *(created|generated): / && $2 >= start {sub(/".*"/, "\"" commit "\"")} {print}' "$folder/index.yaml" >"$ASSETS/index.yaml"
}

# manifests VERSION: everything of config/default in one file.
manifests() {
	local kustomize digest copy=$WORK/config
	kustomize=$("$REPO/hack/tools.sh" kustomize)
	digest=$(release digest "$OUT/image")
	rm -rf "$copy" && cp -r "$REPO/config" "$copy"
	sed -i "s/^  newTag: .*/  newTag: $1\n  digest: $digest/" "$copy/manager/kustomization.yaml"
	"$kustomize" build "$copy/default" >"$ASSETS/install.yaml"
}

sboms() {
	local platform
	for platform in "${PLATFORMS[@]}"; do
		release sbom "$1" "$WORK/programs/${platform/\//_}" >"$ASSETS/sbom_${platform/\//_}.cdx.json"
	done
}

# statement VERSION: the provenance of the image and of every file.
statement() {
	local file subjects=()
	subjects+=("$IMAGE=$(release digest "$OUT/image")")
	for file in "$ASSETS"/*; do
		subjects+=("$(basename "$file")=$(sha256sum "$file" | cut -d' ' -f1)")
	done
	release provenance "$1" "$(git -C "$REPO" rev-parse HEAD)" "${subjects[@]}" >"$ASSETS/provenance.intoto.json"
}

clean() { [ -z "$(git -C "$REPO" status --porcelain)" ]; }

build() {
	if ! clean; then
		[ -n "${DRY_RUN:-}" ] || die "the tree has changes without a commit, and the provenance names a commit; commit them"
		export UNCOMMITTED=1
	fi
	rm -rf "${OUT:?}/image" "$WORK" "$ASSETS"
	begin
	notes "$1" >"$OUT/notes.md"
	image "$1"
	sboms "$1"
	logged release-chart chart "$1"
	logged release-repository repository "$1"
	logged release-manifests manifests "$1"
	"$REPO/hack/plugin.sh" archives "$1" "$ASSETS"
	statement "$1"
	(cd "$ASSETS" && sha256sum -- * >checksums.txt)
	say "release $1 is in $OUT"
}

# push_chart VERSION: helm prints the digest among other lines.
push_chart() {
	local helm
	helm=$("$REPO/hack/tools.sh" helm)
	touch --date="@$SOURCE_DATE_EPOCH" "$ASSETS/pgstorage-${1#v}.tgz" # helm writes its age into the manifest
	"$helm" push "$ASSETS/pgstorage-${1#v}.tgz" "oci://$REGISTRY/charts" 2>&1 | tee "$WORK/push.txt"
	sed -n 's/^Digest: \(sha256:[0-9a-f]\{64\}\)$/\1/p' "$WORK/push.txt" >"$OUT/chart.digest"
	[ -s "$OUT/chart.digest" ] || die "helm push printed no digest"
}

publish() {
	begin
	(cd "$ASSETS" && sha256sum --quiet --check checksums.txt)
	logged release-push-image timeout 900 "$WORK/release" push "$OUT/image" "$IMAGE:$1"
	logged release-push-chart push_chart "$1"
	say "published $IMAGE:$1 and $REGISTRY/charts/pgstorage:${1#v}"
}

# cosign COMMAND...: with the identity of the workflow, or with a key, which only cosign 2 uses
# without a service. A signature by a key is in no log.
cosign() {
	local how=(--yes)
	[ -z "${COSIGN_KEY:-}" ] || how+=(--key "$COSIGN_KEY" --tlog-upload=false)
	command "${COSIGN:-cosign}" "$1" "${how[@]}" "${@:2}"
}

sign() {
	begin
	local platform digest image chart
	image=$IMAGE@$(release digest "$OUT/image")
	chart=$REGISTRY/charts/pgstorage@$(cat "$OUT/chart.digest")
	release predicate "$ASSETS/provenance.intoto.json" >"$WORK/predicate.json"
	logged release-sign-image cosign sign --recursive "$image"
	logged release-attest-image cosign attest --type slsaprovenance1 --predicate "$WORK/predicate.json" "$image"
	for platform in "${PLATFORMS[@]/\//_}"; do
		digest=$(release digest "$OUT/image" "$platform")
		logged "release-attest-$platform" cosign attest --type cyclonedx --predicate "$ASSETS/sbom_$platform.cdx.json" "$IMAGE@$digest"
	done
	logged release-sign-chart cosign sign "$chart"
	logged release-attest-chart cosign attest --type slsaprovenance1 --predicate "$WORK/predicate.json" "$chart"
	# checksums.txt names every other file, so its signature is theirs too.
	logged release-sign-checksums cosign sign-blob --bundle "$ASSETS/checksums.txt.sigstore.json" "$ASSETS/checksums.txt"
}

version() { [[ $1 =~ ^v[0-9]+\.[0-9]+\.[0-9]+(-[0-9A-Za-z.-]+)?$ ]] || die "VERSION must be as v0.1.0, not \"$1\""; }

case ${1:-} in
notes | build | publish | sign | repository)
	version "${2:-}"
	"$1" "$2"
	;;
image)
	[ $# = 3 ] || die "usage: hack/release.sh image VERSION REFERENCE, as v0.1.0 registry.example/pgstorage:v0.1.0"
	rm -rf "${OUT:?}/image" "$WORK"
	begin
	image "$2"
	release push "$OUT/image" "$3"
	;;
*) die "usage: hack/release.sh notes|build|publish|sign|repository VERSION, or image VERSION REFERENCE" ;;
esac
