/* Expressions as source text, with the parentheses that they need. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "parser/ast.h"

/* How tightly a form binds; an operand that binds less gets parentheses. */
typedef enum {
  P_LOWEST, /* walrus, yield, tuples without parentheses */
  P_TEST,   /* lambda, if-else */
  P_OR,
  P_AND,
  P_NOT,
  P_COMPARE,
  P_BITOR,
  P_XOR,
  P_BITAND,
  P_SHIFT,
  P_SUM,
  P_TERM,
  P_UNARY,
  P_POWER,
  P_AWAIT,
  P_PRIMARY
} Prec;

static void show(Text *out, const Expr *e, Prec least);

const char *ast_op_text(AstOp op) {
  static const char *const texts[] = {
      [OP_ADD] = "+",         [OP_SUB] = "-", [OP_MUL] = "*",        [OP_DIV] = "/",
      [OP_FLOORDIV] = "//",   [OP_MOD] = "%", [OP_POW] = "**",       [OP_MATMUL] = "@",
      [OP_AND] = "&",         [OP_OR] = "|",  [OP_XOR] = "^",        [OP_SHL] = "<<",
      [OP_SHR] = ">>",        [OP_NEG] = "-", [OP_POS] = "+",        [OP_INVERT] = "~",
      [OP_NOT] = "not",       [OP_LT] = "<",  [OP_LE] = "<=",        [OP_GT] = ">",
      [OP_GE] = ">=",         [OP_EQ] = "==", [OP_NE] = "!=",        [OP_IS] = "is",
      [OP_IS_NOT] = "is not", [OP_IN] = "in", [OP_NOT_IN] = "not in"};
  return texts[op];
}

static Prec binary_prec(AstOp op) {
  switch (op) {
    case OP_OR: return P_BITOR;
    case OP_XOR: return P_XOR;
    case OP_AND: return P_BITAND;
    case OP_SHL:
    case OP_SHR: return P_SHIFT;
    case OP_ADD:
    case OP_SUB: return P_SUM;
    case OP_POW: return P_POWER;
    default: return P_TERM;
  }
}

/* The string is printed in quotes.  A NUL is c0 80 in a Name. */
void print_string(Text *out, Name s) {
  Text quoted = text_new(out->arena);
  text_quote(&quoted, s);
  const char *nul, *p = quoted.data;
  for (; (nul = strstr(p, "\xc0\x80")); p = nul + 2) {
    text_putn(out, p, (size_t)(nul - p));
    text_puts(out, "\\x00");
  }
  text_puts(out, p);
}

static Prec prec_of(const Expr *e) {
  switch (e->kind) {
    case EX_WALRUS: return P_LOWEST;
    case EX_AWAIT: return strcmp(e->name, "await") ? P_LOWEST : P_AWAIT;
    case EX_LAMBDA:
    case EX_IFEXP: return P_TEST;
    case EX_OR: return P_OR;
    case EX_AND: return P_AND;
    case EX_COMPARE: return P_COMPARE;
    case EX_STARRED: return P_TEST;
    case EX_UNARY: return e->op == OP_NOT ? P_NOT : P_UNARY;
    case EX_BINARY: return binary_prec(e->op);
    default: return P_PRIMARY;
  }
}

static void show_items(Text *out, ExprList items) {
  for (uint32_t i = 0; i < items.len; i++) {
    if (i) text_puts(out, ", ");
    show(out, items.data[i], P_LOWEST);
  }
}

static void show_dict(Text *out, ExprList items) {
  text_puts(out, "{");
  for (uint32_t i = 0; i < items.len; i += 2) {
    if (i) text_puts(out, ", ");
    text_puts(out, items.data[i] ? "" : "**");
    if (items.data[i]) {
      show(out, items.data[i], P_TEST);
      text_puts(out, ": ");
    }
    show(out, items.data[i + 1], items.data[i] ? P_TEST : P_BITOR);
  }
  text_puts(out, "}");
}

static void show_comp(Text *out, const Expr *e) {
  char close = e->bracket == '(' ? ')' : e->bracket == '[' ? ']' : '}';
  text_putn(out, &e->bracket, 1);
  show(out, e->a, P_LOWEST);
  if (e->b) {
    text_puts(out, ": ");
    show(out, e->b, P_TEST);
  }
  for (uint32_t i = 0; i < e->nfors; i++) {
    const CompFor *f = &e->fors[i];
    text_puts(out, " for ");
    show(out, f->target, P_BITOR);
    text_puts(out, " in ");
    show(out, f->iter, P_OR);
    for (uint32_t k = 0; k < f->conds.len; k++) {
      text_puts(out, " if ");
      show(out, f->conds.data[k], P_OR);
    }
  }
  text_putn(out, &close, 1);
}

