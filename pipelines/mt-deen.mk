# Supervised translation between English and German on Multi30k's 29,000 caption pairs: what the same engine and model
# reach when they see translations. Both directions in one model, no pre-training.
A := en
B := de
fetch = $$TOP/pipelines/fetch $$TOP/pipelines/sources.tsv
$(foreach l,en de,\
  $(call stage,raw.train.$l,raw/train.$l,$(fetch) multi30k/train.$l > raw/train.$l)\
  $(call stage,raw.valid.$l,raw/valid.$l,$(fetch) multi30k/val.$l > raw/valid.$l)\
  $(call stage,raw.test.$l,raw/test.$l,$(fetch) multi30k/test_2016_flickr.$l > raw/test.$l))
include $(TOP)/pipelines/parts/text.mk
include $(TOP)/pipelines/parts/score.mk

mt = $(call train,s$1.mt,s$1/mt/,\
  exec finetune --task mt --vocab vocab --codes codes --tokenizer tokenizer $(MODEL) \
    --parallel $A-$B=bpe/train.$A$(,)bpe/train.$B --parallel $B-$A=bpe/train.$B$(,)bpe/train.$A \
    --valid $A-$B=bpe/valid.$A$(,)bpe/valid.$B --valid $B-$A=bpe/valid.$B$(,)bpe/valid.$A \
    $(MT) --seed $1 --device $(DEVICE) $$RESUME --out s$1/mt)
$(foreach s,$(SEEDS),$(call mt,$s)\
  $(foreach d,$(directions),\
    $(call translate,s$s/hyp,s$s/mt,$(call src,$d),$(call tgt,$d))\
    $(call score,s$s/hyp,$s,supervised,$(call src,$d),$(call tgt,$d))\
    $(call stage,s$s.shuffled.$d,s$s/shuffled/$d,$$TOP/pipelines/shuffle < s$s/hyp/$d > s$s/shuffled/$d)\
    $(call score,s$s/shuffled,$s,supervised shuffled,$(call src,$d),$(call tgt,$d))))
scores = $(foreach d,$(directions),base/copy/score.$d) $(foreach s,$(SEEDS),$(foreach d,$(directions),s$s/hyp/score.$d s$s/shuffled/score.$d))
$(call stage,results,results.tsv,cat $(scores) > results.tsv)
