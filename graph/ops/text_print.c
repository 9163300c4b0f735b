#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "graph/ops/graph_text.h"
#include "graph/ops/ops.h"

/* ---- dtypes ---- */

static const struct {
  DType dtype;
  const char *torch, *fx;
} dtypes[] = {
    {DT_I1, "bool", "b8"},      {DT_U8, "uint8", "u8"},
    {DT_I8, "int8", "i8"},      {DT_U16, "uint16", "u16"},
    {DT_I16, "int16", "i16"},   {DT_U32, "uint32", "u32"},
    {DT_I32, "int32", "i32"},   {DT_U64, "uint64", "u64"},
    {DT_I64, "int64", "i64"},   {DT_F8E5, "float8_e5m2", "f8e5m2"},
    {DT_F16, "float16", "f16"}, {DT_F8E4NV, "float8_e4m3fn", "f8e4m3fn"},
    {DT_F32, "float32", "f32"}, {DT_BF16, "bfloat16", "bf16"},
    {DT_F64, "float64", "f64"},
};

enum { DTYPES = sizeof dtypes / sizeof *dtypes };

static bool equals_name(const char *s, const char *name, size_t len) {
  return strlen(s) == len && !memcmp(s, name, len);
}

const char *dtype_torch_name(DType t) {
  for (int i = 0; i < DTYPES; i++)
    if (dtypes[i].dtype == t) return dtypes[i].torch;
  return "unknown";
}

/* FX's short name, "b8", and the dtype of one. */
static const char *dtype_fx_name(DType t) {
  for (int i = 0; i < DTYPES; i++)
    if (dtypes[i].dtype == t) return dtypes[i].fx;
  return "unknown";
}

DType dtype_from_torch(const char *name, size_t len) {
  for (int i = 0; i < DTYPES; i++)
    if (equals_name(dtypes[i].torch, name, len)) return dtypes[i].dtype;
  return DT_NONE;
}

DType dtype_from_fx(const char *name, size_t len) {
  for (int i = 0; i < DTYPES; i++)
    if (equals_name(dtypes[i].fx, name, len)) return dtypes[i].dtype;
  return DT_NONE;
}

static const struct {
  DType part;
  const char *torch, *fx;
} complex_dtypes[] = {{DT_F32, "complex64", "c64"}, {DT_F64, "complex128", "c128"}};

enum { COMPLEX_DTYPES = sizeof complex_dtypes / sizeof *complex_dtypes };

DType complex_from_torch(const char *name, size_t len) {
  for (int i = 0; i < COMPLEX_DTYPES; i++)
    if (equals_name(complex_dtypes[i].torch, name, len)) return complex_dtypes[i].part;
  return DT_NONE;
}

DType complex_from_fx(const char *name, size_t len) {
  for (int i = 0; i < COMPLEX_DTYPES; i++)
    if (equals_name(complex_dtypes[i].fx, name, len)) return complex_dtypes[i].part;
  return DT_NONE;
}

const char *value_dtype_name(const ValueType *t) {
  for (int i = 0; t->is_complex && i < COMPLEX_DTYPES; i++)
    if (complex_dtypes[i].part == t->dtype) return complex_dtypes[i].fx;
  return dtype_fx_name(t->dtype);
}

/* ---- arguments ---- */

/* The fewest digits that read back the same, and the power of ten of the first. */
static int shortest(double v, char digits[32], int *exponent) {
  char s[40];
  for (int n = 0; n < 17; n++) {
    snprintf(s, sizeof s, "%.*e", n, v);
    if (strtod(s, NULL) == v) break;
  }
  int count = 0;
  char *p = s;
  for (; *p != 'e'; p++)
    if (*p >= '0' && *p <= '9') digits[count++] = *p;
  *exponent = atoi(p + 1);
  return count;
}

/* Prints a float as Python's repr does. */
static void print_python_float(Text *out, double v) {
  if (isnan(v)) {
    text_puts(out, "nan");
    return;
  }
  if (signbit(v)) text_puts(out, "-");
  if (isinf(v)) {
    text_puts(out, "inf");
    return;
  }
  char d[32];
  int exponent, n = shortest(fabs(v), d, &exponent);
  if (exponent < -4 || exponent >= 16) {
    text_putn(out, d, 1);
    if (n > 1) text_puts(out, ".");
    text_putn(out, d + 1, (size_t)n - 1);
    text_printf(out, "e%c%02d", exponent < 0 ? '-' : '+', abs(exponent));
    return;
  }
  for (int i = exponent < 0 ? exponent : 0; i < n || i <= exponent + 1; i++) {
    if (i == exponent + 1) text_puts(out, ".");
    text_putn(out, i < 0 || i >= n ? "0" : &d[i], 1);
  }
}

