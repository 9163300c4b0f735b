/* Statements and control. */
#include <string.h>

#include "codegen/c/c.h"
#include "codegen/messages.h"
#include "lang/interp/device_print.h"

/* ---- lines ---- */

static void indent(Gen *g) {
  for (int i = 0; i < g->depth; i++) text_puts(&g->out, "  ");
}

static void put_unmarked_line(Gen *g, const char *s) {
  indent(g);
  text_puts(&g->out, s);
  text_puts(&g->out, "\n");
}

/* A line of C.  The first one for each line of the kernel names that line in a comment. */
void c_line(Gen *g, const char *fmt, ...) {
  va_list ap;
  va_start(ap, fmt);
  const char *s = arena_vprintf(g->arena, fmt, ap);
  va_end(ap);
  indent(g);
  text_puts(&g->out, s);
  const Source *file = diag_file(g->d, g->span.file);
  bool told = g->span.line == g->said.line && g->span.file == g->said.file;
  if (file && !told && g->span.file != g->nest->ir_file) {
    text_printf(&g->out, " /* %s:%u */", file->name, g->span.line);
    g->said = g->span;
  }
  text_puts(&g->out, "\n");
}

static void open(Gen *g) { g->depth++; }

static void close(Gen *g) {
  g->depth--;
  put_unmarked_line(g, "}");
}

/* ---- assignments ---- */

/* "float ", and "char *" without a space after. */
static const char *held_type(Gen *g, const NestVar *v) {
  Spread s = g->spread[v->id];
  if (s.kind == SPREAD_FIRST) return "int ";
  const char *t = s.kind == SPREAD_VECTOR ? c_vector_type(v->dtype) : c_scalar_type(v->dtype);
  return t[strlen(t) - 1] == '*' ? t : c_text(g, "%s ", t);
}

const char *c_declaration(Gen *g, const NestVar *v) {
  const char *type = held_type(g, v), *name = g->names[v->id];
  return v->count == 1 ? c_text(g, "%s%s", type, name)
                       : c_text(g, "%s%s[%u]", type, name, v->count);
}

void c_assign(Gen *g, const NestStmt *s, const Ref *dst, DType t, const char *text, Spread from) {
  const NestVar *v = dst->var;
  const char *to = c_ref_name(g, dst);
  text = c_convert(g, text, t, from, g->spread[v->id]);
  if (!s->guard.kind) {
    if (g->at_definition[v->id]) to = c_text(g, "const %s", c_declaration(g, v));
    if (g->at_definition[v->id] && v->dtype == DT_PTR) to = c_declaration(g, v);
    c_line(g, "%s = %s;", to, text);
  } else if (c_uniform(c_ref_spread(g, &s->guard))) {
    c_line(g, "if (%s) %s = %s;", c_scalar(g, &s->guard, DT_I1), to, text);
  } else {
    c_line(g, "%s = vselect_%s(%s, %s, %s);", to, t == DT_I1 ? "i32" : c_compute_name(t),
           c_vector(g, &s->guard, DT_I1), text, to);
  }
}

static void assign_op(Gen *g, const NestStmt *s) {
  bool compare = s->op >= TILE_LT && s->op <= TILE_NE;
  bool converts = s->op == TILE_CAST || s->op == TILE_BITCAST;
  DType t = compare ? DT_I1 : converts ? s->to : s->type;
  c_assign(g, s, &s->dsts[0], t, c_op(g, s), c_stmt_spread(g, s));
}

static void assign_mov(Gen *g, const NestStmt *s) {
  int64_t n = nest_int(s, NA_n, 1);
  const Ref *dst = &s->dsts[0], *src = &s->srcs[0];
  Spread from = c_ref_spread(g, src);
  if (n == 1 || src->kind != REF_VAR) {
    c_assign(g, s, dst, s->type, c_scalar(g, src, s->type), from);
    return;
  }
  const char *to = g->names[dst->var->id], *x = g->names[src->var->id];
  NestIndex each = {.name = "r", .id = g->nest->nindices};
  const char *r = c_open_index(g, &each);
  x = c_text(g, "%s[%s + %s]", x, c_affine(g, &src->sub), r);
  x = c_convert(g, x, s->type, from, g->spread[dst->var->id]);
  to = c_text(g, "%s[%s + %s]", to, c_affine(g, &dst->sub), r);
  const char *when = "";
  if (s->guard.kind && c_uniform(c_ref_spread(g, &s->guard)))
    when = c_text(g, "if (%s) ", c_scalar(g, &s->guard, DT_I1));
  else if (s->guard.kind)
    x = c_text(g, "vselect_%s(%s, %s, %s)", s->type == DT_I1 ? "i32" : c_compute_name(s->type),
               c_vector(g, &s->guard, DT_I1), x, to);
  c_line(g, "%sfor (int %s = 0; %s < %lld; %s++) %s = %s;", when, r, r, (long long)n, r, to, x);
  c_close_index(g, &each);
}

