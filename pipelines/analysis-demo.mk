# The same of demo's two invented languages, where every translation is known, in demo's run folder.
include $(TOP)/pipelines/parts/synth.mk
include $(TOP)/pipelines/parts/pretrain.mk
include $(TOP)/pipelines/parts/analysis.mk
