/* Operators whose meaning is other operators: pass expand replaces them before all other passes.
 *
 * graph/expand owns their type: a rule is run at the node, what it builds has the type, and is
 * removed again. */
#ifndef NEREID_GRAPH_EXPAND_EXPANSION_H
#define NEREID_GRAPH_EXPAND_EXPANSION_H

#include "graph/builders/node_builder.h"

/* Builds the replacement of the Build's node, and returns it; for a node whose value is a list it
 * sets b->items, and returns NULL. */
typedef Node *ExpansionRule(Build *b);

#define EXPAND(rule) ExpansionRule expand_##rule;
#define OP(library, name, overload, rule, schema, ...) __VA_ARGS__
#include "graph/ops/op_table.def"

/* NULL: the operator has none. */
ExpansionRule *expansion_rule(const GraphOp *op);

#endif
