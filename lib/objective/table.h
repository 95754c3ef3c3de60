/* Every objective. A new one is a file in this folder and a word in this list. */
#ifndef OBJECTIVE_TABLE_H
#define OBJECTIVE_TABLE_H
#include "lib/engine/objective.h"

#define OBJECTIVES(X) X(mlm) X(gc) X(tlm) X(moco) X(tcs) X(scs) X(mass) X(sop) X(align) X(dict) \
    X(mt) X(pseudo) X(denoise) X(back) X(class) X(tag) X(span)

extern const struct objective *const objectives[];       /* ends with NULL */

#endif
