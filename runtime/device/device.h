/* Devices: a table of functions that each of them implements.
 *
 * runtime/device owns drivers and memory: GPUs (cuda_device.h), the CPU and the two interpreters,
 * with timing, replays and peaks.  It takes images and checked launches, and gives loaded kernels,
 * results in memory, and times.
 *
 * The functions of a DeviceOps are called with checked arguments; they keep the error's message
 * themselves.  `stream` is the device's own handle, NULL for the default one.  Devices without an
 * entry for something (streams of the CPU) take the host's, in host_device.c. */
#ifndef NEREID_RUNTIME_DEVICE_DEVICE_H
#define NEREID_RUNTIME_DEVICE_DEVICE_H

#include <pthread.h>
#include <stdio.h>

#include "runtime/device/boxed_tensor.h"
#include "runtime/image/image.h"
#include "runtime/support/host_machine.h"
#include "runtime/support/log.h"
#include "runtime/support/temp.h"

typedef struct DeviceOps DeviceOps;
typedef struct ReplayItem ReplayItem; /* runtime/device/replay.h */
typedef struct DeviceLibraries DeviceLibraries; /* runtime/library */
typedef struct DevicePool DevicePool; /* pools.h */

/* A piece of memory that the device knows: the interpreters check accesses against these. */
typedef struct Allocation {
  struct Allocation *next;
  char *data;
  size_t size;
  bool written;  /* something was copied or filled in */
  bool borrowed; /* a tensor's memory, not ours to free */
  bool lasting;  /* the same, known until device_return() */
} Allocation;

/* Somebody who looks for errors that kernels recorded when the device has been waited for. */
typedef struct DeviceWatch {
  struct DeviceWatch *next;
  int (*check)(void *context); /* a code, whose message it has set */
  void *context;
} DeviceWatch;

struct nereid_device {
  const DeviceOps *ops;
  bool described; /* its information is all that there is of it */
  Log log;
  char name[32], description[128], target[32];
  nereid_device_info info;
  nereid_message_fn on_message;
  void *context;
  nereid_message_fn on_print; /* NULL: C's stdout */
  void *print_context;
  pthread_mutex_t lock; /* of the allocations and of `state` where it says so */
  Allocation *allocations;
  DeviceWatch *watches; /* under the lock */
  DevicePool *pools;    /* pools.h; under the lock, with their users */
  uint32_t pool_users;
  void *state; /* the device's own */
  pthread_mutex_t library_lock;
  DeviceLibraries *libraries; /* under that lock; NULL: none was asked for */
  void (*close_libraries)(nereid_device *d);
  /* Atomic: the kernel that runs in this process; NULL: none does. */
  const char *running;
};

/* A variant that is ready to be launched. */
typedef struct {
  const ImageVariant *variant; /* NULL: it is not loaded */
  void *code;  /* CUmodule, a handle of dlopen, a TileFunc ... */
  void *entry; /* CUfunction, the address of a C function ... */
  nereid_kernel_resources resources;
} Loaded;

/* Somebody who follows loading: `ready` is called for each image whose kernel is, by any thread, of
 * several at once. */
typedef struct {
  void (*ready)(void *context);
  void *context;
} LoadWatch;

/* How a kernel is used by those who load it. */
typedef struct {
  uint64_t programs; /* that run in a call of all that is loaded with it; 0: unknown */
  bool once;         /* they run before all calls, and never again */
} LoadUse;

/* A variant to load, and where. */
typedef struct {
  const nereid_image *image;
  const ImageVariant *variant;
  ImageVariant *own; /* the kernel's copy of it */
  Loaded *out;
  LoadUse use;
  const LoadWatch *watch; /* NULL, but for the last variant of an image that somebody follows */
  int code;
  char *message; /* of a failure, malloc'ed */
} LoadItem;

/* fault.c: the device is closed. */
void device_forget_faults(const nereid_device *d);

/* late_code.c: code of a variant that is compiled when a launch first needs it. */
typedef struct LateCode LateCode;

