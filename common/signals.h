/* Signals that ask a program to stop. After signals_catch(), SIGINT, SIGTERM, SIGHUP and SIGUSR1
 * only set a flag; a program that saves its state polls signals_stop() and exits with PROG_AGAIN.
 * Without it the default holds: temporary files that common/file.h knows of are removed and the
 * signal kills. */
#ifndef COMMON_SIGNALS_H
#define COMMON_SIGNALS_H

void signals_catch(void);
int signals_stop(void);              /* the signal's number, or 0 */

#endif
