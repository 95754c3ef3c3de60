/* The device and precision of computation: options of every program that runs a model. */
#ifndef KERNELS_OPTIONS_H
#define KERNELS_OPTIONS_H
#include "common/prog/prog.h"
#include "kernels/kernels.h"

struct kern_options { const char *device; enum kern_precision precision; };     /* kernels_open's */
static const struct kern_options kern_defaults = { .device = "auto", .precision = KERN_FLOAT32 };
extern const struct opt kern_rows[];
/* The same for programs that only use a model: also int8. */
extern const struct opt kern_use_rows[];

/* For --version and the environment, of every program that multiplies matrices. */
extern const struct prog_part kern_part;

#endif
