# Text of English and German: Multi30k's captions, the standard split: English takes training lines 1 to 14,500, German 14,501 to
# 29,000, so that no sentence has its translation in the training data; val picks the model, test_2016_flickr scores it.
# CORPUS=newscrawl (SCALE=paper) is MLM-GC's own: NewsCrawl 2007-2017, newstest2013, newstest2016.
A := en
B := de
fetch = $$TOP/pipelines/fetch $$TOP/pipelines/sources.tsv
ifeq ($(CORPUS),newscrawl)
include $(TOP)/pipelines/parts/newscrawl.mk
else
$(call stage,raw.train.en,raw/train.en,$(fetch) multi30k/train.en | sed -n '1$(,)14500p' > raw/train.en)
$(call stage,raw.train.de,raw/train.de,$(fetch) multi30k/train.de | sed -n '14501$(,)29000p' > raw/train.de)
$(foreach l,en de,\
  $(call stage,raw.valid.$l,raw/valid.$l,$(fetch) multi30k/val.$l > raw/valid.$l)\
  $(call stage,raw.test.$l,raw/test.$l,$(fetch) multi30k/test_2016_flickr.$l > raw/test.$l))
endif
# A general dictionary (Glavas et al. 2019), for measuring only; lower-cased as the text is.
$(call stage,raw.gold,raw/gold.tsv,{ $(fetch) bli/en-de.train.5k.tsv && $(fetch) bli/en-de.test.2k.tsv; } | sed 's/.*/\L&/' > raw/gold.tsv)
