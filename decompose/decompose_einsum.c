/* einsum: operands are multiplied two at a time, each pair as one bmm.
 *
 * Labels are numbers: the letters, then the axes of `...` from the last one back.  A pair's labels
 * fall into four groups: those of both that are used later (the batch), those of one that are used
 * later, and those of both that are not, which are summed.  Labels of one operand that nothing uses
 * later are summed before. */
#include <string.h>

#include "decompose/decompose.h"
#include "graph/messages.h"

enum { LETTERS = 52, DOTS_MAX = GRAPH_RANK_MAX, LABELS = LETTERS + DOTS_MAX };

typedef uint64_t Labels[2]; /* a set of them: LABELS bits */

/* A tensor with a label for each axis, none twice. */
typedef struct {
  Node *x;
  uint8_t label[GRAPH_RANK_MAX];
} Term;

typedef struct {
  Build *b;
  Dim size[LABELS];
} Einsum;

static bool has_label(const uint64_t *set, uint8_t label) {
  return set[label / 64] >> label % 64 & 1;
}
static void include(uint64_t *set, uint8_t label) { set[label / 64] |= (uint64_t)1 << label % 64; }

static void include_term(uint64_t *set, const Term *t) {
  for (uint32_t i = 0; i < rank_of(t->x); i++) include(set, t->label[i]);
}

/* ---- the equation ---- */

/* Labels are in the order of the axes of an implicit output. */
static uint8_t letter_label(char c) { return (uint8_t)(c >= 'a' ? c - 'a' + 26 : c - 'A'); }

/* The labels of one operand of that rank; `...` is for the axes that have no letter. */
static void read_labels(const char **at, uint32_t rank, uint8_t *label) {
  uint32_t letters = 0, n = 0;
  for (const char *s = *at; *s && *s != ',' && *s != '-'; s++) letters += *s != '.' && *s != ' ';
  for (; **at && **at != ',' && **at != '-'; ++*at) {
    if (**at == ' ') continue;
    if (**at != '.') {
      if (n < GRAPH_RANK_MAX) label[n++] = letter_label(**at);
      continue;
    }
    *at += 2; /* of three dots */
    for (uint32_t i = letters; i < rank && n < GRAPH_RANK_MAX; i++)
      label[n++] = (uint8_t)(LETTERS + DOTS_MAX - rank + i);
  }
}

/* ---- one operand ---- */

/* Takes the diagonal of two axes with the same label. */
static void take_diagonals(Einsum *e, Term *t) {
  Build *b = e->b;
  for (uint32_t i = 0; i < rank_of(t->x); i++)
    for (uint32_t k = i + 1; k < rank_of(t->x); k++) {
      if (t->label[i] != t->label[k]) continue;
      uint8_t label = t->label[i];
      Arg args[] = {arg_node(t->x), build_int(b, 0), build_int(b, i), build_int(b, k)};
      t->x = build(b, OP_aten_diagonal_default, 4, args);
      uint32_t n = 0;
      for (uint32_t j = 0; j <= rank_of(t->x); j++)
        if (j != i && j != k) t->label[n++] = t->label[j];
      t->label[n] = label; /* the diagonal is the last axis */
      k = i;
    }
}

static void sum_unwanted(Einsum *e, Term *t, const uint64_t *wanted) {
  uint32_t set = 0, n = 0;
  for (uint32_t i = 0; i < rank_of(t->x); i++)
    set |= (uint32_t)!has_label(wanted, t->label[i]) << i;
  if (!set) return;
  for (uint32_t i = 0; i < rank_of(t->x); i++)
    if (!(set >> i & 1)) t->label[n++] = t->label[i];
  DType dtype = t->x->type.dtype;
  t->x = build_to(e->b, build_sum(e->b, build_widen(e->b, t->x), set, false), dtype);
}

/* ---- a pair ---- */

/* x with the labels in that order; one that it lacks is an axis of size 1. */
static Node *arrange(Build *b, const Term *t, const uint8_t *order, uint32_t n) {
  uint32_t axes[GRAPH_RANK_MAX] = {0}, k = 0, missing = 0;
  for (uint32_t i = 0; i < n; i++) {
    uint32_t at = 0;
    while (at < rank_of(t->x) && t->label[at] != order[i]) at++;
    if (at < rank_of(t->x)) axes[k++] = at;
    else missing |= 1u << i;
  }
  Node *x = build_permute(b, t->x, axes);
  for (uint32_t i = 0; i < n; i++)
    if (missing >> i & 1) x = build_unsqueeze(b, x, i);
  return x;
}

/* x's axes in groups of so many, each as one axis; sizes that broadcast are expanded. */
static Node *group_axes(Einsum *e, const Term *t, const uint8_t *order, const uint32_t groups[3]) {
  Build *b = e->b;
  uint32_t n = groups[0] + groups[1] + groups[2], at = 0;
  Dim full[GRAPH_RANK_MAX], sizes[3];
  for (uint32_t i = 0; i < n; i++) full[i] = e->size[order[i]];
  for (uint32_t g = 0; g < 3; at += groups[g++])
    sizes[g] = infer_product(&b->in, full + at, groups[g]);
  return build_view(b, build_expand(b, arrange(b, t, order, n), n, full), 3, sizes);
}