static void assign_special(Gen *g, const NestStmt *s) {
  bool timer = s->type == DT_I64;
  const char *text = timer ? "globaltimer_ns()" : "load_i32(shared - 64)";
  g->knows_thread |= !timer;
  c_assign(g, s, &s->dsts[0], s->type, text, c_stmt_spread(g, s));
}

static void assign_number(Gen *g, const NestStmt *s) {
  int axis = (int)nest_int(s, NA_axis, 0);
  const char *text = "0";
  if (s->code == NEST_PID) text = c_text(g, "(int32_t)pid_%d", axis);
  else if (s->code == NEST_NPROG) text = c_text(g, "(int32_t)grid[%d]", axis);
  c_assign(g, s, &s->dsts[0], DT_I32, text, c_stmt_spread(g, s));
}

/* ---- shuffles ---- */

/* The lane that lane l reads; its own if that one is outside. */
static int source_lane(const Gen *g, const NestStmt *s, int l) {
  const char *mode = nest_str(s, NA_mode, "");
  int by = (int)nest_int(s, NA_by, 0);
  int from = !strcmp(mode, "xor") ? l ^ by : !strcmp(mode, "up") ? l - by : l + by;
  return from < 0 || from >= g->nest->lanes ? l : from;
}

static const char *constant_shuffle(Gen *g, const NestStmt *s, const char *x) {
  Text t = text_new(g->arena);
  text_printf(&t, "__builtin_shufflevector(%s, %s", x, x);
  for (int l = 0; l < g->nest->lanes; l++) text_printf(&t, ", %d", source_lane(g, s, l));
  text_puts(&t, ")");
  return t.data;
}

/* Broadcasts one lane's value to all lanes. */
static const char *one_lane(Gen *g, const NestStmt *s, const char *x) {
  const char *lane = c_scalar(g, &s->srcs[1], DT_I32);
  const char *name = s->type == DT_I1 ? "i32" : c_compute_name(s->type);
  bool fixed = s->srcs[1].kind == REF_AFFINE && !s->srcs[1].sub.n && s->srcs[1].sub.c >= 0 &&
               s->srcs[1].sub.c < g->nest->lanes;
  const char *text =
      fixed ? c_text(g, "%s[%s]", x, lane) : c_text(g, "vlane_%s(%s, %s)", name, x, lane);
  if (s->type == DT_I1) return c_text(g, "%s != 0", text);
  return s->type == DT_PTR ? c_text(g, "(char *)%s", text) : text;
}

static void c_shuffle(Gen *g, const NestStmt *s) {
  Spread to = c_stmt_spread(g, s);
  const char *x;
  if (c_uniform(c_ref_spread(g, &s->srcs[0]))) {
    x = c_scalar(g, &s->srcs[0], s->type);
  } else {
    x = c_vector(g, &s->srcs[0], s->type);
    const char *name = s->type == DT_I1 ? "i32" : c_compute_name(s->type);
    if (c_uniform(to)) x = one_lane(g, s, x);
    else if (strcmp(nest_str(s, NA_mode, ""), "idx")) x = constant_shuffle(g, s, x);
    else x = c_text(g, "vshuffle_%s(%s, %s)", name, x, c_vector(g, &s->srcs[1], DT_I32));
  }
  c_assign(g, s, &s->dsts[0], s->type, x, to);
}

/* A string literal; the first characters of comments and trigraphs are escaped. */
static const char *string_literal(Gen *g, const char *s) {
  Text t = text_new(g->arena);
  text_puts(&t, "\"");
  for (; *s; s++) {
    bool plain = *s >= ' ' && *s <= '~' && *s != '"' && *s != '\\' && *s != '?' && *s != '*';
    if (*s == '\n') text_puts(&t, "\\n");
    else if (plain) text_putn(&t, s, 1);
    else text_printf(&t, "\\%03o", (unsigned char)*s);
  }
  text_puts(&t, "\"");
  return t.data;
}

/* ---- control ---- */

static void (*const printers[NEST_OP_COUNT])(Gen *, const NestStmt *);

static bool within(const Ref *r, int64_t lo, int64_t hi) {
  return r->kind == REF_AFFINE && !r->sub.n && r->sub.c >= lo && r->sub.c <= hi;
}

/* The constants of a loop that are between its bounds. */
static void bounded_head(Gen *g, const NestStmt *s, const char *i, const char *end) {
  int n = s->index->extent;
  const char *lo = c_scalar(g, &s->srcs[0], DT_I32), *hi = c_scalar(g, &s->srcs[1], DT_I32);
  if (!within(&s->srcs[0], 0, n)) lo = c_text(g, "max_i32(%s, 0)", lo);
  if (!within(&s->srcs[1], 0, n)) hi = c_text(g, "min_i32(%s, %d)", hi, n);
  c_line(g, "for (int %s = %s, %s = %s; %s < %s; %s++) {", i, lo, end, hi, i, end, i);
}

