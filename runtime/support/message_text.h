/* Reads the text of messages: diagnostics as diag_print (lang/base/diag.h) writes them.  Messages
 * pass through callbacks, processes and the thread's last failure as text; the API and the command
 * line take it apart here. */
#ifndef NEREID_RUNTIME_SUPPORT_MESSAGE_TEXT_H
#define NEREID_RUNTIME_SUPPORT_MESSAGE_TEXT_H

#include <stddef.h>

#include "lang/base/diag.h"

typedef struct {
  const char *data;
  size_t len;
} Slice;

/* The line at *text, which moves to the next. */
Slice message_line(const char **text);

/* The head of a message's line: the location, if there is one, and the severity. */
typedef struct {
  Slice location; /* "FILE:LINE:COL", "FILE" or "" */
  Severity severity;
  size_t len; /* of both, with their colons and the blank after them */
} MessageHead;

/* False: the line goes on with the message before it, or is an excerpt of the source. */
bool message_head(MessageHead *out, Slice line);
/* Is the line the caret below an excerpt: blanks, ^ and ~? */
bool message_is_caret(Slice line);

typedef struct {
  Severity severity;
  Slice file;         /* empty: the message is about no file */
  int line, column;   /* from 1, the column in bytes; 0: it is about a whole file, or none */
  Slice text;         /* of one or several lines, without the last newline */
  Slice source;       /* the line it is about, as it is shown; no data: there is none */
  int caret, length;  /* where the caret is below `source`, from 0, and what it underlines */
} Message;

/* The message at *text, which moves past it.  A line without a head begins an error. */
Message message_next(const char **text);

#endif
