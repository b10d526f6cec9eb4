#!/usr/bin/env bash
# Prints a folder with kube-apiserver, etcd and kubectl, as envtest wants it:
# the one that KUBEBUILDER_ASSETS names, else one that is built from source.
source "$(dirname "${BASH_SOURCE[0]}")/lib/steps.sh"

if [ -x "${KUBEBUILDER_ASSETS:-}/kube-apiserver" ] && [ -x "${KUBEBUILDER_ASSETS:-}/etcd" ]; then
	echo "$KUBEBUILDER_ASSETS"
	exit 0
fi
exec "$REPO/hack/kubernetes.sh" control
