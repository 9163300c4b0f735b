/* Atomics: an instruction where the target has one for the kind and the type, else a loop around
 * compare-and-swap; bytes are swapped in the 32-bit word around them. */
#include "codegen/ptx/ptx.h"

/* ---- instructions ---- */

static bool words_equal(const char *a, const char *b) { return !strcmp(a, b); }

static const char *addition_type(Ptx *p, DType t) {
  switch (t) {
    case DT_I32:
    case DT_U32: return "add.u32";
    case DT_I64:
    case DT_U64: return "add.u64";
    case DT_F32: return "add.f32";
    case DT_F64: return "add.f64";
    case DT_F16: return "add.noftz.f16";
    case DT_BF16:
      if (!machine_has(p->machine, HAS_BF16_ARITHMETIC)) return NULL;
      ptx_needs(p, 78);
      return "add.noftz.bf16";
    default: return NULL;
  }
}

/* "add.f32"; NULL if it takes a loop. */
static const char *instruction(Ptx *p, const char *kind, DType t) {
  static const char *const extremes[2][2][2] = {{{"min.u32", "min.s32"}, {"min.u64", "min.s64"}},
                                                {{"max.u32", "max.s32"}, {"max.u64", "max.s64"}}};
  bool wide = dtype_bits(t) == 64;
  if (words_equal(kind, "add")) return addition_type(p, t);
  if (dtype_bits(t) < 32) return NULL;
  if (words_equal(kind, "xchg")) return wide ? "exch.b64" : "exch.b32";
  if (words_equal(kind, "and")) return wide ? "and.b64" : "and.b32";
  if (words_equal(kind, "or")) return wide ? "or.b64" : "or.b32";
  if (words_equal(kind, "xor")) return wide ? "xor.b64" : "xor.b32";
  if (dtype_is_float(t)) return NULL;
  return extremes[words_equal(kind, "max")][wide][dtype_is_signed(t)];
}

/* d PO_NONE: without a result. */
static void put_atomic(Ptx *p, const NestStmt *s, const char *text, Operand d, Address a, Operand x,
                       Operand y) {
  ptx_begin(p);
  ptx_puts(p, d.kind ? "atom" : "red");
  ptx_put_order(p, s);
  ptx_puts(p, ".");
  ptx_puts(p, text);
  ptx_puts(p, " ");
  if (d.kind) {
    ptx_put_operand(p, &d);
    ptx_puts(p, ", ");
  }
  ptx_put_address(p, &a);
  ptx_puts(p, ", ");
  ptx_put_operand(p, &x);
  if (y.kind) {
    ptx_puts(p, ", ");
    ptx_put_operand(p, &y);
  }
  ptx_end(p);
}

/* ---- cells: what compare-and-swap works on ---- */

typedef struct {
  DType type;
  Address at;
  RegClass cls; /* of the cell's registers: 16, 32 or 64 bits */
  const char *cas, *load, *same;
  bool byte; /* the value is a byte of the cell, `shift` bits from below */
  Operand shift;
} Cell;

static void find_byte(Ptx *p, const NestStmt *s, Cell *c) {
  bool shared = s->mems[0].buffer;
  Operand at = ptx_temp(p, shared ? RC_B32 : RC_B64);
  if (!c->at.base.kind) c->at.base = ptx_smem(p);
  c->shift = ptx_temp(p, RC_B32);
  ptx_emit(p, shared ? "add.s32 $d, $a, $b" : "add.s64 $d, $a, $b", at, c->at.base,
           ptx_int(c->at.bytes), at);
  ptx_emit2(p,
            shared ? "and.b32 $0r, $a, 3; shl.b32 $d, $0r, 3"
                   : "cvt.u32.u64 $0r, $a; and.b32 $0r, $0r, 3; shl.b32 $d, $0r, 3",
            c->shift, at);
  ptx_emit2(p, shared ? "and.b32 $d, $a, -4" : "and.b64 $d, $a, -4", at, at);
  c->at = (Address){at, 0};
}

