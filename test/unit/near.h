/* assert_near(A, B, WITHIN): two numbers no farther apart. cmocka's assert_float_equal compares
 * floats, allows a ten millionth of them whatever is asked, and takes what is no number, or
 * infinite, for equal to everything. */
#ifndef UNIT_NEAR_H
#define UNIT_NEAR_H
#include <math.h>
#include <cmocka.h>

static inline void near_at(double a, double b, double within, const char *file, int line)
{
    if (fabs(a - b) <= within) return;
    print_error("%.17g is not within %g of %.17g\n", a, within, b);
    _fail(file, line);
}
#define assert_near(a, b, within) \
    near_at((double)(a), (double)(b), (double)(within), __FILE__, __LINE__)

#endif
