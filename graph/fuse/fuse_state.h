/* What fuse.c asks of domains (fuse_domain.c) and of uses (fuse_uses.c). */
#ifndef NEREID_GRAPH_FUSE_FUSE_STATE_H
#define NEREID_GRAPH_FUSE_FUSE_STATE_H

#include "graph/fuse/fuse.h"


enum { FUSE_COLUMNS_MAX = 4096 }; /* of a row that a tile holds whole: windows, channels */

/* Does n go along an axis, so that its domain has columns? */
bool fuse_has_columns(const Node *n);
/* The role of n in its own domain. */
Role fuse_natural_role(const Node *n);
/* Makes n's own domain that of the group. */
void fuse_set_domain(const Fusion *f, Group *to, const Node *n);
/* Is that the shape of the group's domain? */
bool fuse_same_shape(const Group *g, uint32_t rank, const Dim *shape);
/* A group that goes through elements one by one, some of whose operands have only channels, gets
 * the channels as columns: in vectors, x % channels is dear, and no address that counts up. */
void fuse_find_channels(const Fusion *f, Group *g);

#endif
