#include "runtime/support/error.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "build_id.h"
#include "lang/messages.h"
#include "runtime/messages.h"
#include "runtime/support/message_text.h"

enum { MESSAGE_MAX = 1 << 16, KERNEL_NAME_MAX = 256, IDS_MAX = 256 };

/* By parts of a text; those past the last one have none. */
typedef struct {
  const char *of[IDS_MAX];
  size_t n;
} MessageIds;

/* A failure beside its code and text. */
typedef struct {
  Resource resource;
  char kernel[KERNEL_NAME_MAX];
  MessageIds ids;
} About;

static _Thread_local struct {
  int code;
  char text[MESSAGE_MAX];
  char parts[MESSAGE_MAX]; /* the text, cut into strings */
  About about;
} last;

/* Ids of the parts of the text that a callback has now. */
static _Thread_local MessageIds told;

const char *nereid_error_message(void) { return last.text; }
int nereid_error_code(void) { return last.code; }

int error_set(int code, const char *fmt, ...) {
  /* An argument may be the message before this one. */
  char text[MESSAGE_MAX];
  va_list ap;
  va_start(ap, fmt);
  int n = vsnprintf(text, sizeof text, fmt, ap);
  va_end(ap);
  if (n >= MESSAGE_MAX) memcpy(text + MESSAGE_MAX - 5, "...\n", 5);
  memcpy(last.text, text, n < 0 ? 1 : n >= MESSAGE_MAX ? MESSAGE_MAX : (size_t)n + 1);
  last.code = code;
  last.about = (About){.ids = {{message_id(fmt)}, 1}};
  return code;
}

int error_within(const char *fmt, ...) {
  About about = last.about;
  char text[MESSAGE_MAX];
  va_list ap;
  va_start(ap, fmt);
  vsnprintf(text, sizeof text, fmt, ap);
  va_end(ap);
  error_set(last.code, "%s", text);
  last.about = about;
  return last.code;
}

/* ---- kept: a text, and beyond its end what else is known ---- */

static size_t kept_size(const char *text) { return strlen(text) + 1 + sizeof(About); }

static char *keep_at(char *to, const char *text, const About *about) {
  size_t n = strlen(text) + 1;
  if (!to) return NULL;
  memcpy(to, text, n);
  memcpy(to + n, about, sizeof *about);
  return to;
}

static About about_kept(const char *kept) {
  About about;
  memcpy(&about, kept + strlen(kept) + 1, sizeof about);
  return about;
}

char *error_keep(void) { return keep_at(malloc(kept_size(last.text)), last.text, &last.about); }

const char *error_keep_in(Arena *a) {
  return keep_at(arena_alloc(a, kept_size(last.text)), last.text, &last.about);
}

char *error_keep_told(const char *text) {
  return keep_at(malloc(kept_size(text)), text, &(About){.ids = told});
}

int error_again(int code, const char *kept) {
  if (!kept) return error_set(code, E_LANG_OUT_OF_MEMORY);
  error_set(code, "%s", kept);
  last.about = about_kept(kept);
  return code;
}

int error_format(const char *format) {
  last.about.ids = (MessageIds){{message_id(format)}, 1};
  return last.code;
}

int error_resource(Resource need) {
  last.about.resource = need;
  return last.code;
}

int error_of_kernel(const char *name) {
  snprintf(last.about.kernel, sizeof last.about.kernel, "%s", name);
  return last.code;
}

static MessageIds ids_of(const Diags *d) {
  MessageIds ids = {.n = diag_count(d) < IDS_MAX ? diag_count(d) : IDS_MAX};
  for (size_t i = 0; i < ids.n; i++) ids.of[i] = diag_get(d, i)->id;
  return ids;
}

/* A part after the first may be output of a tool, which reads as messages do: those have no ids.  A
 * note may be what a failure tells. */
static const char *id_of(const MessageIds *ids, size_t i, Severity s) {
  return i < ids->n && (!i || *ids->of[i] == "EWNH"[s]) ? ids->of[i] : "";
}

const char *error_id(size_t i, Severity s) { return id_of(&last.about.ids, i, s); }
const char *error_told_id(size_t i, Severity s) { return id_of(&told, i, s); }

static void tell(nereid_message_fn fn, void *context, const char *text, MessageIds ids) {
  told = ids;
  fn(context, text);
  told.n = 0;
}

void error_tell(nereid_message_fn fn, void *context, Arena *a, const Diags *d) {
  Text text = text_new(a);
  diag_print(d, &text);
  if (fn) tell(fn, context, text.data, ids_of(d));
}

