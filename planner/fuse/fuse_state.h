/* The insides of fusion that fuse.c and fuse_uses.c share. */
#ifndef NEREID_PLANNER_FUSE_FUSE_STATE_H
#define NEREID_PLANNER_FUSE_FUSE_STATE_H

#include "planner/fuse/fuse.h"

enum { FUSE_COLUMNS_MAX = 4096 }; /* of a row that a tile holds whole: windows, channels */

static inline bool is_tensor(const Node *n) { return n->type.kind == VALUE_TENSOR; }

/* Makes n's own domain that of the group. */
void fuse_set_domain(const Fusion *f, Group *to, const Node *n);

/* Bytes of a tensor in memory; INT64_MAX if they are not known, or too many. */
int64_t fuse_node_bytes(Graph *g, const Node *n);

#endif
