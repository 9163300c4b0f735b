/* Faults of a file, and features that are not supported. */
#include <stdarg.h>
#include <string.h>

#include "import/messages.h"
#include "import/onnx/onnx_read.h"

bool onnx_error(Onnx *r, const char *where, const char *fmt, ...) {
  va_list ap;
  va_start(ap, fmt);
  diag_error(r->diags, r->location, "%s: %s", where, arena_vprintf(r->arena, fmt, ap));
  diag_format(r->diags, fmt);
  va_end(ap);
  return false;
}

void onnx_note_lack(Onnx *r, const char *what, const char *node) {
  for (size_t i = 0; i < r->lacks.len; i++) {
    if (strcmp(r->lacks.data[i].what, what)) continue;
    r->lacks.data[i].nodes++;
    return;
  }
  if (r->lacks.len < ONNX_LACKS_MAX) vec_push(r->scratch, &r->lacks, ((OnnxLack){what, node, 1}));
}

void onnx_note_unknown(Onnx *r, const char *what, const char *node) {
  r->found->unknown = true;
  onnx_note_lack(r, what, node);
}

/* The node's name, or that of its first result if it has none. */
const char *onnx_node_name(const Onnx__Node *n) {
  const char *name = onnx_text(n->name);
  return *name || !n->n_output ? name : onnx_text(n->output[0]);
}

const char *onnx_where(Onnx *r, const Onnx__Node *n) {
  return arena_printf(r->arena, "node %s (%s)", onnx_node_name(n), onnx_text(n->op_type));
}

/* ---- of a call ---- */

void onnx_lack_strings(OnnxCall *c) {
  c->r->has_strings = true;
  onnx_lack(c, "%s", E_ONNX_LACK_STRINGS);
}

void onnx_fail(OnnxCall *c, const char *fmt, ...) {
  va_list ap;
  va_start(ap, fmt);
  const char *text = arena_vprintf(c->r->arena, fmt, ap);
  va_end(ap);
  onnx_error(c->r, onnx_where(c->r, c->proto), "%s", text);
  diag_format(c->r->diags, fmt);
  c->told = true;
  longjmp(c->b.in.failed, 1);
}

void onnx_lack(OnnxCall *c, const char *fmt, ...) {
  va_list ap;
  va_start(ap, fmt);
  const char *text = arena_vprintf(c->r->arena, fmt, ap);
  va_end(ap);
  text = arena_printf(c->r->arena, "%s: %s", onnx_text(c->proto->op_type), text);
  onnx_note_lack(c->r, text, onnx_where(c->r, c->proto));
  longjmp(c->b.in.failed, 1);
}
