/* The module: header, parameters, declarations, body. */
#include "codegen/messages.h"
#include "codegen/ptx/ptx.h"
#include "lower/messages.h"

enum { BUDGET = 4000 }; /* instructions, above which a warning names the cause */

/* ---- parameters ---- */

static void load_param(Ptx *p, const NestVar *v, const char *name) {
  static const char *const types[DT_COUNT] = {
      [DT_I1] = "u8",   [DT_I8] = "s8",    [DT_I16] = "s16",   [DT_I32] = "b32",
      [DT_I64] = "b64", [DT_U8] = "u8",    [DT_U16] = "u16",   [DT_U32] = "b32",
      [DT_U64] = "b64", [DT_F8E5] = "u8",  [DT_F8E4NV] = "u8", [DT_F8E4B15] = "u8",
      [DT_F16] = "b16", [DT_BF16] = "b16", [DT_F32] = "b32",   [DT_F64] = "b64",
      [DT_PTR] = "b64"};
  const Reg *g = ptx_reg(p, v);
  if (!g->used) return;
  Operand d = v->dtype == DT_I1 ? ptx_temp(p, RC_B32) : ptx_element(p, v, 0);
  ptx_begin(p);
  ptx_puts(p, "ld.param.");
  ptx_puts(p, types[v->dtype]);
  ptx_puts(p, " ");
  ptx_put_operand(p, &d);
  ptx_puts(p, ", [");
  ptx_puts(p, name);
  ptx_puts(p, "]");
  ptx_end(p);
  if (v->dtype == DT_I1) ptx_emit2(p, "setp.ne.b32 $d, $a, 0", ptx_element(p, v, 0), d);
}

static void declare_param(const NestVar *v, const char *name, Text *out, bool last) {
  static const char *const types[] = {[1] = ".u8", [2] = ".b16", [4] = ".b32", [8] = ".b64"};
  int64_t align = v->div > 0 ? v->div & -v->div : 1;
  if (align > 16) align = 16;
  if (v->dtype == DT_PTR)
    text_printf(out, "\t.param .u64 .ptr .global .align %d %s", (int)align, name);
  else text_printf(out, "\t.param %s %s", types[dtype_bytes(v->dtype)], name);
  text_puts(out, last ? "\n" : ",\n");
}

/* ---- the pieces ---- */

static void put_header(Ptx *p, Text *out) {
  text_printf(out, ".version %d.%d\n.target %s\n.address_size 64\n\n", p->version / 10,
              p->version % 10, p->machine->name);
  for (size_t i = 0; i < p->files.len; i++) {
    text_printf(out, ".file %d ", (int)i + 1);
    text_quote(out, p->files.data[i]);
    text_puts(out, "\n");
  }
  int64_t align = 16;
  for (uint32_t i = 0; i < p->nest->nbuffers; i++)
    if (p->nest->buffers[i]->align > align) align = p->nest->buffers[i]->align;
  if (p->nest->shared_bytes)
    text_printf(out, ".extern .shared .align %d .b8 smem[];\n", (int)align);
  ptx_declare_print(p, out);
  ptx_declare_asserts(p, out);
}

/* How many registers ptxas may take.  For programs that it wants to share a multiprocessor it moves
 * loads to where their results are used, so that a thread waits for one after the other; told that
 * one program is enough, it leaves those of a batch together.  In loops that costs time each turn.
 * Where a thread loads once, other programs hide the waiting; loops of matrix instructions load
 * ahead in any case. */
static void put_registers(const Ptx *p, Text *out) {
  int most = p->nest->options.maxnreg;
  if (most) text_printf(out, ".maxnreg %d\n", most);
  else if (p->loads_in_loop && !p->multiplies) text_puts(out, ".minnctapersm 1\n");
}

/* Lanes with bit 1 have the later rows of a pair of matrices in the first one. */
static const char select_bytes[] = "\tmov.u32 %$left, %tid.x;\n"
                                   "\tand.b32 %$left, %$left, 2;\n"
                                   "\tsetp.ne.s32 %$late, %$left, 0;\n"
                                   "\tselp.b32 %$left, 0x2064, 0x6420, %$late;\n"
                                   "\tadd.s32 %$right, %$left, 0x1111;\n";

