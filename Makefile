# Every target that a person or CI calls. Tools and binaries are built once per
# version into ${XDG_CACHE_HOME:-~/.cache}/pgstorage.
SHELL := bash
.SHELLFLAGS := -euo pipefail -c
.DEFAULT_GOAL := help

E2E_CLUSTER ?= pgstorage-e2e
E2E_ZFS_CLUSTER ?= pgstorage-zfs
VERSION ?= dev
GO_TEST := go test -count=1
# As in the image: what lint, tests and the image have in common is compiled once.
export CGO_ENABLED := 0
# Packages with tests that need a real ZeroFS.
ZEROFS_PACKAGES := ./cmd/agent ./internal/node/nbd/... ./internal/zerofs/exports/... ./internal/zerofs/...

.PHONY: help
help: ## Show this help
	@awk 'BEGIN {FS = ":.*##"} /^[a-z0-9-]+:.*##/ {printf "  %-18s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

##@ Use

.PHONY: demo
demo: ## From nothing to a measured Postgres on a real cluster
	@hack/demo.sh up

.PHONY: demo-down
demo-down: ## Remove everything that demo made
	@hack/demo.sh down

##@ Develop

.PHONY: generate
generate: ## Regenerate code, CRDs, roles and chart files
	hack/generate.sh

.PHONY: manifests
manifests: generate ## The same as generate

.PHONY: fmt
fmt: ## Format the code
	gofmt -w $$(git ls-files '*.go')

.PHONY: build
build: ## Build the binaries into bin/
	go build -trimpath -ldflags '-s -w' -o bin/ ./cmd/...

.PHONY: plugin
plugin: ## Build the kubectl plugin into bin/; VERSION=v0.1.0
	go build -ldflags '-s -w -X main.version=$(VERSION)' -o bin/ ./cmd/kubectl-pgstorage

.PHONY: plugin-archives
plugin-archives: ## The plugin for every platform and its krew manifest into dist/; VERSION=v0.1.0
	@hack/plugin.sh archives $(VERSION) dist

.PHONY: docker-build
docker-build: ## Build the image with Docker
	docker build --build-arg VERSION=$(VERSION) -t pgstorage:$(VERSION) .

##@ Test

# As many power cuts and faults as about an hour from nothing has time for.
test: export PGSTORAGE_VM_CUTS ?= 3
test: export PGSTORAGE_VM_FAULTS ?= few
test: export PGSTORAGE_VM_FAULT_RUNS ?= 1
test: export PGSTORAGE_VM_OUTAGE ?= 20s

.PHONY: test
test: ## Every level: lint, verify, unit, install, browser, integration, zerofs, vm and ceph with fewer power cuts and faults, e2e
	@$(MAKE) --no-print-directory lint
	@$(MAKE) --no-print-directory verify
	@$(MAKE) --no-print-directory test-unit
	@$(MAKE) --no-print-directory test-install
	@$(MAKE) --no-print-directory test-browser
	@$(MAKE) --no-print-directory test-integration
	@$(MAKE) --no-print-directory test-zerofs
	@$(MAKE) --no-print-directory test-vm
	@$(MAKE) --no-print-directory test-ceph
	@$(MAKE) --no-print-directory test-e2e

.PHONY: lint
lint: ## golangci-lint, with the package directions; kube-api-linter on api/; ShellCheck
	@echo "== lint"
	@hack/shellcheck.sh
	@lint=$$(hack/tools.sh golangci-lint) && $$lint run ./...
	@hack/lint-api.sh

.PHONY: verify
verify: ## Fail when generated files are not what generate makes
	@echo "== verify"
	@hack/verify.sh

.PHONY: test-unit
test-unit: ## Pure packages, and the runner against a real Postgres
	@echo "== unit"
	$(GO_TEST) ./api/... ./cmd/... ./internal/... ./test/bench/... ./test/benchceph/... ./test/benchrunner/... ./test/benchs3nbd/... ./test/benchzfs/... ./test/vm/ceph/...

.PHONY: test-install
test-install: ## Chart and kustomization render the same, least privilege, alerts tried by promtool
	@echo "== install"
	HELM=$$(hack/tools.sh helm) KUSTOMIZE=$$(hack/tools.sh kustomize) PROMTOOL=$$(hack/tools.sh promtool) $(GO_TEST) ./test/install/...

.PHONY: test-integration
test-integration: ## Controllers, CRDs and the kubectl plugin on a real API server
	@echo "== integration"
	KUBEBUILDER_ASSETS=$$(hack/apiserver.sh) $(GO_TEST) -timeout 25m ./controllers/... ./test/crd/... ./test/integration/... ./test/plugin/...

