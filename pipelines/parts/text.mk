# From raw/{train,valid,test}.L to tokens, BPE, a vocabulary and shards, for the languages A and B.
both = $A $B
other = $(filter-out $1,$(both))
directions = $A-$B $B-$A
src = $(firstword $(subst -, ,$1))
tgt = $(lastword $(subst -, ,$1))

$(foreach l,$(both),$(foreach p,train valid test,\
  $(call stage,tok.$p.$l,tok/$p.$l,tokenize -l $l $(TOKENIZE) < raw/$p.$l > tok/$p.$l)))
# how that was done goes along with the models, so that `translate --raw` takes plain text
$(call stage,tokenizer,tokenizer,tokenize $(TOKENIZE) --settings > tokenizer)
$(call stage,bpe-learn,codes,bpe-learn -n $(MERGES) $A=tok/train.$A $B=tok/train.$B > codes)
$(foreach l,$(both),$(foreach p,train valid test,\
  $(call stage,bpe.$p.$l,bpe/$p.$l,bpe-apply -c codes < tok/$p.$l > bpe/$p.$l)))
$(call stage,vocab,vocab,vocab-count bpe/train.$A bpe/train.$B > vocab)
$(foreach l,$(both),$(foreach p,train valid,\
  $(call stage,shard.$p.$l,shd/$p.$l.shd,binarize -v vocab -l $l < bpe/$p.$l > shd/$p.$l.shd)))
