/* The memory of an interpreted launch: a flat address space with a map of buffers, and for every
 * byte the programs that wrote and read it.  Both interpreters use it, and both report through it:
 *   - an access outside every buffer (names the nearest buffer and by how much), or outside the
 *     buffer of the argument that the pointer came by,
 *   - a read of a byte that nothing wrote (buffers made by `empty`),
 *   - two programs that access one byte, at least one writing, without an atomic between, - a store
 *     that writes a byte twice, with different values,
 *   - a misaligned access.
 * Each finding is reported once a source line and buffer, with a count at the end.  Correct code
 * that is seldom intended gets a remark, once an argument (memory_remarks): elements that several
 * programs stored, and elements of an empty buffer that none did.
 *
 * Conflicts: accesses of one program never conflict.  Accesses of two programs do if one writes,
 * they are not both atomic, and no chain of releases and acquires (memory_sync) leads from the
 * earlier to the later one, regardless of the order in which the programs happened to run.  A write
 * of the value that the byte already holds does not conflict with another write: programs may all
 * store one flag.  It does conflict with a read or an atomic, since only chance made the values
 * equal.
 *
 * Addresses are the host's own, so that pointers stored in memory by the host (tables of pointers)
 * work; every access is checked against the map first and no other host memory is touched.
 *
 * All lives in the arena that memory_new was given; the data of buffers is the caller's.
 */
#ifndef NEREID_LANG_INTERP_CHECKED_MEMORY_H
#define NEREID_LANG_INTERP_CHECKED_MEMORY_H

#include "lang/base/diag.h"

typedef struct Memory Memory;

enum { MEMORY_NO_ARG = -1 };

Memory *memory_new(Arena *a, Diags *findings);
/* Adds a buffer; `arg` is the launch argument it came by (several arguments may name one buffer:
 * call it once for each with the same data), or (uint32_t)MEMORY_NO_ARG if it is only reached by
 * pointers in memory.  `written`: its contents count as written. */
void memory_add(Memory *m, Name name, uint32_t arg, void *data, size_t bytes, bool written);

/* The launch argument is a pointer to memory outside every buffer. */
void memory_add_foreign(Memory *m, Name name, uint32_t arg);

/* The origin of an access: the linear index of the program, the source location, the argument that
 * the pointer was derived from (-1 unknown), and the atomic flag (volatile counts as atomic). */
typedef struct {
  uint64_t program;
  Span span;
  int32_t arg;
  bool atomic;
  bool updates; /* an atomic that reads and writes: memory_atomic sets it */
  bool masked;  /* a mask allows the access */
} Access;

/* Copies `bytes` (1 to 16) between memory and `value`.  A bad access is reported; a bad read gives
 * zeros, a bad write is dropped.  Returns false if it was bad.  A conflict is
 * reported too, but the access is done. */
bool memory_read(Memory *m, uint64_t addr, unsigned bytes, void *value, Access who);
bool memory_write(Memory *m, uint64_t addr, unsigned bytes, const void *value, Access who);
/* They read and write `n` contiguous elements of `bytes` bytes, faster than one by one. */
void memory_read_run(Memory *m, uint64_t addr, unsigned bytes, uint32_t n, void *values,
                     Access who);
void memory_write_run(Memory *m, uint64_t addr, unsigned bytes, uint32_t n, const void *values,
                      Access who);
/* After all elements of one store are written: reports an element that does not hold the value
 * stored to it, because another element of the store has the same address.  The elements of a store
 * have no order, so the result would be undefined; equal values are allowed. */
void memory_stored(Memory *m, uint64_t addr, unsigned bytes, const void *value, Access who);
/* Checks an atomic as a read and a write (kind "load", "store": as one of them), and returns its
 * host address (NULL if bad).  Acquire and release order the programs: see memory_sync.  The caller
 * says with memory_changed whether it stored another value. */
void *memory_atomic(Memory *m, uint64_t addr, unsigned bytes, const char *kind, Access who);
void memory_changed(Memory *m);
/* An atomic with acquire and/or release at an address: accesses of other programs that released
 * there before happen before this program's later ones (vector clocks per program). */
void memory_sync(Memory *m, uint64_t program, uint64_t addr, bool acquire, bool release);
/* The program has ended, and what it knows of the others can be forgotten. */
void memory_finished(Memory *m, uint64_t program);

/* How often a byte changed its value: while this count is constant, a spinning program sees nothing
 * new. */
uint64_t memory_changes(const Memory *m);
bool memory_was_written(const Memory *m, uint32_t arg); /* by the kernel, since it was added */
/* After a launch without findings, gives warnings about an argument whose elements have so many
 * bytes.  Stores that acquire and release order are no reason for one. */
void memory_remarks(Memory *m, Diags *d, uint32_t arg, unsigned element, Span kernel);
size_t memory_findings(const Memory *m);
/* Gives the findings to the Diags, with their counts; an interpreter does so when it ends. */
void memory_report(Memory *m);

#endif