/* Blocks of LANES iterations, the last of which ends with the loop. */
static void open_transposed(Gen *g, const char *first, int extent) {
  c_line(g, "for (int %s = 0; %s < %d; %s += LANES) {", first, first, extent, first);
  open(g);
  if (extent % g->nest->lanes)
    c_line(g, "if (%s > %d - LANES) %s = %d - LANES;", first, extent, first, extent);
}

/* The block's iterations, whose index is `i`, each with a vector of each access. */
static void put_rows(Gen *g, const NestStmt *body, const char *i, const char *first) {
  const char *row = c_open_name(g, "row");
  c_line(g, "UNROLL(%d) for (int %s = 0; %s < LANES; %s++) {", g->nest->lanes, row, row, row);
  open(g);
  c_line(g, "const int %s = %s + %s;", i, first, row);
  g->row = row;
  c_block(g, body->regions[0]);
  g->row = NULL;
  close(g);
  c_close_names(g, 1);
}

/* Blocks of LANES iterations, whose vectors are stored or loaded together: see transpose.c. */
static void transposed_block(Gen *g, const NestStmt *s, Columns *c) {
  for (int k = 0; k < c->n; k++) c->rows[k] = c_open_name(g, "rows");
  const char *i = c_open_index(g, s->index), *first = c_open_name(g, c_text(g, "%s_first", i));
  const NestStmt *body = c->inner ? c->inner : s;
  bool load = c->access[0]->code == NEST_LD;
  open_transposed(g, first, s->index->extent);
  for (int k = 0; k < c->n; k++)
    c_line(g, "%s %s[LANES];", c_vector_type(c->access[k]->type), c->rows[k]);
  g->columns = c;
  if (!load) put_rows(g, body, i, first);
  g->indices[s->index->id] = first;
  for (int k = 0; k < c->n; k++) printers[c->access[k]->code](g, c->access[k]);
  g->indices[s->index->id] = i;
  if (load) put_rows(g, body, i, first);
  g->columns = NULL;
  close(g);
  c_close_names(g, 1);
  c_close_index(g, s->index);
  c_close_names(g, (size_t)c->n);
}

/* ---- products in the place of stores: see along.c ---- */

static int rows_of(const NestIndex *index) { return index ? index->extent : 1; }

/* The left operand's vector of the strip, of row `i`. */
static const char *left_vector(Gen *g, const ProductLoop *t, const char *strip) {
  Mem m = t->left->mems[0];
  affine_drop(&m.bytes, t->loop->index);
  return c_text(g, "vload_%s(%s + %lld * %s)", dtype_name(t->left->type), c_address(g, &m, false),
                (long long)dtype_bytes(t->left->type) * g->nest->lanes, strip);
}

void c_add_along(Gen *g, const NestStmt *st, int n) {
  const AlongLanes *x = g->columns->along;
  const ProductLoop *t = &x->of[n].product;
  const char *rows = g->columns->rows[n], *strip = "0";
  const char *value = c_vector(g, &st->srcs[0], st->type);
  if (x->strips) strip = g->indices[x->strips->id];
  const char *i = t->row ? c_open_index(g, t->row) : "0";
  const char *sum = c_text(g, "%s[%s][%s]", rows, i, g->row), *left = left_vector(g, t, strip);
  const char *each = t->row ? c_text(g, "UNROLL(%d) for (int %s = 0; %s < %d; %s++) ",
                                     t->row->extent, i, i, t->row->extent, i) : "";
  if (t->product->op == TILE_DOT2)
    c_line(g, "%s%s = (vf32)vdot2_i32(%s, %s, (vi32)%s);", each, sum, left, value, sum);
  else c_line(g, "%s%s = vfma_f32(%s, %s, %s);", each, sum, left, value, sum);
  if (t->row) c_close_index(g, t->row);
}

/* Gives an index of the sums its text while those of a block of rows are printed. */
static void set_index(Gen *g, const NestIndex *index, const char *text) {
  if (index) g->indices[index->id] = text;
}

