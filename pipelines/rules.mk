# Experiments, from the front door: settings arrive in the environment of pipelines/conduct, which
# does the rest. pipelines/README.md is the manual.
## make pipeline/own TEXT="en=news/*.gz de=web/ fr=f.zst"    a model of your own text, and a page
##                      about it; PARALLEL="en-de=F,G" and GOLD="en-de=dict.tsv" measure more
## make pipeline/mt PARALLEL="de-en=F,G"    a translator of your own sentence pairs; VALID=, TEST=
##                      pairs to stop by and to measure with, MONO="de=F en=G" text to translate
##                      back, START=folder a model to begin from
## make pipeline/align MODEL=folder PARALLEL="en-de=F,G"    a model's languages aligned by your own
##                      pairs: retrieval before and after, a folder for sentence-transformers
## make pipeline/X    runs experiment X, or what is left of it: demo unmt-deen unmt-enfr
##                      unmt-roen unmt-neen mt-deen analysis-deen gc-sweep gc-fail xlu mono
##                      (MLM-GC), cs-deen cs-xlmr (TCS, SCS), derived (ALIGN-MLM), ppa-deen
##                      ppa-mbert (PPA), tasks-deen; cs-demo, derived-demo, ppa-demo,
##                      analysis-demo, ... on invented languages (pipelines/README.md), or one
##                      of EXPERIMENTS=folder; settings:
##                      SCALE=smoke|mini|gpu|paper  SEEDS="1 2 3"  A=en B=fr (its languages)
##                      RUN=name (a folder in runs/)  DEVICE=auto|cpu|cuda
##                      GPU_JOBS=N (trainings at once)
##                      CPU_JOBS=N (the same, each with its share of the processors)
##                      BUDGET=seconds (stop by then; the same command goes on)
##                      PROGRESS=seconds (say how far it is, and make report/X, so often)
##                      AGAIN="stage pattern*"  CORPUS_CACHE=folder (data already here)
##                      LAUNCH_CPU=, LAUNCH_GPU="srun -G 1" (before a stage's command)
##                      RANKS=N (N processes share each training; LAUNCH_RANKS="srun -n N")
##                      PRECISION=float32|bf16|auto (of trainings)
## make experiments   all of them, a line each
## make rehearse/X    the plan of SCALE=paper with its sizes divided (SHRINK=16) and nothing else
##                      changed, on invented texts: minutes, and whether all its stages run
## make fetch/X       only gets its data (compute nodes may have no network)
## make plan/X        its stages, how long those left will take, disk, memory; nothing runs;
##                      DEVICE=cuda GPUS=8: hours of GPUs, by measured rates
## make why/X         what is to do and why: which command, program or input changed
## make progress/X    how many stages are done, and how far the trainings are
## make report/X      table and page of what there is so far; both, logs, curves and times in
##                      runs/RUN.tar.gz (REPORT=file), a few hundred KB; unpacked in runs/
##                      elsewhere, table/X, check/X, reference/X and report/X work on it
## make table/X       its results: mean over seeds, 95% interval, paired test
## make check/X       is the run on track? compares it with the reference curves at 5, 10 and 25%
## make reference/X   keeps this run's curves and times (seed 1) for check/ and plan/ to compare
VERBS := pipeline rehearse fetch plan why progress report table check reference
.PHONY: demo build-all experiment experiments
# no recipe of its own, so that `make -q pipeline/X` can say that nothing is left to do
build-all: $(BINS)
# Programs that only look need not be built first. The shell never reads what was asked for: it is
# a value in its environment.
$(VERBS:%=%/%): export ASKED = $@
$(VERBS:%=%/%): experiment
	+@case $$ASKED in pipeline/*|rehearse/*|fetch/*|why/*|report/*|table/*) \
	    $(MAKE) -s --no-print-directory $(PARALLEL) build-all && $(or $(link_bin),:);; esac
	+@case $$ASKED in rehearse/ppa-*|rehearse/xlu|rehearse/cs-xlmr|rehearse/unmt-mbart) \
	    $(MAKE) -s --no-print-directory '$(O)/test/tool/standin';; esac
	+@MAKE='$(MAKE)' BIN="$$(cd '$(O)/bin' && pwd)" exec pipelines/conduct "$${ASKED%%/*}" \
	    "$${ASKED#*/}"

experiments:
	@pipelines/list $(EXPERIMENTS) pipelines/experiments

## make demo          sets up, builds, and runs the whole chain on two invented languages: a table
##                      and report.html, 10 minutes
demo: setup
	+@$(MAKE) --no-print-directory pipeline/demo
