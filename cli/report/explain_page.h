/* An explanation of a kernel as a page. */
#ifndef NEREID_CLI_REPORT_EXPLAIN_PAGE_H
#define NEREID_CLI_REPORT_EXPLAIN_PAGE_H

#include "runtime/compile/explain_request.h"

/* An HTML page that needs nothing else: the source, tile IR, nests and code side by side, whose
 * lines mark those of the same source line when they are pointed at or clicked; what each source
 * line costs; the timeline of each ring; the roofline.  It runs no script and loads nothing. */
void explain_page(Text *out, const Explained *e);
/* Its pictures: the timeline of each ring, and the roofline of a launch; nothing without them. */
void explain_rings(Text *out, const Explanation *x);
void explain_roofline(Text *out, const Explanation *x);

#endif
