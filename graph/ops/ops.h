/* The operators of graphs: lookup, schemas, arguments.
 *
 * graph/ops owns the one table of operators and its uses: schemas, checks of arguments, inference
 * of types, expressions of pointwise operators, indices through views, the text of graphs.  It
 * takes a node, and gives facts of its operator.
 *
 * An operator is a row of graph/ops/op_table.def, which gives it an id.  A schema is what ATen
 * declares (aten/src/ATen/native/native_functions.yaml of PyTorch: names, order, defaults).
 * Argument names and defaults are in the schema only: rules ask for arguments by name. */
#ifndef NEREID_GRAPH_OPS_OPS_H
#define NEREID_GRAPH_OPS_OPS_H

#include "graph/ir/graph.h"

/* How an element of the result is made (graph/ops/prims.h). */
typedef enum {
  PRIM_NONE, /* not a primitive: it must be decomposed */
  PRIM_POINTWISE,
  PRIM_VIEW,
  PRIM_REDUCE,
  PRIM_SCAN, /* each element from those before it along an axis; sorting */
  PRIM_CREATE,
  PRIM_GATHER,
  PRIM_SEARCH,      /* from its first operand, which is in memory, read at several indices */
  PRIM_SCATTER,     /* writes to its first operand, which nothing else uses */
  PRIM_CONCAT,      /* aten.cat, aten.constant_pad_nd */
  PRIM_EMPTY,       /* memory, for the two that follow (planner/fuse/concat_slices.c) */
  PRIM_INSERT,      /* its operand, also written to a slice of that memory */
  PRIM_INSERTED,    /* what the memory has then */
  PRIM_WINDOW,      /* from the elements of a window (graph/ops/window.h): pooling, depthwise */
  PRIM_MATMUL,      /* aten.mm, aten.bmm, nereid.ended_bmm, .grouped_mm, .parted_mm */
  PRIM_CONVOLUTION, /* nereid.conv */
  PRIM_CONVOLUTION_WEIGHT, /* nereid.conv_weight */
  PRIM_LIBRARY,     /* nereid.library_product: a library computes it */
  PRIM_ATTENTION,   /* nereid.attention and its gradients (graph/analysis/attention.h) */
  PRIM_PART,        /* another result of the kernel that computes its operand */
  PRIM_TILE,        /* nereid.attention_scores and their gradient: values within its kernel */
  PRIM_LOOP,        /* nereid.loop_test, nereid.loop_end: places in the order of steps */
  PRIM_CHECK,       /* nereid.check_index: an effect; nothing uses its value */
} PrimKind;

typedef enum {
  PARAM_TENSOR,
  PARAM_TENSORS, /* a list */
  PARAM_INT,     /* also symbolic */
  PARAM_INTS,
  PARAM_FLOAT,
  PARAM_FLOATS,
  PARAM_BOOL,
  PARAM_BOOLS,
  PARAM_SCALAR, /* an int, a float, or a bool */
  PARAM_STRING,
  PARAM_DTYPE,
  PARAM_DEVICE,
  PARAM_LAYOUT,
  PARAM_FORMAT,
  PARAM_OTHER /* generators and the like: only None may be given */
} ParamType;

typedef struct {
  Name name;
  ParamType type;
  bool optional;   /* `T?`: None may be given */
  bool named_only; /* after the `*` */
  bool has_default;
  bool written;    /* `Tensor(a!)`: the op writes it in place */
  bool viewed;     /* `Tensor(a)`: the result may be a view of it */
  bool sparse;     /* `Tensor?[]`: items may be None */
  uint32_t repeat; /* `int[2]`: one int is repeated so often; 0: never */
  Arg dflt;
} OpParam;

typedef struct OpSchema {
  OpParam *params;
  uint32_t nparams, npositional;
  uint32_t nresults; /* 0: none.  `Tensor[]` counts as one */
  bool list;         /* the result is a list whose length depends on the arguments */
} OpSchema;

