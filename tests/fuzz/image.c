/* Image files.  The hash that ends a file is made to fit, else nothing would get past it. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#define XXH_INLINE_ALL
#include <xxhash.h>

#include "runtime/nereid.h"
#include "tests/fuzz/common/fuzz.h"

static const char *const corpus[] = {"tests/fuzz/image/*", NULL};
static const char *const words[] = {"param \"p\" *f32 written\n",
                                    "param \"n\" i32\n",
                                    "guard \"n % 16 == 0\"\n",
                                    "slot arg 0\n",
                                    "slot value \"n * 4\"\n",
                                    "slot scratch \"4096\"\n",
                                    "slot zeroed \"64\"\n",
                                    "grid \"grid_x\" \"cdiv(grid_y, 2)\" \"1\"\n",
                                    "variant \"interp\" tile \"k\" threads 1 shared 0\n",
                                    "file \"k.py\"\n",
                                    "code 10\n",
                                    "code 0\n\n",
                                    "tile",
                                    "thread",
                                    "ptx",
                                    "c",
                                    "\\x00",
                                    "\\n",
                                    "\\\"",
                                    "**f32",
                                    "end ",
                                    "written",
                                    "sm_90a",
                                    "cpu",
                                    "99999999999",
                                    NULL};

const FuzzTarget fuzz_target = {"image", corpus, words, 16000, 600};

enum { END = 4 + 16 + 1, ROOM = 17000 };

static size_t with_hash(char *out, const uint8_t *data, size_t size) {
  size_t n = size > END && !memcmp(data + size - END, "end ", 4) ? size - END : size;
  memcpy(out, data, n);
  snprintf(out + n, END + 1, "end %016" PRIx64 "\n", (uint64_t)XXH64(data, n, 0));
  return n + END;
}

/* Launches on arrays that are all one page; a launch that polls forever is none of the reader's. */
static void load(const nereid_image *image, const char *device) {
  nereid_device *d;
  nereid_kernel *k;
  if (nereid_device_open(&d, device)) return;
  if (nereid_kernel_load(&k, d, image) == 0) {
    nereid_launch *l;
    const uint32_t grid[3] = {1, 1, 1};
    if (nereid_launch_new(&l, k, grid) == 0) {
      for (int i = 0; i < nereid_image_nparams(image); i++) nereid_launch_set_int(l, i, 16);
      nereid_launch_free(l);
    }
    nereid_kernel_free(k);
  }
  nereid_device_close(d);
}

static void again(const nereid_image *image) {
  nereid_image *other;
  char *bytes;
  size_t size;
  if (nereid_image_bytes(&bytes, &size, image)) fuzz_fail("an image that is not written");
  if (nereid_image_from_bytes(&other, bytes, size))
    fuzz_fail("not read again: %s\n%.*s", nereid_error_message(), (int)size, bytes);
  nereid_image_add(other, image);
  nereid_image_free(other);
  nereid_text_free(bytes);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  static char room[ROOM];
  nereid_image *image;
  if (size > ROOM - END - 1) return 0;
  if (nereid_image_from_bytes(&image, room, with_hash(room, data, size))) return 0;
  again(image);
  load(image, "interp");
  load(image, "nest");
  nereid_image_free(image);
  return 0;
}
