/* Loads, stores, asynchronous copies, and matrix instructions. */
#include <string.h>

#include "codegen/messages.h"
#include "codegen/ptx/ptx.h"

/* ---- addresses ---- */

Operand ptx_smem(Ptx *p) {
  p->uses_shared = true;
  return (Operand){PO_REG, RC_B32, 6, -1, "%$smem", 0};
}

/* %$s<n> = the variable + the start of shared memory; computed once as long as it holds. */
static Operand shared_base(Ptx *p, const NestVar *v, int32_t at) {
  for (size_t i = 0; i < p->bases.len; i++)
    if (p->bases.data[i].var == v && p->bases.data[i].at == at)
      return (Operand){PO_REG, RC_B32, 3, p->bases.data[i].num, "%$s", 0};
  SharedBase b = {v, at, p->nbases++};
  vec_push(p->arena, &p->bases, b);
  ptx_reg(p, v)->is_base = true;
  Operand sum = {PO_REG, RC_B32, 3, b.num, "%$s", 0}, start = ptx_smem(p);
  ptx_emit(p, "add.s32 $d, $a, $b", sum, ptx_element(p, v, at), start, start);
  return sum;
}

static Address ptx_shared_address(Ptx *p, const Mem *m) {
  bool runtime;
  Address a = {.bytes = ptx_affine(p, &m->bytes, &runtime)};
  if (m->buffer->offset < 0) ptx_fail(p, E_GEN_UNPLACED, m->buffer->name);
  a.bytes += m->buffer->offset;
  if (m->base.kind) a.base = shared_base(p, m->base.var, ptx_subscript(p, &m->base));
  if (!runtime) return a;
  if (!a.base.kind) a.base = ptx_smem(p);
  a.base = ptx_add_runtime(p, &m->bytes, a.base, false);
  return a;
}

Address ptx_address(Ptx *p, const Mem *m) {
  if (m->buffer) return ptx_shared_address(p, m);
  bool runtime;
  Address a = {.base = ptx_source(p, &m->base, DT_PTR),
               .bytes = ptx_affine(p, &m->bytes, &runtime)};
  if (runtime) a.base = ptx_add_runtime(p, &m->bytes, a.base, true);
  if (a.bytes == (int32_t)a.bytes) return a;
  Operand far = ptx_temp(p, RC_B64);
  ptx_emit(p, "add.s64 $d, $a, $b", far, a.base, ptx_int(a.bytes), far);
  return (Address){far, 0};
}

void ptx_put_address(Ptx *p, const Address *a) {
  ptx_puts(p, "[");
  if (a->base.kind) ptx_put_operand(p, &a->base);
  else ptx_puts(p, "smem");
  if (a->bytes) {
    ptx_puts(p, "+"); /* of negative ones too */
    ptx_put_int(p, a->bytes);
  }
  ptx_puts(p, "]");
}

/* ---- one access ---- */

static const char *const load_caches = ".ca.cg.cs.cv", *const store_caches = ".wb.cg.cs.wt";

void ptx_put_order(Ptx *p, const NestStmt *s) {
  bool shared = s->mems[0].buffer;
  ptx_puts(p, ".");
  ptx_puts(p, nest_str(s, NA_sem, shared ? "relaxed" : "acq_rel"));
  ptx_puts(p, ".");
  ptx_puts(p, shared ? "cta" : nest_str(s, NA_scope, "gpu"));
  ptx_puts(p, shared ? ".shared" : ".global");
}

