/* Kernels of nereid.scatter_rows: rows that are added, or reduced otherwise, in their order.
 *
 * A program does a block of columns of one part of the result: it goes through all rows of the
 * source, and changes the row of the result that the index says.  No other program touches these
 * columns, so there are no locks, and sums have the order of the source in each run. */
#include <string.h>

#include "planner/kernels/kernel.h"
#include "tiling/tiling.h"

typedef struct {
  Kernel *k;
  Node *n;
  Dim outer, rows, columns, count;
  int64_t block;
  bool each;                 /* each element has an index of its own */
  const char *column, *mask; /* " + column" and "inside"; "": a row has one element; is whole */
} Rows;

static Node *operand(Rows *r, const char *param) {
  Arg a = graph_arg(r->k->graph, r->n, param);
  return a.kind == ARG_NODE ? a.node : NULL;
}

static const char *size_of(Rows *r, Dim size) { return kernel_operand(r->k, size); }

static const char *when(Rows *r, const char *mask, const char *other) {
  if (!*mask) return "";
  return arena_printf(r->k->arena, ", mask=%s, other=%s", mask, other);
}

/* Names the start of the program's part of a tensor, of which a row has all columns. */
static void name_part(Rows *r, const char *name, Node *x, Dim rows) {
  const char *buffer = kernel_buffer(r->k, x), *wide = kernel_wide(r->k);
  if (dim_is(r->outer, 1)) {
    kernel_line(r->k, "%s = %s%s", name, buffer, r->column);
    return;
  }
  Dim part = dim_mul(r->k->graph->dims, rows, r->columns);
  kernel_line(r->k, "%s = %s + part%s * %s%s", name, buffer, wide, size_of(r, part), r->column);
}

static void choose_columns(Rows *r) {
  Kernel *k = r->k;
  Dims *d = k->graph->dims;
  Dim block = dim_int(d, r->block), less = dim_int(d, r->block - 1);
  const char *blocks = size_of(r, dim_floordiv(d, dim_add(d, r->columns, less), block));
  bool one = dim_is_int(r->columns) && r->columns->value <= r->block;
  if (!dim_is(r->outer, 1))
    kernel_line(k, "part = tl.program_id(0)%s%s", one ? "" : " // ", one ? "" : blocks);
  r->column = r->mask = "";
  if (r->block == 1) return;
  r->column = " + column";
  if (one) kernel_line(k, "column = tl.arange(0, %d)", (int)r->block);
  else
    kernel_line(k, "column = tl.program_id(0) %% %s * %d + tl.arange(0, %d)", blocks, (int)r->block,
                (int)r->block);
  if (dim_divisible(r->columns, r->block)) return;
  r->mask = "inside";
  kernel_line(k, "inside = column < %s", size_of(r, r->columns));
}

/* The element that is made of `old` and `new`. */
static const char *combined(const char *reduce) {
  static const char *const forms[][2] = {
      {"sum", "old + new"},          {"prod", "old * new"}, {"amax", "maximum(old, new)"},
      {"amin", "minimum(old, new)"}, {"put", "new"},
  };
  for (size_t i = 0; i < sizeof forms / sizeof *forms; i++)
    if (!strcmp(forms[i][0], reduce)) return forms[i][1];
  BUG("a reduction of rows");
}

/* A row of the source, number `i`, whose elements are those of row `from`. */
static void change_row(Rows *r, const char *from) {
  Kernel *k = r->k;
  const char *wide = kernel_wide(k), *columns = size_of(r, r->columns), *mask = r->mask;
  Node *scale = operand(r, "scale");
  const char *reduce = graph_arg(k->graph, r->n, "reduce").name;
  const char *dtype = dtype_lang_name(r->n->type.dtype);
  bool lanes = r->each && r->block > 1;
  if (lanes) {
    kernel_line(k, "row = tl.load(rows + i%s * %s%s).to(tl.int64)", wide, columns,
                when(r, mask, "-1"));
    kernel_line(k, "here = (row >= 0) & (row < %s)", size_of(r, r->rows));
    mask = "here";
  } else {
    kernel_line(k, "row = tl.load(rows + i).to(tl.int64)");
    kernel_line(k, "if (row >= 0) & (row < %s):", size_of(r, r->rows));
    k->indent += 4;
  }
  kernel_line(k, "at = result + row * %s", columns);
  kernel_line(k, "new = tl.load(source + %s%s * %s%s).to(tl.%s)", from, wide, columns,
              when(r, mask, "0"), dtype);
  if (scale)
    kernel_line(k, "new = new * tl.load(%s + i).to(tl.%s)", kernel_buffer(k, scale), dtype);
  if (strcmp(reduce, "put")) kernel_line(k, "old = tl.load(at%s)", when(r, mask, "0"));
  kernel_line(k, "tl.store(at, %s%s%s)", combined(reduce), *mask ? ", mask=" : "", mask);
  if (!lanes) k->indent -= 4;
}

static void change_rows(Rows *r) {
  Kernel *k = r->k;
  Node *starts = operand(r, "starts");
  if (!starts) {
    kernel_line(k, "for i in range(0, %s):", size_of(r, r->count));
    k->indent += 4;
    change_row(r, "i");
    k->indent -= 4;
    return;
  }
  const char *from = kernel_buffer(k, starts);
  Dims *d = k->graph->dims;
  Dim segments = dim_sub(d, value_numel(k->graph, &starts->type), dim_int(d, 1));
  kernel_line(k, "for segment in range(0, %s):", size_of(r, segments));
  k->indent += 4;
  kernel_line(k, "for i in range(tl.load(%s + segment), tl.load(%s + segment + 1)):", from, from);
  k->indent += 4;
  change_row(r, "segment");
  k->indent -= 8;
}

static void take_names(Kernel *k) {
  static const char *const names[] = {"part", "column", "inside", "result", "rows", "source", "i",
                                      "row",  "here",   "at",     "new",    "old",  "segment"};
  for (size_t i = 0; i < sizeof names / sizeof *names; i++)
    kernel_take(k, pool_name(k->graph->names, names[i]));
}

void kernel_rows(Text *out, Kernel *k) {
  Node *n = k->group->nodes.data[0];
  BUG_IF(k->group->nodes.len != 1, "rows that are scattered have a kernel of their own");
  take_names(k);
  const Arg sizes = graph_arg(k->graph, n, "sizes");
  Rows r = {.k = k, .n = n, .each = graph_arg(k->graph, n, "each").flag};
  r.outer = sizes.items[0].dim, r.rows = sizes.items[1].dim;
  r.columns = sizes.items[2].dim, r.count = sizes.items[3].dim;
  r.block = tiling_scattered_columns(dim_is_int(r.columns) ? r.columns->value : 0);
  choose_columns(&r);
  name_part(&r, "result", n->args[0].node, r.rows);
  name_part(&r, "source", operand(&r, "src"), r.count);
  if (r.each) name_part(&r, "rows", operand(&r, "index"), r.count);
  else kernel_line(k, "rows = %s", kernel_buffer(k, operand(&r, "index")));
  change_rows(&r);
  kernel_emit(out, k, "program.py", NULL, 0);
}
