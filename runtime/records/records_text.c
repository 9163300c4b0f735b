/* Records as text, by the lexical rules of lang/base/irtext.h:
 *
 *   nereid records 2
 *   problem kernel "k" signature "*f32, i32" sizes "n=4096" device "NVIDIA H200" driver "12080"
 *     config "BLOCK=64 num_warps=4" ok median 612.35 spread 3.25 runs 20
 *       taken "2026-11-22T03:10:00Z" ir "00112233445566778899aabbccddeeff" version "0.1.0"
 *       code "00112233445566778899aabbccddeeff" reason "" shape "n=4000" predicted 580.5
 *
 * with a record on one line.  Fields have this order, and none is left out; format 1 had no shape
 * and no prediction. */
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "lang/base/irtext.h"
#include "runtime/messages.h"
#include "runtime/records/records.h"

enum { FORMAT = 2, HASH_DIGITS = 32, TIME_SIZE = 32 };

/* ---- hashes and times ---- */

static void print_hash(char out[HASH_DIGITS + 1], const CacheKey *k) {
  for (size_t i = 0; i < sizeof k->bytes; i++) snprintf(out + 2 * i, 3, "%02x", k->bytes[i]);
}

static bool parse_hash(CacheKey *out, const char *s) {
  char again[HASH_DIGITS + 1];
  if (strlen(s) != HASH_DIGITS) return false;
  for (size_t i = 0; i < sizeof out->bytes; i++)
    if (sscanf(s + 2 * i, "%2hhx", &out->bytes[i]) != 1) return false;
  print_hash(again, out);
  return !strcmp(again, s);
}

static void print_time(char out[TIME_SIZE], int64_t seconds) {
  time_t t = (time_t)seconds;
  struct tm parts;
  gmtime_r(&t, &parts);
  strftime(out, TIME_SIZE, "%Y-%m-%dT%H:%M:%SZ", &parts);
}

/* Only what print_time writes is a time. */
static bool parse_time(int64_t *out, const char *s) {
  struct tm t = {0};
  char again[TIME_SIZE];
  if (sscanf(s, "%4d-%2d-%2dT%2d:%2d:%2dZ", &t.tm_year, &t.tm_mon, &t.tm_mday, &t.tm_hour,
             &t.tm_min, &t.tm_sec) != 6)
    return false;
  t.tm_year -= 1900;
  t.tm_mon--;
  *out = (int64_t)timegm(&t);
  print_time(again, *out);
  return *out >= 0 && !strcmp(again, s);
}

/* ---- printing ---- */

static void print_string_field(Text *out, const char *name, const char *value) {
  text_printf(out, " %s ", name);
  text_quote(out, value);
}

static void print_hash_field(Text *out, const char *name, const CacheKey *k) {
  char digits[HASH_DIGITS + 1];
  print_hash(digits, k);
  print_string_field(out, name, digits);
}

static void print_number(Text *out, const char *name, double v) {
  text_printf(out, " %s ", name);
  ir_print_float(out, v, false);
}

static void print_problem_key(Text *out, const RecordProblem *p) {
  text_puts(out, "problem");
  print_string_field(out, "kernel", p->kernel);
  print_string_field(out, "signature", p->signature);
  print_string_field(out, "sizes", p->sizes);
  print_string_field(out, "device", p->device);
  print_string_field(out, "driver", p->driver);
  text_puts(out, "\n");
}

static void print_record(Text *out, const Record *r) {
  char taken[TIME_SIZE];
  print_time(taken, r->taken);
  text_puts(out, " ");
  print_string_field(out, "config", r->config);
  text_printf(out, " %s", nereid_tune_status_name(r->status));
  print_number(out, "median", r->median_us);
  print_number(out, "spread", r->spread_us);
  text_printf(out, " runs %d", r->runs);
  print_string_field(out, "taken", taken);
  print_hash_field(out, "ir", &r->ir);
  print_string_field(out, "version", r->version);
  print_hash_field(out, "code", &r->code);
  print_string_field(out, "reason", r->reason);
  print_string_field(out, "shape", r->shape);
  print_number(out, "predicted", r->predicted_us);
  text_puts(out, "\n");
}

