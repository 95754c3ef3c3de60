# Unsupervised translation between English and German (parts/deen.mk says of what). `SCALE=paper` is MLM-GC's own.
include $(TOP)/pipelines/parts/deen.mk
include $(TOP)/pipelines/parts/translation.mk
