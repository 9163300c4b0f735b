#include "planner/passes/node_equality.h"

#include <string.h>

static uint64_t mix_node_hash(uint64_t h, uint64_t x) {
  h = (h ^ x) * 0x9E3779B97F4A7C15u;
  return h ^ h >> 29;
}

static uint64_t double_bits(double v) {
  uint64_t bits;
  memcpy(&bits, &v, sizeof bits);
  return bits;
}

static uint64_t hash_arg(uint64_t h, const Arg *a) {
  h = mix_node_hash(h, a->kind);
  switch (a->kind) {
    case ARG_NONE: return h;
    case ARG_NODE: return mix_node_hash(h, a->node->id);
    case ARG_INT: return mix_node_hash(h, a->dim->id);
    case ARG_FLOAT: return mix_node_hash(h, double_bits(a->number));
    case ARG_BOOL: return mix_node_hash(h, a->flag);
    case ARG_DTYPE: return mix_node_hash(h, a->dtype);
    case ARG_STRING:
    case ARG_LAYOUT:
    case ARG_FORMAT: return mix_node_hash(h, (uint64_t)(uintptr_t)a->name);
    case ARG_DEVICE: return mix_node_hash(h, (uint64_t)a->device.index);
    case ARG_LIST:
      for (uint32_t i = 0; i < a->n; i++) h = hash_arg(h, &a->items[i]);
      return mix_node_hash(h, a->n);
  }
  return h;
}

static bool equal_args(const Arg *a, const Arg *b) {
  if (a->kind != b->kind) return false;
  switch (a->kind) {
    case ARG_NONE: return true;
    case ARG_NODE: return a->node == b->node;
    case ARG_INT: return a->dim == b->dim;
    case ARG_FLOAT: return double_bits(a->number) == double_bits(b->number);
    case ARG_BOOL: return a->flag == b->flag;
    case ARG_DTYPE: return a->dtype == b->dtype && a->dtype != DT_NONE;
    case ARG_STRING:
    case ARG_LAYOUT:
    case ARG_FORMAT: return !strcmp(a->name, b->name);
    case ARG_DEVICE:
      return !strcmp(a->device.type, b->device.type) && a->device.index == b->device.index;
    case ARG_LIST:
      if (a->n != b->n) return false;
      for (uint32_t i = 0; i < a->n; i++)
        if (!equal_args(&a->items[i], &b->items[i])) return false;
      return true;
  }
  return false;
}

uint64_t node_hash(const Node *n) {
  uint64_t h = mix_node_hash(n->kind, (uint64_t)(uintptr_t)n->op);
  for (uint32_t i = 0; i < n->nargs; i++) h = hash_arg(h, &n->args[i]);
  for (uint32_t i = 0; i < n->nnamed; i++) {
    h = mix_node_hash(h, (uint64_t)(uintptr_t)n->named[i].name);
    h = hash_arg(h, &n->named[i].value);
  }
  return h;
}

bool node_equal(const Node *a, const Node *b) {
  if (a->kind != b->kind || a->op != b->op || a->nargs != b->nargs || a->nnamed != b->nnamed ||
      a->rounds != b->rounds)
    return false;
  for (uint32_t i = 0; i < a->nargs; i++)
    if (!equal_args(&a->args[i], &b->args[i])) return false;
  for (uint32_t i = 0; i < a->nnamed; i++)
    if (a->named[i].name != b->named[i].name || !equal_args(&a->named[i].value, &b->named[i].value))
      return false;
  return value_type_eq(&a->type, &b->type);
}
