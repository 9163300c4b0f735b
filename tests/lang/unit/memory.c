/* The interpreters' memory: each finding with its text, and what must not be one. */
#include <stdio.h>
#include <string.h>

#include "lang/interp/checked_memory.h"
#include "tests/support/tally.h"

typedef struct {
  Arena *arena;
  Pool *names;
  Diags *diags;
  Memory *memory;
  uint32_t file;
  _Alignas(16) float x[64], y[64];
} Case;

static void open_case(Case *c) {
  static const char text[] = "one\ntwo\nthree\nfour\n";
  memset(c, 0, sizeof *c);
  c->arena = arena_new();
  c->names = pool_new(c->arena);
  c->diags = diags_new(c->arena);
  c->memory = memory_new(c->arena, c->diags);
  c->file = diag_source(c->diags, pool_name(c->names, "k.py"), text, sizeof text - 1);
  memory_add(c->memory, "x_ptr", 0, c->x, sizeof c->x, true);
  memory_add(c->memory, "y_ptr", 1, c->y, sizeof c->y, false);
}

static Access at(const Case *c, uint64_t program, uint32_t line, int32_t arg) {
  return (Access){program, {c->file, line, 1, 3}, arg, false, false, false};
}
static Access atomic_at(const Case *c, uint64_t program, uint32_t line, int32_t arg) {
  Access a = at(c, program, line, arg);
  a.atomic = true;
  return a;
}
static uint64_t addr(const void *p) { return (uint64_t)(uintptr_t)p; }

static float get(Case *c, const float *p, Access who) {
  float v;
  memory_read(c->memory, addr(p), 4, &v, who);
  return v;
}
static bool put(Case *c, float *p, float v, Access who) {
  return memory_write(c->memory, addr(p), 4, &v, who);
}

/* Ends the case: its findings are `count`, and their text has `want` in it. */
static void close_case(Case *c, const char *name, size_t count, const char *want) {
  Text out = text_new(c->arena);
  size_t found = memory_findings(c->memory);
  memory_report(c->memory);
  diag_print(c->diags, &out);
  bool ok = found == count && (!want || strstr(out.data, want));
  if (ok) passed++;
  else failed++, printf("FAIL %s: %zu findings\n%s\n", name, found, out.data ? out.data : "");
  arena_free(c->arena);
}

/* ---- places ---- */

static void test_bounds(void) {
  Case c;
  open_case(&c);
  c.x[3] = 5;
  check(get(&c, &c.x[3], at(&c, 0, 1, 0)) == 5, "a good read");
  close_case(&c, "a good read", 0, NULL);

  open_case(&c);
  check(get(&c, &c.x[0] + 70, at(&c, 7, 2, 0)) == 0, "a bad read gives zero");
  close_case(&c, "past the end", 1,
             "k.py:2:1: error: "
             "out of bounds: load of 4 bytes at x_ptr[70], 24 bytes past the end of 'x_ptr' (64 x "
             "4 bytes)");

  open_case(&c);
  put(&c, &c.x[0] - 2, 1, at(&c, 0, 2, 0));
  close_case(&c, "before the start", 1,
             "store of 4 bytes at x_ptr[-2], 8 bytes before the start of 'x_ptr'");

  open_case(&c); /* y follows x in memory, but this pointer is x's */
  get(&c, &c.y[0], at(&c, 0, 2, 0));
  close_case(&c, "in another argument's buffer", 1, "right past the end of 'x_ptr'");

  open_case(&c);
  get(&c, &c.x[63], at(&c, 0, 2, MEMORY_NO_ARG));
  close_case(&c, "a pointer of unknown origin", 0, NULL);

  open_case(&c);
  get(&c, NULL, at(&c, 0, 2, MEMORY_NO_ARG));
  close_case(&c, "null", 1, "error: load of 4 bytes through a null pointer (address 0x0)");

  open_case(&c);
  memory_write(c.memory, UINT64_C(0x7000000000000000), 8, &c, at(&c, 0, 2, 0));
  close_case(&c, "nowhere", 1,
             "error: store of 8 bytes at address 0x7000000000000000, outside of all arrays");

  open_case(&c);
  uint64_t wide;
  memory_read(c.memory, addr(c.x) + 4, 8, &wide, at(&c, 0, 2, 0));
  close_case(&c, "misaligned", 1,
             "error: "
             "misaligned: load of 8 bytes at x_ptr + 4 bytes, "
             "an address that is not a multiple of 8");
}

