/* Signals that ask a program to stop. After signals_catch(), SIGINT, SIGTERM, SIGHUP and SIGUSR1
 * only set a flag; a program that saves its state polls signals_stop() and exits with PROG_AGAIN.
 * Without it the default holds: temporary files that common/files/file.h knows of are removed and
 * the signal kills. */
#ifndef COMMON_PROG_SIGNALS_H
#define COMMON_PROG_SIGNALS_H

/* line: what to say on standard error at the first of them ("stopping after this step"), since what
 * is under way may last minutes; then SIGINT or SIGTERM twice, more than a second after the one
 * before, ends the process as without signals_catch. (timeout(1) and schedulers send a signal twice
 * at once, or one after another, and want the state saved.) NULL: neither. */
void signals_catch(const char *line);
int signals_stop(void);              /* the signal's number, or 0 */

#endif
