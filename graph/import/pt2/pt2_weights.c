#include <string.h>

#include "graph/import/pt2/pt2_read.h"
#include "graph/messages.h"

/* ---- tensors of the file ---- */

static bool whole_numbers(Pt2 *r, const Json *meta, const char *key, int64_t *out, size_t rank) {
  const Json *list = pt2_array(r, meta, key);
  if (!list) return false;
  if (json_length(list) != rank) return pt2_fail(r, E_GRAPH_PT2_STRIDES);
  for (size_t i = 0; i < rank; i++)
    if (!pt2_int(r, json_item(list, i), "as_int", &out[i])) return false;
  return true;
}

static bool read_tensor(Pt2 *r, Name name, const Json *meta, WeightBytes bytes) {
  ValueType type;
  int64_t shape[GRAPH_RANK_MAX], strides[GRAPH_RANK_MAX], offset;
  if (!pt2_tensor_type(r, meta, &type)) return false;
  if (type.kind != VALUE_TENSOR) return true;
  if (!whole_numbers(r, meta, "sizes", shape, type.rank)) return false;
  if (!whole_numbers(r, meta, "strides", strides, type.rank)) return false;
  const Json *start = pt2_object(r, meta, "storage_offset");
  if (!start || !pt2_int(r, start, "as_int", &offset)) return false;
  Weight w = {.name = name, .dtype = type.dtype, .rank = type.rank};
  w.shape = shape;
  w.strides = strides;
  return weights_add(r->weights, r->diags, r->place, w, offset, bytes);
}

/* One PayloadMeta: where the bytes are, and how they are laid out. */
static bool read_payload(Pt2 *r, const char *folder, Name name, const Json *payload) {
  bool pickled;
  const char *path = pt2_name(r, payload, "path_name");
  if (!path || !pt2_bool(r, payload, "use_pickle", &pickled)) return false;
  if (pickled) return pt2_lack(r, E_GRAPH_PT2_PICKLE);
  const Json *meta = pt2_object(r, payload, "tensor_meta");
  if (!meta) return false;
  const char *entry = arena_printf(r->arena, "%s%s%s", r->root, folder, path);
  const ArchiveEntry *e = archive_find(r->file, entry);
  if (!e) return pt2_fail(r, E_GRAPH_PT2_NO_BYTES, entry);
  return read_tensor(r, name, meta, (WeightBytes){e->data, e->size, e->name});
}

static bool read_config(Pt2 *r, const char *folder, const char *suffix) {
  const Json *file;
  const char *name = arena_printf(r->arena, "%s%s%s%s", r->root, folder, r->model, suffix);
  const ArchiveEntry *entry = archive_find(r->file, name);
  if (!entry) return true; /* tensors that are then missing are named */
  if (!pt2_parse(r, entry, &file)) return false;
  const Json *config = pt2_object(r, file, "config");
  if (!config) return false;
  for (uint32_t i = 0; i < config->n; i++) {
    const JsonMember *m = json_member(config, i);
    r->where = entry->name;
    Name tensor = pt2_check_name(r, "config", m->key);
    if (!tensor) return false;
    r->where = arena_printf(r->arena, "tensor %s", tensor);
    if (!read_payload(r, folder, tensor, &m->value)) return false;
  }
  pt2_close(r);
  return true;
}

bool pt2_weights(Pt2 *r) {
  return read_config(r, "data/weights/", "_weights_config.json") &&
         read_config(r, "data/constants/", "_constants_config.json");
}

/* ---- what takes them ---- */

static bool same_type(const Weight *w, const ValueType *t) {
  if (w->dtype != t->dtype || w->rank != t->rank) return false;
  for (uint32_t i = 0; i < w->rank; i++)
    if (!dim_is(t->shape[i], w->shape[i])) return false;
  return true;
}

static bool bind(Pt2 *r, const Node *n) {
  Weight *w = weights_find(r->weights, n->input.tensor);
  if (!w) {
    diag_error(r->diags, r->place, E_GRAPH_WEIGHT_MISSING, n->input.tensor, n->input.target);
    return false;
  }
  if (!same_type(w, &n->type)) {
    Text type = text_new(r->arena);
    value_type_print(&type, &n->type);
    diag_error(r->diags, r->place, E_GRAPH_WEIGHT_TYPE, w->name, n->input.target, type.data);
    return false;
  }
  weights_bind(r->weights, w, n->input.target);
  return true;
}

bool pt2_bind_weights(Pt2 *r) {
  bool ok = true;
  for (const Node *n = r->graph->first; n && n->kind == NODE_INPUT; n = n->next)
    if (n->input.kind != INPUT_USER) ok &= bind(r, n);
  return ok;
}
