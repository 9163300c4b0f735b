#include "cli/arguments/request.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "cli/messages.h"
#include "runtime/compile/config.h"
#include "runtime/compile/spec.h"
#include "runtime/support/files.h"
#include "sema/sema.h"

bool request_has(const Request *r, const char *name) {
  for (int i = 0; i < r->names.len; i++)
    if (sema_is_item(r->names.data[i], name)) return true;
  return false;
}

int request_add(Request *r, const char *name, const char *type, const char *value) {
  int n = r->names.len;
  const char *text = type ? type : value;
  bool *typed = realloc(r->typed, sizeof(bool) * (size_t)(n + 1));
  if (!typed) return args_out_of_memory();
  r->typed = typed;
  typed[n] = type != NULL;
  if (!strings_add(&r->names, name, strlen(name)) || !strings_add(&r->texts, text, strlen(text)))
    return STATUS_PROBLEM;
  return STATUS_OK;
}

/* NAME=TYPE, or NAME=VALUE of a constexpr. */
static int request_add_pair(Request *r, const char *pair, bool typed) {
  char *name = strdup(pair);
  if (!name) return args_out_of_memory();
  char *text = args_value(name, typed ? "TYPE" : "VALUE");
  int status = STATUS_USAGE;
  if (text) status = request_add(r, name, typed ? text : NULL, typed ? NULL : text);
  free(name);
  return status;
}

static int add_constexpr_pair(void *request, const char *pair) {
  return request_add_pair(request, pair, false);
}

static int add_type_pair(void *request, const char *pair) {
  return request_add_pair(request, pair, true);
}

int request_signature(Request *r, const char *text) {
  Strings parts = {0};
  int status = args_split(&parts, text) ? STATUS_OK : STATUS_PROBLEM;
  for (int i = 0; i < parts.len && status == STATUS_OK; i++)
    if (*parts.data[i]) status = args_each_item(parts.data[i], add_type_pair, r);
  strings_free(&parts);
  return status;
}

static bool is_among(const char *words, const char *word) {
  size_t n = strlen(word);
  for (const char *at = words; *at; at += strspn(at, " ")) {
    size_t len = strcspn(at, " ");
    if (len == n && !memcmp(at, word, n)) return true;
    at += len;
  }
  return false;
}

static int take_word(const char **to, const OptionRow *row, const char *value) {
  *to = value;
  bool known = is_among(row->choices, value);
  return known ? STATUS_OK : args_error(E_CLI_CHOICE, row->flag, row->choices, value);
}

static int take_row(nereid_request *r, const OptionRow *row, const char *value) {
  int *number = request_number(r, row);
  if (!number) return take_word(request_word(r, row), row, value);
  if (row->kind == OPTION_FLAG) return *number = 1, STATUS_OK;
  return args_number(number, row->flag, value, row->least, row->most) ? STATUS_OK : STATUS_USAGE;
}

int request_option(Request *r, int id, const char *value) {
  switch (id) {
    case OPT_DEFINE: return args_each_item(value, add_constexpr_pair, r);
    case OPT_TARGET: r->api.target = value; return STATUS_OK;
    case OPT_LANGUAGE: r->api.language = value; return STATUS_OK;
    case OPT_IMPORT_PATH: return strings_add_folder(&r->folders, value);
    default: break;
  }
  int row = id - OPT_num_warps;
  bool known = row >= 0 && row < OPTION_COUNT;
  return known ? take_row(&r->api, &option_rows[row], value) : STATUS_USAGE;
}

/* A pipe gives its text once, and a kernel's is needed more often. */
static int read_source_stream(Request *r) {
  bool is_input = !strcmp(r->file, "-");
  const char *path = is_input ? "/dev/stdin" : r->file;
  struct stat st;
  if (stat(path, &st) || S_ISDIR(st.st_mode) || (S_ISREG(st.st_mode) && !is_input))
    return STATUS_OK;
  r->text = arena_new();
  if (!r->text) return args_out_of_memory();
  int code = files_read(r->text, path, &r->api.source.text, &r->api.source.size);
  if (code) return args_failed(code);
  if (is_input) r->api.source.path = "<stdin>";
  return STATUS_OK;
}

