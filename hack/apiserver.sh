#!/usr/bin/env bash
# Prints a folder with kube-apiserver, etcd and kubectl, as envtest wants it:
# the one that KUBEBUILDER_ASSETS names, else a downloaded release, else what is
# built from source.
source "$(dirname "${BASH_SOURCE[0]}")/lib/steps.sh"

if [ -x "${KUBEBUILDER_ASSETS:-}/kube-apiserver" ] && [ -x "${KUBEBUILDER_ASSETS:-}/etcd" ]; then
	echo "$KUBEBUILDER_ASSETS"
	exit 0
fi

MINOR=$(cut -d. -f1,2 <<<"${KUBERNETES_VERSION#v}")
RELEASES=$CACHE/envtest

downloaded() {
	command -v curl >/dev/null || return 1
	curl -fsS -o /dev/null -m 5 https://raw.githubusercontent.com/kubernetes-sigs/controller-tools/HEAD/envtest-releases.yaml 2>/dev/null || return 1
	timeout 300 go run "sigs.k8s.io/controller-runtime/tools/setup-envtest@$SETUP_ENVTEST_VERSION" \
		use "$MINOR.x" --bin-dir "$RELEASES" --print path 2>"$LOGS/setup-envtest.log"
}

if folder=$(downloaded) && [ -x "$folder/kube-apiserver" ]; then
	echo "$folder"
	exit 0
fi
exec "$REPO/hack/kubernetes.sh" control
