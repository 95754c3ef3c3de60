#include "lib/model/options.h"
#include "common/prog/prog.h"

const struct opt model_rows[] = {
    { "layers|n-layers", 0, OPT_INT(model_config, layers), "N",
      "number of encoder layers", .min = 1, .max = 1000 },
    { "dim|emb-dim", 0, OPT_INT(model_config, dim), "D",
      "width of the hidden states", .min = 1, .max = 65536 },
    { "embed-dim", 0, OPT_INT(model_config, embed_dim), "E",
      "width of the embedding tables, projected to --dim (ALBERT); 0: the same as --dim",
      .min = 0, .max = 65536 },
    { "share-layers", 0, OPT_FLAG(model_config, share_layers), "",
      "share the parameters of all layers (ALBERT)" },
    { "ffn", 0, OPT_INT(model_config, ffn), "F",
      "width of the feed-forward layers; 0: 4 times --dim", .min = 0, .max = 1 << 20 },
    { "heads|n-heads", 0, OPT_INT(model_config, heads), "H",
      "number of attention heads", .min = 1, .max = 255 },
    { "positions|n-positions", 0, OPT_INT(model_config, positions), "N",
      "longest input in tokens, <s> and </s> included", .min = 2, .max = 4096 },
    { "activation", 0, OPT_CHOICE(model_config, activation), "gelu|relu|gelu-tanh",
      "activation function of the feed-forward layers; gelu is the exact one, gelu-tanh its "
      "approximation by tanh",
      /* "none" would be a feed-forward block without an activation, and "tanh" is for heads */
      .min = KERN_GELU },
    { "pre-norm", 0, OPT_FLAG(model_config, pre_norm), "",
      "apply layer normalisation before each sublayer instead of after it" },
    { "sinusoidal|sinusoidal-embeddings", 0, OPT_FLAG(model_config, sinusoidal), "",
      "use fixed sinusoidal position embeddings instead of learned ones" },
    { "encoder-langs|use-lang-emb", 0, OPT_FLAG(model_config, encoder_langs), "",
      "add language embeddings to the encoder's input" },
    { "dropout", 0, OPT_FLOAT(model_config, dropout), "P",
      "dropout probability of hidden states (default: 0.1, or that of the model it starts from)",
      .min = 0, .max = 0.99 },
    { "attention-dropout", 0, OPT_FLOAT(model_config, attention_dropout), "P",
      "dropout probability of attention weights (default: 0.1, or that of the model it starts "
      "from)", .min = 0, .max = 0.99 },
    { 0 }
};

const struct opt model_encoder_rows[] = {
    { "output-transform", 0, OPT_FLAG(model_config, output_transform), NULL,
      "put a dense layer, activation and layer norm before the output layer (BERT, RoBERTa)" },
    { 0 }
};

const struct opt model_decoder_rows[] = {
    { "decoder-layers|n-dec-layers", 0, OPT_INT(model_config, decoder_layers), "N",
      "number of decoder layers (default: as many as the encoder has)", .min = 1, .max = 1000 },
    { "decoder-langs", 0, OPT_FLAG(model_config, decoder_langs), "",
      "add language embeddings to the decoder's input: they say which language to write" },
    { 0 }
};

void model_options_init(struct model_config *c)
{
    model_config_init(c);
    /* 0: not said, so that --dim alone makes a model of the usual proportions */
    c->ffn = 0;
}

void model_options_finish(struct model_config *c, bool decoder)
{
    if (!c->ffn) c->ffn = 4 * c->dim;
    if (decoder && !c->decoder_layers) c->decoder_layers = c->layers;
}

void model_options_take(struct model_config *c, const struct model_config *from)
{
    prog_take(model_rows, from);
    /* an encoder says nothing about the decoder that is to be put on it */
    if (from->decoder_layers) prog_take(model_decoder_rows, from);
    /* no row of these tables sets them */
    c->token_types = from->token_types;
    if (!prog_given("output-transform")) c->output_transform = from->output_transform;
    c->embed_norm = from->embed_norm;
    c->scale_embed = from->scale_embed;
    c->norm_eps = from->norm_eps;
}
