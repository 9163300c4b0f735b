/* From a nest to the interpreter's instructions. */
#include <string.h>

#include "lower/interp/nest_interp_run.h"
#include "lower/messages.h"
#include "lower/nest/nest_text.h"

/* The memory of programs at most, with registers and shared memory: one, and all that are alive. */
static const int64_t most_bytes = INT64_C(1) << 28, most_alive = INT64_C(1) << 30;

typedef struct {
  Run *r;
  VEC(Inst) insts;
  uint32_t roles, role_warps; /* so far */
  const uint64_t *sources;    /* by variable id: which parameters its pointers come from */
  uint64_t stored;            /* parameters through which something is stored */
} Coder;

static void code_block(Coder *c, const NestBlock *b);

/* ---- where pointers come from ---- */

/* Bit i: parameter i; the last bit: memory, or a parameter past the others. */
#define UNKNOWN_SOURCE (UINT64_C(1) << 63)

typedef struct {
  uint64_t *sources;
  bool changed;
} Flow;

static bool is_pointer_operand(const Ref *r) {
  return r->kind == REF_VAR && r->var->dtype == DT_PTR;
}

static void flow_sources_of_stmt(Flow *f, const NestStmt *s) {
  if (!s->ndsts || s->dsts[0].var->dtype != DT_PTR) return;
  bool computed = s->code == NEST_MOV || s->code == NEST_SHFL || s->code == NEST_OP;
  bool pointers = false;
  uint64_t from = 0;
  for (uint32_t i = 0; i < s->nsrcs && computed; i++) {
    if (!is_pointer_operand(&s->srcs[i])) continue;
    pointers = true;
    from |= f->sources[s->srcs[i].var->id];
  }
  bool constant = s->code == NEST_MOV && s->srcs[0].kind != REF_VAR;
  if (!pointers && !constant) from = UNKNOWN_SOURCE;
  uint64_t *to = &f->sources[s->dsts[0].var->id];
  if ((*to | from) != *to) f->changed = true;
  *to |= from;
}

static void flow_sources_of_block(Flow *f, const NestBlock *b) {
  for (const NestStmt *s = b->first; s; s = s->next) {
    flow_sources_of_stmt(f, s);
    for (uint32_t i = 0; i < s->nregions; i++) flow_sources_of_block(f, s->regions[i]);
  }
}

/* The parameters that each variable may point into, by a flow-insensitive dataflow: a variable that
 * is assigned from two parameters has both.  If there is no fixed point after some rounds (pointers
 * are passed on against the text's order), all sources are unknown. */
static const uint64_t *find_sources(Run *r) {
  enum { ROUNDS = 32 };
  Flow f = {ARENA_ARRAY(r->arena, uint64_t, r->nest->nvars), true};
  for (uint32_t i = 0; i < r->nest->nparams; i++)
    f.sources[r->nest->params[i]->id] = i < 63 ? UINT64_C(1) << i : UNKNOWN_SOURCE;
  for (int round = 0; f.changed && round < ROUNDS; round++) {
    f.changed = false;
    flow_sources_of_block(&f, r->nest->body);
  }
  for (uint32_t i = 0; i < r->nest->nvars && f.changed; i++) f.sources[i] |= UNKNOWN_SOURCE;
  return f.sources;
}

static uint64_t mem_source(const Coder *c, const Mem *m) {
  return m->buffer || m->base.kind != REF_VAR ? 0 : c->sources[m->base.var->id];
}

static void find_stored_params(Coder *c, const NestBlock *b) {
  for (const NestStmt *s = b->first; s; s = s->next) {
    if (nest_flags(s) & NEST_IS_WRITE) c->stored |= mem_source(c, &s->mems[0]);
    if (s->code == NEST_BULK_STORE) c->stored |= c->sources[nest_map_of(c->r->nest, s)->base->id];
    for (uint32_t i = 0; i < s->nregions; i++) find_stored_params(c, s->regions[i]);
  }
}