/* "ld.global.cg", "st.volatile.shared" */
static void put_access(Ptx *p, const NestStmt *s, const char *name) {
  const char *cache = nest_str(s, NA_cache, ""), *evict = nest_str(s, NA_evict, "");
  bool global = !s->mems[0].buffer, load = s->code == NEST_LD;
  ptx_puts(p, name);
  if (s->code == NEST_ATOM || s->code == NEST_RED) {
    ptx_put_order(p, s);
    return;
  }
  if (nest_int(s, NA_volatile, 0)) {
    ptx_puts(p, global ? ".volatile.global" : ".volatile.shared");
    return;
  }
  bool everywhere = nest_int(s, NA_everywhere, 0);
  ptx_puts(p, global ? ".global" : everywhere ? ".shared::cluster" : ".shared");
  if (!global) return;
  if (*cache && strstr(load ? load_caches : store_caches, cache)) {
    ptx_puts(p, cache);
  } else if (!strcmp(evict, "evict_first") || !strcmp(evict, "evict_last")) {
    ptx_needs(p, 74);
    ptx_puts(p, ".L1::");
    ptx_puts(p, evict);
  }
}

/* ".v4.b32" */
static void put_shape(Ptx *p, int n, const char *type) {
  if (n > 1) {
    ptx_puts(p, ".v");
    ptx_put_int(p, n);
  }
  ptx_puts(p, type);
  ptx_puts(p, " ");
}

/* Zero where a false guard would leave what was never written: else ptxas keeps the registers of a
 * guarded load from the start of the kernel, or of the loop, for a value that does not matter.  An
 * unrolled load may come back to registers that it has written. */
static void zero_when_unguarded(Ptx *p, const NestStmt *s, const Operand *d, int n) {
  Operand guard = p->guard;
  const NestVar *v = s->dsts[0].var;
  Reg *g = ptx_reg(p, v);
  if (!guard.kind || g->writers > 1) return;
  if (!g->defined) g->defined = ARENA_ARRAY(p->arena, bool, v->count);
  bool *defined = &g->defined[ptx_subscript(p, &s->dsts[0])];
  if (*defined) return;
  *defined = true;
  p->guard.kind = PO_NONE;
  for (int i = 0; i < n; i++) {
    bool wide = d[i].cls == RC_B64 || d[i].cls == RC_F64;
    const char *text = d[i].cls == RC_B16 ? "mov.b16 $d, $a" : "mov.b32 $d, $a";
    ptx_emit2(p, wide ? "mov.b64 $d, $a" : text, d[i], ptx_int(0));
  }
  p->guard = guard;
}

static void emit_load(Ptx *p, const NestStmt *s, Address a, const char *type, const Operand *d,
                      int n) {
  zero_when_unguarded(p, s, d, n);
  ptx_begin(p);
  put_access(p, s, "ld");
  put_shape(p, n, type);
  ptx_put_vector(p, d, n);
  ptx_puts(p, ", ");
  ptx_put_address(p, &a);
  ptx_end(p);
}

static void emit_store_at(Ptx *p, const NestStmt *s, Address a, const char *type, const Operand *x,
                          int n) {
  ptx_begin(p);
  put_access(p, s, "st");
  put_shape(p, n, type);
  ptx_put_address(p, &a);
  ptx_puts(p, ", ");
  ptx_put_vector(p, x, n);
  ptx_end(p);
}

/* An offset in shared memory has an address of its own for each thread block. */
static void emit_store(Ptx *p, const NestStmt *s, Address a, const char *type, const Operand *x,
                       int n) {
  if (!nest_int(s, NA_everywhere, 0)) {
    emit_store_at(p, s, a, type, x, n);
    return;
  }
  Operand here = ptx_temp(p, RC_B32), there = ptx_temp(p, RC_B32);
  if (!a.base.kind) a.base = ptx_smem(p);
  ptx_emit(p, "add.s32 $d, $a, $b", here, a.base, ptx_int(a.bytes), here);
  for (int rank = 0; rank < p->nest->cluster; rank++) {
    ptx_emit(p, "mapa.shared::cluster.u32 $d, $a, $b", there, here, ptx_int(rank), here);
    emit_store_at(p, s, (Address){.base = there}, type, x, n);
  }
}

/* ---- loads and stores ---- */

enum { MAX_VECTOR = 16 };

