/* Arguments: a union of one key, which says what kind it is. */
#include <string.h>

#include "graph/ops/graph_text.h"
#include "import/messages.h"
#include "import/pt2/pt2_read.h"

/* ---- single values ---- */

static bool read_none(Pt2 *r, const Json *in, Arg *out) {
  (void)r, (void)in;
  *out = arg_none();
  return true;
}

static bool read_named(Pt2 *r, const Json *in, const char *key, Arg *out) {
  Name name = pt2_name(r, in, key);
  Node *n = name ? pt2_value(r, name) : NULL;
  if (n) *out = arg_node(n);
  return n;
}

static bool read_tensor_arg(Pt2 *r, const Json *in, Arg *out) {
  return read_named(r, in, "name", out);
}

static bool read_int_arg(Pt2 *r, const Json *in, Arg *out) {
  if (!json_is(in, JSON_INTEGER)) return pt2_fail(r, E_GRAPH_PT2_ARG, "an integer");
  *out = arg_int(r->graph, in->integer);
  return true;
}

static bool read_float_arg(Pt2 *r, const Json *in, Arg *out) {
  out->kind = ARG_FLOAT;
  return pt2_float(r, in, &out->number);
}

static bool read_bool(Pt2 *r, const Json *in, Arg *out) {
  if (!json_is(in, JSON_TRUE) && !json_is(in, JSON_FALSE))
    return pt2_fail(r, E_GRAPH_PT2_ARG, "true or false");
  *out = (Arg){.kind = ARG_BOOL, .flag = json_is(in, JSON_TRUE)};
  return true;
}

static bool read_string_arg(Pt2 *r, const Json *in, Arg *out) {
  if (!json_is(in, JSON_STRING)) return pt2_fail(r, E_GRAPH_PT2_ARG, "a string");
  *out = (Arg){.kind = ARG_STRING, .name = pool_name(r->names, in->string)};
  return true;
}

/* A node or a literal of one kind: {"as_name": ...} or {"as_int": ...}. */
static bool read_symbolic_arg(Pt2 *r, const Json *in, Arg *out) {
  const Json *value;
  const char *kind = pt2_union(r, in, &value);
  if (!kind) return false;
  if (!strcmp(kind, "as_name")) return read_named(r, in, "as_name", out);
  if (!strcmp(kind, "as_int")) return read_int_arg(r, value, out);
  if (!strcmp(kind, "as_float")) return read_float_arg(r, value, out);
  if (!strcmp(kind, "as_bool")) return read_bool(r, value, out);
  return pt2_fail(r, E_GRAPH_PT2_ARG_KIND, kind);
}

static bool read_optional_tensor(Pt2 *r, const Json *in, Arg *out) {
  const Json *value;
  const char *kind = pt2_union(r, in, &value);
  if (!kind) return false;
  if (!strcmp(kind, "as_none")) return read_none(r, value, out);
  if (!strcmp(kind, "as_tensor")) return read_tensor_arg(r, value, out);
  return pt2_fail(r, E_GRAPH_PT2_ARG_KIND, kind);
}

/* ---- enumerations ---- */

static bool read_dtype_arg(Pt2 *r, const Json *in, Arg *out) {
  const char *name = json_is(in, JSON_INTEGER) ? pt2_dtype_name(in->integer) : NULL;
  if (!name) return pt2_fail(r, E_GRAPH_PT2_ARG, "the number of a dtype");
  *out = (Arg){.kind = ARG_DTYPE, .name = pool_name(r->names, name)};
  out->dtype = dtype_from_torch(name, strlen(name));
  if (out->dtype != DT_NONE) return true;
  out->dtype = complex_from_torch(name, strlen(name));
  out->is_complex = out->dtype != DT_NONE;
  return true;
}

static bool read_memory_format(Pt2 *r, const Json *in, Arg *out) {
  static const char *const words[] = {"contiguous_format", "channels_last", "channels_last_3d",
                                      "preserve_format"};
  int64_t i = json_is(in, JSON_INTEGER) ? in->integer : 0;
  if (i < 1 || i > 4) return pt2_fail(r, E_GRAPH_PT2_ARG, "the number of a memory format");
  *out = (Arg){.kind = ARG_FORMAT, .name = pool_name(r->names, words[i - 1])};
  return true;
}

