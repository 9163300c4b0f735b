/* The type of a tensor descriptor as text: tensordesc<bf16[64,64]>. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/compile/spec.h"

static const char prefix[] = "tensordesc<";

bool spec_begins_descriptor(const char *text) { return !strncmp(text, prefix, strlen(prefix)); }

static const char *skip_spaces(const char *s) { return s + strspn(s, " "); }

/* "[64, 64]" at *s. */
static const char *read_block(Type *block, const char **s) {
  static const char form[] = "the block's shape is missing: tensordesc<bf16[64,64]>";
  const char *at = *s;
  int64_t numel = 1;
  if (*at != '[') return form;
  for (at++; *at != ']';) {
    char *end;
    long long n = strtoll(at, &end, 10);
    if (end == at) return form;
    if (n < 1 || (n & (n - 1))) return "the extents of a block are powers of two";
    if (n > MAX_TILE || (numel *= n) > MAX_TILE) return "a block has at most 1048576 elements";
    if (block->rank == DESCRIPTOR_RANK) return "a tensor descriptor has at most 5 axes";
    block->shape[block->rank++] = (int32_t)n;
    at = skip_spaces(end);
    if (*at != ',' && *at != ']') return form;
    if (*at == ',') at = skip_spaces(at + 1);
  }
  *s = at + 1;
  return block->rank ? NULL : "a tensor descriptor has at least one axis";
}

/* ",padding=nan" at *s, or nothing. */
static const char *read_padding(const char **padding, DType elem, const char **s) {
  *padding = "zero";
  if (**s != ',') return NULL;
  const char *at = skip_spaces(*s + 1);
  if (!strncmp(at, "padding=nan", 11)) *padding = "nan";
  else if (strncmp(at, "padding=zero", 12))
    return "after the block may follow padding=zero or padding=nan";
  *s = at + strlen("padding=") + strlen(*padding);
  if (!strcmp(*padding, "nan") && !dtype_is_float(elem)) return "only floats are padded with NaN";
  return NULL;
}

const char *spec_descriptor(const char *text, Type *block, const char **padding, size_t *len) {
  if (!spec_begins_descriptor(text)) return "a tensor descriptor is tensordesc<bf16[64,64]>";
  const char *s = text + strlen(prefix);
  size_t n = strcspn(s, "[<>,");
  DType elem = dtype_parse(s, n);
  if (elem == DT_NONE || elem == DT_PTR) return "the dtype is unknown";
  *block = (Type){.dtype = (uint8_t)elem};
  s += n;
  const char *why = read_block(block, &s);
  if (!why) why = read_padding(padding, elem, &s);
  if (!why && *s != '>') why = "the type ends with >";
  *len = (size_t)(s + 1 - text);
  return why;
}

void spec_print_descriptor(char *out, size_t size, Type block, const char *padding) {
  int n = snprintf(out, size, "%s%s", prefix, dtype_name((DType)block.dtype));
  for (int i = 0; i < block.rank && n < (int)size; i++)
    n += snprintf(out + n, size - (size_t)n, "%s%d", i ? "," : "[", (int)block.shape[i]);
  if (n < (int)size)
    snprintf(out + n, size - (size_t)n, "]%s>", strcmp(padding, "nan") ? "" : ",padding=nan");
}