/* How one element is accessed; loads extend as its register has it. */
static const char *const element_types[DT_COUNT] = {
    [DT_I8] = ".s8",    [DT_I16] = ".s16",   [DT_I32] = ".b32",    [DT_I64] = ".b64",
    [DT_U8] = ".u8",    [DT_U16] = ".u16",   [DT_U32] = ".b32",    [DT_U64] = ".b64",
    [DT_F8E5] = ".u8",  [DT_F8E4NV] = ".u8", [DT_F8E4B15] = ".u8", [DT_F16] = ".b16",
    [DT_BF16] = ".b16", [DT_F32] = ".b32",   [DT_F64] = ".b64",    [DT_PTR] = ".b64",
};

/* Are n elements of t accessed as words? */
static bool by_words(const Ptx *p, const Ref *r, DType t, int n) {
  unsigned size = dtype_bytes(t);
  if (size >= 4 || n * size < 4) return false;
  if (n > 4 || r->kind != REF_VAR) return true;
  return ptx_whole_words(p, r->var, ptx_subscript(p, r), n);
}

/* An i1 is a byte in memory; at most 4 are accessed at once. */
static void load_bools(Ptx *p, const NestStmt *s, Address a, int n) {
  Operand guard = ptx_guard(p, s), byte[4];
  for (int i = 0; i < 4 && i < n; i++) byte[i] = ptx_temp(p, RC_B32);
  p->guard = guard;
  for (int at = 0; at < n; at += 4, a.bytes += 4) {
    int k = n - at < 4 ? n - at : 4;
    emit_load(p, s, a, ".u8", byte, k);
    for (int i = 0; i < k; i++)
      ptx_emit2(p, "setp.ne.b32 $d, $a, 0", ptx_dest(p, &s->dsts[0], at + i), byte[i]);
  }
}

static Operand nth_source(Ptx *p, const Ref *r, DType t, int i) {
  return r->kind == REF_VAR ? ptx_element(p, r->var, ptx_subscript(p, r) + i) : ptx_source(p, r, t);
}

static void store_bools(Ptx *p, const NestStmt *s, Address a, int n) {
  Operand guard = ptx_guard(p, s), byte[4];
  for (int i = 0; i < 4 && i < n; i++) byte[i] = ptx_temp(p, RC_B32);
  for (int at = 0; at < n; at += 4, a.bytes += 4) {
    int k = n - at < 4 ? n - at : 4;
    for (int i = 0; i < k; i++)
      ptx_emit2(p, "selp.b32 $d, 1, 0, $a", byte[i], nth_source(p, &s->srcs[0], DT_I1, at + i));
    p->guard = guard;
    emit_store(p, s, a, ".u8", byte, k);
    p->guard.kind = PO_NONE;
  }
}

static void load_by_pieces(Ptx *p, const NestStmt *s, Address a, int n) {
  const Ref *r = &s->dsts[0];
  Operand d[MAX_VECTOR], guard = ptx_guard(p, s);
  for (int i = 0; i < n; i++) {
    if (guard.kind) nth_source(p, r, s->type, i); /* it may keep its value */
    d[i] = ptx_dest(p, r, i);
  }
  p->guard = guard;
  emit_load(p, s, a, element_types[s->type], d, n);
}

static void load_words(Ptx *p, const NestStmt *s, Address a, int n) {
  Operand d[MAX_VECTOR];
  p->guard = ptx_guard(p, s);
  int words = ptx_dest_words(p, &s->dsts[0], n, d);
  emit_load(p, s, a, ".b32", d, words);
  ptx_end_words(p, &s->dsts[0], n, d);
}

void ptx_ld(Ptx *p, const NestStmt *s) {
  int n = (int)nest_int(s, NA_n, 1);
  Address a = ptx_address(p, &s->mems[0]);
  if (s->type == DT_I1) load_bools(p, s, a, n);
  else if (by_words(p, &s->dsts[0], s->type, n)) load_words(p, s, a, n);
  else load_by_pieces(p, s, a, n);
  p->guard.kind = PO_NONE;
}

