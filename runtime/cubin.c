#include "runtime/cubin.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "runtime/cuda.h"
#include "runtime/tool.h"

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

int cubin_by_ptxas(char **out, size_t *size, const char *ptx, size_t len, const char *target,
                   const char *ptxas, const bool *stop) {
  TempFolder t;
  int code = temp_new(&t);
  if (!code) code = temp_write(&t, "kernel.ptx", ptx, len);
  if (!code) code = run_ptxas(ptxas, &t, target, stop);
  if (!code) code = temp_read(&t, "kernel.cubin", out, size);
  temp_free(&t);
  return code;
}

int cubin_assemble(char **out, size_t *size, const char *ptx, size_t len, const char *target,
                   nereid_message_fn fn, void *context) {
  char ptxas[TOOL_PATH];
  *out = NULL;
  *size = 0;
  if (tool_find_ptxas(ptxas)) return cubin_by_ptxas(out, size, ptx, len, target, ptxas, NULL);
  nereid_device *d;
  if (nereid_device_open(&d, "cuda")) return error_set(NEREID_E_TOOL, E_RUN_NO_PTXAS);
  nereid_device_on_message(d, fn, context);
  int code = cuda_assemble(d, out, size, ptx, len, target);
  nereid_device_close(d);
  return code;
}
