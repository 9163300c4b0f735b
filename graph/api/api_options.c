#include <string.h>

#include "graph/api/api.h"
#include "graph/messages.h"
#include "runtime/support/error.h"

/* DT_NONE in *out: the model's own. */
static int read_dtype(DType *out, const char *dtype) {
  static const char *const known[] = {"fp32", "bf16", "fp16"};
  *out = dtype ? dtype_parse(dtype, strlen(dtype)) : DT_NONE;
  if (!dtype || *out == DT_F32 || *out == DT_BF16 || *out == DT_F16) return 0;
  char hint[96];
  return error_set(NEREID_E_USAGE, E_GRAPH_DTYPE, dtype,
                   error_suggest(hint, sizeof hint, dtype, known, sizeof known / sizeof *known));
}

static const char *const modes[] = {"default", "eager", "reduce-overhead", "max-autotune"};
enum { MODE_DEFAULT, MODE_EAGER, MODE_REPLAY, MODE_TUNE, MODES };

/* NULL is the default; -1 after an error. */
static int find_mode(const char *mode) {
  for (int i = 0; i < MODES; i++)
    if (!strcmp(mode ? mode : modes[0], modes[i])) return i;
  char hint[96];
  error_set(NEREID_E_USAGE, E_GRAPH_MODE, mode,
            error_suggest(hint, sizeof hint, mode, modes, MODES));
  return -1;
}

int api_options(ModeOptions *out, const nereid_graph_options *o, bool gpu) {
  int mode = find_mode(o->mode);
  bool fused = mode != MODE_EAGER, tuned = mode == MODE_TUNE && gpu;
  *out = (ModeOptions){.execute.replay = mode == MODE_REPLAY || mode == MODE_TUNE};
  out->compile = (CompileOptions){.target = gpu ? TARGET_GPU : TARGET_CPU};
  out->compile.fuse = out->compile.freeze = fused;
  out->compile.tune = tuned;
  out->compile.unchecked = o->no_checks != 0;
  return mode < 0 ? NEREID_E_USAGE : 0;
}

int api_take_model(Model **out, nereid_graph *g, const nereid_graph_options *o) {
  DType dtype;
  *out = NULL;
  int code = read_dtype(&dtype, o->dtype);
  if (o->nranges && !o->ranges) code = error_null("nereid_graph_options", "ranges");
  if (o->nrewrites && !o->rewrites) code = error_null("nereid_graph_options", "rewrites");
  if (code) return code;
  *out = g->model;
  g->model = NULL;
  if (!*out) code = model_read(out, &g->source);
  if (!code && o->dump_dir) code = stages_dump_to((*out)->stages, o->dump_dir);
  for (int i = 0; i < o->nranges && !code; i++) code = model_limit(*out, &o->ranges[i]);
  if (!code && dtype != DT_NONE) code = model_retype(*out, dtype);
  for (int i = 0; i < o->nrewrites && !code; i++) code = model_add_rules(*out, o->rewrites[i]);
  return code;
}
