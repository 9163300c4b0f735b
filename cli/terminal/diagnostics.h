/* Messages on standard error: the program's own, and those of the API, which are texts of one or
 * several diagnostics (lang/base/diag.h). */
#ifndef NEREID_CLI_TERMINAL_DIAGNOSTICS_H
#define NEREID_CLI_TERMINAL_DIAGNOSTICS_H

#include <stdarg.h>
#include <stdbool.h>

#include "lang/base/diag.h"
#include "runtime/nereid.h"

/* Are ids asked for, after the first line of a message? */
bool message_has_id(void);
/* A message without a location. */
void message_print(const char *severity, const char *fmt, ...)
    __attribute__((format(printf, 2, 3)));
void message_vprint(const char *severity, const char *fmt, va_list ap);
/* The id of part i of a text, which has that severity: error_id, error_told_id. */
typedef const char *MessageId(size_t i, Severity s);
/* A text of the API.  If it ends in a newline it consists of diagnostics, which say themselves how
 * severe they are. */
void message_show(const char *severity, const char *text, MessageId *id_of);

/* ---- fault.c ---- */

/* Tells of faults from now on, of one device at a time; NULL, before it is closed, ends that. */
void fault_watch(const nereid_device *d);

#endif
