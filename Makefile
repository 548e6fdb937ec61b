# Targets are one or a few commands each; longer logic is in Go.
GO    ?= go
TOOL  := $(GO) tool -modfile=tools/go.mod
HELM  := $(GO) tool -modfile=tools/helm/go.mod helm
TESTS := $(TOOL) gotestsum --format=pkgname --format-hide-empty-pkg --
SUITE ?= all
SIZES ?= 50000,150000

.DEFAULT_GOAL := help
.PHONY: help build test test-root lint gen verify vulncheck lab-build lab-up lab-down e2e e2e-all long bench bench-size

help: ## List the targets
	@awk -F ':.*## ' '/^[a-z0-9-]+:.*## / { printf "  %-12s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

build: ## Build the programs into bin/
	CGO_ENABLED=0 $(GO) build -o bin/ ./cmd/... ./lab/cmd/lab

test: ## Run the tests that need no root, with the race detector
	$(TESTS) -race -skip '^TestRoot' ./...

test-root: ## Run the tests that need root
	$(TESTS) -race -p=1 -run '^TestRoot' ./lab/... ./internal/...

lint: ## Run the linters
	$(TOOL) golangci-lint run ./...
	$(GO) -C lab/build/hangfs vet ./...
	$(HELM) lint --strict --quiet charts/plumbline && $(HELM) lint --strict --quiet --kube-version 1.24 charts/plumbline

gen: ## Regenerate the generated files
	$(GO) mod tidy
	$(TOOL) golangci-lint fmt ./...
	$(GO) run ./cmd/plumbline schema > docs/schema/checkreport.json && cp internal/detect/doc/*.md docs/codes/
	{ echo '# Rendered from charts/plumbline by make gen.' && $(HELM) template plumbline charts/plumbline -n plumbline-system --kube-version 1.34 --set namespace.create=true; } > deploy/agent.yaml
	{ echo '# Rendered from charts/plumbline by make gen.' && $(HELM) template plumbline charts/plumbline -n plumbline-system --kube-version 1.34 --set namespace.create=true --set guard.enabled=true; } > deploy/guard.yaml

verify: gen lint vulncheck ## Fail if generated files, formatting or lint are not clean
	git diff --exit-code

vulncheck: ## Check for known vulnerabilities, if the database is reachable
	@$(TOOL) govulncheck ./... || { [ $$? -eq 3 ] && exit 3 || echo "govulncheck: not run (its database is not reachable)"; }

lab-build: build ## Build the lab's components into the cache
	bin/lab build

lab-up: build ## Start a lab (ARGS="--nodes 3 --datastore etcd")
	bin/lab up $(ARGS)

lab-down: build ## Stop the lab and remove all of it
	bin/lab down

e2e: lab-build ## Start a lab in each mode and run a few incidents end to end
	$(TESTS) -tags=e2e -count=1 -p=1 -timeout=20m ./lab/e2e/gate ./lab/e2e/outside ./lab/e2e/size ./internal/calico ./internal/kube ./internal/kube/write ./internal/agent/server
	$(TESTS) -tags=e2e -count=1 -timeout=20m ./lab/e2e/repair -run=TestKill -kills=2
	$(TESTS) -tags=e2e -count=1 -timeout=10m ./lab/e2e/timeline -suite=late-del
	$(TESTS) -tags=e2e -count=1 -timeout=10m ./lab/e2e/watch -run=TestWatchSees
	$(TESTS) -tags=e2e -count=1 -timeout=15m ./lab/e2e/guard -run='TestLateDel/(kdd|etcd)/enforce' -modes=enforce

e2e-all: lab-build ## Run every scenario of a suite in each mode (SUITE=all)
	$(TESTS) -tags=e2e -count=1 -timeout=40m ./lab/e2e/full -suite=$(SUITE)
	$(TESTS) -tags=e2e -count=1 -timeout=180m ./lab/e2e/repair -run='TestHarmIsSeen|TestRepair' -suite=$(SUITE) -goes-on=5m
	$(TESTS) -tags=e2e -count=1 -timeout=180m ./lab/e2e/repair -run=TestUndo -suite=$(SUITE)
	$(TESTS) -tags=e2e -count=1 -timeout=60m ./lab/e2e/timeline -suite=$(SUITE)
	$(TESTS) -tags=e2e -count=1 -timeout=90m ./lab/e2e/guard -run='TestLateDel|TestLegacyHandle|TestPlain|TestChained' -modes=observe,enforce -runtimes=debian,2.2

long: lab-build ## Run the long tests: lab cycles and kills, churn with checks, a million generated clusters, fuzzing
	$(TESTS) -tags=e2e -count=1 -p=1 -timeout=120m ./lab/e2e/long ./lab/e2e/alarm ./lab/e2e/agents
	$(TESTS) -tags=e2e -count=1 -timeout=240m ./lab/e2e/repair -run='TestKill|TestChurn' -kills=100 -rounds=34
	$(TESTS) -tags=e2e -count=1 -timeout=120m ./lab/e2e/guard -run='TestSwitch|TestConform' -switches=50 -conform=200
	$(TESTS) -count=1 -timeout=60m ./internal/guard/ownerdb -sequences=10000
	$(TESTS) -count=1 -timeout=60m ./internal/guard/plugin -sequences=2000 -hanging=200
	$(TESTS) -tags=e2e -count=1 -timeout=60m ./internal/bench/rebuild -nodes=5000
	$(TESTS) -tags=e2e -count=1 -timeout=20m ./internal/calico -run=TestLabStoresAgree -operations=10000
	$(TESTS) -count=1 -timeout=120m ./internal/execute/executetest -run=TestSeeds -runs=1000000
	$(TESTS) -count=1 -timeout=60m ./internal/timeline/loggen -run=TestAccuracy -histories=3000
	$(TESTS) -tags=e2e -count=1 -timeout=60m ./internal/timeline/loggen -run=TestBig -bytes=10000000000
	PLUMBLINE_WORLDS=334000 $(TESTS) -count=1 -timeout=120m ./internal/audit
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