/* ---- accesses of neighbors ---- */

/* A word of an unrolled load, or of sums that memory adds to. */
typedef struct {
  Address at;
  Operand word;
} WordAccess;

typedef VEC(WordAccess) WordAccesses;

static void find_words(Ptx *p, const NestStmt *s, WordAccesses *out) {
  if (s->code != NEST_UNROLL) {
    WordAccess x = {.at = ptx_address(p, &s->mems[0])};
    if (s->code == NEST_RED) x.word = ptx_source_reg(p, &s->srcs[0], s->type);
    else ptx_dest_words(p, &s->dsts[0], (int)nest_int(s, NA_n, 1), &x.word);
    size_t at = out->len;
    vec_push(p->arena, out, x);
    for (; at && out->data[at - 1].at.base.num == x.at.base.num &&
           out->data[at - 1].at.bytes > x.at.bytes;
         at--)
      out->data[at] = out->data[at - 1];
    out->data[at] = x;
    return;
  }
  for (int64_t i = 0; i < s->index->extent; i++) {
    p->index[s->index->id] = i;
    find_words(p, s->regions[0]->first, out);
  }
}

static bool has_whole_words(Ptx *p, const NestStmt *s) {
  if (s->code == NEST_RED) return true;
  if (s->code == NEST_LD) {
    const Ref *r = &s->dsts[0];
    int n = (int)nest_int(s, NA_n, 1);
    return n == 1 || ptx_whole_words(p, r->var, ptx_subscript(p, r), n);
  }
  for (int64_t i = 0; i < s->index->extent; i++) {
    p->index[s->index->id] = i;
    if (!has_whole_words(p, s->regions[0]->first)) return false;
  }
  return true;
}

/* Words from i on that are neighbors and begin at a multiple of a vector of `most`: their base is
 * such a multiple, since each term of an address with runs is (bind's words_of_run). */
static int count_neighbors(const WordAccesses *x, size_t i, int most) {
  enum { WORD = 4 };
  const Address *first = &x->data[i].at;
  if (i + (size_t)most > x->len || first->bytes % (most * WORD)) return 1;
  for (int k = 1; k < most; k++) {
    const Address *a = &x->data[i + (size_t)k].at;
    if (a->base.kind != first->base.kind || a->base.num != first->base.num ||
        strcmp(a->base.name, first->base.name) || a->bytes != first->bytes + k * WORD)
      return 1;
  }
  return most;
}

/* Memory adds n neighbors. */
static void emit_sums(Ptx *p, const NestStmt *s, const Address *a, const Operand *x, int n) {
  enum { VECTOR_PTX = 81 };
  if (n > 1) ptx_needs(p, VECTOR_PTX);
  ptx_begin(p);
  ptx_puts(p, "red");
  ptx_put_order(p, s);
  ptx_puts(p, ".add");
  put_shape(p, n, ".f32");
  ptx_put_address(p, a);
  ptx_puts(p, ", ");
  ptx_put_vector(p, x, n);
  ptx_end(p);
}

bool ptx_runs(Ptx *p, const NestStmt *unroll) {
  enum { MOST = 4 };
  const NestStmt *s = ptx_only_statement(unroll);
  bool accesses = s && (s->code == NEST_LD || s->code == NEST_RED);
  int run = accesses ? (int)nest_int(s, NA_run, 1) : 1;
  if (run < 2 || run > MOST || !has_whole_words(p, unroll)) return false;
  WordAccesses words = {0};
  find_words(p, unroll, &words);
  for (size_t i = 0; i < words.len;) {
    Operand word[MOST];
    int n = count_neighbors(&words, i, run);
    for (int k = 0; k < n; k++) word[k] = words.data[i + (size_t)k].word;
    if (s->code == NEST_LD) emit_load(p, s, words.data[i].at, ".b32", word, n);
    else emit_sums(p, s, &words.data[i].at, word, n);
    i += (size_t)n;
  }
  return true;
}

