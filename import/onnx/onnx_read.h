/* Declarations that the files of the ONNX reader share. */
#ifndef NEREID_IMPORT_ONNX_ONNX_READ_H
#define NEREID_IMPORT_ONNX_ONNX_READ_H

#include "import/onnx/onnx.h"
#include "import/onnx/onnx.pb-c.h"
#include "import/onnx/onnx_op.h"

enum {
  ONNX_BODIES_MAX = 50,        /* of bodies and functions in each other */
  ONNX_CALLS_MAX = 300000,     /* nodes after functions and loops are written out */
  ONNX_NAMES_MAX = 1 << 22,    /* names in bodies and functions that are written out */
  ONNX_NODES_MAX = 1 << 20,    /* of the graph */
  ONNX_ELEMENTS_MAX = 1 << 24, /* of all tensors that are evaluated */
  ONNX_LACKS_MAX = 1000,       /* kinds of unsupported features that are reported */
  ONNX_DEMAND_MAX = 200        /* of values that depend on each other to decide a shape */
};

/* Names of values: those of a graph, of a body within it, or of a function's body. */
struct OnnxScope {
  const OnnxScope *outer; /* NULL for the model and for functions */
  NameMap values;
  Onnx__OperatorSet **opsets; /* of the model or the function */
  size_t nopsets;
  const OnnxCall *caller; /* of a function's body; attributes may refer to those of the call */
  const char *path; /* of calls and branches; NULL: a run may repeat the body, or not have it */
  uint32_t at;      /* the number of the node that is read */
  const Onnx__Function *function;
};

typedef struct {
  const char *what, *first;
  uint32_t nodes;
} OnnxLack;

struct Onnx {
  Arena *arena;   /* the graph's */
  Arena *scratch; /* freed once the model is read */
  Pool *names;
  Diags *diags;
  OnnxFile *file;
  Span location;
  OnnxGiven given;
  OnnxFindings *found;
  Onnx__Model *model;
  Graph *graph;
  Weights *weights;
  NameMap functions;   /* of the model, by "domain:name:overload" */
  NameMap symbols;     /* sizes, by their names in the file */
  NameMap wishes;      /* names that symbols wished for: the numbers that are taken */
  NameMap stored;      /* nodes of the file's tensors, by the tensors' addresses */
  Node *last_input;    /* after which inputs from the file are put */
  uint32_t depth;      /* of bodies */
  uint32_t calls;      /* translated so far */
  uint64_t spelled;    /* names in bodies and functions */
  uint64_t items;      /* of all sequences together */
  uint64_t elements;   /* of all tensors that were evaluated */
  uint32_t demands;    /* that are open */
  VEC(OnnxLack) lacks; /* what is not supported */
  bool has_strings;    /* among it */
  NameMap texts;       /* numbers of strings */
  bool lists_texts;    /* those of the file have theirs */
  Dim strings;         /* how many a run has; NULL: no table asks */
  uint32_t block;      /* channels of a block (onnx_blocks.c); 0: not asked yet */
  NameMap draws;       /* how often the node that makes a value drew numbers */
  OnnxScope *top;      /* the model's */
  OnnxValue *reached;  /* the result that is asked for alone, after which reading ends */
};

/* protobuf-c has NULL for strings that are not there. */
static inline const char *onnx_text(const char *s) { return s ? s : ""; }

/* ---- onnx_faults.c ---- */

/* An error of the file at `where`; false. */
bool onnx_error(Onnx *r, const char *where, const char *fmt, ...)
    __attribute__((format(printf, 3, 4)));
/* Notes what is not supported; reading goes on. */
void onnx_note_lack(Onnx *r, const char *what, const char *node);
/* Notes what is unknown whatever sizes and values inputs have. */
void onnx_note_unknown(Onnx *r, const char *what, const char *node);
/* Its name, or that of its first result. */
const char *onnx_node_name(const Onnx__Node *n);
/* "node conv1 (Conv)" */
const char *onnx_where(Onnx *r, const Onnx__Node *n);

/* ---- onnx.c ---- */

/* Defines the tensors that a graph or a body holds. */
bool onnx_initializers(Onnx *r, OnnxScope *s, const Onnx__Graph *g);

/* ---- onnx_sparse.c ---- */

/* A sparse tensor with all its elements; NULL: it is of a kind that is noted as lacking.  False
 * after an error. */
bool onnx_dense(Onnx *r, const Onnx__SparseTensor *s, Name name, const Onnx__Tensor **out);

