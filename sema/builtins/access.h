/* Parts of accesses to memory that the files on them share: builtins_memory.c, builtins_block.c,
 * descriptor.c.  What returns false, or an error value, has reported why.
 */
#ifndef NEREID_SEMA_BUILTINS_ACCESS_H
#define NEREID_SEMA_BUILTINS_ACCESS_H

#include "sema/value/builtins.h"
#include "sema/value/context.h"

/* The first argument as a pointer or a tile of pointers. */
bool pointer_arg(Sema *S, const Call *c, Value *out);
/* The pointer to what lies in memory, and its dtype: i1 lies there as bytes. */
Value byte_pointer(Sema *S, Value ptr, DType *elem, Span at);
/* An attribute that is one of `words`, or not given. */
bool word_attr(Sema *S, TileOp *op, TileAttrKey k, Value v, const char *const *words,
               const char *what, Span at);
/* Cache, eviction and volatile; `cache` is the first of their arguments. */
bool access_attrs(Sema *S, const Call *c, TileOp *op, bool load, uint32_t cache);

/* A block pointer that is no descriptor. */
bool is_block_pointer(Value v);
Value load_block(Sema *S, const Call *c, const BlockPtr *b);
Value store_block(Sema *S, const Call *c, const BlockPtr *b);
/* Offsets of a block from an argument, a list with one for each axis. */
bool block_offsets(Sema *S, const Call *c, uint32_t arg, BlockPtr *b);

#endif
