# Every target that developers and CI call. Tools and binaries are built once per
# version into ${XDG_CACHE_HOME:-~/.cache}/pgstorage.
SHELL := bash
.SHELLFLAGS := -euo pipefail -c
.DEFAULT_GOAL := help

E2E_CLUSTER ?= pgstorage-e2e
E2E_ZFS_CLUSTER ?= pgstorage-zfs
E2E_MEMORY_CLUSTER ?= pgstorage-memory
E2E_SITES_CLUSTER ?= pgstorage-sites
E2E_FOLLOWERS_CLUSTER ?= pgstorage-followers
E2E_BACKUP_CLUSTER ?= pgstorage-backup
E2E_ZONES_CLUSTER ?= pgstorage-zones
E2E_TMPFS_CLUSTER ?= pgstorage-tmpfs
E2E_CEPH_CLUSTER ?= pgstorage-ceph
E2E_INSTALL_CLUSTER ?= pgstorage-install
VERSION ?= dev
# Nobody debugs these programs.
GO_TEST := go test -count=1 -ldflags=-w
# As in the image: what lint, tests and the image have in common is compiled once.
export CGO_ENABLED := 0
# Without the path of this checkout, so that the next one uses what this one compiled. Lint has
# vet, so tests run without it. What only debuggers read is a twelfth of the compilers' time, and
# collecting their garbage often is another tenth.
export GOFLAGS ?= -trimpath -vet=off -gcflags=all=-dwarf=false "-toolexec=env GOGC=300"
# Packages with tests that need a real ZeroFS.
ZEROFS_PACKAGES := ./cmd/agent ./internal/node/nbd/... ./internal/zerofs/exports/... ./internal/zerofs/...

.PHONY: help
help: ## Show this help
	@awk 'BEGIN {FS = ":.*##"} /^[a-z0-9-]+:.*##/ {printf "  %-18s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

##@ Use

.PHONY: demo
demo: ## Create a kind cluster with a measured Postgres
	@hack/demo.sh up

.PHONY: demo-down
demo-down: ## Remove everything that demo created
	@hack/demo.sh down

##@ Develop

.PHONY: generate
generate: ## Regenerate code, CRDs, roles and chart files
	hack/generate.sh

.PHONY: manifests
manifests: generate ## Alias of generate

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
plugin-archives: ## Build the plugin for every platform and its krew manifest into dist/; VERSION=v0.1.0
	@hack/plugin.sh archives $(VERSION) dist

.PHONY: image
image: ## Build the image for amd64 and arm64 and push it; VERSION=v0.1.0 IMAGE=registry.example/pgstorage:v0.1.0
	@hack/release.sh image $(VERSION) $(IMAGE)

##@ Test

# Without long tests, and with fewer power cuts, so that make test takes at most an hour without
# caches.
test: export SHORT ?= -short
test: export PGSTORAGE_VM_CUTS ?= 3
# The plugin for the other platforms is built from the same code; releases build them all.
test: export PLUGIN_PLATFORMS ?= linux/amd64 linux/arm64

.PHONY: test
test: ## Run the levels without their long tests, in lanes, and print what each cost; PGSTORAGE_LANES=1 runs them one after another
	@hack/levels.sh all

.PHONY: test-long
test-long: ## Run for hours what make test omits: long tests, all power cuts, and the levels beside it
	@hack/levels.sh long

.PHONY: test-quick
test-quick: ## Run the levels of the edit loop: no root, no Docker, 6 minutes with caches
	@hack/levels.sh quick

# golangci-lint collects garbage less often, and has less memory at its peak than with the defaults.
lint: export GOGC = 400
lint: export GOMEMLIMIT = 4GiB

.PHONY: lint
lint: ## Run golangci-lint, kube-api-linter, ShellCheck and Vale; check commit messages
	@echo "== lint"
	@hack/commits.sh
	@hack/shellcheck.sh
	@hack/prose.sh
	@lint=$$(hack/tools.sh golangci-lint) && $$lint run ./...
	@hack/lint-api.sh

.PHONY: prose-baseline
prose-baseline: ## Lower .vale/baseline to the findings that Vale still has
	@hack/prose.sh -update

.PHONY: hooks
hooks: ## Install the Git hook that checks commit messages
	@hack/commits.sh install

.PHONY: verify
verify: ## Fail when generated files differ from the output of generate
	@echo "== verify"
	@hack/verify.sh

