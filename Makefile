# The same commands that CI runs, by name. `make` alone lists them.

TARGETS := linux/amd64 linux/arm64 darwin/amd64 darwin/arm64 windows/amd64 windows/arm64
VERSION ?= $(shell git describe --tags --always --dirty 2>/dev/null || echo dev)
TOOL := go tool -modfile=tools/go.mod

.DEFAULT_GOAL := help
.PHONY: help build test race lint fmt bench cross deps ci

help: ## list the targets
	@awk -F ':.*## ' '/^[a-z]+:.*## / {printf "  make %-7s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

build: ## ./kiro-learn for this machine, as it is released
	CGO_ENABLED=0 go build -trimpath -ldflags '-s -w -X main.version=$(VERSION)' -o kiro-learn .

test: ## all tests
	go test ./...

race: ## all tests under the race detector (needs a C compiler)
	CGO_ENABLED=1 go test -race -gcflags='modernc.org/sqlite/lib=-race=false' -gcflags='modernc.org/libc/...=-race=false' \
		-gcflags='modernc.org/sqlite=-d=checkptr=0' ./...

lint: ## formatting, vet, staticcheck; changes nothing
	@out=$$($(TOOL) gofumpt -l .); test -z "$$out" || { echo "not formatted (make fmt):"; echo "$$out"; exit 1; }
	go vet ./...
	$(TOOL) staticcheck ./...

fmt: ## format every file
	$(TOOL) gofumpt -w .

bench: ## all benchmarks, once each; compare two runs with benchstat
	go test -run '^$$' -bench . -benchmem ./...

cross: ## dist/kiro-learn-OS-ARCH for the six targets
	@set -e; for t in $(TARGETS); do os=$${t%/*} arch=$${t#*/} ext=; \
		if [ $$os = windows ]; then ext=.exe; fi; \
		echo "dist/kiro-learn-$$os-$$arch$$ext"; \
		CGO_ENABLED=0 GOOS=$$os GOARCH=$$arch go build -trimpath -ldflags '-s -w -X main.version=$(VERSION)' \
			-o "dist/kiro-learn-$$os-$$arch$$ext" .; \
	done

deps: ## accept the packages that are linked now into deps.txt
	go test -run '^TestDeps$$' . -update

ci: ## what CI runs, in its order
	bash .ci/run
