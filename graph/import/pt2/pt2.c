#include "graph/import/pt2/pt2.h"

#include <string.h>

#include "graph/import/pt2/pt2_read.h"
#include "graph/messages.h"

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

static bool find_parts(Pt2 *r) {
  if (!find_in_root(r, "archive_format", &r->root)) return report_other(r);
  const char *format = small_entry(r, "archive_format");
  if (!format || strcmp(format, "pt2")) return report_other(r);
  return check_byte_order(r) && find_model(r);
}

/* ---- the program ---- */

static bool check_version(Pt2 *r, const Json *program) {
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
  return true;
}

static bool read_program(Pt2 *r) {
  const Json *program;
  if (!pt2_parse(r, r->program, &program)) return false;
  if (!check_version(r, program) || !pt2_ranges(r, program)) return false;
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

static bool read_all(Pt2 *r) {
  if (!find_parts(r) || !read_program(r) || !all_supported(r)) return false;
  return pt2_weights(r) && all_supported(r) && pt2_bind_weights(r);
}

Graph *pt2_read(Arena *a, Pool *names, Diags *d, const Archive *f, Weights *w) {
  Pt2 r = {.arena = a, .names = names, .diags = d, .file = f, .place = archive_place(f)};
  r.root = r.where = "";
  r.weights = w;
  r.graph = graph_new(a, names, d);
  bool ok = read_all(&r);
  pt2_close(&r);
  return ok ? r.graph : NULL;
}
