/* The implementation of nereid_graph.h.
 *
 * graph/api owns models between the calls of a user: it takes files and options, and gives models
 * that run (graph/execute), C projects (graph/aot) and texts. */
#ifndef NEREID_GRAPH_API_API_H
#define NEREID_GRAPH_API_API_H

#include "graph/compile/compile_plan.h"
#include "graph/execute/execute.h"
#include "graph/api/model_api.h"
#include "runtime/device/peaks.h"

struct nereid_graph {
  nereid_graph_source source; /* its strings are copies */
  Model *model; /* as read; NULL: taken by who changed it, to be read again when it is needed */
};

typedef struct {
  CompileOptions compile;
  ExecuteOptions execute;
  DevicePeaks gpu; /* that it is for; compile.gpu points here where it is known */
} ModeOptions;

/* `gpu`: what is compiled for. */
int api_options(ModeOptions *out, const nereid_graph_options *o, bool gpu);
/* The model as the options want it, to be changed further and freed by the caller. */
int api_take_model(Model **out, nereid_graph *g, const nereid_graph_options *o);

#endif