static void put_entry(Ptx *p, const char *entry, Text *out) {
  const Nest *n = p->nest;
  text_printf(out, "\n.visible .entry %s(\n", entry);
  for (uint32_t i = 0; i < n->nparams; i++)
    declare_param(n->params[i], p->params[i], out, i + 1 == n->nparams + n->nmaps);
  for (uint32_t i = 0; i < n->nmaps; i++)
    text_printf(out, "\t.param .align 64 .b8 %s[128]%s\n", ptx_map_param(p, n->maps[i]),
                i + 1 == n->nmaps ? "" : ",");
  text_printf(out, ")\n.reqntid %d, 1, 1\n", n->warps * n->lanes);
  if (n->cluster > 1)
    text_printf(out, ".explicitcluster\n.reqnctapercluster %d, 1, 1\n", n->cluster);
  put_registers(p, out);
  text_puts(out, "{\n");
  ptx_declare(p, out);
  ptx_declare_print_arguments(p, out);
  if (p->uses_shared) text_puts(out, "\tmov.u32 %$smem, smem;\n");
  for (uint32_t i = 0; i < n->nmaps; i++)
    text_printf(out, "\tmov.b64 %s%u, %s;\n\tcvta.param.u64 %s%u, %s%u;\n", PTX_MAP, i,
                ptx_map_param(p, n->maps[i]), PTX_MAP, i, PTX_MAP, i);
  if (p->turns_bytes) text_puts(out, select_bytes);
}

/* PTX wants a letter first, or _ and something after it; vprintf and __assertfail are the driver's,
 * smem is the shared memory. */
static const char *entry_name(Ptx *p) {
  const char *s = ptx_identifier(p->arena, p->nest->name);
  if (!strcmp(s, "vprintf")) return "k_vprintf";
  if (!strcmp(s, "smem")) return "k_smem";
  if (!strcmp(s, "__assertfail")) return "k___assertfail";
  bool letter = (*s >= 'a' && *s <= 'z') || (*s >= 'A' && *s <= 'Z');
  return letter || ((*s == '_' || *s == '$') && s[1]) ? s : arena_printf(p->arena, "k_%s", s);
}

static void check_budget(Ptx *p) {
  if (p->instructions <= BUDGET) return;
  Span at = p->most > p->instructions / 2 ? p->most_span : p->nest->span;
  diag_warning(p->diags, at, W_GEN_BUDGET, p->instructions, BUDGET, p->most);
  diag_hint(p->diags, H_LOWER_BUDGET);
}

/* Bytes of the parameters, each aligned to its size. */
static int64_t parameter_bytes(const Nest *n) {
  int64_t at = 0;
  for (uint32_t i = 0; i < n->nparams; i++) {
    DType t = n->params[i]->dtype;
    int64_t size = t == DT_PTR ? 8 : dtype_bytes(t);
    at = (at + size - 1) / size * size + size;
  }
  return at;
}

/* More than 4352 bytes came with PTX 8.1, of all targets. */
static void check_parameters(Ptx *p) {
  enum { BEFORE_8_1 = 4352, MOST = 32764 };
  int64_t bytes = parameter_bytes(p->nest);
  if (bytes > BEFORE_8_1) ptx_needs(p, 81);
  if (bytes <= MOST) return;
  ptx_fail(p, E_GEN_PARAMETERS, (long long)bytes, MOST);
  diag_hint(p->diags, H_GEN_PARAMETERS);
}

static bool check_nest(Ptx *p) {
  const Nest *n = p->nest;
  p->span = n->span;
  BUG_IF(n->level != NEST_LEVEL_THREAD, "PTX is printed from level thread");
  if (n->lanes != WARP_LANES) ptx_fail(p, E_GEN_LANES, p->machine->name, n->lanes);
  check_parameters(p);
  if (p->failed || n->shared_bytes <= p->machine->shared) return !p->failed;
  Resource need = {"shared memory", n->shared_bytes, p->machine->shared};
  diag_resource_limit(p->diags, n->span, need, E_GEN_SHARED, (long long)n->shared_bytes,
                      p->machine->name, (long long)p->machine->shared);
  return false;
}

static void put_function_body(Ptx *p) {
  for (uint32_t i = 0; i < p->nest->nparams; i++) {
    memset(p->temps, 0, sizeof p->temps);
    load_param(p, p->nest->params[i], p->params[i]);
  }
  ptx_block(p, p->nest->body);
  p->guard.kind = PO_NONE;
  p->span = p->nest->span;
  ptx_emit2(p, "ret", ptx_int(0), ptx_int(0));
}

bool ptx_print(Arena *a, const Nest *n, const Machine *m, Diags *d, Code *out) {
  Ptx *p = ARENA_NEW(a, Ptx);
  *p = (Ptx){.arena = a, .nest = n, .machine = m, .diags = d, .role_warps = n->warps};
  p->version = m->ptx;
  p->file_number = ARENA_ARRAY(a, uint32_t, diag_file_count(d) + 1);
  if (!check_nest(p)) return false;
  ptx_analyze(p);
  put_function_body(p);
  if (p->failed) return false;
  check_budget(p);
  Text text = text_new(a);
  const char *entry = entry_name(p);
  put_header(p, &text);
  put_entry(p, entry, &text);
  text_putn(&text, p->out, p->len);
  text_puts(&text, "}\n");
  *out = (Code){text.data, text.len, entry, n->shared_bytes, n->warps * n->lanes, p->instructions,
                n->cluster};
  return true;
}
