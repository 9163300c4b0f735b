#include "planner/tiling/panels.h"

#include <string.h>

#include "graph/analysis/strided.h"
#include "graph/ops/prims.h"
#include "lower/target/machine.h"
#include "planner/tiling/tiling.h"

/* Vectors in a block of registers: a dot takes as many (lower/bind/bind_dot.c). */
enum { VECTORS = 2, VECTORS_OF_MANY_REGISTERS = 4, MANY_REGISTERS = 32, LEAST_DEPTH = 64 };
enum { PANEL_AXES = 4 };

int panels_width(void) {
  const Machine *m = machine_find("cpu");
  return m->lanes * (m->regs >= MANY_REGISTERS ? VECTORS_OF_MANY_REGISTERS : VECTORS);
}

/* Has a product that sums up k elements steps that are worth it? */
static bool has_depth(int64_t k, int width) {
  int depth = tiling_panels(0, width, k, width).bk;
  return depth == k || depth >= LEAST_DEPTH;
}

Node *panels_pack(Build *b, Node *y) {
  const ValueType *t = &y->type;
  int width = panels_width();
  int64_t word = strided_word(t->dtype);
  bool known = dim_is_int(t->shape[0]) && dim_is_int(t->shape[1]);
  if ((t->dtype != DT_F32 && word == 1) || !known) return NULL;
  Dim rows = t->shape[0], columns = t->shape[1];
  if (!rows->value || rows->value % word || columns->value < width) return NULL;
  if (!has_depth(rows->value / word, width)) return NULL;
  Dim count = build_const(b, (columns->value + width - 1) / width), each = build_const(b, width);
  Dim padded = build_const(b, count->value * width);
  if (padded != columns) {
    Arg lengths =
        arg_dims(b->in.g, 2, (Dim[]){build_const(b, 0), dim_sub(b->in.g->dims, padded, columns)});
    y = build(b, OP_aten_constant_pad_nd_default, 2, (Arg[]){arg_node(y), lengths});
  }
  Dim words = build_const(b, rows->value / word), of_word = build_const(b, word);
  Node *cut = build_view(b, y, PANEL_AXES, (Dim[]){words, of_word, count, each});
  Node *panels =
      build_op1(b, OP_aten_clone_default, build_permute(b, cut, (uint32_t[]){2, 0, 3, 1}));
  Node *back = build_permute(b, panels, (uint32_t[]){1, 3, 0, 2});
  back = build_view(b, back, 2, (Dim[]){rows, padded});
  return padded == columns ? back : build_slice(b, back, 1, build_const(b, 0), columns, 1);
}

static const Node *operand_of(const Node *n, OpId op) {
  bool is = n && graph_is(n, op);
  return is ? n->args[0].node : NULL;
}

bool panels_are(const Node *y) {
  const Node *whole = operand_of(y, OP_aten_slice_Tensor);
  const Node *view = operand_of(whole ? whole : y, OP_aten_view_default);
  const Node *panels = operand_of(view, OP_aten_permute_default);
  return operand_of(panels, OP_aten_clone_default) && panels->type.rank == PANEL_AXES &&
         dim_is(panels->type.shape[2], panels_width()) &&
         dim_is(panels->type.shape[3], strided_word(y->type.dtype)) &&
         view->type.shape[0] == panels->type.shape[1] &&
         view->type.shape[1] == panels->type.shape[3] &&
         dim_is(y->type.shape[0],
                panels->type.shape[1]->value * panels->type.shape[3]->value);
}