/* ---- onnx_inputs.c ---- */

/* Makes the inputs of the graph, and defines them. */
bool onnx_graph_inputs(Onnx *r, OnnxScope *s, const Onnx__Graph *g);
/* A result as the file declares it. */
OnnxOutput onnx_declared_output(Onnx *r, const Onnx__ValueInfo *info);

/* ---- onnx_names.c ---- */

/* An identifier of Python's made of a name of ONNX's, which may be any text; `kind` is the prefix
 * of a name that would be no identifier. */
const char *onnx_identifier(Onnx *r, const char *name, const char *kind);
/* The path of a body that takes the call's place; NULL: values in it can't be asked for. */
const char *onnx_body_path(const OnnxCall *c, char kind);
/* The value's name for runs that compute it first. */
const char *onnx_path_name(const Onnx *r, const OnnxScope *s, const char *name);

/* ---- onnx_values.c ---- */

/* DT_NONE: not supported. */
DType onnx_dtype(int64_t number);
/* Accepts dtypes that are bytes of a form too. */
DType onnx_narrow_dtype(int64_t number, OnnxForm *form);
/* What a dtype that no kernel has is called among what is not supported. */
const char *onnx_lacking_dtype(Onnx *r, int64_t number);

OnnxValue *onnx_value_new(Onnx *r, Name name);
OnnxValue *onnx_value_of_tensor(Onnx *r, const Onnx__Tensor *t, Name name);
/* NULL if no name above has it. */
OnnxValue *onnx_scope_find(const OnnxScope *s, Name name);
/* False after an error: the name is taken. */
bool onnx_scope_define(Onnx *r, OnnxScope *s, OnnxValue *v);
/* The value's node, made if there is none; NULL after an error. */
Node *onnx_value_node(Onnx *r, OnnxValue *v);
void onnx_value_set_known(Onnx *r, OnnxValue *v, const OnnxKnown *k);
/* The tensor that the caller gave for a user's input, by its position or its name; NULL: none. */
const nereid_tensor *onnx_given_tensor(const Onnx *r, const OnnxValue *v);
/* A copy of an initializer's elements; NULL after an error. */
const void *onnx_tensor_data(Onnx *r, const OnnxValue *v, size_t *size);
/* Elements that are known; with `demand` also those that inputs decide. */
const OnnxKnown *onnx_value_known(Onnx *r, OnnxValue *v, bool demand);
/* The user's input that the value depends on, for messages; NULL if there is none. */
const Node *onnx_value_source(const OnnxValue *v);

/* ---- onnx_text.c ---- */

int64_t onnx_text_number(Onnx *r, ProtobufCBinaryData s);
/* The numbers of a tensor's strings, of n elements. */
bool onnx_text_bytes(Onnx *r, const Onnx__Tensor *t, uint64_t n, WeightBytes *out);

/* ---- onnx_nodes.c ---- */

/* Translates nodes in order; false after an error. */
bool onnx_nodes(Onnx *r, OnnxScope *s, Onnx__Node **nodes, size_t n);
/* Names of a body or a function that is written out; long ones count more.  False after an error:
 * they are too many. */
bool onnx_spell(Onnx *r, char *const *names, size_t n);
/* The value of a name in an input list: *out NULL for an empty one; false after an error. */
bool onnx_lookup(Onnx *r, const OnnxScope *s, const char *name, const char *where, OnnxValue **out);
/* Sorts the model's functions by name. */
void onnx_find_functions(Onnx *r);

/* ---- onnx_control.c ---- */

/* The body with these values as its inputs; its outputs go to `out`, which may be absent.  Does not
 * return after an error, nor where a result is not supported. */
void onnx_read_body(OnnxCall *c, const Onnx__Graph *g, OnnxValue **in, size_t nin, OnnxValue **out,
                    size_t nout);
OnnxValue *onnx_value_of_node(OnnxCall *c, Node *n);

/* ---- onnx_blocks.c ---- */

/* If the call does the same for channels in plain order, it takes them, and returns an operand that
 * its result will be like; else NULL. */
const OnnxValue *onnx_take_channels(OnnxCall *c);
/* The result, of such operands, is in blocks like that one. */
void onnx_give_blocks(OnnxCall *c, const OnnxValue *like);

/* ---- onnx_attrs.c ---- */

/* Attributes that no rule asked for are not supported. */
void onnx_check_asked(OnnxCall *c);

#endif
