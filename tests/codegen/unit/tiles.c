/* Products of words by tiles of matrices: all shapes of a block, with rows that are evenly spaced
 * and others, by the processor's unit, by a program that does as the unit does and refuses what it
 * would refuse, and by vectors.  Memory ends after the last operand, and the next page faults.
 *
 * tests/run: users' compiler */
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "codegen/c/c.h"
#include "tests/support/tally.h"

enum { LANES = 16, WORD = 4, VECTOR = LANES * WORD, ROWS = 40, VECTORS = 5, DEPTH = 163 };

/* The order of the helper. */
typedef struct {
  int rows, vectors, depth;
  char *const *left;
  const char *right;
  int64_t right_row, right_vector;
  char *sums;
  int64_t sums_row, sums_vector;
  bool streams, made, near;
  int *shape;
} TileProduct;

static const char functions[] =
    "void product_dot2(const TileProduct *p) { tiles_dot2_i32(p); }\n"
    "void product_dot4(const TileProduct *p) { tiles_dot4_i32(p); }\n"
    "void end_products(const int *shape) { tiles_end(shape); }\n"
    "int has_unit(void) { return tiles_granted; }\n";

/* The unit as a program. */
static const char model[] =
    "#include <stdint.h>\n"
    "#include <string.h>\n"
    "typedef struct {\n"
    "  uint8_t palette, start, zero[14];\n"
    "  uint16_t bytes[16];\n"
    "  uint8_t rows[16];\n"
    "} Shapes;\n"
    "static Shapes shapes;\n"
    "static uint8_t tiles[8][16][64];\n"
    "int refused;\n"
    "#define TILE_SHAPES(s) \\\n"
    "  (memcpy(&shapes, &(s), sizeof shapes), memset(tiles, 0, sizeof tiles))\n"
    "#define TILE_LOAD(t, at, step) tile_move(t, (char *)(at), step, 0)\n"
    "#define TILE_STORE(t, at, step) tile_move(t, at, step, 1)\n"
    "#define TILE_ZERO(t) memset(tiles[t], 0, sizeof tiles[t])\n"
    "#define TILE_DOT2(c, a, b) tile_dot(c, a, b, 2)\n"
    "#define TILE_DOT4(c, a, b) tile_dot(c, a, b, 4)\n"
    "#define TILE_RELEASE() memset(&shapes, 0, sizeof shapes)\n"
    "static void tile_move(int t, char *at, int64_t step, int out) {\n"
    "  refused |= shapes.palette != 1 || !shapes.rows[t] || shapes.rows[t] > 16 ||\n"
    "             shapes.bytes[t] > 64;\n"
    "  for (int r = 0; r < shapes.rows[t]; r++) {\n"
    "    char *row = (char *)tiles[t][r], *there = at + r * step;\n"
    "    memcpy(out ? there : row, out ? row : there, shapes.bytes[t]);\n"
    "  }\n"
    "}\n"
    "static float as_float(uint16_t x) {\n"
    "  uint32_t bits = (uint32_t)x << 16;\n"
    "  float f;\n"
    "  memcpy(&f, &bits, 4);\n"
    "  return f;\n"
    "}\n"
    "static void add(uint8_t *c, const uint8_t *a, const uint8_t *b, int each) {\n"
    "  uint32_t sum;\n"
    "  float f;\n"
    "  uint16_t x[2], y[2];\n"
    "  memcpy(&sum, c, 4), memcpy(&f, c, 4), memcpy(x, a, 4), memcpy(y, b, 4);\n"
    "  for (int i = 0; i < 4; i++) sum += (int8_t)a[i] * (int8_t)b[i];\n"
    "  for (int i = 0; i < 2; i++) f += as_float(x[i]) * as_float(y[i]);\n"
    "  memcpy(c, each == 4 ? (void *)&sum : (void *)&f, 4);\n"
    "}\n"
    "static void tile_dot(int c, int a, int b, int each) {\n"
    "  refused |= shapes.rows[c] != shapes.rows[a] || shapes.bytes[a] != 4 * shapes.rows[b] ||\n"
    "             shapes.bytes[c] != shapes.bytes[b] || c == a || c == b || a == b;\n"
    "  for (int m = 0; m < shapes.rows[a]; m++)\n"
    "    for (int k = 0; k < shapes.rows[b]; k++)\n"
    "      for (int n = 0; n < shapes.bytes[b]; n += 4)\n"
    "        add(tiles[c][m] + n, tiles[a][m] + 4 * k, tiles[b][k] + n, each);\n"
    "}\n";