/* The parameter's index among the nest's, as launches number arguments. */
static int32_t arg_of(const Coder *c, uint64_t source) {
  const Nest *n = c->r->nest;
  for (uint32_t i = 0; i < n->nparams && i < 63; i++)
    if (source == UINT64_C(1) << i) return (int32_t)i;
  return MEMORY_NO_ARG;
}

/* ---- operands ---- */

static Form code_form(Coder *c, const Affine *a) {
  Form f = {.c = a->c, .n = a->n};
  struct Term *t = arena_array(c->r->arena, a->n, sizeof *t);
  for (int i = 0; i < a->n; i++) {
    t[i].index = a->t[i].index->id;
    t[i].coef = a->t[i].coef;
  }
  f.t = t;
  return f;
}

static const Scalar *constant_scalar(Coder *c, Scalar v) {
  Scalar *x = ARENA_ARRAY(c->r->arena, Scalar, MOST_LANES);
  for (int i = 0; i < MOST_LANES; i++) x[i] = v;
  return x;
}

static Scalar wrap_constant_to(DType t, int64_t i) {
  if (t == DT_PTR || t == DT_I64 || t == DT_U64) return (Scalar){.i = i};
  return scalar_op(TILE_CAST, DT_I64, t, &(Scalar){.i = i}, false);
}

static Operand code_ref(Coder *c, const Ref *r, DType t) {
  Operand o = {.type = t, .uniform = true};
  switch (r->kind) {
    case REF_VAR:
      o.kind = OPERAND_REG;
      o.uniform = r->var->uniform;
      o.reg = c->r->first[r->var->id];
      o.sub = code_form(c, &r->sub);
      break;
    case REF_FLOAT:
      o.kind = OPERAND_CONST;
      o.x = constant_scalar(c, (Scalar){.f = scalar_round(t, r->f)});
      break;
    case REF_AFFINE:
      o.kind = r->sub.n ? OPERAND_FORM : OPERAND_CONST;
      if (r->sub.n) o.sub = code_form(c, &r->sub);
      else o.x = constant_scalar(c, wrap_constant_to(t, r->sub.c));
      break;
    default: break;
  }
  return o;
}

/* The type of an operand's constant. */
static DType src_type(const NestStmt *s, uint32_t i) {
  switch (s->code) {
    case NEST_OP:
      if (s->op == TILE_SELECT && i == 0) return DT_I1;
      return s->op == TILE_PTR_ADD && i == 1 ? DT_I64 : s->type;
    case NEST_PRINT: return i ? DT_I32 : s->type;
    case NEST_MBAR_WAIT:
    case NEST_BULK_COPY:
    case NEST_BULK_STORE: return DT_I32;
    case NEST_SHFL: return i == 1 ? DT_I32 : s->type;
    case NEST_SERIAL: return DT_I32;
    case NEST_FOR: return s->dsts[0].var->dtype;
    case NEST_IF:
    case NEST_WHILE:
    case NEST_CP_ASYNC:
    case NEST_ASSERT: return DT_I1;
    default: return s->type;
  }
}

static Spot code_mem(Coder *c, const Mem *m) {
  Spot p = {.buffer = m->buffer, .arg = MEMORY_NO_ARG};
  p.base = code_ref(c, &m->base, DT_I64);
  p.bytes = code_form(c, &m->bytes);
  if (m->buffer) {
    p.offset = c->r->offsets[m->buffer->id];
    p.size = m->buffer->bytes;
    return p;
  }
  uint64_t source = mem_source(c, m);
  p.arg = arg_of(c, source);
  p.tracked = (source & c->stored) != 0 || ((source | c->stored) & UNKNOWN_SOURCE && c->stored);
  return p;
}

/* ---- fragments ---- */

/* Adds the digit's part for position `i` of an axis. */
static void locate_digit(const Layout *l, int d, int64_t i, int *lane, int *reg) {
  int part = (int)(i / layout_weight(l, d) % l->d[d].extent) * l->d[d].stride;
  *(l->d[d].hw == HW_LANE ? lane : reg) += part;
}

