# Experiments, from the front door. This file knows which experiments and settings there are; a second make
# (pipelines/conductor.mk), started under the run folder's lock, knows their stages. pipelines/README.md is the manual.
#   X: demo, unmt-deen, mt-deen, analysis-deen, analysis-demo
## make pipeline/X    runs experiment X, or what is left of it (X: demo unmt-deen mt-deen analysis-deen analysis-demo); settings:
##                      SCALE=smoke|mini|paper  SEEDS="1 2 3"  RUN=name (a folder in runs/)  DEVICE=auto|cpu|cuda
##                      BUDGET=seconds (stop by then; the same command goes on)  PROGRESS=seconds (say how far it is, and make report/X, so often)
##                      AGAIN="stage pattern*"  CORPUS_CACHE=folder (data already here)  LAUNCH_CPU=, LAUNCH_GPU="srun -G 1" (before a stage's command)
## make fetch/X       only gets its data (compute nodes may have no network)
## make plan/X        its stages, disk, memory and hours, without running anything
## make why/X         what is to do and why: which command, program or input changed
## make progress/X    how many stages are done, and how far the trainings are
## make report/X      table.txt and report.html of what there is so far; both, logs, curves and times in runs/RUN.tar.gz (REPORT=file), a few hundred KB:
##                      unpacked in runs/ elsewhere, table/X, check/X, reference/X and report/X work on it
## make table/X       its results: mean over seeds, 95% interval, paired test
## make check/X       is the run on track? compares it with the reference curves at 5, 10 and 25% of its steps
EXPERIMENTS := $(patsubst pipelines/%.mk,%,$(filter-out pipelines/rules.mk pipelines/conductor.mk,$(wildcard pipelines/*.mk)))
## make reference/X   keeps this run's curves and times (seed 1) as what check/ and plan/ compare with
VERBS := pipeline fetch plan why progress report table check reference
.PHONY: $(foreach v,$(VERBS),$(EXPERIMENTS:%=$v/%)) demo build-all
build-all: $(BINS)
$(foreach v,$(VERBS),$(EXPERIMENTS:%=$v/%)):
	+@case $(@D) in pipeline|fetch|why|report) $(MAKE) -s --no-print-directory $(PARALLEL) build-all;; esac
	+@MAKE='$(MAKE)' BIN='$(abspath $(O)/bin)' exec pipelines/conduct $(@D) $(@F)

## make demo          sets up, builds, and runs the whole chain on two invented languages: a table and report.html, 10 minutes
demo: setup
	+@$(MAKE) --no-print-directory pipeline/demo
