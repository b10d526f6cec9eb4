#!/usr/bin/env bash
# CloudNativePG's Barman Cloud plugin: the published images where they can be had, else the
# plugin built from its Go module, and Barman of PyPI on Debian's Python. Needs root. Usage:
#   hack/barman.sh build    builds the plugin and the sidecar's root file system, once for
#                           each version
#   hack/barman.sh images   makes the images, and prints the plugin's and then the sidecar's
#   hack/barman.sh apply    installs the plugin beside CloudNativePG on the cluster that
#                           kubectl reaches; the images must be there
source "$(dirname "${BASH_SOURCE[0]}")/lib/steps.sh"

MODULE=github.com/cloudnative-pg/plugin-barman-cloud
LIBRARY=github.com/cloudnative-pg/barman-cloud
NAMESPACE=cnpg-system
# The last number changes with what this script makes of a version.
BUILD=$BARMAN_PLUGIN_VERSION-1
PROGRAM=$CACHE/barman/program-$BUILD
SIDECAR=$CACHE/barman/sidecar-$BARMAN_DEBIAN-$BUILD
# Without a shell, as the published image. psycopg2 is Debian's, because PyPI has only its source.
DEBIAN_PACKAGES=(base-files python3 python3-psycopg2 python3-pip-whl tar)
# What Barman needs for S3. The plugin's own sidecar has other clouds and compressions too.
PYTHON_PACKAGES='barman|boto3|botocore|jmespath|python-dateutil|s3transfer|six|urllib3'

# library FOLDER: the plugin's library of the version that CloudNativePG requires, because the
# module proxy lacks the plugin's own. What is added ignores data.restoreAdditionalCommandArgs of
# an ObjectStore, and the errors only choose a gRPC code, which CloudNativePG does not read.
library() {
	cp -r --no-preserve=mode "$(module_dir "$LIBRARY" "$(awk -v m="$LIBRARY" '$1 == m {print $2}' "$REPO/go.mod")")" "$1"
	cat >"$1/pkg/restorer/newer.go" <<-GO
		package restorer

		import "errors"

		var (
			ErrInvalidWALName = errors.New("invalid WAL name")
			ErrConnectivity   = errors.New("connectivity failure")
			ErrGeneric        = errors.New("generic failure")
		)
	GO
	# No ObjectStore of the tests has arguments of its own for a restore.
	cat >"$1/pkg/api/newer.go" <<-GO
		package api

		func (*DataBackupConfiguration) AppendRestoreAdditionalCommandArgs(options []string) []string {
			return options
		}
	GO
}

# program FOLDER: the plugin with the modules of this repository, so that what it shares with
# our programs and CloudNativePG is compiled once.
program() {
	local work
	work=$(mktemp -d)
	mkdir -p "$1"
	cp "$REPO/go.mod" "$REPO/go.sum" "$work"
	library "$work/library"
	# Its protocol alone is newer.
	awk '/^\t/ && $2 ~ /^v/ && $1 !~ /cloudnative-pg\/(barman-cloud|cnpg-i)$/ {print "-replace=" $1 "=" $1 "@" $2}' "$REPO/go.mod" |
		xargs go mod edit -C "$work" -require="$MODULE@$BARMAN_PLUGIN_VERSION" -replace="$LIBRARY=./library"
	CGO_ENABLED=0 go build -C "$work" -mod=mod -buildvcs=false -ldflags "-s -w" -o "$1/manager" "$MODULE/cmd/manager"
	rm -rf "$work"
}

# unpack FOLDER: Debian's packages with all that they depend on.
unpack() { unpack_debian "$1" "$BARMAN_DEBIAN" install -y --no-install-recommends --download-only "${DEBIAN_PACKAGES[@]}"; }

# requirements prints the packages as the plugin pins them for its own sidecar, with hashes.
requirements() {
	awk -v wanted="^($PYTHON_PACKAGES)==" '/^[a-z]/ {on = $0 ~ wanted} on' \
		"$(module_dir "$MODULE" "$BARMAN_PLUGIN_VERSION")/containers/sidecar-requirements.txt"
}

