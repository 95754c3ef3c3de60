#include "kernels/options.h"

const struct opt kern_rows[] = {
    { "device", 0, OPT_STR(kern_options, device), "NAME", "auto, cpu or cuda" },
    { "precision", 0, OPT_CHOICE(kern_options, precision), "float32|bf16",
      "of matrix products; bf16 adds in float32 and keeps float32 parameters" },
    { 0 } };
