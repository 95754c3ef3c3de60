## make test          all tests (unit, command line, golden); ends with "N passed, N failed"
##                      T="name name" runs only those; SAN=address,undefined runs them under
##                      sanitizers
.PHONY: test test-run setup
test: setup
	@$(MAKE) --no-print-directory $(PARALLEL) test-run
KILLER := $(O)/test/killed.so $(O)/test/traced.so $(O)/test/faults/inject.so
# T= builds only what the tests that it names use: a unit test is its own program; the emulated
# device, and the unit tests that run on it, are for the scripts that name its folder.
T_CLI := $(wildcard $(if $(T),$(patsubst %,test/cli/%.sh,$(T:cli/%=%)) \
    $(patsubst %,test/users/%.sh,$(T:users/%=%)),test/cli/*.sh test/users/*.sh))
T_CUDA := $(if $(T_CLI),$(shell grep -l 'test/cuda' $(T_CLI)))
T_UNITS := $(if $(T),$(if $(T_CUDA),$(UNITS),$(filter $(T:unit/%=%),$(UNITS))),$(UNITS))
test-run: $(T_UNITS:%=$(O)/test/unit/%) $(if $(T_CLI),cli-parts) \
    $(if $(T_CUDA),$(EMULATED) $(EMULATED_NCCL) $(addprefix $(O)/test/,cuda/planted bench/ops \
    bench/step)) $(if $(filter %/cuda-races.sh,$(T_CUDA)),$(EMULATED_RACES))
	@BUILD_WITH='O=$(O) CC=$(CC) SAN=$(SAN) DEBUG=$(DEBUG) XCFLAGS=$(XCFLAGS)' \
	    test/run --bin $(O)/bin --unit $(O)/test/unit $(T)

## make quick         the unit tests and the command-line tests that take seconds: about a minute on
##                      two cores, once everything is built
.PHONY: quick
QUICK := $(addprefix unit/,$(filter-out ops,$(UNITS))) $(addprefix cli/,arrows back batches \
    binarize bleu bleu-sets bounds bpe build cases code-switch columns continue-xlmr durable \
    example faults-terminal gc man mass objects predict quality raw resume score subwords symbols \
    tokenize tour tree whole)
quick: setup
	@$(MAKE) --no-print-directory $(PARALLEL) test-run T='$(QUICK)'

## make test-units    the unit tests alone (CC=clang: built by clang)
.PHONY: test-units
test-units: programs $(UNIT_BINS)
	@test/run --bin $(O)/bin --unit $(O)/test/unit $(UNITS:%=unit/%)

# test/tool/X.c is a program that tests in test/cli use.
TOOLS := $(patsubst test/tool/%.c,%,$(wildcard test/tool/*.c))
$(TOOLS:%=$(O)/test/tool/%): %: %.o $(EVERY_AR)
	$(CC) $(LD_FLAGS) -o $@ $< $(WITH_ALL)

# all that a test of test/cli may use, but the emulated device; MPI's side where mpicc is, but not
# under sanitizers, which it was not written for
.PHONY: cli-parts
cli-parts: $(BINS) $(if $(SAN),,$(if $(MPICC),$(MPI_LIB))) $(TOOLS:%=$(O)/test/tool/%) $(KILLER)

## make mutants       plants each mistake of test/mutants in a copy and runs the test that must see
##                      it; ends with "N passed, N failed"; M="word word" only those about a word;
##                      CHANGED=1 those of files that differ from main's (REV: from REV's);
##                      FIXED=1 the ones of .ci/run; LIST=1 only lists them; RANDOM=50 SEED=1
##                      plants so many that are drawn instead (IN=lib/bpe: from there;
##                      PLAIN=1: without the slowest tests and the sanitizers)
.PHONY: mutants
# those that drawn mistakes meet where they reach them, but the emulated device's and whole recipes
REACHING := $(UNITS:%=unit/%) $(filter-out $(addprefix cli/,arrows columns cuda% debian docs \
    faults-r% large% newcomer% pipeline-% ranks-faults ranks-nccl rehearse-% runner slurm-% \
    symbols tree), $(patsubst test/%.sh,%,$(filter-out %/lib.sh,$(wildcard test/cli/*.sh))))
mutants: setup
	@TESTS='$(or $(TESTS),$(REACHING))' test/mutants/run $(if $(LIST),--list) \
	    $(if $(FIXED),--fixed) $(if $(CHANGED),--changed $(CHANGED)) \
	    $(if $(RANDOM),--drawn $(RANDOM) $(or $(SEED),1) \
	    $(if $(IN),--in $(IN)) $(if $(PLAIN),--plain)) $(M)

# what tests preload into a program (restart.sh; durable.sh; faults-*.sh); no sanitizer of its own
$(KILLER): $(O)/test/%.so: test/%.c
	@mkdir -p $(@D)
	$(CC) -std=gnu11 -O1 -U_FORTIFY_SOURCE -D_GNU_SOURCE $(WARN) -shared -fPIC -o $@ $< -ldl

## make faults        a fault at every system call and allocation of a small command of every
##                      program in turn (test/faults/run); F="pretrain ckpt-average" those commands,
##                      PART=3/10 every tenth point
.PHONY: faults
faults: $(BINS) $(KILLER)
	@test/faults/run --bin $(O)/bin $(if $(PART),--part $(PART)) $(F)

## make soak HOURS=1  the same commands in loops for so long, disturbed at random: faults, a full
##                      disk, kill -9, little memory, a clock set back or ahead; bytes compared (F=
##                      as above). May be stopped and continued: build/soak.tsv adds up
##                      (make soak-tally)
.PHONY: soak soak-tally
HOURS ?= 1
SOAK := build/soak.tsv
soak: $(BINS) $(KILLER)
	@status=0; test/faults/run --bin $(O)/bin --report $(SOAK) \
	    --soak $$(awk -v h=$(HOURS) 'BEGIN { print int(h * 3600) }') $(F) || status=1; \
	    test/faults/tally $(SOAK) || status=1; exit $$status
soak-tally:
	@test/faults/tally $(SOAK)

## make flips         each bit of each byte of small files of every checked format flipped
##                      (test/cli/flips.sh)
.PHONY: flips
flips: cli-parts
	@d=$$(mktemp -d) && cd $$d && \
	    FLIPS=all BIN='$(abspath $(O)/bin)' TOP='$(CURDIR)' bash '$(CURDIR)/test/cli/flips.sh'; \
	    status=$$?; rm -rf "$$d"; exit $$status

## make cross        text and counting tools for aarch64 (ARCH=s390x: another), run by qemu:
##                      the same bytes as here; the kernels for AVX-512 and AMX on any x86-64
.PHONY: cross
cross:
	@test/cross/run $(ARCH)

## make tsan          programs that work on several threads, under ThreadSanitizer (test/tsan);
##                      CC=clang too
TSAN := synth-corpus tokenize bpe-learn bpe-apply vocab-count cooc-count binarize pretrain \
    finetune translate
.PHONY: tsan tsan-run
tsan: setup
	@$(MAKE) --no-print-directory $(PARALLEL) SAN=thread tsan-run
tsan-run: $(addprefix $(O)/bin/,$(TSAN)) $(O)/test/unit/ranks $(O)/test/unit/tcp
	@test/tsan $(O)/bin $(CC)

## make setup         installs missing packages (apt, dnf, apk, pacman; as root or with sudo), or
##                      prints the line that does
setup:
	@test/setup

## make fuzz          every fuzz target for SECONDS=15; make fuzz/X runs one (clang's libFuzzer);
##                      SEED=1 makes a run repeatable
# test/fuzz/X.c has LLVMFuzzerTestOneInput. test/fuzz/X.seed, if it exists, is a shell script that
# writes first inputs into the folder it is given, with the programs in $BIN.
# They are built under their own flags in an object folder of their own; what was found stays in
# build/fuzz/X. test/fuzz/build.sh builds them for OSS-Fuzz, with these two.
FUZZ := $(patsubst test/fuzz/%.c,%,$(wildcard test/fuzz/*.c))
SECONDS ?= 15
FUZZ_FLAGS := -DFUZZING_BUILD_MODE_UNSAFE_FOR_PRODUCTION -fsanitize=fuzzer-no-link \
    -fno-sanitize-recover=undefined
.PHONY: fuzz $(FUZZ:%=fuzz/%) fuzz-objects print-fuzz-libs
fuzz-objects: $(FUZZ:%=$(O)/test/fuzz/%.o) $(EVERY_AR)
print-fuzz-libs:
	@echo '$(WITH_ALL)'
fuzz: $(FUZZ:%=fuzz/%)
ifdef FUZZING
$(FUZZ:%=$(O)/test/fuzz/%): %: %.o $(EVERY_AR)
	$(CC) $(LD_FLAGS) -fsanitize=fuzzer -o $@ $< $(WITH_ALL)
$(FUZZ:%=fuzz/%): fuzz/%: $(O)/test/fuzz/%
	@test/fuzz/run $* $< '$(SEED_BIN)' $(SECONDS)
$(FUZZ:%=fuzz-coverage/%): fuzz-coverage/%: $(O)/test/fuzz/%
	@test/fuzz/coverage $* $< build/fuzz/corpus/$*
else
$(FUZZ:%=fuzz/%): fuzz/%: programs
	@$(MAKE) --no-print-directory $(PARALLEL) FUZZING=1 SEED_BIN='$(abspath $(O)/bin)' \
	    CC=clang SAN=address,undefined O=build/fuzz XCFLAGS='$(FUZZ_FLAGS)' fuzz/$*

## make fuzz-coverage the same, then how many lines of each reader the inputs reached
##                      (fuzz-coverage/X: of one)
COVERAGE := -fprofile-instr-generate -fcoverage-mapping
.PHONY: fuzz-coverage $(FUZZ:%=fuzz-coverage/%)
fuzz-coverage: $(FUZZ:%=fuzz-coverage/%)
$(FUZZ:%=fuzz-coverage/%): fuzz-coverage/%: fuzz/%
	@$(MAKE) --no-print-directory $(PARALLEL) FUZZING=1 CC=clang SAN= O=build/fuzz-coverage \
	    XCFLAGS='-DFUZZING_BUILD_MODE_UNSAFE_FOR_PRODUCTION $(COVERAGE)' \
	    XLDFLAGS='$(COVERAGE)' fuzz-coverage/$*
endif

## make fuzz-tally    inputs tried so far by target, over all runs; edges, features and files of the
##                      last one
.PHONY: fuzz-tally
fuzz-tally:
	@awk -F'\t' '{ if (!($$1 in n)) name[++k] = $$1; n[$$1] += $$2; \
	        last[$$1] = $$3 FS $$4 FS $$5; all += $$2 } \
	    END { for (i = 1; i <= k; i++) print name[i] FS n[name[i]] FS last[name[i]]; \
	        print "all" FS all }' \
	    OFS='\t' build/fuzz/corpus/tally.tsv

## make bench/X       benchmark X (test/bench/X.sh): ours and the peer's, same input, one run
BENCHES := $(patsubst test/bench/%.sh,bench/%,$(wildcard test/bench/*.sh))
# test/bench/X.c is a program that the benchmark X uses.
BENCH_C := $(patsubst test/bench/%.c,%,$(wildcard test/bench/*.c))
$(BENCH_C:%=$(O)/test/bench/%): %: %.o $(EVERY_AR)
	$(CC) $(LD_FLAGS) -o $@ $< $(WITH_ALL)
$(foreach b,$(BENCH_C),$(eval bench/$b: $(O)/test/bench/$b))
bench/binarize bench/start: $(O)/test/bench/timed
.PHONY: $(BENCHES)
$(BENCHES): bench/%: programs
	@BIN='$(abspath $(O)/bin)' TOP='$(CURDIR)' bash test/bench/$*.sh

# What test/gpu/run.sh runs besides the programs; it and pack.sh ask where things are built.
.PHONY: gpu-tests print-O
gpu-tests: $(addprefix $(O)/test/unit/,ops search golden decode ranks_self) \
    $(addprefix $(O)/test/bench/,ops step)
print-O:
	@echo '$(O)'

## make test-peers    compares the programs' output with their peers' (test/peers/*.sh say which
##                      variables name them)
.PHONY: test-peers
test-peers: programs
	@status=0; for s in $(filter-out %_golden.sh,$(wildcard test/peers/*.sh)); do echo "== $$s"; \
	    BIN='$(abspath $(O)/bin)' bash $$s || status=1; done; exit $$status
