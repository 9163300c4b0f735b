/* The C API of records: files, and the database. */
#include <stdio.h>
#include <stdlib.h>

#include "runtime/messages.h"
#include "runtime/records/records.h"
#include "runtime/support/error.h"
#include "runtime/support/files.h"

typedef struct {
  Arena *arena;
  Pool *names;
  Records *records; /* NULL: only files are asked for */
  RecordList list;
  const char *const *paths;
  int npaths;
  nereid_records_change change;
  Text text;
  char *note; /* the last one, kept; NULL: none */
  nereid_message_fn on_message;
  void *context;
} Work;

/* A note is kept back: it is the message of the failure, if there is one. */
static void pass_note_on(const Work *w) { error_tell_kept(w->on_message, w->context, w->note); }

static void keep_last_note(void *context, const char *text) {
  Work *w = context;
  char *note = error_keep_told(text);
  pass_note_on(w);
  free(w->note);
  w->note = note;
}

/* ---- files ---- */

static int read_records_file(Work *w, const char *path) {
  enum { MOST_MIB = 4095 };
  const char *text;
  size_t len;
  int code = files_read_most(w->arena, path, "a file of records", MOST_MIB, &text, &len);
  if (code) return code;
  Diags *d = diags_new(w->arena);
  uint32_t file = diag_source(d, pool_name(w->names, path), text, len);
  if (records_read(w->arena, w->names, d, file, &w->list)) return 0;
  return error_set_diags(NEREID_E_FILE, w->arena, d);
}

static int read_files(Work *w) {
  w->names = pool_new(w->arena);
  int code = 0;
  for (int i = 0; i < w->npaths && !code; i++) code = read_records_file(w, w->paths[i]);
  w->change.read = w->list.len;
  records_sort(&w->list);
  return code;
}

/* ---- what is done in the arena ---- */

static int records_failure(const Work *w) {
  return records_are_off(w->records) ? error_set(NEREID_E_USAGE, E_RUN_RECORDS_OFF)
                                     : error_again(NEREID_E_FILE, w->note);
}

static int get_all(Work *w) {
  RecordsResult got = records_get(w->records, w->arena, NULL, &w->list);
  w->text = text_new(w->arena);
  return got == RECORDS_FAILED || records_are_off(w->records) ? records_failure(w) : 0;
}

static int export_body(void *arg) {
  Work *w = arg;
  int code = get_all(w);
  records_print(&w->text, &w->list);
  return code;
}

static int list_body(void *arg) {
  Work *w = arg;
  int code = get_all(w);
  records_summarize(&w->text, &w->list);
  return code;
}

static int import_body(void *arg) {
  Work *w = arg;
  RecordsChange change;
  int code = read_files(w);
  if (code) return code;
  if (!records_put(w->records, w->list.data, w->list.len, &change)) return records_failure(w);
  w->change.added = change.added;
  w->change.replaced = change.replaced;
  return 0;
}

static int merge_body(void *arg) {
  Work *w = arg;
  int code = read_files(w);
  if (code) return code;
  w->text = text_new(w->arena);
  records_print(&w->text, &w->list);
  return 0;
}

static int work_in_arena(Work *w, int (*body)(void *)) {
  w->arena = arena_new();
  return w->arena ? error_guard(w->arena, body, w) : error_out_of_memory();
}

static int work_with_records(Work *w, int (*body)(void *)) {
  w->records = records_open(keep_last_note, w);
  int code = w->records ? work_in_arena(w, body) : error_out_of_memory();
  records_close(w->records);
  if (!code) pass_note_on(w);
  free(w->note);
  return code;
}

/* Hands the text out, if there is one, and frees the rest. */
static int finish_work(Work *w, int code, char **text, size_t *size) {
  *text = NULL;
  *size = 0;
  if (!code) code = owned_copy(text, size, w->text.data, w->text.len);
  arena_free(w->arena);
  return code;
}

/* ---- the API ---- */

int nereid_records_list(char **text, size_t *size) {
  REQUIRE_OUT(text);
  REQUIRE_OUT(size);
  Work w = {0};
  return finish_work(&w, work_with_records(&w, list_body), text, size);
}

int nereid_records_export(char **text, size_t *size) {
  REQUIRE_OUT(text);
  REQUIRE_OUT(size);
  Work w = {0};
  return finish_work(&w, work_with_records(&w, export_body), text, size);
}

int nereid_records_merge(char **text, size_t *size, const char *const *paths, int n) {
  REQUIRE_OUT(text);
  REQUIRE_OUT(size);
  if (n) REQUIRE(paths);
  Work w = {.paths = paths, .npaths = n};
  return finish_work(&w, work_in_arena(&w, merge_body), text, size);
}

int nereid_records_import(nereid_records_change *change, const char *path,
                          nereid_message_fn on_message, void *context) {
  REQUIRE(path);
  Work w = {.paths = &path, .npaths = 1, .on_message = on_message, .context = context};
  int code = work_with_records(&w, import_body);
  if (!code && change) *change = w.change;
  arena_free(w.arena);
  return code;
}
