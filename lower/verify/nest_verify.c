/* The verifier of loop nests: declarations, structure, scopes, subscripts and uniformity.
 * Statement by statement rules are in lower/verify/nest_check.c. */
#include "lower/verify/nest_verify.h"

#include <string.h>

#include "lower/messages.h"

enum {
  MOST_EXPANDED = 1 << 20,  /* statements of the code */
  MOST_REGISTERS = 1 << 24, /* of all threads; few are left of those that bind makes */
};

const char *nest_stmt_name(const NestStmt *s) {
  return s->code == NEST_OP ? tile_op_name(s->op) : nest_op_name(s->code);
}

bool nest_fail(NestCheck *c, const NestStmt *s, const char *fmt, ...) {
  va_list ap;
  va_start(ap, fmt);
  char *text = arena_vprintf(c->arena, fmt, ap);
  va_end(ap);
  diag_error(c->d, s ? s->span : c->n->span, "%s", text);
  return false;
}

/* ---- affine forms ---- */

static const OpenIndex *find_open(const NestCheck *c, const NestIndex *index) {
  for (size_t i = c->open.len; i-- > 0;)
    if (c->open.data[i].index == index) return &c->open.data[i];
  return NULL;
}

bool nest_range(NestCheck *c, const NestStmt *s, const Affine *a, int64_t *lo, int64_t *hi) {
  *lo = *hi = a->c;
  if (a->n > MAX_TERMS) return nest_fail(c, s, E_NEST_TERMS, MAX_TERMS);
  for (int i = 0; i < a->n; i++) {
    const NestIndex *index = a->t[i].index;
    if (!find_open(c, index)) return nest_fail(c, s, E_NEST_SCOPE, index->name);
    int64_t last;
    bool wraps = __builtin_mul_overflow(a->t[i].coef, (int64_t)index->extent - 1, &last);
    int64_t *end = last < 0 ? lo : hi;
    if (wraps || __builtin_add_overflow(*end, last, end)) return nest_fail(c, s, E_NEST_WRAP);
  }
  return true;
}

static bool affine_uniform(const NestCheck *c, const Affine *a) {
  for (int i = 0; i < a->n; i++) {
    const OpenIndex *open = find_open(c, a->t[i].index);
    if (open && open->axis) return false;
  }
  return true;
}

/* ---- references ---- */

static bool check_axes(NestCheck *c, const NestStmt *s, const Ref *r) {
  const Type *tile = &r->var->tile;
  if (!c->inside || (c->inside->code != NEST_NEST && c->inside->code != NEST_COPY))
    return r->axes ? nest_fail(c, s, E_NEST_WHOLE, r->var->name) : true;
  if (!r->axes) return nest_fail(c, s, E_NEST_RANK, r->var->name, tile->rank, 0);
  for (int i = 0; i < tile->rank; i++) {
    int64_t lo, hi;
    if (!nest_range(c, s, &r->axes[i], &lo, &hi)) return false;
    if (lo < 0 || hi >= tile->shape[i])
      return nest_fail(c, s, E_NEST_AXIS_RANGE, i, r->var->name, (long long)lo, (long long)hi,
                       tile->shape[i]);
  }
  return true;
}

static bool check_registers(NestCheck *c, const NestStmt *s, const Ref *r, int64_t n) {
  int64_t lo, hi;
  if (!nest_range(c, s, &r->sub, &lo, &hi)) return false;
  if (lo >= 0 && hi <= (int64_t)r->var->count - n) return true;
  int64_t last = hi > INT64_MAX - n ? INT64_MAX : hi + n - 1;
  return nest_fail(c, s, E_NEST_SUBSCRIPT, r->var->name, (long long)lo, (long long)last,
                   r->var->count);
}

