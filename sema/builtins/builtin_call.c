/* Calls of builtins: arguments are bound by the parameters that a row of the table states. */
#include <string.h>

#include "sema/messages.h"
#include "sema/value/builtins.h"
#include "sema/value/context.h"

enum { SIGNATURE_MAX = 12 };

typedef struct {
  Name names[SIGNATURE_MAX];
  Value defaults[SIGNATURE_MAX];
  uint32_t n;
  int rest;      /* the index of *name, or -1 */
  bool keywords; /* **kwargs: others are let through */
} Signature;

static Value parse_default(Sema *S, const char *s, size_t n) {
  if (n == 4 && !memcmp(s, "None", n)) return value_none();
  if (n == 4 && !memcmp(s, "True", n)) return value_bool(true);
  if (n == 5 && !memcmp(s, "False", n)) return value_bool(false);
  if (n == 2 && !memcmp(s, "()", n)) return value_tuple(S->arena, NULL, 0);
  if (s[0] == '\'') return value_str(pool_namen(S->names, s + 1, n - 2));
  if (memchr(s, '.', n)) return value_float(0);
  return value_int(s[0] - '0');
}

static const Signature *builtin_signature(Sema *S, const Builtin *fn) {
  const void **slot = &S->p->signatures[fn - builtin_table];
  if (*slot) return *slot;
  Signature *sig = ARENA_NEW(S->arena, Signature);
  sig->rest = -1;
  for (const char *p = fn->params; *p;) {
    size_t len = strcspn(p, ","), name = strcspn(p, "=,");
    if (p[0] == '*' && p[1] == '*') {
      sig->keywords = true;
    } else {
      BUG_IF(sig->n == SIGNATURE_MAX, "builtin %s has too many parameters", fn->name);
      bool star = p[0] == '*';
      if (star) sig->rest = (int)sig->n;
      sig->names[sig->n] = pool_namen(S->names, p + star, name - star);
      sig->defaults[sig->n++] =
          name < len ? parse_default(S, p + name + 1, len - name - 1) : value_of(V_ABSENT);
    }
    p += len;
    p += strspn(p, ", ");
  }
  *slot = sig;
  return sig;
}

static bool bind_positional(Sema *S, const Signature *sig, const CallArgs *args, const Value *self,
                            Call *c) {
  uint32_t given = args->npos + (self != NULL);
  Value *rest = NULL;
  if (sig->rest >= 0) {
    c->rest = value_tuple(S->arena, NULL, 0);
    rest = &c->rest;
  }
  uint32_t limit = rest ? (uint32_t)sig->rest : sig->n;
  for (uint32_t i = 0; i < given; i++) {
    Value v = self ? (i ? args->pos[i - 1] : *self) : args->pos[i];
    Span at = args->at;
    if (args->spans && (!self || i)) at = args->spans[i - (self != NULL)];
    if (i < limit) {
      c->args[i] = v;
      c->spans[i] = at;
    } else if (rest) {
      value_append(S->arena, rest->u.tuple, v);
    } else {
      sema_error(S, at, E_SEMA_ARG_COUNT, c->fn->name, sig->n - (self != NULL),
                 given - (self != NULL));
      return false;
    }
  }
  return true;
}

static bool bind_named(Sema *S, const Signature *sig, const CallArgs *args, Call *c) {
  for (uint32_t i = 0; i < args->nnamed; i++) {
    uint32_t k = 0;
    while (k < sig->n && sig->names[k] != args->names[i]) k++;
    if (k < sig->n && (int)k == sig->rest) {
      c->rest = value_tuple(S->arena, &args->named[i], 1);
    } else if (k < sig->n && c->args[k].kind == V_ABSENT) {
      c->args[k] = args->named[i];
      if (args->named_spans) c->spans[k] = args->named_spans[i];
    } else if (k < sig->n) {
      sema_error(S, args->at, E_SEMA_ARG_TWICE, c->fn->name, args->names[i]);
      return false;
    } else if (!sig->keywords && args->names[i][0] != '_') {
      sema_error(S, args->at, E_SEMA_ARG_UNKNOWN, c->fn->name, args->names[i]);
      Nearest n = {0};
      for (uint32_t j = 0; j < sig->n; j++) nearest_offer(&n, args->names[i], sig->names[j]);
      if (n.best) sema_hint(S, H_SEMA_NEAREST, n.best);
      return false;
    }
  }
  return true;
}

Value call_builtin(Sema *S, Value fn, const CallArgs *args) {
  const Signature *sig = builtin_signature(S, fn.u.builtin.fn);
  Value values[SIGNATURE_MAX];
  Span spans[SIGNATURE_MAX];
  Call c = {.args = values, .at = args->at, .spans = spans, .fn = fn.u.builtin.fn};
  c.given = args;
  for (uint32_t i = 0; i < sig->n; i++) {
    values[i] = value_of(V_ABSENT);
    spans[i] = args->at;
  }
  if (!bind_positional(S, sig, args, fn.u.builtin.self, &c) || !bind_named(S, sig, args, &c))
    return value_error();
  for (uint32_t i = 0; i < sig->n; i++) {
    if (values[i].kind != V_ABSENT || (int)i == sig->rest) continue;
    values[i] = sig->defaults[i];
    if (values[i].kind == V_ABSENT && strcmp(fn.u.builtin.fn->name, "getattr")) {
      sema_error(S, args->at, E_SEMA_ARG_MISSING, fn.u.builtin.fn->name, sig->names[i]);
      return value_error();
    }
  }
  return fn.u.builtin.fn->run(S, &c);
}
