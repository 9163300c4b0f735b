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
    return true;
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

static Node *table_input(OnnxCall *c, const char *function, DType t, bool parts) {
  Onnx *r = c->r;
  if (!r->strings) r->strings = table_size(c, "strings");
  Dim shape[] = {r->strings, parts ? table_size(c, "parts") : NULL};
  Node *n = graph_node(r->graph, NODE_INPUT, r->last_input ? r->last_input->next : r->graph->first,
                       0, 0);
  graph_fresh_name(r->graph, n, arena_printf(r->arena, "strings_%s", function));
  n->location = r->location;
  n->input.target = n->name;
  n->type = value_tensor(r->graph, t, 1 + parts, shape);
  return r->last_input = n;
}

void onnx_set_table(OnnxCall *c, const char *function, const char *arguments, DType t, bool parts) {
  Onnx *r = c->r;
  Node *x = onnx_in(c, 0);
  if (!c->in[0]->is_text) onnx_lack(c, "numbers in place of strings");
  Node *n = table_input(c, function, t, parts);
  OnnxTextTable table = {.input = n->name, .function = function, .arguments = arguments};
  Sources sources = {.r = r, .t = &table};
  bool all = find_sources(&sources, c->in[0], 0);
  vec_push(r->arena, &r->found->texts.tables, table);
  Arg list = arg_list(r->graph, 1);
  list.items[0] = arg_node(x);
  onnx_set(c, 0, build_with(&c->b, OP_aten_index_Tensor, n, list));
  if (!onnx_wants(c, 0)) return;
  c->out[0]->is_text = t == DT_I64;
  c->out[0]->is_padded = parts && !(all && table.of.len == 1);
  c->out[0]->table = n->name;
}