bool nest_check_ref(NestCheck *c, const NestStmt *s, const Ref *r, int64_t n) {
  int64_t lo, hi;
  if (r->kind == REF_NONE) return nest_fail(c, s, E_NEST_EMPTY, nest_stmt_name(s));
  if (r->kind == REF_FLOAT) return true;
  if (r->kind == REF_AFFINE) return nest_range(c, s, &r->sub, &lo, &hi);
  const NestVar *v = r->var;
  if (v->id >= c->n->nvars || c->n->vars[v->id] != v)
    return nest_fail(c, s, E_NEST_UNKNOWN, arena_printf(c->arena, "%%%s", v->name));
  return v->tile.rank ? check_axes(c, s, r) : check_registers(c, s, r, n);
}

bool nest_ref_uniform(const NestCheck *c, const Ref *r) {
  switch (r->kind) {
    case REF_AFFINE: return affine_uniform(c, &r->sub);
    case REF_VAR: return r->var->uniform && affine_uniform(c, &r->sub);
    default: return true;
  }
}

/* ---- uniformity ---- */

/* What a statement computes from, if that is uniform; else which part isn't. */
static const char *not_uniform(const NestCheck *c, const NestStmt *s) {
  for (uint32_t i = 0; i < s->nsrcs; i++)
    if (!nest_ref_uniform(c, &s->srcs[i])) return "an operand";
  for (uint32_t i = 0; i < s->nmems; i++)
    if (!nest_ref_uniform(c, &s->mems[i].base) || !affine_uniform(c, &s->mems[i].bytes))
      return "the address";
  return nest_ref_uniform(c, &s->guard) ? NULL : "the guard";
}

/* The results of these differ between lanes, whatever their operands are.  A value from a lane that
 * is the same for all makes a value uniform: with one warp, or where all warps hold replicas. */
static bool varies(const NestCheck *c, const NestStmt *s) {
  switch (s->code) {
    case NEST_LANE:
    case NEST_ATOM:
    case NEST_ATOM_CAS:
    case NEST_MMA:
    case NEST_WGMMA:
    case NEST_LDMATRIX: return true;
    case NEST_WARP: return c->role_warps > 1;
    case NEST_SHFL:
      return (c->role_warps > 1 && !nest_int(s, NA_same, 0)) ||
             strcmp(nest_str(s, NA_mode, ""), "idx") || s->nsrcs < 2 ||
             !nest_ref_uniform(c, &s->srcs[1]);
    default: return false;
  }
}

/* A reduced value is the same in all threads; an address is only used to compute the result. */
static bool check_uniform(NestCheck *c, const NestStmt *s) {
  bool reduced = s->code == NEST_REDUCE;
  bool shuffled = s->code == NEST_SHFL;
  for (uint32_t i = 0; i < s->ndsts; i++) {
    const NestVar *v = s->dsts[i].var;
    if (!v->uniform || reduced) continue;
    if (varies(c, s)) return nest_fail(c, s, E_NEST_UNIFORM, v->name, "what it is given");
    const char *what = shuffled ? NULL : not_uniform(c, s);
    if (what) return nest_fail(c, s, E_NEST_UNIFORM, v->name, what);
  }
  return true;
}

/* ---- structure ---- */

static void check_block(NestCheck *c, const NestBlock *b);

static bool check_counts(NestCheck *c, const NestStmt *s) {
  const NestOpInfo *info = nest_op_info(s->code);
  int srcs = info->srcs;
  if (s->code == NEST_OP) srcs = (int)strlen(tile_op_args(s->op));
  if (s->code == NEST_SHFL && !strcmp(nest_str(s, NA_mode, ""), "idx")) srcs = 2;
  if (s->code == NEST_SERIAL && s->nsrcs) srcs = 2;
  bool combine = nest_form(s->code) == FORM_COMBINE;
  const struct {
    const char *what;
    int has, want;
  } counts[] = {
      {"results", (int)s->ndsts, info->dsts},
      {"operands", (int)s->nsrcs, srcs},
      {"addresses", (int)s->nmems, info->mems},
      {"regions", (int)s->nregions, combine ? (int)s->nregions : info->regions},
  };
  for (size_t i = 0; i < sizeof counts / sizeof *counts; i++)
    if (counts[i].want >= 0 && counts[i].has != counts[i].want)
      return nest_fail(c, s, E_NEST_COUNT, nest_stmt_name(s), counts[i].has, counts[i].what,
                       counts[i].want);
  return true;
}

