/* Queries of host code to the machine, and of the modules of which we know a little. */
#include "sema/value/python_host.h"

#include <stdlib.h>
#include <string.h>

#include "sema/messages.h"
#include "sema/value/builtins.h"

/* ---- objects ---- */

/* A named tuple.  `kind`, if given, keeps the names, by which objects of the kind are told. */
static Value make_object(Sema *S, const Name **kind, const char *const *names, const Value *values,
                         uint32_t n) {
  const Name *fields = kind ? *kind : NULL;
  if (!fields) {
    Name *fresh = ARENA_ARRAY(S->arena, Name, n);
    for (uint32_t i = 0; i < n; i++) fresh[i] = pool_name(S->names, names[i]);
    fields = fresh;
    if (kind) *kind = fields;
  }
  Value v = value_tuple(S->arena, values, n);
  v.u.tuple->fields = fields;
  return v;
}

static bool is_kind(Value v, const Name *kind) {
  return v.kind == V_TUPLE && kind && v.u.tuple->fields == kind;
}

bool value_is_config(const Sema *S, Value v) { return is_kind(v, S->p->config_fields); }
bool value_is_tensor(const Sema *S, Value v) { return is_kind(v, S->p->tensor_fields); }

/* Config(kwargs, num_warps, ...): the fields are public, since functions that prune read them. */
Value builtin_config(Sema *S, Call *c) {
  static const char *const names[CONFIG_FIELDS] = {"kwargs",   "num_warps", "num_stages",
                                                   "num_ctas", "maxnreg",   "pre_hook"};
  Value fields[CONFIG_FIELDS];
  for (int i = 0; i < CONFIG_FIELDS; i++) fields[i] = c->args[i];
  if (fields[CONFIG_KWARGS].kind == V_NONE)
    fields[CONFIG_KWARGS] = (Value){.kind = V_DICT, .u.dict = ARENA_NEW(S->arena, Dict)};
  if (fields[CONFIG_KWARGS].kind != V_DICT) {
    sema_error(S, c->spans[0], E_SEMA_WANTED, "Config", "a dict of constexprs",
               value_describe(S->arena, fields[CONFIG_KWARGS]));
    return value_error();
  }
  static const int standard[] = {[CONFIG_WARPS] = 4, [CONFIG_STAGES] = 3, [CONFIG_CTAS] = 1};
  for (int i = CONFIG_WARPS; i <= CONFIG_CTAS; i++)
    if (fields[i].kind == V_NONE) fields[i] = value_int(standard[i]);
  return make_object(S, &S->p->config_fields, names, fields, CONFIG_FIELDS);
}

static Value list_of_extents(Sema *S, const int64_t *extents, int rank) {
  Value list = value_tuple(S->arena, NULL, 0);
  for (int i = 0; i < rank && extents; i++)
    value_append(S->arena, list.u.tuple, value_int(extents[i]));
  return list;
}

/* torch.device("cuda:0") */
static Value device_of_tensors(Sema *S) {
  static const char *const names[] = {"type", "index"};
  Value fields[] = {value_str(pool_name(S->names, "cuda")), value_int(0)};
  return make_object(S, NULL, names, fields, 2);
}

Value host_tensor(Sema *S, const TunedArg *arg) {
  static const char *const names[TENSOR_FIELDS] = {
      "name", "dtype", "is_cuda", "device", "ndim", "shape", "strides", "padding", "block_shape"};
  const KernelArg *a = &arg->arg;
  bool descriptor = sema_is_descriptor(a);
  Value fields[TENSOR_FIELDS] = {value_str(a->name),
                                 value_dtype(type_scalar((DType)a->type.elem)),
                                 value_bool(true),
                                 device_of_tensors(S),
                                 value_int(arg->rank),
                                 list_of_extents(S, arg->shape, arg->rank),
                                 list_of_extents(S, arg->strides, arg->rank),
                                 value_str(pool_name(S->names, descriptor ? a->padding : "zero")),
                                 shape_value(S, a->block)};
  Value v = make_object(S, &S->p->tensor_fields, names, fields, TENSOR_FIELDS);
  /* An unknown shape is an attribute that is not there. */
  if (!descriptor || !arg->shape) v.u.tuple->len = arg->shape ? TENSOR_STRIDES : TENSOR_RANK;
  return v;
}

bool value_is_host_descriptor(const Sema *S, Value v) {
  return value_is_tensor(S, v) && v.u.tuple->len == TENSOR_FIELDS;
}

/* ---- the device ---- */

enum { H100_PROCESSORS = 132, H100_SHARED = 232448, WARP = 32, REGISTERS = 65536 };

static int queried_capability(const Sema *S) {
  const char *target = S->host->query->device.target;
  int number = target && !strncmp(target, "sm_", 3) ? atoi(target + 3) : 0;
  return number > 0 ? number : 90;
}

static Value device_name(const Sema *S) {
  const char *text = S->host->query->device.description;
  bool gpu = text && strstr(text, "NVIDIA");
  return value_str(pool_name(S->names, gpu ? text : "NVIDIA H100"));
}

static int64_t known_or(int64_t known, int64_t otherwise) { return known > 0 ? known : otherwise; }

