#include "runtime/measure/wire.h"

#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "runtime/support/host_machine.h"

enum { HEAD = 8 };
/* Images and lists of arguments are far smaller. */
static const size_t LARGEST = (size_t)1 << 30;

/* ---- fields ---- */

void message_start(Message *m, uint32_t kind) {
  m->kind = kind;
  m->size = m->at = 0;
  m->failed = false;
}

void message_free(Message *m) {
  free(m->data);
  *m = (Message){0};
}

/* Room for that many bytes more. */
static bool reserve(Message *m, size_t more) {
  if (m->failed || more > LARGEST - m->size) return !(m->failed = true);
  if (m->size + more <= m->room) return true;
  size_t room = 2 * (m->size + more);
  unsigned char *data = realloc(m->data, room);
  if (!data) return !(m->failed = true);
  m->data = data;
  m->room = room;
  return true;
}

static void message_append(Message *m, const void *data, size_t size) {
  if (!reserve(m, size)) return;
  if (size) memcpy(m->data + m->size, data, size);
  m->size += size;
}

void message_put_int(Message *m, int64_t v) { message_append(m, &v, sizeof v); }
void message_put_double(Message *m, double v) { message_append(m, &v, sizeof v); }

void message_put_bytes(Message *m, const void *data, size_t size) {
  message_put_int(m, (int64_t)size);
  message_append(m, data, size);
}

/* The text contains its NUL, so that it is read in place. */
void message_put_text(Message *m, const char *text) {
  message_put_bytes(m, text, strlen(text) + 1);
}

static const void *message_consume(Message *m, size_t size) {
  if (m->failed || size > m->size - m->at) {
    m->failed = true;
    return NULL;
  }
  m->at += size;
  return m->data + m->at - size;
}

int64_t message_int(Message *m) {
  int64_t v = 0;
  const void *p = message_consume(m, sizeof v);
  if (p) memcpy(&v, p, sizeof v);
  return v;
}

double message_double(Message *m) {
  double v = 0;
  const void *p = message_consume(m, sizeof v);
  if (p) memcpy(&v, p, sizeof v);
  return v;
}

const void *message_bytes(Message *m, size_t *size) {
  int64_t n = message_int(m);
  *size = n < 0 ? SIZE_MAX : (size_t)n;
  const void *p = message_consume(m, *size);
  if (!p) *size = 0;
  return p;
}

const char *message_text(Message *m) {
  size_t size;
  const char *p = message_bytes(m, &size);
  if (p && size && !p[size - 1]) return p;
  m->failed = true;
  return "";
}

/* ---- the wire ---- */

/* A closed socket is an answer, not a signal. */
static bool send_all(int fd, const void *data, size_t size) {
  const char *p = data;
  while (size) {
    ssize_t n = send(fd, p, size, MSG_NOSIGNAL);
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) return false;
    p += n;
    size -= (size_t)n;
  }
  return true;
}

bool wire_send(int fd, const Message *m) {
  uint32_t head[2] = {m->kind, (uint32_t)m->size};
  return !m->failed && send_all(fd, head, sizeof head) && send_all(fd, m->data, m->size);
}

static WireResult wait_for(int fd, double end) {
  for (;;) {
    double left = end < 0 ? -1 : end - host_now();
    if (end >= 0 && left < 0) left = 0;
    struct pollfd p = {.fd = fd, .events = POLLIN};
    int n = poll(&p, 1, left < 0 ? -1 : left > 1e6 ? 1000000000 : (int)(left * 1e3) + 1);
    if (n > 0) return WIRE_OK;
    if (n < 0 && errno != EINTR) return WIRE_CLOSED;
    if (end >= 0 && host_now() >= end) return WIRE_TIMEOUT;
  }
}

static WireResult read_bytes_until(int fd, void *data, size_t size, double end) {
  char *p = data;
  while (size) {
    WireResult r = wait_for(fd, end);
    if (r != WIRE_OK) return r;
    ssize_t n = read(fd, p, size);
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) return WIRE_CLOSED;
    p += n;
    size -= (size_t)n;
  }
  return WIRE_OK;
}

WireResult wire_receive(int fd, Message *m, double seconds) {
  double end = seconds < 0 ? -1 : host_now() + seconds;
  uint32_t head[2];
  WireResult r = read_bytes_until(fd, head, HEAD, end);
  if (r != WIRE_OK) return r;
  message_start(m, head[0]);
  if (!reserve(m, head[1])) return WIRE_CLOSED;
  m->size = head[1];
  return read_bytes_until(fd, m->data, m->size, end);
}
