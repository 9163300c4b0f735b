/* The rules of pass decompose: composite operators to primitives.
 *
 * decompose owns these rules.  It takes a graph of calls whose nodes have types, without
 * writes in place, and gives one of primitives (graph/ops/prims.h).
 *
 * A rule gets a Build at its node (graph/builders/node_builder.h), and builds before it nodes that
 * compute the same.  It returns the replacement, which may be a node that was there before.  For a
 * node whose value is a list it sets b->items, and returns NULL.  NULL without items: the node
 * stays; it has become a primitive, or is one.
 *
 * Nodes that a rule builds are decomposed in turn; so a rule that keeps its node must leave it in
 * a form that it would keep again. */
#ifndef NEREID_DECOMPOSE_DECOMPOSE_H
#define NEREID_DECOMPOSE_DECOMPOSE_H

#include "graph/builders/node_builder.h"
#include "graph/ops/window.h"

typedef Node *DecomposeRule(Build *b);

/* The room's passes (planner/passes.h). */
bool pass_expand(Graph *g);
bool pass_join_parts(Graph *g);
bool pass_decompose(Graph *g);
/* pass_decompose, but for the ops in `keep` (the last is OP_UNKNOWN), which have
 * templates. */
bool graph_decompose(Graph *g, const OpId *keep);

#define DECOMPOSE(rule) DecomposeRule decompose_##rule;
#define OP(library, name, overload, rule, schema, ...) __VA_ARGS__
#include "graph/ops/op_table.def"

/* ---- what several rules use ---- */

/* The softmax of x, without a cast, in its dtype. */
Node *decompose_softmax_of(Build *b, Node *x, uint32_t axis);
/* Can the target multiply 8-bit floats? */
bool decompose_has_float8_unit(const Graph *g);
/* The bag of each of n elements: one begins at its offset and ends where the next one begins. */
Node *decompose_bag_of(Build *b, Dim n, Node *offsets, Dim bags);
/* Where each bag of n elements begins, and the end of the last: one more than there are bags. */
Node *decompose_bag_starts(Build *b, Dim n, Node *offsets, Dim bags);
/* How many elements each has, by these starts. */
Node *decompose_bag_lengths(Build *b, Node *starts, Dim bags);
/* How many elements of each bag `keep` holds for. */
Node *decompose_bag_counts(Build *b, Node *keep, Node *starts, Dim bags);
/* x[n, channels, sizes] as [n, groups, channels of a group, sizes]: with all axes of sizes, so that
 * pass channels_last knows it for an image. */
Node *decompose_channels_in_groups(Build *b, Node *x, Dim groups);
/* x[n, channels, sizes] as [n, sizes, channels]. */
Node *decompose_channels_last(Build *b, Node *x);
/* The channels of a group, so few that a CPU sums up a window over them, in vectors of results
 * (small_groups.c); 0: they do not suit.  `w` are the sizes of the weight [O, channels of a group,
 * window]. */
int64_t decompose_small_groups(const Graph *g, const ValueType *x, const Dim *w, Dim groups);
/* x[N, sizes, C] with channel i of its group for each channel. */
Node *decompose_channel_of_groups(Build *b, Node *x, int64_t each, int64_t i);
/* Each i likewise, for each of the results: [N, channels of a group, sizes, results]. */
Node *decompose_channels_of_groups(Build *b, Node *x, int64_t each, Dim results);
/* Windows along one axis of signals [N, C, L] that channels of all inputs meet. */
typedef struct {
  Node *x, *weight; /* weight: [O, C, window] */
  Dim stride, before, after, dilation;
} SignalWindows;

/* On a CPU, the convolution [N, O, places] as a product of the weight with the windows, so that
 * neither operand nor result is turned (channels_first.c); NULL: it does not suit, or the channels
 * are last in memory where x is made or the result is read. */
Node *decompose_signal(Build *b, const SignalWindows *c);
/* On a CPU: do vectors go along the rows of x, so that a convolution of each channel, whose stride
 * along rows is c's, turns neither operand nor result? */
bool decompose_keeps_rows(Build *b, const SignalWindows *c);
/* A window whose last axis is joined to the channels: the elements of one of its rows are channels,
 * and it has one position along that axis. */
typedef struct {
  uint32_t n; /* spatial axes */
  Dim size[WINDOW_AXES], stride[WINDOW_AXES], before[WINDOW_AXES], after[WINDOW_AXES];
  Dim dilation[WINDOW_AXES];
  int64_t channels; /* of the copy */
} WindowRows;
/* Are rows of windows of x[N, channels, sizes] boxes for a GPU's tensor copies, where channels by
 * themselves are few?  It finds the copy's channels. */
bool decompose_has_rows(const Graph *g, const Node *x, WindowRows *r);
/* x[N, channels, sizes] as [N, sizes, rows, elements of a row], without padding. */
Node *decompose_rows(Build *b, const WindowRows *r, Node *x);
/* A weight [window, channels, O] as [window, elements of a row, O]. */
Node *decompose_weight_rows(Build *b, const WindowRows *r, Node *w);
/* A gradient [O, window, elements of a row] as [O, window, the copy's channels]. */
Node *decompose_of_rows(Build *b, const WindowRows *r, Node *y);
/* x, of f32, rounded to TF32 by primitives on its bits. */
Node *decompose_rounded(Build *b, Node *x);
/* Integers in the order of x's elements, of 32 bits unless x has more; NaN is above all. */
Node *decompose_sortable_bits(Build *b, Node *x, bool descending);
/* Products of the matrices along the last two axes; axes before them broadcast. */
Node *decompose_matmul_of(Build *b, Node *x, Node *y);
/* The elements of self that b's node, a slice_scatter or select_scatter, replaces: those at start,
 * start + step, ... below end along an axis. */
typedef struct {
  uint32_t axis;
  Dim start, end, count;
  int64_t step;
  bool selects; /* one element, without its axis in `src` */
} ReplacedPart;
ReplacedPart decompose_replaced_part(Build *b);
/* The new values in the shape of that part; all axes of self are there. */
Node *decompose_replacing_part(Build *b, const ReplacedPart *p);

/* The sum of x, which is of primitives, along an axis, which stays as one element, if one element
 * of each row at most is not 0 (training/one_hot_sums.c); NULL: that is not known. */
Node *decompose_sum_of_one(Build *b, Node *x, uint32_t axis);

/* ---- recurrent layers (decompose_rnn.c, training/recurrent_gradients.c) ---- */

/* The order of gates in weights is PyTorch's: of GRU reset, update, new; of LSTM input, forget,
 * cell, output. */
typedef enum { RNN_TANH, RNN_RELU, RNN_GRU, RNN_LSTM } RnnKind;

enum { RNN_STEPS_MAX = 1024, RNN_GATES_MAX = 4 };

/* The argument `kind`, which inference has checked. */
RnnKind decompose_rnn_kind(Build *b);
/* Is their number known, and not too large? */
bool decompose_rnn_can_write_out(Dim steps);

#endif