void ptx_st(Ptx *p, const NestStmt *s) {
  int n = (int)nest_int(s, NA_n, 1);
  DType t = s->type;
  const Ref *r = &s->srcs[0];
  Address a = ptx_address(p, &s->mems[0]);
  if (t == DT_I1) {
    store_bools(p, s, a, n);
    return;
  }
  Operand x[MAX_VECTOR];
  bool words = by_words(p, r, t, n);
  int count = words ? ptx_source_words(p, r, t, n, x) : n;
  for (int i = 0; !words && i < n; i++) x[i] = nth_source(p, r, t, i);
  p->guard = ptx_guard(p, s);
  emit_store(p, s, a, words ? ".b32" : element_types[t], x, count);
  p->guard.kind = PO_NONE;
}

/* ---- asynchronous copies ---- */

void ptx_cp_async(Ptx *p, const NestStmt *s) {
  int64_t bytes = nest_int(s, NA_bytes, 16);
  bool cg = bytes == 16 && strcmp(nest_str(s, NA_cache, ".cg"), ".ca");
  Address to = ptx_address(p, &s->mems[0]), from = ptx_address(p, &s->mems[1]);
  Operand size = {0};
  if (s->nsrcs) {
    Operand inside = ptx_source(p, &s->srcs[0], DT_I1);
    size = ptx_temp(p, RC_B32);
    ptx_emit(p, "selp.b32 $d, $b, 0, $a", size, inside, ptx_int(bytes), inside);
  }
  p->guard = ptx_guard(p, s);
  ptx_begin(p);
  ptx_puts(p, cg ? "cp.async.cg.shared.global " : "cp.async.ca.shared.global ");
  ptx_put_address(p, &to);
  ptx_puts(p, ", ");
  ptx_put_address(p, &from);
  ptx_puts(p, ", ");
  ptx_put_int(p, bytes);
  if (size.kind) {
    ptx_puts(p, ", ");
    ptx_put_operand(p, &size);
  }
  ptx_end(p);
  p->guard.kind = PO_NONE;
}

void ptx_cp_commit(Ptx *p, const NestStmt *s) {
  (void)s;
  ptx_emit2(p, "cp.async.commit_group", ptx_int(0), ptx_int(0));
}

void ptx_cp_wait(Ptx *p, const NestStmt *s) {
  ptx_emit2(p, "cp.async.wait_group $a", ptx_int(0), ptx_int(nest_int(s, NA_groups, 0)));
}

/* ---- matrices ---- */

/* The bytes of two matrices, of which a lane has two columns of two rows each, change places: the
 * first word has four rows of the first column.  Half of the lanes have the second matrix's rows
 * first, unless rows are `in_order`. */
static void put_bytes_across(Ptx *p, const Operand *pair, const Operand *d, bool in_order) {
  static const char *const select[] = {"%$left", "%$right"};
  if (in_order) {
    ptx_emit(p, "prmt.b32 $d, $a, $b, 0x6420", d[0], pair[0], pair[1], pair[1]);
    ptx_emit(p, "prmt.b32 $d, $a, $b, 0x7531", d[1], pair[0], pair[1], pair[1]);
    return;
  }
  p->turns_bytes = true;
  for (int i = 0; i < 2; i++) {
    Operand by = {PO_REG, RC_B32, (int32_t)strlen(select[i]), -1, select[i], 0};
    ptx_emit(p, "prmt.b32 $d, $a, $b, $c", d[i], pair[0], pair[1], by);
  }
}

