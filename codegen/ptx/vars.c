/* Register classes: the registers that each variable gets. */
#include "codegen/ptx/ptx.h"

static const uint8_t class_by_type[DT_COUNT] = {
    [DT_I1] = RC_PRED, [DT_I8] = RC_B32,   [DT_I16] = RC_B32,    [DT_I32] = RC_B32,
    [DT_I64] = RC_B64, [DT_U8] = RC_B32,   [DT_U16] = RC_B32,    [DT_U32] = RC_B32,
    [DT_U64] = RC_B64, [DT_F8E5] = RC_B32, [DT_F8E4NV] = RC_B32, [DT_F8E4B15] = RC_B32,
    [DT_F16] = RC_B16, [DT_BF16] = RC_B16, [DT_F32] = RC_F32,    [DT_F64] = RC_F64,
    [DT_PTR] = RC_B64,
};

RegClass ptx_class(DType t) { return (RegClass)class_by_type[t]; }

/* ---- how variables are used ---- */

/* Elements from r on are accessed as 32-bit words. */
static void want_words(Ptx *p, const Ref *r, int64_t n) {
  if (r->kind != REF_VAR) return;
  int64_t per = 4 / dtype_bytes(r->var->dtype);
  if (per < 2 || r->var->dtype == DT_I1 || n < per) return;
  Reg *g = ptx_reg(p, r->var);
  bool fits = n % per == 0 && r->sub.c % per == 0 && r->var->count % per == 0;
  for (int i = 0; i < r->sub.n; i++) fits = fits && r->sub.t[i].coef % per == 0;
  g->want = true;
  if (!fits) g->unfit = true;
}

static void note_index(Ptx *p, const Ref *r) {
  if (r->kind == REF_VAR)
    for (int i = 0; i < r->sub.n; i++) p->expand[r->sub.t[i].index->id] = true;
}

static void note_ref(Ptx *p, const Ref *r) {
  if (r->kind != REF_VAR) return;
  note_index(p, r);
  ptx_reg(p, r->var)->used = true;
}

static void note_mma(Ptx *p, const NestStmt *s) {
  const Atom *atom = atom_find(nest_str(s, NA_atom, ""));
  const Ref *refs[4] = {&s->srcs[0], &s->srcs[1], &s->srcs[2], &s->dsts[0]};
  for (int i = 0; atom && i < 4; i++) {
    want_words(p, refs[i], atom_registers(atom, i < 2 ? i : 2));
    if (atom->tf32 && i < 2 && refs[i]->kind == REF_VAR) ptx_reg(p, refs[i]->var)->bits = true;
  }
}

static void note_words(Ptx *p, const NestStmt *s) {
  int64_t n = nest_int(s, NA_n, 1);
  switch (s->code) {
    case NEST_LD: want_words(p, &s->dsts[0], n); break;
    case NEST_ST: want_words(p, &s->srcs[0], n); break;
    case NEST_LDMATRIX:
      want_words(p, &s->dsts[0], n * 4 / dtype_bytes(s->dsts[0].var->dtype));
      ptx_reg(p, s->dsts[0].var)->bits = true;
      break;
    case NEST_MMA:
    case NEST_WGMMA: note_mma(p, s); break;
    default: break;
  }
}

static void note_op(Ptx *p, const NestStmt *s) {
  bool timer = s->code == NEST_SPECIAL && s->type == DT_I64;
  if (s->code == NEST_ASM || timer) p->threads_differ |= s->dsts[0].var->uniform;
  p->multiplies |= s->code == NEST_MMA || s->code == NEST_WGMMA;
  p->group_products |= s->code == NEST_WGMMA;
  if (s->code == NEST_OP && (s->op == TILE_MIN || s->op == TILE_MAX) &&
      machine_has(p->machine, HAS_EXTREMA_OF_THREE))
    p->merges_extrema |= dtype_is_signed(s->type) && dtype_bits(s->type) <= 32;
}

static void note_accesses_of_block(Ptx *p, const NestBlock *b, bool in_loop) {
  for (const NestStmt *s = b->first; s; s = s->next) {
    for (uint32_t i = 0; i < s->ndsts; i++) {
      note_ref(p, &s->dsts[i]);
      if (s->dsts[i].kind == REF_VAR) ptx_reg(p, s->dsts[i].var)->writers++;
    }
    for (uint32_t i = 0; i < s->nsrcs; i++) note_ref(p, &s->srcs[i]);
    for (uint32_t i = 0; i < s->nmems; i++) note_ref(p, &s->mems[i].base);
    note_ref(p, &s->guard);
    note_words(p, s);
    note_op(p, s);
    p->loads_in_loop |= in_loop && s->code == NEST_LD;
    bool loop = in_loop || s->code == NEST_FOR || s->code == NEST_WHILE;
    for (uint32_t i = 0; i < s->nregions; i++) note_accesses_of_block(p, s->regions[i], loop);
  }
}