static void sum_along(Gen *g, int n, const char *first) {
  const AlongProduct *x = &g->columns->along->of[n];
  const ProductLoop *t = &x->product;
  const char *rows = g->columns->rows[n], *cast = t->product->op == TILE_DOT2 ? "(vi32)" : "";
  const int vectors = rows_of(t->sum_vector);
  const char *i = t->sum_row ? c_open_index(g, t->sum_row) : "0";
  const char *vector = c_text(g, x->blocks ? "(%s / LANES %% %d)" : "(%s / LANES)", first, vectors);
  set_index(g, t->sum_vector, vector);
  set_index(g, x->blocks, c_text(g, "(%s / LANES / %d)", first, vectors));
  const char *each = t->sum_row ? c_text(g, "UNROLL(%d) for (int %s = 0; %s < %d; %s++) ",
                                         t->sum_row->extent, i, i, t->sum_row->extent, i) : "";
  c_line(g, "%s%s = %svsum_rows_f32(%s[%s]);", each, c_ref_name(g, &t->product->dsts[0]), cast,
         rows, i);
  set_index(g, t->sum_vector, NULL);
  set_index(g, x->blocks, NULL);
  if (t->sum_row) c_close_index(g, t->sum_row);
}

static const char *partial_sums(Gen *g, int n) {
  const ProductLoop *t = &g->columns->along->of[n].product;
  return c_text(g, "vf32 %s[%d][LANES];", g->columns->rows[n], rows_of(t->row));
}

static void clear_along(Gen *g) {
  const Columns *c = g->columns;
  for (int n = 0; n < c->n; n++)
    for (int i = 0; i < rows_of(c->along->of[n].product.row); i++)
      c_line(g, "%s[%d][%s] = vsplat_f32(0.0f);", c->rows[n], i, g->row);
}

/* A row's vectors, each multiplied where it would be stored. */
static void put_row_along(Gen *g, const NestBlock *body, const NestIndex *strips) {
  clear_along(g);
  if (strips) {
    const int n = strips->extent;
    const char *a = c_open_index(g, strips);
    c_line(g, "UNROLL(%d) for (int %s = 0; %s < %d; %s++) {", n, a, a, n, a);
    open(g);
    g->block++; /* that of the outer loop, which declares nothing */
  }
  c_block(g, body);
  if (!strips) return;
  close(g);
  c_close_index(g, strips);
}

/* Blocks of LANES rows, whose sums are vectors. */
static void along_loop(Gen *g, const AlongLanes *x) {
  Columns c = x->columns;
  for (int k = 0; k < c.n; k++) c.rows[k] = c_open_name(g, "parts");
  const char *i = c_open_index(g, x->rows), *first = c_open_name(g, c_text(g, "%s_first", i));
  const char *row = c_open_name(g, "row");
  open_transposed(g, first, x->rows->extent);
  c.along = x;
  g->columns = &c;
  g->row = row;
  for (int k = 0; k < c.n; k++) put_unmarked_line(g, partial_sums(g, k));
  c_line(g, "UNROLL(%d) for (int %s = 0; %s < LANES; %s++) {", g->nest->lanes, row, row, row);
  open(g);
  c_line(g, "const int %s = %s + %s;", i, first, row);
  put_row_along(g, c.access[0]->parent, x->strips);
  close(g);
  for (int k = 0; k < c.n; k++) sum_along(g, k, first);
  g->row = NULL;
  g->columns = NULL;
  close(g);
  c_close_names(g, 2);
  c_close_index(g, x->rows);
  c_close_names(g, (size_t)c.n);
}

static void transposed_loop(Gen *g, const NestStmt *s, Columns *c) {
  if (!c->inner) {
    transposed_block(g, s, c);
    return;
  }
  const NestIndex *index = c->inner->index;
  const char *b = c_open_index(g, index);
  c_line(g, "for (int %s = 0; %s < %d; %s++) {", b, b, index->extent, b);
  open(g);
  g->block++; /* that of the outer loop, which declares nothing */
  transposed_block(g, s, c);
  close(g);
  c_close_index(g, index);
}

/* The columns `first` to `first` + LANES of a loop of stores, whose index is `i`, to `rows`; `all`
 * becomes true if they have one guard, that of `n` rows. */
static void gather_columns(Gen *g, const NestStmt *s, const NestStmt *store, const char *index,
                           const char *first, const char *const names[]) {
  const char *rows = names[0], *row = names[1], *all = names[2], *n = names[3];
  const char *guard = NULL, *i = g->indices[s->index->id];
  bool some = store->guard.kind && !c_uniform(c_ref_spread(g, &store->guard));
  c_line(g, "%s %s[LANES];", c_vector_type(store->type), rows);
  if (store->guard.kind) {
    g->indices[s->index->id] = first;
    guard = c_scalar(g, &store->guard, DT_I1);
    c_line(g, "const int %s = %s%s;", n, guard, some ? "" : " ? LANES : 0");
    g->indices[s->index->id] = i;
    guard = c_scalar(g, &store->guard, DT_I1);
    c_line(g, "bool %s = true;", all);
  }
  c_line(g, "UNROLL(%d) for (int %s = 0; %s < LANES; %s++) {", g->nest->lanes, row, row, row);
  open(g);
  c_line(g, "%s", index);
  c_line(g, "%s[%s] = %s;", rows, row, c_vector(g, &store->srcs[0], store->type));
  for (const NestStmt *x = store->parent->first; x; x = x->next)
    if (x->code == NEST_PREFETCH) printers[x->code](g, x);
  if (guard) c_line(g, "%s &= (%s%s) == %s;", all, guard, some ? "" : " ? LANES : 0", n);
  close(g);
}

