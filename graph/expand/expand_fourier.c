/* Expansions of Fourier transforms of Hermitian signals along several axes. */
#include <string.h>

#include "graph/expand/expansion.h"

/* A norm that scales the forward transform scales the backward one here. */
static Arg norm_exchanged(Build *b) {
  const char *norm = infer_has(&b->in, "norm") ? infer_string(&b->in, "norm") : "backward";
  if (!strcmp(norm, "ortho")) return build_arg(b, "norm");
  norm = strcmp(norm, "forward") ? "forward" : "backward";
  return (Arg){.kind = ARG_STRING, .name = pool_name(b->in.g->names, norm)};
}

static Node *transform(Build *b, OpId op, Node *x) {
  return build(b, op, ARGS(arg_node(x), build_arg(b, "s"), build_arg(b, "dim"), norm_exchanged(b)));
}

static Node *conjugate(Build *b, Node *x) {
  return build_op1(b, OP_aten_conj_physical_default, x);
}

Node *expand_hfftn(Build *b) {
  return transform(b, OP_aten_fft_irfftn_default, conjugate(b, build_self(b)));
}

Node *expand_ihfftn(Build *b) {
  return conjugate(b, transform(b, OP_aten_fft_rfftn_default, build_self(b)));
}