static void *compile(Arena *a, const char *before, const char *flags) {
  char folder[] = "/tmp/nereid-tiles-XXXXXX", path[128], command[512];
  Text unit = text_new(a);
  text_puts(&unit, before);
  c_prelude(&unit, a, functions, LANES);
  text_puts(&unit, functions);
  if (!mkdtemp(folder)) return NULL;
  snprintf(path, sizeof path, "%s/unit.c", folder);
  FILE *f = fopen(path, "w");
  if (!f) return NULL;
  fwrite(unit.data, 1, unit.len, f);
  fclose(f);
  const char *cc = getenv("CC");
  snprintf(command, sizeof command,
           "%s -std=gnu11 -w -Wno-psabi -O2 %s -fPIC -shared -o %s/unit.so %s -lm", cc ? cc : "cc",
           flags, folder, path);
  int status = system(command);
  snprintf(path, sizeof path, "%s/unit.so", folder);
  void *library = status ? NULL : dlopen(path, RTLD_NOW);
  snprintf(command, sizeof command, "rm -rf %s", folder);
  if (system(command)) printf("cannot remove %s\n", folder);
  return library;
}

/* Memory of so many bytes that ends where a page without access begins. */
static char *guarded(size_t bytes) {
  size_t page = (size_t)sysconf(_SC_PAGESIZE), room = (bytes + page - 1) / page * page;
  char *p = mmap(NULL, room + page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (p == MAP_FAILED || mprotect(p + room, page, PROT_NONE)) return NULL;
  return p + room;
}

typedef struct {
  char *left_end, *right_end; /* of memory */
  const char *name;
  void *library;
  bool bytes;
} Case;

static uint32_t random_word(uint32_t *state, bool bytes) {
  uint32_t x = *state = *state * 1664525 + 1013904223;
  if (bytes) return x ^ x >> 16;
  /* Two bf16 from -4 to 3, of which sums are exact. */
  float f[2] = {(float)(x >> 29) - 4, (float)(x >> 26 & 7) - 4};
  uint32_t bits[2];
  memcpy(bits, f, sizeof bits);
  return bits[0] >> 16 | (bits[1] & 0xffff0000);
}

static float half_of(uint32_t word, int which) {
  uint32_t bits = which ? word & 0xffff0000 : word << 16;
  float f;
  memcpy(&f, &bits, sizeof f);
  return f;
}

static uint32_t add_product(uint32_t sum, uint32_t a, uint32_t b, bool bytes) {
  float f;
  if (bytes) {
    for (int i = 0; i < 32; i += 8) sum += (uint32_t)((int8_t)(a >> i) * (int8_t)(b >> i));
    return sum;
  }
  memcpy(&f, &sum, sizeof f);
  for (int i = 0; i < 2; i++) f += half_of(a, i) * half_of(b, i);
  memcpy(&sum, &f, sizeof sum);
  return sum;
}

static uint32_t word_at(const char *p) {
  uint32_t w;
  memcpy(&w, p, sizeof w);
  return w;
}

static bool is_right(const TileProduct *p, const char *before, bool bytes) {
  for (int r = 0; r < p->rows; r++)
    for (int n = 0; n < p->vectors * LANES; n++) {
      int64_t at = r * p->sums_row + n / LANES * p->sums_vector + n % LANES * WORD;
      uint32_t sum = p->made ? 0 : word_at(before + at);
      const char *right = p->right + n / LANES * p->right_vector + n % LANES * WORD;
      for (int k = 0; k < p->depth; k++)
        sum = add_product(sum, word_at(p->left[r] + k * WORD), word_at(right + k * p->right_row),
                          bytes);
      if (sum != word_at(p->sums + at)) return false;
    }
  return true;
}

/* Rows from the first to the last, with the last one twice, or any. */
typedef enum { SPACED, CLAMPED, SCATTERED, SPACINGS } Spacing;

static int row_of(int row, int rows, Spacing how) {
  if (how == CLAMPED) return row + 1 < rows || !row ? row : row - 1;
  return how == SCATTERED ? row * 7 % rows : row;
}

/* Products of rows that are scattered release the tiles by themselves, others leave their shape to
 * those that come next. */
static void check_product(const Case *c, int rows, int vectors, int depth, Spacing how,
                          int *shape) {
  static _Alignas(VECTOR) char sums[ROWS * (VECTORS + 1) * VECTOR], before[sizeof sums];
  char *left[ROWS];
  uint32_t state = (uint32_t)(rows * 31 + vectors * 7 + depth + (int)how);
  const int64_t step = (depth + (how == SPACED ? 0 : 3)) * WORD;
  char *first = c->left_end - rows * step;
  TileProduct p = {rows, vectors, depth, left, NULL, vectors * VECTOR, VECTOR, sums,
                   (vectors + 1) * VECTOR, VECTOR, how == SPACED,
                   (rows + depth) % 2, vectors % 2, how == SCATTERED ? NULL : shape};
  p.right = c->right_end - depth * p.right_row;
  for (char *x = first; x < c->left_end; x += WORD) *(uint32_t *)x = random_word(&state, c->bytes);
  for (const char *x = p.right; x < c->right_end; x += WORD)
    *(uint32_t *)x = random_word(&state, c->bytes);
  for (size_t i = 0; i < sizeof sums; i += WORD) {
    float f = (float)(i % 97);
    memcpy(sums + i, &f, WORD);
  }
  memcpy(before, sums, sizeof sums);
  for (int r = 0; r < rows; r++) left[r] = first + row_of(r, rows, how) * step;
  void (*run)(const TileProduct *) = dlsym(c->library, c->bytes ? "product_dot4" : "product_dot2");
  run(&p);
  bool padding = true;
  for (int r = 0; r < rows; r++)
    padding &= !memcmp(sums + r * p.sums_row + vectors * VECTOR,
                       before + r * p.sums_row + vectors * VECTOR, VECTOR);
  if (padding && is_right(&p, before, c->bytes)) passed++;
  else if (failed++ < 20)
    printf("FAIL %s, %s: %d rows, %d vectors, %d words, spacing %d\n", c->name,
           c->bytes ? "bytes" : "pairs", rows, vectors, depth, how);
}

static void check_all(const Case *c) {
  static const int rows[] = {1, 5, 16, 17, 31, 32, ROWS};
  static const int depths[] = {16, 31, 128, DEPTH};
  void (*end)(const int *) = dlsym(c->library, "end_products");
  for (size_t r = 0; r < sizeof rows / sizeof *rows; r++)
    for (size_t d = 0; d < sizeof depths / sizeof *depths; d++)
      for (int v = 1; v <= VECTORS; v++) {
        int shape = 0;
        for (Spacing how = SPACED; how < SPACINGS; how++) {
          check_product(c, rows[r], v, depths[d], how, &shape);
          if (how == CLAMPED) end(&shape);
        }
      }
}

/* Does the unit, or else a program of vectors, compute? */
static bool run(Case *c, Arena *a, const char *before, const char *flags) {
  c->library = compile(a, before, flags);
  check(c->library, "the unit compiles");
  if (!c->library) return false;
  for (int bytes = 0; bytes < 2; bytes++) {
    c->bytes = bytes;
    check_all(c);
  }
  const int *refused = dlsym(c->library, "refused");
  if (refused) check(!*refused, "the unit takes all shapes");
  int (*has_unit)(void) = dlsym(c->library, "has_unit");
  return has_unit();
}

int main(void) {
  Arena *a = arena_new();
  Case c = {.left_end = guarded(ROWS * (DEPTH + 3) * WORD),
            .right_end = guarded(DEPTH * VECTORS * VECTOR)};
  if (!c.left_end || !c.right_end) return 1;
  c.name = "as the unit does";
  check(run(&c, a, model, "-march=native"), "a unit is there");
  c.name = "vectors";
  check(!run(&c, a, "", "-mno-avx512f"), "no unit is there without AVX-512");
  c.name = "the processor's";
  if (!run(&c, a, "", "-march=native")) printf("1 skipped: no AMX\n");
  arena_free(a);
  return report();
}
