#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/arguments/numbers.h"
#include "cli/commands/graphs.h"
#include "cli/messages.h"

/* NumPy has no such dtypes: their numbers come as others. */
static bool numpy_has(const nereid_graph_value *v) {
  return strcmp(v->dtype, "bf16") != 0 && strncmp(v->dtype, "f8", 2) != 0;
}

int graphs_parse(nereid_value **out, char *text) {
  if (!text) return args_out_of_memory();
  int code = nereid_value_parse(out, text);
  free(text);
  return code ? args_failed(code) : STATUS_OK;
}

static bool is_float(nereid_dl_dtype t) { return t.code == 2 || t.code == 4 || t.code >= 10; }

/* Floats of a file become what the model takes: where NumPy lacks it, and with --dtype. */
static bool is_cast(const Graphs *g, const nereid_graph_value *v, const nereid_value *file) {
  nereid_tensor t;
  if (!v->name || nereid_value_tensor(&t, file)) return false;
  return is_float(t.dtype) && is_float(v->dl_dtype) && (g->options.dtype || !numpy_has(v));
}

/* The path of value i: a file, or what is named. */
static const char *path_of(const Graphs *g, int i) {
  if (i < g->files.len) return g->files.data[i];
  return strchr(g->named.data[i - g->files.len], '=') + 1;
}

static int load(Graphs *g, int i) {
  char *text;
  int n = asprintf(&text, "@%s", path_of(g, i));
  int status = graphs_parse(&g->values[i], n < 0 ? NULL : text);
  if (status) return status;
  nereid_value_tensor(&g->given[i], g->values[i]);
  if (i < g->files.len) return STATUS_OK;
  const char *named = g->named.data[i - g->files.len];
  g->names[i] = strndup(named, (size_t)(strchr(named, '=') - named));
  return g->names[i] ? STATUS_OK : args_out_of_memory();
}

int graphs_load(Graphs *g) {
  int status = STATUS_OK, count = g->files.len + g->named.len;
  g->values = calloc((size_t)count + 1, sizeof *g->values);
  g->given = calloc((size_t)count + 1, sizeof *g->given);
  g->names = calloc((size_t)count + 1, sizeof *g->names);
  if (!g->values || !g->given || !g->names) return args_out_of_memory();
  for (int i = 0; i < count && !status; i++) status = load(g, i);
  g->source.inputs = g->given;
  g->source.ninputs = count;
  g->source.input_names = g->names;
  return status;
}

static int load_input(Graphs *g, int i, int file, const nereid_graph_value *v) {
  char *text;
  if (!is_cast(g, v, g->values[file])) {
    g->inputs[i] = g->values[file];
    g->values[file] = NULL;
    return STATUS_OK;
  }
  int n = asprintf(&text, "@%s:%s", path_of(g, file), v->dtype);
  return graphs_parse(&g->inputs[i], n < 0 ? NULL : text);
}

void graphs_print_sizes(char out[GRAPHS_SIZES], const int64_t *shape, int ndim) {
  size_t at = 0;
  out[0] = 0;
  for (int i = 0; i < ndim && at < GRAPHS_SIZES - 32; i++)
    at +=
        (size_t)snprintf(out + at, GRAPHS_SIZES - at, "%s%lld", i ? "," : "", (long long)shape[i]);
}

static char *draw_text(const nereid_graph_value *v, const int64_t *shape, int seed) {
  char sizes[GRAPHS_SIZES], *text;
  graphs_print_sizes(sizes, shape, v->ndim);
  int n = is_float(v->dl_dtype) ? asprintf(&text, "randn:%s[%s]:%d", v->dtype, sizes, seed)
                                : asprintf(&text, "zeros:%s[%s]", v->dtype, sizes);
  return n < 0 ? NULL : text;
}

/* Floats are normal, integers zeros: any of them is an index that a table has. */
static int draw_input(Graphs *g, int i, const nereid_graph_value *v) {
  int64_t shape[64];
  if (!v->name) return graphs_parse(&g->inputs[i], strdup("zeros:f32[]"));
  int code = nereid_executable_input_shape(shape, g->e, g->in, g->ninputs, i);
  if (code) return args_failed(code);
  return v->is_number ? number_of(&g->inputs[i], shape[0])
                      : graphs_parse(&g->inputs[i], draw_text(v, shape, i));
}

