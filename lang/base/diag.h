/* Sources, spans and diagnostics.
 *
 * lang/base owns the vocabulary of all rooms: arenas (arena.h), names and texts (strings.h), dtypes
 * (dtype.h), the lexical rules of IR text (irtext.h), tables of passes (pass.h), and diagnostics,
 * which are here.  It takes sources and messages, and gives spans, and reports of the messages with
 * the source lines around them.  It knows nothing of Python, kernels or machines.
 *
 * A Span names a location by file, line and column, so that it survives printing an IR and reading
 * it back.  Diagnostics are collected, never fatal: a stage reports all it finds and its caller
 * asks diag_errors() whether to go on.  The texts of messages are the macros of lang/messages.h,
 * so that the compiler checks their arguments and a test can walk them.
 *
 *   FILE:LINE:COL: error: text
 *       the source line
 *       ^~~~
 *   FILE:LINE:COL: note: text            (notes and hints follow their error)
 */
#ifndef NEREID_LANG_BASE_DIAG_H
#define NEREID_LANG_BASE_DIAG_H

#include <stdbool.h>
#include <stdint.h>

#include "lang/base/bug.h"
#include "lang/base/strings.h"

/* file 0 is "no location"; line and col count from 1, col in bytes; len is what the caret
 * underlines (at least 1). */
typedef struct {
  uint32_t file, line, col, len;
} Span;

typedef struct {
  Name name;        /* as it is printed: relative where the user gave it so */
  const char *text; /* NULL: not at hand (a name read from an IR file) */
  size_t len;
  uint32_t margin;  /* blanks at the start of each line that are no indentation */
} Source;

typedef enum { DIAG_ERROR, DIAG_WARNING, DIAG_NOTE, DIAG_HINT } Severity;

const char *diag_severity_name(Severity s); /* "error" */

/* What a kernel needs of a device, and what there is. */
typedef struct {
  const char *name; /* "shared memory"; NULL: none */
  int64_t required, limit;
} Resource;

/* A message of a room's messages.h: its id is its name there, its format is its value. */
typedef struct {
  const char *id, *format, *remedy; /* remedy: NULL, where the text says it */
} MessageRow;

/* The messages of all rooms, which the build gathers; the last has no id. */
extern const MessageRow message_rows[];
/* The message that has this format; NULL: none has. */
const MessageRow *message_of(const char *format);
/* Its id; "": none. */
const char *message_id(const char *format);

typedef struct {
  Severity severity;
  Resource resource; /* by diag_resource_limit */
  Span span;
  const char *id; /* the message's; "" if it has none */
  const char *text;
} Diag;

typedef struct Diags Diags;

Diags *diags_new(Arena *a);

/* Registers a source and returns its file number (from 1).  `text` must outlive the Diags.
 * A name that is known already returns its number, and gives it the text if it had none. */
uint32_t diag_source(Diags *d, Name name, const char *text, size_t len);
/* Adds a part of the file `name`, always as a new source.  Line 1 of `text` is line `line` of the
 * file, and `margin` columns were cut from each line; both are restored, so that locations refer to
 * the file. */
uint32_t diag_part(Diags *d, Name name, const char *text, size_t len, uint32_t line,
                   uint32_t margin);
/* Another text, as long as that of the source: what is read of it from now on. */
void diag_set_text(Diags *d, uint32_t file, const char *text);
const Source *diag_file(const Diags *d, uint32_t file); /* NULL for 0 or an unknown number */
uint32_t diag_file_count(const Diags *d);

void diag_error(Diags *d, Span at, const char *fmt, ...) __attribute__((format(printf, 3, 4)));
/* An error of the kernel's sizes alone: it needs more of a device's resource than there is. */
void diag_resource_limit(Diags *d, Span at, Resource need, const char *fmt, ...)
    __attribute__((format(printf, 4, 5)));
void diag_warning(Diags *d, Span at, const char *fmt, ...) __attribute__((format(printf, 3, 4)));
/* Attached to the message before it. */
void diag_note(Diags *d, Span at, const char *fmt, ...) __attribute__((format(printf, 3, 4)));
void diag_hint(Diags *d, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
/* The last one is the message of this format, of which its text was made before. */
void diag_format(Diags *d, const char *format);

/* Errors so far.  After DIAG_LIMIT of them further ones are counted, not kept. */
enum { DIAG_LIMIT = 50 };
size_t diag_errors(const Diags *d);
/* Are there errors, and all of them by diag_resource_limit? */
bool diag_only_resource_limits(const Diags *d);
size_t diag_count(const Diags *d);
const Diag *diag_get(const Diags *d, size_t i);

/* Drops all messages but the first `count`, for who tries something or goes on after having shown
 * them; sources stay. */
void diag_rewind(Diags *d, size_t count);

/* All messages in order, in the form above; without a place, from the severity on. */
void diag_print(const Diags *d, Text *out);

#endif
