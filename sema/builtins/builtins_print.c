/* Prints: at compile time and at run time. */
#include <string.h>

#include "sema/messages.h"
#include "sema/value/builtins.h"
#include "sema/value/context.h"

/* ---- at compile time ---- */

static void print_note(Sema *S, const Call *c, const char *separator) {
  Text t = text_new(S->arena);
  const Tuple *values = c->rest.u.tuple;
  for (uint32_t i = 0; i < values->len; i++) {
    if (i) text_puts(&t, separator);
    value_print(&t, values->data[i], false);
  }
  if (!S->quiet) diag_note(S->diags, sema_place(S, c->at), "%s", t.data);
}

Value builtin_static_print(Sema *S, Call *c) {
  print_note(S, c, c->args[1].kind == V_STR ? c->args[1].u.s : " ");
  return value_none();
}

/* ---- at run time ---- */

static bool is_printable(const char *s) {
  for (; *s; s++)
    if ((*s < ' ' && !strchr("\t\n\r\v\f", *s)) || *s > '~') return false;
  return true;
}

/* " x: " before values, " x" without any; of "" and ":" it is ": ". */
static const char *print_prefix(Sema *S, const char *prefix, bool values) {
  size_t n = strlen(prefix);
  if (values && n && prefix[n - 1] == ' ') n--;
  const char *colon = !values ? "" : n && prefix[n - 1] == ':' ? " " : ": ";
  bool begins = n && *prefix != ' ' && n + strlen(colon) > (values ? 2 : 0);
  return arena_printf(S->arena, "%s%.*s%s", begins ? " " : "", (int)n, prefix, colon);
}

Value builtin_device_print(Sema *S, Call *c) {
  bool hex;
  Value prefix = c->args[0];
  if (prefix.kind == V_ERROR) return prefix;
  if (prefix.kind != V_STR)
    return refuse_argument(S, prefix, "the prefix of device_print", "a string", c->spans[0]);
  if (!is_printable(prefix.u.s)) {
    Text text = text_new(S->arena);
    text_quote(&text, prefix.u.s);
    sema_error(S, c->spans[0], E_SEMA_PRINT_PREFIX, text.data);
    return value_error();
  }
  if (!want_bool(S, c->args[2], "hex", c->spans[2], &hex)) return value_error();
  const Tuple *values = c->rest.u.tuple;
  TileValue **args = ARENA_ARRAY(S->arena, TileValue *, values->len + 1);
  for (uint32_t i = 0; i < values->len; i++) {
    Span at = c->given->spans && i + 1 < c->given->npos ? c->given->spans[i + 1] : c->at;
    Value v = typed(S, values->data[i], at);
    if (v.kind == V_ERROR || !can_emit(S)) return value_error();
    args[i] = materialize(S, v, at);
  }
  if (!can_emit(S)) return value_error();
  TileOp *op = emit(S, TILE_PRINT, args, values->len, NULL, 0, c->at);
  tile_set_str(S->fn, op, TA_message, print_prefix(S, prefix.u.s, values->len > 0));
  if (hex) tile_set_int(S->fn, op, TA_hex, 1);
  return value_none();
}

/* ---- Python's print ---- */

static bool in_host_function(const Sema *S) { return S->frame->func && !S->frame->func->jit; }

/* `print` is device_print in a kernel, and static_print in a function that is evaluated at compile
 * time.  The code of decorators prints nothing. */
Value builtin_print(Sema *S, Call *c) {
  Value fn;
  Name space = pool_name(S->names, "triton.language"), name = pool_name(S->names, "device_print");
  if (S->host) return value_none();
  if (in_host_function(S)) {
    print_note(S, c, " ");
    return value_none();
  }
  BUG_IF(!language_get(S, space, name, &fn), "there is no device_print");
  return call_builtin(S, fn, c->given);
}
