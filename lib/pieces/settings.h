/* How a model's text becomes tokens where that is not by codes of bpe-learn: the folder's
 * pieces.json (docs/formats/checkpoint.md), and whose ids its rows had before ckpt import. */
#ifndef PIECES_SETTINGS_H
#define PIECES_SETTINGS_H
#include <stdbool.h>

enum pieces_kind { PIECES_NONE, PIECES_BPE, PIECES_WORDPIECE, PIECES_SENTENCEPIECE };

struct pieces_settings {
    enum pieces_kind kind;
    /* WordPiece's basic tokeniser; chinese: CJK characters are words of their own */
    bool lower, strip_accents, chinese;
    char layout[16];                        /* where it came from: "bert" ... */
    /* there, of our specials <s> </s> <pad> <unk> <mask>; -1: it had none */
    int ids[5];
};

#define PIECES_FILE "pieces.json"
#define PIECES_MODEL "sentencepiece.model"

char *pieces_settings_json(const struct pieces_settings *s);             /* malloc'd */
int pieces_settings_parse(struct pieces_settings *s, const char *json, const char *where);
/* Of a model's folder; 1: read, 0: it has none (*s is zeroed), -1 with a message. */
int pieces_settings_read(struct pieces_settings *s, const char *dir);

#endif
