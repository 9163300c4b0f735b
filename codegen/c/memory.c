/* Loads, stores and atomics.  The spread of an address selects the form of the access:
 *
 *   step 0                 one scalar access
 *   step of an element     a vector access; under a count of lanes or a mask that not all lanes
 *                          satisfy, one of the first lanes, or lane by lane
 *   another step           where all lanes have one guard: of two elements, loads of neighbours,
 *                          shuffled; else lane by lane, from lane 0's address
 *   known differences      of loads: some elements of a vector, or, where all lanes have one guard,
 *                          one or two runs of neighbours, shuffled
 *   anything else          lane by lane, from a vector of addresses
 */
#include <string.h>

#include "codegen/c/c.h"

static const Spread vector = {.kind = SPREAD_VECTOR};
static const Spread same = {.kind = SPREAD_LINEAR};

typedef enum { GUARD_NONE, GUARD_SAME, GUARD_FIRST, GUARD_MASK } GuardKind;

typedef struct {
  const char *at; /* lane 0's address, or, with `lanes`, all of them as a vector */
  bool lanes;
  Spread spread; /* of the address */
  GuardKind guard;
  const char *when; /* the guard as it is held */
  const char *name; /* of the dtype, for helpers */
  int64_t bytes;    /* of an element */
} Access;

static bool by_element(const Access *a) {
  return a->spread.kind == SPREAD_LINEAR && a->spread.step == a->bytes;
}

static bool by_step(const Access *a) {
  return a->spread.kind == SPREAD_LINEAR && a->guard <= GUARD_SAME;
}

static Access describe_access(Gen *g, const NestStmt *s) {
  Access a = {.name = dtype_name(s->type == DT_PTR ? DT_U64 : s->type)};
  if (s->guard.kind) {
    Spread guard = c_ref_spread(g, &s->guard);
    a.guard = c_uniform(guard) ? GUARD_SAME : guard.kind == SPREAD_FIRST ? GUARD_FIRST : GUARD_MASK;
    a.when = c_scalar(g, &s->guard, DT_I1);
  }
  a.spread = c_mem_spread(g, &s->mems[0]);
  a.bytes = dtype_bytes(s->type);
  a.lanes = !c_uniform(a.spread) && !by_element(&a) && !by_step(&a);
  a.at = c_address(g, &s->mems[0], a.lanes);
  return a;
}

/* The guard as a mask of all lanes. */
static const char *guard_mask(Gen *g, const Access *a) {
  switch (a->guard) {
    case GUARD_NONE: return "vsplat_i32(-1)";
    case GUARD_SAME: return c_text(g, "vsplat_i32(-(%s))", a->when);
    case GUARD_FIRST: return c_text(g, "vfirst(%s)", a->when);
    default: return a->when;
  }
}

/* Text that is true if some lane is on; NULL: always. */
static const char *any_of(Gen *g, const Access *a) {
  switch (a->guard) {
    case GUARD_NONE: return NULL;
    case GUARD_SAME: return a->when;
    case GUARD_FIRST: return c_text(g, "%s > 0", a->when);
    default: return c_text(g, "vany(%s)", a->when);
  }
}

static const char *all_of(Gen *g, const Access *a) {
  return c_text(g, a->guard == GUARD_FIRST ? "%s == LANES" : "vall(%s)", a->when);
}

static const char *as_pointer(Gen *g, const char *text) { return c_text(g, "(char *)(%s)", text); }

/* Option debug checks that each active lane is within the memory of its argument. */
static void check_access(Gen *g, const NestStmt *s, const Access *a) {
  int i = c_owner(g, &s->mems[0]);
  if (i < 0) return;
  const char *what = c_text(g, "an access is outside of the memory of argument `%s`",
                            g->nest->params[i]->name);
  if (c_uniform(a->spread)) {
    const char *any = any_of(g, a);
    c_fail_if(g, c_text(g, "%s%soutside(reach, %d, (uint64_t)(%s), %lld)", any ? any : "",
                        any ? " && " : "", i, a->at, (long long)a->bytes), what);
    return;
  }
  const char *at = a->lanes ? a->at
                            : c_text(g, "vramp_u64((uint64_t)(%s), %lld)", a->at,
                                     (long long)a->spread.step);
  c_fail_if(g, c_text(g, "voutside(reach, %d, %s, %s, %lld)", i, guard_mask(g, a), at,
                      (long long)a->bytes), what);
}