.PHONY: test-plugin
test-plugin: ## Of test-integration, the kubectl plugin alone
	@echo "== plugin"
	KUBEBUILDER_ASSETS=$$(hack/apiserver.sh) $(GO_TEST) -timeout 10m ./test/plugin/...

.PHONY: test-zerofs
test-zerofs: ## What speaks to ZeroFS, against a real one on a real S3 server
	@echo "== zerofs"
	PGSTORAGE_ZEROFS=$$(hack/zerofs.sh) PGSTORAGE_S3=$$(hack/tools.sh versitygw) $(GO_TEST) -timeout 15m -tags zerofs -run 'ZeroFS|Real' -skip 'TestRealOutages|TestRealGrowth' $(ZEROFS_PACKAGES)

.PHONY: test-vm
test-vm: ## The agent on real ZFS in a virtual machine, faults and power cuts
	@echo "== vm"
	$(GO_TEST) -timeout 180m -tags vm -v -skip '^TestCephRBD$$' ./test/vm

.PHONY: test-ceph
test-ceph: ## A database on a real Ceph on our zvols, in a virtual machine
	@echo "== ceph"
	$(GO_TEST) -timeout 90m -tags vm -v -run '^TestCephRBD$$' ./test/vm

.PHONY: test-e2e
test-e2e: ## Real CloudNativePG and Postgres on kind; KEEP=1 keeps the cluster
	@echo "== e2e"
	@hack/e2e.sh $(E2E_CLUSTER)

.PHONY: test-e2e-zfs
test-e2e-zfs: ## A database on a node with real ZFS, by zfs-localpv; not in test; KEEP=1 keeps both
	@echo "== e2e-zfs"
	@hack/e2e-zfs.sh $(E2E_ZFS_CLUSTER)

.PHONY: test-e2e-s3nbd
test-e2e-s3nbd: ## A database on a node whose pool is in an S3 store; not in test; KEEP=1 keeps both
	@echo "== e2e-s3nbd"
	@hack/e2e-zfs.sh $(E2E_ZFS_CLUSTER) TestS3NBD

.PHONY: test-browser
test-browser: ## A report in Chromium, as wide as a telephone, light and dark; SCREENSHOTS=folder keeps what it saw
	@echo "== browser"
	@[ -n "$${PGSTORAGE_CHROMIUM:-}" ] || { source hack/lib/steps.sh; packages chromium; }
	PGSTORAGE_SCREENSHOTS=$(SCREENSHOTS) $(GO_TEST) -tags browser -v ./test/browser

.PHONY: helm-test
helm-test: ## Run the chart's own tests on the current cluster
	$$(hack/tools.sh helm) test pgstorage --namespace pgstorage-system

.PHONY: bench
bench: ## Cost of a reconcile: requests, times, memory; ARGS="-clusters 500"
	KUBEBUILDER_ASSETS=$$(hack/apiserver.sh) go run ./test/bench $(ARGS)

.PHONY: bench-zfs
bench-zfs: ## The ZFS profile against the defaults, in a virtual machine; writes docs/benchmarks; ARGS="-rounds 1"
	@hack/vm.sh image >/dev/null
	go run ./test/benchzfs $(ARGS)

.PHONY: bench-s3nbd
bench-s3nbd: ## What a commit costs on S3NBD, commit_delay, and reads, on this host and in a virtual machine; writes docs/benchmarks; ARGS="-rounds 1"
	@hack/vm.sh image >/dev/null
	@hack/zerofs.sh >/dev/null
	@source hack/lib/steps.sh; packages libnbd-bin e2fsprogs postgresql-15
	unshare --mount --propagation private go run ./test/benchs3nbd $(ARGS)

.PHONY: bench-ceph
bench-ceph: ## Ceph on ZFS as it comes against the profile and a dataset, and what each layer writes, in a virtual machine; writes docs/benchmarks; ARGS="-rounds 1"
	@hack/vm.sh ceph-image >/dev/null
	go run ./test/benchceph $(ARGS)

.PHONY: bench-runner
bench-runner: ## What the runner of a PgBenchmark costs against bare pgbench, on a Postgres of this machine; writes docs/benchmarks; ARGS="-pairs 40"
	go run -exec "taskset --cpu-list $$(($$(nproc) - 1))" ./test/benchrunner $(ARGS)

.PHONY: clean-cache
clean-cache: ## Remove what the tests and the demo have cached
	hack/docker.sh stop
	rm -rf "$${XDG_CACHE_HOME:-$$HOME/.cache}/pgstorage"
