#include "kernels/cuda/attn.h"
bool flash_fwd(act *, float *, const act *, const act *, const act *, const struct kern_attn *, const struct attn_mask *) { return false; }
bool flash_bwd(act *, act *, act *, const act *, const act *, const act *, const act *, const float *, const float *, const struct kern_attn *, const struct attn_mask *) { return false; }