static void print_python_string(Text *out, const char *s) {
  bool twice = strchr(s, '\'') && !strchr(s, '"');
  char quote = twice ? '"' : '\'';
  text_putn(out, &quote, 1);
  for (; *s; s++)
    if (*s == '\n') text_puts(out, "\\n");
    else if (*s == '\t') text_puts(out, "\\t");
    else if (*s == '\r') text_puts(out, "\\r");
    else if (*s == '\\' || *s == quote) text_printf(out, "\\%c", *s);
    else if ((unsigned char)*s < 32) text_printf(out, "\\x%02x", *s);
    else text_putn(out, s, 1);
  text_putn(out, &quote, 1);
}

static void print_arg_items(Text *out, const Arg *a) {
  text_puts(out, a->tuple ? "(" : "[");
  for (uint32_t i = 0; i < a->n; i++) {
    if (i) text_puts(out, ", ");
    arg_print(out, &a->items[i]);
  }
  text_puts(out, a->tuple ? (a->n == 1 ? ",)" : ")") : "]");
}

static void print_device_arg(Text *out, const Arg *a) {
  text_printf(out, "device(type='%s'", a->device.type);
  if (a->device.index >= 0) text_printf(out, ", index=%d", a->device.index);
  text_puts(out, ")");
}

void arg_print(Text *out, const Arg *a) {
  switch (a->kind) {
    case ARG_NONE: text_puts(out, "None"); return;
    case ARG_NODE: text_puts(out, a->node->name); return;
    case ARG_INT: dim_print(out, a->dim); return;
    case ARG_FLOAT: print_python_float(out, a->number); return;
    case ARG_BOOL: text_puts(out, a->flag ? "True" : "False"); return;
    case ARG_STRING: print_python_string(out, a->name); return;
    case ARG_DTYPE:
    case ARG_LAYOUT:
    case ARG_FORMAT: text_printf(out, "torch.%s", a->name); return;
    case ARG_DEVICE: print_device_arg(out, a); return;
    case ARG_LIST: print_arg_items(out, a); return;
  }
}

/* ---- types ---- */

void value_type_print(Text *out, const ValueType *t) {
  if (t->kind == VALUE_TENSOR) {
    text_printf(out, "%s[", value_dtype_name(t));
    for (uint32_t i = 0; i < t->rank; i++) {
      if (i) text_puts(out, ", ");
      dim_print(out, t->shape[i]);
    }
    text_puts(out, "]");
  } else if (t->kind == VALUE_INT && t->value) {
    text_puts(out, "Sym(");
    dim_print(out, t->value);
    text_puts(out, ")");
  } else if ((t->kind == VALUE_FLOAT || t->kind == VALUE_BOOL) && t->symbolic) {
    text_printf(out, "Sym(%s)", t->symbolic);
  }
}

static void print_annotation(Text *out, const ValueType *t) {
  size_t before = out->len;
  text_puts(out, ": \"");
  size_t start = out->len;
  value_type_print(out, t);
  if (out->len > start) {
    text_puts(out, "\"");
  } else {
    out->len = before;
    out->data[before] = 0;
  }
}

/* ---- deletions: a name is set to None after its last use, or at once if it has none ---- */

typedef struct {
  Arena *scratch;
  Node **last_user; /* by id */
  uint32_t *uses;   /* by id */
  Node *user;       /* whose uses are walked */
  Text *out;
  uint32_t n; /* names printed so far */
} Deletions;

static void note_last_user(Node **use, void *ctx) {
  Deletions *d = ctx;
  d->last_user[(*use)->id] = d->user;
  d->uses[(*use)->id]++;
}

static void delete_name(Deletions *d, Node *n) {
  text_puts(d->out, d->n++ ? " = " : ";  ");
  text_puts(d->out, n->name);
}

static void delete_use(Node **use, void *ctx) {
  Deletions *d = ctx;
  if (d->last_user[(*use)->id] != d->user) return;
  d->last_user[(*use)->id] = NULL; /* named twice, deleted once */
  delete_name(d, *use);
}

static void print_deletions(Deletions *d, Node *n) {
  d->user = n;
  d->n = 0;
  graph_each_use(n, delete_use, d);
  if (d->uses[n->id] == 0) delete_name(d, n);
  text_puts(d->out, d->n ? " = None\n" : "\n");
}

/* ---- the body ---- */

static const char BODY[] = "        ";

typedef struct {
  OpId op;
  const char *text;
} Infix;

/* FX writes functions of module operator as operators. */
static const Infix infixes[] = {
    {OP__operator_add, "+"},  {OP__operator_sub, "-"},       {OP__operator_mul, "*"},
    {OP__operator_mod, "%"},  {OP__operator_floordiv, "//"}, {OP__operator_truediv, "/"},
    {OP__operator_eq, "=="},  {OP__operator_ne, "!="},       {OP__operator_lt, "<"},
    {OP__operator_le, "<="},  {OP__operator_gt, ">"},        {OP__operator_ge, ">="},
    {OP__operator_pow, "**"}, {OP__operator_and_, "&"},      {OP__operator_or_, "|"},
    {OP__operator_lshift, "<<"}, {OP__operator_rshift, ">>"},
};