static Cell cell(Ptx *p, const NestStmt *s) {
  DType t = s->type;
  Cell c = {.type = t, .at = ptx_address(p, &s->mems[0])};
  switch (dtype_bytes(t)) {
    case 2:
      c.cls = RC_B16;
      c.cas = "cas.b16";
      c.load = "b16";
      c.same = "setp.ne.b16 $d, $a, $b";
      break;
    case 8:
      c.cls = RC_B64;
      c.cas = "cas.b64";
      c.load = "b64";
      c.same = "setp.ne.b64 $d, $a, $b";
      break;
    default:
      c.cls = RC_B32;
      c.cas = "cas.b32";
      c.load = "b32";
      c.same = "setp.ne.b32 $d, $a, $b";
  }
  c.byte = dtype_bytes(t) == 1;
  if (c.byte) find_byte(p, s, &c);
  return c;
}

/* The cell's value in a register of the type's class. */
static Operand cell_value(Ptx *p, const Cell *c, Operand in) {
  bool is_signed = dtype_is_signed(c->type);
  Operand v = ptx_temp(p, ptx_class(c->type));
  if (c->byte)
    ptx_emit(p, is_signed ? "bfe.s32 $d, $a, $b, 8" : "bfe.u32 $d, $a, $b, 8", v, in, c->shift, in);
  else if (c->cls == RC_B16 && v.cls == RC_B32)
    ptx_emit2(p, is_signed ? "cvt.s32.s16 $d, $a" : "cvt.u32.u16 $d, $a", v, in);
  else if (c->cls == RC_B16) ptx_emit2(p, "mov.b16 $d, $a", v, in);
  else ptx_emit2(p, c->cls == RC_B64 ? "mov.b64 $d, $a" : "mov.b32 $d, $a", v, in);
  return v;
}

/* The cell with another value. */
static Operand cell_with_value(Ptx *p, const Cell *c, Operand old, Operand v) {
  Operand in = ptx_temp(p, c->cls);
  if (c->byte) ptx_emit(p, "bfi.b32 $d, $a, $b, $c, 8", in, v, old, c->shift);
  else if (c->cls == RC_B16 && v.cls == RC_B32) ptx_emit2(p, "cvt.u16.u32 $d, $a", in, v);
  else if (c->cls == RC_B16) ptx_emit2(p, "mov.b16 $d, $a", in, v);
  else ptx_emit2(p, c->cls == RC_B64 ? "mov.b64 $d, $a" : "mov.b32 $d, $a", in, v);
  return in;
}

static void load_cell(Ptx *p, const NestStmt *s, const Cell *c, Operand d) {
  bool shared = s->mems[0].buffer;
  ptx_begin(p);
  ptx_puts(p, "ld.relaxed.");
  ptx_puts(p, shared ? "cta.shared." : nest_str(s, NA_scope, "gpu"));
  ptx_puts(p, shared ? "" : ".global.");
  ptx_puts(p, c->load);
  ptx_puts(p, " ");
  ptx_put_operand(p, &d);
  ptx_puts(p, ", ");
  ptx_put_address(p, &c->at);
  ptx_end(p);
}

static TileCode atom_tile_op(const char *kind) {
  static const struct {
    const char *kind;
    TileCode op;
  } rows[] = {{"add", TILE_ADD}, {"and", TILE_AND}, {"or", TILE_OR},
              {"xor", TILE_XOR}, {"max", TILE_MAX}, {"min", TILE_MIN}};
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
    if (words_equal(kind, rows[i].kind)) return rows[i].op;
  return TILE_OP_COUNT; /* xchg */
}

/* prefix: "@" or "@!" */
static void branch_if(Ptx *p, const char *prefix, Operand condition, int32_t label) {
  ptx_begin(p);
  ptx_puts(p, prefix);
  ptx_put_operand(p, &condition);
  ptx_puts(p, " bra ");
  ptx_put_label(p, label);
  ptx_end(p);
}

/* Swaps until no one came in between; returns what was there before. */
static Operand swap_loop(Ptx *p, const NestStmt *s, const Cell *c, Operand x, const Operand *want) {
  int32_t top = ptx_label(p), end = ptx_label(p);
  Operand old = ptx_temp(p, c->cls), seen = ptx_temp(p, c->cls), differs = ptx_temp(p, RC_PRED);
  TileCode op = want ? TILE_OP_COUNT : atom_tile_op(nest_str(s, NA_kind, "add"));
  Operand guard = ptx_guard(p, s), next = x;
  if (guard.kind) branch_if(p, "@!", guard, end);
  load_cell(p, s, c, old);
  ptx_place_label(p, top);
  Operand before = cell_value(p, c, old);
  if (want) {
    ptx_emit(p, "setp.ne.b32 $d, $a, $b", differs, before, *want, x);
    branch_if(p, "@", differs, end);
  } else if (op != TILE_OP_COUNT) {
    next = ptx_temp(p, ptx_class(c->type));
    ptx_apply(p, op, c->type, next, before, x);
  }
  put_atomic(p, s, c->cas, seen, c->at, old, cell_with_value(p, c, old, next));
  ptx_emit(p, c->same, differs, seen, old, old);
  ptx_emit2(p,
            c->cls == RC_B16   ? "mov.b16 $d, $a"
            : c->cls == RC_B64 ? "mov.b64 $d, $a"
                               : "mov.b32 $d, $a",
            old, seen);
  branch_if(p, "@", differs, top);
  ptx_place_label(p, end);
  return before;
}