typedef struct {
  uint8_t label[GRAPH_RANK_MAX];
  uint32_t n;
} Group;

static void add_label(Einsum *e, Group *g, uint8_t label) {
  if (g->n == GRAPH_RANK_MAX) infer_fail(&e->b->in, E_GRAPH_RANK, (int)GRAPH_RANK_MAX);
  g->label[g->n++] = label;
}

static Group join_groups(Einsum *e, const Group *a, const Group *b, const Group *c) {
  Group all = {.n = 0};
  const Group *groups[] = {a, b, c};
  for (int i = 0; i < 3; i++)
    for (uint32_t k = 0; k < groups[i]->n; k++) add_label(e, &all, groups[i]->label[k]);
  return all;
}

static Term multiply_operands(Einsum *e, const Term *x, const Term *y, const uint64_t *wanted) {
  Labels in_x = {0}, in_y = {0};
  Group batch = {.n = 0}, left = {.n = 0}, right = {.n = 0}, sum = {.n = 0};
  include_term(in_x, x);
  include_term(in_y, y);
  for (uint32_t i = 0; i < rank_of(x->x); i++) {
    uint8_t l = x->label[i];
    add_label(e, !has_label(in_y, l) ? &left : has_label(wanted, l) ? &batch : &sum, l);
  }
  for (uint32_t i = 0; i < rank_of(y->x); i++)
    if (!has_label(in_x, y->label[i])) add_label(e, &right, y->label[i]);
  Group gx = join_groups(e, &batch, &left, &sum), gy = join_groups(e, &batch, &sum, &right);
  Node *mx = group_axes(e, x, gx.label, (uint32_t[]){batch.n, left.n, sum.n});
  Node *my = group_axes(e, y, gy.label, (uint32_t[]){batch.n, sum.n, right.n});
  Node *product = build_op2(e->b, OP_aten_bmm_default, mx, my);
  Group out = join_groups(e, &batch, &left, &right);
  Dim shape[GRAPH_RANK_MAX];
  for (uint32_t i = 0; i < out.n; i++) shape[i] = e->size[out.label[i]];
  Term t = {.x = build_view(e->b, product, out.n, shape)};
  memcpy(t.label, out.label, out.n);
  return t;
}

/* ---- all ---- */

static void note_label_sizes(Einsum *e, const Term *t) {
  for (uint32_t i = 0; i < rank_of(t->x); i++) {
    Dim *size = &e->size[t->label[i]], own = t->x->type.shape[i];
    if (!*size || dim_is(*size, 1)) *size = own;
  }
}

/* The axes of `...`, then the letters that are met once. */
static uint32_t implied_output(const Term *t, uint32_t n, uint8_t *out) {
  uint32_t count[LABELS] = {0}, rank = 0;
  for (uint32_t i = 0; i < n; i++)
    for (uint32_t k = 0; k < rank_of(t[i].x); k++) count[t[i].label[k]]++;
  for (int l = LETTERS; l < LABELS; l++)
    if (count[l]) out[rank++] = (uint8_t)l;
  for (int l = 0; l < LETTERS; l++)
    if (count[l] == 1 && rank < GRAPH_RANK_MAX) out[rank++] = (uint8_t)l;
  return rank;
}

static Node *contract(Einsum *e, Term *t, uint32_t n, const uint8_t *out, uint32_t rank) {
  for (uint32_t i = 0; i < n; i++) take_diagonals(e, &t[i]);
  Term acc = t[0];
  for (uint32_t i = 0; i < n; i++) {
    Labels later = {0}, with_next = {0};
    for (uint32_t k = 0; k < rank; k++) include(later, out[k]);
    for (uint32_t k = i + 2; k < n; k++) include_term(later, &t[k]);
    memcpy(with_next, later, sizeof later);
    if (i + 1 < n) include_term(with_next, &t[i + 1]);
    sum_unwanted(e, &acc, with_next);
    if (i + 1 == n) break;
    Labels with_acc = {later[0], later[1]};
    include_term(with_acc, &acc);
    sum_unwanted(e, &t[i + 1], with_acc);
    acc = multiply_operands(e, &acc, &t[i + 1], later);
  }
  return arrange(e->b, &acc, out, rank);
}

Node *decompose_einsum(Build *b) {
  uint32_t n;
  Node **x = build_inputs(b, "tensors", &n);
  const char *at = infer_string(&b->in, "equation");
  Einsum e = {.b = b};
  Term *t = ARENA_ARRAY(b->in.g->arena, Term, n);
  for (uint32_t i = 0; i < n; i++, at += *at == ',') {
    t[i].x = x[i];
    read_labels(&at, rank_of(x[i]), t[i].label);
    note_label_sizes(&e, &t[i]);
  }
  uint8_t out[GRAPH_RANK_MAX];
  uint32_t rank = b->in.n->type.rank;
  if (*at == '-') {
    at += 2;
    read_labels(&at, rank, out);
  } else {
    rank = implied_output(t, n, out);
  }
  return contract(&e, t, n, out, rank);
}