/* Bytes and numbers of 16 bits that are copied stay in words: apart they take four times the
 * registers, or twice.  Numbers of 16 bits beside products of a warpgroup do not: ptxas would make
 * one register of a word and its copy, so that a number that is computed for the next product is
 * written while the last one, which is not waited for yet, reads the register. */
static bool spread_words(Ptx *p, const NestBlock *b) {
  bool changed = false;
  for (const NestStmt *s = b->first; s; s = s->next) {
    for (uint32_t i = 0; i < s->nregions; i++) changed |= spread_words(p, s->regions[i]);
    if (s->code != NEST_MOV || s->srcs[0].kind != REF_VAR || s->dsts[0].kind != REF_VAR) continue;
    const NestVar *x = s->srcs[0].var, *y = s->dsts[0].var;
    unsigned bits = dtype_bits(x->dtype);
    bool alike = x->dtype == y->dtype && x->count == y->count;
    bool words = bits == 8 || (bits == 16 && !p->group_products);
    if (!words || !alike || ptx_reg(p, x)->want == ptx_reg(p, y)->want) continue;
    ptx_reg(p, x)->want = ptx_reg(p, y)->want = changed = true;
  }
  return changed;
}

/* ---- names ---- */

const char *ptx_identifier(Arena *a, const char *name) {
  char *s = arena_strndup(a, name, strlen(name));
  for (char *c = s; *c; c++) {
    bool letter = (*c >= 'a' && *c <= 'z') || (*c >= 'A' && *c <= 'Z') || (*c >= '0' && *c <= '9');
    if (*c == '.') *c = '$';
    else if (!letter && *c != '$') *c = '_';
  }
  return s;
}

/* Names that PTX gives to special registers. */
static bool is_special(const char *s) {
  static const char *const names[] = {"tid",
                                      "ntid",
                                      "laneid",
                                      "warpid",
                                      "nwarpid",
                                      "ctaid",
                                      "nctaid",
                                      "smid",
                                      "nsmid",
                                      "gridid",
                                      "clusterid",
                                      "nclusterid",
                                      "cluster_ctaid",
                                      "cluster_nctaid",
                                      "cluster_ctarank",
                                      "cluster_nctarank",
                                      "is_explicit_cluster",
                                      "clock",
                                      "clock_hi",
                                      "clock64",
                                      "total_smem_size",
                                      "aggr_smem_size",
                                      "dynamic_smem_size",
                                      "current_graph_exec"};
  static const char *const families[] = {"pm", "envreg", "lanemask_", "globaltimer", "reserved_"};
  for (size_t i = 0; i < sizeof names / sizeof *names; i++)
    if (!strcmp(s, names[i])) return true;
  for (size_t i = 0; i < sizeof families / sizeof *families; i++)
    if (!strncmp(s, families[i], strlen(families[i]))) return true;
  return false;
}

/* Would it pass for an element of an array? */
static bool ends_in_number(const char *s) {
  size_t n = strlen(s), k = n;
  while (k && s[k - 1] >= '0' && s[k - 1] <= '9') k--;
  return k < n && k && s[k - 1] == '_';
}

/* Names in use: registers, families of numbered registers, and stems (names of registers without
 * the number at their end).  A family needs a stem of its own. */
typedef struct {
  Pool *pool;
  IrMap registers, families, stems;
} Names;

static Name stem_of(const Names *t, const char *s) {
  size_t n = strlen(s);
  while (n && s[n - 1] >= '0' && s[n - 1] <= '9') n--;
  return pool_namen(t->pool, s, n);
}

static bool take_register(Names *t, const char *s) {
  Name name = pool_name(t->pool, s), stem = stem_of(t, s);
  if (ir_map_get(&t->families, stem)) return false;
  if (stem != name) ir_map_put(&t->stems, stem, t);
  return ir_map_put(&t->registers, name, t);
}

/* %x_0 and so on, and where they are words, %x_$0. */
static bool take_family(Ptx *p, Names *t, const char *s) {
  Name names[] = {pool_name(t->pool, s), pool_name(t->pool, arena_printf(p->arena, "%s$", s))};
  for (int i = 0; i < 2; i++)
    if (ir_map_get(&t->registers, names[i]) || ir_map_get(&t->families, names[i]) ||
        ir_map_get(&t->stems, names[i]))
      return false;
  for (int i = 0; i < 2; i++) ir_map_put(&t->families, names[i], t);
  return true;
}

static void name_register(Ptx *p, const NestVar *v, Names *t) {
  Reg *g = ptx_reg(p, v);
  const char *s = ptx_identifier(p->arena, v->name), *name;
  if (is_special(s) || *s == '$' || (!g->array && ends_in_number(s)))
    s = arena_printf(p->arena, "v$%s$", s);
  for (;; s = arena_printf(p->arena, "%s$", s)) {
    name = arena_printf(p->arena, g->array ? "%%%s_" : "%%%s", s);
    if (g->array ? take_family(p, t, name) : take_register(t, name)) break;
  }
  g->name = name;
  g->len = (uint16_t)strlen(name);
}

