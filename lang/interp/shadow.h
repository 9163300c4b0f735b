/* Shadow memory: the access history for the race checks of lang/interp/checked_memory.h.
 *
 * For every granule of memory (1, 2 or 4 bytes, as small as the accesses to its page) a cell of 8
 * bytes holds the last write, the reads since and the atomics before it, each the number of an
 * Event: a program, that program's clock, and a Site (source location, argument, atomic or not).
 * Pages of cells are made when memory is first touched.  Sets of readers are interned, so cells
 * read by the same programs share them; a set keeps SHADOW_READERS events, and then only that there
 * were more.
 *
 * Clocks: a program's clock advances when it releases after an access.  A release joins the
 * program's vector clock into that of the atomic's address, an acquire the other way round.  An
 * event happens before a program's next access if the program knows a later clock of the event's
 * program.  Past SHADOW_CLOCKS programs that release, an acquire counts as knowing all the others:
 * conflicts may be missed then, none is invented. */
#ifndef NEREID_LANG_INTERP_SHADOW_H
#define NEREID_LANG_INTERP_SHADOW_H

#include "lang/interp/checked_memory.h"

enum { SHADOW_READERS = 8, SHADOW_CLOCKS = 16384 };

typedef struct {
  Span span;
  int32_t arg;
  bool atomic, updates;
} Site;

typedef struct {
  uint64_t program;
  uint32_t clock, site;
  uint32_t alone; /* the set of readers that has only this event, or 0 */
} Event;

typedef struct {
  uint32_t writer;       /* an event, 0 for none */
  uint32_t readers : 31; /* a set, 0 for none */
  uint32_t shared : 1;   /* several programs stored here */
} Cell;

typedef struct Shadow Shadow;

Shadow *shadow_new(Arena *a);
/* The cells of an access of `bytes` (1, 2, 4, 8 or 16, and `addr` a multiple of it). */
Cell *shadow_cells(Shadow *s, uint64_t addr, unsigned bytes, unsigned *ncells);
/* Returns the cells of the first of `n` such accesses in a row; *nelems is the number of them in
 * its page, whose cells are contiguous. */
Cell *shadow_cells_run(Shadow *s, uint64_t addr, unsigned bytes, uint32_t n, unsigned *ncells,
                       uint32_t *nelems);
/* How many of these bytes nothing has written; *first is the address of one of the first. */
uint64_t shadow_unwritten(const Shadow *s, uint64_t addr, uint64_t size, uint64_t *first);
uint32_t shadow_event(Shadow *s, const Access *who);
const Event *shadow_get(const Shadow *s, uint32_t event);
const Site *shadow_site(const Shadow *s, uint32_t event);
/* The set `readers` with `event` in it. */
uint32_t shadow_read(Shadow *s, uint32_t readers, uint32_t event);
/* Takes one event out of *readers: a walk ends when *readers is 0. */
uint32_t shadow_next_reader(const Shadow *s, uint32_t *readers);
/* Does the event happen before what `program` does now? */
bool shadow_ordered(Shadow *s, uint32_t event, uint64_t program);
void shadow_sync(Shadow *s, uint64_t program, uint64_t addr, bool acquire, bool release);
void shadow_finished(Shadow *s, uint64_t program);

#endif