static void test_counts(void) {
  Case c;
  open_case(&c);
  for (uint64_t i = 0; i < 100; i++) get(&c, &c.x[0] + 64 + i, at(&c, 5 + i, 2, 0));
  get(&c, &c.x[0] + 64, at(&c, 0, 3, 0));
  close_case(&c, "once a line", 2, "note: first in program 5, 100 times in all");
}

static void test_unwritten(void) {
  Case c;
  open_case(&c);
  get(&c, &c.y[2], at(&c, 0, 1, 1));
  close_case(&c, "unwritten", 1, "error: this load reads y_ptr[2], which is uninitialized");

  open_case(&c);
  check(!memory_was_written(c.memory, 1), "not written yet");
  put(&c, &c.y[2], 3, at(&c, 0, 1, 1));
  check(get(&c, &c.y[2], at(&c, 0, 2, 1)) == 3, "written, then read");
  check(memory_was_written(c.memory, 1) && !memory_was_written(c.memory, 0), "was written");
  close_case(&c, "written, then read", 0, NULL);

  open_case(&c); /* half of a word */
  uint16_t half = 1;
  memory_write(c.memory, addr(c.y), 2, &half, at(&c, 0, 1, 1));
  get(&c, &c.y[0], at(&c, 0, 2, 1));
  close_case(&c, "half written", 1, NULL);

  open_case(&c); /* the page's cells become finer after words were written */
  put(&c, &c.y[0], 3, at(&c, 0, 1, 1));
  memory_write(c.memory, addr(c.y) + 4, 2, &half, at(&c, 0, 2, 1));
  get(&c, &c.y[0], at(&c, 0, 3, 1));
  memory_read(c.memory, addr(c.y) + 4, 2, &half, at(&c, 0, 3, 1));
  close_case(&c, "finer cells", 0, NULL);
}

/* ---- conflicts ---- */

static void test_conflicts(void) {
  Case c;
  open_case(&c);
  put(&c, &c.x[9], 1, at(&c, 3, 1, 0));
  put(&c, &c.x[9], 2, at(&c, 4, 2, 0));
  close_case(
      &c, "two writes", 1,
      "error: "
      "conflict: program 4 writes x_ptr[9], which program 3 writes, without synchronization");

  open_case(&c);
  put(&c, &c.x[9], 1, at(&c, 3, 1, 0));
  get(&c, &c.x[9], at(&c, 4, 2, 0));
  close_case(&c, "a write, a read", 1, "program 4 reads x_ptr[9], which program 3 writes");

  open_case(&c);
  get(&c, &c.x[9], at(&c, 4, 2, 0));
  get(&c, &c.x[9], at(&c, 5, 2, 0));
  put(&c, &c.x[9], 1, at(&c, 5, 1, 0));
  close_case(&c, "a read, a write", 1, "program 5 writes x_ptr[9], which program 4 reads");

  open_case(&c);
  put(&c, &c.x[9], 1, at(&c, 3, 1, 0));
  put(&c, &c.x[9], 1, at(&c, 4, 2, 0));
  close_case(&c, "two writes of one value", 0, NULL);

  open_case(&c);
  put(&c, &c.x[9], 1, at(&c, 3, 1, 0));
  get(&c, &c.x[9], at(&c, 3, 2, 0));
  put(&c, &c.x[10], 1, at(&c, 4, 1, 0));
  close_case(&c, "different elements", 0, NULL);

  open_case(&c);
  uint8_t byte = 1;
  for (unsigned i = 0; i < 8; i++) memory_write(c.memory, addr(c.x) + i, 1, &byte, at(&c, i, 1, 0));
  close_case(&c, "bytes of one word", 0, NULL);

  open_case(&c);
  for (uint64_t i = 0; i < 30; i++) get(&c, &c.x[9], at(&c, i, 2, 0));
  put(&c, &c.x[9], 1, at(&c, 29, 1, 0));
  close_case(&c, "many readers", 1, NULL);
}

static void add_one(Case *c, float *p, uint64_t program, bool acquire, bool release) {
  Access who = atomic_at(c, program, 4, MEMORY_NO_ARG);
  float *place = memory_atomic(c->memory, addr(p), 4, "add", who);
  memory_atomic(c->memory, addr(p), 4, "add", atomic_at(c, program, 4, MEMORY_NO_ARG));
  if (place) ++*place, memory_changed(c->memory);
  memory_sync(c->memory, program, addr(p), acquire, release);
}