static Value device_properties(Sema *S) {
  const TunedDevice *d = &S->host->query->device;
  static const char *const names[] = {"name",
                                      "major",
                                      "minor",
                                      "multi_processor_count",
                                      "total_memory",
                                      "shared_memory_per_block_optin",
                                      "shared_memory_per_block",
                                      "shared_memory_per_multiprocessor",
                                      "warp_size",
                                      "regs_per_multiprocessor",
                                      "max_threads_per_multi_processor"};
  int cc = queried_capability(S);
  int64_t shared = known_or(d->shared_bytes, H100_SHARED);
  Value values[] = {device_name(S),
                    value_int(cc / 10),
                    value_int(cc % 10),
                    value_int(known_or(d->processors, H100_PROCESSORS)),
                    value_int(known_or(d->memory, INT64_C(80) << 30)),
                    value_int(shared),
                    value_int(48 << 10),
                    value_int(shared + 1024),
                    value_int(WARP),
                    value_int(REGISTERS),
                    value_int(2048)};
  return make_object(S, NULL, names, values, sizeof values / sizeof *values);
}

static void dict_set_int(Sema *S, Dict *d, const char *key, int64_t value) {
  value_dict_set(S->arena, d, value_str(pool_name(S->names, key)), value_int(value));
}

/* The result of driver.active.utils.get_device_properties(). */
static Value driver_properties(Sema *S) {
  const TunedDevice *d = &S->host->query->device;
  Dict *out = ARENA_NEW(S->arena, Dict);
  dict_set_int(S, out, "max_shared_mem", known_or(d->shared_bytes, H100_SHARED));
  dict_set_int(S, out, "max_num_regs", REGISTERS);
  dict_set_int(S, out, "multiprocessor_count", known_or(d->processors, H100_PROCESSORS));
  dict_set_int(S, out, "warpSize", WARP);
  dict_set_int(S, out, "sm_clock_rate", 1980000);
  dict_set_int(S, out, "mem_clock_rate", 2619000);
  dict_set_int(S, out, "mem_bus_width", 5120);
  return (Value){.kind = V_DICT, .u.dict = out};
}

static Value current_target(Sema *S) {
  static const char *const names[] = {"backend", "arch", "warp_size"};
  Value values[] = {value_str(pool_name(S->names, "cuda")), value_int(queried_capability(S)),
                    value_int(WARP)};
  return make_object(S, NULL, names, values, 3);
}

static Value capability_pair(Sema *S) {
  Value pair[] = {value_int(queried_capability(S) / 10), value_int(queried_capability(S) % 10)};
  return value_tuple(S->arena, pair, 2);
}

/* ---- names and calls of other modules ---- */

bool host_attribute(Sema *S, Name path, Value *out) {
  if (!strncmp(path, "builtins.", 9)) return python_builtin(S, pool_name(S->names, path + 9), out);
  static const struct {
    const char *path, *text; /* text NULL: None */
  } rows[] = {{"torch.version.hip", NULL},
              {"torch.version.xpu", NULL},
              {"torch.version.cuda", "12.8"},
              {"torch.__version__", "2.8.0"},
              {"torch.version.__version__", "2.8.0"}};
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
    if (!strcmp(rows[i].path, path)) {
      *out = rows[i].text ? value_str(pool_name(S->names, rows[i].text)) : value_none();
      return true;
    }
  if (strcmp(path, "os.environ")) return false;
  *out = (Value){.kind = V_DICT, .u.dict = ARENA_NEW(S->arena, Dict)}; /* nothing is set */
  return true;
}

static bool ends_in(const char *text, const char *end) {
  size_t n = strlen(text), m = strlen(end);
  return n >= m && !strcmp(text + n - m, end) && (n == m || text[n - m - 1] == '.');
}

/* Questions without arguments that matter, by the end of their path: modules differ by version. */
static bool device_question(Sema *S, Name path, Value *out) {
  static const struct {
    const char *end;
    Value (*answer)(Sema *S);
  } rows[] = {{"cuda.get_device_capability", capability_pair},
              {"cuda.get_device_properties", device_properties},
              {"utils.get_device_properties", driver_properties},
              {"active.get_device_properties", driver_properties},
              {"active.get_current_target", current_target}};
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
    if (ends_in(path, rows[i].end)) {
      *out = rows[i].answer(S);
      return true;
    }
  if (ends_in(path, "cuda.get_device_name")) *out = device_name(S);
  else if (ends_in(path, "cuda.is_available")) *out = value_bool(true);
  else if (ends_in(path, "cuda.device_count")) *out = value_int(1);
  else if (ends_in(path, "cuda.current_device") || ends_in(path, "active.get_current_device"))
    *out = value_int(0);
  else if (ends_in(path, "xpu.is_available") || ends_in(path, "npu.is_available") ||
           ends_in(path, "mps.is_available") ||
           ends_in(path, "torch.are_deterministic_algorithms_enabled"))
    *out = value_bool(false);
  else return false;
  return true;
}

/* is_cuda(), is_hip(), is_xpu() of a module that is not at hand. */
static bool backend_question(Name path, Value *out) {
  static const char *const others[] = {"is_hip",       "is_xpu",       "is_npu",
                                       "is_amd",       "is_rocm",      "is_musa",
                                       "is_hip_cdna2", "is_hip_cdna3", "is_cpu"};
  const char *dot = strrchr(path, '.'), *name = dot ? dot + 1 : path;
  bool yes = !strcmp(name, "is_cuda") || !strcmp(name, "is_nvidia");
  bool known = yes;
  for (size_t i = 0; i < sizeof others / sizeof *others; i++) known |= !strcmp(name, others[i]);
  if (known) *out = value_bool(yes);
  return known;
}

bool host_call(Sema *S, Name path, const CallArgs *args, Value *out) {
  return device_question(S, path, out) || host_library(S, path, args, out) ||
         backend_question(path, out);
}
