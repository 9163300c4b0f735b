/* The interface of the rules that translate ONNX's operators: a call's inputs, attributes, results.
 *
 * To add an operator:
 *   1. Add its row to import/onnx/onnx_table.def: the name, the opset that has it first, the
 *      rule, for rules that several operators share the ATen operator, for another domain than
 *      ai.onnx the domain.
 *   2. If none of the rules fits, write one, `void onnx_op_RULE(OnnxCall *c)`, in the file of its
 *      family (onnx_conv.c, onnx_reduce.c, ...; a new file needs no line in the Makefile).  It asks
 *      for inputs and attributes, makes nodes with the functions of graph/builders/node_builder.h
 *      on &c->b, and sets the results with onnx_set.  All forms since opset 6 are one rule:
 *      c->opset tells them apart.
 *   3. If shapes are computed with it, write `bool onnx_fold_RULE(OnnxCall *c)` in a file
 *      onnx_fold*.c and name it in the row: it sets results whose elements are known, or returns
 *      false.  Folding comes before translation, which then does not happen.
 *   4. Take its cases off the list of tests/conformance/onnx_data.py, which runs ONNX's own tests.
 *
 * Each attribute that a node has must be asked for: the others are reported as not supported.
 * onnx_ignore skips an attribute that changes nothing.
 *
 * Like the rules of inference these don't return on an error: onnx_lack, what ONNX has and we
 * don't, and onnx_fail, what is wrong in the file, jump out of the rule.  Rules own nothing but
 * memory of the arena. */
#ifndef NEREID_IMPORT_ONNX_ONNX_OP_H
#define NEREID_IMPORT_ONNX_ONNX_OP_H

#include "graph/builders/node_builder.h"
#include "graph/ir/weight_list.h"
#include "import/onnx/onnx_text.h"
#include "import/onnx/onnx_value.h"

struct Onnx__Node;
struct Onnx__Tensor;
struct Onnx__Graph;
typedef struct Onnx Onnx;
typedef struct OnnxScope OnnxScope;

/* A row of import/onnx/onnx_table.def. */
typedef enum {
#define ONNX(name, ...) ONNX_##name,
#include "import/onnx/onnx_table.def"
} OnnxOpId;

/* An operator's use of strings. */
typedef enum { TEXT_REFUSED, TEXT_KEPT, TEXT_READ } OnnxTextUse;

typedef struct OnnxOp OnnxOp;
struct OnnxOp {
  OnnxOpId id;
  const char *name;
  const char *domain; /* NULL: ai.onnx */
  void (*translate)(OnnxCall *c);
  bool (*fold)(OnnxCall *c); /* NULL: it is never evaluated */
  int since;                 /* the opset that has it first */
  OpId aten;                 /* of rules that several operators share; else unused */
  OnnxTextUse text;
};

/* A node of the model: what a rule works on. */
struct OnnxCall {
  Build b;
  Onnx *r;
  OnnxScope *scope;
  const struct Onnx__Node *proto;
  const OnnxOp *op;
  int64_t opset;
  OnnxValue **in, **out; /* NULL: left out */
  uint32_t nin, nout;
  uint64_t asked;    /* attributes, by number */
  uint32_t first_id; /* of the nodes that the rule makes */
  bool told;         /* an error named the node */
  bool demanding;    /* values of inputs are asked for where they decide */
  char branch;       /* which body takes the node's place; 0: none does alone */
  Node stand;        /* the Build's node */
};

#define ONNX(name, since, rule, ...) \
  void onnx_op_##rule(OnnxCall *c);  \
  __VA_ARGS__
#define FOLD(rule) bool onnx_fold_##rule(OnnxCall *c);
#include "import/onnx/onnx_table.def"

/* ---- what cannot be ---- */

