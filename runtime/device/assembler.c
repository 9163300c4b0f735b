#include "runtime/device/assembler.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "runtime/device/device.h"
#include "runtime/device/ptx_registers.h"
#include "runtime/image/cubin.h"
#include "runtime/messages.h"
#include "runtime/support/host_machine.h"
#include "runtime/support/tool.h"

enum { OUTPUT_MAX = 8192 };

static int run_ptxas(const char *ptxas, const TempFolder *t, const char *target, const bool *stop) {
  char in[TOOL_PATH + 64], out[TOOL_PATH + 64], arch[64], output[OUTPUT_MAX];
  temp_name(in, sizeof in, t, "kernel.ptx");
  temp_name(out, sizeof out, t, "kernel.cubin");
  snprintf(arch, sizeof arch, "-arch=%s", target);
  const char *argv[] = {ptxas, arch, "-lineinfo", "-o", out, in, NULL};
  if (tool_run_until(argv, output, sizeof output, stop))
    return error_set(NEREID_E_TOOL, E_RUN_PTXAS, ptxas, output);
  if (!access(out, F_OK)) return 0;
  return error_set(NEREID_E_TOOL, E_RUN_TOOL_NOTHING, ptxas, "ptxas, as NEREID_PTXAS should name");
}

static int assemble_once(char **out, size_t *size, const char *ptx, size_t len, const char *target,
                         const char *ptxas, const bool *stop) {
  TempFolder t;
  int code = temp_new(&t);
  if (!code) code = temp_write(&t, "kernel.ptx", ptx, len);
  if (!code) code = run_ptxas(ptxas, &t, target, stop);
  if (!code) code = temp_read(&t, "kernel.cubin", out, size);
  temp_free(&t);
  return code;
}

/* The kernel's name in PTX as we print it; "" if it has none. */
static void find_entry(char *out, size_t size, const char *ptx) {
  static const char head[] = ".entry ";
  const char *at = strstr(ptx, head);
  if (at) at += sizeof head - 1;
  snprintf(out, size, "%.*s", at ? (int)strcspn(at, "(") : 0, at ? at : "");
}

/* Machine code of the same kernel that spills less, in place of *out (ptx_registers.h). */
static void assemble_with_more_registers(char **out, size_t *size, const char *ptx, size_t len,
                                         const char *target, const char *ptxas, const bool *stop) {
  CubinUse use, more;
  char entry[TOOL_PATH], *text, *code = NULL;
  size_t text_len, code_size;
  find_entry(entry, sizeof entry, ptx);
  if (!cubin_use(&use, *out, *size, entry)) return;
  text = ptx_for_one_program(ptx, len, use.registers, use.spill_bytes, &text_len);
  bool made = text && !assemble_once(&code, &code_size, text, text_len, target, ptxas, stop);
  free(text);
  if (made && cubin_use(&more, code, code_size, entry) && more.spill_bytes < use.spill_bytes) {
    free(*out);
    *out = code;
    *size = code_size;
  } else {
    free(code);
  }
}

/* PTX to machine code by that ptxas, given up when *stop is true (tool_run_until).  *out is
 * malloc'ed. */
static int assemble_by_ptxas(char **out, size_t *size, const char *ptx, size_t len,
                             const char *target, const char *ptxas, const bool *stop) {
  int code = assemble_once(out, size, ptx, len, target, ptxas, stop);
  if (!code) assemble_with_more_registers(out, size, ptx, len, target, ptxas, stop);
  return code;
}

bool assembler_open(Assembler *a, nereid_message_fn note, void *context) {
  *a = (Assembler){.log = log_read()};
  if (!tool_find_ptxas(a->ptxas)) return false;
  a->cache = cache_open(note, context);
  return true;
}

void assembler_close(Assembler *a) {
  cache_close(a->cache);
  a->cache = NULL;
}

/* An assembler that was replaced is another one. */
static CacheId cubin_id(const Assembler *a, const ImageVariant *ptx, const char *target) {
  struct stat st = {0};
  stat(a->ptxas, &st);
  KeyMaker *k = cache_key_start();
  cache_key_text(k, "cubin of few spills");
  cache_key_text(k, a->ptxas);
  cache_key_add(k, &st.st_size, sizeof st.st_size);
  cache_key_add(k, &st.st_mtime, sizeof st.st_mtime);
  cache_key_text(k, target);
  cache_key_add(k, ptx->code, ptx->size);
  return (CacheId){cache_key_end(k), CACHE_CUBIN, ptx->entry, target};
}

bool assembler_find(const Assembler *a, Assembled *out, const ImageVariant *ptx,
                    const char *target) {
  *out = (Assembled){.id = cubin_id(a, ptx, target)};
  out->from_cache = cache_get(a->cache, &out->id, &out->code, &out->size);
  if (out->from_cache)
    LOG(a->log, LOG_COMPILE, "cubin %s for %s: from the cache", ptx->entry, target);
  return out->from_cache;
}

int assembler_run(const Assembler *a, Assembled *out, const ImageVariant *ptx, const char *target,
                  const bool *stop) {
  if (assembler_find(a, out, ptx, target)) return 0;
  double begin = host_now();
  int code =
      assemble_by_ptxas(&out->code, &out->size, ptx->code, ptx->size, target, a->ptxas, stop);
  if (code) out->code = NULL;
  else
    LOG(a->log, LOG_COMPILE, "cubin %s for %s: by ptxas, %.0f ms", ptx->entry, target,
        (host_now() - begin) * 1e3);
  return code;
}

void assembler_keep(const Assembler *a, const Assembled *list, size_t n) {
  CacheEntry *entries = calloc(n + 1, sizeof *entries);
  size_t used = 0;
  for (size_t i = 0; entries && i < n; i++)
    if (list[i].code && !list[i].from_cache)
      entries[used++] = (CacheEntry){list[i].id, list[i].code, list[i].size};
  if (used) cache_put_all(a->cache, entries, used);
  free(entries);
}

/* ---- PTX of a caller ---- */

int cubin_assemble(char **out, size_t *size, const char *ptx, size_t len, const char *target,
                   nereid_message_fn fn, void *context) {
  char ptxas[TOOL_PATH];
  *out = NULL;
  *size = 0;
  if (tool_find_ptxas(ptxas)) return assemble_by_ptxas(out, size, ptx, len, target, ptxas, NULL);
  nereid_device *d;
  if (nereid_device_open(&d, "cuda")) return error_set(NEREID_E_TOOL, E_RUN_NO_PTXAS);
  nereid_device_on_message(d, fn, context);
  int code = cuda_assemble(d, out, size, ptx, len, target);
  nereid_device_close(d);
  return code;
}