struct nereid_kernel {
  nereid_device *device;
  nereid_image *image; /* without code */
  Loaded *loaded;
  int nloaded;
  pthread_mutex_t late_lock;
  LateCode *late; /* under that lock */
};

struct nereid_stream {
  nereid_device *device;
  void *handle;
  bool owned; /* not the caller's */
};

/* A start of a kernel: arguments, the variant that was chosen for them, and their resources. */
typedef struct {
  nereid_kernel *kernel;
  const Loaded *chosen;
  uint32_t grid[3];     /* as the caller gave it */
  uint32_t launched[3]; /* as it is launched */
  unsigned flags;       /* of nereid_launch_flag */
  int (*interrupted)(void *context); /* of nereid_run_options, or NULL; so is the next */
  int (*outside)(void *context, int i, int64_t bytes);
  void *context;
  bool part_of_model;   /* of a plan's steps: interpreters make no remarks */
  bool borrows;         /* the device knows the arguments' memory by `extent` alone */
  uint64_t *args;       /* of each run-time parameter */
  IntRange *extent;     /* of each pointer: the bytes of its tensor, counted from it */
  IntRange *bounds;     /* what bounds expressions see */
  IntRange *reach;      /* of each pointer: what the variant `reach_of` accesses, from it on */
  const ImageVariant *reach_of; /* NULL: none, or integers or the grid have changed since */
  int64_t *values;      /* what expressions see */
  uint64_t *slots;      /* what the kernel takes; of a map, a hash of its bytes */
  char *maps;           /* of MAP_BYTES each, in the order of the slots */
  void **pointers;      /* to each slot */
} Start;

struct nereid_launch {
  Start start; /* its variant and slots are valid unless stale */
  bool stale;  /* something was set since the variant was chosen */
  bool *set;   /* of each run-time parameter */
  void **scratch; /* of each slot; NULL where there is none */
  size_t *scratch_size;
};

enum { COPY_IN, COPY_OUT, COPY_WITHIN };

/* Memory of the host that goes into the device's. */
typedef struct {
  void *to;
  const void *from;
  size_t size; /* bytes */
} Upload;

struct DeviceOps {
  const char *name;
  nereid_kind kind; /* the code it runs */
  int (*open)(nereid_device *d, int ordinal);
  void (*close)(nereid_device *d);
  bool (*fits)(const nereid_device *d, const ImageVariant *v);
  int (*alloc)(nereid_device *d, void **out, size_t size);
  void (*free)(nereid_device *d, void *p);
  /* Memory of the host that kernels write to as well, at the same address.  NULL: that of `alloc`
   * is such. */
  int (*alloc_shared)(nereid_device *d, void **out, size_t size);
  void (*free_shared)(nereid_device *d, void *p);
  /* Memory for one launch, in the order of the stream.  NULL: launches are over when they return,
   * so that memory of `alloc` will do. */
  int (*alloc_scratch)(nereid_device *d, void **out, size_t size, void *stream);
  void (*free_scratch)(nereid_device *d, void *p, void *stream);
  int (*copy)(nereid_device *d, void *to, const void *from, size_t size, int way, void *stream);
  /* All of these, begun after the work of the default stream; the sources are read when it returns.
   * NULL: copies do. */
  int (*upload)(nereid_device *d, const Upload *uploads, int n);
  int (*fill)(nereid_device *d, void *to, int byte, size_t size, void *stream);
  int (*sync)(nereid_device *d, void *stream, bool all);
  int (*stream_new)(nereid_device *d, void **out);
  void (*stream_free)(nereid_device *d, void *stream);
  /* Is the stream's work recorded, for a graph of the caller's?  NULL: it never is. */
  bool (*is_capturing)(nereid_device *d, void *stream);
  int (*event_new)(nereid_device *d, void **out);
  void (*event_free)(nereid_device *d, void *event);
  int (*event_record)(nereid_device *d, void *event, void *stream);
  int (*event_sync)(nereid_device *d, void *event);
  int (*event_elapsed)(nereid_device *d, double *us, void *from, void *to);
  int (*load)(nereid_device *d, const nereid_image *image, const ImageVariant *v, Loaded *out);
  /* Instead of `load`, where many are faster together: all, or after a failure none. */
  int (*load_all)(nereid_device *d, LoadItem *items, int n);
  void (*unload)(nereid_device *d, Loaded *l);
  /* Grid and threads against the device's limits, once per change. */
  int (*check)(const Start *s);
  int (*launch)(const Start *s, void *stream);
  /* The descriptor of a tensor, of MAP_BYTES.  NULL: the device has no such thing. */
  int (*make_map)(nereid_device *d, void *out, const BoxedTensor *t);
  /* Many launches and copies at once (runtime/device/replay.h); their launches are ready.  NULL:
   * the device has no such thing. */
  bool (*replay_supported)(const nereid_device *d);
  int (*replay_new)(nereid_device *d, void **out, const ReplayItem *items, int n);
  int (*replay_set)(nereid_device *d, void *replay, int i, const ReplayItem *item);
  int (*replay_run)(nereid_device *d, void *replay, void *stream);
  void (*replay_free)(nereid_device *d, void *replay);
};

