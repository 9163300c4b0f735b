/* Declarations that the files of the .pt2 reader share.
 *
 * All functions that return bool or a pointer report errors themselves, and then return false or
 * NULL; the reader ends there.  Unsupported features are reported by pt2_lack, and reading goes on,
 * so that a user sees all of them at once. */
#ifndef NEREID_IMPORT_PT2_PT2_READ_H
#define NEREID_IMPORT_PT2_PT2_READ_H

#include "graph/ops/ops.h"
#include "import/pt2/pt2.h"
#include "import/text/json.h"

/* Far above what files hold: a graph of 100,000 nodes takes 100 MiB of JSON. */
enum { PT2_JSON_MAX = JSON_SIZE_MAX, PT2_NAME_MAX = 1000 };
enum { PT2_STRIDED = 7 }; /* of the schema's Layout */

/* The values of names within a graph: the program's, or that of a region. */
typedef struct {
  NameMap values; /* from names in the file to nodes */
  const Json *tensors, *ints, *floats, *bools; /* types by name */
  Node *guard;    /* the region's values matter only where it is true; NULL: always */
  DType autocast; /* of torch.autocast; DT_NONE: it is off */
} Pt2Scope;

typedef struct {
  Arena *arena;
  Pool *names;
  Diags *diags;
  const Archive *file;
  Span location;
  const char *root;            /* "model/" */
  const ArchiveEntry *program; /* "model/models/model.json" */
  const char *model;           /* "model" */
  Arena *json;                 /* of the document being read */
  const char *where;           /* what messages name: "node linear_1" */
  bool lacking;                /* pt2_lack was called */

  Graph *graph;
  Weights *weights;
  Pt2Scope scope;
  NameMap stored; /* from names of parameters, buffers and constants to inputs */
  NameMap pickled;                /* from names of weights to Pt2Subclasses */
  VEC(struct Pt2Subclass *) whole; /* subclasses that inputs are */
} Pt2;

/* ---- pt2_json.c: values of a type, found by key ---- */

/* An error at the JSON path r->where, with advice to save the model again. */
bool pt2_fail(Pt2 *r, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
/* Reports a feature that is not supported, without the advice; true. */
bool pt2_lack(Pt2 *r, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

/* The entry, an object in JSON; r->json holds it until pt2_close. */
bool pt2_parse(Pt2 *r, const ArchiveEntry *e, const Json **out);
void pt2_close(Pt2 *r);

const Json *pt2_object(Pt2 *r, const Json *in, const char *key);
const Json *pt2_array(Pt2 *r, const Json *in, const char *key);
const char *pt2_string(Pt2 *r, const Json *in, const char *key);
bool pt2_int(Pt2 *r, const Json *in, const char *key, int64_t *out);
bool pt2_bool(Pt2 *r, const Json *in, const char *key, bool *out);
/* Is the key there, and not null? */
bool pt2_has(const Json *in, const char *key);
/* The string under `key`, interned. */
Name pt2_name(Pt2 *r, const Json *in, const char *key);
/* Checks a text: not empty, not too long, without control characters. */
Name pt2_check_name(Pt2 *r, const char *key, const char *text);
/* The one key of a union, and its value. */
const char *pt2_union(Pt2 *r, const Json *in, const Json **value);
/* A number, or "Infinity", "-Infinity", "NaN". */
bool pt2_float(Pt2 *r, const Json *value, double *out);

/* ---- pt2_types.c: dtypes, sizes, types of values ---- */

/* torch's name of a dtype by the schema's number, "float32"; NULL if there is none. */
const char *pt2_dtype_name(int64_t number);
/* VALUE_UNKNOWN if it is not supported. */
bool pt2_tensor_type(Pt2 *r, const Json *meta, ValueType *out);
/* The type of the value that an output or an input names: as_tensor, as_sym_int, ... */
bool pt2_value_type(Pt2 *r, const char *kind, Name name, ValueType *out);
/* The types that a graph has for its values. */
bool pt2_types(Pt2 *r, const Json *graph);
bool pt2_ranges(Pt2 *r, const Json *program);

/* ---- pt2_names.c ---- */

/* Is it an identifier that is no keyword of Python's? */
bool pt2_identifier(const char *s);
/* Names a node as FX prints it: by another name if this one is a word of Python's or taken. */
bool pt2_name_node(Pt2 *r, Node *n, Name name);
/* Defines the name that the file gives to the node's value. */
bool pt2_define(Pt2 *r, Name name, Node *n);
/* The node that made a value. */
Node *pt2_value(Pt2 *r, Name name);

/* ---- pt2_args.c ---- */

/* An Argument of the schema. */
bool pt2_arg(Pt2 *r, const Json *argument, Arg *out);
/* Can arguments of that kind, "as_int", be expressed? */
bool pt2_arg_is_known(const char *kind);
/* as_tensor, as_sym_int, as_sym_float, as_sym_bool; `value` is then the name. */
bool pt2_names_value(const char *kind);
Name pt2_value_name(Pt2 *r, const char *kind, const Json *value);

/* ---- pt2_regions.c, pt2_scope.c ---- */

/* Puts the nodes of a higher-order operator's graphs in place of its call.  *done: it is one that
 * is supported. */
bool pt2_region(Pt2 *r, const char *target, const Json *inputs, const Json *made, bool *done);
/* What the scope says of a node that was read: casts of its operands, indices of 0. */
bool pt2_apply_scope(Pt2 *r, Node *n);

/* ---- pt2_pickled.c: tensor subclasses (torchao's weights) are the tensors that they hold ---- */

/* Reads a tensor that torch.save has pickled; those of a subclass become weights named
 * NAME.ATTRIBUTE. */
bool pt2_pickled(Pt2 *r, Name name, const ArchiveEntry *entry);
/* Adds an input for each tensor of a subclass; `n` is the input that has the file's name of it. */
void pt2_add_parts(Pt2 *r, Node *n);
/* Makes a call of export.access_subclass_inner_tensor the tensor.  *done: it is one of a subclass
 * of the file. */
bool pt2_access_part(Pt2 *r, const char *target, const Json *inputs, const Json *outputs,
                     bool *done);
/* Removes the inputs that are subclasses; using one is an error. */
bool pt2_drop_whole(Pt2 *r);

/* ---- pt2_nodes.c ---- */

bool pt2_nodes(Pt2 *r, const Json *graph);
/* FX has no getitem for results that nothing takes; the file names them all. */
void pt2_drop_unused(Pt2 *r);

#endif
