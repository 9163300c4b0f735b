#include "runtime/compile/cubin.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "runtime/device/assembler.h"
#include "runtime/device/cuda_device.h"
#include "runtime/messages.h"
#include "runtime/support/tool.h"

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