/* The columns `first` to `first` + LANES of a loop of stores: as rows if they have one guard, else
 * one by one. */
static void put_column_block(Gen *g, const NestStmt *s, const NestStmt *store, const char *first) {
  const char *rows = c_open_name(g, "rows"), *row = c_open_name(g, "row");
  const char *all = c_open_name(g, "all"), *n = c_open_name(g, "n"), *i = g->indices[s->index->id];
  const char *index = c_text(g, "const int %s = %s + %s;", i, first, row);
  const char *const names[] = {rows, row, all, n};
  long long step = (long long)c_mem_spread(g, &store->mems[0]).step;
  gather_columns(g, s, store, index, first, names);
  g->indices[s->index->id] = first;
  const char *at = c_address(g, &store->mems[0], false);
  g->indices[s->index->id] = i;
  const char *name = dtype_name(store->type);
  if (!store->guard.kind) {
    c_line(g, "vstore_rows_%s(%s, %lld, %s);", name, at, step, rows);
  } else {
    c_line(g, "if (%s) vstore_first_rows_%s(%s, %lld, %s, %s);", all, name, at, step, n, rows);
    c_line(g, "else for (int %s = 0; %s < LANES; %s++) {", row, row, row);
    open(g);
    c_line(g, "%s", index);
    printers[store->code](g, store);
    close(g);
  }
  c_close_names(g, 4);
}

/* Stores of columns by rows, a block of rows after the other: see transpose.c. */
static void column_loop(Gen *g, const NestStmt *s, const NestStmt *store) {
  const NestStmt *inner = store->parent == s->regions[0] ? NULL : s->regions[0]->first;
  if (inner) {
    const char *b = c_open_index(g, inner->index);
    c_line(g, "for (int %s = 0; %s < %d; %s++) {", b, b, inner->index->extent, b);
    open(g);
  }
  const char *i = c_open_index(g, s->index), *first = c_open_name(g, c_text(g, "%s_first", i));
  c_line(g, "for (int %s = 0; %s < %d; %s += LANES) {", first, first, s->index->extent, first);
  open(g);
  put_column_block(g, s, store, first);
  close(g);
  c_close_names(g, 1);
  c_close_index(g, s->index);
  if (inner) {
    close(g);
    c_close_index(g, inner->index);
  }
  g->block += inner ? 2 : 1; /* the blocks of both loops, which declare nothing */
}

/* The statements between loads or stores of columns, initial values or others. */
static void put_between(Gen *g, const NestStmt *first, const NestStmt *last, bool initial) {
  const NestStmt *column = first;
  for (const NestStmt *x = first; x != last; x = x->next) {
    if (x == column) column = c_next_column(g, x);
    else if (c_initial_value(x) == initial) printers[x->code](g, x);
  }
}

static void put_column(Gen *g, const NestStmt *s, const char *row) {
  Spread whole = {.kind = SPREAD_VECTOR};
  bool zero = s->guard.kind && g->filled[s->dsts[0].var->id];
  if (zero) c_line(g, "%s = %s;", c_ref_name(g, &s->dsts[0]), row);
  else c_assign(g, s, &s->dsts[0], s->type, row, whole);
}

static void load_columns(Gen *g, const NestStmt *first, const char *rows) {
  const NestStmt *s = first;
  for (int i = 0; i < c_columns(g, first); i++, s = c_next_column(g, s))
    put_column(g, s, c_text(g, "%s[%d]", rows, i));
}

/* Where lane 0 of columns is, and where other lanes are: arguments of a function of the prelude. */
static const char *place_of_columns(Gen *g, const NestStmt *s, const LaneRows *rows) {
  const Mem *m = &s->mems[0];
  const char *lanes = s->guard.kind ? c_scalar(g, &s->guard, DT_I1) : "LANES";
  const char *step = rows->columns > 2 ? c_text(g, "%lld, ", (long long)rows->step) : "";
  if (!rows->apart) return c_text(g, "%s, %s%s", c_address(g, m, false), step, lanes);
  return c_text(g, "(char *)((%s)[0] + (uint64_t)(%s)), %s%lld", c_vector(g, &m->base, DT_PTR),
                c_affine(g, &m->bytes), step, (long long)rows->apart);
}

static const char *form_of_columns(const LaneRows *rows, bool load) {
  if (rows->columns > 2) return rows->apart ? "half_rows" : load ? "rows" : "first_rows";
  if (rows->apart) return rows->step < 0 ? "half_pairs_back" : "half_pairs";
  return "pairs";
}