# sidecar FOLDER: everything is compiled here, because the sidecar may not write to its files.
sidecar() {
	local certificates=/etc/ssl/certs/ca-certificates.crt pip
	unpack "$1"
	cp -L /etc/resolv.conf "$1/etc/resolv.conf"
	mkdir -p "$1/etc/ssl/certs"
	cp -L "$certificates" "$1$certificates"
	requirements >"$1/tmp/requirements.txt"
	inside "$1" /usr/bin/python3 -m venv --without-pip --system-site-packages /venv
	pip=$(cd "$1" && echo usr/share/python-wheels/pip-*.whl)
	# Only wheels: building a package would run its code.
	PYTHONPATH=/$pip PIP_CERT=$certificates inside "$1" /venv/bin/python -m pip install --quiet --no-cache-dir \
		--disable-pip-version-check --require-hashes --no-deps --only-binary :all: -r /tmp/requirements.txt
	inside "$1" /usr/bin/python3 -m compileall -q /usr/lib
	rm -rf "$1"/tmp/* "$1"/usr/share/{doc,man,locale,python-wheels}/* "$1"/var/lib/dpkg/*
	: >"$1/etc/resolv.conf"
	chroot --userspec=26:26 "$1" /venv/bin/barman-cloud-wal-archive --version
}

build() {
	command -v go >/dev/null || die "needed: Go, the version in go.mod"
	[ "$(id -u)" = 0 ] || die "run hack/barman.sh build once as root: it makes a root file system"
	packages ca-certificates debian-archive-keyring
	# One mostly downloads and the other compiles.
	set -m
	(cached sidecar-barman "$SIDECAR" sidecar) >/dev/null &
	BESIDE=$! # not local, because the trap runs after a failure has left this function
	set +m
	trap 'kill -- "-$BESIDE" 2>/dev/null || true' EXIT
	cached build-barman "$PROGRAM" program
	wait "$BESIDE"
	trap - EXIT
}

# import IMAGE USER TAR-ARGUMENT...
import() {
	tar --numeric-owner --owner=0 --group=0 -c "${@:3}" |
		docker import --change "USER $2" --change 'ENTRYPOINT ["/manager"]' \
			--change 'ENV PATH=/venv/bin:/usr/bin:/bin' - "$1" >/dev/null
}

# obtainable IMAGE: does its registry answer, and hand out this image?
obtainable() { published "${1%%/*}" && timeout 30 docker manifest inspect "$1" >/dev/null 2>&1; }

images() {
	local plugin=plugin-barman-cloud:$BUILD sidecar=plugin-barman-cloud-sidecar:$BUILD
	local registry=ghcr.io/cloudnative-pg ours=pgstorage.local
	packages curl ca-certificates
	eval "$("$REPO/hack/docker.sh" env)"
	if ! docker image inspect "$ours/$plugin" "$ours/$sidecar" >/dev/null 2>&1; then
		if obtainable "$registry/plugin-barman-cloud:$BARMAN_PLUGIN_VERSION"; then
			echo "$registry/plugin-barman-cloud:$BARMAN_PLUGIN_VERSION $registry/plugin-barman-cloud-sidecar:$BARMAN_PLUGIN_VERSION"
			return
		fi
		build
		logged image-barman import "$ours/$plugin" 65532:65532 -C "$PROGRAM" manager
		logged image-barman-sidecar import "$ours/$sidecar" 26:26 -C "$PROGRAM" manager -C "$SIDECAR" .
	fi
	echo "$ours/$plugin $ours/$sidecar"
}

# manifest PLUGIN SIDECAR prints the plugin's own manifest with these images, without the Secret
# that names the sidecar, and without what only cert-manager understands.
manifest() {
	awk 'function show() {if (doc != "" && doc !~ /^apiVersion: cert-manager/ && doc !~ /\n  SIDECAR_IMAGE: /) printf "---\n%s", doc; doc = ""}
		/^---$/ {show(); next}
		{doc = doc $0 "\n"}
		END {show()}' "$(module_dir "$MODULE" "$BARMAN_PLUGIN_VERSION")/manifest.yaml" |
		sed -E "/^ *- name: SIDECAR_IMAGE\$/,/^ *name: plugin-barman-cloud-/c\\        - {name: SIDECAR_IMAGE, value: $2}
			s#image: ghcr.io/cloudnative-pg/plugin-barman-cloud-testing:.*#image: $1#"
}

# certificate SECRET NAME USAGE: a certificate that signs itself, because CloudNativePG and the
# plugin trust each other's alone. One that is there stays.
certificate() {
	local work
	! kubectl -n "$NAMESPACE" get secret "$1" >/dev/null 2>&1 || return 0
	work=$(mktemp -d)
	openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -days 3650 -keyout "$work/key" -out "$work/crt" \
		-subj "/CN=$2" -addext "subjectAltName=DNS:$2" -addext "extendedKeyUsage=$3"
	kubectl -n "$NAMESPACE" create secret tls "$1" --cert="$work/crt" --key="$work/key"
	rm -rf "$work"
}

apply() {
	local plugin sidecar
	read -r plugin sidecar <<<"$1"
	certificate barman-cloud-server-tls barman-cloud serverAuth
	certificate barman-cloud-client-tls barman-cloud-client clientAuth
	manifest "$plugin" "$sidecar" | kubectl apply --server-side --force-conflicts -f -
	timeout 200 kubectl -n "$NAMESPACE" rollout status deployment/barman-cloud --timeout=180s
}

case ${1:-} in
build) build ;;
images) images ;;
apply)
	packages openssl
	# Another process, because bash ignores failures inside of $().
	images=$("$REPO/hack/barman.sh" images)
	logged barman-apply apply "$images"
	;;
*) die "usage: hack/barman.sh build|images|apply" ;;
esac
