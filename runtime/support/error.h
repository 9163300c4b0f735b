/* The last failure of each thread, and running code that may run out of memory.
 *
 * runtime/support owns the host's services that know nothing of kernels: failures, files, processes
 * and tools, threads (team.h, parallel.h), logs, random numbers, and .npy files.  It takes and
 * gives plain data.
 *
 * The message is the one piece of state that is no object's: it belongs to the thread, as errno
 * does, so that functions which make objects can say why they made none. */
#ifndef NEREID_RUNTIME_SUPPORT_ERROR_H
#define NEREID_RUNTIME_SUPPORT_ERROR_H

#include "lang/base/arena.h"
#include "lang/base/bug.h"
#include "lang/base/diag.h"
#include "runtime/nereid.h"

/* Keeps the message and returns `code`. */
int error_set(int code, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
/* Add to the last failure the resource that is short (its name is a literal), or the kernel.  Both
 * return its code. */
int error_resource(Resource need);
int error_of_kernel(const char *name);
/* A longer text for the last failure, which has its text; returns its code. */
int error_within(const char *fmt, ...) __attribute__((format(printf, 1, 2)));
/* The last failure for later, of this thread or another: its text, which is malloc'ed, and beyond
 * its end what else is known.  NULL: out of memory, which error_again takes too. */
char *error_keep(void);
/* The same in an arena: of the last failure, and of messages. */
const char *error_keep_in(Arena *a);
const char *error_keep_diags(Arena *a, const Diags *d);
/* The same of the text that a callback was given, while it runs. */
char *error_keep_told(const char *text);
/* Makes it the last failure again, with that code; returns the code. */
int error_again(int code, const char *kept);
/* The last failure is the message of this format, of which its text was made before; returns its
 * code. */
int error_format(const char *format);
/* The id of part i of the last failure's text, which has that severity; of the text that a callback
 * was given, while it runs.  "": it has none. */
const char *error_id(size_t i, Severity s);
const char *error_told_id(size_t i, Severity s);
/* Gives the messages to a callback, unless it is NULL. */
void error_tell(nereid_message_fn fn, void *context, Arena *a, const Diags *d);
/* The same of what was kept, and of a note. */
void error_tell_kept(nereid_message_fn fn, void *context, const char *kept);
void error_tell_note(nereid_message_fn fn, void *context, const char *fmt, ...)
    __attribute__((format(printf, 3, 4)));
void error_vtell_note(nereid_message_fn fn, void *context, const char *fmt, va_list ap);
/* The messages as text, and the first resource that is short among them. */
int error_set_diags(int code, Arena *a, const Diags *d);
int error_out_of_memory(void);
/* NEREID_E_INTERNAL: the thread's last internal error (lang/base/bug.h), as a report to send. */
int error_internal(void);
/* More lines of the last failure's message; returns its code. */
int error_add(const char *fmt, ...) __attribute__((format(printf, 1, 2)));
/* The same, of a note without the newline at its end. */
int error_add_note(const char *fmt, ...) __attribute__((format(printf, 1, 2)));
/* NEREID_E_USAGE: argument `name` of a public function is NULL. */
int error_null(const char *function, const char *name);

/* NEREID_E_USAGE: there is no such target (runtime/support/version.c). */
int error_target(const char *name);

/* At the beginning of a public function: an argument that must not be NULL. */
#define REQUIRE(p) REQUIRE_OR(p, NEREID_E_USAGE)
/* REQUIRE for an out-parameter, which a failure leaves at 0. */
#define REQUIRE_OUT(p) \
  REQUIRE(p);          \
  *(p) = (__typeof__(*(p))){0}
/* REQUIRE for a function that returns no code. */
#define REQUIRE_OR(p, result) \
  if (!(p)) return error_null(__func__, #p), (result)

/* Runs body(arg), during which `a` may run out of memory: then NEREID_E_MEMORY; or an internal
 * error may occur: then NEREID_E_INTERNAL.  Objects made by `body` outside of the arena are lost in
 * that case, so it makes none. */
int error_guard(Arena *a, int (*body)(void *), void *arg);
/* error_guard for a body that uses no arena. */
int error_guard_bare(int (*body)(void *), void *arg);
/* Runs body as a stage that internal errors name: bug_stage(). */
int error_guard_stage(Arena *a, const char *stage, int (*body)(void *), void *arg);

/* The name among `names` (n of them) nearest to `name`, NULL if none is near. */
const char *error_nearest(const char *name, const char *const *names, size_t n);
/* " (did you mean NAME?)" or "", in `out`. */
const char *error_suggest(char *out, size_t size, const char *name, const char *const *names,
                          size_t n);
/* Suggests the nearest name, or " (there are NAME, NAME ...)" if none is near. */
const char *error_suggest_or_list(char *out, size_t size, const char *name,
                                  const char *const *names, size_t n);

/* A copy of `len` bytes with a NUL after them. */
int owned_copy(char **out, size_t *size, const char *from, size_t len);

#endif
