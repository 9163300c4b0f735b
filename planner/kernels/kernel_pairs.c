/* Kernels of nereid.turned_pairs: copies of complex numbers in another order of axes.
 *
 * A program does block after block of TURNED_LANES neighbours of the result, and of each all
 * elements along the axis whose neighbours are next to each other in the source.  Both parts of
 * f32 are one word of 64 bits, so that squares of words are transposed in registers; those of f64
 * are copied word by word, rows of the source that stay in a cache. */
#include "planner/kernels/kernel.h"
#include "tiling/tiling.h"

typedef struct {
  Kernel *k;
  Dims *d;
  Node *n, *source;
  const ValueType *to;
  Dim at[GRAPH_RANK_MAX];     /* strides in the source */
  Dim result[GRAPH_RANK_MAX]; /* and in the result */
  uint32_t rank, lane, near;  /* axes of pairs, of which these two are a block's */
  int64_t unit;               /* elements that are copied as one */
} Pairs;

static const char *times(Pairs *p, Dim stride) {
  return kernel_operand(p->k, dim_floordiv(p->d, stride, dim_int(p->d, p->unit)));
}

/* The last axis of the result that has neighbours, and the one that has them in the source. */
static void find_axes(Pairs *p) {
  Dim stride = dim_int(p->d, 2);
  for (uint32_t i = p->rank; i-- > 0;) {
    p->result[i] = stride;
    stride = dim_mul(p->d, stride, p->to->shape[i]);
  }
  p->lane = p->rank - 1;
  while (p->lane && dim_is(p->to->shape[p->lane], 1)) p->lane--;
  for (uint32_t i = 0; i < p->rank; i++)
    if (dim_is(p->at[i], 2)) p->near = i;
  BUG_IF(p->near == p->lane, "pairs in their order");
}

static Pairs pairs_of(Kernel *k) {
  Node *n = k->group->nodes.data[0];
  Arg at = graph_arg(k->graph, n, "at");
  Pairs p = {.k = k,
             .d = k->graph->dims,
             .n = n,
             .source = graph_arg(k->graph, n, "source").node,
             .to = &n->type,
             .rank = n->type.rank - 1,
             .unit = n->type.dtype == DT_F32 ? 2 : 1};
  for (uint32_t i = 0; i < p.rank; i++) p.at[i] = at.items[i + 1].dim;
  find_axes(&p);
  return p;
}

static void name_pointer(Pairs *p, const char *name, Node *memory, Dim offset) {
  const char *cast = p->unit > 1 ? ".to(tl.pointer_type(tl.int64), bitcast=True)" : "";
  kernel_line(p->k, "%s = (%s + %s)%s", name, kernel_buffer(p->k, memory),
              kernel_operand(p->k, offset), cast);
}

/* Goes on to the block's place on all axes but its own two. */
static void find_block(Pairs *p, const char *across) {
  const char *wide = kernel_wide(p->k);
  kernel_line(p->k, "lane = block %% %s * %d + lanes", across, TURNED_LANES);
  kernel_line(p->k, "rest = block // %s", across);
  kernel_line(p->k, "source = whole");
  kernel_line(p->k, "result = all");
  for (uint32_t i = p->rank; i-- > 0;) {
    if (i == p->lane || i == p->near || dim_is(p->to->shape[i], 1)) continue;
    const char *size = kernel_operand(p->k, p->to->shape[i]);
    kernel_line(p->k, "source += (rest %% %s)%s * %s", size, wide, times(p, p->at[i]));
    kernel_line(p->k, "result += (rest %% %s)%s * %s", size, wide, times(p, p->result[i]));
    kernel_line(p->k, "rest = rest // %s", size);
  }
}

/* ", mask=" and which lanes, and columns where there are any, are inside; "": all. */
static const char *mask_of(Pairs *p, bool columns, bool turned) {
  bool lanes = !dim_divisible(p->to->shape[p->lane], TURNED_LANES);
  columns = columns && !dim_divisible(p->to->shape[p->near], TURNED_LANES);
  const char *lane = turned ? "inside[None, :]" : "inside[:, None]";
  const char *column = turned ? "below[:, None]" : "below[None, :]";
  if (!lanes && !columns) return "";
  return arena_printf(p->k->arena, ", mask=%s%s%s", lanes ? lane : "",
                      lanes && columns ? " & " : "", columns ? column : "");
}

