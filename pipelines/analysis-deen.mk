# English and German: what the models of unmt-deen know of one another's words and sentences. It works in unmt-deen's run folder, takes the
# models that are there, and trains those that are missing.
include $(TOP)/pipelines/parts/deen.mk
$(call stage,raw.tatoeba.en,raw/tatoeba.en,$(fetch) tatoeba/deu-eng.eng > raw/tatoeba.en)
$(call stage,raw.tatoeba.de,raw/tatoeba.de,$(fetch) tatoeba/deu-eng.deu > raw/tatoeba.de)
SENTENCES := tatoeba test
QUESTIONS := $$TOP/pipelines/analogies-deen.txt
include $(TOP)/pipelines/parts/pretrain.mk
include $(TOP)/pipelines/parts/analysis.mk