static void test_order(void) {
  Case c;
  float zero = 0;
  open_case(&c);
  put(&c, &c.y[0], zero, at(&c, 0, 1, 1));
  for (uint64_t i = 0; i < 4; i++) add_one(&c, &c.y[0], i, true, true);
  check(c.y[0] == 4, "atomics count");
  get(&c, &c.y[0], at(&c, 3, 2, 1));
  close_case(&c, "atomics", 0, NULL);

  open_case(&c); /* an acquire helps what comes after it */
  put(&c, &c.y[0], zero, at(&c, 0, 1, 1));
  memory_sync(c.memory, 0, addr(&c.y[0]), true, true);
  add_one(&c, &c.y[0], 1, true, true);
  close_case(&c, "a plain write, an atomic", 1,
             "program 1 updates y_ptr[0], which program 0 writes");

  for (int last = 0; last < 2; last++) { /* each updates, then all store one value */
    open_case(&c);
    for (uint64_t i = 0; i < 2; i++) add_one(&c, &c.x[0], i, true, true);
    for (uint64_t i = 0; i < 2; i++) put(&c, &c.x[0], 5, at(&c, last ? 1 - i : i, 1, 0));
    close_case(&c, "an atomic and a plain write of two", 1, "which program 1 updates");
  }

  open_case(&c); /* the value that is there, by chance */
  add_one(&c, &c.x[0], 0, false, false);
  put(&c, &c.x[0], 1, at(&c, 1, 1, 0));
  close_case(&c, "a plain write of what an atomic gave", 1, "program 1 writes x_ptr[0]");

  open_case(&c); /* the last to arrive resets the counter */
  for (uint64_t i = 0; i < 4; i++) add_one(&c, &c.x[0], i, true, true);
  put(&c, &c.x[0], 0, at(&c, 3, 1, 0));
  put(&c, &c.x[0], 0, at(&c, 3, 2, 0));
  close_case(&c, "a counter that is reset", 0, NULL);

  open_case(&c); /* 1 wrote before it released; 2 acquired */
  memory_add(c.memory, "z_ptr", 2, &zero, sizeof zero, true);
  put(&c, &c.x[1], 5, at(&c, 1, 1, 0));
  memory_sync(c.memory, 1, addr(&zero), false, true);
  memory_sync(c.memory, 2, addr(&zero), true, false);
  get(&c, &c.x[1], at(&c, 2, 2, 0));
  close_case(&c, "release, acquire", 0, NULL);

  open_case(&c); /* the write came after the release */
  memory_sync(c.memory, 1, addr(&zero), false, true);
  put(&c, &c.x[1], 5, at(&c, 1, 1, 0));
  memory_sync(c.memory, 2, addr(&zero), true, false);
  get(&c, &c.x[1], at(&c, 2, 2, 0));
  close_case(&c, "written after the release", 1, "program 2 reads x_ptr[1]");

  open_case(&c); /* through a third */
  put(&c, &c.x[1], 5, at(&c, 1, 1, 0));
  memory_sync(c.memory, 1, addr(&c.y[0]), false, true);
  memory_sync(c.memory, 2, addr(&c.y[0]), true, false);
  memory_sync(c.memory, 2, addr(&c.y[1]), false, true);
  memory_sync(c.memory, 3, addr(&c.y[1]), true, false);
  put(&c, &c.x[1], 6, at(&c, 3, 2, 0));
  close_case(&c, "a chain of two", 0, NULL);

  open_case(&c); /* an acquire alone orders nothing */
  put(&c, &c.x[1], 5, at(&c, 1, 1, 0));
  memory_sync(c.memory, 1, addr(&c.y[0]), true, false);
  memory_sync(c.memory, 2, addr(&c.y[0]), true, false);
  put(&c, &c.x[1], 6, at(&c, 2, 2, 0));
  close_case(&c, "no release", 1, NULL);

  open_case(&c); /* readers before a barrier of all, a writer after it */
  for (uint64_t i = 0; i < 20; i++) {
    get(&c, &c.x[1], at(&c, i, 1, 0));
    memory_sync(c.memory, i, addr(&c.y[0]), true, true);
  }
  memory_sync(c.memory, 0, addr(&c.y[0]), true, true);
  memory_finished(c.memory, 3);
  put(&c, &c.x[1], 6, at(&c, 0, 2, 0));
  close_case(&c, "a barrier of all", 0, NULL);
}

static void test_lock(void) {
  Case c;
  open_case(&c);
  for (uint64_t i = 0; i < 3000; i++) {
    memory_sync(c.memory, i, addr(&c.y[0]), true, false);
    put(&c, &c.x[0], get(&c, &c.x[0], at(&c, i, 1, 0)) + 1, at(&c, i, 2, 0));
    memory_sync(c.memory, i, addr(&c.y[0]), false, true);
    memory_finished(c.memory, i);
  }
  check(c.x[0] == 3000, "a lock counts");
  close_case(&c, "a lock", 0, NULL);

  open_case(&c);
  uint64_t changes = memory_changes(c.memory);
  put(&c, &c.x[0], c.x[0], at(&c, 0, 1, 0));
  check(memory_changes(c.memory) == changes, "the same value is no change");
  put(&c, &c.x[0], 9, at(&c, 0, 1, 0));
  check(memory_changes(c.memory) != changes, "another value is a change");
  close_case(&c, "changes", 0, NULL);
}

