/* The graph IR: a list of nodes in an order in which they can run.
 *
 * graph/ir owns nodes, their names, and the symbolic integers of their sizes (graph/ir/dim.h).  It
 * takes calls from readers and passes, and gives the one form of a model that all stages share.
 *
 * It is the graph that torch.export makes and FX prints: each node is one call of an operator, with
 * its arguments as they were given.  Omitted arguments are not filled in: graph_arg gets an
 * argument by name, or the schema's default.
 *
 * The text form is the annotated Python of FX's print_readable (graph/ops/graph_text.h).
 *
 * A graph is allocated in one arena.  Tensors are values: strides and storage are no part of the
 * IR, and views are ops like others.  An op that writes in place (relu_, index_copy_, copy_) names
 * the node whose value it replaces, until pass `functionalize` turns it into a value of its own. */
#ifndef NEREID_GRAPH_IR_GRAPH_H
#define NEREID_GRAPH_IR_GRAPH_H

#include "graph/ir/dim.h"
#include "lang/base/diag.h"
#include "lang/base/dtype.h"

typedef struct Graph Graph;
typedef struct Node Node;
typedef struct Arg Arg;
typedef struct GraphOp GraphOp; /* a row of the op table, graph/ops/ops.h */

/* ---- types ---- */

enum { GRAPH_RANK_MAX = 16 }; /* axes of a tensor */

typedef enum {
  VALUE_UNKNOWN, /* not inferred yet */
  VALUE_NONE,
  VALUE_TENSOR,
  VALUE_INT,   /* a SymInt */
  VALUE_FLOAT, /* a SymFloat, or what .item() gives */
  VALUE_BOOL,  /* a SymBool */
  VALUE_LIST   /* what chunk, split or topk return; getitem takes it apart */
} ValueKind;

typedef struct ValueType ValueType;
struct ValueType {
  ValueKind kind;
  DType dtype;            /* TENSOR; booleans are DT_I1 */
  bool is_complex;        /* TENSOR: of complex numbers, whose two parts are of `dtype` each */
  uint32_t rank;          /* TENSOR */
  const Dim *shape;       /* TENSOR */
  Dim value;              /* INT: what it is, NULL if that is not known */
  Name symbolic;          /* FLOAT, BOOL: sympy's text of it, "s0 >= 2"; NULL if not known */
  const ValueType *items; /* LIST */
  uint32_t nitems;
};

/* ---- arguments ---- */

typedef enum {
  ARG_NONE,
  ARG_NODE,
  ARG_INT, /* a literal, or a size expression in importers' graphs */
  ARG_FLOAT,
  ARG_BOOL,
  ARG_STRING,
  ARG_DTYPE,  /* torch.float32; DT_NONE with a name for a dtype that we lack */
  ARG_DEVICE, /* device(type='cpu'); index -1 if none is given */
  ARG_LAYOUT, /* torch.strided */
  ARG_FORMAT, /* torch.contiguous_format */
  ARG_LIST
} ArgKind;

struct Arg {
  ArgKind kind;
  bool tuple;  /* LIST: written (a, b) */
  DType dtype; /* DTYPE */
  bool is_complex; /* DTYPE: of complex numbers, whose parts are of `dtype` */
  uint32_t n;  /* LIST */
  union {
    Node *node;
    Dim dim;       /* INT */
    double number; /* FLOAT */
    bool flag;     /* BOOL */
    Name name;     /* STRING, LAYOUT, FORMAT: without "torch."; DTYPE: torch's name */
    Arg *items;    /* LIST */
    struct {
      Name type;
      int32_t index;
    } device;
  };
};

typedef struct {
  Name name;
  Arg value;
} NamedArg;

/* ---- nodes ---- */

typedef enum {
  NODE_INPUT,   /* a parameter of forward */
  NODE_CALL,    /* op(args, named) */
  NODE_GETITEM, /* args[0][args[1]], the second a literal */
  NODE_OUTPUT   /* the last node: args[0] is the list that forward returns */
} NodeKind;

