#!/usr/bin/env bash
# Lints api/ with kube-api-linter, and verifies that it finds planted faults, so that a
# configuration that disables too much fails.
source "$(dirname "${BASH_SOURCE[0]}")/lib/steps.sh"
cd "$REPO" || exit

lint=$(hack/tools.sh golangci-lint)
"$lint" run --config .golangci-kal.yaml ./api/v1alpha1

planted=hack/planted
mkdir -p "$planted"
trap 'rm -rf "$planted"' EXIT
cat >"$planted/types.go" <<'EOF'
// Package planted has faults that kube-api-linter must find.
package planted

// Planted has one fault a field.
type Planted struct {
	// Size is described under its Go name.
	// +optional
	Size int32 `json:"size,omitempty"`
	// replicas is neither optional nor required.
	Replicas int32 `json:"replicas,omitempty"`
	// ratio is a floating point number.
	// +required
	Ratio *float64 `json:"ratio,omitempty"`
}
EOF
if found=$("$lint" run --config .golangci-kal.yaml "./$planted" 2>&1); then
	die "kube-api-linter finds no fault in a type that has three"
fi
for rule in commentstart optionalorrequired nofloats; do
	[[ $found == *"$rule: "* ]] || die "kube-api-linter misses the planted fault of rule $rule: $found"
done
echo "kube-api-linter: no findings in api/, and finds the planted faults"