/* Loads or stores of columns, by vectors of the name `rows`: see transpose.c. */
static void put_columns(Gen *g, const NestStmt *first, const NestStmt *last, const char *rows) {
  bool load = first->code == NEST_LD;
  const char *name = dtype_name(first->type);
  LaneRows places = c_lane_rows(g, first);
  const char *at = place_of_columns(g, first, &places), *form = form_of_columns(&places, load);
  if (places.columns < g->nest->lanes)
    c_line(g, "%s %s[%d];", c_vector_type(first->type), rows, places.columns);
  else c_line(g, "%s %s[LANES];", c_vector_type(first->type), rows);
  put_between(g, first, last, true);
  if (load) {
    c_line(g, "vload_%s_%s(%s, %s);", form, name, at, rows);
    load_columns(g, first, rows);
    put_between(g, first, last, false);
    return;
  }
  put_between(g, first, last, false);
  const NestStmt *s = first;
  for (int i = 0; i < places.columns; i++, s = c_next_column(g, s))
    c_line(g, "%s[%d] = %s;", rows, i, c_vector(g, &s->srcs[0], s->type));
  c_line(g, "vstore_%s_%s(%s, %s);", form, name, at, rows);
}

static void plain_loop(Gen *g, const NestStmt *s) {
  const char *i = c_open_index(g, s->index), *end = c_open_name(g, c_text(g, "%s_end", i));
  int n = s->index->extent;
  const char *how = g->expanded[s->index->id] ? c_text(g, "UNROLL(%d) ", n) : "";
  if (s->nsrcs) bounded_head(g, s, i, end);
  else c_line(g, "%sfor (int %s = 0; %s < %d; %s++) {", how, i, i, n, i);
  open(g);
  c_block(g, s->regions[0]);
  close(g);
  c_close_names(g, 1);
  c_close_index(g, s->index);
}

/* A loop whose lanes have a mask: where it is of all lanes, blocks are transposed. */
static void masked_loop(Gen *g, const NestStmt *s, Columns *c) {
  uint32_t block = g->block;
  bool first = c_ref_spread(g, c->guard).kind == SPREAD_FIRST;
  c_line(g, first ? "if (%s == LANES) {" : "if (vall(%s)) {", c_scalar(g, c->guard, DT_I1));
  open(g);
  transposed_block(g, s, c);
  close(g);
  g->block = block;
  c_line(g, "else {");
  open(g);
  plain_loop(g, s);
  close(g);
}

void c_counted_loop(Gen *g, const NestStmt *s) {
  const AlongLanes *along = c_along(g, s);
  if (along) {
    along_loop(g, along);
    return;
  }
  Columns columns = c_transposed(g, s);
  if (columns.guard) {
    masked_loop(g, s, &columns);
    return;
  }
  if (columns.n) {
    transposed_loop(g, s, &columns);
    return;
  }
  const NestStmt *store = c_column_stores(g, s);
  if (store) {
    column_loop(g, s, store);
    return;
  }
  plain_loop(g, s);
}

static bool fixed_step(const Ref *r, DType t) {
  return r->kind == REF_AFFINE && !r->sub.n && r->sub.c > 0 && dtype_bits(t) <= 32;
}

/* The index is computed in 64 bits, so that it does not wrap at the end; where that is no help, or
 * the sign of the step is not known, the iterations are counted beforehand. */
/* The loop over a counter; its body follows.  The result: the condition that an iteration follows
 * the present one. */
static const char *for_head(Gen *g, const NestStmt *s, const char *at, const char *n) {
  const NestVar *v = s->dsts[0].var;
  DType t = v->dtype;
  const char *k = c_ref_name(g, &s->dsts[0]), *type = c_scalar_type(t), *value = at, *more;
  const char *lo = c_scalar(g, &s->srcs[0], t), *hi = c_scalar(g, &s->srcs[1], t);
  const char *step = c_scalar(g, &s->srcs[2], t), *let = g->at_definition[v->id] ? type : "";
  const char *space = *let ? "const " : "", *after = *let ? " " : "";
  if (fixed_step(&s->srcs[2], t)) {
    c_line(g, "for (int64_t %s = %s; %s < %s; %s += %s) {", at, lo, at, hi, at, step);
    more = c_text(g, "%s + %s < %s", at, step, hi);
  } else {
    c_line(g, "for (uint64_t %s = 0, %s = trips_%s(%s, %s, %s); %s < %s; %s++) {", at, n,
           dtype_name(t), lo, hi, step, at, n, at);
    value = c_text(g, "(%s + %s * %s)", lo, at, step);
    more = c_text(g, "%s + 1 < %s", at, n);
  }
  open(g);
  put_unmarked_line(g, c_text(g, "%s%s%s%s = (%s)%s;", space, let, after, k, type, value));
  return more;
}

