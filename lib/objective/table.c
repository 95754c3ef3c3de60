#include "lib/objective/table.h"

#define DECLARE(name) extern const struct objective objective_##name;
#define ROW(name) &objective_##name,
OBJECTIVES(DECLARE)

const struct objective *const objectives[] = { OBJECTIVES(ROW) 0 };
