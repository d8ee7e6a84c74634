# Everything a contributor runs. `make help` lists it; beside every check stands its fix.
GO       ?= go
BIN      := bin
EXAMPLES := examples/quickstart examples/library examples/park examples/workloads examples/fleet \
            examples/controlplane examples/kubernetes
# Modules whose generated code is checked in, beside the ready-made groups below runtime/builtin. make test leaves those
# to make test-peers whose dependencies nothing else in it needs.
FRESH    := $(EXAMPLES) runtime/conformance $(FRESH_OF_PEERS)
FRESH_OF_PEERS := runtime/conformance/builtin runtime/conformance/webhooks
# Flags of go test for make test: TEST_FLAGS=-count=1 runs tests whose results are cached.
TEST_FLAGS ?=
# Tests that take as long as all others together: make test leaves them to make test-slow. They compile what they
# generate, run kubectl hundreds of times, wait for peers that hang, or hold 300 requests at once.
SLOW     := TestCompressedLists TestDay TestGeneratedTests TestHangingPeers TestHolding \
            TestHostileServers TestKubectlScripts TestSameBytesFromAnyLayout TestScriptsOfManyBuilds \
            TestShortOfMemory TestTrustIsPublished TestUnreadAnswersEnd
empty    :=
ANY_SLOW := ($(subst $(empty) $(empty),|,$(strip $(SLOW))))
# Packages of runtime/conformance that make test runs.
ANSWERS  := ./exchange ./matrix ./agreement
# How many packages are tested side by side: many tests wait for something most of their time.
SIDE_BY_SIDE := $(shell echo $$((3 * $$(getconf _NPROCESSORS_ONLN))))
# Parts of test-peers, each with its command below. ONLY="projects crd" runs these two.
PARTS    := vet generator celrules crd deploy projects clients access policies builtin flow definitions kubernetes \
            webhooks rules controller faults sample-apiserver kube-apiserver controllers
ONLY     ?= $(PARTS)
# Files whose lines may be longer than 120 columns: generated code and pages, inputs and goldens of tests, a table of
# requests, and copies that a test compares with upstream's files.
LONG_LINES := zz_generated|testdata/|/client/|^docs/reference/|^examples/.*/docs/|matrix_test
LONG_LINES := $(LONG_LINES)|v1alpha1/(conversion|doc)[.]go$$
# How long each scenario of runtime/faults lasts in test-long.
FAULTS   ?= 3m
# How long soak runs, and where it writes its report.
SOAK     ?= 30m
SOAK_REPORT ?= $(BIN)/soak.html
# A folder that keeps the binaries of controllers between runs; none without it.
PROGRAMS ?=
# Flags of the program that compare runs: COMPARE="-objects 2000 -rounds 1 -scale 40" is a short run.
COMPARE  ?=
# The commit that guard compares with.
BASE     ?= HEAD^
# Where record builds kube-apiserver. That of examples/kubernetes is of a newer release, in a folder beside it.
RECORD   ?= /tmp/kube-apiserver
EXAMPLE_RECORD := $(RECORD)-1.37
# What bin/kubectl says of itself: kubectl's own build does it in the same way.
KUBECTL_VERSION := $(foreach v,gitVersion=v1.37.2 gitMajor=1 gitMinor=37,-X k8s.io/component-base/version.$(v))
# The vulnerability database that vulncheck asks.
VULNDB   ?= https://vuln.go.dev
VULNCHECK_VERSION := v1.9.0
LINT     := $(BIN)/golangci-lint
LINT_VERSION := v2.15.0

.DEFAULT_GOAL := help

.PHONY: help
help: ## show this help
	@grep -hE '^[a-z-]+:.*##' $(MAKEFILE_LIST) | sort | awk -F ':.*## ' '{printf "  %-16s %s\n", $$1, $$2}'

.PHONY: build
build: ## build bin/apigen
	$(GO) build -o $(BIN)/apigen ./cmd/apigen

.PHONY: demo
demo: build kubectl ## run the commands of docs/getting-started.md, from a struct to a server that kubectl drives
	$(GO) run ./examples/demo --apigen $(BIN)/apigen

.PHONY: run
run: ## serve an example in the foreground
	cd examples/library && $(GO) run ./cmd/library --data-dir $(CURDIR)/data/library

.PHONY: kubernetes
kubernetes: ## serve the stable API of Kubernetes in the foreground
	cd examples/kubernetes && $(GO) run ./cmd/kubernetes --data-dir $(CURDIR)/data/kubernetes

