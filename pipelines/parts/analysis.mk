# What the pre-trained models of two languages A and B know of one another, layer by layer, and how alike the two corpora are: the
# analyses of MLM-GC (sections 3.2 and 5.1) and TCS/SCS-MLM (section 2). pretrain.mk has made the models; the experiment names sets of
# sentence pairs, raw/SET.A and raw/SET.B, in SENTENCES, and sets QUESTIONS to a file of analogies (of the checkout), or nothing.
LAYERS := $(shell seq 0 $(shell echo '$(MODEL)' | sed -n 's/.*--layers \([0-9]*\).*/\1/p'))
# the layer whose sentence vectors are mined with: the middle one (NOTES: XTREME takes 7 of 12)
MIDDLE := $(word $(shell expr \( $(words $(LAYERS)) + 2 \) / 2),$(LAYERS))
SENTENCES ?= test
SCORES ?= cosine ratio
ANALYSIS_LINES ?= 5000
WINDOWS ?= 1 2 5
RESULTS := analysis/results.tsv

# --- text: lines of the training text for words' states, BPE of the sentence pairs -----------------------------------------
$(foreach l,$(both),\
  $(call stage,analysis.text.$l,analysis/text.$l,head -n $(ANALYSIS_LINES) bpe/train.$l > analysis/text.$l)\
  $(foreach s,$(filter-out test,$(SENTENCES)),\
    $(call stage,analysis.$s.$l,bpe/$s.$l,tokenize -l $l $(TOKENIZE) < raw/$s.$l | bpe-apply -c codes > bpe/$s.$l)))

# --- the two corpora: counts of translations side by side (Figure 1), rank and frequency (Figure 3) --------------------------
$(foreach w,$(WINDOWS),\
  $(foreach l,$(both),$(call stage,analysis.words-$w.$l,analysis/words.$l.$w.cooc,cooc-count -w $w -v words/$l.vocab $l=words/train.$l > analysis/words.$l.$w.cooc))\
  $(call stage,analysis.bins-$w,analysis/bins.$w.tsv,cooc-study --dict raw/gold.tsv analysis/words.$A.$w.cooc analysis/words.$B.$w.cooc > analysis/bins.$w.tsv))
$(call stage,analysis.ranks,analysis/ranks.tsv,cooc-study --ranks cooc/$A.cooc cooc/$B.cooc > analysis/ranks.tsv)
$(call stage,analysis.fig.bins,analysis/fig/1-bins.svg,\
  plot bins $(foreach w,$(WINDOWS),analysis/bins.$w.tsv --label "window $w") --title "Co-occurrence counts of translations$(,) $A and $B" -o analysis/fig/1-bins.svg)
$(call stage,analysis.fig.ranks,analysis/fig/2-ranks.svg,plot ranks analysis/ranks.tsv --title "Rank and relative frequency after BPE" -o analysis/fig/2-ranks.svg)

# --- analogies: a - b + c over translations, a and b of one pair, c and d of another; and the experiment's own ---------------
$(call stage,analysis.questions,analysis/questions.txt,\
  { awk -f $$TOP/pipelines/pair-analogies.awk words/$A.vocab words/$B.vocab raw/gold.tsv $(if $(QUESTIONS),&& cat $(QUESTIONS)); } > analysis/questions.txt)

