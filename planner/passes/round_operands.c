/* Pass round_operands: on Hopper, large products in TF32 read operands that were rounded in memory.
 *
 *   mm(x, y)  =  mm(rounded(x), permute(rounded(permute(y))))
 *
 * The units that read shared memory cut what has more bits than TF32, by which errors add up;
 * rounding in registers leaves the products to single warps, which take 2.5 times as long.  A copy
 * is rounded by the kernel that computes the operand, or by one of its own, and has the elements of
 * a sum next to each other, as the units want them. */
#include "graph/builders/node_builder.h"
#include "lower/target/device_peaks.h"
#include "decompose/decompose.h"
#include "planner/passes.h"

/* On an H200 single warps take 8.6e-15 s more for a multiplication and an addition than units that
 * read shared memory, and a rounded copy of an element 2e-12 s: products of m rows and n columns
 * gain by two copies from m n / (m + n) = 233 on, and earlier if kernels that compute operands
 * round them.  Kernels of their own cost some us, as WORK multiplications do. */
enum { SIDES = 350, ROW_UNIT = 4 };
static const double WORK = 1e9;

static bool is_product(const Node *n) {
  bool product = graph_is(n, OP_aten_mm_default) || graph_is(n, OP_aten_bmm_default);
  return product && n->args[0].node->type.dtype == DT_F32 && n->type.dtype == DT_F32;
}

static double known_size(Dim d) { return dim_is_int(d) ? (double)d->value : 0; }

/* Is it worth two copies? */
static bool is_large(const Node *n) {
  uint32_t rank = n->type.rank;
  double batch = rank == 3 ? known_size(n->type.shape[0]) : 1;
  double rows = known_size(n->type.shape[rank - 2]), columns = known_size(n->type.shape[rank - 1]);
  Dim sum = n->args[0].node->type.shape[rank - 1];
  if (!dim_is_int(sum) || sum->value % ROW_UNIT) return false;
  return rows * columns >= SIDES * (rows + columns) &&
         batch * rows * columns * (double)sum->value >= WORK;
}

static void round_operands(Graph *g, Node *n) {
  Build b = build_at(g, n);
  if (setjmp(b.in.failed)) return;
  uint32_t last = n->type.rank - 1;
  Node *columns = build_transpose(&b, n->args[1].node, last - 1, last);
  Node *left = decompose_rounded(&b, n->args[0].node), *right = decompose_rounded(&b, columns);
  n->args[0] = arg_node(left);
  n->args[1] = arg_node(build_transpose(&b, right, last - 1, last));
  n->rounds = ROUNDS_BEFORE;
}

bool pass_round_operands(Graph *g) {
  if (g->host || !g->gpu || !device_has_warpgroups(g->gpu)) return true;
  for (Node *n = g->first; n; n = n->next)
    if (is_product(n) && graph_rounds(g, n->rounds) && is_large(n)) round_operands(g, n);
  return diag_errors(g->diags) == 0;
}
