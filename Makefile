# Open MPI is compiled in when an mpicc of Open MPI and a C compiler are on PATH: another installation is
# chosen by PATH (or `module load`), and MPI=0 leaves it out.

.DEFAULT_GOAL := build
.PHONY: help build setup run run-built test test-long check unit race test-nocgo test-ring test-mpi fuzz bench bench-kernels bench-training bench-peers generate generate-check cover golden clean

OPENMPI := $(shell MPI=$(MPI) scripts/openmpi)
ifeq ($(.SHELLSTATUS),0)
TAGS := mpi
BACKEND := mpi
WITH := with
MPI_CFLAGS := $(shell mpicc --showme:compile)
MPI_LDFLAGS := $(shell mpicc --showme:link)
# A make that this one starts inherits the flags and must not add them again.
ifeq (,$(findstring $(MPI_CFLAGS),$(CGO_CFLAGS)))
export CGO_CFLAGS := $(or $(CGO_CFLAGS),-g -O2) $(MPI_CFLAGS)
export CGO_LDFLAGS := $(or $(CGO_LDFLAGS),-g -O2) $(MPI_LDFLAGS)
endif
else
BACKEND := ring
WITH := without
endif
export MPI

help: ## this list
	@sed -nE 's/^([a-z-]+):.*## (.*)/\1\t\2/p' $(MAKEFILE_LIST) | expand -t 14

build: ## the programs of jobs/ here at the root (default)
	@echo "building $(WITH) Open MPI: $(OPENMPI)"
	@go build -buildvcs=false -tags '$(TAGS)' -o ./ ./jobs/...

setup: ## install the packages of Open MPI, Slurm and sshd where that is possible (root, apt-get)
	@scripts/setup

run: ## train the default model on two ranks, after setup and build
	@scripts/setup mpi
	@$(MAKE) --no-print-directory run-built

run-built: build
	@echo "running on the backend $(BACKEND), because: $(OPENMPI)"
	./launch -n 2 --backend $(BACKEND) ./train -steps $(STEPS)

STEPS := 300

test: ## every test: check, unit, race, test-ring, test-mpi, and in pure Go what differs there (as root it installs Slurm and sshd)
	@scripts/setup slurm ssh
	@scripts/test check unit race pure ring mpi

test-long: ## the same on up to 8 ranks, Open MPI's tests as a Slurm job and with cgo's strictest checks, long trainings, 20,000 collectives and fuzzing
	@scripts/setup slurm ssh
	@RANKS="1 2 3 4 5 8" FUZZTIME=30s scripts/test check unit race nocgo ring mpi cgocheck slurm long fuzz

check: ## gofmt, go vet (also for arm64 without cgo), go fix, go mod tidy, staticcheck
	@scripts/test check

unit: ## go test of all packages
	@scripts/test unit

race: ## the race detector over the packages with goroutines
	@scripts/test race

test-nocgo: ## all packages in pure Go (CGO_ENABLED=0)
	@scripts/test nocgo

N := 4
test-ring: ## N=4: the ring's tests as N processes under ./launch
	@RANKS=$(N) scripts/test ring

test-mpi: ## N=4: Open MPI's tests as N processes under mpirun
	@RANKS=$(N) scripts/test mpi

fuzz: ## ten seconds for each fuzz target (FUZZTIME=10s)
	@scripts/test fuzz

bench: ## the Go benchmarks
	go test -tags '$(TAGS)' -run '^$$' -bench . -benchmem ./...

bench-training: ## training steps by turns with torch, and the engine beside its kernels (TRAINING="-rounds 9 -write docs/performance.md")
	go run ./benchmarks/training $(TRAINING)

bench-kernels: ## the array kernels by turns with C and OpenBLAS (KERNELS="-rounds 15 -write docs/performance.md")
	go run ./benchmarks/kernels $(KERNELS)

generate: ## write the assembly of internal/kernel and docs/environment.md anew
	scripts/generate

generate-check: ## whether that would change it
	scripts/generate -check

bench-peers: build ## collectives by turns with Open MPI, Gloo and the limits in C (PEERS="-rounds 5 -write docs/performance.md")
	go run -tags '$(TAGS)' ./benchmarks/peers $(PEERS)

cover: ## statement coverage by package
	@go test -tags '$(TAGS)' -cover ./...

golden: ## rewrite the golden files; look at the diff before committing it
	go test $$(grep -rl --include='*_test.go' 'flag.Bool("update"' . | xargs -r -n1 dirname | sort -u) -run 'Golden|Pictures' -update

clean: ## remove the built programs and cached test results
	go clean -testcache
	rm -f bench doctor generate hello launch train