/* Inputs that a caller of the model passes, and inputs that come from the file. */
typedef enum {
  INPUT_USER,
  INPUT_PARAMETER,
  INPUT_BUFFER,
  INPUT_CONSTANT /* a tensor that the model's code made once */
} InputKind;

/* The one value of an input for which a graph is specialized: its elements, as floats or as
 * integers. */
typedef struct {
  uint32_t n;
  int64_t *ints;
  double *floats;
} InputValue;

/* What allows a product to round its operands of f32 to TF32: PyTorch's setting of products or of
 * convolutions, or nothing, as PyTorch has no product there.  BEFORE: operands were rounded where
 * they are in memory. */
typedef enum {
  ROUNDS_AS_PRODUCT, ROUNDS_AS_CONVOLUTION, ROUNDS_NEVER, ROUNDS_BEFORE
} ProductRounding;

struct Node {
  NodeKind kind;
  uint32_t id; /* unique in the graph, below graph->nids */
  Name name;
  const GraphOp *op; /* CALL */
  Arg *args;
  uint32_t nargs;
  NamedArg *named;
  uint32_t nnamed;
  ValueType type;
  ProductRounding rounds;
  bool in_vain;   /* of a part that its reader gave up, which removes it once all is read */
  bool is_number; /* the tensor of an integer that the graph returns: args[1] */
  Span location;  /* in the text it was read from */
  Name origin; /* where the model's source made it, "File: m.py:3 in forward, code: y = x + 1";
                  NULL: not known */
  struct {     /* INPUT */
    InputKind kind;
    Name target;             /* the parameter's name in Python */
    Name tensor;             /* of a parameter or buffer: its name among the weights, "0.weight";
                              * of a user's input: its name in the file, NULL if that is `name` */
    const InputValue *fixed; /* NULL: the graph is for all values */
    bool is_complex;         /* the parts of complex numbers are its last axis */
    bool released;           /* its memory is free after its last use */
    bool overwritten;        /* a value may be written over it by its last use */
  } input;
  Node *prev, *next;
};

/* The name by which callers pass a user's input. */
static inline Name graph_passed_name(const Node *n) {
  return n->input.kind == INPUT_USER && n->input.tensor ? n->input.tensor : n->name;
}

/* The use of an output. */
typedef enum {
  OUTPUT_USER,
  OUTPUT_MUTATION /* the new value of an input or a buffer; not returned to the user */
} OutputKind;

typedef struct {
  OutputKind kind;
  Node *target; /* MUTATION: the input */
  bool is_complex; /* the parts of complex numbers are its last axis */
} OutputSpec;

/* A rewrite rule that was applied. */
typedef struct {
  Name rule;
  Name node, origin; /* its present replacement */
} GraphRewrite;

typedef enum { SIZES_EQUAL, SIZE_AT_LEAST, SIZES_DIFFER } RelationKind;

/* What a node takes sizes to be, as nothing says otherwise: every run is held to it. */
typedef struct {
  Dim a, b;
  Name node;
  RelationKind kind; /* a == b, a >= b or a != b */
} SizeRelation;

enum { TF32_PRODUCTS = 1, TF32_CONVOLUTIONS = 2 };