# --- a model: S a seed, Y a system ------------------------------------------------------------------------------------------
# $(call states,S,Y,LAYER,LANG): vectors of words; $(call sentences,S,Y,LAYER,LANG,SET): and of sentences
states = s$1/$2/analysis/words.$3.$4.safetensors
sentences = s$1/$2/analysis/$5.$3.$4.safetensors
# $(call pairs,S,Y,FUNCTION,SET): --src and --tgt of every layer
pairs = $(foreach k,$(LAYERS),--src $(call $3,$1,$2,$k,$A,$4) --tgt $(call $3,$1,$2,$k,$B,$4))
rows = awk -v SEED=$1 -v NAME=$(name.$2) -v DIRECTION=$3 -v METRIC=$4 -v COLUMN=$5 -f $$TOP/pipelines/layer-rows.awk
analysed = $(foreach l,$(both),$(foreach k,$(LAYERS),\
    $(call train,s$1.$2.words-$k.$l,$(call states,$1,$2,$k,$l),\
      embed --model s$1/$2/pretrain --layer $k --lang $l --text analysis/text.$l --of words --words words/$l.vocab --device $(DEVICE) -o $(call states,$1,$2,$k,$l))\
    $(foreach t,$(SENTENCES),\
      $(call train,s$1.$2.$t-$k.$l,$(call sentences,$1,$2,$k,$l,$t),\
        embed --model s$1/$2/pretrain --layer $k --lang $l --text bpe/$t.$l --of sentences --device $(DEVICE) -o $(call sentences,$1,$2,$k,$l,$t)))))\
  $(call stage,s$1.$2.rsim,s$1/$2/analysis/rsim.tsv,rsim $(call pairs,$1,$2,states) --dict raw/gold.tsv > s$1/$2/analysis/rsim.tsv)\
  $(call stage,s$1.$2.embedding-rsim,s$1/$2/analysis/embedding.tsv,rsim --src s$1/$2/$A.vec --tgt s$1/$2/$B.vec --dict raw/gold.tsv > s$1/$2/analysis/embedding.tsv)\
  $(call stage,s$1.$2.hits,s$1/$2/analysis/hits.tsv,\
    { $(foreach k,$(LAYERS),dict-induce -q --src $(call states,$1,$2,$k,$A) --tgt $(call states,$1,$2,$k,$B) --eval raw/gold.tsv &&) true; } |\
      awk -f $$TOP/pipelines/hits-by-layer.awk > s$1/$2/analysis/hits.tsv)\
  $(foreach t,$(SENTENCES),$(foreach c,$(SCORES),\
    $(call stage,s$1.$2.$t-$c,s$1/$2/analysis/$t.$c.tsv,retrieve --score $c $(call pairs,$1,$2,sentences,$t) > s$1/$2/analysis/$t.$c.tsv))\
    $(call stage,s$1.$2.$t-mined,s$1/$2/analysis/$t.mined.tsv,\
      retrieve --score ratio --mine 1.05 --src $(call sentences,$1,$2,$(MIDDLE),$A,$t) --tgt $(call sentences,$1,$2,$(MIDDLE),$B,$t) > s$1/$2/analysis/$t.mined.tsv))\
  $(call stage,s$1.$2.dictionary,s$1/$2/analysis/dictionary.tsv,dict-induce -q --src s$1/$2/$A.vec --tgt s$1/$2/$B.vec $(counts) -k 1 --mutual > s$1/$2/analysis/dictionary.tsv)\
  $(call stage,s$1.$2.analogy,s$1/$2/analysis/analogy.tsv,analogy --vec s$1/$2/$A.vec --vec s$1/$2/$B.vec analysis/questions.txt > s$1/$2/analysis/analogy.tsv)\
  $(call stage,s$1.$2.rows-embedding,s$1/$2/analysis/1.rows,\
    { cat s$1/$2/score.dict && $(call rows,$1,$2,-,RSIM,rsim) -v ONE=1 s$1/$2/analysis/embedding.tsv && $(call rows,$1,$2,$A-$B,aligned,align-to) -v ONE=1 s$1/$2/analysis/embedding.tsv &&\
      $(call rows,$1,$2,$B-$A,aligned,align-back) -v ONE=1 s$1/$2/analysis/embedding.tsv && awk -v SEED=$1 -v NAME=$(name.$2) -f $$TOP/pipelines/analogy-rows.awk s$1/$2/analysis/analogy.tsv; } > s$1/$2/analysis/1.rows)\
  $(call stage,s$1.$2.rows-rsim,s$1/$2/analysis/2.rows,$(call rows,$1,$2,-,RSIM,rsim) s$1/$2/analysis/rsim.tsv > s$1/$2/analysis/2.rows)\
  $(call stage,s$1.$2.rows-cosine,s$1/$2/analysis/3.rows,$(call rows,$1,$2,-,cosine,cosine) s$1/$2/analysis/rsim.tsv > s$1/$2/analysis/3.rows)\
  $(call stage,s$1.$2.rows-hits,s$1/$2/analysis/4.rows,$(call rows,$1,$2,-,Hit@1,hit@1) s$1/$2/analysis/hits.tsv > s$1/$2/analysis/4.rows)\
  $(foreach t,$(SENTENCES),$(foreach c,$(SCORES),\
    $(call stage,s$1.$2.rows-$t-$c,s$1/$2/analysis/$t.$c.rows,\
      { $(call rows,$1,$2,$A-$B,accuracy,accuracy-to) s$1/$2/analysis/$t.$c.tsv && $(call rows,$1,$2,$B-$A,accuracy,accuracy-back) s$1/$2/analysis/$t.$c.tsv; } > s$1/$2/analysis/$t.$c.rows))\
    $(call stage,s$1.$2.rows-$t-mined,s$1/$2/analysis/$t.mined.rows,\
      awk -v SEED=$1 -v NAME=$(name.$2) -f $$TOP/pipelines/mined-rows.awk raw/$t.$A s$1/$2/analysis/$t.mined.tsv > s$1/$2/analysis/$t.mined.rows))
