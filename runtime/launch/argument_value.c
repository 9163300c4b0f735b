/* Reading VALUE texts. */
#include "runtime/launch/argument_value.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "lang/interp/interp.h"
#include "runtime/compile/spec.h"
#include "runtime/launch/model_value.h"
#include "runtime/messages.h"
#include "runtime/support/random.h"

static int bad(const char *text, const char *why) {
  return error_set(NEREID_E_USAGE, E_RUN_BAD_VALUE, text, why);
}

/* ---- numbers ---- */

static bool integer_fits(DType t, int64_t i, bool is_u64) {
  unsigned bits = dtype_bits(t);
  if (is_u64) return t == DT_U64;
  if (dtype_is_signed(t)) {
    int64_t most = bits == 64 ? INT64_MAX : ((int64_t)1 << (bits - 1)) - 1;
    return i <= most && i >= -most - 1;
  }
  if (bits == 64) return i >= 0;
  return i >= 0 && i < (int64_t)1 << bits;
}

/* A number becomes `t`, which may be of another kind. */
static int to_dtype(nereid_value *v, DType t, bool is_u64) {
  if (dtype_is_float(t)) {
    v->kind = NEREID_VALUE_FLOAT;
    v->f = t == DT_F64 ? v->f : scalar_round(t, v->f);
  } else {
    if (v->kind == NEREID_VALUE_FLOAT || !integer_fits(t, v->i, is_u64))
      return error_set(NEREID_E_USAGE, E_RUN_NUMBER_MISFIT, v->f, dtype_name(t));
    v->kind = t == DT_I1 ? NEREID_VALUE_BOOL : NEREID_VALUE_INT;
  }
  v->dtype = t;
  return 0;
}

static int read_scalar(nereid_value *v, const char *text) {
  size_t len = strcspn(text, ":");
  bool is_u64;
  int number = spec_number(text, len, &v->i, &v->f, &is_u64);
  if (!number && text[len])
    return bad(text, "it is no array: these begin with zeros:, ones:, empty:, rand:, randn:, "
                     "randint:, tensordesc< or @, as randn:f32[8,16]");
  if (!number) return bad(text, "it is neither a number nor an array");
  if (number == 3) return bad(text, "the integer does not fit 64 bits; a float has a point: 1.0");
  v->kind = number == 1 ? NEREID_VALUE_INT : NEREID_VALUE_FLOAT;
  v->typed = text[len] != 0;
  if (v->typed) {
    DType t = dtype_parse(text + len + 1, strlen(text + len + 1));
    return t == DT_NONE ? bad(text, "the dtype is unknown") : to_dtype(v, t, is_u64);
  }
  if (number == 2) return to_dtype(v, DT_F32, false);
  bool fits32 = !is_u64 && v->i == (int32_t)v->i;
  return to_dtype(v, is_u64 ? DT_U64 : fits32 ? DT_I32 : DT_I64, is_u64);
}

/* ---- arrays ---- */

/* How an array's text is read. */
typedef struct {
  bool outline;
  int64_t period;
  bool takes_complex;
} Reading;

typedef enum { MAKE_ZEROS, MAKE_ONES, MAKE_EMPTY, MAKE_RAND, MAKE_RANDN, MAKE_RANDINT } Make;

typedef struct {
  Array *array;
  Make make;
  int64_t lo, hi, seed;
  int64_t period; /* of drawn elements; 0: none */
} Fill;

static double round_below_one(DType t, double u) {
  static const int significant[DT_COUNT] = {
      [DT_F8E5] = 3, [DT_F8E4NV] = 4, [DT_F8E4B15] = 4, [DT_F16] = 11,
      [DT_BF16] = 8, [DT_F32] = 24,   [DT_F64] = 53};
  double scale = (double)((uint64_t)1 << significant[t]);
  return (double)(int64_t)(u * scale) / scale;
}

