/* The text form of graphs: the annotated Python of FX's print_readable.
 *
 *   class GraphModule(torch.nn.Module):
 *       def forward(self, p_weight: "f32[8, 4]", x: "f32[s0, 4]"):
 *           # File: model.py:3 in forward, code: return relu(self.linear(x))
 *           linear: "f32[s0, 8]" = torch.ops.aten.linear.default(x, p_weight);  x = p_weight = None
 *           relu: "f32[s0, 8]" = torch.ops.aten.relu.default(linear);  linear = None
 *           return (relu,)
 *
 * What print_readable wrote reads back and prints the same.  Annotations may be left out, or say
 * more than ours ("f32[8, 4][4, 1]cuda:0": strides and device are skipped); `x = None` is
 * skipped.  Names of parameters tell what they are: p_* parameters, b_* buffers, c_* constants. */
#ifndef NEREID_GRAPH_OPS_GRAPH_TEXT_H
#define NEREID_GRAPH_OPS_GRAPH_TEXT_H

#include "graph/ir/graph.h"

void graph_print(Text *out, const Graph *g);
/* Prints one CALL or GETITEM, as `name: "type" = value`. */
void graph_print_node(Text *out, const Node *n);
/* An argument as Python writes it, also for messages. */
void arg_print(Text *out, const Arg *a);

/* torch's name of a dtype, "float32", and the dtype of such a name (DT_NONE: we have none). */
const char *dtype_torch_name(DType t);
DType dtype_from_torch(const char *name, size_t len);
DType dtype_from_fx(const char *name, size_t len);
/* The dtype of the parts of complex numbers: of "complex64", and as FX has it, "c64". */
DType complex_from_torch(const char *name, size_t len);
DType complex_from_fx(const char *name, size_t len);
/* FX's name of a tensor's dtype, "f32" or "c64". */
const char *value_dtype_name(const ValueType *t);

#endif