static Fragment fragment_of(Coder *c, const Layout *l) {
  int rows = l->shape[0], columns = l->shape[1];
  uint8_t *lanes = ARENA_ARRAY(c->r->arena, uint8_t, (size_t)(rows * columns));
  uint8_t *regs = ARENA_ARRAY(c->r->arena, uint8_t, (size_t)(rows * columns));
  for (int i = 0; i < rows * columns; i++) {
    int lane = 0, reg = 0;
    for (int d = 0; d < l->ndigits; d++)
      locate_digit(l, d, l->d[d].axis == 0 ? i / columns : i % columns, &lane, &reg);
    lanes[i] = (uint8_t)lane;
    regs[i] = (uint8_t)reg;
  }
  return (Fragment){lanes, regs};
}

static void code_mma(Coder *c, Inst *in) {
  in->atom = atom_find(nest_str(in->stmt, NA_atom, ""));
  Fragment *f = ARENA_ARRAY(c->r->arena, Fragment, 3);
  for (int i = 0; i < 3; i++) {
    if (i == 1 && in->atom->warps > 1) continue; /* it is never in registers */
    Layout l = atom_layout(in->atom, i);
    f[i] = fragment_of(c, &l);
  }
  in->fragments = f;
}

/* ---- plain statements ---- */

static Exec *const execs[NEST_OP_COUNT] = {
    [NEST_OP] = nest_exec_op,
    [NEST_MOV] = nest_exec_mov,
    [NEST_PID] = nest_exec_pid,
    [NEST_NPROG] = nest_exec_nprog,
    [NEST_CLUSTER_RANK] = nest_exec_cluster_rank,
    [NEST_CLUSTER_ARRIVE] = nest_exec_cluster_arrive,
    [NEST_CLUSTER_WAIT] = nest_exec_cluster_wait,
    [NEST_EXCHANGE] = nest_exec_exchange,
    [NEST_SPECIAL] = nest_exec_special,
    [NEST_LANE] = nest_exec_lane,
    [NEST_WARP] = nest_exec_warp,
    [NEST_LD] = nest_exec_ld,
    [NEST_ST] = nest_exec_st,
    [NEST_PREFETCH] = nest_exec_nothing,
    [NEST_ATOM] = nest_exec_atom,
    [NEST_RED] = nest_exec_atom,
    [NEST_ATOM_CAS] = nest_exec_atom_cas,
    [NEST_CP_ASYNC] = nest_exec_cp_async,
    [NEST_CP_COMMIT] = nest_exec_cp_commit,
    [NEST_CP_WAIT] = nest_exec_cp_wait,
    [NEST_MBAR_INIT] = nest_exec_mbar_init,
    [NEST_MBAR_EXPECT] = nest_exec_mbar_arrive,
    [NEST_MBAR_ARRIVE] = nest_exec_mbar_arrive,
    [NEST_MBAR_WAIT] = nest_exec_mbar_wait,
    [NEST_BULK_COPY] = nest_exec_bulk_copy,
    [NEST_BULK_STORE] = nest_exec_bulk_store,
    [NEST_BULK_COMMIT] = nest_exec_bulk_commit,
    [NEST_BULK_WAIT] = nest_exec_bulk_wait,
    [NEST_LDMATRIX] = nest_exec_ldmatrix,
    [NEST_SHFL] = nest_exec_shfl,
    [NEST_MMA] = nest_exec_mma,
    [NEST_BAR] = nest_exec_bar,
    [NEST_WGMMA] = nest_exec_wgmma,
    [NEST_MMA_COMMIT] = nest_exec_mma_commit,
    [NEST_MMA_WAIT] = nest_exec_mma_wait,
    [NEST_FENCE] = nest_exec_fence,
    [NEST_GRID_DEPENDENCY] = nest_exec_nothing,
    [NEST_ASSERT] = nest_exec_assert,
    [NEST_PRINT] = nest_exec_print,
    [NEST_ASM] = nest_exec_asm,
};

static Exec *exec_of_stmt(const NestStmt *s) {
  if (s->code != NEST_OP) return execs[s->code];
  switch (s->op) {
    case TILE_SELECT: return nest_exec_select;
    case TILE_PTR_ADD: return nest_exec_ptr_add;
    case TILE_UNDEF: return nest_exec_undef;
    default: return nest_exec_op;
  }
}