typedef struct Infer Infer; /* graph/ops/infer.h */

/* Is the result complex, of an operator that may have complex operands? */
typedef enum {
  COMPLEX_REFUSED, /* it may have none */
  COMPLEX_SAME,    /* if an operand is, or the argument `dtype` */
  COMPLEX_ALWAYS,
  COMPLEX_NEVER,
  COMPLEX_AS_BUILT /* as the operators that it expands to */
} ComplexResult;

/* A row of graph/ops/op_table.def: OP_aten_add_Tensor. */
typedef enum {
#define OP(library, name, overload, ...) OP_##library##_##name##_##overload,
#define FUNCTION(library, name, ...) OP_##library##_##name,
#include "graph/ops/op_table.def"
  OP_UNKNOWN, /* an operator that the table lacks */
  OP_COUNT
} OpId;

struct GraphOp {
  OpId id;
  const char *target; /* "aten.add.Tensor", "_operator.mul", "torch.sym_max" */
  const char *schema; /* "(Tensor self, Tensor other, *, Scalar alpha=1) -> Tensor" */
  void (*infer)(Infer *in);
  const GraphOp *same_as;    /* another name of it, with the same arguments; NULL: there is none */
  const GraphOp *each;       /* of an op on lists: the op that computes an item of its result */
  const GraphOp *functional; /* of an op that writes in place: the op that computes the value */
  const GraphOp *number;     /* of a function of numbers: the op that computes it of tensors */
  PrimKind prim;
  ComplexResult complex_result; /* ops_complex_result() follows names of other operators */
  bool commutes;      /* its first two operands may be exchanged */
  bool random;        /* two calls with the same arguments differ */
  bool asserts;       /* an effect, which no kernel has */
  bool sized_by_data; /* the elements of its operand decide a size of its result */
};

const GraphOp *ops_at(OpId id);
/* Whether a call has a complex result. */
ComplexResult ops_complex_result(const GraphOp *op);
/* The operator that it is another name of; itself if it is none. */
const GraphOp *ops_renamed(const GraphOp *op);
/* Is n a call of that operator? */
static inline bool graph_is(const Node *n, OpId id) {
  return n->kind == NODE_CALL && n->op->id == id;
}

/* A call of one of them? */
#define graph_is_any(n, ...) graph_is_among(n, (const OpId[]){__VA_ARGS__, OP_UNKNOWN})
/* The ids end with OP_UNKNOWN. */
bool graph_is_among(const Node *n, const OpId *ids);

/* The row of that target, or NULL. */
const GraphOp *ops_find(const char *target);
/* The rows from `first` to before `end`. */
typedef struct {
  uint32_t first, end;
} OpRange;
/* The rows of an operator with all of its overloads, or with the one that the name has. */
OpRange ops_named(const char *name);
/* Finds a row; an unknown target gets one without a schema, so that reading can continue. */
const GraphOp *ops_row(Graph *g, const char *target);
/* Reports all nodes without a schema in one message; true if there is none. */
bool ops_all_known(Graph *g);
/* A node as messages name it: with the line of the model's source, if the file carries it. */
const char *ops_where(Graph *g, const Node *n);
/* "add" of "aten.add.Tensor". */
const char *ops_short_name(Arena *a, const char *target);

/* The op's schema, parsed; kept in the graph. */
const OpSchema *ops_schema(Graph *g, const GraphOp *op);
/* The number of the parameter `name`, or -1. */
int ops_param(const OpSchema *s, const char *name);

/* The argument of n for that parameter of its op, or the parameter's default. */
Arg graph_arg(Graph *g, const Node *n, const char *param);
/* Is it that number, as an integer or a float? */
bool arg_is_number(const Arg *a, int64_t value);
/* Is an operand of n multiplied by an argument `alpha`, a number other than 1? */
bool graph_scales_operand(Graph *g, const Node *n);

/* Do n's arguments fit its op's schema?  Reports what doesn't. */
bool ops_check(Graph *g, const Node *n);

#endif