static bool read_layout_arg(Pt2 *r, const Json *in, Arg *out) {
  if (!json_is(in, JSON_INTEGER) || in->integer != PT2_STRIDED)
    return pt2_fail(r, E_GRAPH_PT2_ARG, "the strided layout");
  *out = (Arg){.kind = ARG_LAYOUT, .name = pool_name(r->names, "strided")};
  return true;
}

enum { DEVICES_MAX = 1024 }; /* as in the text form */

static bool read_device_arg(Pt2 *r, const Json *in, Arg *out) {
  int64_t index = -1;
  Name type = pt2_name(r, in, "type");
  if (!type) return false;
  if (pt2_has(in, "index") && !pt2_int(r, in, "index", &index)) return false;
  if (!pt2_identifier(type) || index < -1 || index >= DEVICES_MAX)
    return pt2_fail(r, E_GRAPH_PT2_ARG, "a device");
  *out = (Arg){.kind = ARG_DEVICE};
  out->device.type = type;
  out->device.index = (int32_t)index;
  return true;
}

/* ---- the kinds ---- */

typedef bool Read(Pt2 *r, const Json *in, Arg *out);

static const struct {
  const char *kind;
  Read *read;
  bool list; /* an array of items, each read by `read` */
} kinds[] = {{"as_tensor", read_tensor_arg, false},
             {"as_int", read_int_arg, false},
             {"as_ints", read_int_arg, true},
             {"as_float", read_float_arg, false},
             {"as_bool", read_bool, false},
             {"as_none", read_none, false},
             {"as_tensors", read_tensor_arg, true},
             {"as_sym_int", read_symbolic_arg, false},
             {"as_sym_ints", read_symbolic_arg, true},
             {"as_scalar_type", read_dtype_arg, false},
             {"as_memory_format", read_memory_format, false},
             {"as_layout", read_layout_arg, false},
             {"as_device", read_device_arg, false},
             {"as_string", read_string_arg, false},
             {"as_floats", read_float_arg, true},
             {"as_bools", read_bool, true},
             {"as_strings", read_string_arg, true},
             {"as_optional_tensor", read_optional_tensor, false},
             {"as_optional_tensors", read_optional_tensor, true},
             {"as_sym_float", read_symbolic_arg, false},
             {"as_sym_floats", read_symbolic_arg, true},
             {"as_sym_bool", read_symbolic_arg, false},
             {"as_sym_bools", read_symbolic_arg, true}};
enum { KINDS = sizeof kinds / sizeof *kinds };

static bool read_list_arg(Pt2 *r, const Json *in, Read *read, Arg *out) {
  if (!json_is(in, JSON_ARRAY)) return pt2_fail(r, E_GRAPH_PT2_ARG, "an array");
  *out = arg_list(r->graph, (uint32_t)json_length(in));
  for (uint32_t i = 0; i < out->n; i++)
    if (!read(r, json_item(in, i), &out->items[i])) return false;
  return true;
}

bool pt2_arg(Pt2 *r, const Json *argument, Arg *out) {
  const Json *value;
  const char *kind = pt2_union(r, argument, &value);
  if (!kind) return false;
  for (int i = 0; i < KINDS; i++) {
    if (strcmp(kinds[i].kind, kind)) continue;
    return kinds[i].list ? read_list_arg(r, value, kinds[i].read, out)
                         : kinds[i].read(r, value, out);
  }
  *out = arg_none();
  return pt2_lack(r, E_GRAPH_PT2_ARG_KIND, kind);
}

bool pt2_arg_is_known(const char *kind) {
  for (int i = 0; i < KINDS; i++)
    if (!strcmp(kinds[i].kind, kind)) return true;
  return false;
}

bool pt2_names_value(const char *kind) {
  return !strcmp(kind, "as_tensor") || !strcmp(kind, "as_sym_int") ||
         !strcmp(kind, "as_sym_float") || !strcmp(kind, "as_sym_bool");
}

Name pt2_value_name(Pt2 *r, const char *kind, const Json *value) {
  if (!strcmp(kind, "as_tensor")) return pt2_name(r, value, "name");
  return pt2_name(r, value, "as_name");
}
