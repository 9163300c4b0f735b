/* Fuzzing of all that reads text or bytes from outside.
 *
 * A target is one file of this folder: the function LLVMFuzzerTestOneInput, under the name that
 * libFuzzer wants, and a FuzzTarget that says where inputs come from.  main.c turns a target into
 * a program that needs no more than a C compiler:
 *
 *   build/tests/fuzz/nest                     a fixed number of mutations, as `make check` wants
 *   build-fuzz/tests/fuzz/nest -seconds 60 -out DIR
 *   build-fuzz/tests/fuzz/nest FILE...        these inputs once, in this process, for a debugger
 *
 * Built with -fsanitize-coverage=trace-pc (`make fuzz`) it keeps those inputs that reach new edges,
 * and goes on from them; without, it only mutates the inputs that it starts from.
 *
 * Inputs run in a child process.  An input that ends it, by a signal, a sanitizer or a timeout, is
 * a failure: it is left in the folder of `-out` (or $TMPDIR), and the next child goes on.
 */
#ifndef NEREID_TESTS_FUZZ_H
#define NEREID_TESTS_FUZZ_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

typedef struct {
  const char *name;
  const char *const *corpus; /* patterns of files, from the root of the repository; NULL ends */
  const char *const *words;  /* what inputs are made of; NULL ends */
  size_t largest;            /* longer inputs are left out */
  unsigned checked;          /* how many inputs `make check` tries */
} FuzzTarget;

extern const FuzzTarget fuzz_target;

/* A fault that no signal tells, such as text that is not read back as it was printed. */
_Noreturn void fuzz_fail(const char *fmt, ...) __attribute__((format(printf, 1, 2)));

/* A path for the one file that a target may need, in memory where there is such a file system. */
const char *fuzz_file(void);
/* Makes it hold these bytes. */
void fuzz_write(const void *data, size_t size);

/* ---- inside of main.c ---- */

typedef struct {
  uint8_t *data;
  size_t len;
} Bytes;

typedef struct {
  Bytes *items;
  size_t n, cap;
  size_t seeds; /* the first ones, which came from files */
} Corpus;

/* Copies; false if there is no memory or nothing to add. */
bool corpus_add(Corpus *c, const uint8_t *data, size_t len);
/* All files that match, and how many these are. */
size_t corpus_read(Corpus *c, const char *pattern, size_t largest);

typedef struct {
  uint64_t state;
} Random;

uint64_t random_next(Random *r);
size_t random_below(Random *r, size_t n); /* 0 if n is 0 */

/* Some changes to `b`, which has room for `largest` bytes. */
void mutate(Bytes *b, size_t largest, const Corpus *c, const char *const *words, Random *r);

/* Edges reached since cover_start: true if one of them, or how often it was taken, is new.  All
 * children share what is known; cover_edges counts it. */
bool cover_open(void);
void cover_start(void);
bool cover_is_new(void);
size_t cover_edges(void);

#endif
