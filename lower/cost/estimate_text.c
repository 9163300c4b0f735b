/* The model's prediction as a table. */
#include "lower/cost/estimate.h"

const char *estimate_bound_name(Bound b) {
  static const char *const names[] = {"memory", "cache", "tensor", "issue", "latency"};
  return names[b];
}

static void number(Text *out, const char *name, double v, const char *unit) {
  static const char *const scales[] = {"", "k", "M", "G", "T", "P"};
  int scale = 0;
  while (v >= 10000 && scale < 5) v /= 1000, scale++;
  text_printf(out, "%-16s %.4g%s%s%s\n", name, v, scale || *unit ? " " : "", scales[scale], unit);
}

static void count(Text *out, const char *name, double v, const char *unit) {
  text_printf(out, "%-16s %.4g%s\n", name, v, unit);
}

void estimate_print(Text *out, const Estimate *e) {
  text_printf(out, "%-16s %.4g us (%.4g to %.4g), bound by %s\n", "time", e->us, e->low_us,
              e->high_us, estimate_bound_name(e->bound));
  for (Bound b = BOUND_MEMORY; b <= BOUND_LATENCY; b++)
    text_printf(out, "  %-14s %.4g us\n", estimate_bound_name(b), e->bound_us[b]);
  number(out, "memory", e->memory_bytes, "B");
  number(out, "cache", e->l2_bytes, "B");
  number(out, "tensor", e->tensor_flops, "FLOP");
  number(out, "f32", e->f32_flops, "FLOP");
  number(out, "special", e->specials, "");
  text_printf(out, "%-16s %d a thread%s", "registers", e->registers, e->spilled ? "" : "\n");
  if (e->spilled) text_printf(out, ", %d more spilled\n", e->spilled);
  text_printf(out, "%-16s %lld bytes a program\n", "shared", (long long)e->shared);
  count(out, "stages", e->stages, "");
  count(out, "bank conflicts", e->conflicts, " turns for one");
  count(out, "lines", e->lines, " for one");
  count(out, "programs", e->programs, "");
  count(out, "at a time", e->occupancy, " a processor");
  count(out, "waves", e->waves, "");
}
