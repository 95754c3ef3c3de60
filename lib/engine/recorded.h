/* The options that a run began with, as its run.config has them, beside those that it is to go on
 * with. */
#ifndef ENGINE_RECORDED_H
#define ENGINE_RECORDED_H

/* config: the effective options now (prog_config). -1 with a message if one that makes the numbers
 * of the run has another value in dir's run.config; without such a file all are taken. Files may
 * have other names (they may have been moved), languages not. */
int recorded_check(const char *dir, const char *config);

#endif
