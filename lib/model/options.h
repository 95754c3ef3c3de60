/* The shape of a new model as options: rows for the fields of struct model_config that a user
 * may choose. */
#ifndef MODEL_OPTIONS_H
#define MODEL_OPTIONS_H
#include "common/prog/opt.h"
#include "lib/model/config.h"

extern const struct opt model_rows[];             /* of struct model_config */
/* of struct model_config too: for programs whose model predicts tokens by the encoder alone, or
 * has a decoder */
extern const struct opt model_encoder_rows[], model_decoder_rows[];

/* As model_config_init; ffn 0 stands for 4 dim, decoder_layers 0 for as many as the encoder has. */
void model_options_init(struct model_config *c);
/* Puts in what those zeros stand for. */
void model_options_finish(struct model_config *c, bool decoder);
/* Into *c, which the program's groups with these rows fill: a model that starts from another one,
 * of configuration `from`, has its shape where no option says otherwise. */
void model_options_take(struct model_config *c, const struct model_config *from);

#endif
