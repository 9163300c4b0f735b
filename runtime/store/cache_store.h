/* The database of the cache, for cache.c and cache_manage.c. */
#ifndef NEREID_RUNTIME_STORE_CACHE_STORE_H
#define NEREID_RUNTIME_STORE_CACHE_STORE_H

#include "runtime/store/cache.h"
#include "runtime/store/database.h"

extern const DatabaseKind cache_database;

/* Bytes that all entries may have together: of NEREID_CACHE_LIMIT, else of the database, else
 * 1 GiB; 0: no limit.  NULL: there is no database. */
int64_t cache_limit(Database *d, bool *is_variable);
/* Removes the least recently used entries if all are larger than `limit` (0: none), and gives their
 * pages back.  Within a transaction; *evicted may be NULL.  A code of SQLite. */
int cache_evict(Database *d, int64_t limit, CacheSum *evicted);
/* Gives the pages of removed entries back to the file system. */
int cache_shrink(Database *d);

#endif
