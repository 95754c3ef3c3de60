/* --write-batches DIR: every micro-batch as the model reads it, one safetensors file for each
 * objective that learns from it, so that anyone can inspect what a model reads or repeat the
 * run's steps elsewhere. docs/formats/batches.md says what each array holds; an objective puts
 * its own arrays together:
 *
 *   struct batch_file f = { 0 };
 *   batch_file_rows(&f, "", &b->input);
 *   batch_file_int32(&f, "target", b->target, b->n, 1);
 *   batch_file_scalar(&f, "weight", scale);
 *   if (batch_file_write(&f, dir, step, a, "mlm") < 0) ... */
#ifndef ENGINE_WRITE_BATCHES_H
#define ENGINE_WRITE_BATCHES_H
#include <stdint.h>
#include "common/json/safetensors.h"
#include "lib/model/batch.h"

enum { BATCH_ARRAYS = 32 };
/* The arrays of one file; zeros at first. Arrays are copied when they are added: what they were
 * made from may change. */
struct batch_file { struct st_tensor t[BATCH_ARRAYS]; int n; };

/* Adds array `name`, [rows], or [rows, cols] where cols is above 1. */
void batch_file_int32(struct batch_file *f, const char *name, const int32_t *x, int rows, int cols);
void batch_file_int64(struct batch_file *f, const char *name, const int64_t *x, int rows, int cols);
void batch_file_float(struct batch_file *f, const char *name, const float *x, int rows, int cols);
void batch_file_bytes(struct batch_file *f, const char *name, const uint8_t *x, int rows);
void batch_file_scalar(struct batch_file *f, const char *name, double x);           /* float, [1] */
/* Adds what the model reads of b: PREFIXtoken, PREFIXpos, PREFIXlang, PREFIXtype [rows],
 * PREFIXat [sentences + 1], PREFIXsample [sentences]. */
void batch_file_rows(struct batch_file *f, const char *prefix, const struct batch *b);

/* Writes DIR/step-STEP.A.OBJECTIVE.safetensors atomically and frees f's arrays, also when it fails.
 * step and a (the micro-batch within the step) count from 1. The folder must exist. 0, or -1 with a
 * message. */
int batch_file_write(struct batch_file *f, const char *dir, int64_t step, int a,
                     const char *objective);

#endif