/* ---- statements ---- */

static Operand result(Ptx *p, const NestStmt *s) {
  const Ref *r = &s->dsts[0];
  if (s->guard.kind) ptx_element(p, r->var, ptx_subscript(p, r)); /* it may keep its value */
  return ptx_dest(p, r, 0);
}

void ptx_atom(Ptx *p, const NestStmt *s) {
  if (words_equal(nest_str(s, NA_kind, "add"), "load")) {
    ptx_ld(p, s);
    return;
  }
  const char *text = instruction(p, nest_str(s, NA_kind, "add"), s->type);
  Operand x = ptx_source_reg(p, &s->srcs[0], s->type), guard = ptx_guard(p, s);
  if (!text) {
    Cell c = cell(p, s);
    Operand old = swap_loop(p, s, &c, x, NULL);
    ptx_assign(p, s, old);
    return;
  }
  Address a = ptx_address(p, &s->mems[0]);
  Operand d = result(p, s);
  p->guard = guard;
  put_atomic(p, s, text, d, a, x, (Operand){0});
  p->guard.kind = PO_NONE;
}

/* There is no `red` that acquires. */
void ptx_red(Ptx *p, const NestStmt *s) {
  const char *kind = nest_str(s, NA_kind, "add"), *text = instruction(p, kind, s->type);
  if (words_equal(kind, "store")) {
    ptx_st(p, s);
    return;
  }
  const char *sem = nest_str(s, NA_sem, s->mems[0].buffer ? "relaxed" : "acq_rel");
  Operand x = ptx_source_reg(p, &s->srcs[0], s->type), guard = ptx_guard(p, s), d = {0};
  if (!text) {
    Cell c = cell(p, s);
    swap_loop(p, s, &c, x, NULL);
    return;
  }
  Address a = ptx_address(p, &s->mems[0]);
  bool red =
      (words_equal(sem, "relaxed") || words_equal(sem, "release")) && !words_equal(kind, "xchg");
  if (!red) d = ptx_temp(p, ptx_class(s->type));
  p->guard = guard;
  put_atomic(p, s, text, d, a, x, (Operand){0});
  p->guard.kind = PO_NONE;
}

/* The compare value in a register of the cell's class. */
static Operand in_cell(Ptx *p, const Cell *c, Operand x) {
  if (c->cls != RC_B16 || x.cls == RC_B16) return x;
  Operand narrow = ptx_temp(p, RC_B16);
  ptx_emit2(p, "cvt.u16.u32 $d, $a", narrow, x);
  return narrow;
}

void ptx_atom_cas(Ptx *p, const NestStmt *s) {
  Operand want = ptx_source_reg(p, &s->srcs[0], s->type);
  Operand x = ptx_source_reg(p, &s->srcs[1], s->type), guard = ptx_guard(p, s);
  Cell c = cell(p, s);
  if (c.byte) {
    Operand old = swap_loop(p, s, &c, x, &want);
    ptx_assign(p, s, old);
    return;
  }
  want = in_cell(p, &c, want);
  x = in_cell(p, &c, x);
  if (c.cls == RC_B16 && ptx_class(s->type) == RC_B32) {
    Operand seen = ptx_temp(p, RC_B16);
    p->guard = guard;
    put_atomic(p, s, c.cas, seen, c.at, want, x);
    p->guard.kind = PO_NONE;
    ptx_assign(p, s, cell_value(p, &c, seen));
    return;
  }
  Operand d = result(p, s);
  p->guard = guard;
  put_atomic(p, s, c.cas, d, c.at, want, x);
  p->guard.kind = PO_NONE;
}