static Scalar draw_element(const Fill *f, const uint64_t words[2], int which) {
  DType t = f->array->dtype;
  double normals[2];
  switch (f->make) {
    case MAKE_RAND: return (Scalar){.f = round_below_one(t, random_uniform(words[which]))};
    case MAKE_RANDN:
      random_normals(normals, words);
      return (Scalar){.f = t == DT_F64 ? normals[which] : scalar_round(t, normals[which])};
    default: {
      uint64_t range = (uint64_t)f->hi - (uint64_t)f->lo;
      int64_t v = (int64_t)((uint64_t)f->lo + words[which] % range);
      return dtype_is_float(t) ? (Scalar){.f = scalar_round(t, (double)v)} : (Scalar){.i = v};
    }
  }
}

static void fill_range(void *context, int64_t begin, int64_t end) {
  const Fill *f = context;
  size_t size = dtype_bytes(f->array->dtype);
  char *out = (char *)f->array->data + (size_t)begin * size;
  uint64_t words[2];
  for (int64_t i = begin; i < end; i++, out += size) {
    if (i % 2 == 0) random_words(words, (uint64_t)f->seed, (uint64_t)i / 2);
    scalar_store(f->array->dtype, draw_element(f, words, (int)(i % 2)), out);
  }
}

static void fill_ones(void *context, int64_t begin, int64_t end) {
  const Fill *f = context;
  DType t = f->array->dtype;
  size_t size = dtype_bytes(t);
  Scalar one = dtype_is_float(t) ? (Scalar){.f = 1} : (Scalar){.i = 1};
  for (int64_t i = begin; i < end; i++)
    scalar_store(t, one, (char *)f->array->data + (size_t)i * size);
}

/* Fills with one period of random values, then doubles the filled part until the array is full. */
static void fill_drawn(Fill *f) {
  const Array *a = f->array;
  bool repeats = f->period > 0 && f->period < a->count;
  size_t have = (size_t)(repeats ? f->period : a->count) * dtype_bytes(a->dtype);
  array_for(repeats ? f->period : a->count, fill_range, f);
  for (size_t n; have < a->bytes; have += n) {
    n = a->bytes - have < have ? a->bytes - have : have;
    memcpy((char *)a->data + have, a->data, n);
  }
}

static void fill_array(Fill *f) {
  /* The elements of an empty array are undefined but can't be marked: NaN or -1, so that a kernel
   * that reads them does not look right by chance. */
  if (f->make == MAKE_EMPTY) memset(f->array->data, 0xFF, f->array->bytes);
  else if (f->make == MAKE_ZEROS) memset(f->array->data, 0, f->array->bytes);
  else if (f->make == MAKE_ONES) array_for(f->array->count, fill_ones, f);
  else fill_drawn(f);
  if (f->make == MAKE_EMPTY && f->array->dtype == DT_I1) memset(f->array->data, 1, f->array->bytes);
}

/* The dtype of the parts of c64 and c128; DT_NONE for others. */
static DType complex_part(const char *s, size_t len) {
  if (len == 3 && !strncmp(s, "c64", 3)) return DT_F32;
  return len == 4 && !strncmp(s, "c128", 4) ? DT_F64 : DT_NONE;
}

/* f32[128, 64] */
static int read_array_shape(Array *a, const char *text, const char **rest, const Reading *how) {
  const char *s = *rest;
  size_t len = strcspn(s, "[:");
  a->dtype = dtype_parse(s, len);
  if (a->dtype == DT_NONE && how->takes_complex) a->dtype = complex_part(s, len);
  a->is_complex = a->dtype != DT_NONE && *s == 'c';
  if (a->dtype == DT_NONE) return bad(text, "the dtype is unknown");
  s += len;
  if (*s != '[') return bad(text, "the shape is missing: f32[128,64]");
  for (s++; *s != ']';) {
    char *end;
    long long v = strtoll(s, &end, 10);
    while (*end == ' ') end++;
    if (end == s || v < 0 || a->rank == ARRAY_MAX_RANK || (*end != ',' && *end != ']'))
      return bad(text, "the shape should be numbers: f32[128,64]");
    a->shape[a->rank++] = v;
    s = *end == ',' ? end + 1 : end;
  }
  if (a->is_complex && a->rank == ARRAY_MAX_RANK) return bad(text, "it has too many axes");
  if (a->is_complex) a->shape[a->rank++] = 2;
  *rest = s + 1;
  return 0;
}

