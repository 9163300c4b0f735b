/* device_print: a call of vprintf, which the driver has.  Its arguments are in local memory, laid
 * out as a struct; lines reach standard output when the device is synchronized. */
#include "lang/interp/device_print.h"

#include "codegen/ptx/ptx.h"

/* ---- formats ---- */

static size_t intern_format(Ptx *p, const PrintLine *line) {
  Text format = text_new(p->arena);
  print_format(&format, line);
  for (size_t i = 0; i < p->formats.len; i++)
    if (!strcmp(p->formats.data[i], format.data)) return i;
  vec_push(p->arena, &p->formats, format.data);
  return p->formats.len - 1;
}

static void declare_text(Text *module, const char *name, size_t i, const char *s) {
  text_printf(module, ".global .align 1 .b8 $%s_%zu[%zu] = {", name, i, strlen(s) + 1);
  for (; *s; s++) text_printf(module, "%d, ", (unsigned char)*s);
  text_puts(module, "0};\n");
}

void ptx_declare_print(const Ptx *p, Text *module) {
  for (size_t i = 0; i < p->formats.len; i++) declare_text(module, "format", i, p->formats.data[i]);
  if (p->formats.len)
    text_puts(module,
              ".extern .func (.param .b32 $printed) vprintf (.param .b64 $format, .param "
              ".b64 $arguments);\n");
}

void ptx_declare_print_arguments(const Ptx *p, Text *entry) {
  if (p->print_bytes)
    text_printf(entry, "\t.local .align 8 .b8 $print[%lld];\n", (long long)p->print_bytes);
}

/* ---- arguments ---- */

/* Stores the next argument, aligned to its size. */
static void put_argument(Ptx *p, int64_t *at, Operand x, DType t) {
  int64_t bytes = dtype_bytes(t);
  *at = (*at + bytes - 1) / bytes * bytes;
  ptx_begin(p);
  ptx_puts(p, bytes == 8 ? "st.local.b64 [$print+" : "st.local.b32 [$print+");
  ptx_put_int(p, *at);
  ptx_puts(p, "], ");
  ptx_put_operand(p, &x);
  ptx_end(p);
  *at += bytes;
}

/* The sign of a NaN is printed, and means nothing. */
static Operand unsigned_nan(Ptx *p, Operand x) {
  Operand plain = ptx_temp(p, RC_F64);
  ptx_emit2(p, "setp.nan.f64 $0p, $a, $a; selp.f64 $d, 0d7FF8000000000000, $a, $0p", plain, x);
  return plain;
}

static void put_program(Ptx *p, int64_t *at) {
  static const char *const ids[3] = {"mov.u32 $d, %ctaid.x", "mov.u32 $d, %ctaid.y",
                                     "mov.u32 $d, %ctaid.z"};
  for (int axis = 0; axis < 3; axis++) {
    Operand id = ptx_temp(p, RC_B32);
    ptx_emit2(p, ids[axis], id, id);
    put_argument(p, at, id, DT_U32);
  }
}

/* ---- the call ---- */

static void put_string_bytes(Ptx *p, const char *text) {
  ptx_begin(p);
  ptx_puts(p, text);
  ptx_end(p);
}

/* The generic address of `name`, as the call's parameter `param`. */
static void put_parameter(Ptx *p, const char *param, const char *name, const char *space) {
  Operand x = ptx_temp(p, RC_B64);
  const char *reg = arena_printf(p->arena, "%s%d", x.name, x.num);
  put_string_bytes(p, arena_printf(p->arena, ".param .b64 %s", param));
  put_string_bytes(p, arena_printf(p->arena, "mov.u64 %s, %s", reg, name));
  put_string_bytes(p, arena_printf(p->arena, "cvta.%s.u64 %s, %s", space, reg, reg));
  put_string_bytes(p, arena_printf(p->arena, "st.param.b64 [%s], %s", param, reg));
}

