# isoglot: the front door. `make help` lists what it does.
#   O=DIR   builds there instead of build/, programs in O/bin; only a whole build without O= links
#           bin/
#   CC=clang, SAN=address,undefined (or thread), DEBUG=1 each have an object folder of their own.
#   CFLAGS, CPPFLAGS, CXXFLAGS, LDFLAGS are added to ours, behind them.
MAKEFLAGS += --no-builtin-rules
.SUFFIXES:
.DELETE_ON_ERROR:
.DEFAULT_GOAL := all
SHELL := /bin/bash
# Where a comma is the decimal sign, awk reads 2.5 as 2; `cd test` goes by CDPATH first, and
# POSIXLY_CORRECT gives bash another grammar.
export LC_ALL := C.UTF-8
unexport CDPATH POSIXLY_CORRECT

VERSION := 1.0
CC := gcc
SAN :=
DEBUG :=
# as many jobs as cores for a build that somebody started without -j
PARALLEL = $(if $(findstring jobserver,$(MAKEFLAGS)),,-j$(shell nproc))
comma := ,
O := build/$(CC)$(if $(SAN),-$(firstword $(subst $(comma), ,$(SAN))))$(if $(DEBUG),-debug)

SHADOW := $(if $(findstring clang,$(CC)),-Wshadow,-Wshadow=local)
WARN := -Wall -Wextra -Wno-missing-field-initializers $(SHADOW) \
    -Wstrict-prototypes -Wmissing-prototypes -Wpointer-arith
OPT := $(if $(DEBUG),-O1,-O2)
SANITIZE := $(if $(SAN),-fsanitize=$(SAN))
# Hardening, measured to cost less than 1% (docs/lab/bench/start.md); sanitizers and fuzzers have
# checks of their own. Level 3 of _FORTIFY_SOURCE where the compiler knows sizes at run time; none
# where CFLAGS or CPPFLAGS name one.
FORTIFY := $(if $(filter 1,$(shell echo '__has_builtin(__builtin_dynamic_object_size)' | \
    $(CC) -E -P - 2>/dev/null)),3,2)
HARDEN := $(if $(SAN)$(FUZZING),,-fstack-protector-strong -fPIE \
    $(if $(findstring FORTIFY_SOURCE,$(CFLAGS)$(CPPFLAGS)$(XCFLAGS)),,\
    -U_FORTIFY_SOURCE -D_FORTIFY_SOURCE=$(FORTIFY)))
RELRO := -Wl,-z,relro,-z,now
HARDEN_LD := $(if $(SAN)$(FUZZING),,$(if $(findstring -static,$(LDFLAGS)),,-pie) $(RELRO))
C_FLAGS = -std=gnu11 -g $(OPT) -fno-math-errno -ffp-contract=off -fno-strict-aliasing -pthread \
    $(WARN) $(HARDEN) $(SANITIZE) $(if $(SAN),-fno-omit-frame-pointer) $(XCFLAGS) $(CFLAGS)