void c_counter_loop(Gen *g, const NestStmt *s) {
  const char *k = c_ref_name(g, &s->dsts[0]);
  const char *at = c_open_name(g, c_text(g, "%s_at", k));
  const char *n = c_open_name(g, c_text(g, "%s_n", k)), *more = for_head(g, s, at, n);
  if (g->steps) g->steps->more = more;
  c_block(g, s->regions[0]);
  close(g);
  c_close_names(g, 2);
}

/* A program that waits ends where it is told to. */
static void put_turn(Gen *g, const NestStmt *s, const char *turns) {
  const Source *f = diag_file(g->d, s->span.file);
  const char *where = c_text(g, "%s:%u", f ? f->name : g->nest->name, s->span.line);
  put_unmarked_line(g, c_text(g, "if (wait_turn(waiting, &%s, %s, pid_0, pid_1, pid_2)) return;",
                              turns, string_literal(g, where)));
}

static void c_while(Gen *g, const NestStmt *s) {
  const bool waits = c_is_waiting_loop(s);
  const char *turns = c_open_name(g, "turns");
  if (waits) c_line(g, "for (uint32_t %s = 0;;) {", turns);
  else c_line(g, "for (;;) {");
  open(g);
  c_block(g, s->regions[0]);
  c_line(g, "if (!%s) break;", c_scalar(g, &s->srcs[0], DT_I1));
  c_block(g, s->regions[1]);
  if (waits) put_turn(g, s, turns);
  close(g);
  c_close_names(g, 1);
}

static void c_if(Gen *g, const NestStmt *s) {
  c_line(g, "if (%s) {", c_scalar(g, &s->srcs[0], DT_I1));
  open(g);
  c_block(g, s->regions[0]);
  g->depth--;
  bool other = s->nregions > 1 && s->regions[1]->first;
  if (other) put_unmarked_line(g, "} else {");
  open(g);
  if (s->nregions > 1) c_block(g, s->regions[1]);
  close(g);
}

static void c_role(Gen *g, const NestStmt *s) {
  c_line(g, "{");
  open(g);
  c_block(g, s->regions[0]);
  close(g);
}

static void fence(Gen *g, const NestStmt *s) {
  if (strcmp(nest_str(s, NA_kind, ""), "proxy"))
    c_line(g, "__atomic_thread_fence(__ATOMIC_SEQ_CST);");
}

/* Lanes go together, so a barrier between them is nothing; an ASSERT is checked by interpreters. */
static void c_no_code(Gen *g, const NestStmt *s) {
  (void)g;
  (void)s;
}

/* ---- device_print ---- */

/* A call of vprint, which prints a line for each lane.  Without an operand the call passes a value
 * that the format leaves out. */
static void c_print_line(Gen *g, const NestStmt *s) {
  PrintLine line;
  Text format = text_new(g->arena), index = text_new(g->arena);
  nest_print_line(s, &line);
  print_format(&format, &line);
  for (uint32_t i = 1; i < s->nsrcs; i++)
    text_printf(&index, "%s%s", i > 1 ? ", " : "", c_vector(g, &s->srcs[i], DT_I32));
  const char *axes = line.rank ? c_text(g, "(const vi32[]){%s}", index.data) : "NULL";
  const char *when = s->guard.kind ? c_vector(g, &s->guard, DT_I1) : "vsplat_i32(-1)";
  const char *value = s->nsrcs ? c_vector(g, &s->srcs[0], s->type) : "vsplat_i32(0)";
  c_line(g, "vprint_%s(%s, pid_0, pid_1, pid_2, %s, %d, %s, %s);",
         dtype_name(s->nsrcs ? s->type : DT_I32), string_literal(g, format.data), when, line.rank,
         axes, value);
}

/* ---- device_assert ---- */

void c_fail_if(Gen *g, const char *condition, const char *what) {
  const Source *f = diag_file(g->d, g->span.file);
  const char *text = c_text(g, "%s:%u: %s", f ? f->name : "?", g->span.line, what);
  c_line(g, "if (%s) {", condition);
  c_line(g, "  FAILED(%s, pid_0, pid_1, pid_2);", string_literal(g, text));
  c_line(g, "  return;");
  c_line(g, "}");
}

static void c_assert(Gen *g, const NestStmt *s) {
  if (!nest_assert_is_code(g->nest, s)) return;
  const char *message = nest_str(s, NA_message, "");
  const char *when = s->guard.kind ? c_vector(g, &s->guard, DT_I1) : "vsplat_i32(-1)";
  c_fail_if(g, c_text(g, "vfails(%s, %s)", when, c_vector(g, &s->srcs[0], DT_I1)),
            c_text(g, "assertion failed%s%s", *message ? ": " : "", message));
}

/* ---- all statements ---- */