.PHONY: test-unit
test-unit: ## Test pure packages, and the runner against a real Postgres
	@echo "== unit"
	$(GO_TEST) ./api/... ./cmd/... ./hack/... ./internal/... ./test/bench/... ./test/vm/ceph/...

.PHONY: test-install
test-install: ## Compare chart and kustomization; test rights, alerts and documentation
	@echo "== install"
	HELM=$$(hack/tools.sh helm) KUSTOMIZE=$$(hack/tools.sh kustomize) PROMTOOL=$$(hack/tools.sh promtool) $(GO_TEST) -timeout 20m ./test/install/...

.PHONY: test-integration
test-integration: ## Test controllers, CRDs and the kubectl plugin on a real API server
	@echo "== integration"
	@source hack/versions.env; PGSTORAGE_CNPG_WEBHOOKS=$$(hack/cnpg-webhook.sh $$CNPG_OLDER_VERSIONS $$CNPG_VERSION) \
	PROMETHEUS=$$(hack/tools.sh prometheus) KUBEBUILDER_ASSETS=$$(hack/apiserver.sh) $(GO_TEST) $(SHORT) -timeout 45m ./controllers/... ./test/crd/... ./test/integration/... ./test/plugin/...

.PHONY: test-plugin
test-plugin: ## Run the kubectl plugin part of test-integration
	@echo "== plugin"
	KUBEBUILDER_ASSETS=$$(hack/apiserver.sh) $(GO_TEST) -timeout 10m ./test/plugin/...

.PHONY: test-zerofs
test-zerofs: ## Test the clients of ZeroFS against a real one on a real S3 server
	@echo "== zerofs"
	PGSTORAGE_ZEROFS=$$(hack/zerofs.sh) PGSTORAGE_S3=$$(hack/tools.sh versitygw) $(GO_TEST) -timeout 15m -tags zerofs -run 'ZeroFS|Real' -skip 'TestRealOutages|TestRealGrowth|TestRealStripe$$$$' $(ZEROFS_PACKAGES)

.PHONY: test-vm
test-vm: ## Test the agent on real ZFS in a virtual machine, with faults and power cuts
	@echo "== vm"
	$(GO_TEST) $(SHORT) -timeout 180m -tags vm -v -skip '^TestCephRBD$$' ./test/vm

.PHONY: test-ceph
test-ceph: ## Test a database on a real Ceph on zvols in a virtual machine; not in test
	@echo "== ceph"
	$(GO_TEST) -timeout 90m -tags vm -v -run '^TestCephRBD$$' ./test/vm

.PHONY: test-e2e
test-e2e: ## Test with real CloudNativePG and Postgres on kind; KEEP=1 keeps the cluster
	@echo "== e2e"
	@BARMAN=1 hack/e2e.sh $(E2E_CLUSTER)

.PHONY: test-e2e-memory
test-e2e-memory: ## Test volumes in memory on two workers, one of which boots again; writes docs/benchmarks; not in test; KEEP=1 keeps the cluster
	@echo "== e2e-memory"
	@WORKERS=2 ARGS="-run $${RUN:-TestMemory|TestEphemeralFigures}" hack/e2e.sh $(E2E_MEMORY_CLUSTER)

.PHONY: test-e2e-sites
test-e2e-sites: ## Switch two sites ten times and three sites twice, and walk their tutorial; not in test; KEEP=1 keeps the cluster
	@echo "== e2e-sites"
	@PGSTORAGE_SITE_DELAY=$${PGSTORAGE_SITE_DELAY-10ms} PGSTORAGE_SWITCHES=$${PGSTORAGE_SWITCHES:-10} ARGS="-run $${RUN:-^(TestSites|TestThreeSites|TestTutorialOfSites)$$}" hack/e2e.sh $(E2E_SITES_CLUSTER)

.PHONY: test-e2e-followers
test-e2e-followers: ## Have read pools and sites fail under load, each fault several times; not in test; KEEP=1 keeps the cluster
	@echo "== e2e-followers"
	@BARMAN=1 PGSTORAGE_SITE_DELAY=$${PGSTORAGE_SITE_DELAY-10ms} ARGS="-timeout 150m -run $${RUN:-^(TestReadPoolFaults|TestDeadPoolInMemory|TestSiteDistance|TestSiteFaults)$$}" hack/e2e.sh $(E2E_FOLLOWERS_CLUSTER)

.PHONY: test-e2e-zones
test-e2e-zones: ## Lose zones of a database whose quorum is across them, on three workers of kind; not in test; KEEP=1 keeps the cluster
	@echo "== e2e-zones"
	@WORKERS=3 ARGS="-run $${RUN:-^TestQuorumAcrossZones$$}" hack/e2e.sh $(E2E_ZONES_CLUSTER)