/* What may stand in the region of a NEST or COPY (1), and of a REDUCE or SCAN too (2). */
static const uint8_t may_stand_inside[NEST_OP_COUNT] = {
    [NEST_OP] = 2,  [NEST_MOV] = 2,    [NEST_PID] = 1,   [NEST_NPROG] = 1,
    [NEST_LD] = 1,  [NEST_ST] = 1,     [NEST_ATOM] = 1,  [NEST_ATOM_CAS] = 1,
    [NEST_RED] = 1, [NEST_ASSERT] = 1, [NEST_PRINT] = 1,
};

static bool is_control(NestCode c) { return nest_form(c) != FORM_PLAIN; }

static bool check_place(NestCheck *c, const NestStmt *s) {
  if (!nest_op_in_level(s->code, c->n->level))
    return nest_fail(c, s, E_NEST_LEVEL, nest_stmt_name(s),
                     c->n->level == NEST_LEVEL_NEST ? "nest" : "thread");
  int needed = c->inside ? nest_form(c->inside->code) == FORM_COMBINE ? 2 : 1 : 0;
  if (may_stand_inside[s->code] < needed)
    return nest_fail(c, s, E_NEST_INSIDE, nest_stmt_name(s), nest_stmt_name(c->inside));
  if (s->code == NEST_ROLE && s->parent->owner)
    return nest_fail(c, s, E_NEST_INSIDE, "role", nest_stmt_name(s->parent->owner));
  return true;
}

/* All lanes execute these together: no guard (1), or a uniform one (2). */
static const uint8_t together[NEST_OP_COUNT] = {
    [NEST_BAR] = 1,   [NEST_CP_COMMIT] = 1,  [NEST_CP_WAIT] = 1,
    [NEST_WGMMA] = 1, [NEST_MMA_COMMIT] = 1, [NEST_MMA_WAIT] = 1,
    [NEST_SHFL] = 2,  [NEST_MMA] = 2,        [NEST_LDMATRIX] = 2,
};

static bool check_guard(NestCheck *c, const NestStmt *s) {
  if (s->guard.kind == REF_NONE) return true;
  if (together[s->code] == 2 && !nest_ref_uniform(c, &s->guard))
    return nest_fail(c, s, E_NEST_CONTROL, nest_stmt_name(s));
  if (is_control(s->code) || together[s->code] == 1)
    return nest_fail(c, s, E_NEST_GUARD, nest_stmt_name(s));
  if (!nest_check_ref(c, s, &s->guard, 1)) return false;
  if (s->guard.kind == REF_VAR && s->guard.var->dtype == DT_I1) return true;
  return nest_fail(c, s, E_NEST_GUARD_TYPE, nest_stmt_name(s));
}

static bool check_written(NestCheck *c, const NestStmt *s) {
  for (uint32_t i = 0; i < s->ndsts; i++) {
    const Ref *r = &s->dsts[i];
    if (r->kind != REF_VAR) return nest_fail(c, s, E_NEST_EMPTY, nest_stmt_name(s));
    if (r->var->is_param) return nest_fail(c, s, E_NEST_WRITE, r->var->name, "a parameter");
    for (size_t k = 0; k < c->fixed.len; k++)
      if (c->fixed.data[k] == r->var)
        return nest_fail(c, s, E_NEST_WRITE, r->var->name, "the index or a bound of a loop");
  }
  return true;
}

