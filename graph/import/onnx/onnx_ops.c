#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "graph/import/onnx/onnx_read.h"

static const OnnxOp ops[] = {
#define ONNX(text, opset, rule, ...) \
  {.id = ONNX_##text, .name = #text, .since = opset, .translate = onnx_op_##rule, __VA_ARGS__},
#define ATEN(op) .aten = OP_##op,
#define FOLD(rule) .fold = onnx_fold_##rule,
#include "graph/import/onnx/onnx_table.def"
};

static int by_name(const void *name, const void *op) {
  return strcmp(name, ((const OnnxOp *)op)->name);
}

const OnnxOp *onnx_op_find(const char *domain, const char *name) {
  char whole[256];
  int n = snprintf(whole, sizeof whole, "%s%s%s", domain, *domain ? "." : "", name);
  if (n < 0 || (size_t)n >= sizeof whole) return NULL;
  return bsearch(whole, ops, sizeof ops / sizeof *ops, sizeof *ops, by_name);
}
