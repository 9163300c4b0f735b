#include "tiling/few_rows.h"

#include "graph/ops/prims.h"
#include "lower/target/machine.h"

/* SUMS of a block of registers: fewer wait for each other.  Machines of fewer lanes have several
 * registers for a vector of LANES, so that plans do not depend on them. */
enum { SUMS = 4, LANES = 16, LEFT_AXES = 4, ACROSS_AXES = 3 };

FewRows few_rows_vectors(int64_t rows, int64_t k, int64_t fields) {
  int64_t vectors = rows * fields < SUMS ? SUMS / rows / fields : 1;
  while (vectors > 1 && k % (fields * LANES * vectors)) vectors /= 2;
  int64_t width = LANES * vectors;
  return (FewRows){fields, k % (fields * width) ? 0 : width, false};
}

/* Columns of a program across: as many vectors as registers hold sums of, parts of the whole that
 * have no rest, and programs for processors. */
static int64_t columns_of(int64_t rows, int64_t columns) {
  enum { VECTORS = 16, VECTORS_MOST = 8, VECTORS_LEAST = 2, PROGRAMS = 16 };
  int64_t most = VECTORS / rows < VECTORS_MOST ? VECTORS / rows : VECTORS_MOST;
  while (most > VECTORS_LEAST && columns / (most * LANES) < PROGRAMS) most--;
  int64_t best = most;
  while (best > VECTORS_LEAST && columns % (best * LANES)) best--;
  return (columns % (best * LANES) ? most : best) * LANES;
}

Node *few_rows_left(Build *b, Node *x, const FewRows *f) {
  Dim rows = x->type.shape[0], k = x->type.shape[1];
  if (f->across) {
    Dim each[] = {rows, build_const(b, k->value / f->fields), build_const(b, f->fields)};
    x = build_view(b, build_to(b, x, DT_F32), ACROSS_AXES, each);
    x = build_op1(b, OP_aten_clone_default, x);
    return build_view(b, x, 2, (Dim[]){rows, k});
  }
  Dim fields = build_const(b, f->fields), width = build_const(b, f->width);
  Dim blocks = build_const(b, k->value / f->fields / f->width);
  x = build_view(b, build_to(b, x, DT_F32), LEFT_AXES, (Dim[]){rows, blocks, width, fields});
  x = build_op1(b, OP_aten_clone_default, build_permute(b, x, (uint32_t[]){1, 0, 3, 2}));
  return build_view(b, build_permute(b, x, (uint32_t[]){1, 0, 2, 3}), 2, (Dim[]){rows, k});
}

Node *few_rows_right(Build *b, Node *y, const FewRows *f) {
  if (f->fields == 1 || f->across) return y;
  Dim k = y->type.shape[0], columns = y->type.shape[1];
  Dim fields = build_const(b, f->fields), width = build_const(b, f->width);
  Dim blocks = build_const(b, k->value / f->fields / f->width);
  y = build_view(b, y, LEFT_AXES, (Dim[]){blocks, width, fields, columns});
  return build_view(b, build_permute(b, y, (uint32_t[]){0, 2, 1, 3}), 2, (Dim[]){k, columns});
}

FewRows few_rows_of(const Node *product) {
  const Node *x = product->args[0].node;
  int64_t width = columns_of(x->type.shape[0]->value, product->type.shape[1]->value);
  while (prim_is_view(x)) x = view_operand(x);
  bool made = graph_is(x, OP_aten_clone_default);
  if (made && x->type.rank == LEFT_AXES)
    return (FewRows){x->type.shape[2]->value, x->type.shape[3]->value, false};
  bool fields = made && x->type.rank == ACROSS_AXES;
  return (FewRows){fields ? x->type.shape[2]->value : 1, width, true};
}

bool few_rows_suit(const Node *n) {
  if (!prim_unpacks(n) || prim_groups(n) != GROUPS_NONE || n->type.rank != 2) return false;
  const ValueType *x = &n->args[0].node->type;
  bool known = dim_is_int(x->shape[0]) && dim_is_int(x->shape[1]) && dim_is_int(n->type.shape[1]);
  return known && x->shape[0]->value > 0 && x->shape[0]->value <= FEW_ROWS_MOST &&
         x->shape[1]->value > 0 && n->type.shape[1]->value > 0 && build_wide(x->dtype) == DT_F32;
}

/* Fields of words are numbers of tables in registers there, of which others have no shuffles. */
bool few_rows_joins(int64_t rows, int64_t fields, const Node *memory, Dim offset) {
  enum { ROWS = 2 };
  return rows <= ROWS && machine_find("cpu")->lanes == LANES && fields == FEW_ROWS_BYTE &&
         memory->type.dtype == DT_U8 && dim_divisible(offset, FEW_ROWS_BYTES);
}

/* A single row waits for weights, and machines of fewer lanes for products. */
int64_t few_rows_part(int64_t rows, const FewRows *f) {
  enum { BYTES_MOST = 32 << 10 };
  if (rows == 1 || machine_find("cpu")->lanes != LANES) return 0;
  return BYTES_MOST / (rows * f->width * f->fields * (int64_t)sizeof(float));
}

/* Two columns at once read each vector of x once.  They are also two streams of memory, which pay
 * where kernels ask for it ahead; processors that do so by themselves follow one better. */
int few_rows_at_once(int64_t rows, const FewRows *f) {
  enum { ROWS = 3, FIELDS = 8 };
  const Machine *m = machine_find("cpu");
  bool pays = rows >= ROWS || (f->fields >= FIELDS && machine_has(m, HAS_FAR_STREAMS));
  return pays && m->lanes == LANES ? 2 : 1;
}
