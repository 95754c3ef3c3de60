# Two pre-trained models (MLM and MLM-GC) of two languages A and B from monolingual text, and what they start from, as a chain of
# stages. The experiment has made, in raw/: train.L, valid.L, test.L (L = A, B) and gold.tsv, a dictionary A -> B for measuring.
# The preset gives the values. Every command can be pasted into a shell inside the run folder (PATH: bin/).
include $(TOP)/pipelines/parts/text.mk

# --- how often tokens keep company: the counts of MLM-GC (equation 1 and its normalisation) -----------------------
$(foreach l,$(both),\
  $(call stage,cooc.$l,cooc/$l.cooc,cooc-count -w $(GC_WINDOW) -v vocab $l=bpe/train.$l > cooc/$l.cooc))
$(call stage,cooc,cooc/all.cooc,cooc-merge --normalize $A cooc/$A.cooc cooc/$B.cooc > cooc/all.cooc)

# --- a dictionary from monolingual text alone: of words as they are without case -------------------------------------
plain = sed 's/⇧ //g; s/⇪ //g'
$(foreach l,$(both),\
  $(call stage,words.$l,words/train.$l,$(plain) tok/train.$l > words/train.$l)\
  $(call stage,words-vocab.$l,words/$l.vocab,vocab-count words/train.$l > words/$l.vocab)\
  $(foreach side,left right,\
    $(call stage,words-$(side).$l,words/$l.$(side).cooc,cooc-count $(WORD_COOC) --$(side) -v words/$l.vocab $l=words/train.$l > words/$l.$(side).cooc))\
  $(call stage,words-vec.$l,words/$l.vec,embed --from-cooc words/$l.left.cooc --from-cooc words/$l.right.cooc $(WORD_VECTORS) > words/$l.vec))
counts = --src-counts words/$A.vocab --tgt-counts words/$B.vocab
# the gold dictionary measures what came out and plays no part in it
$(call stage,dict,words/$A-$B.dict words/$B-$A.dict words/$A.map.vec words/$B.map.vec words/dict.eval,\
  dict-induce $(DICT) --src words/$A.vec --tgt words/$B.vec $(counts) --src-cooc words/$A.left.cooc --src-cooc words/$A.right.cooc \
    --tgt-cooc words/$B.left.cooc --tgt-cooc words/$B.right.cooc --map-src words/$A.map.vec --map-tgt words/$B.map.vec \
    --reverse words/$B-$A.dict --eval raw/gold.tsv -o words/$A-$B.dict > words/dict.eval)
dict-rows = awk -v SEED=$1 -v NAME='$2' -f $$TOP/pipelines/dict-rows.awk
$(call stage,dict.score,base/score.dict,$(call dict-rows,-,word by word) words/dict.eval > base/score.dict)
# $(call dictionary,NAME,OUTPUT,SEED,SYSTEM,A's vectors,B's): what the gold dictionary says of two sets of vectors
dictionary = $(call stage,$1,$2,\
  dict-induce --map none $(counts) --src $5 --tgt $6 --eval raw/gold.tsv | $(call dict-rows,$3,$4) > $2)

# Token embeddings to start from (INIT): the vectors of both languages, mapped into one space.
$(call stage,init-vectors,words/init.vec,awk 'NF > 2 && !seen[$$1]++' words/$A.map.vec words/$B.map.vec > words/init.vec)

# --- pre-training, twice: same seed, same steps --------------------------------------------------------------------
pretrain = $(call train,s$1.$2.pretrain,s$1/$2/pretrain/,\
  exec pretrain --train $A=shd/train.$A.shd --train $B=shd/train.$B.shd --valid $A=shd/valid.$A.shd --valid $B=shd/valid.$B.shd \
    -v vocab --codes codes --tokenizer tokenizer $3 $(INIT) $(MODEL) $(PRETRAIN) --seed $1 --device $(DEVICE) $$RESUME --out s$1/$2/pretrain)

# --- both systems: the model, and its word vectors against the dictionary -------------------------------------------------
SYSTEMS ?= mlm mlm-gc
name.mlm = MLM
name.mlm-gc = MLM-GC
objective.mlm = --objective mlm
objective.mlm-gc = --objective mlm$(,)gc --cooc cooc/all.cooc $(GC)
# $(call trained,SEED,SYSTEM)
trained = $(call pretrain,$1,$2,$(objective.$2))\
  $(foreach l,$(both),$(call stage,s$1.$2.vectors.$l,s$1/$2/$l.vec,\
    embed --model s$1/$2/pretrain --layer 0 --words words/$l.vocab --device cpu > s$1/$2/$l.vec))\
  $(call dictionary,s$1.$2.dict,s$1/$2/score.dict,$1,$(name.$2),s$1/$2/$A.vec,s$1/$2/$B.vec)
