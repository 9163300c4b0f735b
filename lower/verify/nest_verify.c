/* The verifier of loop nests.  Each check reports its error at the statement and returns whether it
 * held. */
#include <string.h>

#include "lang/asm/asm_call.h"
#include "lang/interp/device_print.h"
#include "lang/messages.h"
#include "lower/messages.h"
#include "lower/nest/nest_text.h"
#include "lower/nest/steady.h"
#include "lower/target/atoms.h"
#include "lower/target/machine.h"
#include "lower/target/wgmma_layout.h"

/* An index in scope. */
typedef struct {
  const NestIndex *index;
  bool axis; /* of a NEST: not uniform */
} OpenIndex;

typedef struct {
  const Nest *n;
  Arena *arena;
  Diags *d;
  VEC(OpenIndex) open;
  VEC(const NestVar *) fixed; /* indices and bounds of the FORs around: not to be written */
  const NestStmt *inside;     /* the NEST, COPY, REDUCE or SCAN around, or NULL */
  int role_warps;             /* of the ROLE around; of the program outside of one */
  int depth;
} NestCheck;

static bool nest_check_stmt(NestCheck *c, const NestStmt *s);

/* ======== declarations, structure, scopes, subscripts, uniformity ======== */

enum {
  MOST_EXPANDED = 1 << 20,  /* statements of the code */
  MOST_REGISTERS = 1 << 24, /* of all threads; few are left of those that bind makes */
};

/* "add", "cp.async". */
static const char *nest_stmt_name(const NestStmt *s) {
  return s->code == NEST_OP ? tile_op_name(s->op) : nest_op_name(s->code);
}

static bool nest_fail(NestCheck *c, const NestStmt *s, const char *fmt, ...) {
  va_list ap;
  va_start(ap, fmt);
  char *text = arena_vprintf(c->arena, fmt, ap);
  va_end(ap);
  diag_error(c->d, s ? s->span : c->n->span, "%s", text);
  diag_format(c->d, fmt);
  return false;
}

/* ---- affine forms ---- */

static const OpenIndex *find_open_index(const NestCheck *c, const NestIndex *index) {
  for (size_t i = c->open.len; i-- > 0;)
    if (c->open.data[i].index == index) return &c->open.data[i];
  return NULL;
}

/* The least and greatest value of an affine form; false if an index is out of scope or the values
 * do not fit int64_t. */
static bool nest_range(NestCheck *c, const NestStmt *s, const Affine *a, int64_t *lo, int64_t *hi) {
  *lo = *hi = a->c;
  if (a->n > MAX_TERMS) return nest_fail(c, s, E_NEST_TERMS, MAX_TERMS);
  for (int i = 0; i < a->n; i++) {
    const NestIndex *index = a->t[i].index;
    if (!find_open_index(c, index)) return nest_fail(c, s, E_NEST_SCOPE, index->name);
    int64_t last;
    bool wraps = __builtin_mul_overflow(a->t[i].coef, (int64_t)index->extent - 1, &last);
    int64_t *end = last < 0 ? lo : hi;
    if (wraps || __builtin_add_overflow(*end, last, end)) return nest_fail(c, s, E_NEST_WRAP);
  }
  return true;
}