/* Warps that leave a loop or skip a branch alone would wait at different barriers. */
static bool check_control(NestCheck *c, const NestStmt *s) {
  bool bounded = s->code == NEST_SERIAL && s->nsrcs;
  if (s->code != NEST_FOR && s->code != NEST_WHILE && s->code != NEST_IF && !bounded) return true;
  for (uint32_t i = 0; i < s->nsrcs; i++)
    if (!nest_ref_uniform(c, &s->srcs[i]))
      return nest_fail(c, s, E_NEST_CONTROL, nest_stmt_name(s));
  return true;
}

static bool check_axes_of(NestCheck *c, const NestStmt *s) {
  if (nest_form(s->code) != FORM_NEST) return true;
  const char *bad = layout_check(s->layout, c->n->warps, c->n->lanes);
  if (*bad) return nest_fail(c, s, E_NEST_LAYOUT, nest_stmt_name(s), bad);
  for (int i = 0; i < s->layout->rank; i++)
    if (s->axes[i]->extent != s->layout->shape[i])
      return nest_fail(c, s, E_NEST_EXTENT, s->axes[i]->name, s->axes[i]->extent,
                       s->layout->shape[i]);
  return true;
}

static bool check_head(NestCheck *c, const NestStmt *s) {
  return check_place(c, s) && check_counts(c, s) && check_written(c, s) && check_guard(c, s) &&
         check_axes_of(c, s) && nest_check_stmt(c, s) && check_control(c, s) && check_uniform(c, s);
}

/* ---- the walk ---- */

static void open_index(NestCheck *c, const NestIndex *index, bool axis) {
  OpenIndex o = {index, axis};
  vec_push(c->arena, &c->open, o);
}

static void open_scope(NestCheck *c, const NestStmt *s) {
  if (s->index) open_index(c, s->index, false);
  if (nest_form(s->code) == FORM_NEST)
    for (int i = 0; i < s->layout->rank; i++) open_index(c, s->axes[i], true);
  if (s->code == NEST_FOR) {
    vec_push(c->arena, &c->fixed, s->dsts[0].var);
    for (int i = 0; i < 3; i++)
      if (s->srcs[i].kind == REF_VAR && i > 0) vec_push(c->arena, &c->fixed, s->srcs[i].var);
  }
  for (uint32_t i = 0; s->code == NEST_SERIAL && i < s->nsrcs; i++)
    if (s->srcs[i].kind == REF_VAR) vec_push(c->arena, &c->fixed, s->srcs[i].var);
  bool closed = nest_form(s->code) == FORM_NEST || nest_form(s->code) == FORM_COMBINE;
  if (closed) c->inside = s;
  if (s->code == NEST_ROLE) c->role_warps = (int)nest_int(s, NA_warps, 0);
}

static void check_regions(NestCheck *c, const NestStmt *s) {
  NestCheck outer = *c;
  if (c->depth == NEST_MAX_DEPTH) {
    nest_fail(c, s, E_NEST_DEPTH, NEST_MAX_DEPTH);
    return;
  }
  c->depth++;
  open_scope(c, s);
  for (uint32_t i = 0; i < s->nregions; i++) check_block(c, s->regions[i]);
  c->depth = outer.depth;
  c->open.len = outer.open.len;
  c->fixed.len = outer.fixed.len;
  c->inside = outer.inside;
  c->role_warps = outer.role_warps;
}

static void check_block(NestCheck *c, const NestBlock *b) {
  for (const NestStmt *s = b->first; s; s = s->next)
    if (check_head(c, s) && s->nregions) check_regions(c, s);
}

/* ---- declarations ---- */

static void check_var(NestCheck *c, const NestVar *v) {
  if (v->tile.rank && c->n->level == NEST_LEVEL_THREAD)
    nest_fail(c, NULL, E_NEST_TILE_VAR, v->name);
  if (!v->tile.rank) return;
  const char *bad = layout_check_held(v->layout, c->n->warps, c->n->lanes);
  bool same = v->layout->rank == v->tile.rank &&
              !memcmp(v->layout->shape, v->tile.shape, sizeof *v->tile.shape * v->tile.rank);
  if (!same) bad = "its shape is not the tile's";
  if (*bad) nest_fail(c, NULL, E_NEST_LAYOUT, v->name, bad);
}

