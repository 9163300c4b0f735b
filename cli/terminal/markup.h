/* Text inside of documents: names that come from anywhere, as HTML, SVG or JSON take them.
 *
 * Bytes that are no UTF-8 and characters that a document may not hold become U+FFFD. */
#ifndef NEREID_CLI_TERMINAL_MARKUP_H
#define NEREID_CLI_TERMINAL_MARKUP_H

#include "lang/base/strings.h"

/* Writes the text of an element, or of an attribute in double quotes. */
void markup_text(Text *out, const char *s);
/* Cuts the text after `most` characters, with an ellipsis for the rest. */
void markup_short(Text *out, const char *s, int most);
/* How many characters that has. */
int markup_length(const char *s);

/* A number of JSON as a reader gets it back; null if it is not finite. */
void markup_json_number(Text *out, double v);

#endif