void error_tell_kept(nereid_message_fn fn, void *context, const char *kept) {
  if (fn && kept) tell(fn, context, kept, about_kept(kept).ids);
}

void error_vtell_note(nereid_message_fn fn, void *context, const char *fmt, va_list ap) {
  char text[MESSAGE_MAX];
  vsnprintf(text, sizeof text, fmt, ap);
  if (fn) tell(fn, context, text, (MessageIds){{message_id(fmt)}, 1});
}

void error_tell_note(nereid_message_fn fn, void *context, const char *fmt, ...) {
  va_list ap;
  va_start(ap, fmt);
  error_vtell_note(fn, context, fmt, ap);
  va_end(ap);
}

const char *error_keep_diags(Arena *a, const Diags *d) {
  Text text = text_new(a);
  diag_print(d, &text);
  return keep_at(arena_alloc(a, kept_size(text.data)), text.data, &(About){.ids = ids_of(d)});
}

int error_set_diags(int code, Arena *a, const Diags *d) {
  Text text = text_new(a);
  diag_print(d, &text);
  error_set(code, "%s", text.data);
  last.about.ids = ids_of(d);
  for (size_t i = diag_count(d); i-- > 0;)
    if (diag_get(d, i)->resource.name) error_resource(diag_get(d, i)->resource);
  return code;
}

int error_out_of_memory(void) { return error_set(NEREID_E_MEMORY, E_LANG_OUT_OF_MEMORY); }

int error_internal(void) {
  const BugReport *r = bug_report();
  error_set(NEREID_E_INTERNAL, "error: " E_RUN_INTERNAL "\n", *r->stage ? " in stage " : "",
            r->stage, r->file, r->line, r->text);
  error_format(E_RUN_INTERNAL);
  error_add_note(N_RUN_INTERNAL);
  error_add("\n");
  error_add_note(N_RUN_VERSION, NEREID_VERSION, NEREID_BUILD_ID);
  return error_add("\n");
}

static void add_text(const char *fmt, va_list ap) {
  size_t n = strlen(last.text);
  vsnprintf(last.text + n, sizeof last.text - n, fmt, ap);
}

int error_add(const char *fmt, ...) {
  va_list ap;
  va_start(ap, fmt);
  add_text(fmt, ap);
  va_end(ap);
  return last.code;
}

int error_add_note(const char *fmt, ...) {
  MessageIds *ids = &last.about.ids;
  if (ids->n < IDS_MAX) ids->of[ids->n++] = message_id(fmt);
  va_list ap;
  va_start(ap, fmt);
  error_add("note: ");
  add_text(fmt, ap);
  va_end(ap);
  return last.code;
}

int error_null(const char *function, const char *name) {
  return error_set(NEREID_E_USAGE, E_RUN_NULL, function, name);
}

int error_guard(Arena *a, int (*body)(void *), void *arg) {
  return error_guard_stage(a, NULL, body, arg);
}

int error_guard_stage(Arena *a, const char *stage, int (*body)(void *), void *arg) {
  JumpPlace place;
  int code;
  arena_catch(a, &place);
  switch (setjmp(place.jump)) {
    case 0:
      if (stage) bug_stage(stage);
      code = body(arg);
      break;
    case JUMP_BUG: code = error_internal(); break;
    default: code = error_out_of_memory();
  }
  arena_release(a, &place);
  return code;
}

typedef struct {
  int (*body)(void *);
  void *arg;
  int code;
} Bare;

static void bare_body(void *arg) {
  Bare *b = arg;
  b->code = b->body(b->arg);
}

int error_guard_bare(int (*body)(void *), void *arg) {
  Bare b = {body, arg, 0};
  return bug_guard(bare_body, &b) ? b.code : error_internal();
}

/* ---- the last failure as data ---- */

_Static_assert((int)NEREID_SEVERITY_ERROR == (int)DIAG_ERROR &&
                   (int)NEREID_SEVERITY_HINT == (int)DIAG_HINT,
               "severities of the API are those of diagnostics");

/* The byte after a slice ends a part of the text: it may become a NUL. */
static const char *cut(char *text, Slice s) {
  if (!s.data || !s.len) return "";
  char *begin = text + (s.data - text);
  begin[s.len] = 0;
  return begin;
}

