/* Errors that an interpreter finds in a launch, each kind once.
 *
 * A bad line runs a million times, so findings of one kind, source line and subject are counted,
 * and only the first is described.  They reach the Diags when the launch is over, in the order in
 * which they first came, each with how often it came.
 *
 *   if (findings_add(f, KIND, span, buffer, program)) findings_text(f, E_..., ...);
 */
#ifndef NEREID_LANG_INTERP_FINDINGS_H
#define NEREID_LANG_INTERP_FINDINGS_H

#include "lang/base/diag.h"

typedef struct Findings Findings;

Findings *findings_new(Arena *a, Diags *d);

/* Counts one.  True if it is the first of its kind, line and subject (any pointer, or NULL): then
 * the caller describes it with the three below, which are about the last that was new. */
bool findings_add(Findings *f, int kind, Span at, const void *subject, uint64_t program);
void findings_text(Findings *f, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
void findings_note(Findings *f, Span at, const char *fmt, ...)
    __attribute__((format(printf, 3, 4)));
void findings_hint(Findings *f, const char *hint);

size_t findings_count(const Findings *f); /* different ones */
/* Gives all that were not given yet to the Diags. */
void findings_report(Findings *f);

#endif