_Noreturn void onnx_fail(OnnxCall *c, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
_Noreturn void onnx_lack(OnnxCall *c, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
_Noreturn void onnx_lack_strings(OnnxCall *c);
/* The node could be read if the value of input i, or its sizes, were known. */
void onnx_want_input(OnnxCall *c, uint32_t i);

/* ---- strings: import/onnx/onnx_text.h ---- */

enum { ONNX_STRING = 8 }; /* among ONNX's dtypes */

/* The number of a string of the call's own. */
int64_t onnx_call_text(OnnxCall *c, const char *s);
/* A list of strings as numbers, NULL if it is not there. */
const int64_t *onnx_texts(OnnxCall *c, const char *name, uint32_t *n);
/* Labels that result 0 takes: numbers of strings, where there are strings, or integers. */
const int64_t *onnx_labels(OnnxCall *c, const char *ints, const char *strings, uint32_t *n);
void onnx_set_text(OnnxCall *c, uint32_t i);
/* Result 0 is a function of the strings of input 0, of that dtype, i64 being strings; `parts`:
 * along a further axis. */
void onnx_set_table(OnnxCall *c, const char *function, const char *arguments, DType t, bool parts);
/* A function of the strings of input i, as onnx_set_table's. */
Node *onnx_table_rows(OnnxCall *c, uint32_t i, const char *function, const char *arguments,
                      DType t);
/* The strings of inputs 0 and 1 joined, which is result 0. */
void onnx_set_joined_texts(OnnxCall *c);
void onnx_check_texts(OnnxCall *c);
void onnx_keep_text(OnnxCall *c, OnnxValue *v);

/* ---- inputs ---- */

bool onnx_has(const OnnxCall *c, uint32_t i); /* is it there? */
/* Its node; an error if it is left out. */
Node *onnx_in(OnnxCall *c, uint32_t i);
Node *onnx_optional(OnnxCall *c, uint32_t i); /* NULL if it is left out */
const ValueType *onnx_type(OnnxCall *c, uint32_t i);

/* The node of any value, which must be a tensor. */
Node *onnx_node_of(OnnxCall *c, OnnxValue *v);

/* Its elements, NULL if they are not known. */
const OnnxKnown *onnx_known(OnnxCall *c, uint32_t i);
/* Does an input of the model decide it, for whose value alone the model is read? */
bool onnx_is_of_run(const OnnxCall *c, uint32_t i);
/* Returns elements that must be known: a shape, axes, a repetition.  Does not return otherwise. */
const OnnxKnown *onnx_need(OnnxCall *c, uint32_t i);
/* A single integer or a vector of them, of any length. */
const OnnxKnown *onnx_need_list(OnnxCall *c, uint32_t i);
/* A vector of sizes, a vector of integers (GRAPH_RANK_MAX at most), one integer, one number. */
uint32_t onnx_need_dims(OnnxCall *c, uint32_t i, Dim *out);
uint32_t onnx_need_ints(OnnxCall *c, uint32_t i, int64_t *out);
Dim onnx_need_dim(OnnxCall *c, uint32_t i);
int64_t onnx_need_int(OnnxCall *c, uint32_t i);
double onnx_need_number(OnnxCall *c, uint32_t i);

/* ---- attributes ---- */

bool onnx_has_attr(OnnxCall *c, const char *name);
int64_t onnx_int(OnnxCall *c, const char *name, int64_t otherwise);
bool onnx_flag(OnnxCall *c, const char *name, bool otherwise);
double onnx_float(OnnxCall *c, const char *name, double otherwise);
Name onnx_string(OnnxCall *c, const char *name, const char *otherwise);
/* NULL if it is not there. */
const int64_t *onnx_ints(OnnxCall *c, const char *name, uint32_t *n);
const float *onnx_floats(OnnxCall *c, const char *name, uint32_t *n);
/* NUL-terminated. */
const char *const *onnx_strings(OnnxCall *c, const char *name, uint32_t *n);
/* An attribute that is a tensor, or one of the lists value_ints, value_floats, ... of Constant.  It
 * is an error if there is none. */
OnnxValue *onnx_tensor(OnnxCall *c, const char *name);
/* The elements of an attribute that is a tensor of that dtype; NULL: there is none. */
const void *onnx_elements_attr(OnnxCall *c, const char *name, DType t, uint32_t *n);
/* Its elements, NULL if they are not known. */
const OnnxKnown *onnx_tensor_known_attr(OnnxCall *c, const char *name);
const struct Onnx__Graph *onnx_graph(OnnxCall *c, const char *name);
DType onnx_dtype_attr(OnnxCall *c, const char *name, DType otherwise);
/* Reads a dtype, also one that is bytes of a form. */
DType onnx_narrow_attr(OnnxCall *c, const char *name, DType otherwise, OnnxForm *form);
void onnx_ignore(OnnxCall *c, const char *name);
/* A list of `n` integers, all `otherwise` if it is not there; an error if it has another length. */
void onnx_ints_of(OnnxCall *c, const char *name, uint32_t n, int64_t otherwise, int64_t *out);

/* Axis `axis` of x as a number below the rank. */
uint32_t onnx_axis(OnnxCall *c, int64_t axis, uint32_t rank);
uint32_t onnx_axis_attr(OnnxCall *c, const char *name, int64_t otherwise, uint32_t rank);
/* A bit for each axis of a list. */
uint32_t onnx_axis_set(OnnxCall *c, const int64_t *axes, uint32_t n, uint32_t rank);

/* Indices along an axis of that size, which count from the end where they are negative, as indices
 * from the begin, in i64. */
Node *onnx_from_begin(OnnxCall *c, Node *index, Dim size);

/* Are places of a Slice attributes, as before opset 10?  DynamicSlice was one with inputs. */
static inline bool onnx_slices_by_attributes(const OnnxCall *c) {
  return c->opset < 10 && c->op->id != ONNX_DynamicSlice;
}

/* x cast to t; to 8-bit floats as the attribute `saturate` says. */
Node *onnx_cast(OnnxCall *c, Node *x, DType t);

/* ---- floats of forms: onnx_forms.c ---- */

/* The numbers, in f32, of elements of a form that has floats. */
Node *onnx_decoded(OnnxCall *c, Node *x, OnnxForm form);
/* Numbers as elements of it, rounded as the attributes saturate and round_mode say. */
Node *onnx_encoded(OnnxCall *c, Node *x, OnnxForm form);

/* ---- images in blocks of channels: onnx_blocks.c ---- */

/* How many channels a block has: 8 or 16. */
uint32_t onnx_block(OnnxCall *c);
/* Input i, an image in blocks, in plain order. */
Node *onnx_channels(OnnxCall *c, uint32_t i);
/* Another value becomes input i, for rules that a rule calls. */
void onnx_put(OnnxCall *c, uint32_t i, Node *x);
/* Result 0, which is set, is an image's channels in plain order. */
void onnx_blocks_made(OnnxCall *c);
/* Sets result 0 to an image in blocks with the block as an axis, or without it, if the call, a
 * Reshape, asks for that. */
bool onnx_set_split(OnnxCall *c);

/* ---- loops that data ends: onnx_data_loop.c ---- */

/* The values that a turn takes, and those that it gives for the next one. */
typedef struct {
  Node **carried, **next;
  uint32_t n;
} OnnxLoop;

OnnxLoop onnx_loop_new(OnnxCall *c, uint32_t n);
/* A value of each turn, at first this one; all are made before the loop's test. */
Node *onnx_carried(OnnxCall *c, Node *initial);
/* The turns go on as long as that is true. */
Node *onnx_loop_test(OnnxCall *c, Node *condition);
/* After the call l->carried has results. */
void onnx_loop_end(OnnxCall *c, Node *test, OnnxLoop *l);

/* ---- results ---- */

/* Is result i asked for? */
bool onnx_wants(const OnnxCall *c, uint32_t i);
void onnx_set(OnnxCall *c, uint32_t i, Node *n);
void onnx_set_form(OnnxCall *c, uint32_t i, OnnxForm form);
/* Another value is the result. */
void onnx_set_absent(OnnxCall *c, uint32_t i);
void onnx_set_alias(OnnxCall *c, uint32_t i, const OnnxValue *v);
void onnx_set_known(OnnxCall *c, uint32_t i, const OnnxKnown *k);
/* Room for such elements, NULL if there are too many. */
OnnxKnown *onnx_known_new(OnnxCall *c, DType t, uint32_t rank, const int64_t *shape);
/* Counts elements that a rule computes for itself; does not return where they are too many. */
void onnx_evaluates(OnnxCall *c, uint32_t n);
/* A tensor of elements that a rule has computed, of any number; `data` is copied. */
Node *onnx_table(OnnxCall *c, DType t, uint32_t rank, const int64_t *shape, const void *data);
/* The file's tensor that a node is, of any number of elements; NULL: it is none. */
const Weight *onnx_weight_of(OnnxCall *c, const Node *n);
/* A tensor of elements that are known, as a node. */
Node *onnx_constant(OnnxCall *c, const OnnxKnown *k);
/* A number as a tensor without axes. */
Node *onnx_scalar(OnnxCall *c, double value, DType t);

static inline Dims *onnx_dims(OnnxCall *c) { return c->b.in.g->dims; }

#endif
