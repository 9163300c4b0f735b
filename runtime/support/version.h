/* Facts about the build, beside nereid_version() and nereid_build_id(). */
#ifndef NEREID_RUNTIME_SUPPORT_VERSION_H
#define NEREID_RUNTIME_SUPPORT_VERSION_H

/* The day of the version, as in 2026-01-31. */
const char *release_date(void);

#endif
