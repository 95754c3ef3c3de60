#include "lib/plot/place.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "common/mem.h"

void place_open(struct place *p, double width, double height)
{
    *p = (struct place){ .width = width, .height = height };
    p->across = (int)ceil(width / PLACE_CELL) + 1;
    p->down = (int)ceil(height / PLACE_CELL) + 1;
    p->taken = mem_zero((size_t)p->across * (size_t)p->down, 1);
}

void place_close(struct place *p)
{
    free(p->taken);
    *p = (struct place){ 0 };
}

/* The squares that a box touches: rows [y0, y1), columns [x0, x1). */
struct squares { int x0, y0, x1, y1; };

static struct squares touched(const struct place *p, double left, double top, double w, double h)
{
    return (struct squares){ (int)fmax(floor(left / PLACE_CELL), 0),
                             (int)fmax(floor(top / PLACE_CELL), 0),
                             (int)fmin(ceil((left + w) / PLACE_CELL), p->across),
                             (int)fmin(ceil((top + h) / PLACE_CELL), p->down) };
}

static void take(struct place *p, struct squares s)
{
    for (int y = s.y0; y < s.y1; y++)
        for (int x = s.x0; x < s.x1; x++) p->taken[(size_t)y * (size_t)p->across + (size_t)x] = 1;
}

static bool is_free(const struct place *p, struct squares s)
{
    for (int y = s.y0; y < s.y1; y++)
        if (memchr(p->taken + (size_t)y * (size_t)p->across + s.x0, 1, (size_t)(s.x1 - s.x0)))
            return false;
    return true;
}

void place_mark(struct place *p, double x, double y, double size)
{
    take(p, touched(p, x - size / 2, y - size / 2, size, size));
}

bool place_word(struct place *p, double x, double y, double width, double height,
                struct place_box *box, bool *far)
{
    /* in sixteenths of a turn: right, left, then what is between */
    static const int turn[] = { 0, 8, 1, 15, 7, 9, 2, 14, 6, 10, 3, 13, 5, 11, 4, 12 };
    static const double distance[] = { 5, 9, 14, 20, 28, 38, 50, 65, 85, 110, 150, 200 };
    for (size_t k = 0; k < sizeof distance / sizeof *distance; k++)
        for (size_t i = 0; i < sizeof turn / sizeof *turn; i++) {
            double cx = cos(turn[i] * M_PI / 8), cy = -sin(turn[i] * M_PI / 8),
                   left = x + distance[k] * cx + (cx - 1) / 2 * width,
                   top = y + distance[k] * cy + (cy - 1) / 2 * height;
            if (left < 0 || top < 0 || left + width > p->width || top + height > p->height)
                continue;
            struct squares s = touched(p, left, top, width, height);
            if (!is_free(p, s)) continue;
            take(p, s);
            *box = (struct place_box){ left, top, width, height };
            *far = distance[k] > 14;
            return true;
        }
    return false;
}

/* Of one character, by its code, in parts of the font's size. */
static double advance(uint32_t c)
{
    if (c < 0x80) {
        if (strchr("iIjl.,:;'|! ()[]ftr-/", (int)c)) return 0.42;
        if (strchr("mwMW@%", (int)c)) return 0.99;
        return c >= 'A' && c <= 'Z' ? 0.79 : 0.65;
    }
    if (c >= 0x300 && c < 0x370) return 0;      /* combining marks */
    return c < 0x1100 ? 0.8 : 1.05;
}

double place_text_width(const char *s, double size)
{
    double w = 0;
    while (*s) {
        uint32_t c = (unsigned char)*s++;
        if (c >= 0xC0) {
            for (c &= c >= 0xF0 ? 7 : c >= 0xE0 ? 15 : 31; ((unsigned char)*s & 0xC0) == 0x80; s++)
                c = c << 6 | ((unsigned char)*s & 63);
        }
        w += advance(c);
    }
    return w * size;
}
