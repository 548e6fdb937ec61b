# Targets are one or a few commands each; longer logic is in Go.
GO    ?= go
TOOL  := $(GO) tool -modfile=tools/go.mod
TOOL_HERE = $(GO) tool -modfile=$(CURDIR)/tools/go.mod
HELM  := $(GO) tool -modfile=tools/helm/go.mod helm
# $(call tests,NAME) runs go test; with RESULTS set, what each test did goes to RESULTS/NAME.json.
tests = $(TOOL) gotestsum --format=pkgname --format-hide-empty-pkg $(if $(RESULTS),--jsonfile=$(RESULTS)/$(1).json) --
# $(call render,NAME,FLAGS) writes deploy/NAME.yaml.
render = { echo '\# Rendered from charts/plumbline by make gen.' && $(HELM) template --skip-tests plumbline charts/plumbline -n plumbline-system --kube-version 1.34 --set namespace.create=true $(2); } > deploy/$(1).yaml
TESTS := $(TOOL) gotestsum --format=pkgname --format-hide-empty-pkg --
SUITE ?= all
LIMIT ?= 150
LANES ?= 2
ONLY  ?= .
ROWS  ?= .
SUITES ?= .*
SIZES ?= 50000,150000

.DEFAULT_GOAL := help
.PHONY: help build release site test test-race test-cases test-release test-versions test-root lint gen verify vulncheck lab-build lab-up lab-down e2e e2e-kdd e2e-etcd e2e-parts e2e-all ui matrix screens long bench bench-size

help: ## List the targets
	@awk -F ':.*## ' '/^[a-z0-9-]+:.*## / { printf "  %-12s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

build: ## Build the programs into bin/
	CGO_ENABLED=0 $(GO) build -o bin/ ./cmd/... ./lab/cmd/lab

# Packages whose tests try many cases: with the race detector they try a few (-short), without it all.
CASES := ./internal/audit ./internal/calico ./internal/execute/executetest ./internal/guard/ownerdb ./internal/timeline ./internal/timeline/journal ./internal/timeline/loggen

test: test-race test-cases test-release ## Run the tests that need no root, with the race detector, and those of many cases without it

test-race:
	$(call tests,race) -race -short -timeout=40m -skip '^TestRoot' ./...

test-cases:
	$(call tests,cases) -timeout=40m -skip '^TestRoot' $(CASES)

# A trial release of bin/: archives, images in a registry, chart, sums, signatures; and the site, with its links followed.
test-release: build
	cd tools/release && $(TOOL_HERE) gotestsum --format=pkgname $(if $(RESULTS),--jsonfile=$(RESULTS)/release.json) -- ./...
	cd tools/site && $(TOOL_HERE) gotestsum --format=pkgname $(if $(RESULTS),--jsonfile=$(RESULTS)/site.json) -- ./...

site: ## Make the documentation site in dist/site
	$(GO) -C tools/site run . -root $(CURDIR) -out $(CURDIR)/dist/site

test-versions: ## Hold the chart against the API of Kubernetes 1.24 to 1.36, which is downloaded
	cd tools/release && $(GO) test -tags=e2e -count=1 -timeout=15m -run=TestVersions .

test-root: ## Run the tests that need root; they mostly wait
	$(call tests,root) -race -timeout=40m -p=4 -run '^TestRoot' $$(grep -rl --include='*_test.go' '^func TestRoot' lab internal | xargs -n1 dirname | sort -u | sed 's|^|./|')

lint: ## Run the linters
	$(TOOL) golangci-lint run ./...
	$(GO) -C lab/build/hangfs vet ./...
	for d in release site; do (cd tools/$$d && $(TOOL_HERE) golangci-lint run --config=$(CURDIR)/.golangci.yml ./...) || exit 1; done
	$(HELM) lint --strict --quiet charts/plumbline && $(HELM) lint --strict --quiet --kube-version 1.24 --set withoutPolicies=true charts/plumbline