static void call_vprintf(Ptx *p, size_t format) {
  ptx_puts(p, "\t{\n");
  put_parameter(p, "$format", arena_printf(p->arena, "$format_%zu", format), "global");
  put_parameter(p, "$arguments", "$print", "local");
  put_string_bytes(p, ".param .b32 $printed");
  put_string_bytes(p, "call.uni ($printed), vprintf, ($format, $arguments)");
  ptx_puts(p, "\t}\n");
}

static void branch(Ptx *p, const char *when, const Operand *condition, int32_t label) {
  ptx_begin(p);
  ptx_puts(p, when);
  ptx_put_operand(p, condition);
  ptx_puts(p, " bra ");
  ptx_put_label(p, label);
  ptx_end(p);
}

/* A branch goes around the call, so that threads without an element store nothing either.  All of a
 * warp go on together: matrix instructions want that. */
void ptx_print_line(Ptx *p, const NestStmt *s) {
  PrintLine line;
  Operand x[MAX_RANK + 1];
  nest_print_line(s, &line);
  for (uint32_t i = 0; i < s->nsrcs; i++) x[i] = ptx_source(p, &s->srcs[i], i ? DT_I32 : s->type);
  if (s->nsrcs && s->type == DT_F64) x[0] = unsigned_nan(p, x[0]);
  Operand guard = ptx_guard(p, s);
  int32_t end = ptx_label(p);
  int64_t at = 0;
  if (guard.kind) branch(p, "@!", &guard, end);
  put_program(p, &at);
  for (uint32_t i = 1; i < s->nsrcs; i++) put_argument(p, &at, x[i], DT_I32);
  if (s->nsrcs) put_argument(p, &at, x[0], s->type);
  if (at > p->print_bytes) p->print_bytes = at;
  call_vprintf(p, intern_format(p, &line));
  if (!guard.kind) return;
  ptx_place_label(p, end);
  put_string_bytes(p, "bar.warp.sync -1");
}

/* ---- device_assert ---- */

static const char *intern_text(Ptx *p, const char *text) {
  size_t i = 0;
  while (i < p->texts.len && strcmp(p->texts.data[i], text)) i++;
  if (i == p->texts.len) vec_push(p->arena, &p->texts, text);
  return arena_printf(p->arena, "$text_%zu", i);
}

void ptx_declare_asserts(const Ptx *p, Text *module) {
  for (size_t i = 0; i < p->texts.len; i++) declare_text(module, "text", i, p->texts.data[i]);
  if (p->texts.len)
    text_puts(module,
              ".extern .func __assertfail (.param .b64 $message, .param .b64 $file, .param .b32 "
              "$line, .param .b64 $function, .param .b64 $size) .noreturn;\n");
}

/* CUDA's function for assert(), which prints the place and the thread, and ends the launch. */
static void call_assertfail(Ptx *p, const NestStmt *s) {
  const Source *f = diag_file(p->diags, s->span.file);
  const char *message = nest_str(s, NA_message, "");
  ptx_puts(p, "\t{\n");
  put_parameter(p, "$message", intern_text(p, *message ? message : "device_assert"), "global");
  put_parameter(p, "$file", intern_text(p, f ? f->name : "?"), "global");
  put_string_bytes(p, ".param .b32 $line");
  put_string_bytes(p, arena_printf(p->arena, "st.param.b32 [$line], %u", s->span.line));
  put_parameter(p, "$function", intern_text(p, p->nest->name), "global");
  put_string_bytes(p, ".param .b64 $size");
  put_string_bytes(p, "st.param.b64 [$size], 1");
  put_string_bytes(p, "call.uni __assertfail, ($message, $file, $line, $function, $size)");
  ptx_puts(p, "\t}\n");
}

void ptx_assert(Ptx *p, const NestStmt *s) {
  if (!nest_assert_is_code(p->nest, s)) return;
  Operand holds = ptx_source_reg(p, &s->srcs[0], DT_I1), guard = ptx_guard(p, s);
  int32_t end = ptx_label(p);
  if (guard.kind) branch(p, "@!", &guard, end);
  branch(p, "@", &holds, end);
  call_assertfail(p, s);
  ptx_place_label(p, end);
  put_string_bytes(p, "bar.warp.sync -1");
}
