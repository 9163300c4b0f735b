/* Messages between a tuner and the process that measures for it (runtime/measure/worker.h).
 *
 * A message is its kind and its size, 4 bytes each, and then fields: a number is 8 bytes, a text
 * its length and its bytes.  Both ends are the same program, so bytes stand in the machine's
 * order; what arrives is checked all the same, for the other end may have been killed. */
#ifndef NEREID_RUNTIME_MEASURE_WIRE_H
#define NEREID_RUNTIME_MEASURE_WIRE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A message that is being written or read. */
typedef struct {
  uint32_t kind;
  unsigned char *data;
  size_t size, room;
  size_t at;   /* of reading */
  bool failed; /* no memory, or a field that is not there */
} Message;

void message_start(Message *m, uint32_t kind); /* whatever it held is dropped, memory is kept */
void message_free(Message *m);

void message_put_int(Message *m, int64_t v);
void message_put_double(Message *m, double v);
void message_put_bytes(Message *m, const void *data, size_t size);
void message_put_text(Message *m, const char *text);

int64_t message_int(Message *m);
double message_double(Message *m);
/* Within the message; NULL after a failure. */
const void *message_bytes(Message *m, size_t *size);
const char *message_text(Message *m); /* "" after a failure */

typedef enum { WIRE_OK, WIRE_CLOSED, WIRE_TIMEOUT } WireResult;

/* False: the other end is gone, or the message has failed. */
bool wire_send(int fd, const Message *m);
/* Waits at most that many seconds for the whole message; below 0: for ever. */
WireResult wire_receive(int fd, Message *m, double seconds);

#endif