static void (*const printers[NEST_OP_COUNT])(Gen *, const NestStmt *) = {
    [NEST_OP] = assign_op,
    [NEST_MOV] = assign_mov,
    [NEST_PID] = assign_number,
    [NEST_NPROG] = assign_number,
    [NEST_SPECIAL] = assign_special,
    [NEST_LANE] = assign_number,
    [NEST_WARP] = assign_number,
    [NEST_PREFETCH] = c_prefetch,
    [NEST_LD] = c_load,
    [NEST_ST] = c_store,
    [NEST_ATOM] = c_atomic,
    [NEST_ATOM_CAS] = c_atomic,
    [NEST_RED] = c_atomic,
    [NEST_SHFL] = c_shuffle,
    [NEST_BAR] = c_no_code,
    [NEST_FENCE] = fence,
    [NEST_GRID_DEPENDENCY] = c_no_code,
    [NEST_ASSERT] = c_assert,
    [NEST_PRINT] = c_print_line,
    [NEST_ASM] = c_inline_asm,
    [NEST_UNROLL] = c_counted_loop,
    [NEST_SERIAL] = c_serial,
    [NEST_FOR] = c_for,
    [NEST_WHILE] = c_while,
    [NEST_IF] = c_if,
    [NEST_ROLE] = c_role,
};

static void refuse_stmt(Gen *g, const NestStmt *s) {
  diag_error(g->d, s->span, E_GEN_C_STATEMENT, nest_op_name(s->code));
  g->failed = true;
}

/* Statements that have been printed before their turn. */
typedef VEC(const NestStmt *) Printed;

static bool take_printed(Printed *printed, const NestStmt *s) {
  for (size_t i = 0; i < printed->len; i++)
    if (printed->data[i] == s) {
      printed->data[i] = printed->data[--printed->len];
      return true;
    }
  return false;
}

/* Has a statement from s to `last` been printed? */
static bool has_printed(const Printed *printed, const NestStmt *s, const NestStmt *last) {
  for (size_t i = 0; i < printed->len; i++)
    for (const NestStmt *x = s; x != last->next; x = x->next)
      if (printed->data[i] == x) return true;
  return false;
}

/* Both loads of pairs, of which the second one comes later. */
static void load_pairs(Gen *g, const NestStmt *s, const NestStmt *partner, const char *rows,
                       Printed *printed) {
  const NestStmt *both[] = {s, partner}, *initial = partner->prev;
  LaneRows places = c_lane_rows(g, s);
  const char *at = place_of_columns(g, s, &places), *form = form_of_columns(&places, true);
  if (c_initial_value(initial)) {
    printers[initial->code](g, initial);
    vec_push(g->arena, printed, initial);
  }
  c_line(g, "%s %s[2];", c_vector_type(s->type), rows);
  c_line(g, "vload_%s_%s(%s, %s);", form, dtype_name(s->type), at, rows);
  for (int i = 0; i < 2; i++) put_column(g, both[i], c_text(g, "%s[%d]", rows, i));
  vec_push(g->arena, printed, partner);
}

/* Is the statement no code: does a call of a product do what it does, there or where it has been,
 * or does it rename an array? */
static bool put_elsewhere(Gen *g, const NestStmt *s) {
  const ProductSums *sums = c_sums(g, s);
  const AlongLanes *along = c_along(g, s);
  bool called = (sums && (s != sums->loop || sums->store)) || (along && s != along->loop);
  if (!called && !c_renames(g, s)) return false;
  if (sums && s == sums->store) printers[NEST_SERIAL](g, sums->loop);
  for (uint32_t r = 0; r < s->nregions; r++) g->block += c_count_blocks(s->regions[r]);
  return true;
}

void c_block(Gen *g, const NestBlock *b) {
  for (const Declared *d = g->heads[g->block++]; d; d = d->next) {
    const char *how = g->large[d->var->id] ? "static _Thread_local " : "";
    if (c_has_stored(g, d->var) || g->renamed[d->var->id]) continue;
    put_unmarked_line(g, c_text(g, "%s%s;", how, c_declaration(g, d->var)));
  }
  size_t rows = 0;
  Printed printed = {0};
  for (const NestStmt *s = b->first; s; s = s->next) {
    g->span = s->span;
    if (take_printed(&printed, s) || put_elsewhere(g, s)) continue;
    const NestStmt *last = c_last_column(g, s), *partner = last ? NULL : c_partner(g, s);
    if (last && has_printed(&printed, s, last)) last = NULL;
    if (partner && has_printed(&printed, partner, partner)) partner = NULL;
    if (partner) {
      load_pairs(g, s, partner, c_open_name(g, "rows"), &printed);
      rows++;
    } else if (last) {
      put_columns(g, s, last, c_open_name(g, "rows"));
      rows++;
      s = last;
    } else if (printers[s->code]) printers[s->code](g, s);
    else refuse_stmt(g, s);
  }
  c_close_names(g, rows);
}