.PHONY: test-e2e-backup
test-e2e-backup: ## Back a database up by the Barman Cloud plugin, and restore it; not in test; KEEP=1 keeps the cluster
	@echo "== e2e-backup"
	@BARMAN=1 ARGS="-run $${RUN:-^(TestBackup|TestTutorialOfBackups)$$}" hack/e2e.sh $(E2E_BACKUP_CLUSTER)

.PHONY: test-e2e-protection
test-e2e-protection: ## Have the archive of a database fail, and measure what a lost site and a backup cost; not in test; KEEP=1 keeps the cluster
	@echo "== e2e-protection"
	@BARMAN=1 ARGS="-run $${RUN:-^(TestProtection|TestBackupCost)$$}" hack/e2e.sh $(E2E_BACKUP_CLUSTER)

.PHONY: test-e2e-zfs
test-e2e-zfs: ## Test a database on a node with real ZFS and zfs-localpv; not in test; KEEP=1 keeps both
	@echo "== e2e-zfs"
	@hack/e2e-zfs.sh $(E2E_ZFS_CLUSTER)

.PHONY: test-e2e-zfs-tutorial
test-e2e-zfs-tutorial: ## Type the tutorial for ZFS on a node with real ZFS and disks of NVMe; not in test; KEEP=1 keeps both
	@echo "== e2e-zfs-tutorial"
	@PGSTORAGE_ZFS_NODE_MEMORY=8192 hack/e2e-zfs.sh $(E2E_ZFS_CLUSTER) TestTutorialOfZFS

.PHONY: test-e2e-zfs-nodes
test-e2e-zfs-nodes: ## Test a database on two nodes with real ZFS, one of which is lost for good; not in test; KEEP=1 keeps all
	@echo "== e2e-zfs-nodes"
	@hack/e2e-zfs.sh $(E2E_ZFS_CLUSTER) TestTwoNodes

.PHONY: test-e2e-branches
test-e2e-branches: ## Branch a database on a node with real ZFS, copy-on-write; writes docs/benchmarks; not in test; KEEP=1 keeps both
	@echo "== e2e-branches"
	@PGSTORAGE_ZFS_NODE_MEMORY=8192 hack/e2e-zfs.sh $(E2E_ZFS_CLUSTER) 'TestBranches|TestTutorialOfBranches'

.PHONY: test-e2e-branch-faults
test-e2e-branch-faults: ## Cut the power of a node with real ZFS at each step of a branch, and fill its pool; not in test; KEEP=1 keeps both
	@echo "== e2e-branch-faults"
	@PGSTORAGE_ZFS_NODE_MEMORY=8192 hack/e2e-zfs.sh $(E2E_ZFS_CLUSTER) TestBranchFaults

.PHONY: test-e2e-snapshot-backups
test-e2e-snapshot-backups: ## Back up by VolumeSnapshots on a node with real ZFS, and restore; not in test; KEEP=1 keeps both
	@echo "== e2e-snapshot-backups"
	@BARMAN=1 PGSTORAGE_ZFS_NODE_MEMORY=8192 hack/e2e-zfs.sh $(E2E_ZFS_CLUSTER) TestSnapshotBackups

.PHONY: test-e2e-memory-node
test-e2e-memory-node: ## Test a read pool in the memory of a machine whose power is cut; not in test; KEEP=1 keeps both
	@echo "== e2e-memory-node"
	@hack/e2e-zfs.sh $(E2E_ZFS_CLUSTER) TestMemory

.PHONY: test-e2e-tmpfs
test-e2e-tmpfs: ## Drop the caches of a node with read pools on a slow disk and in memory; writes docs/benchmarks; not in test; KEEP=1 keeps the cluster
	@echo "== e2e-tmpfs"
	@SLOW_DISK=$${SLOW_DISK:-10ms} ARGS="-run $${RUN:-^TestTmpfsVDisk$$}" hack/e2e.sh $(E2E_TMPFS_CLUSTER)

.PHONY: test-e2e-s3nbd
test-e2e-s3nbd: ## Test a database on a node whose pool is in an S3 store; not in test; KEEP=1 keeps both
	@echo "== e2e-s3nbd"
	@hack/e2e-zfs.sh $(E2E_ZFS_CLUSTER) TestS3NBD

