# `make help` lists the targets.

.DEFAULT_GOAL := help
SHELL := /bin/bash
FUZZTIME ?= 20s

.PHONY: help build demo test quick lint vet-cross fuzz cover clean

help: ## list the targets
	@awk -F ':.*## ' '/^[a-z-]+:.*## /{printf "  %-10s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

build: ## one static binary: bin/verbatim
	@echo "building; the first time this takes a minute or so ..."
	CGO_ENABLED=0 go build -trimpath -ldflags='-s -w' -o bin/verbatim ./cmd/verbatim

demo: ## a walk through one approval, on this machine, nothing to set up
	@echo "building verbatim; the first time this takes a minute or so ..."
	@CGO_ENABLED=0 go build -trimpath -ldflags='-s -w' -o bin/verbatim ./cmd/verbatim
	@bin/verbatim demo

test: ## install what the tests need, then run all of them
	scripts/test

quick: ## the tests that need nothing but Go
	go test -short ./...

lint: ## format, vet, staticcheck, known vulnerabilities, file sizes
	scripts/lint

vet-cross: ## build and vet for linux, darwin and windows
	scripts/vet-cross

fuzz: ## every fuzz target for FUZZTIME each (default 20s)
	scripts/fuzz $(FUZZTIME)

cover: ## test coverage by package; coverage.out for go tool cover
	go test -short -coverprofile=coverage.out ./...
	go tool cover -func=coverage.out | tail -n 1

clean: ## remove what the other targets made
	rm -rf bin coverage.out testdata/npm/node_modules

.PHONY: bench-decode bench-schema bench-decide

bench-decode: ## reading and canonical writing beside other libraries, as ratios
	cd bench && go test -count=1 -run '^TestDecode$$'

bench-schema: ## decoding and applying a schema beside other libraries, as ratios
	cd bench && go test -count=1 -run '^TestSchema$$'

bench-decide: ## a whole decision beside an assembly of libraries, as ratios
	cd bench && go test -count=1 -run '^TestDecide$$'

.PHONY: corpus

corpus: ## published tool calls through a gate: what was allowed, asked, refused
	scripts/corpus

.PHONY: spin

spin: ## search the models of the state machine, and their mutants
	scripts/spin

.PHONY: conformance

conformance: ## the MCP conformance suite, before a server alone and through the gateway
	scripts/conformance

.PHONY: long-crash long-zombies

long-crash: ## kill -9 at each of 53 points, 200 times on SQLite, 100 on PostgreSQL
	VERBATIM_CRASHES=200 VERBATIM_CRASHES_POSTGRES=100 go test -count=1 -timeout 90m -v -run 'Killed|Planted' ./internal/crash

long-zombies: ## stop a process at each of those points until others took over
	VERBATIM_ZOMBIES=12 VERBATIM_ZOMBIES_POSTGRES=12 go test -count=1 -timeout 60m -v -run 'Stopped|Fence' ./internal/crash

.PHONY: long-power

long-power: ## 5,000 cuts of the power under SQLite, and as many of a record that does not wait for the disk
	VERBATIM_POWER_RUNS=560 go test -count=1 -timeout 60m -v -run PowerCut ./store/sqlite

.PHONY: long-duplicates

long-duplicates: ## 5,000 calls, each made 64 times through three gateways on one PostgreSQL
	VERBATIM_DUPLICATES=5000 go test -count=1 -timeout 60m -v -run Once ./internal/duplicates

.PHONY: long-failover

long-failover: ## 120 faults of servers, gateways and network under load, 20 failovers without sync, 100 histories under faults
	VERBATIM_FAULTS=120 VERBATIM_FAULTS_CONTROL=20 VERBATIM_FAULT_HISTORIES=100 VERBATIM_TEST_TOOLS=required \
		go test -count=1 -timeout 90m -v ./internal/failover

.PHONY: long-budgets

long-budgets: ## a million random steps on limits, compared with a ledger
	VERBATIM_BUDGET_STEPS=1000000 go test -count=1 -timeout 120m -v -run 'Suite/Budgets' ./store/sqlite

.PHONY: bench-gateway

bench-gateway: ## what the gateway adds to a read, beside forwarders and a typed proxy
	go test -tags bench -count=1 -v -timeout 20m ./internal/gatewaybench

.PHONY: bench-store

bench-store: ## both stores beside the disk, raw commits and a million rows, as ratios
	VERBATIM_TEST_TOOLS=required go test -tags bench -count=1 -v -timeout 30m -run '^TestStore$$' ./internal/storebench

.PHONY: long-model long-histories

long-model: ## 220,000 sequences on SQLite and 20,000 on PostgreSQL beside a small model
	scripts/long-model

long-histories: ## 200 histories of 4 clients on each store, each with one order that explains it
	VERBATIM_HISTORIES=200 VERBATIM_HISTORY_OPS=12000 go test -count=1 -timeout 90m -v -run 'Suite/Histories' ./store/sqlite ./store/postgres

.PHONY: long-newcomer

long-newcomer: ## README.md from its first command on, in a fresh clone and a fresh browser
	scripts/long-newcomer

.PHONY: screenshots

screenshots: build ## every page, light and dark, desk and phone: bin/screenshots
	VERBATIM_PROGRAM=$(CURDIR)/bin/verbatim VERBATIM_SCREENSHOTS=$(CURDIR)/bin/screenshots \
	  go test -tags screenshots -count=1 -timeout 10m -run '^TestScreenshots$$' ./internal/pictures

.PHONY: long-tamper

long-tamper: ## everything done to one record of 10,000, before both checkers; 1,000 kills of the sequencer
	VERBATIM_TAMPER_LEAVES=10000 go test -count=1 -timeout 90m -v -run Nothing ./examples/verifier
	VERBATIM_SEQUENCE_KILLS=1000 go test -count=1 -timeout 60m -v -run KilledSequencer ./store/sqlite

.PHONY: long-fuzz

long-fuzz: ## every fuzz target until it has had two million executions
	scripts/long-fuzz

.PHONY: long-soak

long-soak: ## three gateways on one PostgreSQL under load and random faults, 30 minutes
	VERBATIM_SOAK=30m go test -count=1 -timeout 60m -v -run Flat ./internal/soak

.PHONY: bench-audit

bench-audit: ## what the signed log costs: commits, sequencing, verification of a million records
	go test -tags bench -count=1 -v -timeout 20m -run '^TestAudit$$' ./internal/auditbench

.PHONY: long-races

long-races: ## approve, reject, revoke, expire and execute at once: 100,000 rounds on SQLite, 10,000 on PostgreSQL
	VERBATIM_RACE_ROUNDS=100000 go test -count=1 -timeout 120m -v -run 'Suite/Rounds' ./store/sqlite
	VERBATIM_RACE_ROUNDS=10000 go test -count=1 -timeout 120m -v -run 'Suite/Rounds' ./store/postgres

.PHONY: long-api

long-api: ## 1,200,000 hostile requests on all routes of the decision API, counted by route and status
	VERBATIM_API_REQUESTS=1200000 go test -count=1 -timeout 90m -v -run '^TestNoRequestBreaksARoute$$' ./api

.PHONY: bench-api

bench-api: ## explain and authorize over loopback beside a bare echo and the disk, as ratios
	go test -tags bench -count=1 -v -timeout 20m -run '^TestAPI$$' ./internal/apibench