int request_file(Request *r, const char *value) {
  if (r->file) return args_error(E_CLI_EXTRA_FILE, value, "");
  if (!*value) return args_error(E_CLI_NO_FILE);
  r->file = strdup(value);
  if (!r->file) return args_out_of_memory();
  r->api.source.path = r->file;
  r->api.kernel = args_kernel(r->file);
  return read_source_stream(r);
}

void request_clear(Request *r) {
  strings_free(&r->names);
  strings_free(&r->texts);
}

int request_finish(Request *r) {
  if (!r->file) return args_error(E_CLI_NO_FILE);
  int n = r->names.len;
  free(r->args);
  r->args = calloc((size_t)n + 1, sizeof *r->args);
  if (!r->args) return args_out_of_memory();
  for (int i = 0; i < n; i++) {
    r->args[i].name = r->names.data[i];
    if (r->typed[i]) r->args[i].type = r->texts.data[i];
    else r->args[i].value = r->texts.data[i];
  }
  r->api.args = r->args;
  r->api.nargs = n;
  r->api.source.import_path = (const char *const *)r->folders.data;
  r->api.source.n_import_path = r->folders.len;
  r->api.on_message = args_on_message;
  return STATUS_OK;
}

void request_free(Request *r) {
  free(r->file);
  arena_free(r->text);
  free(r->typed);
  free(r->args);
  strings_free(&r->folders);
  strings_free(&r->names);
  strings_free(&r->texts);
}

/* ---- run-time arguments ---- */

typedef struct {
  Request *request;
  Settings *values;
} Values;

static int add_argument(void *context, const char *pair) {
  const Values *v = context;
  const char *eq = strchr(pair, '=');
  return eq && spec_is_constant(eq + 1) ? request_add_pair(v->request, pair, false)
                                        : settings_add(v->values, pair, "VALUE");
}

int request_add_value(Request *r, Settings *values, const char *pair) {
  Values v = {r, values};
  return args_each_item(pair, add_argument, &v);
}

int request_args(Arguments *out, const nereid_kernel_info *kernel, const Settings *settings) {
  int code = arguments_read(out, kernel, settings->data, settings->len, false);
  return code ? args_failed(code) : STATUS_OK;
}

int request_check_args(Request *r, const Arguments *a) {
  int status = request_finish(r);
  int code = status ? 0 : arguments_check(a, &r->api);
  return code ? args_failed(code) : status;
}

int request_add_types(Request *r, const Arguments *a, const nereid_module *m) {
  char type[ARGUMENT_TYPE];
  int status = STATUS_OK;
  if (nereid_module_is_ir(m)) return STATUS_OK;
  for (int i = 0; i < a->len && !status; i++) {
    int code = argument_type(type, &a->data[i]);
    status = code ? args_failed(code) : request_add(r, a->data[i].name, type, NULL);
  }
  return status;
}

int request_bind(nereid_binding **out, int *n, Request *r, const Arguments *a) {
  int status = request_finish(r);
  *out = NULL;
  *n = 0;
  if (status) return status;
  *out = calloc((size_t)(a->len + r->api.nargs) + 1, sizeof **out);
  if (!*out) return args_out_of_memory();
  *n = arguments_bind(*out, a, &r->api);
  return STATUS_OK;
}

int request_extents(uint32_t out[3], const char *grid, const nereid_binding *names, int n) {
  int code = arguments_grid(out, grid, names, n);
  return code ? args_failed(code) : STATUS_OK;
}

int request_grid(uint32_t out[3], const char *grid, Request *r, const Arguments *a) {
  nereid_binding *names;
  int n;
  int status = request_bind(&names, &n, r, a);
  if (!status) status = request_extents(out, grid, names, n);
  free(names);
  return status;
}