CPP_FLAGS = -I. -I$(O) -D_GNU_SOURCE -DISOGLOT_VERSION='"$(VERSION)"' $(BLAS_INC) $(CPPFLAGS)
LD_FLAGS = -pthread $(HARDEN_LD) $(SANITIZE) -Wl,--as-needed $(XLDFLAGS) $(LDFLAGS)
BLAS_INC := $(addprefix -I,$(firstword $(wildcard /usr/include/*-linux-gnu/openblas-openmp \
    /usr/include/openblas)))
BLAS_LIB := -lopenblas

# --- libraries: one archive a folder -----------------------------------------
# common/json is apart because it needs cJSON: programs that only handle text link without it.
COMMON := common/prog common/text common/files common
LIB_DIRS := $(patsubst %/,%,$(wildcard lib/*/)) kernels/linalg kernels/int8 kernels/cpu
ARCHIVES := $(COMMON) common/json $(LIB_DIRS)
obj_of   = $(patsubst %.c,$(O)/%.o,$(wildcard $1/*.c))
ar_of    = $(O)/lib$(subst /,-,$1).a
# The members are a stamp like the flags: a source file that came or went makes the archives anew.
MEMBERS := $(foreach a,$(ARCHIVES),$(call obj_of,$a))
# $(call stamp,FILE,TEXT): writes TEXT into FILE where it says something else, while make reads this
stamp = $(shell mkdir -p $(O); printf '%s\n' '$2' | cmp -s - $1 || printf '%s\n' '$2' > $1)
$(call stamp,$(O)/members,$(MEMBERS))
define archive
$(call ar_of,$1): $(call obj_of,$1) $(O)/flags $(O)/members
	@rm -f $$@; ar rcsD $$@ $(call obj_of,$1)
endef
$(foreach a,$(ARCHIVES),$(eval $(call archive,$a)))

# --- programs: name, our archives (in link order), system libraries ------------
# A program links only what it uses.
BASE := -lzstd -lz -lxxhash
MATH := -lm
include programs.mk
define program
$(O)/bin/$1: $(O)/cmd/$1.o $(foreach a,$(A_$1),$(call ar_of,$a)) $(O)/flags
	@mkdir -p $$(@D)
	$(CC) $(LD_FLAGS) -o $$@ $(O)/cmd/$1.o \
	    -Wl,--start-group $(foreach a,$(A_$1),$(call ar_of,$a)) -Wl,--end-group $(L_$1)
endef
$(foreach p,$(PROGRAMS),$(eval $(call program,$p)))
BINS := $(addprefix $(O)/bin/,$(PROGRAMS))

# --- the CUDA side: a shared object that the programs open at run time (kernels/cpu/open.c) -------
## make cuda          libisoglot-cuda.so, the GPU's side of the programs; NVCC=path (plain `make`
##                      builds it where nvcc is found)
NVCC := $(firstword $(shell command -v nvcc) $(wildcard /usr/local/cuda/bin/nvcc))
CUDA_SRC := $(wildcard kernels/cuda/*.cu kernels/cuda/attention/*.cu)
CUDA_OBJ := $(CUDA_SRC:%.cu=$(O)/%.o)
CUDA_LIB := $(O)/lib/isoglot/libisoglot-cuda.so
CUDA_SM := $(if $(findstring release 12,$(if $(NVCC),$(shell $(NVCC) --version))),80,80 100 120)
CUDA_ARCH := $(foreach sm,$(CUDA_SM),-gencode arch=compute_$(sm),code=sm_$(sm)) \
    -gencode arch=compute_90,code=[sm_90,compute_90]
CUDA_FLAGS = -std=c++17 -O3 $(CUDA_ARCH) -I. \
    -Xcompiler -fPIC,-fvisibility=hidden,-Wall,-Wextra,-Wno-missing-field-initializers
cuda: $(CUDA_LIB)
$(CUDA_LIB): $(CUDA_OBJ)
	@mkdir -p $(@D)
	$(NVCC) -shared -cudart static -Xcompiler -static-libstdc++,-static-libgcc \
	    -o $@ $(CUDA_OBJ) -ldl -lpthread -lrt
$(CUDA_OBJ): $(O)/%.o: %.cu $(O)/cuda-flags
	@mkdir -p $(@D)
	@[ -n '$(NVCC)' ] || { echo 'make: there is no nvcc here; install the CUDA toolkit' \
	    '(13 or later) or pass NVCC=path' >&2; exit 1; }
	$(NVCC) $(CUDA_FLAGS) -MMD -MP -MF $(O)/$*.d -c -o $@ $<
$(call stamp,$(O)/cuda-flags,$(NVCC) $(CUDA_FLAGS))

# --- the MPI side: messages between the ranks of a run, opened at run time (lib/ranks/launch.c) ---
## make mpi           libisoglot-mpi.so, for mpirun and srun; MPICC=path (plain `make` builds it
##                      where mpicc is found)
MPICC := $(firstword $(shell command -v mpicc))
MPI_LIB := $(O)/lib/isoglot/libisoglot-mpi.so
mpi: $(MPI_LIB)
$(MPI_LIB): lib/ranks/mpi/mpi.c lib/ranks/transport.h $(O)/flags
	@mkdir -p $(@D)
	@[ -n '$(MPICC)' ] || { exec >&2; echo 'make: there is no mpicc here;' \
	    'install Open MPI (libopenmpi-dev) or pass MPICC=path'; exit 1; }
	OMPI_CC='$(CC)' MPICH_CC='$(CC)' $(MPICC) $(CPP_FLAGS) $(C_FLAGS) -fPIC -fvisibility=hidden \
	    -shared $(RELRO) -o $@ $<

# --- NCCL: messages between the GPUs of ranks, opened at run time too (lib/ranks/device.c) ---
## make nccl          libisoglot-nccl.so, for ranks with a GPU each; NVCC=path, NCCL=folder of
##                      include/nccl.h and lib/libnccl.so (plain `make` builds it where both are)
NCCL := $(patsubst %/include/nccl.h,%,$(firstword $(wildcard \
    $(addsuffix /include/nccl.h,$(NVCC:%/bin/nvcc=%) /usr /usr/local))))
NCCL_LIB := $(O)/lib/isoglot/libisoglot-nccl.so
nccl: $(NCCL_LIB)
$(NCCL_LIB): lib/ranks/nccl/nccl.cu lib/ranks/device.h $(O)/cuda-flags
	@mkdir -p $(@D)
	@[ -n '$(NVCC)' ] && [ -n '$(NCCL)' ] || { exec >&2; echo 'make: there is no nvcc, or no' \
	    'nccl.h, here; install NCCL (libnccl-dev) or pass NCCL=folder'; exit 1; }
	$(NVCC) $(CUDA_FLAGS) -I$(NCCL)/include -shared -cudart static \
	    -Xcompiler -static-libstdc++,-static-libgcc -o $@ $< \
	    $(patsubst %,-L%,$(wildcard $(NCCL)/lib $(NCCL)/lib64)) -lnccl -ldl -lpthread -lrt

# The same sources as plain C++ against test/cuda, every thread a fibre: for tests on machines
# without a GPU.
EMULATED := $(O)/test/cuda/libisoglot-cuda.so
EMULATION := $(O)/test/cuda/emulate.o $(O)/test/cuda/races.o $(O)/test/cuda/streams.o
EMULATED_NCCL := $(O)/test/cuda/libisoglot-nccl.so
EMULATED_OBJ := $(CUDA_SRC:%.cu=$(O)/test/cuda/%.o) $(EMULATION)
# Without a sanitizer of one's own: vectors that are not aligned end the program, and in a library
# of its own accesses go to test/cuda/races.cc, calls that a quarter of the time would go into.
EMULATED_ALIGNED := $(if $(SAN),,-fsanitize=alignment -fsanitize-undefined-trap-on-error)
EMULATED_CHECKS := $(if $(SAN),,$(EMULATED_ALIGNED) -fsanitize=thread)
EMULATED_RACES := $(if $(SAN),,$(O)/test/cuda/libisoglot-cuda-races.so)
CXX_FLAGS = -std=c++17 -g -O2 -fPIC -fvisibility=default -fno-exceptions -fno-rtti \
    -fno-threadsafe-statics -fno-strict-aliasing -ffp-contract=off -pthread \
    -Wall -Wextra -Wno-missing-field-initializers -Wno-unknown-pragmas $(SANITIZE) \
    $(if $(SAN),-fno-omit-frame-pointer) $(XCFLAGS) $(CXXFLAGS)
$(EMULATED): $(EMULATED_OBJ)
$(EMULATED_RACES): $(CUDA_SRC:%.cu=$(O)/test/cuda/races/%.o) $(EMULATION)
$(EMULATED) $(EMULATED_RACES):
	$(CC) -shared $(if $(SAN),-fsanitize=$(SAN)) -Wl,-Bsymbolic-functions -pthread -o $@ \
	    $(filter %.o,$^) -ldl -lm
$(O)/test/cuda/%.o: %.cu $(O)/flags $(O)/emulated-flags
	@mkdir -p $(@D)
	$(CC) -x c++ $(CXX_FLAGS) $(EMULATED_ALIGNED) -Itest/cuda -I. -MMD -MP -c -o $@ $<
$(O)/test/cuda/races/%.o: %.cu $(O)/flags $(O)/emulated-flags
	@mkdir -p $(@D)
	$(CC) -x c++ $(CXX_FLAGS) $(EMULATED_CHECKS) -Itest/cuda -I. -MMD -MP -c -o $@ $<
$(call stamp,$(O)/emulated-flags,$(CC) $(CXX_FLAGS) $(EMULATED_ALIGNED) $(EMULATED_CHECKS))
$(EMULATED_NCCL): $(O)/test/cuda/lib/ranks/nccl/nccl.o $(O)/test/cuda/nccl.o $(EMULATED)
	$(CC) -shared $(if $(SAN),-fsanitize=$(SAN)) -pthread -o $@ $(filter %.o,$^) \
	    -L$(@D) -l:libisoglot-cuda.so -Wl,-rpath,'$$ORIGIN'
$(O)/test/cuda/planted: test/cuda/planted.cc $(EMULATION)
	$(CC) $(CXX_FLAGS) $(EMULATED_CHECKS) -Itest/cuda -c -o $@.o $<
	$(CC) $(if $(SAN),-fsanitize=$(SAN)) -pthread -o $@ $@.o $(EMULATION) -ldl -lm
$(O)/test/cuda/%.o: test/cuda/%.cc $(O)/flags
	@mkdir -p $(@D)
	$(CC) $(CXX_FLAGS) -O3 $(if $(SAN),,-DEMULATE_RACES) -Itest/cuda -MMD -MP -c -o $@ $<

.PHONY: all programs cuda mpi nccl clean help
all: programs $(if $(NVCC),cuda $(if $(NCCL),nccl))
# bin/ is for people: a whole build links it to its programs, unless it is said where these go (O=)
# or they are checking ones. A build of one program only makes it where it is missing.
LINK_BIN := $(if $(filter file,$(origin O)),$(if $(SAN)$(DEBUG),,ln -sfn $(O)/bin bin))
link_bin = { [ -d bin ] && [ ! -L bin ] || { $(or $(LINK_BIN),:); }; }
programs: $(BINS) $(if $(MPICC),$(MPI_LIB))
	@$(link_bin)

bin/%: $(O)/bin/%
	@[ -e bin ] || { $(or $(LINK_BIN),:); }

$(O)/%.o: %.c $(O)/flags
	@mkdir -p $(@D)
	$(CC) $(CPP_FLAGS) $(C_FLAGS) $(CFLAGS_$*) -MMD -MP -c -o $@ $<

# Loops over ids that compilers turn into vectors only when asked.
CFLAGS_common/text/shard_write := -O3
CFLAGS_common/json/safetensors := -O3
# Loops that are compiled for several instruction sets and chosen at start (kernels/linalg/simd.h).
SIMD := -O3 -fopenmp-simd -ffp-contract=fast -fno-trapping-math
CFLAGS_kernels/linalg/simd_base := $(SIMD)
CFLAGS_kernels/int8/int8_base := -O3
ifneq ($(findstring x86_64,$(shell $(CC) -dumpmachine)),)
CFLAGS_kernels/linalg/simd_avx2 := $(SIMD) -mavx2 -mfma
CFLAGS_kernels/linalg/simd_avx512 := $(SIMD) -mavx2 -mfma -mavx512f -mavx512bw -mavx512dq \
    -mavx512vl -mprefer-vector-width=512
CFLAGS_kernels/linalg/sgemm_avx512 := -O3 -mavx2 -mfma -mavx512f
CFLAGS_kernels/int8/dot8_avx2 := -O3 -mavx2 -mfma -mavxvnni
CFLAGS_kernels/int8/int8_avx2 := -O3 -mavx2
CFLAGS_kernels/int8/int8_vnni := -O3 -mavx2 -mavxvnni
CFLAGS_kernels/int8/int8_avx512 := -O3 -mavx2 -mavx512f -mavx512bw -mavx512dq \
    -mavx512vl -mavx512vnni
CFLAGS_kernels/int8/int8_amx := $(CFLAGS_kernels/int8/int8_avx512) -mamx-tile -mamx-int8
CFLAGS_kernels/linalg/bf16_amx := -O3 -mavx2 -mfma -mavx512f -mavx512bw -mavx512vl -mavx512bf16 \
    -mamx-tile -mamx-bf16
CFLAGS_kernels/int8/dot8_amx := -O3 -mavx2 -mfma -mavx512f -mamx-tile -mamx-int8
CFLAGS_kernels/int8/dot8_avx512 := -O3 -mavx2 -mfma -mavx512f -mavx512bw -mavx512dq \
    -mavx512vl -mavx512vnni
endif
ifneq ($(findstring aarch64,$(shell $(CC) -dumpmachine)),)
CFLAGS_kernels/int8/int8_neon := -O3
CFLAGS_kernels/int8/int8_sdot := -O3 -march=armv8.2-a+dotprod
CFLAGS_kernels/int8/dot8_sdot := -O3 -march=armv8.2-a+dotprod
endif
# No fuzz target multiplies, and clang takes minutes to instrument unrolled tiles.
ifdef FUZZING
$(foreach k,int8/int8 int8/dot8 linalg/simd,$(foreach s,base avx2 vnni avx512 amx,\
    $(eval CFLAGS_kernels/$k_$s += -O0 -fno-sanitize=all)))
CFLAGS_kernels/linalg/sgemm_avx512 += -O0 -fno-sanitize=all
CFLAGS_kernels/linalg/bf16_amx += -O0 -fno-sanitize=all
endif

# Sums of gradients: loops over floats and no more.
CFLAGS_lib/ranks/tree := -O3

# A stamp of the flags: objects are rebuilt when they change. Written while make reads this, so that
# `make -q` can say no.
FLAGS := $(CC) $(CPP_FLAGS) $(C_FLAGS) $(CXXFLAGS) $(LD_FLAGS)
$(call stamp,$(O)/flags,$(FLAGS))
.SECONDARY:

# --- tests -----------------------------------------------------------------
# test/unit/X.c is a cmocka program; test/cli/X.sh is a shell test (see test/cli/lib.sh), and so is
# test/users/X.sh, the whole way of somebody who comes with text. test/run runs all kinds. Test
# programs, fuzz targets and benchmarks link with everything; the linker takes what they need.
UNITS := $(patsubst test/unit/%.c,%,$(wildcard test/unit/*.c))
EVERY_AR := $(foreach a,$(ARCHIVES),$(call ar_of,$a))
WITH_ALL = -Wl,--start-group $(EVERY_AR) -Wl,--end-group $(ICU) -lpcre2-8 $(BLAS_LIB) \
    $(JSON) $(BASE) -ldl $(MATH)
$(UNITS:%=$(O)/test/unit/%): %: %.o $(EVERY_AR)
	$(CC) $(LD_FLAGS) -o $@ $< $(WITH_ALL) -lcmocka
UNIT_BINS := $(UNITS:%=$(O)/test/unit/%)

-include $(wildcard $(O)/*/*.d $(O)/*/*/*.d $(O)/*/*/*/*.d $(O)/*/*/*/*/*.d \
    $(O)/*/*/*/*/*/*.d $(O)/*/*/*/*/*/*/*.d)
-include pipelines/rules.mk test/test.mk install/install.mk

## make dist          build/isoglot-VERSION.tar.gz of the commit that is checked out, the same bytes
##                      each time, and its SHA-256 beside it; DIST=folder: there
DIST := build
TARBALL = isoglot-$(VERSION).tar.gz
.PHONY: dist
dist:
	@[ -e .git ] || { echo 'make: dist needs the git checkout, and this is none' >&2; exit 1; }
	@git diff --quiet HEAD || echo 'make: dist: what is not committed is left out' >&2
	@mkdir -p '$(DIST)' && set -o pipefail && cd '$(DIST)' && trap 'rm -f $(TARBALL).tmp' EXIT && \
	    git -C '$(CURDIR)' -c tar.umask=0022 archive --format=tar --prefix=isoglot-$(VERSION)/ HEAD | \
	    gzip -9n > $(TARBALL).tmp && mv $(TARBALL).tmp $(TARBALL) && \
	    sha256sum $(TARBALL) > $(TARBALL).sha256 && cat $(TARBALL).sha256

## make deb           Debian's packages (isoglot, libisoglot-dev) of the commit that is checked out,
##                      into build/deb: dpkg-buildpackage on install/debian, lintian where it is
DEB = build/deb/isoglot-$(VERSION)
.PHONY: deb deb-source
deb: deb-source
	@command -v dpkg-buildpackage > /dev/null || { echo 'make: deb needs Debian and its packages' \
	    'build-essential and debhelper' >&2; exit 1; }
	@cd $(DEB) && env -u MAKEFLAGS -u MFLAGS -u MAKELEVEL dpkg-buildpackage -us -uc $(DEB_FLAGS)
	@! command -v lintian > /dev/null || lintian --fail-on error build/deb/*.changes
	@ls build/deb/*.deb
deb-source:
	@rm -rf build/deb && $(MAKE) -s --no-print-directory dist DIST=build/deb > /dev/null
	@cd build/deb && tar -xzf $(TARBALL) && mv $(TARBALL) isoglot_$(VERSION).orig.tar.gz && \
	    rm $(TARBALL).sha256
	@cp -R $(DEB)/install/debian $(DEB)/debian
	@date=$$(git log -1 --format=%cD) && \
	    sed -i "s/@VERSION@/$(VERSION)/; s/@DATE@/$$date/" $(DEB)/debian/changelog

clean:
	rm -rf build bin

help:
	@sed -n 's/^## //p' Makefile pipelines/rules.mk test/test.mk install/install.mk
