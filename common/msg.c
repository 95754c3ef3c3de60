#include "common/msg.h"
#include "common/shown.h"
#include <stdio.h>
#include <string.h>

static const char *program = "isoglot";
static bool be_quiet, be_mute;
static bool (*has_option)(const char *long_name);
static void (*clear_line)(void);

void msg_set_name(const char *name) { program = name; }
void msg_set_quiet(bool quiet) { be_quiet = quiet; }
void msg_set_mute(bool mute) { be_mute = mute; }
void msg_set_options(bool (*has)(const char *long_name)) { has_option = has; }
void msg_set_line(void (*clear)(void)) { clear_line = clear; }

const char *msg_name(void) { return program; }
bool msg_is_mute(void) { return be_mute; }
bool msg_quiet(void) { return be_quiet || be_mute; }
bool msg_has_option(const char *long_name) { return has_option && has_option(long_name); }

void msg_clear_line(void)
{
    if (clear_line) clear_line();
}

/* One fprintf: what other threads say does not come in between. */
void msg_say(const char *fmt, va_list ap)
{
    char text[4096], line[4096];
    if (be_mute) return;
    vsnprintf(text, sizeof text, fmt, ap);
    shown(line, sizeof line, text, strlen(text));
    msg_clear_line();
    fprintf(stderr, "%s: %s\n", program, line);
}

void msg_note(const char *fmt, ...)
{
    if (be_quiet) return;
    va_list ap;
    va_start(ap, fmt);
    msg_say(fmt, ap);
    va_end(ap);
}

void msg_warn(const char *fmt, ...)
{
    va_list ap;
    va_start(ap, fmt);
    msg_say(fmt, ap);
    va_end(ap);
}