/* ---- remarks ---- */

/* The remarks about y_ptr are `want`, with `element` bytes an element. */
static void close_remarks(Case *c, const char *name, unsigned element, const char *want) {
  memory_report(c->memory);
  memory_remarks(c->memory, c->diags, 1, element, (Span){c->file, 4, 1, 4});
  Text out = text_new(c->arena);
  for (size_t i = 0; i < diag_count(c->diags); i++) {
    const Diag *d = diag_get(c->diags, i);
    if (d->severity != DIAG_HINT) text_printf(&out, "%u: %s\n", d->span.line, d->text);
  }
  const char *got = out.data ? out.data : "";
  check(!strcmp(got, want), name);
  if (strcmp(got, want)) printf("%s", got);
  arena_free(c->arena);
}

static void test_remarks(void) {
  Case c;
  open_case(&c);
  close_remarks(&c, "nothing was stored at all", 4, "");

  open_case(&c);
  for (int i = 0; i < 64; i++) put(&c, &c.y[i], 1, at(&c, (uint64_t)i, 1, 1));
  close_remarks(&c, "each element by one program", 4, "");

  open_case(&c); /* three programs, elements 2 and 3; in f64 one element */
  for (uint64_t p = 0; p < 3; p++)
    for (int i = 2; i < 4; i++) put(&c, &c.y[i], 1, at(&c, p, 2, 1));
  for (int i = 4; i < 60; i++) put(&c, &c.y[i], 1, at(&c, 9, 3, 1));
  close_remarks(&c, "shared and missing", 8,
                "2: 1 elements of 'y_ptr' are stored by more than one program, with equal values: "
                "first y_ptr[1], by programs 0 and 1\n"
                "4: 3 of the 32 elements of 'y_ptr' are never written: first y_ptr[0]\n");

  open_case(&c); /* ordered by a lock */
  for (uint64_t p = 0; p < 3; p++) {
    memory_sync(c.memory, p, addr(&c.x[0]), true, false);
    for (int i = 0; i < 64; i++) put(&c, &c.y[i], 1, at(&c, p, 2, 1));
    memory_sync(c.memory, p, addr(&c.x[0]), false, true);
  }
  close_remarks(&c, "one after the other", 4, "");

  open_case(&c); /* by bytes, of cells that become finer */
  char byte = 0;
  for (int i = 0; i < 63; i++) put(&c, &c.y[i], 1, at(&c, 0, 1, 1));
  memory_write(c.memory, addr(&c.y[63]) + 1, 1, &byte, at(&c, 0, 2, 1));
  close_remarks(&c, "all but three bytes", 1,
                "4: 3 of the 256 elements of 'y_ptr' are never written: first y_ptr[252]\n");
}

/* ---- arguments that share memory ---- */

static void test_alias(void) {
  Case c;
  open_case(&c);
  memory_add(c.memory, "out_ptr", 2, c.x, sizeof c.x, true);
  get(&c, &c.x[4], at(&c, 0, 1, 0));
  put(&c, &c.x[4], 1, at(&c, 0, 2, 2));
  check(memory_was_written(c.memory, 0), "written under another name");
  close_case(&c, "equal bases", 0, NULL);

  open_case(&c);
  memory_add(c.memory, "tail_ptr", 2, c.x + 4, 16, true);
  get(&c, &c.x[4], at(&c, 0, 1, 0));
  put(&c, &c.x[4], 1, at(&c, 0, 2, 2));
  check(memory_was_written(c.memory, 0), "written through a part of it");
  close_case(&c, "a read, a write through another base", 0, NULL);

  open_case(&c);
  memory_add(c.memory, "tail_ptr", 2, c.x + 4, 16, true);
  put(&c, &c.x[4], 1, at(&c, 0, 1, 0));
  put(&c, &c.x[4], 2, at(&c, 1, 2, 2));
  close_case(&c, "two programs, each through its own base", 1,
             "error: conflict: program 1 writes tail_ptr[0], which program 0 writes");
}

int main(void) {
  test_bounds();
  test_counts();
  test_unwritten();
  test_conflicts();
  test_order();
  test_lock();
  test_remarks();
  test_alias();
  return report();
}
