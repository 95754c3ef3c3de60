# The inner make of an experiment: reads the preset and the experiment, writes down its stages (PLAN), asks
# pipelines/stage which of them are stale, and runs those in order (as many at once as -j allows).
# From conduct: EXPERIMENT (a file in EXPERIMENTS), SCALE, SEEDS, R (the run folder), PLAN (a file to write), TOP, BIN.
MAKEFLAGS += --no-builtin-rules
.SUFFIXES:
SHELL := /bin/bash
DEVICE ?= auto
, := ,
define tab
	
endef
tab := $(tab)

# $(call stage,NAME,OUTPUTS,COMMAND): a stage. The command runs inside the run folder; its inputs are the words
# that an earlier stage writes, or that begin with $$TOP/. A comma in a command is written $(,).
# $(call train,...) is the same on the machine that LAUNCH_GPU leads to.
stage = $(file >>$(PLAN),$(strip $1)$(tab)cpu$(tab)$(strip $2)$(tab)$(strip $3))
train = $(file >>$(PLAN),$(strip $1)$(tab)gpu$(tab)$(strip $2)$(tab)$(strip $3))
$(file >$(PLAN),)
REFERENCE := $(TOP)/pipelines/reference/$(EXPERIMENT)-$(SCALE)

include $(EXPERIMENTS)/presets/$(SCALE).mk
include $(EXPERIMENTS)/$(EXPERIMENT).mk

.PHONY: stages data written plan why progress table check reference
stages data:
STALE := $(PLAN).mk
ifneq ($(filter stages data,$(MAKECMDGOALS)),)
$(shell $(TOP)/pipelines/stage graph $(PLAN) $(R) > $(STALE))
ifneq ($(.SHELLSTATUS),0)
$(error $(EXPERIMENT): the plan is not sound)
endif
include $(STALE)
endif

# PLAN is written by reading this far
written:
	@:
progress:
	@$(TOP)/pipelines/stage progress $(PLAN) $(R)
why:
	@why=$$($(TOP)/pipelines/stage why $(PLAN) $(R)) && cat <<< "$${why:-nothing to do}"
plan:
	@REFERENCE=$(REFERENCE).seconds $(TOP)/pipelines/stage plan $(PLAN) $(R)
	@echo "scale $(SCALE), seeds $(SEEDS): $(PLAN_NOTE)"
	@df -h --output=avail,target $(R) | tail -n 1 | { read a t; echo "free on $$t: $$a"; }
table:
	@$(TOP)/pipelines/table $(R)/$(or $(RESULTS),results.tsv)
check:
	@$(TOP)/pipelines/check $(R) $(REFERENCE).tsv
reference:
	@mkdir -p $(TOP)/pipelines/reference
	@$(TOP)/pipelines/curves $(R) | grep '^s1/' > $(REFERENCE).tsv
	@for f in $(R)/.stage/*.time; do n=$${f##*/}; printf '%s\t%s\n' "$${n%.time}" "$$(cat $$f)"; done | awk '$$2 >= 1' > $(REFERENCE).seconds
	@echo "wrote $(REFERENCE).tsv and .seconds"
