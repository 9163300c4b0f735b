#include "cli/arguments/launch_request.h"

#include "cli/terminal/diagnostics.h"

int launch_device(nereid_device **out, const char *name) {
  if (!name) name = nereid_device_count("cuda") > 0 ? "cuda" : "cpu";
  int code = nereid_device_open(out, name);
  if (code) return args_failed(code);
  nereid_device_on_message(*out, args_on_message, NULL);
  fault_watch(*out);
  return STATUS_OK;
}

void launch_device_close(nereid_device *d) {
  fault_watch(NULL);
  nereid_device_close(d);
}

int launch_module(nereid_module **out, const nereid_kernel_info **kernel, const Request *r) {
  int code = nereid_module_open(out, &r->api.source, NULL, NULL);
  if (!code) code = nereid_module_find(kernel, *out, r->api.kernel);
  return code ? args_failed(code) : STATUS_OK;
}

int launch_open(Launch *out, nereid_device *d, const nereid_request *r, const uint32_t grid[3]) {
  *out = (Launch){.device = d};
  int code = nereid_compile_for(&out->image, d, r);
  if (!code) code = nereid_kernel_load(&out->kernel, d, out->image);
  if (!code) code = nereid_launch_new(&out->launch, out->kernel, grid);
  return code ? args_failed(code) : STATUS_OK;
}

static bool interprets(const Launch *l) {
  nereid_device_info info;
  nereid_device_get_info(&info, l->device);
  return info.kind == NEREID_TILE || info.kind == NEREID_THREAD;
}

static int upload_array(const Launch *l, Argument *a) {
  size_t bytes = nereid_value_bytes(a->value);
  nereid_tensor t;
  nereid_value_tensor(&t, a->value);
  int code = nereid_alloc(&a->data, l->device, bytes);
  /* Interpreters know memory that was never written. */
  if (!code && !(nereid_value_is_empty(a->value) && interprets(l)))
    code = nereid_copy_in(l->device, a->data, t.data, bytes, NULL);
  return code;
}

static int zero_array(const Launch *l, const Argument *a) {
  size_t bytes = nereid_value_bytes(a->array) - a->offset;
  return nereid_fill(l->device, a->data, 0, bytes, NULL);
}

static int set_arguments(const Launch *l, const Arguments *a) {
  int code = 0;
  for (int i = 0; i < a->len && !code; i++) {
    int at = nereid_image_find_param(l->image, a->data[i].name);
    if (at >= 0) code = nereid_launch_set_value(l->launch, at, a->data[i].value, a->data[i].data);
  }
  return code;
}

int launch_upload(Launch *l, Arguments *a) {
  int code = 0;
  for (int i = 0; i < a->len && !code; i++)
    if (a->data[i].array && a->data[i].array == a->data[i].value)
      code = upload_array(l, &a->data[i]);
  for (int i = 0; i < a->len; i++)
    for (int j = 0; j < a->len; j++)
      if (a->data[i].array && a->data[i].array == a->data[j].value)
        a->data[i].data = (char *)a->data[j].data + a->data[i].offset;
  for (int i = 0; i < a->len && !code; i++)
    if (a->data[i].zeroed) code = zero_array(l, &a->data[i]);
  if (!code) code = set_arguments(l, a);
  return code ? args_failed(code) : STATUS_OK;
}

int launch_fetch(const Launch *l, Arguments *a) {
  for (int i = 0; i < a->len; i++) {
    const Argument *arg = &a->data[i];
    if (arg->array != arg->value || !arg->data) continue;
    nereid_tensor t;
    nereid_value_tensor(&t, arg->array);
    int code = nereid_copy_out(l->device, t.data, arg->data, nereid_value_bytes(arg->array), NULL);
    if (code) return args_failed(code);
  }
  return STATUS_OK;
}

void launch_free(Launch *l, Arguments *a) {
  nereid_launch_free(l->launch);
  nereid_kernel_free(l->kernel);
  nereid_image_free(l->image);
  for (int i = 0; i < a->len; i++) {
    if (a->data[i].array == a->data[i].value) nereid_free(l->device, a->data[i].data);
    a->data[i].data = NULL;
  }
  *l = (Launch){0};
}