static void copy_words(Pairs *p) {
  Kernel *k = p->k;
  const char *wide = kernel_wide(k), *mask = mask_of(p, true, false);
  Dim columns = p->to->shape[p->near];
  kernel_line(k, "for first in range(0, %s, %d):", kernel_operand(k, columns), TURNED_LANES);
  kernel_line(k, "    column = first + lanes");
  if (!dim_divisible(columns, TURNED_LANES))
    kernel_line(k, "    below = column < %s", kernel_operand(k, columns));
  kernel_line(k, "    x = tl.load(source + (lane[:, None]%s * %s + column[None, :])%s%s)", wide,
              times(p, p->at[p->lane]), mask, *mask ? ", other=0" : "");
  kernel_line(k, "    tl.store(result + (column[:, None]%s * %s + lane[None, :]), tl.trans(x)%s)",
              wide, times(p, p->result[p->near]), mask_of(p, true, true));
}

static void copy_pairs(Pairs *p) {
  Kernel *k = p->k;
  const char *wide = kernel_wide(k), *mask = mask_of(p, false, false);
  kernel_line(k, "parts = tl.arange(0, 2)");
  kernel_line(k, "for column in range(0, %s):", kernel_operand(k, p->to->shape[p->near]));
  kernel_line(k, "    from_here = source + column * 2");
  kernel_line(k, "    x = tl.load(from_here + (lane[:, None]%s * %s + parts[None, :])%s%s)", wide,
              times(p, p->at[p->lane]), mask, *mask ? ", other=0.0" : "");
  kernel_line(k, "    tl.store(result + column%s * %s + (lane[:, None] * 2 + parts[None, :]), x%s)",
              wide, times(p, p->result[p->near]), mask);
}

/* Blocks of all pairs, and of a program. */
static void open_blocks(Pairs *p, const char **across) {
  Kernel *k = p->k;
  Dim one = dim_int(p->d, 1), lanes = p->to->shape[p->lane], blocks = one;
  for (uint32_t i = 0; i < p->rank; i++)
    if (i != p->lane && i != p->near) blocks = dim_mul(p->d, blocks, p->to->shape[i]);
  Dim many = dim_floordiv(p->d, dim_add(p->d, lanes, dim_int(p->d, TURNED_LANES - 1)),
                          dim_int(p->d, TURNED_LANES));
  Dim programs = p->n->args[1].node->type.shape[0];
  blocks = dim_mul(p->d, blocks, many);
  Dim each = dim_floordiv(p->d, dim_add(p->d, blocks, dim_sub(p->d, programs, one)), programs);
  *across = kernel_operand(k, many);
  kernel_line(k, "start = tl.program_id(0) * %s", kernel_operand(k, each));
  kernel_line(k, "for block in range(start, min(start + %s, %s)):", kernel_operand(k, each),
              kernel_operand(k, blocks));
  k->indent += 4;
}

static void take_names(Kernel *k) {
  static const char *const names[] = {"lanes", "lane",  "whole",  "all",   "start",  "block",
                                      "rest",  "first", "column", "below", "inside", "source",
                                      "parts", "x",     "result", "from_here"};
  for (size_t i = 0; i < sizeof names / sizeof *names; i++)
    kernel_take(k, pool_name(k->graph->names, names[i]));
}

void kernel_pairs(Text *out, Kernel *k) {
  const char *across;
  BUG_IF(k->group->nodes.len != 1, "a copy of pairs has a kernel of its own");
  take_names(k);
  Pairs p = pairs_of(k);
  kernel_line(k, "lanes = tl.arange(0, %d)", TURNED_LANES);
  name_pointer(&p, "whole", p.source, graph_arg(k->graph, p.n, "at").items[0].dim);
  name_pointer(&p, "all", p.n->args[0].node, dim_int(p.d, 0));
  open_blocks(&p, &across);
  find_block(&p, across);
  Dim lanes = p.to->shape[p.lane];
  if (!dim_divisible(lanes, TURNED_LANES))
    kernel_line(k, "inside = lane < %s", kernel_operand(k, lanes));
  (p.unit > 1 ? copy_words : copy_pairs)(&p);
  kernel_emit(out, k, "program.py", NULL, 0);
}