static void code_asm(Coder *c, Inst *in) {
  Arena *a = c->r->arena;
  NestAsm *x = ARENA_NEW(a, NestAsm);
  BUG_IF(!nest_asm_types(a, in->stmt, &x->types), "inline assembly without types");
  x->runner = asm_runner_new(a, c->r->diags, in->stmt->span, nest_str(in->stmt, NA_asm, ""),
                             nest_str(in->stmt, NA_constraints, ""), &x->types);
  if (!x->runner) longjmp(c->r->stop, 1);
  x->in = ARENA_ARRAY(a, Scalar, x->types.nargs * (size_t)x->types.pack);
  x->out = ARENA_ARRAY(a, Scalar, x->types.nresults * (size_t)x->types.pack);
  x->lanes = ARENA_ARRAY(a, Scalar, x->types.nresults * (size_t)x->types.pack * MOST_LANES);
  in->inline_asm = x;
}

/* The numbers that an instruction needs from its attributes. */
static void code_numbers(Coder *c, Inst *in) {
  const NestStmt *s = in->stmt;
  in->n = (uint32_t)nest_int(s, NA_n, 1);
  in->bytes = in->n * dtype_bytes(s->type);
  in->is_volatile = nest_int(s, NA_volatile, 0) != 0;
  in->everywhere = s->code == NEST_EXCHANGE || nest_int(s, NA_everywhere, 0);
  switch (s->code) {
    case NEST_PID:
    case NEST_NPROG: in->a = nest_int(s, NA_axis, 0); break;
    case NEST_CP_ASYNC: in->bytes = (uint32_t)nest_int(s, NA_bytes, 16); break;
    case NEST_CP_WAIT: in->a = nest_int(s, NA_groups, 0); break;
    case NEST_LDMATRIX:
      in->a = nest_int(s, NA_trans, 0);
      in->bytes = 16;
      break;
    case NEST_MBAR_INIT:
    case NEST_MBAR_EXPECT:
    case NEST_MBAR_ARRIVE:
    case NEST_MBAR_WAIT:
      in->a = nest_int(s, s->code == NEST_MBAR_INIT ? NA_count : NA_tx, 0);
      in->bytes = 8;
      break;
    case NEST_BULK_COPY: in->bytes = 16; break;
    case NEST_BULK_STORE: in->bytes = dtype_bytes(nest_map_of(c->r->nest, s)->dtype); break;
    case NEST_BULK_WAIT:
      in->a = nest_int(s, NA_groups, 0);
      in->b = nest_int(s, NA_written, 0);
      break;
    case NEST_SHFL: in->a = nest_int(s, NA_by, 0); break;
    case NEST_BAR:
      in->a = nest_int(s, NA_id, 0);
      in->b = nest_int(s, NA_warps, 0);
      break;
    case NEST_MMA_WAIT: in->a = nest_int(s, NA_groups, 0); break;
    case NEST_MMA: code_mma(c, in); break;
    case NEST_ASM: code_asm(c, in); break;
    case NEST_WGMMA:
      code_mma(c, in);
      in->n = (uint32_t)nest_int(s, NA_columns, 0);
      in->bytes = 16;
      break;
    default: break;
  }
  if (s->code == NEST_OP && s->op == TILE_PTR_ADD) in->a = dtype_bytes(s->elem);
}

static Inst *emit_inst(Coder *c, Exec *exec, const NestStmt *s) {
  Inst in = {.exec = exec, .stmt = s};
  if (s) {
    in.type = s->type;
    in.to = s->to ? s->to : s->type;
    in.rtz = s->rtz;
    in.guard = code_ref(c, &s->guard, DT_I1);
    in.dsts = ARENA_ARRAY(c->r->arena, Operand, s->ndsts);
    for (uint32_t i = 0; i < s->ndsts; i++) in.dsts[i] = code_ref(c, &s->dsts[i], DT_NONE);
    in.srcs = ARENA_ARRAY(c->r->arena, Operand, s->nsrcs);
    for (uint32_t i = 0; i < s->nsrcs; i++) in.srcs[i] = code_ref(c, &s->srcs[i], src_type(s, i));
    in.mems = ARENA_ARRAY(c->r->arena, Spot, s->nmems);
    for (uint32_t i = 0; i < s->nmems; i++) in.mems[i] = code_mem(c, &s->mems[i]);
    in.uniform = s->ndsts && in.dsts[0].uniform;
  }
  vec_push(c->r->arena, &c->insts, in);
  return &vec_last(&c->insts);
}