/* ---- what is masked off ----
 *
 * It keeps its value, or, where nothing else gives it one, is zero as on a GPU: kernels count on
 * that. */

static bool is_zeroed_first(const Gen *g, const Ref *dst) { return g->filled[dst->var->id]; }

static void assign_zero(Gen *g, const NestStmt *s, const Ref *dst) {
  NestStmt always = *s;
  always.guard = ref_none();
  c_assign(g, &always, dst, s->type, s->type == DT_PTR ? "NULL" : "0", same);
}

/* The operand that masked-off lanes take, for all lanes. */
static const char *masked_off(Gen *g, const NestStmt *s, const Ref *dst) {
  return is_zeroed_first(g, dst) ? c_convert(g, "0", s->type, same, vector) : c_ref_name(g, dst);
}

/* ---- loads ---- */

/* Wraps a number from memory as a pointer's. */
static const char *loaded(Gen *g, const NestStmt *s, const char *text) {
  return s->type == DT_PTR ? as_pointer(g, text) : text;
}

static void load_same(Gen *g, const NestStmt *s, const Ref *dst, const Access *a) {
  const char *fresh = nest_int(s, NA_volatile, 0) ? "_volatile" : "";
  const char *text = loaded(g, s, c_text(g, "load%s_%s(%s)", fresh, a->name, a->at));
  if (is_zeroed_first(g, dst)) assign_zero(g, s, dst);
  if (a->guard <= GUARD_SAME || c_ref_spread(g, dst).kind != SPREAD_VECTOR) {
    c_assign(g, s, dst, s->type, text, same);
    return;
  }
  const char *v = c_ref_name(g, dst);
  text = c_convert(g, text, s->type, same, vector);
  const char *name = s->type == DT_I1 ? "i32" : c_compute_name(s->type);
  c_line(g, "if (%s) %s = vselect_%s(%s, %s, %s);", any_of(g, a), v, name, guard_mask(g, a), text,
         v);
}

enum { OPERAND_VECTORS = 4 };

/* An operand of many multiply-adds, which should load it once. */
static bool is_kept_operand(const NestStmt *s, const Ref *dst) {
  bool number =
      s->type == DT_F32 || s->type == DT_F64 || s->type == DT_I32 || s->type == DT_U32;
  bool few = s->mems[0].buffer || dst->var->count <= OPERAND_VECTORS;
  return number && few && dst->var->count > 1;
}

/* Processors with sets of lanes load some lanes of words as fast as all of them, and without a
 * branch. */
static bool is_word(DType t) { return t == DT_F32 || t == DT_I32 || t == DT_U32; }

static void load_vector_parts(Gen *g, const NestStmt *s, const Ref *dst, const Access *a) {
  const char *kept = a->guard == GUARD_NONE && is_kept_operand(s, dst) ? "kept_" : "";
  const char *text = c_text(g, "vload_%s%s(%s)", kept, a->name, a->at), *v = c_ref_name(g, dst);
  if (a->guard <= GUARD_SAME) {
    if (is_zeroed_first(g, dst)) assign_zero(g, s, dst);
    c_assign(g, s, dst, s->type, text, vector);
    return;
  }
  if (a->guard == GUARD_FIRST && is_word(s->type)) {
    c_line(g, "%s = vload_upto_%s(%s, %s, %s);", v, a->name, a->at, a->when,
           masked_off(g, s, dst));
    return;
  }
  c_line(g, "if (%s) %s = %s;", all_of(g, a), v, text);
  c_line(g, "else %s = vload_%s_%s(%s, %s, %s);", v, a->guard == GUARD_FIRST ? "first" : "mask",
         a->name, a->at, a->when, masked_off(g, s, dst));
}

/* ---- loads of runs ----
 *
 * Lanes whose addresses differ by constants, as those of x // 2 or of two interleaved arrays do,
 * may be all elements of one or two runs of neighbours: a load each, and a shuffle. */

typedef struct {
  int64_t start[2];
  int length, count; /* of each run; runs */
  int from[MAX_LANES];
} Runs;