int nereid_message_next(nereid_diagnostic *out, char **text) {
  REQUIRE(out);
  *out = (nereid_diagnostic){.file = "", .text = "", .source = "", .id = ""};
  REQUIRE(text);
  if (!*text || !**text) return 0;
  const char *rest = *text;
  Message m = message_next(&rest);
  char *begin = *text;
  *text += rest - begin;
  *out = (nereid_diagnostic){.severity = (nereid_severity)m.severity,
                             .file = cut(begin, m.file),
                             .line = m.line,
                             .column = m.column,
                             .text = cut(begin, m.text),
                             .source = cut(begin, m.source),
                             .caret = m.caret,
                             .length = m.length,
                             .id = ""};
  return 1;
}

/* Finds part `at` and returns their number.  Each call cuts the text at the same bytes, so that
 * earlier results stay as they are. */
static int read_parts(nereid_diagnostic *found, int at) {
  nereid_diagnostic d;
  int n = 0;
  memcpy(last.parts, last.text, strlen(last.text) + 1);
  for (char *text = last.parts; nereid_message_next(&d, &text) > 0; n++)
    if (n == at) {
      *found = d;
      found->id = error_id((size_t)n, (Severity)d.severity);
    }
  return n;
}

int nereid_error_count(void) { return read_parts(NULL, -1); }

int nereid_error_diagnostic(nereid_diagnostic *out, int i) {
  REQUIRE_OUT(out);
  int n = read_parts(out, i);
  return i >= 0 && i < n ? 0 : error_set(NEREID_E_USAGE, E_RUN_NO_DIAGNOSTIC, i, n);
}

const char *nereid_error_kernel(void) { return last.about.kernel; }

int nereid_error_resource(nereid_resource *out) {
  REQUIRE_OUT(out);
  const Resource *r = &last.about.resource;
  *out = (nereid_resource){r->name ? r->name : "", r->required, r->limit};
  return 0;
}

/* ---- names that are near ---- */

/* Edit distance, up to `limit`; names longer than the row never match. */
static unsigned edit_distance(const char *a, const char *b) {
  enum { LONGEST = 63 };
  size_t n = strlen(a), m = strlen(b);
  if (n > LONGEST || m > LONGEST) return LONGEST;
  unsigned row[LONGEST + 1];
  for (size_t j = 0; j <= m; j++) row[j] = (unsigned)j;
  for (size_t i = 1; i <= n; i++) {
    unsigned diagonal = row[0];
    row[0] = (unsigned)i;
    for (size_t j = 1; j <= m; j++) {
      unsigned best = diagonal + (a[i - 1] != b[j - 1]);
      diagonal = row[j];
      if (row[j] + 1 < best) best = row[j] + 1;
      if (row[j - 1] + 1 < best) best = row[j - 1] + 1;
      row[j] = best;
    }
  }
  return row[m];
}

const char *error_nearest(const char *name, const char *const *names, size_t n) {
  const char *best = NULL;
  unsigned limit = strlen(name) < 4 ? 1 : strlen(name) < 8 ? 2 : 3;
  for (size_t i = 0; i < n; i++) {
    unsigned d = edit_distance(name, names[i]);
    if (d > limit || (best && d >= limit + 1)) continue;
    if (!best || d < edit_distance(name, best)) best = names[i];
  }
  return best;
}

const char *error_suggest(char *out, size_t size, const char *name, const char *const *names,
                          size_t n) {
  const char *near = error_nearest(name, names, n);
  if (near) snprintf(out, size, " (did you mean %s?)", near);
  else out[0] = 0;
  return out;
}

const char *error_suggest_or_list(char *out, size_t size, const char *name,
                                  const char *const *names, size_t n) {
  size_t at = 0;
  if (*error_suggest(out, size, name, names, n) || !n) return out;
  for (size_t i = 0; i < n; i++) {
    int len = snprintf(out + at, size - at, "%s%s", i ? ", " : " (there are ", names[i]);
    if (len < 0 || at + (size_t)len + sizeof " ...)" > size) {
      snprintf(out + at, size - at, " ...");
      break;
    }
    at += (size_t)len;
  }
  at = strlen(out);
  if (at + 1 < size) memcpy(out + at, ")", 2);
  return out;
}

/* ---- texts for the caller ---- */

void nereid_text_free(char *text) { free(text); }

int owned_copy(char **out, size_t *size, const char *from, size_t len) {
  *out = malloc(len + 1);
  if (!*out) return error_out_of_memory();
  memcpy(*out, from, len);
  (*out)[len] = 0;
  *size = len;
  return 0;
}