/* :LO:HI:SEED, the last of which may be missing. */
static int read_fill_numbers(Fill *f, const char *text, const char *s) {
  int64_t *const places[] = {&f->lo, &f->hi, &f->seed};
  int first = f->make == MAKE_RANDINT ? 0 : 2;
  if (f->make <= MAKE_EMPTY) return *s ? bad(text, "nothing may follow the shape") : 0;
  for (int i = first; i < 3; i++) {
    if (!*s && i == 2) break;
    size_t len = *s == ':' ? strcspn(s + 1, ":") : 0;
    double unused;
    bool is_u64;
    if (!len || spec_number(s + 1, len, places[i], &unused, &is_u64) != 1)
      return bad(text, i == 2 ? "the seed should be a number" : "write randint:i32[8]:LO:HI:SEED");
    s += 1 + len;
  }
  if (*s) return bad(text, "too much follows the shape");
  return f->make == MAKE_RANDINT && f->lo >= f->hi ? bad(text, "LO should be below HI") : 0;
}

static int check_draw(const Fill *f, const char *text) {
  DType t = f->array->dtype;
  bool is_float = dtype_is_float(t);
  if ((f->make == MAKE_RAND || f->make == MAKE_RANDN) && !is_float)
    return bad(text, "only floats are drawn so; use randint");
  bool bounded = f->make == MAKE_RANDINT && !is_float;
  if (bounded && (!integer_fits(t, f->lo, false) || !integer_fits(t, f->hi - 1, false)))
    return bad(text, "LO and HI do not fit the dtype");
  return 0;
}

static int read_made(nereid_value *v, const char *text, Make make, const char *rest,
                     const Reading *how) {
  Fill f = {.array = &v->array, .make = make, .period = how->period};
  int code = read_array_shape(&v->array, text, &rest, how);
  if (!code) code = read_fill_numbers(&f, text, rest);
  if (!code) code = check_draw(&f, text);
  if (!code) code = how->outline ? array_measure(&v->array) : array_new(&v->array);
  if (code) return code;
  v->kind = NEREID_VALUE_ARRAY;
  v->empty = make == MAKE_EMPTY;
  if (!how->outline) fill_array(&f);
  return 0;
}

/* @x.npy, @x.npy:bf16 */
static int read_npy(nereid_value *v, const char *text, const Reading *how) {
  const char *colon = strrchr(text, ':');
  DType to = colon ? dtype_parse(colon + 1, strlen(colon + 1)) : DT_NONE;
  char *path = to == DT_NONE ? strdup(text + 1) : strndup(text + 1, (size_t)(colon - text) - 1);
  if (!path) return error_out_of_memory();
  int code = npy_read(&v->array, path);
  if (!code) v->kind = NEREID_VALUE_ARRAY;
  if (!code && v->array.is_complex && !how->takes_complex)
    code =
        error_set(NEREID_E_FILE, E_RUN_NPY_DTYPE, path, v->array.dtype == DT_F32 ? "<c8" : "<c16");
  if (!code && to != DT_NONE) code = array_convert(&v->array, to);
  free(path);
  return code;
}

/* &OTHER, &OTHER[16:] */
static int read_alias(nereid_value *v, const char *text) {
  size_t length = strcspn(text + 1, "[");
  v->kind = NEREID_VALUE_ALIAS;
  v->dtype = DT_NONE;
  v->alias = strndup(text + 1, length);
  if (!v->alias) return error_out_of_memory();
  const char *from = text + 1 + length;
  if (!*from) return 0;
  char *end;
  errno = 0;
  v->i = strtoll(from + 1, &end, 10);
  bool whole = end > from + 1 && !errno && v->i >= 0 && !strcmp(end, ":]");
  return whole ? 0 : error_set(NEREID_E_USAGE, E_RUN_VALUE_SLICE, text);
}

