# The whole chain of unsupervised translation on two invented languages.
include $(TOP)/pipelines/parts/synth.mk
include $(TOP)/pipelines/parts/translation.mk
