/* Lines that kernels print, and messages of devices: any thread adds them, without the
 * interpreter's lock, and who has it hands them on. */
#include <stdlib.h>
#include <string.h>

#include "python/extension/extension.h"

enum { QUEUE_MOST = 1 << 28 }; /* bytes: a kernel that prints without an end loses lines */

void queue_open(Queue *q) { pthread_mutex_init(&q->lock, NULL); }

void queue_close(Queue *q) {
  pthread_mutex_destroy(&q->lock);
  free(q->text);
}

static bool queue_reserve(Queue *q, size_t size) {
  if (q->size + size <= q->capacity) return true;
  size_t capacity = 2 * (q->size + size);
  char *text = capacity > QUEUE_MOST ? NULL : realloc(q->text, capacity);
  if (!text) return false;
  q->text = text;
  q->capacity = capacity;
  return true;
}

static void queue_add(Queue *q, const char *text, size_t size) {
  pthread_mutex_lock(&q->lock);
  if (queue_reserve(q, size)) {
    memcpy(q->text + q->size, text, size);
    __atomic_store_n(&q->size, q->size + size, __ATOMIC_RELAXED);
  }
  pthread_mutex_unlock(&q->lock);
}

void queue_line(void *queue, const char *text) { queue_add(queue, text, strlen(text)); }
void queue_message(void *queue, const char *text) { queue_add(queue, text, strlen(text) + 1); }

/* All of it, to be freed; NULL: it is empty. */
static char *queue_take(Queue *q, size_t *size) {
  if (!__atomic_load_n(&q->size, __ATOMIC_RELAXED)) return NULL;
  pthread_mutex_lock(&q->lock);
  char *text = q->size ? q->text : NULL;
  *size = q->size;
  if (text) {
    q->text = NULL;
    q->capacity = 0;
    __atomic_store_n(&q->size, 0, __ATOMIC_RELAXED);
  }
  pthread_mutex_unlock(&q->lock);
  return text;
}

int queue_print(Queue *q) {
  size_t size;
  char *text = queue_take(q, &size);
  if (!text) return 0;
  PyObject *type, *value, *trace;
  PyErr_Fetch(&type, &value, &trace);
  PyObject *out = PySys_GetObject("stdout"); /* borrowed */
  PyObject *lines = PyUnicode_DecodeUTF8(text, (Py_ssize_t)size, "replace"), *done = NULL;
  free(text);
  if (lines && (!out || out == Py_None)) {
    done = Py_None; /* a program without an output */
    Py_INCREF(done);
  } else if (lines) {
    Py_INCREF(out);
    done = PyObject_CallMethod(out, "write", "O", lines);
    Py_DECREF(out);
  }
  Py_XDECREF(lines);
  int code = done ? 0 : -1;
  Py_XDECREF(done);
  if (type) PyErr_Restore(type, value, trace); /* the launch's own failure counts */
  return code;
}

PyObject *queue_messages(Queue *q) {
  size_t size = 0;
  char *text = queue_take(q, &size);
  PyObject *out = PyList_New(0);
  for (const char *at = text; out && at && at < text + size; at += strlen(at) + 1) {
    PyObject *message = PyUnicode_DecodeUTF8(at, (Py_ssize_t)strlen(at), "replace");
    if (!message || PyList_Append(out, message)) Py_CLEAR(out);
    Py_XDECREF(message);
  }
  free(text);
  return out;
}