$(foreach s,$(SEEDS),$(foreach y,$(SYSTEMS),$(call trained,$s,$y)$(call analysed,$s,$y)))

# --- pictures of all systems and seeds; words in the plane of the first seed -------------------------------------------------
# $(call every,FILE): that file of every model, with the system as its label, so that seeds are repeated runs
every = $(foreach y,$(SYSTEMS),$(foreach s,$(SEEDS),s$s/$y/analysis/$1 --label $(name.$y)))
$(call stage,analysis.fig.rsim,analysis/fig/3-rsim.svg,plot rsim $(call every,rsim.tsv) --title "Translations by layer" -o analysis/fig/3-rsim.svg --tsv analysis/fig/3-rsim.tsv)
$(call stage,analysis.fig.hits,analysis/fig/4-hits.svg,plot hits $(call every,hits.tsv) --title "Dictionary by CSLS$(,) by layer" -o analysis/fig/4-hits.svg --tsv analysis/fig/4-hits.tsv)
$(foreach t,$(SENTENCES),$(foreach c,$(SCORES),\
  $(call stage,analysis.fig.$t-$c,analysis/fig/5-$t-$c.svg,plot hits $(call every,$t.$c.tsv) --title "Retrieval of $t sentences by $c$(,) by layer" -o analysis/fig/5-$t-$c.svg)))
plane = $(call stage,analysis.fig.plane-$1-$2,analysis/fig/6-plane-$1-$2.svg,\
  plot tsne $A=$3 $B=$4 --dict raw/gold.tsv --pairs $(PLANE_PAIRS) --names 20 --title "$(name.$1)$(,) $5" -o analysis/fig/6-plane-$1-$2.svg --tsv analysis/fig/6-plane-$1-$2.tsv)
PLANE_PAIRS ?= 2000
first := $(firstword $(SEEDS))
top := $(lastword $(LAYERS))
$(foreach y,$(SYSTEMS),$(call plane,$y,embeddings,s$(first)/$y/$A.vec,s$(first)/$y/$B.vec,word embeddings)\
  $(call plane,$y,top,$(call states,$(first),$y,$(top),$A),$(call states,$(first),$y,$(top),$B),states of layer $(top)))

# --- the tables --------------------------------------------------------------------------------------------------------------
# $(call rows-of,NAME,FILE): the rows of every model, as a table's input
rows-of = $(foreach y,$(SYSTEMS),$(foreach s,$(SEEDS),s$s/$y/analysis/$1))
tabulate = $(call stage,analysis.table.$1,analysis/tables/$1.rows,{ echo "# $3" && cat $(call rows-of,$2); } > analysis/tables/$1.rows)
$(call tabulate,1-embeddings,1.rows,Word embeddings (means of sub-words) against the dictionary)
$(call tabulate,2-rsim,2.rows,Relational similarity of words' states$(,) by layer)
$(call tabulate,3-cosine,3.rows,Mean cosine of translations$(,) by layer)
$(call tabulate,4-hits,4.rows,Hit@1 of words' states by CSLS$(,) by layer)
$(foreach t,$(SENTENCES),$(foreach c,$(SCORES),$(call tabulate,5-$t-$c,$t.$c.rows,Retrieval of $t sentences by $c$(,) by layer))\
  $(call tabulate,6-$t-mined,$t.mined.rows,Mining among $t sentences$(,) layer $(MIDDLE)$(,) margin by ratio above 1.05))
tables = 1-embeddings 2-rsim 3-cosine 4-hits $(foreach t,$(SENTENCES),$(foreach c,$(SCORES),5-$t-$c) 6-$t-mined)
$(call stage,analysis.results,$(RESULTS),grep -hv '^\#' $(foreach t,$(tables),analysis/tables/$t.rows) > $(RESULTS))
