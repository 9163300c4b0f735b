#include "import/pt2/pt2.h"

#include <string.h>

#include "graph/messages.h"
#include "import/messages.h"
#include "import/pt2/pt2_read.h"

/* ---- tensors of the file ---- */

static bool whole_numbers(Pt2 *r, const Json *meta, const char *key, int64_t *out, size_t rank) {
  const Json *list = pt2_array(r, meta, key);
  if (!list) return false;
  if (json_length(list) != rank) return pt2_fail(r, E_GRAPH_PT2_STRIDES);
  for (size_t i = 0; i < rank; i++)
    if (!pt2_int(r, json_item(list, i), "as_int", &out[i])) return false;
  return true;
}

/* The two parts of complex numbers. */
static bool add_axis_of_parts(Weight *w, int64_t *shape, int64_t *strides, int64_t *offset) {
  if (w->rank == GRAPH_RANK_MAX || __builtin_mul_overflow(*offset, 2, offset)) return false;
  for (uint32_t i = 0; i < w->rank; i++)
    if (__builtin_mul_overflow(strides[i], 2, &strides[i])) return false;
  shape[w->rank] = 2;
  strides[w->rank++] = 1;
  w->is_complex = true;
  return true;
}

static bool read_weight_tensor(Pt2 *r, Name name, const Json *meta, WeightBytes bytes) {
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
  w.mapped = archive_is_mapped(r->file);
  if (type.is_complex && !add_axis_of_parts(&w, shape, strides, &offset))
    return pt2_fail(r, E_GRAPH_PT2_RANK, (size_t)type.rank, GRAPH_RANK_MAX - 1);
  return weights_add(r->weights, r->diags, r->location, w, offset, bytes);
}

/* Reads a PayloadMeta: where the bytes are, and how they are laid out. */
static bool read_payload(Pt2 *r, const char *folder, Name name, const Json *payload) {
  bool pickled;
  const char *path = pt2_name(r, payload, "path_name");
  if (!path || !pt2_bool(r, payload, "use_pickle", &pickled)) return false;
  const char *entry = arena_printf(r->arena, "%s%s%s", r->root, folder, path);
  const ArchiveEntry *e = archive_find(r->file, entry);
  if (!e) return pt2_fail(r, E_GRAPH_PT2_NO_BYTES, entry);
  if (pickled) return pt2_pickled(r, name, e);
  const Json *meta = pt2_object(r, payload, "tensor_meta");
  return meta && read_weight_tensor(r, name, meta, (WeightBytes){e->data, e->size, e->name});
}

