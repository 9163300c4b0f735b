/* Loops that data ends, as nodes: graph/analysis/loops.h. */
#include "import/onnx/onnx_read.h"

OnnxLoop onnx_loop_new(OnnxCall *c, uint32_t n) {
  Arena *a = c->r->scratch;
  return (OnnxLoop){ARENA_ARRAY(a, Node *, n), ARENA_ARRAY(a, Node *, n), n};
}

static Arg new_number(OnnxCall *c) { return build_int(&c->b, (int64_t)c->b.in.g->nids); }

Node *onnx_carried(OnnxCall *c, Node *initial) {
  return build(&c->b, OP_nereid_carried_default, ARGS(arg_node(initial), new_number(c)));
}

Node *onnx_loop_test(OnnxCall *c, Node *condition) {
  return build(&c->b, OP_nereid_loop_test_default, ARGS(arg_node(condition), new_number(c)));
}

void onnx_loop_end(OnnxCall *c, Node *test, OnnxLoop *l) {
  Arg carried = arg_list(c->b.in.g, l->n), next = arg_list(c->b.in.g, l->n);
  for (uint32_t i = 0; i < l->n; i++) {
    if (!value_type_eq(&l->carried[i]->type, &l->next[i]->type))
      onnx_lack(c, "values whose type is another after a turn, in a loop that data ends");
    carried.items[i] = arg_node(l->carried[i]);
    next.items[i] = arg_node(l->next[i]);
  }
  Node *end = build(&c->b, OP_nereid_loop_end_default, ARGS(arg_node(test), carried, next));
  for (uint32_t i = 0; i < l->n; i++)
    l->carried[i] =
        build(&c->b, OP_nereid_loop_result_default, ARGS(arg_node(l->carried[i]), arg_node(end)));
}
