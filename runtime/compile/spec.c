#include "runtime/compile/spec.h"
#include "runtime/messages.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

static bool is_digit(char c) { return c >= '0' && c <= '9'; }

/* Copies a number without its underscores; false if it does not fit or they stand wrongly. */
static bool plain_number(char *out, size_t size, const char *s, size_t len) {
  size_t n = 0;
  for (size_t i = 0; i < len; i++) {
    if (!s[i]) return false;
    if (s[i] == '_' && (i == 0 || s[i - 1] == '_' || i + 1 == len)) return false;
    if (s[i] == '_') continue;
    if (n + 1 >= size) return false;
    out[n++] = s[i];
  }
  out[n] = 0;
  return n > 0;
}

/* An integer in decimal, 0x, 0o or 0b. */
static bool read_integer(const char *s, int64_t *out, bool *is_u64) {
  bool negative = *s == '-';
  if (*s == '-' || *s == '+') s++;
  if (!is_digit(*s)) return false;
  int base = 10;
  if (s[0] == '0' && s[1] && strchr("xXoObB", s[1])) {
    base = strchr("xX", s[1]) ? 16 : strchr("oO", s[1]) ? 8 : 2;
    s += 2;
    if (*s == '-' || *s == '+' || !*s || *s == ' ') return false;
  }
  char *end;
  errno = 0;
  unsigned long long v = strtoull(s, &end, base);
  if (*end || errno) return false;
  if (negative && v > (uint64_t)INT64_MAX + 1) return false;
  *is_u64 = !negative && v > INT64_MAX;
  *out = negative ? (int64_t)(0 - v) : (int64_t)v;
  return true;
}

static bool is_digits(const char *s) {
  if (*s == '-' || *s == '+') s++;
  return *s && !s[strspn(s, "0123456789")];
}

/* Letters that a decimal float may have; keeps strtod from reading hexadecimal floats. */
static bool float_like(const char *s) {
  if (*s == '-' || *s == '+') s++;
  if (!strcmp(s, "inf") || !strcmp(s, "nan")) return true;
  return (is_digit(*s) || (*s == '.' && is_digit(s[1]))) && !strpbrk(s, "xXpPnN");
}

int spec_number(const char *text, size_t len, int64_t *i, double *f, bool *is_u64) {
  char s[128];
  *is_u64 = false;
  if (!plain_number(s, sizeof s, text, len)) return 0;
  if (read_integer(s, i, is_u64)) {
    *f = *is_u64 ? (double)(uint64_t)*i : (double)*i;
    return 1;
  }
  if (!float_like(s)) return 0;
  if (is_digits(s)) return 3;
  char *end;
  *f = strtod(s, &end);
  return *end ? 0 : 2;
}

static int bad_type(const char *name, const char *text) {
  return error_set(NEREID_E_USAGE, E_RUN_BAD_TYPE, name, text);
}

/* The text after the colon: a divisor, or 1 for an integer that is 1. */
static int read_divisor(KernelArg *out, const char *name, const char *text, const char *s) {
  int64_t div;
  double f;
  bool is_u64;
  if (spec_number(s, strlen(s), &div, &f, &is_u64) != 1 || is_u64 || div < 1)
    return bad_type(name, text);
  DKind kind = dtype_kind((DType)out->type.dtype);
  if (kind != DK_PTR && kind != DK_INT && kind != DK_UINT)
    return error_set(NEREID_E_USAGE, E_RUN_DIVISOR_OF, name, text);
  if (div == 1 && kind != DK_PTR) {
    out->kind = ARG_ONE;
    out->i = 1;
  }
  out->div = div;
  return 0;
}

static int read_descriptor(KernelArg *out, const char *text) {
  size_t len;
  const char *why = spec_descriptor(text, &out->block, &out->padding, &len);
  if (!why && text[len]) why = "nothing may follow the type";
  if (why) return error_set(NEREID_E_USAGE, E_RUN_BAD_DESCRIPTOR, out->name, text, why);
  out->type = type_ptr((DType)out->block.dtype);
  out->div = DESCRIPTOR_ALIGNMENT;
  return 0;
}