static uint32_t next_inst(const Coder *c) { return (uint32_t)c->insts.len; }

/* ---- structure ---- */

static void code_loop(Coder *c, const NestStmt *s) {
  uint32_t head = next_inst(c);
  Inst *first = emit_inst(c, s->nsrcs ? nest_exec_bounds : nest_exec_loop, s);
  first->slot = s->index->id;
  first->a = s->index->extent;
  code_block(c, s->regions[0]);
  Inst *next = emit_inst(c, nest_exec_next, s);
  next->slot = s->index->id;
  next->a = s->index->extent;
  next->target = head + 1;
  c->insts.data[head].target = next_inst(c);
}

static void code_for(Coder *c, const NestStmt *s) {
  uint32_t head = next_inst(c), slot = c->r->loops++;
  emit_inst(c, nest_exec_for, s)->slot = slot;
  code_block(c, s->regions[0]);
  Inst *next = emit_inst(c, nest_exec_for_next, s);
  next->slot = slot;
  next->target = head + 1;
  c->insts.data[head].target = next_inst(c);
}

typedef VEC(Written) WrittenList;

static void find_written_registers(Coder *c, const NestBlock *b, WrittenList *list) {
  for (const NestStmt *s = b->first; s; s = s->next) {
    for (uint32_t i = 0; i < s->ndsts; i++) {
      const NestVar *v = s->dsts[i].var;
      Written w = {c->r->first[v->id], v->count};
      bool again = list->len && vec_last(list).first == w.first;
      if (!again) vec_push(c->r->arena, list, w);
    }
    for (uint32_t i = 0; i < s->nregions; i++) find_written_registers(c, s->regions[i], list);
  }
}

static void code_while(Coder *c, const NestStmt *s) {
  WrittenList written = {0};
  for (uint32_t i = 0; i < s->nregions; i++) find_written_registers(c, s->regions[i], &written);
  uint32_t slot = c->r->whiles++;
  emit_inst(c, nest_exec_while, s)->slot = slot;
  uint32_t head = next_inst(c);
  code_block(c, s->regions[0]);
  uint32_t branch = next_inst(c);
  emit_inst(c, nest_exec_branch, s);
  code_block(c, s->regions[1]);
  Inst *back = emit_inst(c, nest_exec_back, s);
  back->target = head;
  back->slot = slot;
  back->written = written.data;
  back->nwritten = (uint32_t)written.len;
  c->insts.data[branch].target = next_inst(c);
}

static void code_if(Coder *c, const NestStmt *s) {
  uint32_t branch = next_inst(c);
  emit_inst(c, nest_exec_branch, s);
  code_block(c, s->regions[0]);
  uint32_t jump = next_inst(c);
  emit_inst(c, nest_exec_jump, s);
  c->insts.data[branch].target = next_inst(c);
  code_block(c, s->regions[1]);
  c->insts.data[jump].target = next_inst(c);
}

static void code_role(Coder *c, const NestStmt *s) {
  uint32_t head = next_inst(c);
  Inst *in = emit_inst(c, nest_exec_role, s);
  in->a = c->role_warps;
  in->b = nest_int(s, NA_warps, 0);
  in->slot = ++c->roles;
  c->role_warps += (uint32_t)in->b;
  code_block(c, s->regions[0]);
  emit_inst(c, nest_exec_role_end, s);
  c->insts.data[head].target = next_inst(c);
}

static void code_plain(Coder *c, const NestStmt *s) {
  Inst *in = emit_inst(c, exec_of_stmt(s), s);
  code_numbers(c, in);
}

