/* A model on the command line of `nereid graph`.
 *
 * Functions that return an int return a status, after a message if it is not STATUS_OK. */
#ifndef NEREID_CLI_COMMANDS_GRAPHS_H
#define NEREID_CLI_COMMANDS_GRAPHS_H

#include "cli/terminal/args.h"
#include "cli/terminal/progress.h"
#include "cli/arguments/ranges.h"
#include "graph/nereid_graph.h"

typedef struct {
  nereid_graph_source source;
  nereid_graph_options options;
  Ranges ranges;
  const char *device_name, *emit, *output, *out_dir, *compare, *trace;
  double tolerance; /* negative: what fits the output's dtype */
  bool time, explain, draw;
  Progress *progress; /* of compiling, while it lasts */
  Strings files;         /* of inputs, in the model's order */
  Strings named;         /* x=FILE.npy: inputs by their names */
  Strings rules;         /* files of rewrite rules */
  Strings numbers;       /* n=5: inputs that are no tensors */
  nereid_value **values; /* what they hold; NULL: moved to `inputs` */
  nereid_tensor *given;  /* of these values */
  const char **names;    /* of those that are named; NULL: of the others */
  nereid_device *device;
  nereid_graph *graph;
  nereid_executable *e;
  int ninputs, noutputs;
  nereid_value **inputs, **outputs;
  nereid_value **expected; /* of each output, with --compare */
  nereid_tensor *in, *out; /* of these values */
} Graphs;

/* ---- graph_inputs.c ---- */

/* The files' arrays: the model may need their values when it is read. */
int graphs_load(Graphs *g);
/* Inputs from files in the model's order and by name; the missing ones are drawn if
 * --random-inputs asks for that. */
int graphs_make_inputs(Graphs *g);
/* Of the text of a value, which is freed; NULL: out of memory. */
int graphs_parse(nereid_value **out, char *text);

enum { GRAPHS_SIZES = 1024 };
/* "2,3,4" */
void graphs_print_sizes(char out[GRAPHS_SIZES], const int64_t *shape, int ndim);

/* ---- graph_outputs.c ---- */

/* Of the shapes that the executable has described. */
int graphs_make_outputs(Graphs *g);
/* The folder of --out-dir, in which files can be made then. */
int graphs_make_out_dir(const Graphs *g);
/* The files that --compare names. */
int graphs_load_expected(Graphs *g);
int graphs_write_outputs(const Graphs *g);
void graphs_print_outputs(const Graphs *g);
/* With what was expected. */
int graphs_compare_outputs(const Graphs *g);

#endif
