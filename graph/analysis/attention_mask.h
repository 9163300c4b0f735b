/* Limits in place of a mask: the band of keys that a row attends to, so that no mask is loaded. */
#ifndef NEREID_GRAPH_ANALYSIS_ATTENTION_MASK_H
#define NEREID_GRAPH_ANALYSIS_ATTENTION_MASK_H

#include "graph/builders/node_builder.h"

typedef struct {
  Node *mask;    /* what is left of it; NULL: nothing */
  Dim low, high; /* of row t the keys from t + low to t + high are seen; NULL: no limit */
} SeenKeys;

/* `mask` broadcasts to [.., rows, keys]; new nodes are inserted at b. */
SeenKeys attention_seen(Build *b, Node *mask, Dim rows, Dim keys);

#endif