static void show_call(Text *out, const Expr *e) {
  show(out, e->a, P_PRIMARY);
  bool generator = e->nargs == 1 && !e->args[0].name && e->args[0].value->kind == EX_COMP &&
                   e->args[0].value->bracket == '(';
  if (!generator) text_puts(out, "(");
  for (uint32_t i = 0; i < e->nargs; i++) {
    const CallArg *a = &e->args[i];
    if (i) text_puts(out, ", ");
    if (a->name && !strcmp(a->name, "**")) text_puts(out, "**");
    else if (a->name) text_printf(out, "%s=", a->name);
    show(out, a->value, a->name ? P_TEST : P_LOWEST);
  }
  if (!generator) text_puts(out, ")");
}

/* `name: annotation = default` */
static void print_param(Text *out, const Param *a) {
  text_puts(out, a->kind == PARAM_STAR ? "*" : a->kind == PARAM_STARSTAR ? "**" : "");
  text_puts(out, a->name);
  if (a->annotation) {
    text_puts(out, ": ");
    ast_print_expr(out, a->annotation);
  }
  if (a->dflt) {
    text_puts(out, a->annotation ? " = " : "=");
    show(out, a->dflt, P_TEST);
  }
}

static void show_lambda(Text *out, const Expr *e) {
  text_puts(out, e->params.len ? "lambda " : "lambda");
  bool star = false;
  for (uint32_t i = 0; i < e->params.len; i++) {
    const Param *a = &e->params.data[i];
    if (i) text_puts(out, ", ");
    if (a->keyword_only && !star) text_puts(out, "*, ");
    star |= a->kind == PARAM_STAR || a->keyword_only;
    print_param(out, a);
  }
  text_puts(out, ": ");
  show(out, e->a, P_TEST);
}

/* The text of an f-string between quotes, or of a format in one. */
static void show_fstring_items(Text *out, const Expr *e) {
  ExprList one = {(Expr **)&e, 1};
  ExprList items = e->kind == EX_FSTR ? e->items : one;
  for (uint32_t i = 0; i < items.len; i++) {
    const Expr *x = items.data[i];
    if (x->kind == EX_STR) {
      Text quoted = text_new(out->arena);
      print_string(&quoted, x->name);
      for (size_t k = 1; k + 1 < quoted.len; k++) {
        char c = quoted.data[k];
        if (c == '{' || c == '}') text_putn(out, &c, 1);
        text_putn(out, &c, 1);
      }
      continue;
    }
    text_puts(out, "{");
    show(out, x->a, P_OR);
    if (x->bracket) text_printf(out, "!%c", x->bracket);
    if (x->b) {
      text_puts(out, ":");
      show_fstring_items(out, x->b);
    }
    text_puts(out, "}");
  }
}

static void show_float(Text *out, double v) {
  char s[64];
  for (int digits = 15; digits <= 17; digits++) {
    snprintf(s, sizeof s, "%.*g", digits, v);
    if (strtod(s, NULL) == v) break;
  }
  for (char *p = s; *p; p++)
    if (*p == ',') *p = '.';
  text_puts(out, strcmp(s, "inf") ? s : "1e999");
  if (!strpbrk(s, ".ei")) text_puts(out, ".0");
}

static void show_tuple(Text *out, const Expr *e) {
  text_puts(out, "(");
  show_items(out, e->items);
  text_puts(out, e->items.len == 1 ? ",)" : ")");
}

/* Inside brackets a slice, or several of them, stand as they are. */
static void show_index(Text *out, const Expr *e) {
  if (e->kind != EX_TUPLE || !e->items.len) {
    show(out, e, P_LOWEST);
    return;
  }
  show_items(out, e->items);
  if (e->items.len == 1) text_puts(out, ",");
}

static void show_slice(Text *out, const Expr *e) {
  if (e->a) show(out, e->a, P_TEST);
  text_puts(out, ":");
  if (e->b) show(out, e->b, P_TEST);
  if (!e->c) return;
  text_puts(out, ":");
  show(out, e->c, P_TEST);
}