void ptx_ldmatrix(Ptx *p, const NestStmt *s) {
  int n = (int)nest_int(s, NA_n, 1);
  const Ref *r = &s->dsts[0];
  int size = (int)dtype_bytes(r->var->dtype), elements = n * 4 / size;
  bool across = nest_int(s, NA_trans, 0) && size != 2;
  Address a = ptx_address(p, &s->mems[0]);
  Operand d[MAX_VECTOR], words[MAX_VECTOR];
  p->guard = ptx_guard(p, s);
  ptx_dest_words(p, r, elements, words);
  for (int i = 0; i < n; i++) d[i] = across ? ptx_temp(p, RC_B32) : words[i];
  ptx_begin(p);
  ptx_puts(p, "ldmatrix.sync.aligned.m8n8.x");
  ptx_put_int(p, n);
  if (nest_int(s, NA_trans, 0)) ptx_puts(p, ".trans");
  ptx_puts(p, ".shared.b16 {");
  for (int i = 0; i < n; i++) {
    if (i) ptx_puts(p, ", ");
    ptx_put_operand(p, &d[i]);
  }
  ptx_puts(p, "}, ");
  ptx_put_address(p, &a);
  ptx_end(p);
  bool in_order = nest_int(s, NA_pairs, 0);
  for (int i = 0; across && i < n; i += 2) put_bytes_across(p, d + i, words + i, in_order);
  ptx_end_words(p, r, elements, words);
  p->guard.kind = PO_NONE;
}

/* The registers of a fragment: words, or 64-bit elements. */
static int fragment_registers(Ptx *p, const Ref *r, DType t, int n, bool dest, Operand *out) {
  if (dtype_bytes(t) < 8)
    return dest ? ptx_dest_words(p, r, n, out) : ptx_source_words(p, r, t, n, out);
  for (int i = 0; i < n; i++) out[i] = dest ? ptx_dest(p, r, i) : nth_source(p, r, t, i);
  return n;
}

static void put_fragment(Ptx *p, const Operand *x, int n) {
  for (int i = 0; i < n; i++) {
    ptx_puts(p, i ? ", " : "{");
    ptx_put_operand(p, &x[i]);
  }
  ptx_puts(p, "}");
}

static void round_fragment(Ptx *p, Operand *x, int n) {
  for (int i = 0; i < n; i++) {
    Operand rounded = ptx_temp(p, RC_B32);
    ptx_begin(p);
    ptx_puts(p, "cvt.rna.tf32.f32 ");
    ptx_put_operand(p, &rounded);
    ptx_puts(p, ", ");
    ptx_put_operand(p, &x[i]);
    ptx_end(p);
    x[i] = rounded;
  }
}

void ptx_mma(Ptx *p, const NestStmt *s) {
  const Atom *atom = atom_find(nest_str(s, NA_atom, ""));
  if (p->machine->sm < atom->sm) {
    ptx_fail(p, E_GEN_ATOM, atom->name, atom->sm, p->machine->name);
    return;
  }
  ptx_needs(p, atom->ptx_version);
  const DType types[3] = {atom->a, atom->b, atom->c};
  Operand x[4][MAX_VECTOR];
  int n[4], elements = atom_registers(atom, 2);
  for (int i = 0; i < 3; i++)
    n[i] = fragment_registers(p, &s->srcs[i], types[i], atom_registers(atom, i), false, x[i]);
  for (int i = 0; i < 2 && atom->tf32 == TF32_ROUNDED; i++) round_fragment(p, x[i], n[i]);
  n[3] = fragment_registers(p, &s->dsts[0], types[2], elements, true, x[3]);
  ptx_begin(p);
  ptx_puts(p, atom->ptx);
  ptx_puts(p, " ");
  put_fragment(p, x[3], n[3]);
  for (int i = 0; i < 3; i++) {
    ptx_puts(p, ", ");
    put_fragment(p, x[i], n[i]);
  }
  ptx_end(p);
  if (dtype_bytes(types[2]) < 8) ptx_end_words(p, &s->dsts[0], elements, x[3]);
}