static bool is_accessed(const int64_t *at, int lanes, int64_t offset) {
  for (int l = 0; l < lanes; l++)
    if (at[l] == offset) return true;
  return false;
}

/* The neighbours that are accessed from an offset on. */
static int run_length(const int64_t *at, int lanes, int64_t offset, int64_t bytes) {
  int n = 0;
  while (is_accessed(at, lanes, offset + n * bytes)) n++;
  return n;
}

static bool find_runs(const int64_t *at, int lanes, int64_t bytes, Runs *r) {
  *r = (Runs){.count = 0};
  for (int l = 0; l < lanes; l++) {
    int k = 0;
    for (; k < r->count; k++) {
      int64_t by = at[l] - r->start[k];
      if (by >= 0 && by < r->length * bytes && by % bytes == 0) break;
    }
    if (k == r->count) {
      int64_t start = at[l];
      while (is_accessed(at, lanes, start - bytes)) start -= bytes;
      int n = run_length(at, lanes, start, bytes);
      if (k == 2 || (k && n != r->length) || (n & (n - 1))) return false;
      r->start[r->count++] = start;
      r->length = n;
    }
    r->from[l] = k * r->length + (int)((at[l] - r->start[k]) / bytes);
  }
  return r->length > 1;
}

/* A run of two words becomes two runs; false: runs are no words. */
static bool are_words(Runs *r, int64_t bytes, int lanes) {
  enum { WORD_BYTES = 8 };
  if (r->count == 1 && r->length * bytes == 2 * WORD_BYTES) {
    r->start[1] = r->start[0] + WORD_BYTES;
    r->count = 2;
    r->length /= 2;
  }
  if (r->length * bytes > WORD_BYTES) return false;
  for (int l = 0; l < lanes; l++)
    r->from[l] = r->from[l] / r->length * lanes + r->from[l] % r->length;
  return true;
}

/* The load as runs; NULL: lane by lane. */
static const char *load_runs(Gen *g, const NestStmt *s, const Access *a) {
  Runs r;
  const Mem *m = &s->mems[0];
  int lanes = g->nest->lanes;
  DType t = s->type;
  bool plain = a->lanes && a->guard <= GUARD_SAME && t != DT_I1 && t != DT_PTR && !m->buffer;
  if (!plain || !a->spread.lanes || !find_runs(a->spread.lanes, lanes, a->bytes, &r)) return NULL;
  bool words = are_words(&r, a->bytes, lanes), narrow = c_is_narrow(t);
  Affine bytes = m->bytes;
  bytes.c += r.start[0];
  Text order = text_new(g->arena);
  for (int l = 0; l < lanes; l++) text_printf(&order, ", %d", r.from[l]);
  const char *unit = narrow ? dtype_name(dtype_int(8 * (unsigned)a->bytes, false)) : a->name;
  long long n = words ? r.length * 8 * a->bytes : r.length;
  const char *text =
      c_text(g, "%s_%s(%lld, (%s)[0] + (uint64_t)(%s), %lld%s)", words ? "vwords" : "vruns", unit,
             n, c_vector(g, &m->base, DT_PTR), c_affine(g, &bytes),
             (long long)(r.start[r.count - 1] - r.start[0]), order.data);
  return narrow ? c_text(g, "vdecode_%s(%s)", a->name, text) : text;
}

/* The elements that lanes which are on read, as bits, for lanes that read at[] bytes further. */
static const char *read_elements(Gen *g, const Access *a, const int64_t *at) {
  int lanes = g->nest->lanes;
  unsigned long long readers[MAX_LANES] = {0}, read = 0;
  for (int l = 0; l < lanes; l++) {
    readers[at[l] / a->bytes] |= 1ull << l;
    read |= 1ull << at[l] / a->bytes;
  }
  if (a->guard <= GUARD_SAME) return c_text(g, "0x%llx", read);
  Text bits = text_new(g->arena);
  for (int e = 0; e < lanes; e++)
    if (readers[e])
      text_printf(&bits, "%s(uint64_t)((lanes_on(%s) & 0x%llx) != 0) << %d",
                  bits.len ? " | " : "", guard_mask(g, a), readers[e], e);
  return bits.data;
}

/* Lanes that read some elements of a vector, as those of x // 4 * 4 do: a load of these alone, and
 * a shuffle; NULL: they are others.  Lanes that are off have any value. */
