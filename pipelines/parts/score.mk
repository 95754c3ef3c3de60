# Translating the test text with a model, and scoring translations. Rows of results: seed, system, direction, metric, value.
# $(call translate,FOLDER,MODEL,SRC,TGT)
translate = $(call train,$(subst /,.,$1).$3-$4,$1/$3-$4,\
  translate --model $2 --src $3 --tgt $4 $(DECODE) --device $(DEVICE) < bpe/test.$3 | bpe-apply --restore | detokenize -l $4 $(DETOKENIZE) > $1/$3-$4)
# $(call score,FOLDER,SEED,NAME,SRC,TGT): BLEU cased, lower-cased, and as multi-bleu.perl counts over Moses' tokens
row = sed 's/^/$1\t$2\t$3\t$4\t/'
score = $(call stage,$(subst /,.,$1).score.$4-$5,$1/score.$4-$5,\
  { bleu -b -w 2 raw/test.$5 < $1/$4-$5 | $(call row,$2,$3,$4-$5,BLEU) && \
    bleu -b -w 2 --lowercase raw/test.$5 < $1/$4-$5 | $(call row,$2,$3,$4-$5,BLEU-lc) && \
    tokenize -l $5 < $1/$4-$5 | bleu --multi eval/test.$5.tok | sed 's/^BLEU = \([0-9.]*\).*/\1/' | $(call row,$2,$3,$4-$5,multi-bleu); } > $1/score.$4-$5)

$(foreach l,$(both),$(call stage,tok.reference.$l,eval/test.$l.tok,tokenize -l $l < raw/test.$l > eval/test.$l.tok))
# the source as it is
$(foreach d,$(directions),\
  $(call stage,copy.$d,base/copy/$d,cp raw/test.$(call src,$d) base/copy/$d)\
  $(call score,base/copy,-,copying,$(call src,$d),$(call tgt,$d)))
