/* Strings as rules see them: attributes, labels, and functions that callers compute. */
#include <string.h>

#include "import/messages.h"
#include "import/onnx/onnx_read.h"

static ProtobufCBinaryData bytes_of(const char *s) {
  return (ProtobufCBinaryData){strlen(s), (uint8_t *)(uintptr_t)s};
}

/* ---- of a call ---- */

int64_t onnx_call_text(OnnxCall *c, const char *s) { return onnx_text_number(c->r, bytes_of(s)); }

const int64_t *onnx_texts(OnnxCall *c, const char *name, uint32_t *n) {
  const char *const *list = onnx_strings(c, name, n);
  int64_t *numbers = list ? ARENA_ARRAY(c->r->arena, int64_t, *n + 1) : NULL;
  for (uint32_t i = 0; i < *n; i++) numbers[i] = onnx_call_text(c, list[i]);
  return numbers;
}

void onnx_set_text(OnnxCall *c, uint32_t i) {
  if (onnx_wants(c, i)) c->out[i]->is_text = true;
}

const int64_t *onnx_labels(OnnxCall *c, const char *ints, const char *strings, uint32_t *n) {
  const int64_t *labels = onnx_has_attr(c, strings) ? onnx_texts(c, strings, n) : NULL;
  if (labels && *n) onnx_set_text(c, 0);
  return labels && *n ? labels : onnx_ints(c, ints, n);
}

/* Operators that take strings for other values get none of them. */
void onnx_check_texts(OnnxCall *c) {
  bool any = false, padded = false;
  for (uint32_t i = 0; i < c->nin; i++) {
    const OnnxValue *v = c->in[i];
    if (v && v->keys) onnx_lack(c, "maps");
    any |= v && v->is_text;
    padded |= v && v->is_padded;
  }
  bool moves = c->op->id == ONNX_Flatten || c->op->id == ONNX_Identity;
  if (any && c->op->text == TEXT_REFUSED) onnx_lack_strings(c);
  if (padded && !moves && c->op->id != ONNX_TfIdfVectorizer)
    onnx_lack(c, "%s", E_ONNX_LACK_PARTS);
}

/* ---- tables ---- */

static bool moves_all(OnnxOpId id) {
  return id == ONNX_Flatten || id == ONNX_Identity || id == ONNX_Reshape || id == ONNX_Squeeze ||
         id == ONNX_Transpose || id == ONNX_Unsqueeze || id == ONNX_Concat;
}

typedef struct {
  Onnx *r;
  OnnxTextTable *t;
  VEC(const OnnxValue *) seen;
} Sources;

/* A value behind too many operators may be any string. */
static void add_all_sources(Sources *s) {
  const OnnxTexts *all = &s->r->found->texts;
  for (size_t i = 0; i < all->inputs.len; i++)
    vec_push(s->r->arena, &s->t->of, all->inputs.data[i]);
  for (size_t i = 0; i < all->tables.len; i++)
    vec_push(s->r->arena, &s->t->of, all->tables.data[i].input);
  s->t->of_file = true;
}

/* Adds the inputs and tables from which v has its strings; false if it may lack some of them. */
static bool find_sources(Sources *s, const OnnxValue *v, unsigned depth) {
  enum { DEEPEST = 100 };
  Name from = v->input ? v->input->name : v->table;
  for (size_t i = 0; i < s->seen.len; i++)
    if (s->seen.data[i] == v) return true;
  vec_push(s->r->scratch, &s->seen, v);
  if (from) {
    bool found = false;
    for (size_t i = 0; i < s->t->of.len; i++) found |= s->t->of.data[i] == from;
    if (!found) vec_push(s->r->arena, &s->t->of, from);
    s->t->of_file |= v->is_chosen;
    return !v->is_chosen;
  }
  const OnnxCall *c = v->maker;
  bool all = c && c->op && moves_all(c->op->id), any = false;
  for (uint32_t i = 0; c && i < c->nin && depth < DEEPEST; i++)
    if (c->in[i] && c->in[i]->is_text) {
      any = true;
      all &= find_sources(s, c->in[i], depth + 1);
    }
  if (any) return all;
  if (depth == DEEPEST) add_all_sources(s);
  s->t->of_file = true;
  return false;
}

