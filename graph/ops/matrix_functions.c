#include "graph/ops/matrix_functions.h"

#include <string.h>

typedef struct {
  const int64_t *of;
  int64_t rows, columns, less; /* less: of both */
} Sizes;

typedef MatrixElements Count(const Sizes *s);

static MatrixElements count_lu(const Sizes *s) {
  int64_t all = s->rows * s->columns;
  return (MatrixElements){all + s->less + 1, all, 0};
}

static MatrixElements count_order(const Sizes *s) {
  return (MatrixElements){s->rows, s->columns, 0};
}

static MatrixElements count_cholesky(const Sizes *s) {
  return (MatrixElements){s->rows * s->rows + 1, s->rows * s->rows, 0};
}

static MatrixElements count_solve(const Sizes *s) {
  int64_t all = s->rows * s->columns;
  return (MatrixElements){all, s->rows * s->rows, all};
}

static MatrixElements count_ldl(const Sizes *s) {
  int64_t all = s->rows * s->rows;
  return (MatrixElements){all + s->rows + 1, all, 0};
}

static MatrixElements count_ldl_solve(const Sizes *s) {
  int64_t all = s->rows * s->columns;
  return (MatrixElements){all, s->rows * s->rows + s->rows, all};
}

static MatrixElements count_qr(const Sizes *s) {
  int64_t all = s->rows * s->columns;
  return (MatrixElements){all + s->less, all, 0};
}

static MatrixElements count_reflect(const Sizes *s) {
  int64_t all = s->rows * s->columns, reflections = s->of[2], width = s->of[3];
  return (MatrixElements){all, s->rows * width + reflections, all};
}

static MatrixElements count_power(const Sizes *s) {
  return (MatrixElements){s->rows * s->rows, s->rows * s->rows, 0};
}

static MatrixElements count_eigh(const Sizes *s) {
  return (MatrixElements){s->rows * s->rows + s->rows, s->rows * s->rows, 0};
}

static MatrixElements count_svd(const Sizes *s) {
  int64_t vectors = s->rows * s->rows + s->columns * s->columns;
  return (MatrixElements){s->columns + vectors, s->rows * s->columns, 0};
}

static MatrixElements count_place(const Sizes *s) { return (MatrixElements){1, s->rows, 1}; }

static MatrixElements count_first(const Sizes *s) {
  return (MatrixElements){s->columns, s->rows, 0};
}

/* Sizes come first, then flags.  No function reads or writes more than its count says: those of
 * `reflect` and `svd` have further conditions. */
static const struct {
  const char *name;
  uint32_t sizes, flags;
  Count *count;
  int64_t most; /* of each size; 0: MATRIX_ROWS_MAX */
} functions[] = {
    {"lu", 2, 1, count_lu, 0},
    {"order", 2, 0, count_order, 0},
    {"cholesky", 1, 0, count_cholesky, 0},
    {"solve", 2, 2, count_solve, 0},
    {"qr", 2, 0, count_qr, 0},
    {"reflect", 4, 1, count_reflect, 0},
    {"power", 1, 0, count_power, 0},
    {"eigh", 1, 1, count_eigh, 0},
    {"svd", 2, 0, count_svd, 0},
    {"ldl", 1, 0, count_ldl, 0},
    {"ldl_solve", 2, 0, count_ldl_solve, 0},
    {"place_of_rank", 1, 1, count_place, SELECT_ROW_MAX},
    {"first_places", 2, 1, count_first, SELECT_ROW_MAX},
};

static bool sizes_fit(const char *function, uint32_t n, const int64_t *sizes, int64_t most) {
  for (uint32_t i = 0; i < n; i++)
    if (sizes[i] < 1 || sizes[i] > (most ? most : MATRIX_ROWS_MAX)) return false;
  if (!strcmp(function, "first_places")) return sizes[1] <= sizes[0];
  if (!strcmp(function, "reflect")) return sizes[2] <= sizes[3];
  return strcmp(function, "svd") || sizes[1] <= sizes[0];
}

bool matrix_elements(const char *function, size_t n, const int64_t *sizes, MatrixElements *out) {
  for (size_t i = 0; i < sizeof functions / sizeof *functions; i++) {
    if (strcmp(functions[i].name, function)) continue;
    if (n != functions[i].sizes + functions[i].flags) return false;
    if (!sizes_fit(function, functions[i].sizes, sizes, functions[i].most)) return false;
    int64_t columns = functions[i].sizes > 1 ? sizes[1] : sizes[0];
    Sizes s = {sizes, sizes[0], columns, sizes[0] < columns ? sizes[0] : columns};
    *out = functions[i].count(&s);
    return true;
  }
  return false;
}
