/* Functions that the C library has since 2.33 only, in terms of those that it had before.  Linked
 * into what the wheel contains, which so runs on older ones too. */

#include <sys/stat.h>

#ifdef __GLIBC__

#ifdef __x86_64__
enum { STAT_VERSION = 1 };
#else
enum { STAT_VERSION = 0 };
#endif

int __xstat(int version, const char *path, struct stat *s);
int __lxstat(int version, const char *path, struct stat *s);
int __fxstat(int version, int fd, struct stat *s);
int __fxstatat(int version, int folder, const char *path, struct stat *s, int flags);

int stat(const char *path, struct stat *s) { return __xstat(STAT_VERSION, path, s); }
int lstat(const char *path, struct stat *s) { return __lxstat(STAT_VERSION, path, s); }
int fstat(int fd, struct stat *s) { return __fxstat(STAT_VERSION, fd, s); }
int fstatat(int folder, const char *path, struct stat *s, int flags) {
  return __fxstatat(STAT_VERSION, folder, path, s, flags);
}

/* 64-bit machines have these names too. */
int stat64(const char *path, struct stat64 *s) { return stat(path, (struct stat *)s); }
int lstat64(const char *path, struct stat64 *s) { return lstat(path, (struct stat *)s); }
int fstat64(int fd, struct stat64 *s) { return fstat(fd, (struct stat *)s); }

#endif