static int read_value_text(nereid_value *v, const char *text, const Reading *how);

/* tensordesc<bf16[64,64]>:ARRAY */
static int read_descriptor_value(nereid_value *v, const char *text, const Reading *how) {
  const char *array;
  int code = descriptor_read(&v->descriptor, &array, text);
  if (!code && spec_begins_descriptor(array)) code = bad(text, "a descriptor is made of an array");
  if (!code) code = read_value_text(v, array, how);
  if (code || v->kind == NEREID_VALUE_ALIAS) return code;
  if (v->kind != NEREID_VALUE_ARRAY) return bad(text, "a descriptor is made of an array");
  return descriptor_complete(&v->descriptor, &v->array, 0);
}

static int read_value_text(nereid_value *v, const char *text, const Reading *how) {
  static const char *const makers[] = {"zeros:", "ones:", "empty:", "rand:", "randn:", "randint:"};
  for (int i = MAKE_ZEROS; i <= MAKE_RANDINT; i++) {
    size_t n = strlen(makers[i]);
    if (!strncmp(text, makers[i], n)) return read_made(v, text, (Make)i, text + n, how);
  }
  if (spec_begins_descriptor(text)) return read_descriptor_value(v, text, how);
  if (text[0] == '@') return read_npy(v, text, how);
  if (text[0] == '&') return read_alias(v, text);
  if (!strcmp(text, "none") || !strcmp(text, "None")) {
    v->kind = NEREID_VALUE_NONE;
    return 0;
  }
  bool yes = !strcmp(text, "true") || !strcmp(text, "True");
  if (yes || !strcmp(text, "false") || !strcmp(text, "False")) {
    *v = (nereid_value){.kind = NEREID_VALUE_BOOL, .dtype = DT_I1, .i = yes, .f = yes};
    return 0;
  }
  return read_scalar(v, text);
}

/* ---- the API ---- */

typedef struct {
  nereid_value *value;
  const char *text;
  Reading how;
} Parsing;

static int parse_body(void *arg) {
  Parsing *p = arg;
  return read_value_text(p->value, p->text, &p->how);
}

static int parse_value(nereid_value **out, const char *text, Reading how) {
  *out = NULL;
  nereid_value *v = calloc(1, sizeof *v);
  if (!v) return error_out_of_memory();
  int code = error_guard_bare(parse_body, &(Parsing){v, text, how});
  if (code) nereid_value_free(v);
  else *out = v;
  return code;
}

int nereid_value_parse(nereid_value **out, const char *text) {
  REQUIRE_OUT(out);
  REQUIRE(text);
  return parse_value(out, text, (Reading){0});
}

int value_outline(nereid_value **out, const char *text) {
  return parse_value(out, text, (Reading){.outline = true});
}

int value_parse_complex(nereid_value **out, const char *text) {
  return parse_value(out, text, (Reading){.takes_complex = true});
}

int value_repeat(nereid_value **out, const char *text, int64_t period) {
  return parse_value(out, text, (Reading){.period = period});
}

void nereid_value_free(nereid_value *v) {
  if (!v) return;
  free(v->alias);
  free(v->array.data);
  free(v);
}

int nereid_value_cast(nereid_value *v, const char *dtype) {
  REQUIRE(v);
  REQUIRE(dtype);
  DType t = dtype_parse(dtype, strlen(dtype));
  bool number =
      v->kind == NEREID_VALUE_INT || v->kind == NEREID_VALUE_FLOAT || v->kind == NEREID_VALUE_BOOL;
  if (!number || t == DT_NONE) return error_set(NEREID_E_USAGE, E_RUN_VALUE_CAST, dtype);
  return to_dtype(v, t, v->dtype == DT_U64 && v->i < 0);
}