static const char *load_some(Gen *g, const NestStmt *s, const Access *a) {
  const Mem *m = &s->mems[0];
  const int64_t *at = a->spread.lanes;
  int lanes = g->nest->lanes;
  bool plain = a->lanes && at && !m->buffer && (s->type == DT_F32 || s->type == DT_I32);
  if (!plain || nest_int(s, NA_volatile, 0)) return NULL;
  Text order = text_new(g->arena);
  for (int l = 0; l < lanes; l++) {
    if (at[l] < 0 || at[l] % a->bytes || at[l] / a->bytes >= lanes) return NULL;
    text_printf(&order, ", %lld", (long long)(at[l] / a->bytes));
  }
  return c_text(g, "vpick_%s((%s)[0] + (uint64_t)(%s), %s%s)", a->name,
                c_vector(g, &m->base, DT_PTR), c_affine(g, &m->bytes), read_elements(g, a, at),
                order.data);
}

/* Lanes of 64 bits are two loads of half a vector, the second of which ends with the last element
 * that is read. */
static const char *load_halves(Gen *g, const NestStmt *s, const Access *a) {
  const Mem *m = &s->mems[0];
  const int64_t *at = a->spread.lanes;
  int lanes = g->nest->lanes, half = lanes / 2;
  bool plain = a->lanes && at && !m->buffer && (s->type == DT_F64 || s->type == DT_I64);
  if (!plain || a->guard > GUARD_SAME || nest_int(s, NA_volatile, 0)) return NULL;
  int64_t last = 0;
  for (int l = 0; l < lanes; l++) {
    if (at[l] < 0 || at[l] % a->bytes || at[l] / a->bytes >= lanes) return NULL;
    if (at[l] / a->bytes > last) last = at[l] / a->bytes;
  }
  if (last < half) return NULL;
  Text order = text_new(g->arena);
  for (int l = 0; l < lanes; l++) {
    int64_t element = at[l] / a->bytes;
    int64_t from = element < half ? element : element + lanes - 1 - last;
    text_printf(&order, ", %lld", (long long)from);
  }
  return c_text(g, "vruns_%s(%d, (%s)[0] + (uint64_t)(%s), %lld%s)", a->name, half,
                c_vector(g, &m->base, DT_PTR), c_affine(g, &m->bytes),
                (long long)((last - half + 1) * a->bytes), order.data);
}

/* Neighbours or every other element, forwards or backwards: a load of the first half with those
 * between, and one that ends with the last of them; NULL: lanes are another step apart. */
static const char *load_near(Gen *g, const NestStmt *s, const Access *a) {
  DType t = s->type;
  int lanes = g->nest->lanes;
  int64_t step = a->spread.kind == SPREAD_LINEAR ? a->spread.step / a->bytes : 0, last = lanes - 1;
  bool near = (step == -1 || step == 2 || step == -2) && step * a->bytes == a->spread.step;
  if (!near || t == DT_I1 || t == DT_PTR || nest_int(s, NA_volatile, 0)) return NULL;
  const char *at = a->lanes ? c_address(g, &s->mems[0], false) : a->at;
  int64_t apart = step < 0 ? -step : step, more = apart == 1 ? 0 : last;
  Text order = text_new(g->arena);
  for (int l = 0; l < lanes; l++) {
    int64_t from = apart * (step < 0 ? last - l : l);
    text_printf(&order, ", %lld", (long long)(from > last ? from - more + lanes : from));
  }
  if (step < 0) at = c_text(g, "%s - %lld", at, (long long)(apart * last * a->bytes));
  bool narrow = c_is_narrow(t);
  const char *unit = narrow ? dtype_name(dtype_int(8 * (unsigned)a->bytes, false)) : a->name;
  const char *text = c_text(g, "vruns_%s(%d, (uint64_t)(%s), %lld%s)", unit, lanes, at,
                            (long long)(more * a->bytes), order.data);
  return narrow ? c_text(g, "vdecode_%s(%s)", a->name, text) : text;
}

