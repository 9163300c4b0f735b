/* Every elementwise op on every type, every conversion, load, store, shuffle and atomic is printed
 * as PTX for every target, and assembled where there is a ptxas.  A hole fails: what PTX has no
 * instruction for is listed here. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "codegen/codegen.h"
#include "tests/support/tally.h"

typedef struct {
  Arena *arena;
  Nest *nest;
  NestBuilder b;
  Diags *diags;
  NestVar *in, *out; /* pointers */
  NestVar *lane, *guard;
  NestBuffer *buffer;
  const Machine *machine;
  int64_t at; /* in bytes, of the last access */
  int count;
} Walk;

static const DType types[] = {DT_I1,  DT_I8,   DT_I16, DT_I32,  DT_I64,    DT_U8,
                              DT_U16, DT_U32,  DT_U64, DT_F8E5, DT_F8E4NV, DT_F8E4B15,
                              DT_F16, DT_BF16, DT_F32, DT_F64};
enum { TYPES = sizeof types / sizeof *types };

/* ---- building ---- */

static Walk walk_new(const Machine *m) {
  Arena *a = arena_new();
  Pool *pool = pool_new(a);
  Options o = options_default();
  o.target = m->name;
  Walk w = {.arena = a, .diags = diags_new(a), .machine = m};
  w.nest = nest_new(a, pool, pool_name(pool, "walk"), o, NEST_LEVEL_THREAD);
  w.b = (NestBuilder){w.nest, w.nest->body, NULL, {0}};
  w.in = nest_param(w.nest, "in", DT_PTR, DT_I8, 0, 16);
  w.out = nest_param(w.nest, "out", DT_PTR, DT_I8, 1, 16);
  w.buffer = nest_buffer(w.nest, "scratch", DT_I8, 1024, 16);
  w.buffer->offset = 0;
  w.nest->shared_bytes = 1024;
  w.lane = nest_var(w.nest, "lane", DT_I32, DT_NONE, 1, false);
  nest_stmt(&w.b, NEST_LANE, 1, 0)->dsts[0] = ref_var(w.lane);
  w.guard = nest_var(w.nest, "guard", DT_I1, DT_NONE, 1, false);
  nest_op(&w.b, TILE_LT, DT_I32, ref_var(w.guard), ref_var(w.lane), ref_int(7), ref_none());
  return w;
}

static NestVar *new_var(Walk *w, DType t, uint32_t n) {
  return nest_var(w->nest, "x", t, DT_I8, n, false);
}

static NestStmt *memory_op(Walk *w, NestCode code, NestVar *v, NestVar *base, int n) {
  bool load = code == NEST_LD;
  NestStmt *s = nest_stmt(&w->b, code, load, !load);
  *(load ? s->dsts : s->srcs) = ref_var(v);
  s->type = v->dtype;
  s->nmems = 1;
  s->mems[0] = (Mem){NULL, ref_var(base), affine_const(w->at += 16)};
  if (n > 1) nest_set_int(w->nest, s, NA_n, n);
  return s;
}

/* A fresh variable of n registers, loaded in one access if that is possible. */
static NestVar *loaded(Walk *w, DType t, int n) {
  NestVar *v = new_var(w, t, (uint32_t)n);
  int most = t == DT_I1 ? 16 : 16 / (int)dtype_bytes(t), step = n < most ? n : most;
  for (int i = 0; i < n; i += step) memory_op(w, NEST_LD, v, w->in, step)->dsts[0].sub.c = i;
  return v;
}

static void stored(Walk *w, NestVar *v) {
  int n = (int)v->count, most = v->dtype == DT_I1 ? 16 : 16 / (int)dtype_bytes(v->dtype);
  int step = n < most ? n : most;
  for (int i = 0; i < n; i += step) memory_op(w, NEST_ST, v, w->out, step)->srcs[0].sub.c = i;
}

static Ref constant(DType t) { return dtype_is_float(t) ? ref_float(1.5) : ref_int(1); }

/* ---- the ops ---- */

static bool is_compare(TileCode op) { return op >= TILE_LT && op <= TILE_NE; }

static bool applies(TileCode op, DType t) {
  const char *rule = tile_op_rule(op);
  if (!(tile_op_flags(op) & TILE_ELEM) || !strcmp(rule, "given")) return false;
  if (op == TILE_DOT4 || op == TILE_DOT2) return t == DT_I32;
  if (!strcmp(rule, "float")) return dtype_is_float(t);
  if (!strcmp(rule, "int")) return dtype_is_int(t);
  return true;
}

/* Functions that PTX has for f32 only; lang/std has the others. */
static bool no_instruction(TileCode op, DType t) {
  return t == DT_F64 && (op == TILE_EXP2 || op == TILE_LOG2 || op == TILE_SIN || op == TILE_COS ||
                         op == TILE_TANH);
}