static void name_params(Ptx *p, Pool *pool) {
  const Nest *n = p->nest;
  IrMap taken = ir_map_new(p->arena);
  p->params = ARENA_ARRAY(p->arena, const char *, n->nparams + 1);
  for (uint32_t i = 0; i < n->nparams; i++) {
    const char *s = arena_printf(p->arena, "p_%s", ptx_identifier(p->arena, n->params[i]->name));
    while (!ir_map_put(&taken, pool_name(pool, s), p)) s = arena_printf(p->arena, "%s$", s);
    p->params[i] = s;
  }
}

static void pack_variable(Ptx *p, const NestVar *v) {
  Reg *g = ptx_reg(p, v);
  unsigned per = 4 / dtype_bytes(v->dtype);
  if (!g->want || g->unfit || v->count % per) return;
  g->per = (uint8_t)per;
  g->element = arena_printf(p->arena, "%s$", g->name);
  g->element_len = (uint16_t)(g->len + 1);
  g->words = ARENA_ARRAY(p->arena, Word, v->count / per);
}

void ptx_analyze(Ptx *p) {
  const Nest *n = p->nest;
  p->regs = ARENA_ARRAY(p->arena, Reg, n->nvars + 1);
  p->index = ARENA_ARRAY(p->arena, int64_t, n->nindices + 1);
  p->index_reg = ARENA_ARRAY(p->arena, int32_t, n->nindices + 1);
  p->expand = ARENA_ARRAY(p->arena, bool, n->nindices + 1);
  note_accesses_of_block(p, n->body, false);
  while (spread_words(p, n->body)) {
  }
  Pool *pool = pool_new(p->arena);
  Names names = {pool, ir_map_new(p->arena), ir_map_new(p->arena), ir_map_new(p->arena)};
  name_params(p, pool);
  for (uint32_t i = 0; i < n->nvars; i++) {
    const NestVar *v = n->vars[i];
    Reg *g = ptx_reg(p, v);
    if (!g->used) continue;
    g->array = v->count > 1;
    g->cls = (uint8_t)ptx_class(v->dtype);
    if (g->bits && g->cls == RC_F32) g->cls = RC_B32;
    g->per = 1;
    name_register(p, v, &names);
    pack_variable(p, v);
  }
}

/* ---- declarations ---- */

static const char *const class_names[RC_COUNT] = {
    [RC_B16] = ".b16", [RC_B32] = ".b32", [RC_F32] = ".f32",
    [RC_B64] = ".b64", [RC_F64] = ".f64", [RC_PRED] = ".pred",
};

/* A line of declarations of one class, of no more than can be read. */
typedef struct {
  Text *out;
  RegClass cls;
  int count; /* of this line */
} Declarations;

static void end_declarations(Declarations *d) {
  if (d->count) text_puts(d->out, ";\n");
  d->count = 0;
}

static void declare_registers(Declarations *d, RegClass cls, const char *name, bool array,
                              int64_t n) {
  enum { MOST = 12 };
  if (cls != d->cls) return;
  if (d->count == MOST) end_declarations(d);
  if (!d->count++) text_printf(d->out, "\t.reg %s ", class_names[cls]);
  else text_puts(d->out, ", ");
  text_puts(d->out, name);
  if (array) text_printf(d->out, "<%lld>", (long long)n);
}

static void declare_variables(Ptx *p, Declarations *d) {
  for (uint32_t i = 0; i < p->nest->nvars; i++) {
    const NestVar *v = p->nest->vars[i];
    const Reg *g = ptx_reg(p, v);
    if (!g->used) continue;
    declare_registers(d, g->per > 1 ? RC_B32 : (RegClass)g->cls, g->name, g->array,
                      v->count / g->per);
    if (g->per > 1) declare_registers(d, (RegClass)g->cls, g->element, true, v->count);
  }
}

void ptx_declare(Ptx *p, Text *out) {
  for (int c = 0; c < RC_COUNT; c++) {
    Declarations d = {out, (RegClass)c, 0};
    declare_variables(p, &d);
    if (p->most_temps[c])
      declare_registers(&d, (RegClass)c, ptx_temp_name((RegClass)c), true, p->most_temps[c]);
    if (p->nindices) declare_registers(&d, RC_B32, "%$i", true, p->nindices);
    if (p->nbases) declare_registers(&d, RC_B32, "%$s", true, p->nbases);
    if (p->ndescriptors) declare_registers(&d, RC_B64, "%$d", true, p->ndescriptors);
    if (p->nest->nmaps) declare_registers(&d, RC_B64, PTX_MAP, true, p->nest->nmaps);
    if (p->uses_copies) declare_registers(&d, RC_F32, "%$c", true, MAX_PENDING);
    if (p->uses_shared) declare_registers(&d, RC_B32, "%$smem", false, 0);
    end_declarations(&d);
  }
  if (p->turns_bytes) text_puts(out, "\t.reg .b32 %$left, %$right;\n\t.reg .pred %$late;\n");
}
