/* device_print: a nest for each operand, in its layout, that prints each element once. */
#include "lang/interp/device_print.h"
#include "lower/build/build.h"

/* An element as it is printed. */
static Ref converted(Build *s, Ref x, DType t, const PrintCast *casts, int n) {
  for (int i = 0; i < n; t = casts[i++].to) {
    Ref to = ref_var(build_temp(s, casts[i].to, DT_NONE));
    nest_op(&s->b, casts[i].op, t, to, x, ref_none(), ref_none())->to = casts[i].to;
    x = to;
  }
  return x;
}

static NestStmt *print_stmt(Build *s, const PrintLine *line, uint32_t nsrcs) {
  NestStmt *st = nest_stmt(&s->b, NEST_PRINT, 0, nsrcs);
  Text shape = text_new(s->scratch);
  for (int a = 0; a < line->rank; a++) text_printf(&shape, "%s%d", a ? "x" : "", line->shape[a]);
  st->type = line->type;
  nest_set_str(s->nest, st, NA_message, line->message);
  if (line->rank) nest_set_str(s->nest, st, NA_shape, shape.data);
  if (line->digits) nest_set_int(s->nest, st, NA_digits, line->digits);
  return st;
}

static void print_operand(Build *s, const TileOp *op, uint32_t k, PrintLine line) {
  const TileValue *v = op->args[k];
  const Type *t = &v->type;
  PrintCast casts[PRINT_CASTS];
  int ncasts = print_casts(&line, (DType)t->dtype, tile_int(op, TA_hex, 0) != 0, casts);
  line.message = print_message(s->scratch, line.message, k, op->nargs);
  line.rank = t->rank;
  for (int a = 0; a < t->rank; a++) line.shape[a] = t->shape[a];
  Layout l = t->rank ? build_layout_of(s, v) : build_whole_program(s);
  Open o = build_open(s, &l);
  Ref x = t->rank ? build_value_at(s, v, o.axes, &l) : build_scalar(s, v);
  x = converted(s, x, (DType)t->dtype, casts, ncasts);
  NestStmt *st = print_stmt(s, &line, t->rank + 1);
  st->srcs[0] = x;
  for (int a = 0; a < t->rank; a++) st->srcs[a + 1] = ref_affine(o.axes[a]);
  build_close(s, &o);
}

void build_print(Build *s, const TileOp *op) {
  PrintLine line = {.message = tile_str(op, TA_message, "")};
  for (uint32_t k = 0; k < op->nargs; k++) print_operand(s, op, k, line);
  if (op->nargs) return;
  Layout l = build_whole_program(s);
  Open o = build_open(s, &l);
  print_stmt(s, &line, 0);
  build_close(s, &o);
}
