/* The text of any stage. */
#include "runtime/compile/compilation.h"
#include "runtime/device/assembler.h"
#include "runtime/messages.h"
#include "runtime/support/error.h"

typedef struct {
  Compilation *c;
  Text text;
} Printing;

static int print_ast(void *arg) {
  Printing *p = arg;
  p->text = text_new(p->c->arena);
  ast_print(&p->text, p->c->module);
  return 0;
}

static int print_unit_body(void *arg) {
  Printing *p = arg;
  p->text = text_new(p->c->arena);
  lower_print(&p->text, p->c->unit);
  return 0;
}

static int print_with(Compilation *c, int (*body)(void *), char **text, size_t *size) {
  Printing p = {.c = c};
  int code = compile_guard(c, COMPILE_CODE, body, &p);
  return code ? code : owned_copy(text, size, p.text.data, p.text.len);
}

static int emit_code(Compilation *c, const nereid_request *r, nereid_kind kind, char **text,
                     size_t *size) {
  Code out;
  int code = compile_lower(c, r, LEVEL_THREAD);
  if (!code) code = compile_generate(c, kind == NEREID_CUBIN ? NEREID_PTX : kind, &out);
  if (code) return code;
  if (kind != NEREID_CUBIN) return owned_copy(text, size, out.text, out.len);
  return cubin_assemble(text, size, out.text, out.len, c->unit->machine->name, r->on_message,
                        r->context);
}

static int emit_kind(Compilation *c, const nereid_request *r, nereid_kind kind, char **text,
                     size_t *size) {
  if (kind == NEREID_AST) {
    if (c->from_ir) return error_set(NEREID_E_USAGE, E_RUN_IR_PAST);
    return print_with(c, print_ast, text, size);
  }
  int code = compile_specialize(c, r);
  if (code) return code;
  if (kind > NEREID_THREAD && !r->run_passes) return emit_code(c, r, kind, text, size);
  static const Level stages[] = {
      [NEREID_TILE] = LEVEL_SCHEDULED, [NEREID_NEST] = LEVEL_NEST, [NEREID_THREAD] = LEVEL_THREAD};
  /* The passes of run_passes determine the text. */
  code = compile_lower(c, r, r->run_passes ? LEVEL_TILE : stages[kind]);
  return code ? code : print_with(c, print_unit_body, text, size);
}

int nereid_emit(char **text, size_t *size, const nereid_request *r, nereid_kind kind) {
  REQUIRE_OUT(text);
  REQUIRE_OUT(size);
  REQUIRE(r);
  Compilation c;
  int code = compile_check(r);
  if (code) return code;
  code = compile_open(&c, &r->source, kind == NEREID_AST);
  if (!code && (unsigned)kind >= NEREID_KIND_COUNT)
    code = error_set(NEREID_E_USAGE, E_RUN_UNKNOWN_KIND, (int)kind);
  if (!code) code = emit_kind(&c, r, kind, text, size);
  code = compile_report(&c, code, r->on_message, r->context);
  compile_close(&c);
  if (code) {
    nereid_text_free(*text);
    *text = NULL;
    *size = 0;
  }
  return code;
}