/* Whoever sees results shall see of which values they are. */
static void tell_drawn(const Graphs *g, int i, const nereid_graph_value *v) {
  char sizes[GRAPHS_SIZES], values[96];
  const nereid_tensor *t = &g->in[i];
  graphs_print_sizes(sizes, t->shape, t->ndim);
  if (v->is_number) snprintf(values, sizeof values, "%lld", (long long)*(int64_t *)t->data);
  else if (!is_float(v->dl_dtype)) snprintf(values, sizeof values, "zeros");
  else snprintf(values, sizeof values, "normal numbers of mean 0 and deviation 1, seed %d", i);
  fprintf(stderr, "nereid: note: " N_CLI_DRAWN, i, v->name, v->dtype, sizes, values);
}

static int take_number(Graphs *g, const char *text) {
  nereid_graph_value v;
  for (int i = 0; i < g->ninputs; i++) {
    if (nereid_executable_input(&v, g->e, i) || !v.name || !number_is_for(text, v.name)) continue;
    if (v.is_number && !g->inputs[i]) return number_make(&g->inputs[i], text);
  }
  return args_error(E_CLI_INPUT_NUMBER, text);
}

/* Known inputs; unknown ones have no dtype. */
static void note_inputs(Graphs *g) {
  for (int i = 0; i < g->ninputs; i++)
    if (g->inputs[i]) nereid_value_tensor(&g->in[i], g->inputs[i]);
}

/* Files are inputs in the model's order, but for numbers that are named. */
static int take_files(Graphs *g) {
  int status = STATUS_OK, file = 0;
  for (int i = 0; i < g->ninputs && file < g->files.len && !status; i++) {
    nereid_graph_value v;
    if (g->inputs[i]) continue;
    int code = nereid_executable_input(&v, g->e, i);
    status = code ? args_failed(code) : load_input(g, i, file++, &v);
  }
  if (status || file == g->files.len) return status;
  return args_error(E_CLI_INPUTS, g->ninputs, g->files.len + g->numbers.len);
}

/* The model's input of that name; -1: none. */
static int find_input(const Graphs *g, const char *name) {
  nereid_graph_value v;
  for (int i = 0; i < g->ninputs; i++)
    if (!nereid_executable_input(&v, g->e, i) && v.name && !strcmp(v.name, name)) return i;
  return -1;
}

static int no_such_name(const Graphs *g, const char *name) {
  char hint[96];
  const char **names = calloc((size_t)g->ninputs + 1, sizeof *names);
  nereid_graph_value v;
  size_t n = 0;
  if (!names) return args_out_of_memory();
  for (int i = 0; i < g->ninputs; i++)
    if (!nereid_executable_input(&v, g->e, i) && v.name) names[n++] = v.name;
  int status = args_error(E_CLI_INPUT_NAME, name, error_suggest(hint, sizeof hint, name, names, n));
  free(names);
  return status;
}

static int take_named(Graphs *g) {
  int status = STATUS_OK;
  for (int k = g->files.len; k < g->files.len + g->named.len && !status; k++) {
    nereid_graph_value v;
    int i = find_input(g, g->names[k]);
    if (i < 0) return no_such_name(g, g->names[k]);
    if (g->inputs[i]) return args_error(E_CLI_INPUT_TWICE, i, g->names[k]);
    int code = nereid_executable_input(&v, g->e, i);
    status = code ? args_failed(code) : load_input(g, i, k, &v);
  }
  return status;
}

/* An input for which nothing is given: one that is not used may be anything, and a number may
 * follow from the others. */
static int fill_in(Graphs *g, int i) {
  nereid_graph_value v;
  int code = nereid_executable_input(&v, g->e, i);
  if (code) return args_failed(code);
  int follows = v.name ? nereid_executable_input_follows(g->e, g->in, g->ninputs, i) : 0;
  if (follows < 0) return args_failed(follows);
  if (v.name && !follows && !g->draw)
    return args_error(E_CLI_INPUT_MISSING, i, v.name, v.dtype, g->ninputs, v.name);
  int status = draw_input(g, i, &v);
  if (status) return status;
  nereid_value_tensor(&g->in[i], g->inputs[i]);
  if (v.name && !follows) tell_drawn(g, i, &v);
  return STATUS_OK;
}

int graphs_make_inputs(Graphs *g) {
  int status = STATUS_OK;
  for (int i = 0; i < g->numbers.len && !status; i++) status = take_number(g, g->numbers.data[i]);
  if (!status) status = take_files(g);
  if (!status) status = take_named(g);
  note_inputs(g);
  for (int i = 0; i < g->ninputs && !status; i++)
    if (!g->inputs[i]) status = fill_in(g, i);
  return status;
}