/* Pairs of neighbours of 16 bits: a load each; NULL: they are others. */
static const char *load_pairs(Gen *g, const NestStmt *s, const Access *a) {
  enum { BYTES = 2 };
  const int64_t *at = a->spread.lanes;
  bool pairs = a->lanes && at && a->bytes == BYTES && s->type != DT_I1;
  for (int l = 0; l < g->nest->lanes && pairs; l += 2) pairs = at[l + 1] - at[l] == BYTES;
  if (!pairs || nest_int(s, NA_volatile, 0)) return NULL;
  if (c_is_narrow(s->type)) return c_text(g, "vdecode_%s(vgather_pairs_u16(%s))", a->name, a->at);
  return c_text(g, "vgather_pairs_%s(%s)", a->name, a->at);
}

/* Every second element of 16 bits of the first lanes, as words of rows at odd elements end. */
static bool is_second_first(const NestStmt *s, const Access *a) {
  enum { BYTES = 2 };
  return a->guard == GUARD_FIRST && a->spread.kind == SPREAD_LINEAR && a->bytes == BYTES &&
         a->spread.step == 2 * BYTES && (s->type == DT_I16 || s->type == DT_U16);
}

/* Are lanes at places that are computed of indices alone, as those of a reflected border are?
 * Where it is not known how they differ, they are neighbours nearly everywhere. */
static bool is_near(const Gen *g, const NestStmt *s, const Access *a) {
  const Ref *base = &s->mems[0].base;
  bool plain = s->type != DT_I1 && s->type != DT_PTR && !nest_int(s, NA_volatile, 0);
  bool unknown = a->lanes && a->spread.kind == SPREAD_VECTOR && !a->spread.lanes;
  return plain && unknown && base->kind == REF_VAR && !g->read[base->var->id];
}

static void load_lanes(Gen *g, const NestStmt *s, const Ref *dst, const Access *a) {
  if (a->guard <= GUARD_SAME) {
    const char *text = load_runs(g, s, a);
    if (!text) text = load_some(g, s, a);
    if (!text) text = load_halves(g, s, a);
    if (!text) text = load_near(g, s, a);
    if (!text) text = load_pairs(g, s, a);
    if (!text && is_near(g, s, a))
      text = c_text(g, "vgather_near_%s(%s, vsplat_i32(-1), %s)", a->name, a->at,
                    c_convert(g, "0", s->type, same, vector));
    if (!text && a->lanes) text = c_text(g, "vgather_%s(%s)", a->name, a->at);
    if (!text)
      text = c_text(g, "vgather_step_%s(%s, %lld)", a->name, a->at, (long long)a->spread.step);
    if (is_zeroed_first(g, dst)) assign_zero(g, s, dst);
    c_assign(g, s, dst, s->type, text, vector);
    return;
  }
  const char *v = c_ref_name(g, dst), *some = load_some(g, s, a), *whole = load_near(g, s, a);
  if (some) {
    c_line(g, "%s = vselect_%s(%s, %s, %s);", v, a->name, guard_mask(g, a), some,
           masked_off(g, s, dst));
    return;
  }
  if (whole) c_line(g, "if (%s) %s = %s;", all_of(g, a), v, whole);
  const char *rest =
      whole && is_second_first(s, a)
          ? c_text(g, "vsecond_first_%s(%s, %s, %s)", a->name,
                   a->lanes ? c_address(g, &s->mems[0], false) : a->at, a->when,
                   masked_off(g, s, dst))
          : c_text(g, "vgather_%s_%s(%s, %s, %s)", is_near(g, s, a) ? "near" : "mask", a->name,
                   a->at, guard_mask(g, a), masked_off(g, s, dst));
  c_line(g, "%s%s = %s;", whole ? "else " : "", v, rest);
}

static void load_one(Gen *g, const NestStmt *s, const Ref *dst) {
  Access a = describe_access(g, s);
  check_access(g, s, &a);
  bool fresh = nest_int(s, NA_volatile, 0) && !c_uniform(a.spread);
  if (fresh) c_line(g, "__asm__ volatile(\"\" ::: \"memory\");");
  if (c_uniform(a.spread)) load_same(g, s, dst, &a);
  else if (by_element(&a)) load_vector_parts(g, s, dst, &a);
  else load_lanes(g, s, dst, &a);
  if (fresh) c_line(g, "__asm__ volatile(\"\" ::: \"memory\");");
}

/* Register k of an access of several. */
static Ref register_after(const Ref *r, int64_t k) {
  Ref x = *r;
  if (x.kind == REF_VAR) x.sub.c += k;
  return x;
}

