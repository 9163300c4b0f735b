#include "import/text/complex_number.h"

#include "graph/ops/graph_text.h"
#include "graph/ops/ops.h"

static Node *new_call(Graph *g, OpId op, Node *before, uint32_t named, Span location) {
  Node *n = graph_node(g, NODE_CALL, before, 2, named);
  n->op = ops_at(op);
  n->location = location;
  graph_fresh_name(g, n, op == OP_aten_full_default ? "part" : "number");
  return n;
}

static Node *part(Graph *g, Node *before, double value, Span location) {
  Node *n = new_call(g, OP_aten_full_default, before, 1, location);
  n->args[0] = arg_list(g, 0);
  n->args[1] = (Arg){.kind = ARG_FLOAT, .number = value};
  Arg dtype = {.kind = ARG_DTYPE, .dtype = DT_F64, .name = dtype_torch_name(DT_F64)};
  n->named[0] = (NamedArg){pool_name(g->names, "dtype"), dtype};
  return n;
}

Node *import_complex_number(Graph *g, Node *before, double re, double im, Span location) {
  Node *parts[] = {part(g, before, re, location), part(g, before, im, location)};
  Node *n = new_call(g, OP_aten_complex_default, before, 0, location);
  for (int i = 0; i < 2; i++) n->args[i] = arg_node(parts[i]);
  return n;
}
