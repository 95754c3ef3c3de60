/* On which device, and how exactly, a program computes: the options of all that run a model. */
#ifndef KERNELS_OPTIONS_H
#define KERNELS_OPTIONS_H
#include "common/prog.h"
#include "kernels/kernels.h"

struct kern_options { const char *device; enum kern_precision precision; };     /* kernels_open's */
static const struct kern_options kern_defaults = { .device = "auto", .precision = KERN_FLOAT32 };
extern const struct opt kern_rows[];

/* For --version and the environment, of every program that multiplies matrices. */
extern const struct prog_part kern_part;

#endif