static const char *infix_of(const Node *n) {
  for (size_t i = 0; i < sizeof infixes / sizeof *infixes && n->nargs == 2; i++)
    if (infixes[i].op == n->op->id) return infixes[i].text;
  return NULL;
}

/* library.name.overload, or an operator of a model in ONNX's format; not math.ceil. */
static bool is_library_op(const char *target) {
  static const char OURS[] = "nereid";
  const char *dot = strchr(target, '.');
  bool ours = dot && (size_t)(dot - target) == strlen(OURS) && !strncmp(target, OURS, strlen(OURS));
  bool overload = dot && strchr(dot + 1, '.') && !ours;
  return overload || strchr(target, ':');
}

static void print_node_call(Text *out, const Node *n) {
  const char *target = n->op->target;
  text_printf(out, "%s%s(", is_library_op(target) ? "torch.ops." : "", target);
  for (uint32_t i = 0; i < n->nargs; i++) {
    if (i) text_puts(out, ", ");
    arg_print(out, &n->args[i]);
  }
  for (uint32_t i = 0; i < n->nnamed; i++) {
    if (i || n->nargs) text_puts(out, ", ");
    text_printf(out, "%s = ", n->named[i].name);
    arg_print(out, &n->named[i].value);
  }
  text_puts(out, ")");
}

static bool is_negated_number(const Node *n) {
  return n->kind == NODE_CALL && n->nargs == 1 && n->op->id == OP__operator_neg;
}

static void print_node_value(Text *out, const Node *n) {
  if (is_negated_number(n)) {
    text_puts(out, "-");
    arg_print(out, &n->args[0]);
    return;
  }
  const char *infix = n->kind == NODE_CALL ? infix_of(n) : NULL;
  bool getitem = n->kind == NODE_GETITEM;
  if (!infix && !getitem) {
    print_node_call(out, n);
    return;
  }
  arg_print(out, &n->args[0]);
  if (infix) text_printf(out, " %s ", infix);
  else text_puts(out, "[");
  arg_print(out, &n->args[1]);
  if (getitem) text_puts(out, "]");
}

void graph_print_node(Text *out, const Node *n) {
  text_puts(out, n->name);
  print_annotation(out, &n->type);
  text_puts(out, " = ");
  print_node_value(out, n);
}

/* The comment before a node whose origin differs from that of the node before. */
static void print_node_origin(Text *out, const Node *n, const char **last, bool first) {
  const char *origin = n->origin ? n->origin : "";
  if (*last && !strcmp(*last, origin)) return;
  *last = origin;
  if (!first) text_puts(out, "\n");
  text_printf(out, "%s# %s\n", BODY, *origin ? origin : "No stacktrace found for following nodes");
}

static void print_parameters(Text *out, const Graph *g) {
  for (const Node *n = g->first; n; n = n->next) {
    if (n->kind != NODE_INPUT) continue;
    text_printf(out, ", %s", n->input.target);
    print_annotation(out, &n->type);
  }
}

/* `input_1 = input`: a node can't always have its parameter's name. */
static bool print_renamed(Text *out, const Graph *g) {
  bool any = false;
  for (const Node *n = g->first; n; n = n->next) {
    if (n->kind != NODE_INPUT || n->input.target == n->name) continue;
    text_printf(out, "%s%s = %s\n", BODY, n->name, n->input.target);
    any = true;
  }
  return any;
}

static void print_graph_body(Text *out, const Graph *g, Arena *scratch) {
  Deletions d = {.out = out};
  d.last_user = ARENA_ARRAY(scratch, Node *, g->nids);
  d.uses = ARENA_ARRAY(scratch, uint32_t, g->nids);
  for (Node *n = g->first; n; n = n->next) graph_each_use((d.user = n), note_last_user, &d);
  bool first = !print_renamed(out, g);
  const char *origin = NULL;
  for (Node *n = g->first; n; n = n->next) {
    if (n->kind == NODE_INPUT) continue;
    if (n->kind == NODE_OUTPUT) {
      text_printf(out, "%sreturn ", BODY);
      arg_print(out, &n->args[0]);
      text_puts(out, "\n");
      return;
    }
    print_node_origin(out, n, &origin, first);
    first = false;
    text_puts(out, BODY);
    graph_print_node(out, n);
    print_deletions(&d, n);
  }
}

void graph_print(Text *out, const Graph *g) {
  Arena *scratch = arena_child(g->arena);
  text_printf(out, "class %s(torch.nn.Module):\n    def forward(self", g->class_name);
  print_parameters(out, g);
  text_puts(out, "):\n");
  print_graph_body(out, g, scratch);
  arena_free(scratch);
}