# Programs of the tests have nothing for debuggers: linking takes two thirds of the time then. Stack traces don't
# change. go test leaves vet, which would look at all dependencies, to make lint. Tests that run the go command keep
# these flags. None is for the compiler: go tool ignores them, and would compile what it runs a second time.
LEAN     := -ldflags=-s -vet=off
export GO
export GOFLAGS := $(strip $(filter-out $(LEAN),$(GOFLAGS)) $(LEAN))

# The compiler collects garbage for a fifth of its time, unless it may use more memory. What measures memory or speed
# keeps Go's default.
kubectl test test-race check: export GOGC ?= 400

# The kubectl that the tests run is built from its module, so that they don't depend on one that the machine has.
export PATH := $(CURDIR)/$(BIN):$(PATH)

.PHONY: test
test: ## what a newcomer runs: all packages, all examples, the recorded answers of kube-apiserver, the manual
	@. .ci/steps.sh; \
	step "kubectl, and modules" $(MAKE) --no-print-directory -j 2 kubectl download; \
	step "compile" $(MAKE) --no-print-directory compile; \
	step "apigen's own packages" \
	  .ci/test.sh $(CURDIR)/$(BIN)/tests/apigen.dev ./... \
	  $(TEST_FLAGS) -skip '^$(ANY_SLOW)$$' -p $(SIDE_BY_SIDE) -timeout 30m; \
	step "examples, and kube-apiserver's recorded answers" \
	  $(MAKE) --no-print-directory -k -j $(SIDE_BY_SIDE) $(TOGETHER) $(OTHER_MODULES); \
	step "generated code is fresh" $(MAKE) --no-print-directory check-generated-code \
	  FRESH="$(filter-out $(FRESH_OF_PEERS),$(FRESH))"; \
	report; status=$$?; \
	echo; \
	echo "Not run: make test-slow ($(words $(SLOW)) long tests), make test-peers (heavy peers, real clients),"; \
	echo "         make test-long (fuzzing, faults, a million objects)."; \
	exit $$status

# The modules of make test, and the packages in a module $$m that it tests.
TESTED   := . $(EXAMPLES) runtime/conformance
PACKAGES := $$([ $$m = runtime/conformance ] && echo $(ANSWERS) || echo ./...)

# Fetches what the modules need, while the compiler has other work.
.PHONY: download
download:
	@for m in $(TESTED); do (cd $$m && $(GO) list -deps -test $(PACKAGES) > /dev/null) || exit 1; done

# Compiles one module after the other: tests run side by side, and two that begin at once would both compile what they
# share. go list compiles what tests import, too, and links nothing.
.PHONY: compile
compile:
	@for m in $(TESTED); do (cd $$m && $(GO) list -export -deps -test $(PACKAGES) > /dev/null) || exit 1; done

# The tests of other modules in make test, each a target, so that they run side by side, the longest first. Where make
# can, it shows what each of them prints in one piece.
TOGETHER := $(if $(filter output-sync,$(.FEATURES)),--output-sync)
OTHER_MODULES := $(addprefix test-of-,runtime/conformance $(EXAMPLES))
.PHONY: $(OTHER_MODULES)
$(OTHER_MODULES): test-of-%:
	@echo "$*"
	@cd $* && $(CURDIR)/.ci/test.sh $(CURDIR)/$(BIN)/tests/$* \
	  $(if $(filter runtime/conformance,$*),"$(ANSWERS)",./...) \
	  $(TEST_FLAGS) -skip '^$(ANY_SLOW)$$' -p $(if $(filter runtime/conformance,$*),2,1) -timeout 30m

.PHONY: test-slow
test-slow: kubectl ## run the few tests that make test leaves out because each takes as long as a package
	@. .ci/steps.sh; \
	step "slow tests of apigen's own packages" \
	  .ci/test.sh $(CURDIR)/$(BIN)/tests/apigen.dev \
	  "$$(grep -rlE --include='*_test.go' '^func $(ANY_SLOW)\(' docs generator runtime | \
	  grep -v /conformance/ | xargs -n 1 dirname | sort -u | sed 's#^#./#')" \
	  $(TEST_FLAGS) -run '^$(ANY_SLOW)$$' -timeout 30m; \
	step "slow tests of kube-apiserver's recorded answers" \
	  $(GO) test -C runtime/conformance $(TEST_FLAGS) -run '^$(ANY_SLOW)$$' -timeout 30m ./exchange; \
	report

.PHONY: test-race
test-race: ## run the race detector on the packages of the runtime that start goroutines, but for the slow tests
	$(GO) test -race -skip '^$(ANY_SLOW)$$' -timeout 30m $$(grep -rlE --include='*.go' '^\s*go [a-z]|\.Go\(' runtime | \
	  grep -vE '_test[.]go|/(conformance|faults|storagetest|etcdtest)/' | xargs -n 1 dirname | sort -u | sed 's#^#./#')

