#include "cli/arguments/request_args.h"

#include <stdlib.h>

int request_args(Arguments *out, const nereid_kernel_info *kernel, const Settings *settings) {
  int code = arguments_read(out, kernel, settings->data, settings->len, false);
  return code ? args_failed(code) : STATUS_OK;
}

int request_check_args(Request *r, const Arguments *a) {
  int status = request_finish(r);
  int code = status ? 0 : arguments_check(a, &r->api);
  return code ? args_failed(code) : status;
}

int request_add_types(Request *r, const Arguments *a, const nereid_module *m) {
  char type[ARGUMENT_TYPE];
  int status = STATUS_OK;
  if (nereid_module_is_ir(m)) return STATUS_OK;
  for (int i = 0; i < a->len && !status; i++) {
    int code = argument_type(type, &a->data[i]);
    status = code ? args_failed(code) : request_add(r, a->data[i].name, type, NULL);
  }
  return status;
}

int request_bind(nereid_binding **out, int *n, Request *r, const Arguments *a) {
  int status = request_finish(r);
  *out = NULL;
  *n = 0;
  if (status) return status;
  *out = calloc((size_t)(a->len + r->api.nargs) + 1, sizeof **out);
  if (!*out) return args_out_of_memory();
  *n = arguments_bind(*out, a, &r->api);
  return STATUS_OK;
}

int request_extents(uint32_t out[3], const char *grid, const nereid_binding *names, int n) {
  int code = arguments_grid(out, grid, names, n);
  return code ? args_failed(code) : STATUS_OK;
}

int request_grid(uint32_t out[3], const char *grid, Request *r, const Arguments *a) {
  nereid_binding *names;
  int n;
  int status = request_bind(&names, &n, r, a);
  if (!status) status = request_extents(out, grid, names, n);
  free(names);
  return status;
}
