#include "runtime/image/cubin.h"

#include <elf.h>
#include <stdint.h>
#include <string.h>

/* Section .nv.info is a list of attributes, of which these have a symbol and a number. */
enum { FORM_SIZED = 4, FRAME_SIZE = 0x11, REGISTERS = 0x2f };

typedef struct {
  const char *data;
  size_t size;
  Elf64_Ehdr head;
} Elf;

typedef struct {
  const char *data;
  size_t size;
} Bytes;

static bool has(const Elf *e, uint64_t at, uint64_t size) {
  return at <= e->size && size <= e->size - at;
}

static bool read_section(Elf64_Shdr *out, const Elf *e, size_t i) {
  uint64_t at = e->head.e_shoff + i * sizeof *out;
  if (i >= e->head.e_shnum || !has(e, at, sizeof *out)) return false;
  memcpy(out, e->data + at, sizeof *out);
  return true;
}

static bool section_bytes(Bytes *out, const Elf *e, size_t i) {
  Elf64_Shdr s;
  if (!read_section(&s, e, i) || s.sh_type == SHT_NOBITS || !has(e, s.sh_offset, s.sh_size))
    return false;
  *out = (Bytes){e->data + s.sh_offset, s.sh_size};
  return true;
}

static bool text_at_is(Bytes strings, uint64_t at, const char *text) {
  size_t n = strlen(text) + 1;
  return at <= strings.size && n <= strings.size - at && !memcmp(strings.data + at, text, n);
}

/* The index of the first section of that name; 0: there is none. */
static size_t find_section(const Elf *e, const char *name) {
  Bytes names;
  Elf64_Shdr s;
  if (!section_bytes(&names, e, e->head.e_shstrndx)) return 0;
  for (size_t i = 1; read_section(&s, e, i); i++)
    if (text_at_is(names, s.sh_name, name)) return i;
  return 0;
}

/* The index of the kernel's symbol; 0: there is none. */
static uint32_t find_symbol(const Elf *e, const char *name) {
  size_t table = find_section(e, ".symtab");
  Elf64_Shdr s;
  Bytes symbols, names;
  if (!read_section(&s, e, table) || !section_bytes(&symbols, e, table) ||
      !section_bytes(&names, e, s.sh_link))
    return 0;
  for (uint32_t i = 1; (i + (size_t)1) * sizeof(Elf64_Sym) <= symbols.size; i++) {
    Elf64_Sym symbol;
    memcpy(&symbol, symbols.data + i * sizeof symbol, sizeof symbol);
    if (text_at_is(names, symbol.st_name, name)) return i;
  }
  return 0;
}

static uint32_t word_at(Bytes b, size_t at) {
  uint32_t out;
  memcpy(&out, b.data + at, sizeof out);
  return out;
}

/* An attribute: a byte for its form, one for its name, and 16 bits, the size of what follows or
 * the value itself. */
static void read_attributes(CubinUse *out, Bytes info, uint32_t symbol) {
  enum { HEAD = 4, PAIR = 8 };
  for (size_t at = 0, size; at + HEAD <= info.size; at += HEAD + size) {
    const unsigned char *head = (const unsigned char *)info.data + at;
    size = head[0] == FORM_SIZED ? head[2] | (size_t)head[3] << 8 : 0;
    if (size != PAIR || at + HEAD + PAIR > info.size) continue;
    if (word_at(info, at + HEAD) != symbol) continue;
    int value = (int)word_at(info, at + HEAD + sizeof(uint32_t));
    if (head[1] == REGISTERS) out->registers = value;
    if (head[1] == FRAME_SIZE) out->spill_bytes = value;
  }
}

bool cubin_use(CubinUse *out, const void *code, size_t size, const char *entry) {
  Elf e = {.data = code, .size = size};
  Bytes info;
  *out = (CubinUse){0, 0};
  if (size < sizeof e.head || memcmp(code, ELFMAG, SELFMAG) != 0) return false;
  memcpy(&e.head, code, sizeof e.head);
  if (e.head.e_ident[EI_CLASS] != ELFCLASS64 || e.head.e_shentsize != sizeof(Elf64_Shdr))
    return false;
  if (e.head.e_shoff > size) return false;
  uint32_t symbol = find_symbol(&e, entry);
  size_t section = find_section(&e, ".nv.info");
  if (!symbol || !section || !section_bytes(&info, &e, section)) return false;
  read_attributes(out, info, symbol);
  return out->registers > 0;
}