# What runs a part of test-peers: the folder of a module, and the arguments of go test.
peers = $(GO) test -C $(1) -count=1 -timeout 60m $(2)
# Fails if generated code of a module is stale.
fresh = $(GO) build -o $(BIN)/apigen ./cmd/apigen && (cd $(1) && $(CURDIR)/$(BIN)/apigen build --check ./...)

PART_vet              := $(GO) vet -C runtime/conformance -tags peer,record ./...
PART_generator        := $(call peers,generator/conformance,.)
PART_celrules         := $(call peers,generator/conformance,./celrules)
PART_crd              := $(call peers,generator/conformance/crd,./...)
PART_deploy           := $(call peers,generator/conformance/deploy,./...)
PART_projects         := $(call peers,generator/conformance,./projects)
PART_clients          := $(call peers,runtime/conformance,. ./apiservices ./audit ./certs \
                           ./compare ./encryption ./guard)
PART_access           := $(call peers,runtime/conformance,./access)
PART_policies         := $(call peers,runtime/conformance,./policies)
PART_builtin          := sh -c '$(call fresh,runtime/conformance/builtin) && \
                         $(call peers,runtime/conformance/builtin,./...)'
PART_flow             := $(call peers,runtime/conformance,./flow)
PART_definitions      := $(call peers,runtime/conformance,./definitions)
PART_kubernetes       := $(call peers,runtime/conformance/kubernetes,./...)
PART_webhooks         := sh -c '$(call fresh,runtime/conformance/webhooks) && \
                         $(call peers,runtime/conformance/webhooks,./...)'
PART_rules            := $(call peers,runtime/conformance/rules,./...)
PART_controller       := $(call peers,examples/library/controller,./...)
PART_faults           := $(call peers,runtime/faults,./...)
PART_sample-apiserver := $(MAKE) --no-print-directory peer
PART_kube-apiserver   := $(MAKE) --no-print-directory delegated
PART_controllers      := $(MAKE) --no-print-directory controllers

.PHONY: test-peers
test-peers: kubectl ## run the tests against heavy peers; ONLY=projects runs one part of $(PARTS)
	@. .ci/steps.sh; \
	$(foreach part,$(ONLY),$(if $(PART_$(part)),,$(error $(part) is no part: $(PARTS))) \
	step "$(part)" $(PART_$(part));) \
	report

.PHONY: test-long
test-long: kubectl ## run the tests that take hours: other systems, races, fuzzing, a million objects, faults
	@. .ci/steps.sh; \
	step "the CLI for Linux, macOS and Windows" $(MAKE) --no-print-directory cross; \
	step "the race detector on the whole runtime" $(MAKE) --no-print-directory test-race-all; \
	step "fuzz targets" $(MAKE) --no-print-directory fuzz; \
	step "planted bugs" env APIGEN_LONG=1 $(GO) test -count=1 -timeout 60m ./runtime/planted; \
	step "large inputs" env APIGEN_LONG=1 \
	  $(GO) test -count=1 -timeout 60m $$($(GO) list ./runtime/... | grep -v /planted); \
	step "a rolling restart" env APIGEN_LONG=1 $(call peers,runtime/conformance,-run '^TestRollingRestart$$' .); \
	step "kinds of the examples" env APIGEN_LONG=1 $(call peers,runtime/conformance,./agreement); \
	step "CEL rules of more projects" env APIGEN_LONG=1 $(call peers,generator/conformance,./celrules); \
	step "all projects" env APIGEN_LONG=1 $(call peers,generator/conformance,./projects); \
	step "500 definitions" env APIGEN_LONG=1 $(call peers,runtime/conformance,-run '^TestScale$$' ./definitions); \
	step "fair queues, more scenarios" env APIGEN_LONG=1 $(call peers,runtime/conformance,./flow); \
	step "faults at length" env APIGEN_FAULTS=$(FAULTS) $(call peers,runtime/faults,-v .); \
	step "soak" $(MAKE) --no-print-directory soak; \
	report

.PHONY: soak
soak: ## run 200 clients under random faults for SOAK=30m, and write a page with plots; APIGEN_SOAK_SEED repeats a run
	APIGEN_SOAK=$(SOAK) SOAK_REPORT=$(abspath $(SOAK_REPORT)) \
	  $(call peers,runtime/faults,-v -timeout 0 -run '^TestSoak$$' .)

.PHONY: plots
plots: ## draw the dashboard of docs/observability, of a server that is under load for two minutes
	$(call peers,runtime/conformance/rules,-run '^TestPicture$$' . -draw $(CURDIR)/docs/observability/dashboard.svg)

