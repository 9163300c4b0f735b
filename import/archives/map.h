/* Model files, mapped. */
#ifndef NEREID_IMPORT_ARCHIVES_MAP_H
#define NEREID_IMPORT_ARCHIVES_MAP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A file that is mapped. */
typedef struct {
  const char *path;
  const uint8_t *bytes;
  size_t size;
} MappedFile;

/* Maps the regular file of fd read-only and closes fd; munmap() frees it.  NULL with errno set,
 * also if fd is negative.  An empty file maps as one byte, which can't be read. */
const uint8_t *map_descriptor(int fd, size_t *size);
/* Whole pages of that part of a mapping are given back to the system: who reads them again has the
 * file's bytes, more slowly. */
void map_give_back(const void *data, size_t size);

#endif