/* A statement that accesses n elements becomes n that access one. */
static void each_element(Gen *g, const NestStmt *s, void (*one)(Gen *, const NestStmt *)) {
  int64_t n = nest_int(s, NA_n, 1);
  for (int64_t k = 0; k < n; k++) {
    NestStmt x = *s;
    Ref dst, src;
    Mem m = s->mems[0];
    m.bytes.c += k * dtype_bytes(s->type);
    x.mems = &m;
    if (s->ndsts) dst = register_after(&s->dsts[0], k), x.dsts = &dst;
    if (s->nsrcs) src = register_after(&s->srcs[0], k), x.srcs = &src;
    one(g, &x);
  }
}

static void load_element(Gen *g, const NestStmt *s) { load_one(g, s, &s->dsts[0]); }

/* The number of an access of a transposed loop; -1: it is another one. */
static int access_of(const Gen *g, const NestStmt *s) {
  for (int i = 0; g->columns && i < g->columns->n; i++)
    if (g->columns->access[i] == s) return i;
  return -1;
}

static void load_rows(Gen *g, const NestStmt *s, const char *rows) {
  NestStmt whole = *s; /* a guard holds for all lanes here */
  whole.guard = ref_none();
  if (g->row) c_assign(g, &whole, &s->dsts[0], s->type, c_text(g, "%s[%s]", rows, g->row), vector);
  else
    c_line(g, "vload_rows_%s(%s, %lld, LANES, %s);", dtype_name(s->type),
           c_address(g, &s->mems[0], false), (long long)c_mem_spread(g, &s->mems[0]).step,
           rows);
}

void c_load(Gen *g, const NestStmt *s) {
  const int access = access_of(g, s);
  if (access >= 0) load_rows(g, s, g->columns->rows[access]);
  else each_element(g, s, load_element);
}

/* ---- stores ---- */

static const char *stored(Gen *g, const NestStmt *s, bool lanes) {
  if (lanes) return c_vector(g, &s->srcs[0], s->type);
  const char *text = c_scalar(g, &s->srcs[0], s->type);
  return s->type == DT_PTR ? c_text(g, "(uint64_t)(%s)", text) : text;
}

static void store_steps(Gen *g, const NestStmt *s, const Access *a) {
  const char *when = a->guard == GUARD_SAME ? c_text(g, "if (%s) ", a->when) : "";
  c_line(g, "%svscatter_step_%s(%s, %lld, %s);", when, a->name, a->at, (long long)a->spread.step,
         stored(g, s, true));
}

/* Both halves of the lanes are neighbours in memory of their own. */
static bool store_halves(Gen *g, const NestStmt *s, const Access *a) {
  LaneRows r;
  const Mem *m = &s->mems[0];
  bool plain = a->guard == GUARD_NONE && !m->buffer && (s->type == DT_F32 || s->type == DT_F64);
  if (!plain || !c_find_halves(g, a->spread, &r) || r.step != a->bytes) return false;
  c_line(g, "vstore_halves_%s((char *)((%s)[0] + (uint64_t)(%s)), %lld, %s);", a->name,
         c_vector(g, &m->base, DT_PTR), c_affine(g, &m->bytes), (long long)r.apart,
         stored(g, s, true));
  return true;
}

static void store_lanes(Gen *g, const NestStmt *s, const Access *a) {
  if (store_halves(g, s, a)) return;
  const char *at = c_uniform(a->spread) ? c_text(g, "vsplat_u64((uint64_t)(%s))", a->at) : a->at;
  const char *v = stored(g, s, true);
  if (a->guard == GUARD_NONE) c_line(g, "vscatter_%s(%s, %s);", a->name, at, v);
  else c_line(g, "vscatter_mask_%s(%s, %s, %s);", a->name, at, guard_mask(g, a), v);
}

