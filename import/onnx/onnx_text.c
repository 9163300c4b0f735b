#include "import/onnx/onnx_text.h"

#include <string.h>

#include "import/onnx/onnx_read.h"

/* ---- the list ---- */

static int64_t number_of(Onnx *r, Name s) {
  void **slot = namemap_put(r->scratch, &r->texts, s);
  if (!*slot) {
    vec_push(r->arena, &r->found->texts.list, s);
    *slot = (void *)(uintptr_t)r->found->texts.list.len;
  }
  return (int64_t)(uintptr_t)*slot - 1;
}

static Name text_of_bytes(Onnx *r, ProtobufCBinaryData s) {
  bool good = !s.len || !memchr(s.data, 0, s.len);
  for (size_t i = 0, n; i < s.len && good; i += n)
    good = (n = utf8_length((const char *)s.data + i, s.len - i)) != 0;
  if (!good) onnx_note_unknown(r, "strings that are no UTF-8, or have bytes of 0", "the model");
  return good ? pool_namen(r->names, (const char *)s.data, s.len) : pool_name(r->names, "");
}

/* Lists of strings that become numbers; others are parameters of operators. */
static bool is_text_attribute(const char *name) {
  static const char suffix[] = "_strings";
  size_t n = strlen(name), m = sizeof suffix - 1;
  return n > m && !strcmp(name + n - m, suffix);
}

static void list_tensor(Onnx *r, const Onnx__Tensor *t) {
  for (size_t i = 0; t && t->data_type == ONNX_STRING && i < t->n_string_data; i++)
    number_of(r, text_of_bytes(r, t->string_data[i]));
}

static void list_nodes(Onnx *r, Onnx__Node *const *nodes, size_t n);

static void list_graph(Onnx *r, const Onnx__Graph *g) {
  for (size_t i = 0; i < g->n_initializer; i++) list_tensor(r, g->initializer[i]);
  list_nodes(r, g->node, g->n_node);
}

static void list_nodes(Onnx *r, Onnx__Node *const *nodes, size_t n) {
  for (size_t i = 0; i < n; i++)
    for (size_t k = 0; k < nodes[i]->n_attribute; k++) {
      const Onnx__Attribute *a = nodes[i]->attribute[k];
      list_tensor(r, a->t);
      if (a->g) list_graph(r, a->g);
      for (size_t j = 0; is_text_attribute(onnx_text(a->name)) && j < a->n_strings; j++)
        number_of(r, text_of_bytes(r, a->strings[j]));
    }
}

/* Numbers don't depend on the nodes that are read: another reading for other sizes has them. */
int64_t onnx_text_number(Onnx *r, ProtobufCBinaryData s) {
  if (!r->lists_texts) {
    r->lists_texts = true;
    list_graph(r, r->model->graph);
    for (size_t i = 0; i < r->model->n_functions; i++)
      list_nodes(r, r->model->functions[i]->node, r->model->functions[i]->n_node);
  }
  return number_of(r, text_of_bytes(r, s));
}

bool onnx_text_bytes(Onnx *r, const Onnx__Tensor *t, uint64_t n, WeightBytes *out) {
  size_t have = t->n_string_data;
  int64_t *numbers = have == n ? ARENA_ARRAY(r->arena, int64_t, n + 1) : NULL;
  for (uint64_t i = 0; numbers && i < n; i++) numbers[i] = onnx_text_number(r, t->string_data[i]);
  *out = (WeightBytes){(const uint8_t *)numbers, have * sizeof *numbers, "the model"};
  return true;
}

/* Results of operators that move strings are strings. */
void onnx_keep_text(OnnxCall *c, OnnxValue *v) {
  for (uint32_t i = 0; i < c->nin && c->op && c->op->text == TEXT_KEPT; i++) {
    v->is_text |= c->in[i] && c->in[i]->is_text;
    v->is_padded |= c->in[i] && c->in[i]->is_padded;
  }
}

/* ---- for callers ---- */

static void print_names(Text *out, const char *key, const Name *names, size_t n) {
  text_printf(out, "\"%s\": [", key);
  for (size_t i = 0; i < n; i++) {
    text_puts(out, i ? ", " : "");
    text_json(out, names[i]);
  }
  text_puts(out, "]");
}

static void print_output(Text *out, const OnnxTextOutput *o) {
  text_printf(out, "{\"place\": %u, \"strings\": %s", o->place, o->is_text ? "true" : "false");
  for (uint32_t i = 0; o->keys && i < o->keys->n; i++)
    text_printf(out, "%s%lld", i ? ", " : o->keys->is_text ? ", \"named\": [" : ", \"keys\": [",
                (long long)o->keys->at[i]);
  text_puts(out, o->keys ? "]}" : "}");
}

static void print_table(Text *out, const OnnxTextTable *t) {
  text_puts(out, "{\"name\": ");
  text_json(out, t->input);
  text_printf(out, ", \"function\": \"%s\"%s, \"file\": %s, ", t->function, t->arguments,
              t->of_file ? "true" : "false");
  print_names(out, "of", t->of.data, t->of.len);
  text_puts(out, "}");
}

void onnx_print_texts(Text *out, const OnnxTexts *t) {
  if (!onnx_has_texts(t)) {
    text_puts(out, "{}\n");
    return;
  }
  text_puts(out, "{");
  print_names(out, "strings", t->list.data, t->list.len);
  text_puts(out, ",\n ");
  print_names(out, "inputs", t->inputs.data, t->inputs.len);
  text_puts(out, ",\n \"outputs\": [");
  for (size_t i = 0; i < t->outputs.len; i++) {
    text_puts(out, i ? ", " : "");
    print_output(out, &t->outputs.data[i]);
  }
  text_puts(out, "],\n \"tables\": [");
  for (size_t i = 0; i < t->tables.len; i++) {
    text_puts(out, i ? ",\n  " : "");
    print_table(out, &t->tables.data[i]);
  }
  text_puts(out, "]}\n");
}
