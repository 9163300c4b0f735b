/* Tensors that torch.save has pickled, as it does tensor subclasses: torchao's quantized weights.
 *
 * The pickle is read as data (import/archives/pickle.h).  A subclass is a record with a dictionary
 * of its attributes; those that are tensors are all that the program may take out of it. */
#include <string.h>

#include "graph/ops/graph_text.h"
#include "import/archives/pickle.h"
#include "import/messages.h"
#include "import/pt2/pt2_read.h"

/* A subclass, or a tensor that one holds. */
typedef struct Pt2Subclass Subclass;
struct Pt2Subclass {
  Name attribute; /* of the subclass that holds it */
  Name weight;    /* NULL: it is a subclass itself */
  Node *input;
  VEC(Subclass *) parts;
};

enum { DEPTH_MAX = 8, PARTS_MAX = 256 }; /* of subclasses in subclasses; of tensors in one */

/* ---- names ---- */

#define REBUILD "torch._utils._rebuild_"
#define TYPED "torch._tensor._rebuild_from_type_v2"

static const char *const names[] = {
    REBUILD "tensor_v2",         REBUILD "tensor_v3",           REBUILD "parameter",
    REBUILD "wrapper_subclass",  REBUILD "parameter_with_state", TYPED,
    "torch.serialization._get_layout", "torch.device",          "torch.Size",
    "torch.storage.UntypedStorage", "torch.nn.parameter.Parameter", "torch.Tensor",
    "torch._tensor.Tensor",      "collections.OrderedDict"};

static const char *after(const char *s, const char *prefix) {
  size_t n = strlen(prefix);
  return strncmp(s, prefix, n) ? NULL : s + n;
}

/* torch's name of the dtype of elements in a storage: "int8" for "torch.CharStorage". */
static const char *dtype_of_storage(const char *name) {
  static const struct {
    const char *storage, *dtype;
  } rows[] = {{"torch.BFloat16Storage", "bfloat16"}, {"torch.BoolStorage", "bool"},
              {"torch.ByteStorage", "uint8"},        {"torch.CharStorage", "int8"},
              {"torch.DoubleStorage", "float64"},    {"torch.FloatStorage", "float32"},
              {"torch.HalfStorage", "float16"},      {"torch.IntStorage", "int32"},
              {"torch.LongStorage", "int64"},        {"torch.ShortStorage", "int16"}};
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
    if (!strcmp(rows[i].storage, name)) return rows[i].dtype;
  return NULL;
}

/* torch.float8_e4m3fn; also dtypes that we lack, of which attributes speak. */
static bool is_dtype(const char *name) {
  static const char *const kinds[] = {"float", "bfloat", "int", "uint", "bool", "complex", NULL};
  const char *dtype = after(name, "torch.");
  if (!dtype || strchr(dtype, '.')) return false;
  for (const char *const *kind = kinds; *kind; kind++)
    if (after(dtype, *kind)) return true;
  return false;
}

static bool is_known_name(const char *name) {
  for (size_t i = 0; i < sizeof names / sizeof *names; i++)
    if (!strcmp(names[i], name)) return true;
  return after(name, "torchao.") || dtype_of_storage(name) || is_dtype(name);
}

/* ---- tensors ---- */

typedef struct {
  const Archive *archive;
  const char *root; /* "archive/" */
  uint32_t parts;   /* found so far */
} Pickled;

/* The name of an element's dtype; NULL: there is none.  Storages of bytes have it apart. */
static const char *dtype_of_tensor(const PickleValue *args, const PickleValue *key) {
  enum { STORAGE_TYPE = 1, DTYPE = 6 };
  const PickleValue *type = pickle_item(key, STORAGE_TYPE), *dtype = pickle_item(args, DTYPE);
  if (!pickle_is(type, PICKLE_GLOBAL)) return NULL;
  const char *name = dtype_of_storage(type->string);
  return name || !pickle_is(dtype, PICKLE_GLOBAL) ? name : after(dtype->string, "torch.");
}

static const ArchiveEntry *find_storage(Pt2 *r, const Pickled *p, const PickleValue *key) {
  enum { KEY = 2 };
  const PickleValue *number = pickle_item(key, KEY);
  if (!pickle_is(number, PICKLE_STRING)) return NULL;
  return archive_find(p->archive, arena_printf(r->arena, "%sdata/%s", p->root, number->string));
}

