/* A weight that changes during training, written as XLM writes its lambdas: "1" is constant,
 * "0:1,100000:0.1,300000:0" goes linearly from 1 at step 0 to 0.1 at step 100,000 and to 0 at step
 * 300,000, where it stays. */
#ifndef ENGINE_RAMP_H
#define ENGINE_RAMP_H
#include <stdint.h>

enum { RAMP_MAX = 16 };
struct ramp { int n; struct { int64_t step; double value; } at[RAMP_MAX]; };

/* Values are finite and not negative, steps grow. -1 with a message. */
int ramp_parse(struct ramp *r, const char *s);
double ramp_value(const struct ramp *r, int64_t step);

#endif
