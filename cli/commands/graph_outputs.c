#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli/arguments/compare.h"
#include "cli/commands/graphs.h"
#include "cli/messages.h"
#include "cli/terminal/array_text.h"
#include "runtime/messages.h"

static int make_output(Graphs *g, int i) {
  nereid_graph_value v;
  int code = nereid_executable_output(&v, g->e, i);
  if (code) return args_failed(code);
  char sizes[GRAPHS_SIZES], *text;
  graphs_print_sizes(sizes, g->out[i].shape, g->out[i].ndim);
  int n = asprintf(&text, "empty:%s[%s]", v.dtype, sizes);
  int status = graphs_parse(&g->outputs[i], n < 0 ? NULL : text);
  if (!status) nereid_value_tensor(&g->out[i], g->outputs[i]);
  return status;
}

int graphs_make_outputs(Graphs *g) {
  int status = STATUS_OK;
  for (int i = 0; i < g->noutputs && !status; i++) status = make_output(g, i);
  return status;
}

static char *output_path(const char *dir, int i) {
  char *path;
  return asprintf(&path, "%s/output_%d.npy", dir, i) < 0 ? NULL : path;
}

/* The index of output i among all values that the model returns. */
static int place_of(const Graphs *g, int i) {
  nereid_graph_value v;
  return nereid_executable_output(&v, g->e, i) ? i : v.place;
}

int graphs_make_out_dir(const Graphs *g) {
  bool made = !mkdir(g->out_dir, 0777);
  struct stat st;
  if (!made && errno == EEXIST && !stat(g->out_dir, &st) && !S_ISDIR(st.st_mode)) errno = ENOTDIR;
  else if (made || (errno == EEXIST && !access(g->out_dir, W_OK | X_OK))) return STATUS_OK;
  args_error(E_RUN_FILE_WRITE, g->out_dir, strerror(errno));
  return STATUS_PROBLEM;
}

int graphs_write_outputs(const Graphs *g) {
  for (int i = 0; i < g->noutputs; i++) {
    char *path = output_path(g->out_dir, place_of(g, i));
    if (!path) return args_out_of_memory();
    int code = nereid_value_save(g->outputs[i], path);
    free(path);
    if (code) return args_failed(code);
  }
  return STATUS_OK;
}

void graphs_print_outputs(const Graphs *g) {
  for (int place = 0, i = 0; place < nereid_executable_nplaces(g->e); place++) {
    char name[32];
    snprintf(name, sizeof name, "output_%d", place);
    if (i < g->noutputs && place_of(g, i) == place) report_array(name, g->outputs[i++]);
    else printf("%s None\n", name);
  }
}

/* ---- --compare ---- */

static bool is_integer(const nereid_value *v) {
  nereid_tensor t;
  return !nereid_value_tensor(&t, v) && (t.dtype.code <= 1 || t.dtype.code == 6);
}

static double tolerance_for(const char *dtype) {
  if (!strcmp(dtype, "bf16")) return 2e-2;
  return !strcmp(dtype, "f16") || !strcmp(dtype, "fp16") ? 4e-3 : 1e-4;
}

/* An output in f32 was computed in what --dtype says. */
static double tolerance_of(const Graphs *g, const nereid_value *v) {
  if (g->tolerance >= 0) return g->tolerance;
  double own = tolerance_for(nereid_value_dtype(v));
  double computed = g->options.dtype ? tolerance_for(g->options.dtype) : 0;
  return own > computed ? own : computed;
}

static int other_shape(const nereid_value *output, int place, const nereid_value *expected) {
  char a[COMPARE_SHAPE_SIZE], b[COMPARE_SHAPE_SIZE];
  compare_shape(a, output);
  compare_shape(b, expected);
  args_error(E_CLI_COMPARE_SHAPE, place, a, b);
  return STATUS_PROBLEM;
}

static int compare_output(const Graphs *g, int i, const nereid_value *expected) {
  Difference d;
  int place = place_of(g, i);
  double tolerance = tolerance_of(g, g->outputs[i]);
  if (!compare_arrays(&d, g->outputs[i], expected))
    return other_shape(g->outputs[i], place, expected);
  printf("output_%d: largest error %.3g, relative %.3g, of the norm %.3g\n", place, d.absolute,
         d.relative, d.norm);
  if (is_integer(g->outputs[i]) ? d.exact : d.norm <= tolerance) return STATUS_OK;
  if (is_integer(g->outputs[i])) args_error(E_CLI_COMPARE_EXACT, place);
  else args_error(E_CLI_COMPARE, place, tolerance);
  return STATUS_PROBLEM;
}

int graphs_load_expected(Graphs *g) {
  int worst = STATUS_OK;
  for (int i = 0; i < g->noutputs; i++) {
    char *text;
    int n = asprintf(&text, "@%s/output_%d.npy", g->compare, place_of(g, i));
    int status = graphs_parse(&g->expected[i], n < 0 ? NULL : text);
    if (status) worst = status;
  }
  return worst;
}

int graphs_compare_outputs(const Graphs *g) {
  int worst = STATUS_OK;
  for (int i = 0; i < g->noutputs; i++) {
    int status = compare_output(g, i, g->expected[i]);
    if (status) worst = status;
  }
  return worst;
}