/* The arguments of _rebuild_tensor_v2: (storage, offset, sizes, strides, ...). */
static bool add_tensor(Pt2 *r, const Pickled *p, Name name, const PickleValue *args) {
  enum { STORAGE, OFFSET, SIZES, STRIDES };
  int64_t shape[GRAPH_RANK_MAX], strides[GRAPH_RANK_MAX];
  const PickleValue *reference = pickle_item(args, STORAGE), *offset = pickle_item(args, OFFSET);
  const PickleValue *key = pickle_item(reference, 0);
  int rank = pickle_integers(pickle_item(args, SIZES), shape, GRAPH_RANK_MAX);
  int steps = pickle_integers(pickle_item(args, STRIDES), strides, GRAPH_RANK_MAX);
  const char *dtype = dtype_of_tensor(args, key);
  const ArchiveEntry *e = find_storage(r, p, key);
  bool ok = pickle_is(reference, PICKLE_REFERENCE) && pickle_is(offset, PICKLE_INT) && dtype && e;
  if (!ok || rank < 0 || rank != steps) return pt2_fail(r, E_GRAPH_PT2_PICKLED_TENSOR, name);
  Weight w = {.name = name, .rank = (uint32_t)rank, .shape = shape, .strides = strides};
  w.dtype = dtype_from_torch(dtype, strlen(dtype));
  w.mapped = archive_is_mapped(p->archive);
  if (w.dtype == DT_NONE) return pt2_lack(r, E_GRAPH_PT2_DTYPE, dtype);
  WeightBytes bytes = {e->data, e->size, e->name};
  return weights_add(r->weights, r->diags, r->location, w, offset->integer, bytes);
}

/* ---- records ---- */

/* The arguments of the record that makes a tensor; NULL: it makes none. */
static const PickleValue *plain_tensor(const PickleValue *v) {
  bool plain = pickle_calls(v, REBUILD "tensor_v2") || pickle_calls(v, REBUILD "tensor_v3");
  return plain ? pickle_item(v, 1) : NULL;
}

/* A parameter is what it wraps, which is no parameter. */
static const PickleValue *unwrapped(const PickleValue *v) {
  bool wraps =
      pickle_calls(v, REBUILD "parameter") || pickle_calls(v, REBUILD "parameter_with_state");
  return wraps ? pickle_item(pickle_item(v, 1), 0) : v;
}

/* The arguments of the record of a class: (function, class, its arguments, attributes). */
static const PickleValue *typed_tensor(const PickleValue *v) {
  return pickle_calls(v, TYPED) ? pickle_item(v, 1) : NULL;
}

/* The attributes may be with those of slots. */
static const PickleValue *attributes_of(const PickleValue *typed) {
  enum { ATTRIBUTES = 3 };
  const PickleValue *state = pickle_item(typed, ATTRIBUTES);
  if (pickle_is(state, PICKLE_LIST)) state = pickle_item(state, 0);
  return pickle_is(state, PICKLE_DICT) ? state : NULL;
}

static bool is_tensor_record(const PickleValue *v) {
  v = unwrapped(v);
  return plain_tensor(v) || typed_tensor(v);
}

static bool add_record(Pt2 *r, Pickled *p, Name name, const PickleValue *v, Subclass *to,
                       int depth);

static bool add_attributes(Pt2 *r, Pickled *p, Name name, const PickleValue *attributes,
                           Subclass *to, int depth) {
  for (size_t i = 0; i + 1 < attributes->items.len; i += 2) {
    const PickleValue *key = attributes->items.data[i], *value = attributes->items.data[i + 1];
    if (key->kind != PICKLE_STRING || !is_tensor_record(value)) continue;
    if (p->parts++ == PARTS_MAX) return pt2_fail(r, E_GRAPH_PT2_PICKLED_TENSOR, name);
    Subclass *part = ARENA_NEW(r->arena, Subclass);
    part->attribute = pt2_check_name(r, "attribute", key->string);
    if (!part->attribute) return false;
    if (!pt2_identifier(part->attribute))
      return pt2_fail(r, E_GRAPH_PT2_IDENTIFIER, part->attribute);
    Name of = pool_name(r->names, arena_printf(r->arena, "%s.%s", name, part->attribute));
    if (!add_record(r, p, of, value, part, depth + 1)) return false;
    vec_push(r->arena, &to->parts, part);
  }
  return true;
}

static bool add_record(Pt2 *r, Pickled *p, Name name, const PickleValue *v, Subclass *to,
                       int depth) {
  enum { FUNCTION, CLASS, ARGUMENTS };
  v = unwrapped(v);
  const PickleValue *typed = typed_tensor(v), *plain = plain_tensor(v);
  const PickleValue *function = pickle_item(typed, FUNCTION), *attributes = attributes_of(typed);
  if (!plain && !typed) return pt2_fail(r, E_GRAPH_PT2_PICKLED_TENSOR, name);
  bool wraps = pickle_is(function, PICKLE_GLOBAL) &&
               !strcmp(function->string, REBUILD "wrapper_subclass");
  if (wraps && attributes && depth < DEPTH_MAX)
    return add_attributes(r, p, name, attributes, to, depth);
  if (typed) {
    const PickleValue *class = pickle_item(typed, CLASS);
    const char *what = pickle_is(class, PICKLE_GLOBAL) ? class->string : "record";
    return pt2_lack(r, E_GRAPH_PT2_PICKLED_KIND, what);
  }
  to->weight = name;
  return add_tensor(r, p, name, plain);
}

/* ---- the archive of torch.save ---- */