static bool affine_uniform(const NestCheck *c, const Affine *a) {
  for (int i = 0; i < a->n; i++) {
    const OpenIndex *open = find_open_index(c, a->t[i].index);
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

static bool check_register_range(NestCheck *c, const NestStmt *s, const Ref *r, int64_t n) {
  int64_t lo, hi;
  if (!nest_range(c, s, &r->sub, &lo, &hi)) return false;
  if (lo >= 0 && hi <= (int64_t)r->var->count - n) return true;
  int64_t last = hi > INT64_MAX - n ? INT64_MAX : hi + n - 1;
  return nest_fail(c, s, E_NEST_SUBSCRIPT, r->var->name, (long long)lo, (long long)last,
                   r->var->count);
}

/* `n` registers from r on are in its variable; a tile is subscripted by its axes inside a NEST and
 * is used as a whole elsewhere. */
static bool nest_check_ref(NestCheck *c, const NestStmt *s, const Ref *r, int64_t n) {
  int64_t lo, hi;
  if (r->kind == REF_NONE) return nest_fail(c, s, E_NEST_EMPTY, nest_stmt_name(s));
  if (r->kind == REF_FLOAT) return true;
  if (r->kind == REF_AFFINE) return nest_range(c, s, &r->sub, &lo, &hi);
  const NestVar *v = r->var;
  if (v->id >= c->n->nvars || c->n->vars[v->id] != v)
    return nest_fail(c, s, E_TILE_UNDECLARED, arena_printf(c->arena, "%%%s", v->name));
  return v->tile.rank ? check_axes(c, s, r) : check_register_range(c, s, r, n);
}

static bool nest_ref_uniform(const NestCheck *c, const Ref *r) {
  switch (r->kind) {
    case REF_AFFINE: return affine_uniform(c, &r->sub);
    case REF_VAR: return r->var->uniform && affine_uniform(c, &r->sub);
    default: return true;
  }
}

/* ---- uniformity ---- */

/* The part of a statement that is not uniform, in words; NULL if all are. */
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
static bool varies_by_thread(const NestCheck *c, const NestStmt *s) {
  switch (s->code) {
    case NEST_WARP: return c->role_warps > 1;
    case NEST_SHFL:
      return (c->role_warps > 1 && !nest_int(s, NA_same, 0)) ||
             strcmp(nest_str(s, NA_mode, ""), "idx") || s->nsrcs < 2 ||
             !nest_ref_uniform(c, &s->srcs[1]);
    default: return nest_op_info(s->code)->flags & NEST_IS_VARIES;
  }
}

/* A reduced value is the same in all threads; an address is only used to compute the result. */
static bool check_uniform(NestCheck *c, const NestStmt *s) {
  bool reduced = s->code == NEST_REDUCE;
  bool shuffled = s->code == NEST_SHFL;
  for (uint32_t i = 0; i < s->ndsts; i++) {
    const NestVar *v = s->dsts[i].var;
    if (!v->uniform || reduced) continue;
    if (varies_by_thread(c, s)) return nest_fail(c, s, E_NEST_UNIFORM, v->name, "what it is given");
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

/* Statements that the region of a NEST or COPY may have (1), and of a REDUCE or SCAN too (2), which
 * may have assembly as well. */
static const uint8_t allowed_inside[NEST_OP_COUNT] = {
    [NEST_OP] = 2,  [NEST_MOV] = 2,    [NEST_PID] = 1,   [NEST_NPROG] = 1,
    [NEST_LD] = 1,  [NEST_ST] = 1,     [NEST_ATOM] = 1,  [NEST_ATOM_CAS] = 1,
    [NEST_RED] = 1, [NEST_ASSERT] = 1, [NEST_PRINT] = 1,
};

static bool is_control(NestCode c) { return nest_form(c) != FORM_PLAIN; }

static bool check_nesting(NestCheck *c, const NestStmt *s) {
  if (!nest_op_in_level(s->code, c->n->level))
    return nest_fail(c, s, E_NEST_LEVEL, nest_stmt_name(s),
                     c->n->level == NEST_LEVEL_NEST ? "nest" : "thread");
  int needed = c->inside ? nest_form(c->inside->code) == FORM_COMBINE ? 2 : 1 : 0;
  bool asm_of_elements = s->code == NEST_ASM && needed == 2;
  if (allowed_inside[s->code] < needed && !asm_of_elements)
    return nest_fail(c, s, E_NEST_INSIDE, nest_stmt_name(s), nest_stmt_name(c->inside));
  if (s->code == NEST_ROLE && s->parent->owner)
    return nest_fail(c, s, E_NEST_INSIDE, "role", nest_stmt_name(s->parent->owner));
  return true;
}

static bool check_guard(NestCheck *c, const NestStmt *s) {
  if (s->guard.kind == REF_NONE) return true;
  unsigned flags = nest_op_info(s->code)->flags;
  if ((flags & NEST_IS_TOGETHER) && !nest_ref_uniform(c, &s->guard))
    return nest_fail(c, s, E_NEST_CONTROL, nest_stmt_name(s));
  if (is_control(s->code) || (flags & NEST_IS_ALWAYS))
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
  return check_nesting(c, s) && check_counts(c, s) && check_written(c, s) && check_guard(c, s) &&
         check_axes_of(c, s) && nest_check_stmt(c, s) && check_control(c, s) && check_uniform(c, s);
}

/* ---- the walk ---- */

static void push_open_index(NestCheck *c, const NestIndex *index, bool axis) {
  OpenIndex o = {index, axis};
  vec_push(c->arena, &c->open, o);
}

static void open_scope(NestCheck *c, const NestStmt *s) {
  if (s->index) push_open_index(c, s->index, false);
  if (nest_form(s->code) == FORM_NEST)
    for (int i = 0; i < s->layout->rank; i++) push_open_index(c, s->axes[i], true);
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
    nest_fail(c, s, E_TILE_DEPTH, NEST_MAX_DEPTH);
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

static bool is_integer_param(const NestVar *x) {
  return x->is_param && dtype_is_int(x->dtype) && x->dtype != DT_I1;
}

static bool is_launch_number(const LaunchValue *v) {
  return !v->param || is_integer_param(v->param);
}

static void check_maps(NestCheck *c) {
  enum { MOST_BOX = 256 };
  for (uint32_t i = 0; i < c->n->nmaps; i++) {
    const TensorMap *m = c->n->maps[i];
    int64_t row = (int64_t)m->axes[0].box * dtype_bytes(m->dtype);
    bool good = m->base->is_param && m->rank && (row == 32 || row == 64 || row == 128);
    for (int k = 0; k < m->rank; k++)
      good = good && m->axes[k].box > 0 && m->axes[k].box <= MOST_BOX &&
             is_launch_number(&m->axes[k].extent) && is_launch_number(&m->axes[k].stride);
    for (int k = 0; k < MAX_NATURAL && m->natural[k]; k++)
      good = good && is_integer_param(m->natural[k]);
    if (!good) nest_fail(c, NULL, E_NEST_MAP, m->name);
  }
}

/* Roles are siblings. */
static void check_roles(NestCheck *c) {
  int64_t warps = 0;
  for (const NestStmt *s = c->n->body->first; s; s = s->next)
    if (s->code == NEST_ROLE) {
      int64_t more = nest_int(s, NA_warps, 0);
      warps += more < 0 || more > c->n->warps ? c->n->warps + 1LL : more;
    }
  if (warps > c->n->warps) nest_fail(c, NULL, E_NEST_ROLES, (long long)warps, c->n->warps);
}

static void check_blocks(NestCheck *c) {
  const char *target = c->n->options.target;
  const Machine *m = target ? machine_find(target) : NULL;
  if (c->n->cluster == 1) return;
  if (m && !machine_has(m, HAS_CLUSTERS)) nest_fail(c, NULL, E_NEST_CLUSTER_TARGET, m->name);
  if (c->n->cluster * c->n->warps > NEST_CLUSTER_WARPS)
    nest_fail(c, NULL, E_NEST_CLUSTER, c->n->cluster, c->n->warps, NEST_CLUSTER_WARPS);
}

static void refuse_exchanges(NestCheck *c, const NestStmt *s) {
  if (s->code == NEST_EXCHANGE) nest_fail(c, s, E_NEST_EXCHANGE_EARLY);
  for (uint32_t r = 0; r < s->nregions; r++)
    for (const NestStmt *x = s->regions[r]->first; x; x = x->next) refuse_exchanges(c, x);
}

/* Warps arrive at the cluster's barrier, then wait, and so on.  They have waited for the blocks to
 * which they send. */
static void check_meetings(NestCheck *c) {
  bool arrived = false, met = false;
  for (const NestStmt *s = c->n->body->first; s; s = s->next) {
    met |= s->code == NEST_CLUSTER_WAIT;
    if (!met) refuse_exchanges(c, s);
    if (s->code != NEST_CLUSTER_ARRIVE && s->code != NEST_CLUSTER_WAIT) continue;
    bool arrives = s->code == NEST_CLUSTER_ARRIVE;
    if (arrives == arrived)
      nest_fail(c, s, E_NEST_CLUSTER_ORDER, nest_op_name(s->code),
                nest_op_name(arrives ? NEST_CLUSTER_WAIT : NEST_CLUSTER_ARRIVE));
    arrived = arrives;
  }
}

/* ---- the budget ---- */

static void check_all_registers(const Nest *n, Diags *d) {
  int64_t registers = 0;
  for (uint32_t i = 0; i < n->nvars; i++) {
    const NestVar *v = n->vars[i];
    registers += v->count;
    int64_t own = v->tile.rank ? layout_registers(v->layout) : 0;
    if (own < v->count) own = v->count;
    if (own <= NEST_REGISTERS_MAX) continue;
    Resource need = {"registers", own, NEST_REGISTERS_MAX};
    diag_resource_limit(d, n->span, need, E_NEST_REGISTERS, NEST_REGISTERS_MAX);
  }
  registers *= n->lanes * n->warps;
  if (registers <= MOST_REGISTERS) return;
  Resource need = {"registers", registers, MOST_REGISTERS};
  diag_resource_limit(d, n->span, need, E_NEST_ALL_REGISTERS, MOST_REGISTERS);
  diag_hint(d, H_LOWER_BUDGET);
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
  Resource need = {"statements", 0, MOST_EXPANDED};
  diag_resource_limit(d, n->span, need, E_NEST_EXPANDED, MOST_EXPANDED);
  diag_hint(d, H_LOWER_BUDGET);
  return false;
}

/* Before its wait a kernel that starts early has nothing but reads of steady memory. */
static void check_wait(NestCheck *c) {
  const NestStmt *wait = c->n->options.steady ? steady_wait(c->n) : NULL;
  if (!wait) return;
  const bool *steady = steady_pointers(c->arena, c->n);
  for (const NestStmt *s = c->n->body->first; s != wait; s = s->next)
    if (s->code != NEST_GRID_DEPENDENCY && !steady_alone(c->n, steady, s))
      nest_fail(c, s, E_NEST_EARLY, nest_stmt_name(s));
}

/* Its allocations (a few lists as long as the loops are deep) live as long as the nest. */
bool nest_verify(const Nest *n, Diags *d) {
  size_t before = diag_errors(d);
  NestCheck c = {.n = n, .arena = n->arena, .d = d, .role_warps = n->warps};
  for (uint32_t i = 0; i < n->nvars; i++) check_var(&c, n->vars[i]);
  check_buffers(&c);
  check_maps(&c);
  check_roles(&c);
  check_blocks(&c);
  check_meetings(&c);
  if (diag_errors(d) > before || !nest_within_budget(n, d)) return false;
  check_block(&c, n->body);
  if (diag_errors(d) == before) check_wait(&c);
  return diag_errors(d) == before;
}

/* ======== types, attributes and addresses of each statement, by a table ======== */

/* ---- attributes ---- */

typedef struct {
  NestAttrKey key;
  int64_t lo, hi;
  const char *words; /* of strings: what is possible, separated by spaces; "" any */
} AttrRule;

/* `kind` and `atom` depend on the statement. */
static const AttrRule attr_rules[] = {
    {NA_n, 1, NEST_MAX_RUN, NULL},
    {NA_axis, 0, MAX_RANK - 1, NULL},
    {NA_cache, 0, 0, ".ca .cg .cs .wb .wt .cv"},
    {NA_evict, 0, 0, "evict_first evict_last evict_normal"},
    {NA_sem, 0, 0, "relaxed acquire release acq_rel"},
    {NA_scope, 0, 0, "cta gpu sys"},
    {NA_bytes, 4, 16, NULL},
    {NA_groups, 0, 64, NULL},
    {NA_columns, 8, 256, NULL},
    {NA_mode, 0, 0, "xor up down idx"},
    {NA_by, 0, 31, NULL},
    {NA_id, 0, 15, NULL},
    {NA_warps, 0, 64, NULL},
    {NA_regs, 0, 256, NULL},
    {NA_stages, 0, 64, NULL},
    {NA_unroll, 0, 1024, NULL},
    {NA_ring, 0, 64, NULL},
    {NA_width, 1, MAX_TILE, NULL},
    {NA_digits, 1, 16, NULL},
    {NA_pack, 1, ASM_MAX_PACK, NULL},
    {NA_turned, 0, 3, NULL},
    {NA_max_imprecise, 0, MAX_TILE, NULL},
    {NA_count, 1, (1 << 20) - 1, NULL},
    {NA_tx, 0, (1 << 20) - 1, NULL},
};

static bool in_words(const char *words, const char *s) {
  size_t n = strlen(s);
  for (const char *w = words; *w; w += strspn(w, " ")) {
    size_t len = strcspn(w, " ");
    if (len == n && !memcmp(w, s, n)) return true;
    w += len;
  }
  return false;
}

static bool check_word(NestCheck *c, const NestStmt *s, NestAttrKey key, const char *words) {
  const NestAttr *a = nest_attr(s, key);
  if (!a || in_words(words, a->s)) return true;
  return nest_fail(c, s, E_TILE_ATTR_WORD, nest_attr_name(key), nest_stmt_name(s), a->s, words);
}

static bool check_attr(NestCheck *c, const NestStmt *s, const AttrRule *rule) {
  const NestAttr *a = nest_attr(s, rule->key);
  if (!a) return true;
  if (rule->words) return check_word(c, s, rule->key, rule->words);
  if (a->i >= rule->lo && a->i <= rule->hi) return true;
  return nest_fail(c, s, E_TILE_ATTR_RANGE, nest_attr_name(rule->key), nest_stmt_name(s),
                   (long long)a->i, (long long)rule->lo, (long long)rule->hi);
}

static bool check_attrs(NestCheck *c, const NestStmt *s) {
  for (uint32_t i = 0; i < s->nattrs; i++) {
    const char *name = nest_attr_name((NestAttrKey)s->attrs[i].key);
    const char *known = nest_op_info(s->code)->attrs;
    if (!in_words(known, name))
      return nest_fail(c, s, E_NEST_ATTR, nest_stmt_name(s), name, *known ? "; it has: " : "",
                       known);
  }
  for (size_t i = 0; i < sizeof attr_rules / sizeof *attr_rules; i++)
    if (!check_attr(c, s, &attr_rules[i])) return false;
  return true;
}

static bool check_has_attr(NestCheck *c, const NestStmt *s, NestAttrKey key) {
  if (nest_attr(s, key)) return true;
  return nest_fail(c, s, E_TILE_ATTR_MISSING, nest_stmt_name(s), nest_attr_name(key));
}

/* ---- operands ---- */

static const char *type_name(DType t) {
  return t == DT_PTR ? "a pointer" : t == DT_NONE ? "no type" : dtype_name(t);
}

/* An integer constant represents an integer (or a null pointer), a float one for a float. */
static bool ref_is(const Ref *r, DType t) {
  if (r->kind == REF_VAR) return r->var->dtype == t;
  if (r->kind == REF_FLOAT) return dtype_is_float(t);
  return dtype_is_int(t) || t == DT_PTR;
}

static const char *ref_text(const Ref *r) {
  if (r->kind == REF_VAR) return type_name(r->var->dtype);
  return r->kind == REF_FLOAT ? "a float constant" : "an integer constant";
}

static bool check_src(NestCheck *c, const NestStmt *s, uint32_t i, DType t, int64_t n) {
  const Ref *r = &s->srcs[i];
  if (!nest_check_ref(c, s, r, n)) return false;
  if (ref_is(r, t)) return true;
  return nest_fail(c, s, E_TILE_OPERAND, i + 1, nest_stmt_name(s), ref_text(r), type_name(t));
}

static bool check_dst(NestCheck *c, const NestStmt *s, DType t, int64_t n) {
  const Ref *r = &s->dsts[0];
  if (!nest_check_ref(c, s, r, n)) return false;
  if (r->var->dtype == t) return true;
  return nest_fail(c, s, E_NEST_RESULT, nest_stmt_name(s), type_name(r->var->dtype), type_name(t));
}

static bool check_type(NestCheck *c, const NestStmt *s, bool good, const char *what) {
  return good || nest_fail(c, s, E_NEST_TYPE, nest_stmt_name(s), type_name(s->type), what);
}

/* ---- addresses ---- */

static bool check_mem_base(NestCheck *c, const NestStmt *s, const Mem *m) {
  if (!m->buffer) {
    bool pointer = m->base.kind == REF_VAR && m->base.var->dtype == DT_PTR;
    if (!pointer) return nest_fail(c, s, E_NEST_BASE, "a pointer");
    return nest_check_ref(c, s, &m->base, 1);
  }
  const NestBuffer *b = m->buffer;
  if (b->id >= c->n->nbuffers || c->n->buffers[b->id] != b)
    return nest_fail(c, s, E_TILE_UNDECLARED, arena_printf(c->arena, "@%s", b->name));
  if (m->base.kind == REF_NONE) return true;
  DType t = m->base.kind == REF_VAR ? m->base.var->dtype : DT_NONE;
  bool offset = t == DT_I32 || t == DT_U32;
  if (!offset) return nest_fail(c, s, E_NEST_BASE, "an i32 or u32 number of bytes");
  return nest_check_ref(c, s, &m->base, 1);
}

/* An access of `bytes` at a multiple of `align`, as far as the address is known here. */
static bool check_mem(NestCheck *c, const NestStmt *s, uint32_t i, int64_t bytes, int64_t align) {
  const Mem *m = &s->mems[i];
  int64_t lo, hi;
  if (!check_mem_base(c, s, m) || !nest_range(c, s, &m->bytes, &lo, &hi)) return false;
  if (!m->buffer || m->base.kind) return true;
  if (lo < 0 || hi > m->buffer->bytes - bytes)
    return nest_fail(c, s, E_NEST_BOUNDS, (long long)lo, (long long)hi, (long long)bytes,
                     m->buffer->name, (long long)m->buffer->bytes);
  bool aligned = m->bytes.c % align == 0 && m->buffer->align % align == 0;
  for (int k = 0; k < m->bytes.n; k++) aligned = aligned && m->bytes.t[k].coef % align == 0;
  if (aligned) return true;
  return nest_fail(c, s, E_NEST_ALIGN, (long long)bytes, m->buffer->name, (long long)align);
}

/* n elements of type t: one access, of a power of two of bytes. */
static bool check_access(NestCheck *c, const NestStmt *s, DType t, int64_t n) {
  int64_t bytes = n * dtype_bytes(t);
  bool gpu = c->n->lanes == 32, power = !(bytes & (bytes - 1));
  if ((gpu && bytes > 16) || !power) return nest_fail(c, s, E_NEST_WIDTH, (long long)bytes);
  return check_mem(c, s, 0, bytes, gpu ? bytes : dtype_bytes(t));
}

/* ---- statements ---- */

/* A promise about neighbours along an axis of the NEST or COPY around it. */
static bool check_hint(NestCheck *c, const NestStmt *s) {
  static const NestAttrKey groups[] = {NA_contig, NA_constancy};
  if (!c->inside || (c->inside->code != NEST_NEST && c->inside->code != NEST_COPY))
    return nest_fail(c, s, E_NEST_HINT_OUTSIDE, nest_stmt_name(s));
  int64_t axis = nest_int(s, NA_axis, 0), last = c->inside->layout->rank - 1;
  if (axis < 0 || axis > last)
    return nest_fail(c, s, E_TILE_ATTR_RANGE, "axis", nest_stmt_name(s), (long long)axis, 0LL,
                     (long long)last);
  for (int i = 0; i < 2; i++) {
    int64_t n = nest_int(s, groups[i], 1);
    if (n < 1 || n & (n - 1)) return nest_fail(c, s, E_NEST_HINT_GROUP, (long long)n);
  }
  return check_src(c, s, 0, s->type, 1) && check_dst(c, s, s->type, 1);
}

static bool check_given(NestCheck *c, const NestStmt *s) {
  DType t = s->type;
  switch (s->op) {
    case TILE_SELECT:
      return check_src(c, s, 0, DT_I1, 1) && check_src(c, s, 1, t, 1) && check_src(c, s, 2, t, 1) &&
             check_dst(c, s, t, 1);
    case TILE_CAST:
      return check_type(c, s, t != DT_PTR && s->to != DT_PTR, "numbers") &&
             check_src(c, s, 0, t, 1) && check_dst(c, s, s->to, 1);
    case TILE_BITCAST:
      return check_type(c, s, dtype_bits(t) == dtype_bits(s->to), "types of one width") &&
             check_src(c, s, 0, t, 1) && check_dst(c, s, s->to, 1);
    case TILE_PTR_ADD: {
      const Ref *by = &s->srcs[1];
      DType i = by->kind == REF_VAR ? by->var->dtype : DT_I64;
      return check_type(c, s, t == DT_PTR && s->elem, "a pointer") && check_src(c, s, 0, t, 1) &&
             check_src(c, s, 1, dtype_is_int(i) ? i : DT_I64, 1) && check_dst(c, s, t, 1);
    }
    case TILE_UNDEF: return check_dst(c, s, t, 1);
    case TILE_HINT: return check_hint(c, s);
    default: return nest_fail(c, s, E_NEST_STATEMENT, 40, nest_stmt_name(s));
  }
}

/* The type rules of the tile table, on scalars. */
static bool check_op(NestCheck *c, const NestStmt *s) {
  const char *rule = tile_op_rule(s->op);
  DType t = s->type;
  if (!(tile_op_flags(s->op) & TILE_ELEM)) return check_given(c, s);
  if (!strcmp(rule, "given")) return check_given(c, s);
  bool compare = !strcmp(rule, "compare");
  if (!strcmp(rule, "float") && !check_type(c, s, dtype_is_float(t), "floats")) return false;
  if (!strcmp(rule, "int") && !check_type(c, s, dtype_is_int(t), "integers")) return false;
  if (!check_type(c, s, compare || t != DT_PTR, "numbers")) return false;
  for (uint32_t i = 0; i < s->nsrcs; i++)
    if (!check_src(c, s, i, t, 1)) return false;
  return check_dst(c, s, compare ? DT_I1 : t, 1);
}

static bool check_mov(NestCheck *c, const NestStmt *s) {
  int64_t n = nest_int(s, NA_n, 1);
  return check_src(c, s, 0, s->type, n) && check_dst(c, s, s->type, n);
}

static bool check_number(NestCheck *c, const NestStmt *s) { return check_dst(c, s, DT_I32, 1); }

/* All thread blocks come by as often as each other. */
static bool check_cluster(NestCheck *c, const NestStmt *s) {
  if (c->n->cluster > 1 && !s->parent->owner) return true;
  return nest_fail(c, s, E_NEST_NO_CLUSTER, nest_stmt_name(s));
}

/* Loops, whose bounds the blocks have in common, may be around it. */
static bool check_cluster_loops(NestCheck *c, const NestStmt *s) {
  const NestStmt *loop = s->parent->owner;
  while (loop && loop->code == NEST_FOR) loop = loop->parent->owner;
  if (c->n->cluster > 1 && !loop) return true;
  return nest_fail(c, s, E_NEST_NO_CLUSTER, nest_stmt_name(s));
}

static bool check_cluster_rank(NestCheck *c, const NestStmt *s) {
  return check_cluster(c, s) && check_number(c, s);
}

static bool check_grid(NestCheck *c, const NestStmt *s) {
  if (!check_has_attr(c, s, NA_axis)) return false;
  if (nest_int(s, NA_axis, 0) > 2)
    return nest_fail(c, s, E_TILE_ATTR_RANGE, "axis", nest_stmt_name(s),
                     (long long)nest_int(s, NA_axis, 0), 0LL, 2LL);
  return check_number(c, s);
}

static bool check_special(NestCheck *c, const NestStmt *s) {
  if (!check_has_attr(c, s, NA_kind) || !check_word(c, s, NA_kind, "globaltimer smid"))
    return false;
  return check_dst(c, s, strcmp(nest_str(s, NA_kind, ""), "smid") ? DT_I64 : DT_I32, 1);
}

static bool check_grid_dependency(NestCheck *c, const NestStmt *s) {
  return check_has_attr(c, s, NA_kind) && check_word(c, s, NA_kind, "wait launch");
}

static bool check_ld(NestCheck *c, const NestStmt *s) {
  int64_t n = nest_int(s, NA_n, 1);
  return check_dst(c, s, s->type, n) && check_access(c, s, s->type, n);
}

static bool check_st(NestCheck *c, const NestStmt *s) {
  int64_t n = nest_int(s, NA_n, 1);
  bool everywhere = nest_int(s, NA_everywhere, 0);
  if (everywhere && (c->n->cluster < 2 || !s->mems[0].buffer))
    return nest_fail(c, s, E_NEST_NO_CLUSTER, nest_attr_name(NA_everywhere));
  return check_src(c, s, 0, s->type, n) && check_access(c, s, s->type, n);
}

static bool check_exchange(NestCheck *c, const NestStmt *s) {
  bool fits = dtype_bytes(s->type) == 4 || dtype_bytes(s->type) == 8;
  if (!check_cluster_loops(c, s)) return false;
  if (s->nsrcs < 1 || s->nsrcs > 2 || (s->parent->owner && s->nsrcs < 2))
    return nest_fail(c, s, E_NEST_EXCHANGE_TURNS);
  if (s->nsrcs == 2 && !check_src(c, s, 1, DT_I32, 1)) return false;
  for (int i = 0; i < 2; i++)
    if (!s->mems[i].buffer) return nest_fail(c, s, E_NEST_MBARRIER, nest_stmt_name(s));
  if (!fits) return nest_fail(c, s, E_NEST_EXCHANGE, dtype_name(s->type));
  return check_src(c, s, 0, s->type, 1) && check_access(c, s, s->type, 1);
}

static bool check_rmw(NestCheck *c, const NestStmt *s) {
  if (!check_has_attr(c, s, NA_kind) ||
      !check_word(c, s, NA_kind, "add and or xor xchg max min load store"))
    return false;
  bool bits = in_words("and or xor", nest_str(s, NA_kind, ""));
  return check_type(c, s, !bits || dtype_is_int(s->type), "integers") &&
         check_src(c, s, 0, s->type, 1) && check_access(c, s, s->type, 1);
}

static bool check_atom(NestCheck *c, const NestStmt *s) {
  return check_rmw(c, s) && check_dst(c, s, s->type, 1);
}

static bool check_cas(NestCheck *c, const NestStmt *s) {
  return check_src(c, s, 0, s->type, 1) && check_src(c, s, 1, s->type, 1) &&
         check_dst(c, s, s->type, 1) && check_access(c, s, s->type, 1);
}

static bool check_cp_async(NestCheck *c, const NestStmt *s) {
  int64_t bytes = nest_int(s, NA_bytes, 16);
  if (bytes & (bytes - 1)) return nest_fail(c, s, E_NEST_WIDTH, (long long)bytes);
  if (!s->mems[0].buffer || s->mems[1].buffer || s->nsrcs > 1)
    return nest_fail(c, s, E_NEST_CP_ASYNC);
  if (s->nsrcs && !check_src(c, s, 0, DT_I1, 1)) return false;
  return check_mem(c, s, 0, bytes, bytes) && check_mem(c, s, 1, bytes, bytes);
}

/* A matrix row has 16 bytes; a lane gets 4 bytes of each matrix. */
static bool check_ldmatrix(NestCheck *c, const NestStmt *s) {
  int64_t n = nest_int(s, NA_n, 1);
  DType t = s->dsts[0].var->dtype;
  unsigned bytes = dtype_bytes(t);
  bool across = bytes != 2 && nest_int(s, NA_trans, 0);
  if ((n != 1 && n != 2 && n != 4) || bytes == 0 || bytes > 4 || t == DT_I1 || !s->mems[0].buffer ||
      (across && n == 1))
    return nest_fail(c, s, E_NEST_LDMATRIX);
  return check_dst(c, s, t, n * 4 / bytes) && check_mem(c, s, 0, 16, 16);
}

static bool check_shfl(NestCheck *c, const NestStmt *s) {
  if (!check_has_attr(c, s, NA_mode)) return false;
  bool idx = !strcmp(nest_str(s, NA_mode, ""), "idx");
  if (idx ? !check_src(c, s, 1, DT_I32, 1) : !check_has_attr(c, s, NA_by)) return false;
  return check_src(c, s, 0, s->type, 1) && check_dst(c, s, s->type, 1);
}

static bool check_mma(NestCheck *c, const NestStmt *s) {
  const Atom *atom = atom_find(nest_str(s, NA_atom, ""));
  if (!atom) return nest_fail(c, s, E_NEST_ATOM, nest_str(s, NA_atom, ""));
  if (atom->warps > 1) return nest_fail(c, s, E_NEST_ATOM_KIND, "mma", atom->name);
  const DType types[3] = {atom->a, atom->b, atom->c};
  for (uint32_t i = 0; i < 3; i++) {
    if (s->srcs[i].kind != REF_VAR) return nest_fail(c, s, E_NEST_EMPTY, "mma");
    if (!check_src(c, s, i, types[i], atom_registers(atom, (int)i))) return false;
  }
  return check_dst(c, s, types[2], atom_registers(atom, 2));
}

/* A in registers or, as B, where a descriptor reaches it. */
static bool check_wgmma_operand(NestCheck *c, const NestStmt *s, const Atom *atom, uint32_t i) {
  const NestBuffer *b = s->mems[i].buffer;
  WgmmaForm form;
  WgmmaOperand x = wgmma_operand(s, (int)i);
  if (!b && i == 0) {
    if (s->srcs[0].kind != REF_VAR) return nest_fail(c, s, E_NEST_EMPTY, "wgmma");
    return check_src(c, s, 0, atom->a, atom_registers(atom, 0));
  }
  DType t = i ? atom->b : atom->a;
  if (!b || s->srcs[i].kind || b->dtype != t || !wgmma_form(&x, (int)i, &form))
    return nest_fail(c, s, E_NEST_WGMMA);
  return check_mem(c, s, i, 16, 16);
}

static bool check_wgmma(NestCheck *c, const NestStmt *s) {
  enum { COLUMNS = 8 };
  const Atom *atom = atom_find(nest_str(s, NA_atom, ""));
  int64_t n = nest_int(s, NA_columns, 0);
  if (!check_has_attr(c, s, NA_columns)) return false;
  if (!atom) return nest_fail(c, s, E_NEST_ATOM, nest_str(s, NA_atom, ""));
  if (atom->warps == 1) return nest_fail(c, s, E_NEST_ATOM_KIND, "wgmma", atom->name);
  if (n % COLUMNS || c->role_warps % atom->warps) return nest_fail(c, s, E_NEST_WGMMA);
  for (uint32_t i = 0; i < 2; i++)
    if (!check_wgmma_operand(c, s, atom, i)) return false;
  const Ref *acc = &s->srcs[2], *dst = &s->dsts[0];
  bool same = acc->kind == REF_VAR && dst->kind == REF_VAR && acc->var == dst->var &&
              affine_eq(&acc->sub, &dst->sub);
  if (dst->kind != REF_VAR || (acc->kind && !same)) return nest_fail(c, s, E_NEST_WGMMA);
  return check_dst(c, s, atom->c, n / 2);
}

static bool check_bar(NestCheck *c, const NestStmt *s) {
  int64_t warps = nest_int(s, NA_warps, 0);
  return warps <= c->n->warps || nest_fail(c, s, E_TILE_ATTR_RANGE, "warps", "bar",
                                           (long long)warps, 0LL, (long long)c->n->warps);
}

static bool check_fence(NestCheck *c, const NestStmt *s) {
  return check_has_attr(c, s, NA_kind) && check_word(c, s, NA_kind, "cta gpu sys proxy mma");
}

static bool check_mbarrier(NestCheck *c, const NestStmt *s) {
  enum { BYTES = 8 };
  const uint32_t i = s->nmems - 1;
  if (s->code == NEST_MBAR_INIT && !check_has_attr(c, s, NA_count)) return false;
  if (s->code == NEST_MBAR_EXPECT && !check_has_attr(c, s, NA_tx)) return false;
  if (!s->mems[i].buffer) return nest_fail(c, s, E_NEST_MBARRIER, nest_stmt_name(s));
  return check_mem(c, s, i, BYTES, BYTES) &&
         (s->nsrcs != 1 || s->code == NEST_BULK_COPY || check_src(c, s, 0, DT_I32, 1));
}

/* A map, a coordinate an axis, and a buffer that has room for the box. */
static bool check_box(NestCheck *c, const NestStmt *s) {
  const TensorMap *m = nest_map_of(c->n, s);
  if (!check_has_attr(c, s, NA_map)) return false;
  if (!m || s->nsrcs != (uint32_t)m->rank || !s->mems[0].buffer)
    return nest_fail(c, s, s->code == NEST_BULK_COPY ? E_NEST_BULK_COPY : E_NEST_BULK_STORE);
  for (uint32_t i = 0; i < s->nsrcs; i++)
    if (!check_src(c, s, i, DT_I32, 1)) return false;
  int64_t row = (int64_t)m->axes[0].box * dtype_bytes(m->dtype);
  return check_mem(c, s, 0, nest_map_bytes(m), row);
}

static bool check_bulk_copy(NestCheck *c, const NestStmt *s) {
  return check_box(c, s) && check_mbarrier(c, s);
}

static bool check_condition(NestCheck *c, const NestStmt *s) {
  return check_src(c, s, 0, DT_I1, 1);
}

static bool check_print(NestCheck *c, const NestStmt *s) {
  PrintLine line;
  DType t = s->type;
  bool printed = t == DT_I32 || t == DT_U32 || t == DT_I64 || t == DT_U64 || t == DT_F64;
  if (!check_has_attr(c, s, NA_message)) return false;
  if (!check_type(c, s, printed || (t == DT_NONE && !s->nsrcs), "i32, u32, i64, u64 or f64"))
    return false;
  if (!nest_print_line(s, &line))
    return nest_fail(c, s, E_NEST_PRINT_SHAPE, s->nsrcs ? s->nsrcs - 1 : 0);
  for (uint32_t i = 0; i < s->nsrcs; i++)
    if (!check_src(c, s, i, i ? DT_I32 : t, 1)) return false;
  return true;
}

/* All are tiles of one layout, or all scalars and registers of threads. */
static bool check_asm_refs(NestCheck *c, const NestStmt *s) {
  int64_t n = nest_int(s, NA_n, 1);
  const NestVar *first = s->dsts[0].var;
  for (uint32_t i = 0; i < s->ndsts + s->nsrcs; i++) {
    const Ref *r = i < s->ndsts ? &s->dsts[i] : &s->srcs[i - s->ndsts];
    if (!nest_check_ref(c, s, r, n)) return false;
    bool same = type_same_shape(r->var->tile, first->tile) && r->var->uniform == first->uniform;
    if (same && first->tile.rank) same = layout_eq(r->var->layout, first->layout);
    if (!same && (first->tile.rank || r->var->tile.rank || i < s->ndsts))
      return nest_fail(c, s, E_NEST_TILES, nest_stmt_name(s));
  }
  return true;
}

static bool check_asm(NestCheck *c, const NestStmt *s) {
  AsmTypes types;
  AsmCall call;
  if (!check_has_attr(c, s, NA_asm) || !check_has_attr(c, s, NA_constraints)) return false;
  if (!nest_asm_types(c->arena, s, &types)) return nest_fail(c, s, E_NEST_EMPTY, nest_stmt_name(s));
  int64_t n = nest_int(s, NA_n, 1), pack = types.pack;
  if (n > pack)
    return nest_fail(c, s, E_TILE_ATTR_RANGE, "n", "asm", (long long)n, 1LL, (long long)pack);
  const char *error =
      asm_parse(c->arena, nest_str(s, NA_asm, ""), nest_str(s, NA_constraints, ""), &types, &call);
  return error ? nest_fail(c, s, E_ASM_RUN, error) : check_asm_refs(c, s);
}

static bool check_prefetch(NestCheck *c, const NestStmt *s) {
  if (s->mems[0].buffer) return nest_fail(c, s, E_NEST_BASE, "a pointer");
  return check_mem(c, s, 0, 1, 1);
}

static bool check_loop(NestCheck *c, const NestStmt *s) {
  for (uint32_t i = 0; i < s->nsrcs; i++)
    if (!check_src(c, s, i, DT_I32, 1)) return false;
  return s->index && s->index->extent > 0 && s->index->extent <= MAX_TILE
             ? true
             : nest_fail(c, s, E_NEST_EMPTY, nest_stmt_name(s));
}

static bool check_for(NestCheck *c, const NestStmt *s) {
  DType t = s->dsts[0].var->dtype;
  for (uint32_t i = 0; i < 3; i++)
    if (!check_src(c, s, i, t, 1)) return false;
  if (!dtype_is_int(t) || t == DT_I1) return nest_fail(c, s, E_NEST_FOR_INDEX);
  return check_dst(c, s, t, 1);
}

static bool check_role(NestCheck *c, const NestStmt *s) { return check_has_attr(c, s, NA_warps); }

/* ---- statements over tiles ---- */

static bool is_tile(const Ref *r) { return r->kind == REF_VAR && r->var->tile.rank; }

/* The region of a REDUCE or SCAN combines two sets of elements into the first. */
static bool check_combine(NestCheck *c, const NestStmt *s) {
  Name name = nest_str(s, NA_combine, NULL);
  if (!name == !s->nregions) return nest_fail(c, s, E_NEST_COMBINE, nest_stmt_name(s));
  if (name) {
    TileCode op = tile_op_parse(name, strlen(name));
    bool good = op != TILE_OP_COUNT && in_words("same float int", tile_op_rule(op)) &&
                !strcmp(tile_op_args(op), "vv");
    if (!good || s->nsrcs != 1) return nest_fail(c, s, E_NEST_COMBINE_OP, name);
    return true;
  }
  const NestBlock *b = s->regions[0];
  if (b->nparams != 2 * s->nsrcs)
    return nest_fail(c, s, E_NEST_PARAMS, nest_stmt_name(s), b->nparams, 2 * s->nsrcs);
  for (uint32_t i = 0; i < b->nparams; i++) {
    const NestVar *v = b->params[i];
    if (v->tile.rank || v->is_param || v->dtype != s->srcs[i % s->nsrcs].var->dtype)
      return nest_fail(c, s, E_NEST_PARAM, v->name);
  }
  return true;
}

/* A result's shape: the operand's, for REDUCE without the axis. */
static bool result_fits(const NestStmt *s, uint32_t i) {
  Type t = s->srcs[i].var->tile, r = s->dsts[i].var->tile;
  int axis = (int)nest_int(s, NA_axis, 0);
  if (s->code == NEST_REDUCE) {
    for (int k = axis; k + 1 < t.rank; k++) t.shape[k] = t.shape[k + 1];
    t.rank--;
  }
  return type_same_shape(t, r) && s->dsts[i].var->dtype == s->srcs[i].var->dtype;
}

static bool check_reduce(NestCheck *c, const NestStmt *s) {
  if (!s->nsrcs || s->ndsts != s->nsrcs)
    return nest_fail(c, s, E_NEST_COUNT, nest_stmt_name(s), (int)s->ndsts, "results",
                     (int)s->nsrcs);
  if (nest_int(s, NA_joins, 0) && !check_cluster_loops(c, s)) return false;
  for (uint32_t i = 0; i < s->nsrcs; i++) {
    if (!nest_check_ref(c, s, &s->srcs[i], 1) || !nest_check_ref(c, s, &s->dsts[i], 1))
      return false;
    bool same = is_tile(&s->srcs[i]) && is_tile(&s->srcs[0]) &&
                layout_eq(s->srcs[i].var->layout, s->srcs[0].var->layout);
    if (!same) return nest_fail(c, s, E_NEST_TILES, nest_stmt_name(s));
    if (nest_int(s, NA_axis, 0) >= s->srcs[i].var->tile.rank || !result_fits(s, i))
      return nest_fail(c, s, E_NEST_SHAPE, nest_stmt_name(s));
  }
  return check_combine(c, s);
}

static bool check_whole(NestCheck *c, const NestStmt *s) {
  for (uint32_t i = 0; i < s->nsrcs; i++)
    if (!nest_check_ref(c, s, &s->srcs[i], 1)) return false;
  if (!nest_check_ref(c, s, &s->dsts[0], 1)) return false;
  for (uint32_t i = 0; i < s->nsrcs; i++)
    if (!is_tile(&s->srcs[i])) return nest_fail(c, s, E_NEST_TILES, nest_stmt_name(s));
  return is_tile(&s->dsts[0]) || nest_fail(c, s, E_NEST_TILES, nest_stmt_name(s));
}

/* Operand a or b of a DOT: a tile, or where it is in shared memory. */
static bool check_dot_operand(NestCheck *c, const NestStmt *s, uint32_t i) {
  const Mem *m = &s->mems[i];
  if (s->srcs[i].kind == REF_NONE && m->buffer && m->buffer->tile.rank) {
    int64_t lo, hi;
    return check_mem_base(c, s, m) && nest_range(c, s, &m->bytes, &lo, &hi);
  }
  if (is_tile(&s->srcs[i]) && !m->buffer && !m->base.kind)
    return nest_check_ref(c, s, &s->srcs[i], 1);
  return nest_fail(c, s, E_NEST_DOT, i + 1);
}

/* A fragment of bytes in pairs multiplies a buffer in pairs. */
static bool check_pairs(NestCheck *c, const NestStmt *s, Name atom) {
  if (!atom || atom_find(atom)->warps == 1) return true;
  const NestBuffer *b = s->mems[1].buffer;
  bool fragment = s->srcs[0].kind == REF_VAR && dtype_bytes(s->srcs[0].var->dtype) == 1 &&
                  wgmma_lanes_have_pairs(s->srcs[0].var->layout, 1);
  return (b && wgmma_has_pairs(b)) == fragment || nest_fail(c, s, E_NEST_PAIRS);
}

static bool check_dot(NestCheck *c, const NestStmt *s) {
  Name atom = nest_str(s, NA_atom, NULL);
  if (atom && !atom_find(atom)) return nest_fail(c, s, E_NEST_ATOM, atom);
  if (!check_dot_operand(c, s, 0) || !check_dot_operand(c, s, 1) || !check_pairs(c, s, atom))
    return false;
  bool zero = s->srcs[2].kind == REF_NONE && atom && atom_find(atom)->warps > 1;
  if (!(zero || is_tile(&s->srcs[2])) || !is_tile(&s->dsts[0]))
    return nest_fail(c, s, E_NEST_TILES, "dot");
  return (zero || nest_check_ref(c, s, &s->srcs[2], 1)) && nest_check_ref(c, s, &s->dsts[0], 1);
}

static bool check_relayout(NestCheck *c, const NestStmt *s) {
  if (!check_whole(c, s)) return false;
  const NestVar *from = s->srcs[0].var, *to = s->dsts[0].var;
  return (type_numel(from->tile) == type_numel(to->tile) && from->dtype == to->dtype) ||
         nest_fail(c, s, E_NEST_SHAPE, nest_stmt_name(s));
}

static bool check_flip(NestCheck *c, const NestStmt *s) {
  if (!check_has_attr(c, s, NA_axis) || !check_relayout(c, s)) return false;
  const NestVar *from = s->srcs[0].var, *to = s->dsts[0].var;
  if (!layout_eq(from->layout, to->layout)) return nest_fail(c, s, E_NEST_TILES, nest_stmt_name(s));
  return nest_int(s, NA_axis, 0) < from->tile.rank ||
         nest_fail(c, s, E_NEST_SHAPE, nest_stmt_name(s));
}

static bool check_turn(NestCheck *c, const NestStmt *s) {
  WgmmaTurn turn;
  int64_t lo, hi;
  if (!wgmma_turn_of(s, c->n->warps, &turn)) return nest_fail(c, s, E_NEST_TURN);
  for (int i = 0; i < 2; i++)
    if (!check_mem_base(c, s, &s->mems[i]) || !nest_range(c, s, &s->mems[i].bytes, &lo, &hi))
      return false;
  return true;
}

/* A copy has one load from global memory and one store to a buffer. */
static bool check_copy(NestCheck *c, const NestStmt *s) {
  int loads = 0, stores = 0, others = 0;
  for (const NestStmt *t = s->regions[0]->first; t; t = t->next) {
    bool shared = t->nmems && t->mems[0].buffer;
    if (t->code == NEST_LD && !shared) loads++;
    else if (t->code == NEST_ST && shared) stores++;
    else others += t->nmems > 0;
  }
  return (loads == 1 && stores == 1 && !others) || nest_fail(c, s, E_NEST_COPY);
}

/* ---- the table ---- */

typedef struct {
  bool typed; /* needs the type after `:` */
  bool (*check)(NestCheck *c, const NestStmt *s);
} Rule;

static const Rule rules[NEST_OP_COUNT] = {
    [NEST_OP] = {true, check_op},
    [NEST_MOV] = {true, check_mov},
    [NEST_PID] = {false, check_grid},
    [NEST_NPROG] = {false, check_grid},
    [NEST_SPECIAL] = {false, check_special},
    [NEST_CLUSTER_RANK] = {false, check_cluster_rank},
    [NEST_CLUSTER_ARRIVE] = {false, check_cluster},
    [NEST_CLUSTER_WAIT] = {false, check_cluster},
    [NEST_EXCHANGE] = {true, check_exchange},
    [NEST_LANE] = {false, check_number},
    [NEST_WARP] = {false, check_number},
    [NEST_LD] = {true, check_ld},
    [NEST_ST] = {true, check_st},
    [NEST_PREFETCH] = {false, check_prefetch},
    [NEST_ATOM] = {true, check_atom},
    [NEST_ATOM_CAS] = {true, check_cas},
    [NEST_RED] = {true, check_rmw},
    [NEST_CP_ASYNC] = {false, check_cp_async},
    [NEST_MBAR_INIT] = {false, check_mbarrier},
    [NEST_MBAR_EXPECT] = {false, check_mbarrier},
    [NEST_MBAR_ARRIVE] = {false, check_mbarrier},
    [NEST_MBAR_WAIT] = {false, check_mbarrier},
    [NEST_BULK_COPY] = {false, check_bulk_copy},
    [NEST_BULK_STORE] = {false, check_box},
    [NEST_LDMATRIX] = {false, check_ldmatrix},
    [NEST_SHFL] = {true, check_shfl},
    [NEST_MMA] = {false, check_mma},
    [NEST_WGMMA] = {false, check_wgmma},
    [NEST_BAR] = {false, check_bar},
    [NEST_FENCE] = {false, check_fence},
    [NEST_GRID_DEPENDENCY] = {false, check_grid_dependency},
    [NEST_ASSERT] = {false, check_condition},
    [NEST_PRINT] = {false, check_print},
    [NEST_ASM] = {false, check_asm},
    [NEST_UNROLL] = {false, check_loop},
    [NEST_SERIAL] = {false, check_loop},
    [NEST_FOR] = {false, check_for},
    [NEST_WHILE] = {false, check_condition},
    [NEST_IF] = {false, check_condition},
    [NEST_ROLE] = {false, check_role},
    [NEST_REDUCE] = {false, check_reduce},
    [NEST_SCAN] = {false, check_reduce},
    [NEST_RELAYOUT] = {false, check_relayout},
    [NEST_FLIP] = {false, check_flip},
    [NEST_DOT] = {false, check_dot},
    [NEST_TURN] = {false, check_turn},
    [NEST_COPY] = {false, check_copy},
};

/* Counts, types, attributes and addresses of one statement; its level holds already. */
static bool nest_check_stmt(NestCheck *c, const NestStmt *s) {
  const Rule *rule = &rules[s->code];
  if (rule->typed && s->type == DT_NONE) return nest_fail(c, s, E_NEST_UNTYPED, nest_stmt_name(s));
  return check_attrs(c, s) && (!rule->check || rule->check(c, s));
}
