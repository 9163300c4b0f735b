/* Complex numbers among arguments: tensors without axes, as the graph has no such arguments. */
#ifndef NEREID_IMPORT_TEXT_COMPLEX_NUMBER_H
#define NEREID_IMPORT_TEXT_COMPLEX_NUMBER_H

#include "graph/ir/graph.h"

/* Calls that make the number, before a node, or at the end (NULL).  Its parts are f64: beside
 * tensors with axes it gives way, as Python's numbers do. */
Node *import_complex_number(Graph *g, Node *before, double re, double im, Span location);

#endif