int spec_type(KernelArg *out, Pool *names, const char *name, const char *text) {
  *out = (KernelArg){.name = name, .kind = ARG_TYPE, .div = 1};
  if (spec_begins_descriptor(text)) return read_descriptor(out, text);
  if (spec_is_constant(text)) return spec_constexpr(out, names, name, text);
  const char *s = text;
  unsigned stars = 0;
  while (*s == '*') s++, stars++;
  /* Triton marks a pointer that is only read: *kfp32. */
  if (stars && *s == 'k') s++;
  size_t len = strcspn(s, ":");
  DType elem = dtype_parse(s, len);
  if (elem == DT_NONE || stars > 2) return bad_type(name, text);
  out->type = stars == 0 ? type_scalar(elem) : type_ptr(stars == 1 ? elem : DT_PTR);
  return s[len] ? read_divisor(out, name, text, s + len + 1) : 0;
}

/* Without the ":constexpr" at its end. */
static size_t length_of_constexpr(const char *text, size_t len) {
  static const char mark[] = ":constexpr";
  size_t n = sizeof mark - 1;
  return len > n && !memcmp(text + len - n, mark, n) ? len - n : len;
}

/* The dtype that "tl.float16" or "triton.language.float16" names. */
static DType language_dtype(const char *s) {
  static const char *const prefixes[] = {"tl.", "triton.language.", "language."};
  for (size_t i = 0; i < sizeof prefixes / sizeof *prefixes; i++) {
    size_t n = strlen(prefixes[i]);
    if (!strncmp(s, prefixes[i], n)) return dtype_parse(s + n, strlen(s + n));
  }
  return DT_NONE;
}

static bool is_none(const char *text) { return !strcmp(text, "none") || !strcmp(text, "None"); }

bool spec_is_constant(const char *text) {
  size_t len = strlen(text);
  return length_of_constexpr(text, len) < len || is_none(text) || !strcmp(text, "()") ||
         !strncmp(text, "fn:", 3) || !strncmp(text, "name:", 5) || !strncmp(text, "class:", 6) ||
         language_dtype(text) != DT_NONE;
}

/* The text between the quotes of 'text' or "text", as Python writes strings. */
static const char *unquoted(const char *text, Pool *names) {
  size_t len = strlen(text);
  bool quoted = len >= 2 && (text[0] == '\'' || text[0] == '"') && text[len - 1] == text[0];
  return quoted ? pool_namen(names, text + 1, len - 2) : text;
}

/* A name of the file or outside of it; else text. */
static void read_name(KernelArg *out, Pool *names, const char *text) {
  if (!strcmp(text, "()")) {
    out->kind = ARG_TUPLE;
  } else if (!strncmp(text, "class:", 6)) {
    out->kind = ARG_TUPLE;
    out->s = text + 6;
  } else if (!strncmp(text, "fn:", 3)) {
    out->kind = ARG_NAME;
    out->s = text + 3;
  } else if (!strncmp(text, "name:", 5)) {
    out->kind = ARG_NAME;
    out->s = text + 5;
  } else {
    out->kind = ARG_STR;
    out->s = unquoted(text, names);
  }
}

int spec_constexpr(KernelArg *out, Pool *names, const char *name, const char *text) {
  *out = (KernelArg){.name = name, .div = 1};
  if (spec_begins_descriptor(text)) {
    out->kind = ARG_TYPE;
    return read_descriptor(out, text);
  }
  size_t all = strlen(text), len = length_of_constexpr(text, all);
  out->is_constexpr = len < all;
  if (len < all) text = pool_namen(names, text, len);
  bool is_u64;
  int number = spec_number(text, len, &out->i, &out->f, &is_u64);
  if (number == 3 || is_u64) return error_set(NEREID_E_USAGE, E_RUN_CONSTEXPR_BIG, name, text);
  if (number) {
    out->kind = number == 1 ? ARG_INT : ARG_FLOAT;
  } else if (!strcmp(text, "True") || !strcmp(text, "False")) {
    out->kind = ARG_BOOL;
    out->i = text[0] == 'T';
  } else if (is_none(text)) {
    out->kind = ARG_NONE;
  } else if (language_dtype(text) != DT_NONE) {
    out->kind = ARG_DTYPE;
    out->type = type_scalar(language_dtype(text));
  } else {
    read_name(out, names, text);
  }
  return 0;
}