static void code_block(Coder *c, const NestBlock *b) {
  static void (*const by_form[])(Coder *, const NestStmt *) = {
      [FORM_PLAIN] = code_plain, [FORM_LOOP] = code_loop, [FORM_FOR] = code_for,
      [FORM_WHILE] = code_while, [FORM_IF] = code_if,     [FORM_REGION] = code_role,
      [FORM_NEST] = NULL,        [FORM_COMBINE] = NULL,
  };
  for (const NestStmt *s = b->first; s; s = s->next) by_form[nest_form(s->code)](c, s);
}

/* ---- storage ---- */

static void number_file_registers(Run *r) {
  uint32_t *first = ARENA_ARRAY(r->arena, uint32_t, r->nest->nvars);
  for (uint32_t i = 0; i < r->nest->nvars; i++) {
    first[i] = r->registers;
    r->registers += r->nest->vars[i]->count;
  }
  r->first = first;
}

/* Buffers that have no offset yet are after the others. */
static void assign_buffer_offsets(Run *r) {
  enum { ALIGNED = 1024 }; /* as no buffer needs more */
  int64_t *offsets = ARENA_ARRAY(r->arena, int64_t, r->nest->nbuffers);
  r->shared_bytes = r->nest->shared_bytes;
  for (uint32_t i = 0; i < r->nest->nbuffers; i++) {
    const NestBuffer *b = r->nest->buffers[i];
    int64_t align = b->align < 16 ? 16 : b->align;
    offsets[i] = b->offset;
    if (b->offset < 0) offsets[i] = (r->shared_bytes + align - 1) / align * align;
    if (offsets[i] + b->bytes > r->shared_bytes) r->shared_bytes = offsets[i] + b->bytes;
  }
  r->block_bytes = r->shared_bytes;
  if (nest_blocks(r) > 1) r->block_bytes = (r->shared_bytes + ALIGNED - 1) / ALIGNED * ALIGNED;
  r->offsets = offsets;
}

/* The smallest element that is accessed is what the race detector tells apart. */
static void find_granules(Run *r) {
  r->shared_granule = r->global_granule = 8;
  for (uint32_t i = 0; i < r->ninsts; i++) {
    const Inst *in = &r->insts[i];
    if (!in->stmt) continue;
    for (uint32_t k = 0; k < in->stmt->nmems && in->mems; k++) {
      if (!in->mems[k].buffer && !in->mems[k].base.kind) continue;
      uint32_t *g = in->mems[k].buffer ? &r->shared_granule : &r->global_granule;
      uint32_t bytes = in->type ? dtype_bytes(in->type) : 4;
      if (in->stmt->code == NEST_LDMATRIX) bytes = 4;
      const TensorMap *map = nest_map_of(r->nest, in->stmt);
      if (map) bytes = dtype_bytes(map->dtype);
      if (bytes < *g) *g = bytes;
      if (map && bytes < r->global_granule) r->global_granule = bytes;
    }
  }
}

/* The memory of one program decides how many are alive at a time. */
static bool fits_memory(Run *r) {
  int64_t warp = (int64_t)r->registers * (MOST_LANES * (int64_t)sizeof(Scalar) + 16) + 4096;
  int64_t shared = r->block_bytes * nest_blocks(r), cells = shared / r->shared_granule + 1;
  int64_t bytes = warp * r->warps + shared * 2 + cells * (int64_t)sizeof(Cell);
  if (shared > most_bytes || bytes > most_bytes) {
    diag_error(r->diags, r->nest->span, E_NEST_MEMORY, (long long)bytes >> 20,
               (long long)most_bytes >> 20);
    return false;
  }
  r->window = (uint64_t)(most_bytes / bytes);
  if (r->window > 64) r->window = 64;
  r->most_live = (uint64_t)(most_alive / bytes);
  return true;
}

bool nest_code(Run *r) {
  number_file_registers(r);
  assign_buffer_offsets(r);
  Coder c = {.r = r, .sources = find_sources(r)};
  find_stored_params(&c, r->nest->body);
  code_block(&c, r->nest->body);
  emit_inst(&c, nest_exec_end, NULL);
  r->insts = c.insts.data;
  r->ninsts = next_inst(&c);
  r->indices = r->nest->nindices;
  find_granules(r);
  return fits_memory(r);
}
