/* Options of every training program: how to train, and how to run. */
#ifndef ENGINE_OPTIONS_H
#define ENGINE_OPTIONS_H
#include "common/opt.h"
#include "lib/engine/trainer.h"

extern const struct opt trainer_rows[];           /* of struct trainer_options */

struct run_options {
    bool recompute, profile, deterministic;
    size_t memory;               /* bytes; 0: what is free */
};
extern const struct opt run_rows[];

/* The files that tell how plain text becomes a model's tokens, for its --raw; NULL: not given. */
struct text_files { const char *codes, *tokenizer; };
extern const struct opt text_file_rows[];
/* Checks that --raw can read them and keeps them with m. -1 with a message. */
int text_files_keep(const struct text_files *f, struct model *m);

#endif