extern const DeviceOps device_cuda, device_cpu, device_interp, device_nest;

/* A device to be looked at, which runs nothing: far quicker, where a driver makes a context. */
int device_describe(nereid_device **out, const char *name);
/* A GPU that need not be here, likewise: nothing is known of it but its target. */
int device_of_target(nereid_device **out, const char *target);
nereid_kind device_kind(const nereid_device *d);
const char *device_target(const nereid_device *d); /* NULL: any */
/* The kernel that this process is running, by its name; NULL: none, as always on a GPU.  A signal's
 * handler may ask. */
static inline const char *device_running(const nereid_device *d) {
  return __atomic_load_n(&d->running, __ATOMIC_RELAXED);
}
void device_note(nereid_device *d, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
void *device_stream(const nereid_stream *s); /* the handle; NULL for NULL */
/* Is the stream's work recorded, to run when a graph of the caller's does? */
bool device_is_capturing(nereid_device *d, const nereid_stream *s);
/* Waits for the default stream, and what the device's watches find. */
int device_wait(nereid_device *d);
/* The known memory that holds `p`, NULL if none does.  Call with the lock held. */
Allocation *device_find(nereid_device *d, const void *p);
/* A copy within the device's memory, in the stream's order: not waited for, whatever the stream. */
int device_copy(nereid_device *d, void *to, const void *from, size_t size, nereid_stream *s);
/* Copies in, all together, and waits: faster than one by one where a bus is in between. */
int device_upload(nereid_device *d, const Upload *uploads, int n);
/* Memory that both the host and kernels use, with these bytes in it. */
int device_alloc_shared(nereid_device *d, void **out, const void *bytes, size_t size);
void device_free_shared(nereid_device *d, void *p);
/* `w` is asked whenever the device, a stream or an event of it has been waited for. */
void device_watch(nereid_device *d, DeviceWatch *w);
void device_unwatch(nereid_device *d, DeviceWatch *w);
/* Does the device check each access against the memory that it knows? */
bool device_checks_accesses(const nereid_device *d);
/* Makes memory of the caller's known: tensors. */
int device_borrow(nereid_device *d, const void *p, size_t size);
/* A tensor stays known, too, where another one was before and other memory is now. */
int device_borrow_whole(nereid_device *d, const void *p, size_t size);
/* Borrows memory of a file, which other tensors had before, until it is returned. */
int device_borrow_lasting(nereid_device *d, const void *p, size_t size);
void device_return(nereid_device *d, const void *p);

/* nereid_kernel_load_all(), followed by `watch`; NULL: by nobody.  `uses`: of each image; NULL:
 * unknown.  `codes`: of each image's own failure, 0 of those that would load; NULL: nobody asks. */
int device_load_all(nereid_kernel **out, nereid_device *d, const nereid_image *const *images,
                    const LoadUse *uses, int n, const LoadWatch *watch, int *codes);
/* ---- interp_device.c: kernels that device cpu interprets ---- */

/* A kernel that runs once, on weights, and takes no more nanoseconds than this is interpreted: that
 * takes 100 ns an element, 400 times as long, but GCC needs 15 ms for the kernel (decision 770). */
#define INTERPRETED_NS 20e3

/* Loads the kernel from its tile IR in order; false: there is none, or it has ops that device cpu
 * computes otherwise (products, which round their operands, prints, assertions). */
bool interp_load_ordered(const nereid_image *image, const ImageVariant *v, Loaded *out);
void interp_unload_ordered(Loaded *l);
/* Checks no access against who wrote before: kernels that were compiled tell nothing of theirs. */
int interp_launch_ordered(const Start *s);

/* ---- load_items.c ---- */

/* For devices: the item is loaded. */
void load_ready(const LoadItem *item);
/* Loads each on the device; after a failure none is. */
int load_items(nereid_device *d, LoadItem *items, int n);

/* ---- late_code.c: code that is compiled and loaded when it is first asked for; variant i has tile
 * IR to make it from ---- */

typedef enum {
  LATE_ORDERED, /* it keeps the order of all accesses, and has no tensor maps */
  LATE_PLAIN,   /* it has no tensor maps */
  LATE_DIVIDED, /* its tensor maps need no more than given divisors */
  LATE_DEEP,    /* its rings fill shared memory */
  LATE_LOOPS    /* a program does the work of several */
} LateKind;

/* Late code has at most so many slots more than its variant. */
enum { LATE_SLOTS = 4 };

/* NULL: there is no such code; in order there always is.  `divisors`, by parameter, of LATE_DIVIDED
 * alone; 1: none is known. */
int kernel_load_late(const Loaded **out, nereid_kernel *k, int i, LateKind kind,
                     const uint8_t *divisors);
/* Why there is this code, for the log, and the variant to which it belongs; NULL: it is a variant's
 * own. */
const char *kernel_late_reason(nereid_kernel *k, const Loaded *code, int *variant);
void kernel_free_late(nereid_kernel *k);

/* Chooses the variant and fills the slots, where something was set since. */
int launch_ready(nereid_launch *l);
/* Sets the extents and strides, in elements, of the tensor descriptor whose base is parameter i;
 * of another pointer nothing.  `strides` NULL: compact, row-major. */
int launch_set_extents(nereid_launch *l, int i, int rank, const int64_t *shape,
                       const int64_t *strides);

/* ---- host_device.c: functions of the devices whose memory is the host's ---- */
int host_copy(nereid_device *d, void *to, const void *from, size_t size, int way, void *stream);
int host_fill(nereid_device *d, void *to, int byte, size_t size, void *stream);
int host_sync(nereid_device *d, void *stream, bool all);
int host_stream_new(nereid_device *d, void **out);
void host_stream_free(nereid_device *d, void *stream);
int host_event_new(nereid_device *d, void **out);
void host_event_free(nereid_device *d, void *event);
int host_event_record(nereid_device *d, void *event, void *stream);
int host_event_sync(nereid_device *d, void *event);
int host_event_elapsed(nereid_device *d, double *us, void *from, void *to);
/* Checks that a start's grid has at most so many programs. */
int host_check_programs(const Start *s, uint32_t most);

#define HOST_EVENTS_AND_COPIES                                                              \
  .free = host_free, .copy = host_copy, .fill = host_fill, .sync = host_sync,               \
  .stream_new = host_stream_new, .stream_free = host_stream_free,                           \
  .event_new = host_event_new, .event_free = host_event_free,                               \
  .event_record = host_event_record, .event_sync = host_event_sync,                         \
  .event_elapsed = host_event_elapsed

/* ---- cuda_device.c ---- */

/* PTX to machine code by the driver, for the device's own target only.  *out is malloc'ed. */
int cuda_assemble(nereid_device *d, char **out, size_t *size, const char *ptx, size_t len,
                  const char *target);

/* ---- cuda_known.c ---- */

/* Fills in the information, description, target and name of that GPU; false: it is not known. */
bool cuda_known(nereid_device *d, int ordinal);
/* Keeps them for later runs. */
void cuda_know(const nereid_device *d, int ordinal);

#endif
