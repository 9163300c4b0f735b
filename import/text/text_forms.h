/* The reader of graphs as text (graph/ops/graph_text.h), and two forms that PyTorch prints and that
 * are no Python:
 *
 *   graph():                                            what print(graph) writes
 *       %x : [num_users=1] = placeholder[target=x]
 *       %w : [num_users=1] = get_attr[target=layer.weight]
 *       %mm : [num_users=1] = call_function[target=torch.ops.aten.mm.default](args = (%x, %w), ...
 *       return (mm,)
 *
 *   class <lambda>(torch.nn.Module):                    print_readable of a traced function
 *
 * Both are made Python without moving what has a meaning, so that messages about it have their
 * right locations in the file:
 *
 *   def g():
 *       x                    = placeholder |     "x"
 *       mm                   =                      torch.ops.aten.mm.default (        +x, +w )
 *
 * A listing has strings without quotes and no types: a name of no node is a string, and inputs have
 * types from elsewhere. */
#ifndef NEREID_IMPORT_TEXT_TEXT_FORMS_H
#define NEREID_IMPORT_TEXT_TEXT_FORMS_H

#include "graph/ir/graph.h"

/* Reads a graph from a source of `d`; NULL after errors.  Types are what annotations say,
 * VALUE_UNKNOWN where there is none. */
Graph *graph_read_text(Arena *a, Pool *names, Diags *d, uint32_t file);

typedef enum { FORM_PYTHON, FORM_LISTING, FORM_LAMBDA } TextForm;

/* The text as Python, as long as it was; the same pointer where it is that already. */
const char *text_as_python(Arena *a, const char *text, size_t len, TextForm *form);

/* Names of the functions in converted forms. */
#define LISTING_FUNCTION "g"
#define LAMBDA_CLASS "_lambda_"

#endif