.PHONY: test-e2e-s3nbd-tutorial
test-e2e-s3nbd-tutorial: ## Type the tutorial for S3NBD on a node with real ZFS and NBD; not in test; KEEP=1 keeps both
	@echo "== e2e-s3nbd-tutorial"
	@PGSTORAGE_ZFS_NODE_MEMORY=8192 hack/e2e-zfs.sh $(E2E_ZFS_CLUSTER) TestTutorialOfS3NBD

.PHONY: test-e2e-ceph
test-e2e-ceph: ## Test a database on a real Rook and Ceph on three nodes, with faults; not in test; KEEP=1 keeps them
	@echo "== e2e-ceph"
	@hack/e2e-ceph.sh $(E2E_CEPH_CLUSTER)

.PHONY: test-e2e-ceph-zvols
test-e2e-ceph-zvols: ## Test a database on a real Rook and Ceph on zvols of a node with real ZFS; not in test; KEEP=1 keeps them
	@echo "== e2e-ceph-zvols"
	@hack/e2e-ceph.sh $(E2E_CEPH_CLUSTER) TestZvols

.PHONY: test-release
test-release: ## Make a whole release for a stand-in of the Internet, and verify each part
	@echo "== release"
	PATH=$$(hack/kubernetes.sh control):$$PATH HELM=$$(hack/tools.sh helm) COSIGN=$$(hack/tools.sh cosign) $(GO_TEST) -tags release -timeout 30m -v ./test/release

.PHONY: test-e2e-install
test-e2e-install: ## Install a release on kind by the lines of docs/install.md; KEEP=1 keeps the cluster
	@echo "== e2e-install"
	@hack/release-e2e.sh $(E2E_INSTALL_CLUSTER)

.PHONY: test-browser
test-browser: ## Test a report in Chromium on a phone-sized page, light and dark; SCREENSHOTS=folder keeps pictures
	@echo "== browser"
	@[ -n "$${PGSTORAGE_CHROMIUM:-}" ] || { source hack/lib/steps.sh; packages chromium; }
	PGSTORAGE_SCREENSHOTS=$(SCREENSHOTS) $(GO_TEST) -tags browser -v ./test/browser

.PHONY: site
site: ## Build the documentation site into dist/site
	@hack/site.sh dist/site
	@echo "dist/site/index.html; with search: python3 -m http.server -b 127.0.0.1 -d dist/site"

.PHONY: test-site
test-site: ## Build the documentation site and check its links, pages, search and requests
	@echo "== site"
	@hack/site.sh dist/site
	PGSTORAGE_SITE=$(CURDIR)/dist/site $(GO_TEST) -tags site ./test/site

.PHONY: helm-test
helm-test: ## Run the chart's own tests on the current cluster
	$$(hack/tools.sh helm) test pgstorage --namespace pgstorage-system

.PHONY: bench
bench: ## Measure the cost of a reconcile: requests, times, memory; ARGS="-clusters 500"
	KUBEBUILDER_ASSETS=$$(hack/apiserver.sh) go run ./test/bench reconcile $(ARGS)

.PHONY: bench-zfs
bench-zfs: ## Compare the ZFS profile with the defaults in a virtual machine; writes docs/benchmarks; ARGS="-rounds 1"
	@hack/vm.sh image >/dev/null
	go run ./test/bench zfs $(ARGS)

.PHONY: bench-s3nbd
bench-s3nbd: ## Measure commits, commit_delay and reads on S3NBD; writes docs/benchmarks; ARGS="-rounds 1"
	@hack/vm.sh image >/dev/null
	@hack/zerofs.sh >/dev/null
	@source hack/lib/steps.sh; packages libnbd-bin e2fsprogs postgresql-15
	unshare --mount --propagation private go run ./test/bench s3nbd $(ARGS)

.PHONY: bench-ceph
bench-ceph: ## Compare Ceph on ZFS with its defaults, the profile and a dataset; writes docs/benchmarks; ARGS="-rounds 1"
	@hack/vm.sh ceph-image >/dev/null
	go run ./test/bench ceph $(ARGS)

.PHONY: bench-runner
bench-runner: ## Measure the overhead of the runner compared with pgbench; writes docs/benchmarks; ARGS="-pairs 40"
	go run -exec "taskset --cpu-list $$(($$(nproc) - 1))" ./test/bench runner $(ARGS)

.PHONY: clean-cache
clean-cache: ## Remove the caches of tests and demo
	hack/docker.sh stop
	rm -rf "$${XDG_CACHE_HOME:-$$HOME/.cache}/pgstorage"
