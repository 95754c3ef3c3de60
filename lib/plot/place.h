/* Placement of words next to the points they label: inside the picture, overlapping neither
 * each other nor labelled points. All lengths in pixels, from the top left. */
#ifndef PLOT_PLACE_H
#define PLOT_PLACE_H
#include <stdbool.h>
#include <stdint.h>

/* Which pixels are taken, in squares of PLACE_CELL. */
enum { PLACE_CELL = 2 };
struct place { double width, height; int across, down; uint8_t *taken; };

/* Of a picture whose words may lie in [0, width] x [0, height]. */
void place_open(struct place *p, double width, double height);
/* Nothing lies on a point that was marked, nor within half of `size` of it. */
void place_mark(struct place *p, double x, double y, double size);
/* The box of a word whose point is at (x, y): as near to the point as there is room, to its right
 * if it can be, and taken from then on. *far: so far away that a line should lead there. false:
 * no room within some 200 pixels. */
struct place_box { double left, top, width, height; };
bool place_word(struct place *p, double x, double y, double width, double height,
                struct place_box *box, bool *far);
void place_close(struct place *p);

/* How wide UTF-8 text is at most in a sans-serif font of `size` pixels: Helvetica, Arial,
 * Liberation Sans, or DejaVu Sans, whose letters are the widest of these. */
double place_text_width(const char *s, double size);

#endif
