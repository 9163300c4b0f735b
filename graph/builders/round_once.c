#include "graph/builders/round_once.h"

#include <string.h>

#include "graph/ops/prims.h"

typedef struct {
  const Node *of;
  uint32_t n;
} Uses;

static void count_use(Node **use, void *ctx) {
  Uses *u = ctx;
  u->n += *use == u->of;
}

/* The call that alone reads n, once; NULL: there is none such. */
static Node *only_reader(const Node *n) {
  Uses u = {.of = n};
  Node *reader = NULL;
  for (Node *m = n->next; m; m = m->next) {
    uint32_t before = u.n;
    graph_each_use(m, count_use, &u);
    if (u.n > before) reader = m;
  }
  return u.n == 1 && reader->kind == NODE_CALL ? reader : NULL;
}

/* Arguments of n, which reads `cast`, with the operand of the cast instead; false: n is no view and
 * has no bias or factor of that dtype. */
static bool args_in_f32(Build *b, const Node *n, Node *cast, Arg *args) {
  bool view = prim_is_view(n) && !prim_reads_size(n);
  bool scales = graph_is_any(n, OP_aten_add_Tensor, OP_aten_sub_Tensor, OP_aten_mul_Tensor);
  if (n->nnamed || !(view || scales) || n->type.dtype != cast->type.dtype) return false;
  for (uint32_t i = 0; i < n->nargs; i++) {
    Node *x = n->args[i].kind == ARG_NODE ? n->args[i].node : NULL;
    args[i] = n->args[i];
    if (x && x->type.dtype != cast->type.dtype) return false;
    if (x) args[i] = arg_node(x == cast ? cast->args[0].node : build_to(b, x, DT_F32));
  }
  return true;
}

/* n becomes the cast of `wide` to its own dtype. */
static void become_rounded(Build *b, Node *wide) {
  Arg args[] = {arg_node(wide), arg_dtype(b->in.n->type.dtype)};
  build_become(b, OP_aten_to_dtype, 2, args);
}

void round_once(Build *b, Node *wide) {
  enum { ARGS_MAX = 8 };
  Node *cast = b->in.n;
  bool added = false;
  become_rounded(b, wide);
  for (Node *n; !added && (n = only_reader(cast)); cast = n) {
    Arg args[ARGS_MAX];
    Build at = build_at(b->in.g, n);
    memcpy(at.in.failed, b->in.failed, sizeof at.in.failed);
    if (n->nargs > ARGS_MAX || !args_in_f32(&at, n, cast, args)) return;
    added = graph_is_any(n, OP_aten_add_Tensor, OP_aten_sub_Tensor);
    become_rounded(&at, build(&at, n->op->id, n->nargs, args));
  }
}
