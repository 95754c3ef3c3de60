# Each program: A_ = archives of ours, L_ = system libraries. ICU only where Unicode properties are
# needed, BLAS only where matrices are multiplied.
ICU := -licui18n -licuuc -licudata
JSON := -lcjson
NN := lib/task lib/objective lib/batch lib/data lib/labelled lib/masking lib/engine lib/trainer \
    lib/ranks lib/model lib/graph lib/bilingual lib/vectors kernels/cpu kernels/int8 \
    kernels/linalg lib/cooc common/json $(COMMON)
VECTORS := lib/bilingual lib/vectors lib/cooc kernels/cpu kernels/int8 kernels/linalg \
    common/json $(COMMON)
VECTORS_L = $(BLAS_LIB) $(JSON) $(BASE) $(MATH)
NN_L = $(BLAS_LIB) $(JSON) $(BASE) -ldl $(MATH)

PROGRAMS := tokenize detokenize bpe-learn bpe-apply vocab-count ngrams binarize shard \
    cooc-count cooc-merge cooc-query cooc-study synth-corpus derive-lang pretrain align-post \
    finetune translate predict embed dict-induce rsim retrieve analogy bleu score ckpt plot

A_tokenize     := lib/raw lib/subword lib/text lib/bpe common/json $(COMMON)
L_tokenize      = $(ICU) -lpcre2-8 $(JSON) $(BASE) $(MATH)
A_detokenize   := lib/raw lib/subword lib/text lib/bpe common/json $(COMMON)
L_detokenize    = $(ICU) -lpcre2-8 $(JSON) $(BASE) $(MATH)
A_bpe-learn    := lib/bpe $(COMMON)
L_bpe-learn     = $(BASE) $(MATH)
A_bpe-apply    := lib/bpe $(COMMON)
L_bpe-apply     = -lpcre2-8 $(BASE) $(MATH)
A_vocab-count  := lib/bpe $(COMMON)
L_vocab-count   = $(BASE) $(MATH)
A_ngrams       := lib/ngrams lib/bpe $(COMMON)
L_ngrams        = $(BASE) $(MATH)
A_binarize     := $(COMMON)
L_binarize      = $(BASE) $(MATH)
A_shard        := $(COMMON)
L_shard         = $(BASE) $(MATH)
A_cooc-count   := lib/count lib/cooc $(COMMON)
L_cooc-count    = $(BASE) $(MATH)
A_cooc-merge   := lib/count lib/cooc $(COMMON)
L_cooc-merge    = $(BASE) $(MATH)
A_cooc-query   := lib/cooc $(COMMON)
L_cooc-query    = $(BASE) $(MATH)
A_cooc-study   := $(VECTORS)
L_cooc-study    = $(VECTORS_L)
A_synth-corpus := lib/synth $(COMMON)
L_synth-corpus  = $(BASE) $(MATH)
A_derive-lang  := lib/derive lib/text $(COMMON)
L_derive-lang   = $(BASE) $(MATH)
# A model's own tokeniser.
RAW := lib/raw lib/subword lib/text lib/bpe common/json $(COMMON)
A_pretrain     := $(NN) $(RAW)
L_pretrain      = $(NN_L) $(ICU) -lpcre2-8
A_align-post   := $(NN) $(RAW)
L_align-post    = $(NN_L) $(ICU) -lpcre2-8
A_finetune     := $(NN) lib/eval lib/score $(RAW)
L_finetune      = $(NN_L) $(ICU) -lpcre2-8
A_translate    := $(NN) $(RAW)
L_translate     = $(NN_L) $(ICU) -lpcre2-8
A_predict      := $(NN) lib/eval lib/score $(RAW)
L_predict       = $(NN_L) $(ICU) -lpcre2-8
A_ckpt         := lib/hf lib/torch $(NN) $(RAW)
L_ckpt          = $(NN_L) $(ICU) -lpcre2-8
A_embed        := lib/embed $(NN) $(RAW)
L_embed         = $(NN_L) $(ICU) -lpcre2-8
A_dict-induce  := $(VECTORS)
L_dict-induce   = $(VECTORS_L)
A_rsim         := $(VECTORS)
L_rsim          = $(VECTORS_L)
A_retrieve     := $(VECTORS)
L_retrieve      = $(VECTORS_L)
A_analogy      := $(VECTORS)
L_analogy       = $(VECTORS_L)
A_bleu         := lib/sacrebleu lib/score lib/subword lib/text common/json $(COMMON)
L_bleu          = $(ICU) $(JSON) -lpcre2-8 -ldl $(BASE) $(MATH)
A_score        := lib/task lib/eval lib/sacrebleu lib/score lib/labelled common/json $(COMMON)
L_score         = $(ICU) $(JSON) $(BASE) $(MATH)
A_plot         := lib/plot lib/eval $(VECTORS)
L_plot          = $(VECTORS_L)
