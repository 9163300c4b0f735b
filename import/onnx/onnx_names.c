#include <ctype.h>
#include <string.h>

#include "graph/ir/python_words.h"
#include "import/onnx/onnx_read.h"

enum { NAME_MAX_BYTES = 200 };

/* Names that a graph's text reserves for tensors of the file: p_weight, b_mean, c_0. */
static bool looks_stored(const char *s) { return s[0] && strchr("pbc", s[0]) && s[1] == '_'; }

/* "layer.0/MatMul_output_0" is layer_0_MatMul_output_0. */
const char *onnx_identifier(Onnx *r, const char *name, const char *kind) {
  char *text = arena_alloc(r->arena, strnlen(name, NAME_MAX_BYTES) + 1);
  size_t n = 0;
  for (const char *p = name; *p && n < NAME_MAX_BYTES; p++) {
    bool word = python_is_word_char(*p);
    if (word) text[n++] = *p;
    else if (n && text[n - 1] != '_') text[n++] = '_';
  }
  while (n && text[n - 1] == '_') n--;
  text[n] = 0;
  if (!n || isdigit((unsigned char)*text) || looks_stored(text))
    return arena_printf(r->arena, n ? "%s_%s" : "%s", kind, text);
  return python_is_reserved(text) ? arena_printf(r->arena, "%s_1", text) : text;
}

const char *onnx_body_path(const OnnxCall *c, char kind) {
  const OnnxScope *s = c->scope;
  if (!s->path) return NULL;
  return arena_printf(c->r->arena, kind ? "%s%08x%c" : "%s%08x", s->path, s->at, kind);
}

const char *onnx_path_name(const Onnx *r, const OnnxScope *s, const char *name) {
  return *s->path ? arena_printf(r->scratch, "%s/%s", s->path, name) : name;
}
