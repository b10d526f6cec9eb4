#!/usr/bin/env bash
# Builds a pinned tool once per version and prints its path; cosign and Prometheus are Debian's.
# Usage: hack/tools.sh controller-gen|applyconfiguration-gen|kustomize|helm|cosign|golangci-lint|vale|versitygw|toxiproxy|promtool|prometheus
source "$(dirname "${BASH_SOURCE[0]}")/lib/steps.sh"

# Some tools have a module file of their own, because their dependencies clash.
case ${1:-} in
controller-gen) dir=hack/tools package=sigs.k8s.io/controller-tools/cmd/controller-gen ;;
applyconfiguration-gen) dir=hack/tools package=k8s.io/code-generator/cmd/applyconfiguration-gen ;;
kustomize) dir=hack/tools package=sigs.k8s.io/kustomize/kustomize/v5 ;;
helm) dir=hack/tools/helm package=helm.sh/helm/v3/cmd/helm ;;
# golangci-lint with the module plugin kubeapilinter in it.
golangci-lint) dir=hack/tools/lint package=sigs.k8s.io/kube-api-linter/cmd/golangci-lint-kube-api-linter ;;
# Vale parses source files with tree-sitter, which is C.
vale) dir=hack/tools/vale package=github.com/vale-cli/vale/v3/cmd/vale cgo=1 ;;
# A proxy of TCP that delays what it forwards.
toxiproxy) dir=hack/tools/toxiproxy package=github.com/Shopify/toxiproxy/v2/cmd/server ;;
versitygw) dir=hack/tools/s3 package=github.com/versity/versitygw/cmd/versitygw ;;
cosign) exec "$REPO/hack/cosign.sh" ;;
prometheus | promtool) exec "$REPO/hack/prometheus.sh" "$1" ;;
*) die "usage: hack/tools.sh controller-gen|applyconfiguration-gen|kustomize|helm|cosign|golangci-lint|vale|versitygw|toxiproxy|promtool|prometheus" ;;
esac

build() { (cd "$REPO/$dir" && CGO_ENABLED=${cgo:-0} go build -buildvcs=false -ldflags '-s -w' -o "$1" "$package"); }

target=$CACHE/tools/$(cat "$REPO/$dir/go.mod" "$REPO/$dir/go.sum" | sha256sum | cut -c1-12)/$1
if [ "${cgo:-}" ] && [ ! -e "$target" ]; then packages gcc libc6-dev; fi
cached "build-$1" "$target" build
echo "$target"
