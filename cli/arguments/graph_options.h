/* Options of graphs from command lines, by the rows of nereid_graph_options.h. */
#ifndef NEREID_CLI_ARGUMENTS_GRAPH_OPTIONS_H
#define NEREID_CLI_ARGUMENTS_GRAPH_OPTIONS_H

#include "cli/terminal/args.h"
#include "model/nereid_graph.h"
#include "planner/passes.h"

#undef NEREID_GRAPH_PASSES
#undef NEREID_GRAPH_PASSES_LISTED
#define NEREID_GRAPH_PASSES "all" GRAPH_PASSES(PASS_CHOICE) PLAN_PASSES(PASS_CHOICE)
#define NEREID_GRAPH_PASSES_LISTED GRAPH_PASSES(PASS_LISTED) PLAN_PASSES(PASS_LISTED)

/* Their ids are between a command's own ones and those of all commands. */
enum {
  GRAPH_OPTIONS_BEFORE = 500,
#define X(kind, name, ...) OPT_GRAPH_##name,
  NEREID_GRAPH_OPTIONS(X, X, X)
#undef X
#define S(flag, name, word) OPT_GRAPH_SHORT_##name,
  NEREID_GRAPH_SHORTHANDS(S)
#undef S
};

#define GRAPH_OPTION_REPEATS_WORD false
#define GRAPH_OPTION_REPEATS_TEXT false
#define GRAPH_OPTION_REPEATS_FLAG false
#define GRAPH_OPTION_REPEATS_RANGES true
#define GRAPH_OPTION_REPEATS_FILES true
#define GRAPH_OPTION(kind, name, uses, flag, value, words, help)  \
  {OPT_GRAPH_##name, flag, value, help, .choices = words,         \
   .repeats = GRAPH_OPTION_REPEATS_##kind},
#define GRAPH_OPTION_HIDDEN(...)
#define GRAPH_OPTION_SHORT(flag, name, word) \
  {OPT_GRAPH_SHORT_##name, flag, NULL, "is --" #name " " word},

/* Rows of a command's table: of `nereid build`, and of `nereid graph`. */
#define BUILD_OPTIONS_OF_GRAPHS \
  NEREID_GRAPH_OPTIONS(GRAPH_OPTION, GRAPH_OPTION_HIDDEN, GRAPH_OPTION_HIDDEN)
#define GRAPH_OPTIONS_OF_GRAPHS \
  NEREID_GRAPH_OPTIONS(GRAPH_OPTION, GRAPH_OPTION, GRAPH_OPTION_HIDDEN) \
  NEREID_GRAPH_SHORTHANDS(GRAPH_OPTION_SHORT)

typedef struct {
  nereid_graph_range *data; /* symbols are copies */
  int n;
} Ranges;

typedef struct {
  nereid_graph_options options; /* complete after graph_settings_finish */
  Ranges ranges;
  Strings rewrites;
} GraphSettings;

/* Takes an option of the rows.  Returns a status, after a message if it is not STATUS_OK. */
int graph_settings_take(GraphSettings *s, int id, const char *value);
void graph_settings_finish(GraphSettings *s);
void graph_settings_free(GraphSettings *s);
/* Where the model is that the command line calls so: - is standard input. */
const char *graph_source_path(const char *operand);

#endif