/* On registers, on constants where it may have them, guarded, and in packed arrays. */
static void one_op(Walk *w, TileCode op, DType t) {
  DType to = is_compare(op) ? DT_I1 : t;
  Ref x = ref_var(loaded(w, t, 1)), y = ref_var(loaded(w, t, 1)), z = ref_var(loaded(w, t, 1));
  Ref c = constant(t), none = ref_none();
  size_t n = strlen(tile_op_args(op));
  NestVar *d = new_var(w, to, 1);
  nest_op(&w->b, op, t, ref_var(d), x, n > 1 ? y : none, n > 2 ? z : none);
  stored(w, d);
  nest_op(&w->b, op, t, ref_var(d), n > 1 ? x : c, n > 1 ? c : none, n > 2 ? c : none);
  stored(w, d);
  nest_op(&w->b, op, t, ref_var(d), c, n > 1 ? y : none, n > 2 ? c : none)->guard =
      ref_var(w->guard);
  stored(w, d);
  NestVar *a = loaded(w, t, 8), *b = new_var(w, to, 8);
  for (int i = 0; i < 8; i++) {
    Ref e = ref_sub(a, affine_const(i));
    nest_op(&w->b, op, t, ref_sub(b, affine_const(i)), e, n > 1 ? e : none, n > 2 ? e : none);
  }
  stored(w, b);
  w->count++;
}

static void one_cast(Walk *w, TileCode op, DType t, DType to, bool rtz) {
  NestVar *x = loaded(w, t, 8), *d = new_var(w, to, 8);
  for (int i = 0; i < 8; i++) {
    NestStmt *s =
        nest_op(&w->b, op, t, ref_sub(d, affine_const(i)),
                i == 7 ? constant(t) : ref_sub(x, affine_const(i)), ref_none(), ref_none());
    s->to = to;
    s->rtz = rtz;
    if (i == 6) s->guard = ref_var(w->guard);
  }
  stored(w, d);
  w->count++;
}

static void one_select(Walk *w, DType t) {
  NestVar *x = loaded(w, t, 8), *d = new_var(w, t, 8);
  for (int i = 0; i < 8; i++)
    nest_op(&w->b, TILE_SELECT, t, ref_sub(d, affine_const(i)), ref_var(w->guard),
            ref_sub(x, affine_const(i)), i % 2 ? constant(t) : ref_sub(x, affine_const(7 - i)));
  stored(w, d);
  w->count++;
}

static void one_ptr_add(Walk *w, DType elem, DType by) {
  NestVar *p = new_var(w, DT_PTR, 1);
  Ref n = by ? ref_var(loaded(w, by, 1)) : ref_int(5);
  nest_op(&w->b, TILE_PTR_ADD, DT_PTR, ref_var(p), ref_var(w->in), n, ref_none())->elem = elem;
  stored(w, p);
  w->count++;
}

static void walk_ops(Walk *w, DType t) {
  for (TileCode op = 0; op < TILE_OP_COUNT; op++)
    if (applies(op, t) && !no_instruction(op, t)) one_op(w, op, t);
  one_select(w, t);
  for (int i = 0; i < TYPES; i++) {
    one_cast(w, TILE_CAST, t, types[i], false);
    if (dtype_is_float(t) && dtype_is_float(types[i])) one_cast(w, TILE_CAST, t, types[i], true);
    if (dtype_bits(t) == dtype_bits(types[i])) one_cast(w, TILE_BITCAST, t, types[i], false);
    if (dtype_is_int(t)) one_ptr_add(w, types[i], t);
  }
}

static void walk_pointers(Walk *w, DType unused) {
  (void)unused;
  Ref x = ref_var(loaded(w, DT_PTR, 1)), y = ref_var(loaded(w, DT_PTR, 1));
  for (TileCode op = TILE_LT; op <= TILE_NE; op++, w->count++) {
    NestVar *d = new_var(w, DT_I1, 1);
    nest_op(&w->b, op, DT_PTR, ref_var(d), x, y, ref_none());
    stored(w, d);
  }
  one_cast(w, TILE_BITCAST, DT_PTR, DT_I64, false);
  one_cast(w, TILE_BITCAST, DT_I64, DT_PTR, false);
  one_ptr_add(w, DT_F32, DT_NONE);
}

/* ---- the rest ---- */

/* All widths, guarded and not, global and shared, and of a variable that cannot be packed. */
static void walk_access(Walk *w, DType t) {
  for (int n = 1; n * (int)dtype_bytes(t) <= 16; n *= 2) {
    for (int odd = 0; odd < 2; odd++) {
      NestVar *v = new_var(w, t, (uint32_t)(n + odd));
      for (int k = 0; k < 4; k++, w->count++) {
        NestStmt *ld = memory_op(w, NEST_LD, v, w->in, n),
                 *st = memory_op(w, NEST_ST, v, w->out, n);
        ld->dsts[0].sub.c = st->srcs[0].sub.c = odd;
        if (k & 1) ld->guard = st->guard = ref_var(w->guard);
        if (k & 2) ld->mems[0] = st->mems[0] = (Mem){w->buffer, ref_none(), affine_const(n * 16)};
      }
    }
    NestStmt *st = memory_op(w, NEST_ST, w->lane, w->out, n);
    st->srcs[0] = constant(t);
    st->type = t;
  }
}

