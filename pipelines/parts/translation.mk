# Translation between two languages A and B from monolingual text, as a chain of stages (shared by experiments): what pretrain.mk
# makes, then a translator from each model.
include $(TOP)/pipelines/parts/pretrain.mk
include $(TOP)/pipelines/parts/score.mk

# --- word-by-word translation: tokens of language SRC in, of TGT out, with the case that TGT's words usually have ---------
# $(call word-by-word,SRC,TGT,FILE)
word-by-word = awk -f $$TOP/pipelines/word-by-word.awk words/$1-$2.dict $3 | awk -f $$TOP/pipelines/case.awk tok/train.$2 -
# pseudo-pairs: a real sentence, which is what is to be produced, beside its word-by-word translation
$(foreach d,$(directions),\
  $(call stage,pseudo.$d,pseudo/$d.$(call src,$d),\
    $(call word-by-word,$(call tgt,$d),$(call src,$d),words/train.$(call tgt,$d)) | bpe-apply -c codes > pseudo/$d.$(call src,$d)))

# --- translation: pseudo-pairs, then denoising and back-translation; valid picks the model ----------------------------
unmt = $(call train,s$1.$2.unmt,s$1/$2/unmt/,\
  exec finetune --task unmt --model s$1/$2/pretrain --train $A=shd/train.$A.shd --train $B=shd/train.$B.shd \
    $(if $(filter-out 0,$(PSEUDO_STEPS)),--pseudo $A-$B=pseudo/$A-$B.$A$(,)bpe/train.$B --pseudo $B-$A=pseudo/$B-$A.$B$(,)bpe/train.$A) \
    --valid $A-$B=bpe/valid.$A$(,)bpe/valid.$B --valid $B-$A=bpe/valid.$B$(,)bpe/valid.$A \
    $(UNMT) --seed $1 --device $(DEVICE) $$RESUME --out s$1/$2/unmt)

# --- what no training is needed for: every word replaced by the dictionary's ------------------------------------------
$(foreach d,$(directions),\
  $(call stage,word-by-word.$d,base/word/$d,\
    $(plain) tok/test.$(call src,$d) | $(call word-by-word,$(call src,$d),$(call tgt,$d),-) | detokenize -l $(call tgt,$d) $(DETOKENIZE) > base/word/$d)\
  $(call score,base/word,-,word by word,$(call src,$d),$(call tgt,$d)))

# --- both systems, every seed -----------------------------------------------------------------------------------------
# $(call system,SEED,SYSTEM)
system = $(call trained,$1,$2)$(call unmt,$1,$2)\
  $(foreach d,$(directions),\
    $(call translate,s$1/$2,s$1/$2/unmt,$(call src,$d),$(call tgt,$d))\
    $(call score,s$1/$2,$1,$(name.$2),$(call src,$d),$(call tgt,$d))\
    $(call stage,s$1.$2.shuffled.$d,s$1/$2/shuffled/$d,$$TOP/pipelines/shuffle < s$1/$2/$d > s$1/$2/shuffled/$d)\
    $(call score,s$1/$2/shuffled,$1,$(name.$2) shuffled,$(call src,$d),$(call tgt,$d)))
$(foreach s,$(SEEDS),$(foreach y,$(SYSTEMS),$(call system,$s,$y)))

# --- the table ----------------------------------------------------------------------------------------------------------
scores = $(foreach b,copy word,$(foreach d,$(directions),base/$b/score.$d)) base/score.dict\
  $(foreach y,$(SYSTEMS),$(foreach s,$(SEEDS),$(foreach d,$(directions),s$s/$y/score.$d) s$s/$y/score.dict))\
  $(foreach y,$(SYSTEMS),$(foreach s,$(SEEDS),$(foreach d,$(directions),s$s/$y/shuffled/score.$d)))
$(call stage,results,results.tsv,cat $(scores) > results.tsv)
