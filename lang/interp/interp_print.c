/* device_print. */
#include "lang/interp/device_print.h"
#include "lang/interp/interp_run.h"

/* Row-major position i as an index. */
static void element_index(const PrintLine *line, uint32_t i, int32_t *index) {
  for (int a = line->rank - 1; a >= 0; a--) {
    index[a] = (int32_t)(i % (uint32_t)line->shape[a]);
    i /= (uint32_t)line->shape[a];
  }
}

static Scalar cast_for_print(DType t, Scalar v, const PrintCast *casts, int n) {
  for (int i = 0; i < n; t = casts[i++].to)
    v = scalar_op(casts[i].op, t, casts[i].to, (Scalar[]){v}, false);
  return v;
}

static void print_device_operand(Prog *p, const Inst *in, uint32_t k, PrintLine line, Text *out) {
  const Val *v = interp_arg(p, in, k);
  const Type *t = &in->op->args[k]->type;
  PrintCast casts[PRINT_CASTS];
  int ncasts = print_casts(&line, (DType)t->dtype, tile_int(in->op, TA_hex, 0) != 0, casts);
  line.rank = t->rank;
  for (int a = 0; a < t->rank; a++) line.shape[a] = t->shape[a];
  line.message = print_message(out->arena, line.message, k, in->op->nargs);
  for (uint32_t i = 0; i < v->n; i++) {
    int32_t index[MAX_RANK];
    element_index(&line, i, index);
    bool undefined = interp_flag(v, i) & FLAG_UNDEF;
    Scalar x = cast_for_print((DType)t->dtype, v->x[i], casts, ncasts);
    out->len = 0;
    print_text(out, &line, p->id, index, undefined ? NULL : &x);
    print_write(&p->run->options, out);
  }
}

void interp_print(Prog *p, const Inst *in) {
  Arena *scratch = arena_child(p->run->arena);
  Text out = text_new(scratch);
  PrintLine line = {.message = tile_str(in->op, TA_message, "")};
  for (uint32_t k = 0; k < in->op->nargs; k++) print_device_operand(p, in, k, line, &out);
  if (!in->op->nargs) {
    print_text(&out, &line, p->id, NULL, NULL);
    print_write(&p->run->options, &out);
  }
  arena_free(scratch);
}