/* A size of tables, open: the strings of the run, or the parts of one. */
static Dim table_size(OnnxCall *c, const char *wish) {
  Dims *dims = c->r->graph->dims;
  Name name = pool_name(c->r->names, wish);
  for (unsigned k = 1; dims_symbol_named(dims, name); k++)
    name = pool_name(c->r->names, arena_printf(c->r->arena, "%s_%u", wish, k));
  return dim_symbol(dims, name);
}

static Dim all_strings(OnnxCall *c) {
  if (!c->r->strings) c->r->strings = table_size(c, "strings");
  return c->r->strings;
}

/* `parts`: the size of a further axis, or NULL. */
static Node *table_input(OnnxCall *c, const char *function, DType t, Dim rows, Dim parts) {
  Onnx *r = c->r;
  Dim shape[] = {rows, parts};
  Node *n = graph_node(r->graph, NODE_INPUT, r->last_input ? r->last_input->next : r->graph->first,
                       0, 0);
  graph_fresh_name(r->graph, n, arena_printf(r->arena, "strings_%s", function));
  n->location = r->location;
  n->input.target = n->name;
  n->type = value_tensor(r->graph, t, parts ? 2 : 1, shape);
  return r->last_input = n;
}

typedef struct {
  Node *input;
  OnnxTextTable facts;
  bool exact; /* the strings that it is filled for are those that the value has */
} NewTable;

/* A table with a row for each string, filled for those of a value. */
static NewTable table_of_value(OnnxCall *c, const OnnxValue *v, const char *function,
                               const char *arguments, DType t, bool parts) {
  Onnx *r = c->r;
  if (!v->is_text) onnx_lack(c, "numbers in place of strings");
  NewTable n = {.input = table_input(c, function, t, all_strings(c),
                                     parts ? table_size(c, "parts") : NULL)};
  n.facts =
      (OnnxTextTable){.input = n.input->name, .function = function, .arguments = arguments};
  Sources sources = {.r = r, .t = &n.facts};
  n.exact = find_sources(&sources, v, 0) && n.facts.of.len == 1;
  vec_push(r->arena, &r->found->texts.tables, n.facts);
  return n;
}

static Node *rows_of(OnnxCall *c, Node *table, Node *x, Node *y) {
  Arg list = arg_list(c->r->graph, y ? 2 : 1);
  list.items[0] = arg_node(x);
  if (y) list.items[1] = arg_node(y);
  return build_with(&c->b, OP_aten_index_Tensor, table, list);
}

Node *onnx_table_rows(OnnxCall *c, uint32_t i, const char *function, const char *arguments,
                      DType t) {
  Node *x = onnx_in(c, i);
  return rows_of(c, table_of_value(c, c->in[i], function, arguments, t, false).input, x, NULL);
}

/* Numbers of the left strings and of the right ones, by each of two tables, are row and column of a
 * third. */
void onnx_set_joined_texts(OnnxCall *c) {
  Onnx *r = c->r;
  Node *x[] = {onnx_in(c, 0), onnx_in(c, 1)};
  Name places[2];
  for (uint32_t i = 0; i < 2; i++) {
    NewTable t = table_of_value(c, c->in[i], "places", "", DT_I64, false);
    places[i] = t.facts.input;
    x[i] = rows_of(c, t.input, x[i], NULL);
  }
  Node *pairs =
      table_input(c, "pairs", DT_I64, table_size(c, "left"), table_size(c, "right"));
  OnnxTextTable table = {.input = pairs->name, .function = "pairs"};
  table.arguments = arena_printf(r->arena, ", \"left\": \"%s\", \"right\": \"%s\"", places[0],
                                 places[1]);
  vec_push(r->arena, &r->found->texts.tables, table);
  onnx_set(c, 0, rows_of(c, pairs, x[0], x[1]));
  if (!onnx_wants(c, 0)) return;
  c->out[0]->is_text = c->out[0]->is_chosen = true;
  c->out[0]->table = pairs->name;
}

void onnx_set_table(OnnxCall *c, const char *function, const char *arguments, DType t, bool parts) {
  Node *x = onnx_in(c, 0);
  NewTable n = table_of_value(c, c->in[0], function, arguments, t, parts);
  onnx_set(c, 0, rows_of(c, n.input, x, NULL));
  if (!onnx_wants(c, 0)) return;
  c->out[0]->is_text = t == DT_I64;
  c->out[0]->is_padded = parts && !n.exact;
  c->out[0]->table = n.facts.input;
}