void records_print(Text *out, const RecordList *l) {
  text_printf(out, "nereid records %d\n", FORMAT);
  for (size_t i = 0; i < l->len; i++) {
    const Record *r = &l->data[i];
    if (!i || record_compare_problems(r->problem, l->data[i - 1].problem))
      print_problem_key(out, r->problem);
    print_record(out, r);
  }
}

/* ---- reading ---- */

/* The string of a field; "" after an error. */
static const char *read_string_field(IrReader *r, const char *name) {
  const char *s = ir_expect(r, name) ? ir_string(r) : NULL;
  return s ? s : "";
}

static CacheKey read_hash(IrReader *r, const char *name) {
  CacheKey key = {{0}};
  ir_expect(r, name);
  Span at = ir_peek(r)->span;
  const char *s = ir_string(r);
  if (s && !parse_hash(&key, s)) ir_error(r, at, E_RUN_RECORDS_HASH, HASH_DIGITS);
  return key;
}

static int64_t read_time(IrReader *r) {
  int64_t seconds = 0;
  ir_expect(r, "taken");
  Span at = ir_peek(r)->span;
  const char *s = ir_string(r);
  if (s && !parse_time(&seconds, s)) ir_error(r, at, E_RUN_RECORDS_TIME);
  return seconds;
}

static double read_number_field(IrReader *r, const char *name) {
  ir_expect(r, name);
  if (ir_at_kind(r, IT_INT) || ir_at_kind(r, IT_FLOAT)) return ir_next(r).f;
  ir_expected(r, "a number");
  return 0;
}

static nereid_tune_status read_status(IrReader *r) {
  nereid_tune_status s = NEREID_TUNE_PRUNED;
  Span at = ir_peek(r)->span;
  const char *word = ir_word(r, "a status");
  if (word && (!tune_status_read(&s, word) || s == NEREID_TUNE_PRUNED))
    ir_error(r, at, E_RUN_RECORDS_STATUS, word);
  return s;
}

static const RecordProblem *read_problem(IrReader *r) {
  RecordProblem *p = ARENA_NEW(r->arena, RecordProblem);
  p->kernel = read_string_field(r, "kernel");
  p->signature = read_string_field(r, "signature");
  p->sizes = read_string_field(r, "sizes");
  p->device = read_string_field(r, "device");
  p->driver = read_string_field(r, "driver");
  return p;
}

static Record read_record(IrReader *r, const RecordProblem *p, int64_t format) {
  Record out = {.problem = p, .shape = ""};
  out.config = read_string_field(r, "config");
  Span at = ir_peek(r)->span;
  out.status = read_status(r);
  out.median_us = read_number_field(r, "median");
  out.spread_us = read_number_field(r, "spread");
  ir_expect(r, "runs");
  out.runs = (int)ir_int_in(r, 0, INT_MAX);
  out.taken = read_time(r);
  out.ir = read_hash(r, "ir");
  out.version = read_string_field(r, "version");
  out.code = read_hash(r, "code");
  out.reason = read_string_field(r, "reason");
  if (format > 1) {
    out.shape = read_string_field(r, "shape");
    out.predicted_us = read_number_field(r, "predicted");
  }
  if (!r->failed && !record_is_valid(&out)) ir_error(r, at, E_RUN_RECORDS_OK);
  return out;
}

static int64_t read_records_version(IrReader *r) {
  Span at = ir_peek(r)->span;
  if (!ir_accept(r, "nereid") || !ir_accept(r, "records")) ir_error(r, at, E_RUN_RECORDS_HEAD);
  at = ir_peek(r)->span;
  int64_t format = ir_int_in(r, 1, INT_MAX);
  if (format > FORMAT) ir_error(r, at, E_RUN_RECORDS_FORMAT, (int)format, FORMAT);
  return format;
}

bool records_read(Arena *a, Pool *names, Diags *d, uint32_t file, RecordList *out) {
  IrReader r = ir_open(a, names, d, file, 0);
  const RecordProblem *problem = NULL;
  int64_t format = read_records_version(&r);
  while (!r.failed && !ir_at_kind(&r, IT_END)) {
    if (ir_accept(&r, "problem")) {
      problem = read_problem(&r);
    } else if (problem && ir_at(&r, "config")) {
      Record record = read_record(&r, problem, format);
      if (!r.failed) vec_push(a, out, record);
    } else {
      ir_expected(&r, problem ? "`problem` or `config`" : "`problem`");
    }
  }
  return !r.failed;
}
