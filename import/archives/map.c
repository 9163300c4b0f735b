#include "import/archives/map.h"

#include <errno.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

const uint8_t *map_descriptor(int fd, size_t *size) {
  struct stat s;
  void *bytes = MAP_FAILED;
  if (fd < 0) return NULL;
  if (fstat(fd, &s)) {
    /* errno is set */
  } else if (!S_ISREG(s.st_mode)) {
    errno = S_ISDIR(s.st_mode) ? EISDIR : EINVAL;
  } else {
    *size = (size_t)s.st_size;
    bytes = mmap(NULL, *size ? *size : 1, PROT_READ, MAP_PRIVATE, fd, 0);
  }
  int error = errno;
  close(fd);
  errno = error;
  return bytes == MAP_FAILED ? NULL : bytes;
}

void map_give_back(const void *data, size_t size) {
  size_t page = (size_t)sysconf(_SC_PAGESIZE), before = -(uintptr_t)data % page;
  if (size < before + page) return;
  size_t whole = (size - before) / page * page;
  madvise((char *)(uintptr_t)data + before, whole, MADV_DONTNEED);
}