static const ArchiveEntry *find_pickle(Pt2 *r, Pickled *p) {
  static const char suffix[] = "/data.pkl";
  size_t n = sizeof suffix - 1;
  for (size_t i = 0; p->archive && i < archive_count(p->archive); i++) {
    const ArchiveEntry *e = archive_at(p->archive, i);
    size_t len = strlen(e->name);
    if (len <= n || strcmp(e->name + len - n, suffix)) continue;
    p->root = arena_strndup(r->arena, e->name, len - n + 1);
    return e;
  }
  return NULL;
}

/* torch.save has the order of bytes in an archive of its own; older versions did not say it. */
static bool is_little_endian(const Pt2 *r, const Pickled *p) {
  static const char little[] = "little";
  const ArchiveEntry *e =
      archive_find(p->archive, arena_printf(r->arena, "%sbyteorder", p->root));
  return !e || (e->size == sizeof little - 1 && !memcmp(e->data, little, e->size));
}

bool pt2_pickled(Pt2 *r, Name name, const ArchiveEntry *entry) {
  const char *why;
  Diags *ignored = diags_new(r->arena);
  Pickled p = {.archive = archive_of_bytes(r->arena, r->names, ignored, entry->name, entry->data,
                                           entry->size)};
  const ArchiveEntry *e = find_pickle(r, &p);
  if (!e) return pt2_fail(r, E_GRAPH_PT2_PICKLED_FILE);
  if (!is_little_endian(r, &p)) return pt2_fail(r, E_GRAPH_PT2_BYTE_ORDER);
  const PickleValue *v = pickle_read(r->arena, e->data, e->size, is_known_name, &why);
  if (!v) return pt2_lack(r, E_GRAPH_PT2_PICKLE, why);
  Subclass *s = ARENA_NEW(r->arena, Subclass);
  void **slot = namemap_put(r->arena, &r->pickled, name);
  *slot = s;
  return add_record(r, &p, name, v, s, 0);
}

/* ---- their places in the graph ---- */

static void add_inputs(Pt2 *r, const Node *of, Subclass *s) {
  s->input = (Node *)of;
  if (!s->weight) vec_push(r->arena, &r->whole, s);
  for (size_t i = 0; i < s->parts.len; i++) {
    Subclass *part = s->parts.data[i];
    Node *n = graph_node(r->graph, NODE_INPUT, NULL, 0, 0);
    n->location = r->location;
    graph_fresh_name(r->graph, n, arena_printf(r->arena, "%s_%s", of->name, part->attribute));
    n->input.kind = of->input.kind;
    n->input.target = n->name;
    n->input.tensor = part->weight;
    const Weight *w = part->weight ? weights_find(r->weights, part->weight) : NULL;
    n->type.kind = VALUE_NONE;
    if (w) {
      Dim shape[GRAPH_RANK_MAX];
      for (uint32_t k = 0; k < w->rank; k++) shape[k] = dim_int(r->graph->dims, w->shape[k]);
      n->type = value_tensor(r->graph, w->dtype, w->rank, shape);
    }
    add_inputs(r, n, part);
  }
}

void pt2_add_parts(Pt2 *r, Node *n) {
  Subclass *s = n->input.tensor ? namemap_get(&r->pickled, n->input.tensor) : NULL;
  if (s && !s->weight) add_inputs(r, n, s);
}

static Subclass *find_whole(const Pt2 *r, const Node *n) {
  for (size_t i = 0; i < r->whole.len; i++)
    if (r->whole.data[i]->input == n) return r->whole.data[i];
  return NULL;
}

bool pt2_access_part(Pt2 *r, const char *target, const Json *inputs, const Json *outputs,
                     bool *done) {
  *done = false;
  if (strcmp(target, "export.access_subclass_inner_tensor.default")) return true;
  const Json *value, *of = json_get(json_item(inputs, 0), "arg");
  const Json *attribute = json_get(json_item(inputs, 1), "arg");
  const char *kind = pt2_union(r, of, &value);
  Name from = kind ? pt2_value_name(r, kind, value) : NULL;
  const char *name = from ? pt2_string(r, attribute, "as_string") : NULL;
  const char *to = name ? pt2_union(r, json_item(outputs, 0), &value) : NULL;
  Name made = to ? pt2_value_name(r, to, value) : NULL;
  const Node *n = made ? pt2_value(r, from) : NULL;
  if (!n) return false;
  const Subclass *s = find_whole(r, n);
  *done = s;
  for (size_t i = 0; s && i < s->parts.len; i++)
    if (!strcmp(s->parts.data[i]->attribute, name))
      return pt2_define(r, made, s->parts.data[i]->input);
  return !s || pt2_fail(r, E_GRAPH_PT2_PART, n->name, name);
}

bool pt2_drop_whole(Pt2 *r) {
  uint32_t *uses = graph_use_counts(r->graph, r->arena);
  for (size_t i = 0; i < r->whole.len && !r->lacking; i++) {
    Node *n = r->whole.data[i]->input;
    r->where = arena_printf(r->arena, "input %s", n->name);
    if (uses[n->id]) return pt2_lack(r, E_GRAPH_PT2_WHOLE, n->name);
    graph_forget_name(r->graph, n);
    graph_remove(r->graph, n);
  }
  return true;
}