static void show_joined(Text *out, const Expr *e, const char *word, Prec least) {
  for (uint32_t i = 0; i < e->items.len; i++) {
    if (i) text_printf(out, " %s ", word ? word : ast_op_text(e->ops[i - 1]));
    show(out, e->items.data[i], least);
  }
}

static void show_binary(Text *out, const Expr *e) {
  Prec prec = binary_prec(e->op);
  bool power = e->op == OP_POW;
  show(out, e->a, power ? P_AWAIT : prec);
  text_printf(out, " %s ", ast_op_text(e->op));
  show(out, e->b, power ? P_UNARY : prec + 1);
}

static void show_attr(Text *out, const Expr *e) {
  bool number = e->a->kind == EX_INT || e->a->kind == EX_FLOAT;
  if (number) text_puts(out, "(");
  show(out, e->a, P_PRIMARY);
  text_printf(out, "%s.%s", number ? ")" : "", e->name);
}

static void show_unary(Text *out, const Expr *e) {
  text_puts(out, ast_op_text(e->op));
  if (e->op == OP_NOT) text_puts(out, " ");
  show(out, e->a, e->op == OP_NOT ? P_NOT : P_UNARY);
}

static void show_compound(Text *out, const Expr *e) {
  switch (e->kind) {
    case EX_UNARY: show_unary(out, e); break;
    case EX_BINARY: show_binary(out, e); break;
    case EX_COMPARE: show_joined(out, e, NULL, P_BITOR); break;
    case EX_AND: show_joined(out, e, "and", P_NOT); break;
    case EX_OR: show_joined(out, e, "or", P_AND); break;
    case EX_IFEXP:
      show(out, e->items.data[0], P_OR);
      text_puts(out, " if ");
      show(out, e->items.data[1], P_OR);
      text_puts(out, " else ");
      show(out, e->items.data[2], P_TEST);
      break;
    case EX_STARRED:
      text_puts(out, "*");
      show(out, e->a, P_BITOR);
      break;
    case EX_WALRUS:
      text_printf(out, "%s := ", e->name);
      show(out, e->a, P_TEST);
      break;
    case EX_AWAIT:
      text_printf(out, "%s%s", e->name, e->a ? " " : "");
      if (e->a) show(out, e->a, strcmp(e->name, "await") ? P_TEST : P_PRIMARY);
      break;
    case EX_LAMBDA: show_lambda(out, e); break;
    default: break;
  }
}

static void show_bare(Text *out, const Expr *e) {
  switch (e->kind) {
    case EX_NAME: text_puts(out, e->name); break;
    case EX_INT:
      if (e->big) text_puts(out, "<big integer>");
      else text_printf(out, "%llu", (unsigned long long)e->ival);
      break;
    case EX_FLOAT: show_float(out, e->fval); break;
    case EX_STR: print_string(out, e->name); break;
    case EX_FORMAT:
    case EX_FSTR:
      text_puts(out, "f\"");
      show_fstring_items(out, e);
      text_puts(out, "\"");
      break;
    case EX_TRUE: text_puts(out, "True"); break;
    case EX_FALSE: text_puts(out, "False"); break;
    case EX_NONE: text_puts(out, "None"); break;
    case EX_ELLIPSIS: text_puts(out, "..."); break;
    case EX_TUPLE: show_tuple(out, e); break;
    case EX_LIST:
    case EX_SET:
      text_puts(out, e->kind == EX_LIST ? "[" : "{");
      show_items(out, e->items);
      text_puts(out, e->kind == EX_LIST ? "]" : "}");
      break;
    case EX_DICT: show_dict(out, e->items); break;
    case EX_COMP: show_comp(out, e); break;
    case EX_CALL: show_call(out, e); break;
    case EX_ATTR: show_attr(out, e); break;
    case EX_SUBSCRIPT:
      show(out, e->a, P_PRIMARY);
      text_puts(out, "[");
      show_index(out, e->b);
      text_puts(out, "]");
      break;
    case EX_SLICE: show_slice(out, e); break;
    default: show_compound(out, e); break;
  }
}

static void show(Text *out, const Expr *e, Prec least) {
  bool paren = prec_of(e) < least;
  /* := and yield stand in parentheses wherever they may stand at all */
  if (prec_of(e) == P_LOWEST) paren = true;
  if (paren) text_puts(out, "(");
  show_bare(out, e);
  if (paren) text_puts(out, ")");
}

void ast_print_expr(Text *out, const Expr *e) { show_bare(out, e); }