static void walk_shuffles(Walk *w, DType t) {
  static const char *const modes[] = {"xor", "up", "down", "idx"};
  NestVar *x = loaded(w, t, 1), *d = new_var(w, t, 1);
  for (int i = 0; i < 4; i++, w->count++) {
    NestStmt *s = nest_stmt(&w->b, NEST_SHFL, 1, i == 3 ? 2 : 1);
    s->type = t;
    s->dsts[0] = ref_var(d);
    s->srcs[0] = ref_var(x);
    if (i == 3) s->srcs[1] = ref_var(w->lane);
    nest_set_str(w->nest, s, NA_mode, modes[i]);
    if (i < 3) nest_set_int(w->nest, s, NA_by, 4);
    stored(w, d);
  }
}

static void one_atomic(Walk *w, NestCode code, DType t, const char *kind, int variant) {
  static const char *const sems[] = {"relaxed", "acquire", "release", "acq_rel"};
  NestVar *x = loaded(w, t, 1), *d = new_var(w, t, 1);
  NestStmt *s = nest_stmt(&w->b, code, code != NEST_RED, code == NEST_ATOM_CAS ? 2 : 1);
  s->type = t;
  if (s->ndsts) s->dsts[0] = ref_var(d);
  s->srcs[0] = ref_var(x);
  if (code == NEST_ATOM_CAS) s->srcs[1] = constant(t);
  s->nmems = 1;
  s->mems[0] = (Mem){NULL, ref_var(w->out), affine_const(w->at += 16)};
  if (variant & 4) s->mems[0] = (Mem){w->buffer, ref_none(), affine_const(16)};
  if (variant & 8) s->guard = ref_var(w->guard);
  nest_set_str(w->nest, s, NA_sem, sems[variant % 4]);
  if (kind) nest_set_str(w->nest, s, NA_kind, kind);
  if (s->ndsts) stored(w, d);
  w->count++;
}

static void walk_atomics(Walk *w, DType t) {
  static const char *const kinds[] = {"add", "max", "min", "xchg", "and", "or", "xor"};
  /* every order; shared, guarded, both or neither */
  for (int v = 0; t != DT_I1 && v < 16; v += 5) {
    for (int k = 0; k < (dtype_is_float(t) ? 4 : 7); k++) {
      one_atomic(w, NEST_ATOM, t, kinds[k], v);
      one_atomic(w, NEST_RED, t, kinds[k], v);
    }
    one_atomic(w, NEST_ATOM_CAS, t, NULL, v);
  }
}

/* ---- printing and assembling ---- */

static const char *const path = "PATH=\"$PATH:/usr/local/cuda/bin\"; ";

static bool has_ptxas(void) {
  return !system("PATH=\"$PATH:/usr/local/cuda/bin\"; command -v ptxas >/dev/null");
}

static bool assemble(Walk *w, const char *text, size_t len) {
  char name[] = "/tmp/ptx-ops-XXXXXX";
  int fd = mkstemp(name);
  bool good = fd >= 0 && write(fd, text, len) == (ssize_t)len;
  if (fd >= 0) close(fd);
  const char *command =
      arena_printf(w->arena, "%sptxas -O0 -arch=%s %s -o /dev/null", path, w->machine->name, name);
  good = good && !system(command);
  if (good || !getenv("KEEP")) unlink(name);
  return good;
}

static void finish(Walk *w, const char *what, bool ptxas) {
  Code code;
  bool good =
      nest_verify(w->nest, w->diags) && ptx_print(w->arena, w->nest, w->machine, w->diags, &code);
  if (good && ptxas) good = assemble(w, code.text, code.len);
  Text t = text_new(w->arena);
  if (!good) diag_print(w->diags, &t);
  if (good) passed += w->count;
  else failed++, printf("FAIL %s on %s\n%s", what, w->machine->name, t.data);
  arena_free(w->arena);
}

typedef void WalkFn(Walk *w, DType t);

static void walk_types(const Machine *m, WalkFn *fn, const char *what, bool ptxas) {
  Walk w = walk_new(m);
  for (int i = 0; i < TYPES; i++) fn(&w, types[i]);
  finish(&w, what, ptxas);
}

int main(void) {
  bool ptxas = has_ptxas();
  int n;
  const Machine *list = machine_list(&n);
  for (int i = 0; i < n; i++) {
    if (list[i].kind != MACHINE_GPU) continue;
    bool assembled = ptxas && (list[i].sm == 80 || list[i].sm == 89 || list[i].sm == 90);
    for (int k = 0; k < TYPES; k++) {
      Walk w = walk_new(&list[i]);
      walk_ops(&w, types[k]);
      finish(&w, dtype_name(types[k]), assembled);
    }
    walk_types(&list[i], walk_access, "accesses", assembled);
    walk_types(&list[i], walk_shuffles, "shuffles", assembled);
    walk_types(&list[i], walk_atomics, "atomics", assembled);
    Walk w = walk_new(&list[i]);
    walk_pointers(&w, DT_PTR);
    finish(&w, "pointers", assembled);
  }
  if (!ptxas) printf("1 skipped: no ptxas\n");
  return report();
}
