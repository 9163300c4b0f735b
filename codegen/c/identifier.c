/* Identifiers of C for a user's names: the one place that says which words are no names. */
#include <string.h>

#include "codegen/c/c.h"

static bool is_listed(const char *words, const char *name) {
  size_t n = strlen(name);
  for (const char *at = strstr(words, name); at; at = strstr(at + 1, name))
    if (at[-1] == ' ' && at[n] == ' ') return true;
  return false;
}

/* Keywords and predefined macros of C compilers, and identifiers that a unit's fixed parts
 * declare. */
static bool is_word(const char *name) {
  static const char words[] =
      " auto break case char const continue default do double else enum extern float for goto if "
      "inline int long register restrict return short signed sizeof static struct switch typedef "
      "union unsigned void volatile while asm typeof typeof_unqual alignas alignof constexpr "
      "nullptr static_assert thread_local bool true false main offsetof "
      "linux unix i386 mips sparc sun hpux vector pixel far near "
      "vi8 vi16 vi32 vi64 vu8 vu16 vu32 vu64 vf32 vf64 "
      "shared program grid args begin end threads stream at at_0 at_1 at_2 pid_0 pid_1 pid_2 "
      "TeamBody Waiting waiting program_yield program_tell reach tiles globaltimer_read ";
  return is_listed(words, name);
}

/* Does it look like a macro, which any header and any compiler may define? */
static bool is_macro_like(const char *name) {
  if (!name[1]) return false;
  for (; *name; name++)
    if (*name >= 'a' && *name <= 'z') return false;
  return true;
}

/* Types of headers end in _t. */
static bool is_reserved(const char *name) {
  size_t n = strlen(name);
  bool type = n > 2 && !strcmp(name + n - 2, "_t");
  bool ours = !strncmp(name, "nereid_", 7) || !strncmp(name, "NEREID_", 7);
  return type || ours || name[0] == '_' || is_macro_like(name) || is_word(name) ||
         c_is_helper(name);
}

const char *c_identifier(Arena *a, const char *name) {
  Text t = text_new(a);
  if (!*name || (*name >= '0' && *name <= '9')) text_puts(&t, "t");
  for (; *name; name++) {
    char c = *name;
    bool good = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
    if ((unsigned char)c >= 0x80) text_printf(&t, "x%02x", (unsigned char)c);
    else text_putn(&t, good ? &c : "_", 1);
  }
  if (!is_reserved(t.data)) return t.data;
  return arena_printf(a, t.data[0] == '_' ? "k%s" : "k_%s", t.data);
}

/* A function of the C library.  Compilers know its type, and call some of these where the text does
 * not; a kernel of that name would be called instead, in a program that it is linked with. */
static bool is_library_function(Arena *a, const char *name) {
  static const char words[] =
      " abort abs accept access acos acosh advance alarm aligned_alloc alloca asin asinh atan "
      "atan2 atanh atexit atof atoi atol bcmp bind bsearch bzero cabs cacos cacosh calloc carg "
      "casin casinh catan catanh cbrt ccos ccosh ceil cexp cexpi chdir chmod chown cimag clock "
      "clog clog10 close conj connect copysign cos cosh cpow cproj creal creat crypt csin csinh "
      "csqrt ctan ctanh ctime daemon dcgettext dgettext difftime div dlclose dlerror dlopen "
      "dlsym dprintf drand48 drem dup dup2 encrypt erand48 erf erfc exec execl execle execlp "
      "execv execve execvp exit exp exp10 exp2 expm1 fabs fclose fcntl fdim fdopen feof ferror "
      "fflush ffs ffsl ffsll fgetc fgets fileno finite floor fma fmax fmin fmod fopen fork "
      "fprintf fputc fputs fread free freopen frexp fscanf fseek ftell fts_open ftw fwrite "
      "fwrite_unlocked gamma gamma_r getc getchar getcwd getenv gethostname getline getpid gets "
      "gettext getuid glob gmtime hsearch hypot ilogb imaxabs index insque ioctl isalnum "
      "isalpha isascii isblank iscntrl isdigit isfinite isgraph isgreater isinf isinfd isless "
      "islessgreater islower isnan isnormal isprint ispunct issignaling isspace isunordered "
      "isupper iswalnum iswalpha iswblank iswcntrl iswdigit iswgraph iswlower iswprint iswpunct "
      "iswspace iswupper iswxdigit isxdigit j0 j1 jn kill kqueue labs lceil ldexp ldiv lfind "
      "lfloor lgamma lgamma_r link listen llabs llrint llround localtime log log10 log1p log2 "
      "logb longjmp lrand48 lrint lround lsearch lseek malloc mblen mbtowc memchr memcmp memcpy "
      "memmove mempcpy memset mkdir mktime mmap modf mount mrand48 munmap nan nans nearbyint "
      "nextafter nexttoward nftw nice open pause pclose perror pipe poll popen posix_memalign "
      "pow pow10 pread printf profil putc putchar putchar_unlocked puts puts_unlocked pwrite "
      "qsort raise rand random read realloc reboot recv regcomp regexec remainder remove remque "
      "remquo rename rewind rindex rint rmdir round roundeven scalb scalbln scalbn scanf select "
      "send setbuf setjmp setvbuf shutdown sigaction signal signbit significand sigprocmask sin "
      "sincos sinh sleep snprintf socket sprintf sqrt srand srand48 srandom sscanf stat step "
      "stpcpy stpncpy strcasecmp strcat strchr strcmp strcoll strcpy strcspn strdup strerror "
      "strfmon strftime strlen strncasecmp strncat strncmp strncpy strndup strnlen strpbrk "
      "strrchr strspn strstr strtod strtok strtol strtoll strtoul strtoull strxfrm swap_context "
      "swapcontext sync sysconf syslog system tan tanh tgamma time times tmpfile tmpnam toascii "
      "tolower toupper towlower towupper trunc truncate tsearch tzset ungetc unlink usleep "
      "vfprintf vfscanf vprintf vscanf vsnprintf vsprintf vsscanf wait wcscmp wcscpy wcslen "
      "wctomb write y0 y1 yn ";
  size_t n = strlen(name);
  if (is_listed(words, name)) return true;
  return n > 1 && strchr("fl", name[n - 1]) && is_listed(words, arena_strndup(a, name, n - 1));
}

const char *c_function_name(Arena *a, const char *name) {
  const char *s = c_identifier(a, name);
  return is_library_function(a, s) ? arena_printf(a, "k_%s", s) : s;
}
