#include "runtime/compile/units.h"

#include <stdlib.h>
#include <string.h>

#include "sema/messages.h"

bool units_read(Units *out, Arena *a, Pool *names, Diags *d, uint32_t file) {
  VEC(Unit *) list = {0};
  size_t at = 0;
  for (Unit *u; (u = lower_parse(a, names, d, file, &at));) vec_push(a, &list, u);
  *out = (Units){list.data, (uint32_t)list.len, file};
  return diag_errors(d) == 0;
}

bool units_shadowed(const Units *units, uint32_t i) {
  for (uint32_t j = i + 1; j < units->len; j++)
    if (lower_name(units->data[j]) == lower_name(units->data[i])) return true;
  return false;
}

static void list_units(const Units *units, Diags *d) {
  for (uint32_t i = 0; i < units->len; i++)
    if (!units_shadowed(units, i))
      diag_note(d, units->data[i]->span, N_SEMA_KERNEL, lower_name(units->data[i]));
}

static Unit *only_unit(const Units *units, Diags *d) {
  uint32_t n = 0;
  for (uint32_t i = 0; i < units->len; i++) n += !units_shadowed(units, i);
  if (n == 1) return units->data[units->len - 1];
  diag_error(d, (Span){0}, E_SEMA_SEVERAL_KERNELS, diag_file(d, units->file)->name);
  list_units(units, d);
  return NULL;
}

static bool is_unit_named(const Unit *u, const char *which) {
  const char *name = lower_name(u);
  size_t n = strlen(name);
  if (strncmp(name, which, n)) return false;
  return !which[n] || (which[n] == '@' && strtoul(which + n + 1, NULL, 10) == u->span.line);
}

Unit *units_find(const Units *units, Diags *d, const char *which) {
  if (!which || !*which) return only_unit(units, d);
  for (uint32_t i = units->len; i-- > 0;)
    if (is_unit_named(units->data[i], which)) return units->data[i];
  diag_error(d, (Span){0}, E_SEMA_NO_KERNEL, diag_file(d, units->file)->name, which);
  list_units(units, d);
  return NULL;
}
