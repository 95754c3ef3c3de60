#include "lib/data/inputs.h"

const struct opt inputs_text_rows[] = {
    { "train", 0, OPT_LIST(inputs, train), "LANG=SHARD",
      "monolingual training text; once per language" },
    { "valid", 0, OPT_LIST(inputs, valid), "LANG=SHARD",
      "validation text: perplexity picks the best model" },
    { "parallel", 0, OPT_LIST(inputs, parallel), "SRC-TGT=F,G",
      "sentence pairs (BPE text or shards), for objectives that learn from them" },
    { "valid-parallel", 0, OPT_LIST(inputs, valid_parallel), "SRC-TGT=F,G",
      "sentence pairs to validate such objectives on" },
    { "dict", 0, OPT_LIST(inputs, dict), "SRC-TGT=FILE",
      "dictionary of tokens, source<TAB>target[<TAB>score] per line, for objectives that learn "
      "from one; once per pair of languages" },
    { "dict-skip", 0, OPT_FLAG(inputs, dict_skip), NULL,
      "leave out lines of --dict with a token that the vocabulary lacks, which align and dict "
      "otherwise refuse" },
    { "parallel-fraction", 0, OPT_REAL(inputs, parallel_fraction), "Q",
      "use this share of the pairs of --parallel, drawn once by the seed", .min = 1e-9, .max = 1 },
    { "segment", 0, OPT_INT(inputs, segment), "N",
      "join sentence pairs into examples of up to N tokens on each side; 0: one pair per example",
      .min = 0, .max = 4096 },
    { "specific", 0, OPT_I64(inputs, specific), "N",
      "count as words of one language only the whole words that occur more than N times in its "
      "training text and at most N times in the other's (objective scs, --dict-refresh)",
      .min = 0, .max = 1e15 },
    { "alpha|lg-sampling-factor", 0, OPT_REAL(inputs, alpha), "A",
      "draw languages by p ~ sentences^A", .min = 0, .max = 10 },
    { "stream", 0, OPT_INT(inputs, stream), "N",
      "train on streams cut into N tokens; 0: on sentences", .min = 0, .max = 4096 },
    { "whole", 0, OPT_FLAG(inputs, whole), NULL,
      "fill --stream's N tokens with whole sentences, each in <s> and </s>; longer ones are left "
      "out" },
    { "documents", 0, OPT_INT(inputs, documents), "N",
      "train on two neighbouring segments of a document, <s> a </s> b </s>, of up to N tokens with "
      "these, half of them in reverse order; an empty line ends a document; 0: on sentences",
      .min = 0, .max = 4096 },
    { 0 }
};
const struct opt inputs_batch_rows[] = {
    { "tokens|tokens-per-batch", 0, OPT_INT(inputs, tokens), "N",
      "tokens per micro-batch (of pairs: per side)", .min = 1, .max = 1e7 },
    { "batch|batch-size", 0, OPT_INT(inputs, sentences), "N",
      "sentences or pairs per micro-batch, in place of --tokens; 0: by --tokens", .min = 0,
      .max = 1e6 },
    { "longest|max-len", 0, OPT_INT(inputs, longest), "N",
      "leave out sentences of more than N tokens", .min = 1, .max = 4094 },
    { "text-memory", 0, OPT_SIZE(inputs, text_memory), "SIZE",
      "hold at most SIZE (default: 1G) of each language's --train text in memory; of a larger "
      "text, blocks are read in random order as training goes; 0: hold all" },
    { "valid-sentences", 0, OPT_INT(inputs, valid_sentences), "N",
      "use at most N sentences of each validation text; 0: all", .min = 0, .max = 1e9 },
    { 0 }
};