.PHONY: test-race-all
test-race-all: ## run the race detector on the whole runtime, but for generated round trips, which have one goroutine
	$(GO) test -race -timeout 60m $$($(GO) list ./runtime/... | grep -vE '/planted|/wiring$$')

.PHONY: fuzz
fuzz: ## run each fuzz target for 20 seconds
	@for target in $$(grep -rHo --include='*_test.go' '^func Fuzz[A-Za-z0-9]*' cmd generator runtime | \
	    sed 's#/[^/]*:func #:#' | sort -u); do \
	  pkg=$${target%:*}; f=$${target#*:}; \
	  echo "fuzz $$pkg $$f"; \
	  (cd $$pkg && $(GO) test -run '^$$' -fuzz "^$$f$$" -fuzztime 20s -fuzzminimizetime 1s .) || exit 1; done

.PHONY: peer
peer: ## our answers beside those of k8s.io/sample-apiserver, on one etcd; takes minutes to compile
	cd runtime/conformance && $(GO) test -tags peer -run '^TestPeer' -timeout 30m .
	cd runtime/conformance && $(GO) test -tags peer ./encryption

.PHONY: controllers
controllers: ## run cert-manager, Cluster API and others on examples/controlplane; takes minutes to compile them
	cd runtime/conformance && APIGEN_LONG=1 APIGEN_PROGRAMS=$(PROGRAMS) \
	  $(GO) test -count=1 -v -timeout 90m ./controllers

.PHONY: record
record: ## record what tests replay anew, from kube-apiservers built in RECORD=/tmp/kube-apiserver and beside it
	runtime/conformance/exchange/build-kube-apiserver.sh $(RECORD)
	cd runtime/conformance && KUBE_APISERVER=$(RECORD)/kube-apiserver \
	  $(GO) test -count=1 -tags record -run '^TestRecord' ./exchange ./matrix ./access
	RELEASE=37.2 runtime/conformance/exchange/build-kube-apiserver.sh $(EXAMPLE_RECORD)
	$(GO) build -o $(EXAMPLE_RECORD)/etcd ./runtime/internal/etcdtest/etcd
	cd examples/kubernetes && KUBE_APISERVER=$(EXAMPLE_RECORD)/kube-apiserver ETCD=$(EXAMPLE_RECORD)/etcd \
	  $(GO) test -count=1 -tags record -run '^TestRecord' ./internal/recorded

.PHONY: delegated
delegated: ## run a server behind a kube-apiserver and its controllers, which are built in RECORD=/tmp/kube-apiserver
	runtime/conformance/exchange/build-kube-apiserver.sh $(RECORD) kube-controller-manager
	cd runtime/conformance && KUBE_APISERVER=$(RECORD)/kube-apiserver $(GO) test -count=1 ./access
	$(GO) build -o $(RECORD)/etcd ./runtime/internal/etcdtest/etcd
	cd generator/conformance/deploy && KUBE_APISERVER=$(RECORD)/kube-apiserver ETCD=$(RECORD)/etcd \
	  KUBE_CONTROLLER_MANAGER=$(RECORD)/kube-controller-manager $(GO) test -count=1 .

.PHONY: measure
measure: ## measure custom resources beside a kube-apiserver, which is built in RECORD=/tmp/kube-apiserver
	runtime/conformance/exchange/build-kube-apiserver.sh $(RECORD)
	cd runtime/conformance && APIGEN_LONG=1 KUBE_APISERVER=$(RECORD)/kube-apiserver \
	  $(GO) test -count=1 -v -timeout 40m -run '^TestScale$$' ./definitions

.PHONY: kubectl
kubectl: ## build bin/kubectl, of the release whose output is recorded: the tests run it
	cd runtime/conformance/kubectl && $(GO) build -o $(CURDIR)/$(BIN)/kubectl -ldflags "-s $(KUBECTL_VERSION)" .

.PHONY: bench
bench: ## run the benchmarks
	$(GO) test -run '^$$' -bench . -benchmem ./runtime/... ./generator/...
	cd runtime/conformance && $(GO) test -run '^$$' -bench . .

.PHONY: compare
compare: ## measure our server beside k8s.io/sample-apiserver: the table of README.md; takes 13 minutes
	cd runtime/conformance && $(GO) run ./compare $(COMPARE)

.PHONY: guard
guard: ## compare benchmarks with those of the commit BASE, HEAD^ by default, while nothing else runs
	cd runtime/conformance && $(GO) run ./guard -base $(BASE)

.PHONY: check
check: check-format check-generate lint ## everything CI checks beside the tests

.PHONY: check-format
check-format: ## fail on code that gofmt would change, which `make format` mends, and on lines over 120 columns
	@out=$$(gofmt -l cmd docs generator runtime templates examples *.go); \
	  test -z "$$out" || { echo "gofmt -w $$out"; exit 1; }
	@git ls-files Makefile '*.go' '*.md' | grep -vE '$(LONG_LINES)' | LC_ALL=C xargs awk ' \
	  FNR == 1 { code = 0 }; \
	  /^ *```/ { code = !code }; \
	  { line = $$0; gsub(/\t/, "    ", line); gsub(/[\200-\277]/, "", line) }; \
	  length(line) > 120 && !/^[\t ]*\/\/ \+/ && !(FILENAME ~ /\.md$$/ && (code || /^ *\|/)) { \
	    print FILENAME ":" FNR ": the line is longer than 120 columns"; bad = 1 }; \
	  END { exit bad }'

.PHONY: format
format: ## gofmt all
	gofmt -w cmd docs generator runtime templates examples *.go

.PHONY: check-generate
check-generate: check-generated-code ## fail if generated code or docs/reference is stale; `make generate` mends it
	$(GO) test -count=1 -run '^TestReference$$' ./docs

.PHONY: check-generated-code
check-generated-code: build
	$(BIN)/apigen build --check ./runtime/builtin/... ./runtime/internal/custom/agreement/...
	@for e in $(FRESH); do \
	  echo "apigen build --check: $$e"; (cd $$e && $(CURDIR)/$(BIN)/apigen build --check ./...) || exit 1; done

.PHONY: generate
generate: build ## bring generated code that is checked in, and docs/reference, up to date
	$(BIN)/apigen build ./runtime/builtin/... ./runtime/internal/custom/agreement/...
	@for e in $(FRESH); do (cd $$e && $(CURDIR)/$(BIN)/apigen build ./...) || exit 1; done
	$(GO) test -count=1 -run '^TestReference$$' ./docs -update

.PHONY: api
api: ## write docs/reference/api.txt, which lists what users can name, and count the names of the halves
	$(GO) test -count=1 -run '^TestAPI$$' ./docs -update
	@printf 'exported names of the generator: '
	@grep -cE '^apigen[.]dev/generator[^ ]* (const|func|type|var) ' docs/reference/api.txt
	@printf 'exported names of the runtime, without the ready-made groups: '
	@grep -E '^apigen[.]dev/runtime[^ ]* (const|func|type|var) ' docs/reference/api.txt | grep -cv runtime/builtin

.PHONY: lint
lint: $(LINT) ## go vet and others, by golangci-lint; `make lint-fix` mends what can be mended
	$(LINT) run ./...
	# What records kube-apiserver's answers compiles. Nothing else shows it from day to day.
	cd runtime/conformance && $(GO) list -export -test -tags record ./exchange ./matrix > /dev/null
	cd examples/kubernetes && $(GO) list -export -test -tags record ./internal/recorded > /dev/null

.PHONY: lint-fix
lint-fix: $(LINT) ## mend what the linters can
	$(LINT) run --fix ./...

$(LINT):
	GOBIN=$(CURDIR)/$(BIN) $(GO) install github.com/golangci/golangci-lint/v2/cmd/golangci-lint@$(LINT_VERSION)

# It is no part of check: what it finds depends on the day, and its database is not on every network.
.PHONY: vulncheck
vulncheck: $(BIN)/govulncheck ## look for known vulnerabilities in what is called, where VULNDB can be reached
	@curl -fsS -o /dev/null --max-time 20 $(VULNDB)/index/db.json || { \
	  echo "vulncheck: $(VULNDB) can't be reached, so nothing was checked"; exit 0; }; \
	for m in . $(EXAMPLES); do echo "govulncheck $$m"; \
	  (cd $$m && $(CURDIR)/$(BIN)/govulncheck -db $(VULNDB) ./...) || exit 1; done

$(BIN)/govulncheck:
	GOBIN=$(CURDIR)/$(BIN) $(GO) install golang.org/x/vuln/cmd/govulncheck@$(VULNCHECK_VERSION)

.PHONY: cross
cross: ## build and vet the CLI for Linux, macOS and Windows
	@for os in linux darwin windows; do \
	  echo "GOOS=$$os"; \
	  GOOS=$$os $(GO) build -o /dev/null ./cmd/apigen && \
	    GOOS=$$os $(GO) vet ./cmd/apigen ./generator/... || exit 1; done

.PHONY: clean
clean: ## remove what was built
	rm -rf $(BIN) data