static void check_buffers(NestCheck *c) {
  for (uint32_t i = 0; i < c->n->nbuffers; i++) {
    const NestBuffer *b = c->n->buffers[i];
    for (int a = 0; a < b->tile.rank; a++)
      if (layout_padded(&b->layout, a) < b->tile.shape[a] || b->layout.rank != b->tile.rank)
        nest_fail(c, NULL, E_NEST_LAYOUT, b->name, "it is smaller than the tile");
    if (b->offset < 0) continue;
    if (b->offset % b->align || b->offset + b->bytes > c->n->shared_bytes)
      nest_fail(c, NULL, E_NEST_BUFFER, b->name, (long long)c->n->shared_bytes,
                (long long)b->align);
  }
}

/* Roles stand side by side. */
static void check_roles(NestCheck *c) {
  int64_t warps = 0;
  for (const NestStmt *s = c->n->body->first; s; s = s->next)
    if (s->code == NEST_ROLE) {
      int64_t more = nest_int(s, NA_warps, 0);
      warps += more < 0 || more > c->n->warps ? c->n->warps + 1LL : more;
    }
  if (warps > c->n->warps) nest_fail(c, NULL, E_NEST_ROLES, (long long)warps, c->n->warps);
}

/* ---- the budget ---- */

static void check_all_registers(const Nest *n, Diags *d) {
  int64_t registers = 0;
  for (uint32_t i = 0; i < n->nvars; i++) {
    const NestVar *v = n->vars[i];
    registers += v->count;
    if (v->count > NEST_REGISTERS_MAX ||
        (v->tile.rank && layout_registers(v->layout) > NEST_REGISTERS_MAX))
      diag_error(d, n->span, E_NEST_REGISTERS, NEST_REGISTERS_MAX);
  }
  if (registers * n->lanes * n->warps <= MOST_REGISTERS) return;
  diag_excess(d, n->span, E_NEST_ALL_REGISTERS, MOST_REGISTERS);
  diag_hint(d, "%s", H_LOWER_BUDGET);
}

/* Statements of the code, at most about MOST_EXPANDED: each of the block counts `times` times.  An
 * empty block is printed as often as one with a statement. */
static int64_t count_expanded(const NestBlock *b, int64_t times) {
  int64_t n = b->first ? 0 : times;
  for (const NestStmt *s = b->first; s && n <= MOST_EXPANDED; s = s->next) {
    n += times;
    bool repeats = s->code == NEST_UNROLL && times <= MOST_EXPANDED;
    int64_t inner = repeats ? times * s->index->extent : times;
    for (uint32_t i = 0; i < s->nregions && n <= MOST_EXPANDED; i++)
      n += count_expanded(s->regions[i], inner);
  }
  return n;
}

bool nest_within_budget(const Nest *n, Diags *d) {
  size_t before = diag_errors(d);
  const Machine *m = machine_find(n->options.target);
  check_all_registers(n, d);
  if (diag_errors(d) > before) return false;
  if (m && !machine_has(m, HAS_EXPANDED_LOOPS)) return true;
  if (count_expanded(n->body, 1) <= MOST_EXPANDED) return true;
  diag_excess(d, n->span, E_NEST_EXPANDED, MOST_EXPANDED);
  diag_hint(d, "%s", H_LOWER_BUDGET);
  return false;
}

/* What it allocates (a few lists as long as the loops are deep) dies with the nest. */
bool nest_verify(const Nest *n, Diags *d) {
  size_t before = diag_errors(d);
  NestCheck c = {.n = n, .arena = n->arena, .d = d, .role_warps = n->warps};
  for (uint32_t i = 0; i < n->nvars; i++) check_var(&c, n->vars[i]);
  check_buffers(&c);
  check_roles(&c);
  if (diag_errors(d) > before || !nest_within_budget(n, d)) return false;
  check_block(&c, n->body);
  return diag_errors(d) == before;
}
