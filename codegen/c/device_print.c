/* device_print: a call of vprint, which prints a line for each lane. */
#include "lang/interp/device_print.h"

#include "codegen/c/c.h"

/* A string literal; the first characters of comments and trigraphs are escaped. */
static const char *string_literal(Gen *g, const char *s) {
  Text t = text_new(g->arena);
  text_puts(&t, "\"");
  for (; *s; s++) {
    bool plain = *s >= ' ' && *s <= '~' && *s != '"' && *s != '\\' && *s != '?' && *s != '*';
    if (*s == '\n') text_puts(&t, "\\n");
    else if (plain) text_putn(&t, s, 1);
    else text_printf(&t, "\\%03o", (unsigned char)*s);
  }
  text_puts(&t, "\"");
  return t.data;
}

/* Without an operand a value is given that the format does not ask for. */
void c_print_line(Gen *g, const NestStmt *s) {
  PrintLine line;
  Text format = text_new(g->arena), index = text_new(g->arena);
  nest_print_line(s, &line);
  print_format(&format, &line);
  for (uint32_t i = 1; i < s->nsrcs; i++)
    text_printf(&index, "%s%s", i > 1 ? ", " : "", c_vector(g, &s->srcs[i], DT_I32));
  const char *axes = line.rank ? c_text(g, "(const vi32[]){%s}", index.data) : "NULL";
  const char *when = s->guard.kind ? c_vector(g, &s->guard, DT_I1) : "vsplat_i32(-1)";
  const char *value = s->nsrcs ? c_vector(g, &s->srcs[0], s->type) : "vsplat_i32(0)";
  c_line(g, "vprint_%s(%s, pid_0, pid_1, pid_2, %s, %d, %s, %s);",
         dtype_name(s->nsrcs ? s->type : DT_I32), string_literal(g, format.data), when, line.rank,
         axes, value);
}