static void store_elements(Gen *g, const NestStmt *s, const Access *a) {
  const char *v = stored(g, s, true);
  const char *name = a->name;
  const char *full = c_streams(g, s) ? c_text(g, "vstream_%s(%s, %s, stream);", name, a->at, v)
                                     : c_text(g, "vstore_%s(%s, %s);", name, a->at, v);
  if (a->guard == GUARD_NONE) {
    c_line(g, "%s", full);
    return;
  }
  if (a->guard == GUARD_SAME) {
    c_line(g, "if (%s) %s", a->when, full);
    return;
  }
  c_line(g, "if (%s) %s", all_of(g, a), full);
  c_line(g, "else vstore_%s_%s(%s, %s, %s);", a->guard == GUARD_FIRST ? "first" : "mask", name,
         a->at, a->when, v);
}

static void store_one(Gen *g, const NestStmt *s) {
  Access a = describe_access(g, s);
  check_access(g, s, &a);
  bool one_value = c_uniform(c_ref_spread(g, &s->srcs[0]));
  if (c_uniform(a.spread) && one_value) {
    const char *any = any_of(g, &a), *v = stored(g, s, false);
    if (any) c_line(g, "if (%s) store_%s(%s, %s);", any, a.name, a.at, v);
    else c_line(g, "store_%s(%s, %s);", a.name, a.at, v);
  } else if (by_element(&a)) {
    store_elements(g, s, &a);
  } else if (by_step(&a) && !c_uniform(a.spread)) {
    store_steps(g, s, &a);
  } else {
    store_lanes(g, s, &a);
  }
}

static void store_rows(Gen *g, const NestStmt *s, const char *rows) {
  if (g->row) c_line(g, "%s[%s] = %s;", rows, g->row, stored(g, s, true));
  else
    c_line(g, "vstore_rows_%s(%s, %lld, %s);", dtype_name(s->type),
           c_address(g, &s->mems[0], false), (long long)c_mem_spread(g, &s->mems[0]).step, rows);
}

void c_store(Gen *g, const NestStmt *s) {
  const int access = access_of(g, s);
  if (access >= 0 && g->columns->along) c_add_along(g, s, access);
  else if (access >= 0) store_rows(g, s, g->columns->rows[access]);
  else each_element(g, s, store_one);
}

/* Lane 0's address represents all; where lanes are anywhere, none is asked for. */
void c_prefetch(Gen *g, const NestStmt *s) {
  if (c_mem_spread(g, &s->mems[0]).kind != SPREAD_LINEAR) return;
  c_line(g, "__builtin_prefetch(%s, 0, 2);", c_address(g, &s->mems[0], false));
}

/* ---- atomics ---- */

static const char *atomic_order(const NestStmt *s) {
  static const char *const orders[][2] = {{"relaxed", "__ATOMIC_RELAXED"},
                                          {"acquire", "__ATOMIC_ACQUIRE"},
                                          {"release", "__ATOMIC_RELEASE"},
                                          {"acq_rel", "__ATOMIC_ACQ_REL"}};
  const char *sem = nest_str(s, NA_sem, "acq_rel");
  for (size_t i = 0; i < sizeof orders / sizeof *orders; i++)
    if (!strcmp(orders[i][0], sem)) return orders[i][1];
  return "__ATOMIC_SEQ_CST";
}

/* Lane after lane, each once, whether or not they agree on the address. */
void c_atomic(Gen *g, const NestStmt *s) {
  Access a = describe_access(g, s);
  check_access(g, s, &a);
  bool cas = s->code == NEST_ATOM_CAS;
  const char *kind = cas ? "cas" : nest_str(s, NA_kind, "add");
  const char *at = a.at, *old = s->ndsts ? c_ref_name(g, &s->dsts[0]) : NULL;
  if (!a.lanes) at = c_text(g, "vramp_u64((uint64_t)(%s), %lld)", at, (long long)a.spread.step);
  const char *x = c_vector(g, &s->srcs[0], s->type);
  if (cas) x = c_text(g, "%s, %s", x, c_vector(g, &s->srcs[1], s->type));
  const char *call = c_text(g, "vatomic_%s_%s(%s, %s, %s, %s)", kind, a.name, at, guard_mask(g, &a),
                            x, atomic_order(s));
  if (!old) {
    c_line(g, "%s;", call);
  } else if (!s->guard.kind) {
    c_assign(g, s, &s->dsts[0], s->type, call, vector);
  } else {
    const char *name = s->type == DT_I1 ? "i32" : c_compute_name(s->type);
    c_line(g, "%s = vselect_%s(%s, %s, %s);", old, name, guard_mask(g, &a), call, old);
  }
}
