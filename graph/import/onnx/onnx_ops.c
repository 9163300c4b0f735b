#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "graph/import/onnx/onnx_read.h"

#define onnx_fold_none NULL
#define X(rule, fold, name, since, aten) {name, onnx_op_##rule, onnx_fold_##fold, since, OP_##aten},
static const OnnxOp ops[] = {ONNX_OPS(X)};
#undef X

static int by_name(const void *name, const void *op) {
  return strcmp(name, ((const OnnxOp *)op)->name);
}

const OnnxOp *onnx_op_find(const char *domain, const char *name) {
  char whole[256];
  int n = snprintf(whole, sizeof whole, "%s%s%s", domain, *domain ? "." : "", name);
  if (n < 0 || (size_t)n >= sizeof whole) return NULL;
  return bsearch(whole, ops, sizeof ops / sizeof *ops, sizeof *ops, by_name);
}