static bool read_weights_config(Pt2 *r, const char *folder, const char *suffix) {
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

/* All tensors of the file. */
static bool pt2_weights(Pt2 *r) {
  return read_weights_config(r, "data/weights/", "_weights_config.json") &&
         read_weights_config(r, "data/constants/", "_constants_config.json");
}

/* ---- what takes them ---- */

static bool find_placeholder_weight(Pt2 *r, const Node *n) {
  Weight *w = weights_find(r->weights, n->input.tensor);
  if (!w) {
    diag_error(r->diags, r->location, E_GRAPH_WEIGHT_MISSING, n->input.tensor, n->input.target);
    return false;
  }
  if (!weight_has_type(w, &n->type)) {
    Text type = text_new(r->arena);
    value_type_print(&type, &n->type);
    diag_error(r->diags, r->location, E_GRAPH_WEIGHT_TYPE, w->name, n->input.target, type.data);
    return false;
  }
  weights_bind(r->weights, w, n->input.target);
  return true;
}

/* Gives each input that comes from the file its tensor. */
static bool pt2_bind_weights(Pt2 *r) {
  bool ok = true;
  for (const Node *n = r->graph->first; n && n->kind == NODE_INPUT; n = n->next)
    if (n->input.kind != INPUT_USER) ok &= find_placeholder_weight(r, n);
  return ok;
}

/* ---- the signature: inputs ---- */

/* Inputs that come from the file, and the keys of their names. */
static const struct {
  const char *kind, *key;
  InputKind input;
} stored[] = {{"parameter", "parameter_name", INPUT_PARAMETER},
              {"buffer", "buffer_name", INPUT_BUFFER},
              {"tensor_constant", "tensor_constant_name", INPUT_CONSTANT}};

/* The value that a spec is of must be that of the graph's input or output at the same position. */
static bool check_spec_name(Pt2 *r, Name name, Name expected) {
  return name && (name == expected || pt2_fail(r, E_GRAPH_PT2_SPEC, name, expected));
}

static bool read_stored(Pt2 *r, Node *n, const Json *spec, int row) {
  const Json *arg = pt2_object(r, spec, "arg");
  if (!arg || !check_spec_name(r, pt2_name(r, arg, "name"), n->input.target)) return false;
  n->input.kind = stored[row].input;
  n->input.tensor = pt2_name(r, spec, stored[row].key);
  if (!n->input.tensor) return false;
  if (n->type.kind != VALUE_TENSOR && !r->lacking) return pt2_fail(r, E_GRAPH_PT2_NO_TENSOR);
  void **slot = namemap_put(r->arena, &r->stored, n->input.tensor);
  if (*slot) return pt2_fail(r, E_GRAPH_PT2_TWICE, n->input.tensor);
  *slot = n;
  pt2_add_parts(r, n);
  return true;
}

static bool read_input_spec(Pt2 *r, Node *n, const char *kind, const Json *spec) {
  const Json *value;
  for (int i = 0; i < (int)(sizeof stored / sizeof *stored); i++)
    if (!strcmp(kind, stored[i].kind)) return read_stored(r, n, spec, i);
  if (!strcmp(kind, "constant_input") || !strcmp(kind, "token")) return true;
  if (strcmp(kind, "user_input")) return pt2_lack(r, E_GRAPH_PT2_SPEC_KIND, kind);
  const Json *arg = pt2_object(r, spec, "arg");
  const char *arg_kind = arg ? pt2_union(r, arg, &value) : NULL;
  if (!arg_kind) return false;
  return !pt2_names_value(arg_kind) ||
         check_spec_name(r, pt2_value_name(r, arg_kind, value), n->input.target);
}

/* The name of an input without a value in the graph: the exported program is for one value. */
static Name constant_name(Pt2 *r, const char *kind, const Json *spec, size_t i) {
  if (!strcmp(kind, "constant_input")) return pt2_name(r, spec, "name");
  return pool_name(r->names, arena_printf(r->arena, "arg%zu", i));
}

static bool read_signature_input(Pt2 *r, const Json *input, const Json *spec_union, size_t i) {
  const Json *value, *spec;
  r->where = arena_printf(r->arena, "input %zu", i);
  const char *kind = pt2_union(r, input, &value);
  const char *spec_kind = kind ? pt2_union(r, spec_union, &spec) : NULL;
  if (!spec_kind) return false;
  bool named = pt2_names_value(kind);
  if (!named && (!pt2_arg_is_known(kind) || json_is(value, JSON_ARRAY)))
    return pt2_lack(r, E_GRAPH_PT2_SPEC_KIND, kind);
  Name name = named ? pt2_value_name(r, kind, value) : constant_name(r, spec_kind, spec, i);
  if (!name) return false;
  r->where = arena_printf(r->arena, "input %s", name);
  if (!pt2_identifier(name)) return pt2_fail(r, E_GRAPH_PT2_IDENTIFIER, name);
  Node *n = graph_node(r->graph, NODE_INPUT, NULL, 0, 0);
  n->location = r->location;
  n->input.target = name;
  n->type.kind = VALUE_NONE;
  bool typed = named && strcmp(spec_kind, "token") != 0; /* nobody passes a token */
  return pt2_name_node(r, n, name) && pt2_define(r, name, n) &&
         (!typed || pt2_value_type(r, kind, name, &n->type)) &&
         read_input_spec(r, n, spec_kind, spec);
}

static bool check_same_length(Pt2 *r, const Json *a, const Json *b, const char *what) {
  if (!a || !b) return false;
  if (json_length(a) == json_length(b)) return true;
  return pt2_fail(r, E_GRAPH_PT2_SPECS, json_length(a), what, json_length(b));
}

static bool pt2_inputs(Pt2 *r, const Json *graph, const Json *signature) {
  const Json *inputs = pt2_array(r, graph, "inputs");
  const Json *specs = inputs ? pt2_array(r, signature, "input_specs") : NULL;
  if (!check_same_length(r, inputs, specs, "inputs")) return false;
  for (size_t i = 0; i < json_length(inputs); i++)
    if (!read_signature_input(r, json_item(inputs, i), json_item(specs, i), i)) return false;
  return true;
}

/* ---- outputs ---- */

/* Outputs that are the new values of inputs, and the keys of those inputs' names. */
static const struct {
  const char *kind, *key;
} mutations[] = {{"buffer_mutation", "buffer_name"},
                 {"parameter_mutation", "parameter_name"},
                 {"user_input_mutation", "user_input_name"}};

/* Outputs that the user gets: of a training step the loss and gradients, too. */
static const char *const returned_kinds[] = {"user_output", "loss_output", "gradient_to_parameter",
                                             "gradient_to_user_input", NULL};

static bool read_mutation(Pt2 *r, const Json *spec, int row, const Node *value, OutputSpec *out) {
  const Json *arg = pt2_object(r, spec, "arg");
  Name name = arg ? pt2_name(r, arg, "name") : NULL;
  Name target = name ? pt2_name(r, spec, mutations[row].key) : NULL;
  if (!target) return false;
  if (namemap_get(&r->scope.values, name) != value)
    return pt2_fail(r, E_GRAPH_PT2_SPEC_VALUE, name);
  bool user = row == 2;
  out->kind = OUTPUT_MUTATION;
  out->target = namemap_get(user ? &r->scope.values : &r->stored, target);
  bool ok = out->target && out->target->kind == NODE_INPUT;
  return ok || pt2_fail(r, E_GRAPH_PT2_MUTATION, target);
}

static bool read_signature_output(Pt2 *r, const Json *output, const Json *spec_union, Arg *arg,
                                  OutputSpec *out) {
  const Json *spec;
  const char *kind = pt2_union(r, spec_union, &spec);
  if (!kind || !pt2_arg(r, output, arg)) return false;
  for (int i = 0; i < (int)(sizeof mutations / sizeof *mutations); i++)
    if (!strcmp(kind, mutations[i].kind))
      return read_mutation(r, spec, i, arg->kind == ARG_NODE ? arg->node : NULL, out);
  for (const char *const *k = returned_kinds; *k; k++)
    if (!strcmp(kind, *k)) return true;
  return pt2_lack(r, E_GRAPH_PT2_SPEC_KIND, kind);
}

static bool pt2_outputs(Pt2 *r, const Json *graph, const Json *signature) {
  r->where = "graph";
  const Json *outputs = pt2_array(r, graph, "outputs");
  const Json *specs = outputs ? pt2_array(r, signature, "output_specs") : NULL;
  if (!check_same_length(r, outputs, specs, "outputs")) return false;
  uint32_t count = (uint32_t)json_length(outputs);
  Arg list = arg_list(r->graph, count);
  list.tuple = true;
  r->graph->outputs = ARENA_ARRAY(r->arena, OutputSpec, count);
  list.n = 0;
  for (uint32_t i = 0; i < count; i++) {
    r->where = arena_printf(r->arena, "output %u", i);
    if (pt2_has(json_item(specs, i), "token")) continue; /* nobody gets a token */
    if (!read_signature_output(r, json_item(outputs, i), json_item(specs, i), &list.items[list.n],
                               &r->graph->outputs[list.n]))
      return false;
    list.n++;
  }
  Node *n = graph_node(r->graph, NODE_OUTPUT, NULL, 1, 0);
  n->location = r->location;
  n->args[0] = list;
  graph_fresh_name(r->graph, n, "output");
  return true;
}

/* ---- the archive's layout ---- */

/* Is there an entry `name`, in no folder or one?  The folder, "model/", goes to *root. */
static bool find_in_root(Pt2 *r, const char *name, const char **root) {
  size_t len = strlen(name);
  for (size_t i = 0; i < archive_count(r->file); i++) {
    const char *entry = archive_at(r->file, i)->name, *slash = strchr(entry, '/');
    const char *rest = slash ? slash + 1 : entry;
    if (strlen(rest) != len || memcmp(rest, name, len)) continue;
    *root = arena_strndup(r->arena, entry, (size_t)(rest - entry));
    return true;
  }
  return false;
}

/* Other files of PyTorch that a user may take for this one. */
static bool report_other(Pt2 *r) {
  const char *root, *is = "no archive of PyTorch";
  if (find_in_root(r, "serialized_exported_program.json", &root)) is = "of an older PyTorch";
  else if (find_in_root(r, "constants.pkl", &root)) is = "of torch.jit.save";
  else if (find_in_root(r, "data.pkl", &root)) is = "of torch.save";
  r->where = "archive_format";
  return pt2_fail(r, E_GRAPH_PT2_OTHER, is);
}

/* The text of a small entry below the root; NULL if it is missing. */
static const char *small_entry(Pt2 *r, const char *name) {
  const ArchiveEntry *e = archive_find(r->file, arena_printf(r->arena, "%s%s", r->root, name));
  return e && e->size < 64 ? arena_strndup(r->arena, (const char *)e->data, e->size) : NULL;
}

static bool check_byte_order(Pt2 *r) {
  const char *order = small_entry(r, "byteorder");
  r->where = "byteorder";
  if (!order || !strcmp(order, "little")) return true;
  return pt2_fail(r, E_GRAPH_PT2_BYTE_ORDER);
}

/* The one models/MODEL.json. */
static bool find_model(Pt2 *r) {
  static const char suffix[] = ".json";
  const char *prefix = arena_printf(r->arena, "%smodels/", r->root);
  size_t start = strlen(prefix), end = sizeof suffix - 1;
  r->where = prefix;
  for (size_t i = 0; i < archive_count(r->file); i++) {
    const char *entry = archive_at(r->file, i)->name;
    size_t len = strlen(entry);
    if (len <= start + end || memcmp(entry, prefix, start)) continue;
    if (strcmp(entry + len - end, suffix)) continue;
    if (r->program) return pt2_fail(r, E_GRAPH_PT2_MODELS);
    r->program = archive_at(r->file, i);
    r->model = arena_strndup(r->arena, entry + start, len - start - end);
  }
  return r->program || pt2_fail(r, E_GRAPH_PT2_NO_MODEL);
}

static bool find_archive_parts(Pt2 *r) {
  if (!find_in_root(r, "archive_format", &r->root)) return report_other(r);
  const char *format = small_entry(r, "archive_format");
  if (!format || strcmp(format, "pt2")) return report_other(r);
  return check_byte_order(r) && find_model(r);
}

/* ---- the program ---- */

static bool check_schema_version(Pt2 *r, const Json *program) {
  int64_t major, minor;
  const Json *version = pt2_object(r, program, "schema_version");
  if (!version || !pt2_int(r, version, "major", &major) || !pt2_int(r, version, "minor", &minor))
    return false;
  if (major == PT2_SCHEMA_MAJOR) return true;
  return pt2_fail(r, E_GRAPH_PT2_VERSION, (long long)major, (long long)minor, PT2_SCHEMA_MAJOR);
}

static bool read_graph(Pt2 *r, const Json *graph, const Json *signature) {
  r->where = "graph";
  if (!pt2_types(r, graph)) return false;
  if (!pt2_inputs(r, graph, signature) || !pt2_nodes(r, graph)) return false;
  if (!pt2_outputs(r, graph, signature)) return false;
  pt2_drop_unused(r);
  return pt2_drop_whole(r);
}

static bool read_program(Pt2 *r) {
  const Json *program;
  if (!pt2_parse(r, r->program, &program)) return false;
  if (!check_schema_version(r, program) || !pt2_ranges(r, program)) return false;
  r->where = "program";
  const Json *module = pt2_object(r, program, "graph_module");
  const Json *graph = module ? pt2_object(r, module, "graph") : NULL;
  const Json *signature = graph ? pt2_object(r, module, "signature") : NULL;
  if (!signature || !read_graph(r, graph, signature)) return false;
  pt2_close(r);
  return true;
}

/* Operators too are named if anything else is not supported. */
static bool all_supported(Pt2 *r) {
  if (r->lacking) ops_all_known(r->graph);
  return !r->lacking;
}

static bool read_exported_program(Pt2 *r) {
  if (!find_archive_parts(r) || !pt2_weights(r) || !read_program(r)) return false;
  return all_supported(r) && pt2_bind_weights(r);
}

Graph *pt2_read(Arena *a, Pool *names, Diags *d, const Archive *f, Weights *w) {
  Pt2 r = {.arena = a, .names = names, .diags = d, .file = f, .location = archive_location(f)};
  r.root = r.where = "";
  r.weights = w;
  r.graph = graph_new(a, names, d);
  bool ok = read_exported_program(&r);
  pt2_close(&r);
  return ok ? r.graph : NULL;
}
