/* How a model's text becomes tokens if not by codes of bpe-learn: the folder's
 * pieces.json (docs/formats/checkpoint.md), and whose ids its rows had before ckpt import. */
#ifndef SUBWORD_SETTINGS_H
#define SUBWORD_SETTINGS_H
#include <stdbool.h>

/* How its tokens are marked: with "@@", "##", "\u2581", a character for each byte ("\u0120" for a
 * space), or not at all. */
enum subword_kind {
    SUBWORD_NONE, SUBWORD_BPE, SUBWORD_WORDPIECE, SUBWORD_SENTENCEPIECE, SUBWORD_BYTE_LEVEL,
    SUBWORD_WORDS
};

struct subword_settings {
    enum subword_kind kind;
    /* WordPiece's basic tokeniser; chinese: CJK characters are words of their own */
    bool lower, strip_accents, chinese;
    char layout[16];                        /* where it came from: "bert" ... */
    /* there, of our specials <s> </s> <pad> <unk> <mask>; -1: it had none */
    int ids[5];
};

#define SUBWORD_FILE "pieces.json"
/* Whose rules cut text: one of these, or the vocabulary itself (WordPiece). */
#define SUBWORD_MODEL "sentencepiece.model"
#define SUBWORD_TOKENIZER "tokenizer.json"
/* Tokens beyond those of sentencepiece.model or the vocabulary: {"token": id, ...}. They are found
 * in the text as they are there. */
#define SUBWORD_ADDED "added_tokens.json"

char *subword_settings_json(const struct subword_settings *s);             /* malloc'd */
int subword_settings_parse(struct subword_settings *s, const char *json, const char *where);
/* Of a model's folder; 1: read, 0: it has none (*s is zeroed), -1 with a message. */
int subword_settings_read(struct subword_settings *s, const char *dir);

#endif