gen: ## Regenerate the generated files
	$(GO) mod tidy
	$(TOOL) golangci-lint fmt ./...
	$(GO) test -count=1 ./internal/repair/proven -run=TestSupport -update
	$(GO) test -count=1 ./internal/metrics -update
	$(GO) run ./cmd/plumbline explain pod etcd1-0 -n late-del --bundle internal/cli/demo/bundle.tar.gz -o svg > docs/ladder.svg
	$(GO) test -count=1 ./internal/cli -run='^(TestSchemas|TestReference)$$' -update-pages
	cp internal/detect/doc/*.md docs/codes/
	$(GO) tool -modfile=tools/crds/go.mod controller-gen crd paths=./api/... output:crd:dir=charts/plumbline/files/crds
	cp charts/plumbline/files/reader.yaml deploy/reader.yaml
	$(GO) test -count=1 ./internal -run='^TestPages$$' -update-pages
	$(GO) -C tools/release run . -root $(CURDIR) -licences $(CURDIR)/THIRD_PARTY_LICENSES.txt
	$(call render,agent,)
	$(call render,repair,--set repair=true)
	$(call render,guard,--set repair=true --set guard.enabled=true)

verify: gen lint vulncheck ## Fail if generated files, formatting or lint are not clean
	git diff --exit-code

vulncheck: ## Check for known vulnerabilities, if the database is reachable
	@$(TOOL) govulncheck ./... || { [ $$? -eq 3 ] && exit 3 || echo "govulncheck: not run (its database is not reachable)"; }

release: ## Make a release of this commit in dist/ (VERSION=v0.1.0 KEY=FILE REGISTRY=HOST/PATH PUSH=1)
	$(GO) -C tools/release run . -root $(CURDIR) -out $(CURDIR)/dist -version $(VERSION) $(if $(KEY),-key $(abspath $(KEY))) $(if $(REGISTRY),-registry $(REGISTRY)) $(if $(PUSH),-push)

lab-build: build ## Build the lab's components into the cache
	bin/lab build

lab-up: build ## Start a lab (ARGS="--nodes 3 --datastore etcd")
	bin/lab up $(ARGS)

lab-down: build ## Stop the lab and remove all of it
	bin/lab down

e2e: lab-build ## Start a lab in each mode and run a few incidents end to end
	$(call tests,outside) -tags=e2e -count=1 -timeout=10m ./lab/e2e/outside
	$(MAKE) -j3 --output-sync=target e2e-kdd e2e-etcd e2e-parts

# The lanes of e2e run side by side, and take about equally long: a lab waits more than it works.
e2e-kdd:
	$(call tests,kdd) -tags=e2e -count=1 -timeout=20m ./lab/e2e/gate -skip=TestEtcd
	$(call tests,guard-kdd) -tags=e2e -count=1 -timeout=15m ./lab/e2e/guard -run='TestLateDel/kdd/enforce' -modes=enforce
	$(call tests,timeline) -tags=e2e -count=1 -timeout=10m ./lab/e2e/timeline -suite=late-del
	$(call tests,controller) -tags=e2e -count=1 -timeout=10m ./lab/e2e/controller -run='TestFinding/kdd'

e2e-etcd:
	$(call tests,etcd) -tags=e2e -count=1 -timeout=20m ./lab/e2e/gate -run=TestEtcd
	$(call tests,guard-etcd) -tags=e2e -count=1 -timeout=15m ./lab/e2e/guard -run='TestLateDel/etcd/enforce' -modes=enforce
	$(call tests,kill) -tags=e2e -count=1 -timeout=20m ./lab/e2e/repair -run=TestKill -kills=2
	$(call tests,watch) -tags=e2e -count=1 -timeout=10m ./lab/e2e/watch -run=TestWatchSees

e2e-parts:
	$(call tests,size) -tags=e2e -count=1 -timeout=10m ./lab/e2e/size
	$(call tests,parts) -tags=e2e -count=1 -p=1 -timeout=20m -run='^TestLab' ./internal/calico ./internal/repair/proven ./internal/kube/... ./internal/agent/server ./internal/cluster

e2e-all: lab-build ## Run every scenario in each mode, in pieces that are recorded and resumed (SUITE=all LIMIT=150 minutes LANES=2 ONLY=piece)
	.ci/e2e-all $(SUITE) $(LIMIT) $(LANES) '$(ONLY)'

ui: ## Look at the UI in Debian's Chromium: bundles, 150,000 pods, other origins, axe (OUT=directory for screenshots)
	.ci/ui

matrix: lab-build ## Run the suites on every version of Calico, Kubernetes and containerd, in pieces that are recorded (ROWS=v3.27 SUITES=repair LIMIT=150 minutes LANES=2)
	.ci/matrix '$(ROWS)' '$(SUITES)' $(LIMIT) $(LANES)

screens: lab-build ## Write docs/screens, which README and docs show, from a lab with an incident
	$(TESTS) -tags=e2e -count=1 -timeout=20m ./lab/e2e/screens

long: lab-build ## Run the long tests: lab cycles and kills, churn with checks, a million generated clusters, fuzzing
	$(TESTS) -tags=e2e -count=1 -p=1 -timeout=120m ./lab/e2e/long ./lab/e2e/alarm ./lab/e2e/agents
	$(TESTS) -tags=e2e -count=1 -timeout=240m ./lab/e2e/repair -run='TestKill|TestChurn' -kills=100 -rounds=34
	$(TESTS) -tags=e2e -count=1 -timeout=120m ./lab/e2e/guard -run='TestSwitch|TestConform' -switches=50 -conform=200
	$(TESTS) -count=1 -timeout=60m ./internal/guard/ownerdb -sequences=10000
	$(TESTS) -count=1 -timeout=60m ./internal/guard/plugin -sequences=2000 -hanging=200
	$(TESTS) -tags=e2e -count=1 -timeout=60m ./internal/bench/rebuild -run=TestLabRebuildAtSize -nodes=5000
	$(TESTS) -tags=e2e -count=1 -timeout=60m ./internal/bench/rebuild -run=TestLabOrphans -nodes=5000 -pods=6 -orphans=63000
	$(TESTS) -tags=e2e -count=1 -timeout=20m ./internal/calico -run=TestLabStoresAgree -operations=10000
	$(TESTS) -count=1 -timeout=120m ./internal/execute/executetest -run=TestSeeds -runs=1000000
	$(TESTS) -count=1 -timeout=60m ./internal/timeline/loggen -run='TestAccuracy$$' -histories=3000
	$(TESTS) -count=1 -timeout=90m ./internal/timeline/loggen -run=TestAccuracyDisguised -histories=9000
	$(TESTS) -tags=e2e -count=1 -timeout=60m ./internal/timeline/loggen -run=TestBig -bytes=10000000000
	PLUMBLINE_WORLDS=334000 $(TESTS) -count=1 -timeout=120m ./internal/audit
	$(TESTS) -count=1 -timeout=20m ./internal/scrub -run=TestPlantedCredentials -bytes=100000000
	.ci/fuzz 2m

bench: lab-build ## Measure agents, the guard and the start of a lab, and print the figures
	$(GO) test -tags=e2e -count=1 -v -timeout=60m ./internal/bench/agentcost
	$(GO) test -tags=e2e -count=1 -v -timeout=40m ./lab/e2e/guard -run=TestCost -calls=500
	$(GO) test -tags=e2e -count=1 -run='^$$' -bench=. -benchtime=3x ./lab/e2e/bench

bench-size: lab-build ## Measure check at SIZES pods (300000 needs a machine with 48 GB) and write docs/performance.md
	$(GO) test -count=1 -run='^$$' -bench='BenchmarkJudge$$' -benchtime=3x ./internal/audit -figures=$(CURDIR)/bin/judged.json
	$(GO) test -tags=e2e -count=1 -v -timeout=180m ./lab/e2e/size -run=TestSize -pods=$(SIZES) -judged=$(CURDIR)/bin/judged.json -out=$(CURDIR)/bin/size.json -write-docs
	$(GO) test -tags=e2e -count=1 -v -timeout=90m ./lab/e2e/watch -run=TestWatchAtSize -pods=$(SIZES)
	$(GO) test -tags=e2e -count=1 -v -timeout=60m ./internal/bench/agents -nodes=5000 -bound=0