struct Graph {
  Arena *arena;
  Pool *names;
  Diags *diags;
  Dims *dims;
  Name class_name; /* "GraphModule" */
  Node *first, *last;
  uint32_t nids;
  struct NodeTable *by_name;
  OutputSpec *outputs; /* one for each item of the output node's list; NULL: all are user's */
  const Name *output_names; /* of each item, what the file calls it; NULL, here or there: the node's
                             * name */
  VEC(uint32_t) rules; /* files of further rewrite rules, sources of `diags` */
  VEC(GraphRewrite) rewrites;  /* what pass rewrite did */
  VEC(SizeRelation) relations; /* of the graph as it was read */
  bool notes_relations;        /* while they are looked for */
  bool extremes_of_none;       /* are -inf and inf, as ONNX has it, and no error */
  bool has_loops;              /* it has nereid.loop_end (graph/analysis/loops.h) */
  bool unchecked;              /* indices are not checked: the caller has proven them */
  bool deterministic;          /* sums of floats have one order, whatever order threads run in */
  bool asserts;                /* an index out of range ends the launch */
  bool host;                   /* it runs on a CPU, which can't divide an integer by 0 */
  bool saves_memory;           /* runs take memory step by step */
  const struct DevicePeaks *gpu; /* of the GPU for which kernels are chosen; an H200's at first */
  unsigned tf32; /* bits: which sums may round their operands of f32 to TF32 */
  const struct LibraryChooser *libraries; /* who chooses products for libraries; NULL: none are */
  const struct OpSchema **schemas; /* of the op table's rows, as far as they were parsed */
};

static inline bool graph_rounds(const Graph *g, ProductRounding rounds) {
  static const unsigned bits[] = {TF32_PRODUCTS, TF32_CONVOLUTIONS, 0, ~0u};
  return g->tf32 & bits[rounds];
}

Graph *graph_new(Arena *a, Pool *names, Diags *d);

/* A node at the end, or before `before`, with room for arguments; it has no name yet, and the
 * origin of `before`, for which passes make it. */
Node *graph_node(Graph *g, NodeKind kind, Node *before, uint32_t nargs, uint32_t nnamed);
void graph_remove(Graph *g, Node *n);
/* n comes before `before` from now on. */
void graph_move(Graph *g, Node *n, Node *before);
/* Names n; false if another node has that name. */
bool graph_set_name(Graph *g, Node *n, Name name);
/* Names n `base`, or if a node or a symbol has that name, the first free one of base_1, base_2,
 * ..., as FX does. */
void graph_fresh_name(Graph *g, Node *n, const char *base);
/* Renames nodes that have a symbol's name: in arguments that name is the symbol from now on. */
void graph_part_names(Graph *g);
/* n's name is free again. */
void graph_forget_name(Graph *g, const Node *n);
/* The node of that name, or NULL. */
Node *graph_find(const Graph *g, Name name);

/* ---- arguments ---- */

static inline Arg arg_none(void) { return (Arg){.kind = ARG_NONE}; }
static inline Arg arg_node(Node *n) { return (Arg){.kind = ARG_NODE, .node = n}; }
static inline Arg arg_dim(Dim d) { return (Arg){.kind = ARG_INT, .dim = d}; }
Arg arg_int(Graph *g, int64_t value);
Arg arg_list(Graph *g, uint32_t n);

/* The first node that is no input: all inputs come before it. */
Node *graph_after_inputs(const Graph *g);
/* Calls f for each node that n's arguments name, in order; a node that is named twice comes
 * twice.  *use may be changed to name another node. */
void graph_each_use(Node *n, void (*f)(Node **use, void *ctx), void *ctx);
/* Uses of `from` by nodes after `to` become uses of `to`; `end` and what follows keep theirs (NULL:
 * no node does). */
void graph_replace_later(Node *from, Node *to, const Node *end);
/* How often nodes are used, by id; NODE_OUTPUT counts. */
uint32_t *graph_use_counts(const Graph *g, Arena *a);

/* ---- values ---- */

ValueType value_tensor(Graph *g, DType dtype, uint32_t rank, const Dim *shape);
/* The number of elements. */
Dim value_numel(Graph *g, const ValueType *t);
/* Do 64 bits count the elements that a tensor's sizes make, those of 0 apart? */
bool value_is_countable(Graph *g, const ValueType *t);
bool value_type_eq(const ValueType *a, const ValueType *b);
/* Prints a type as FX's annotations have it, without the quotes: "f32[2, s0]", "Sym(s0)"; "" where
 * FX writes none. */
void value_type_print(Text *out, const ValueType *t);

#endif
