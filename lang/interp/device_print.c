#include "lang/interp/device_print.h"

#include <math.h>
#include <stdio.h>

/* ---- values ---- */

int print_casts(PrintLine *line, DType t, bool hex, PrintCast casts[PRINT_CASTS]) {
  unsigned bits = dtype_bits(t);
  bool bare = hex || t == DT_PTR, is_float = dtype_is_float(t) && !bare;
  int n = 0;
  line->digits = !hex ? t == DT_PTR : bits < 4 ? 1 : (int)bits / 4;
  if (bare && (t == DT_PTR || dtype_is_float(t) || dtype_is_signed(t)))
    casts[n++] = (PrintCast){TILE_BITCAST, t = dtype_int(bits, false)};
  if (is_float && bits < 32) casts[n++] = (PrintCast){TILE_CAST, t = DT_F32};
  line->type = is_float ? DT_F64 : dtype_int(bits > 32 ? 64 : 32, dtype_is_signed(t));
  if (t != line->type) casts[n++] = (PrintCast){TILE_CAST, line->type};
  return n;
}

const char *print_message(Arena *a, const char *message, uint32_t i, uint32_t n) {
  return n > 1 ? arena_printf(a, "%s(operand %u) ", message, i) : message;
}

/* ---- lines ---- */

/* The digits of the largest index; of an axis of one element none. */
static int index_width(int32_t extent) {
  int n = 0;
  for (int64_t power = 1; power < extent; power *= 10) n++;
  return n;
}

/* "%u", "%lli", "0x%08x" */
static void value_format(Text *out, const PrintLine *line) {
  bool wide = dtype_bits(line->type) == 64;
  if (line->type == DT_F64) text_puts(out, "%f");
  else if (line->digits) text_printf(out, "0x%%0%d%s", line->digits, wide ? "llx" : "x");
  else text_printf(out, "%%%s%s", wide ? "ll" : "", dtype_is_signed(line->type) ? "i" : "u");
}

void print_format(Text *out, const PrintLine *line) {
  text_puts(out, "pid (%u, %u, %u)");
  if (line->type != DT_NONE) {
    text_puts(out, " idx (");
    for (int a = 0; a < line->rank; a++) {
      int width = index_width(line->shape[a]);
      text_puts(out, a ? ", %" : "%");
      if (width) text_printf(out, "%d", width);
      text_puts(out, "i");
    }
    text_puts(out, ")");
  }
  for (const char *s = line->message; *s; s++) {
    if (*s == '%') text_puts(out, "%");
    text_putn(out, s, 1);
  }
  if (line->type != DT_NONE) value_format(out, line);
  text_puts(out, "\n");
}

static void put_printed_value(Text *out, const PrintLine *line, Scalar v) {
  if (line->type == DT_F64) text_printf(out, "%f", isnan(v.f) ? fabs(v.f) : v.f);
  else if (line->digits) text_printf(out, "0x%0*llx", line->digits, (unsigned long long)v.i);
  else if (dtype_is_signed(line->type)) text_printf(out, "%lli", (long long)v.i);
  else text_printf(out, "%llu", (unsigned long long)v.i);
}

void print_text(Text *out, const PrintLine *line, const uint32_t pid[3], const int32_t *index,
                const Scalar *value) {
  text_printf(out, "pid (%u, %u, %u)", pid[0], pid[1], pid[2]);
  if (line->type != DT_NONE) {
    text_puts(out, " idx (");
    for (int a = 0; a < line->rank; a++)
      text_printf(out, "%s%*i", a ? ", " : "", index_width(line->shape[a]), index[a]);
    text_puts(out, ")");
  }
  text_puts(out, line->message);
  if (line->type != DT_NONE && value) put_printed_value(out, line, *value);
  else if (line->type != DT_NONE) text_puts(out, "undefined");
  text_puts(out, "\n");
}

void print_write(const InterpOptions *o, const Text *line) {
  if (o->print) o->print(o->context, line->data);
  else fwrite(line->data, 1, line->len, stdout);
}
