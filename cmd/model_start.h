/* What a new model takes from files that options name, and from the model it starts from. */
#include "common/prog.h"
#include "lib/model/model.h"
#include "lib/plain/plain.h"

/* --codes and --tokenizer (NULL: not given), kept with m for --raw, which has to be able to read them. -1 with a message. */
static inline int keep_text_files(struct model *m, const char *codes, const char *tokenizer)
{
    if (plain_check(codes, tokenizer) < 0) return -1;
    if (codes && model_keep_file(m, MODEL_CODES, codes) < 0) return -1;
    return tokenizer ? model_keep_file(m, MODEL_TOKENIZER, tokenizer) : 0;
}

/* The shape of a model that starts from another: where no option (cmd/model_options.h) says otherwise, the other's. s and *activation
 * hold what the options say, from is the other model's configuration. Languages, vocabulary and decoder are the caller's. */
static inline void shape_take(struct model_config *s, int *activation, const struct model_config *from)
{
#define TAKE(option, field) if (!prog_given(option)) s->field = from->field
    TAKE("layers", layers); TAKE("dim", dim); TAKE("ffn", ffn); TAKE("heads", heads); TAKE("positions", positions);
    TAKE("pre-norm", pre_norm); TAKE("sinusoidal", sinusoidal); TAKE("encoder-langs", encoder_langs);
    TAKE("embed-dim", embed_dim); TAKE("share-layers", share_layers);
    TAKE("dropout", dropout); TAKE("attention-dropout", attention_dropout);
#undef TAKE
    if (!prog_given("activation")) *activation = from->activation - 1;
    s->token_types = from->token_types; s->output_transform = from->output_transform;
    s->embed_norm = from->embed_norm; s->scale_embed = from->scale_embed; s->norm_eps = from->norm_eps;
}
