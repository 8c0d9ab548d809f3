/* What kernels print, and what assertions say: pieces of [stream, length, text] for the host to pass on. */

enum { TO_STDOUT = 1, TO_STDERR = 2, SPEC = 32, STRING = 4096 };

struct writer {
  char *at, *end;
};

/* An address of a lane's as the host sees it: local memory lies elsewhere for each thread. */
static const char *seen_by(const struct warp *w, int64_t lane, uint64_t address) {
  const struct launch *l = w->launch;
  uint64_t inside = address - l->local_window;
  return (const char *)(inside < l->local_size ? w->local[lane] + inside : address);
}

static void add(struct writer *to, const char *from, uint64_t n) {
  uint64_t room = (uint64_t)(to->end - to->at);
  if (n > room) n = room;
  memcpy(to->at, from, n);
  to->at += n;
}

/* The next value of a size, which lies at a multiple of that. */
static const char *next_value(const char **values, uint64_t *used, uint64_t size) {
  *used = (*used + size - 1) / size * size;
  const char *found = *values + *used;
  *used += size;
  return found;
}

/* One conversion, such as `%-8.3f`, whose last letter is known to be one of those that print. */
static void convert(struct writer *to, const struct warp *w, int64_t lane, const char *spec, int wide, const char **values,
                    uint64_t *used) {
  char out[STRING];
  int n;
  char kind = spec[strlen(spec) - 1];
  if (strchr("fFeEgGaA", kind)) {
    double value;
    memcpy(&value, next_value(values, used, 8), 8);
    n = snprintf(out, sizeof out, spec, value);
  } else if (kind == 's' || kind == 'p') {
    uint64_t value;
    memcpy(&value, next_value(values, used, 8), 8);
    if (kind == 'p') n = snprintf(out, sizeof out, spec, (void *)value);
    else n = snprintf(out, sizeof out, spec, value ? seen_by(w, lane, value) : "(null)");
  } else if (wide) {
    long long value;
    memcpy(&value, next_value(values, used, 8), 8);
    n = snprintf(out, sizeof out, spec, value);
  } else {
    int value;
    memcpy(&value, next_value(values, used, 4), 4);
    n = snprintf(out, sizeof out, spec, value);
  }
  if (n > 0) add(to, out, (uint64_t)n < sizeof out ? (uint64_t)n : sizeof out - 1);
}

static void print(struct writer *to, const struct warp *w, int64_t lane, const char *format, const char *values) {
  uint64_t used = 0;
  for (const char *at = format; *at && to->at < to->end;) {
    if (*at != '%') { add(to, at++, 1); continue; }
    char spec[SPEC];
    int n = 0, wide = 0, good = 1;
    spec[n++] = *at++;
    for (; *at && strchr("-+ #0123456789.*hlLjztq", *at) && n < SPEC - 14; at++) {
      wide |= strchr("ljztq", *at) != NULL;
      if (*at == '*') {
        int width;
        memcpy(&width, next_value(&values, &used, 4), 4);
        good &= width >= -STRING && width < STRING;
        n += snprintf(spec + n, (size_t)(SPEC - n), "%d", width);
      } else if (*at != 'L') spec[n++] = *at;
    }
    spec[n++] = *at;
    spec[n] = 0;
    if (*at == '%') add(to, "%", 1);
    else if (good && *at && strchr("diouxXcfFeEgGaAsp", *at)) convert(to, w, lane, spec, wide, &values, &used);
    else add(to, spec, strlen(spec));
    if (*at) at++;
  }
}

/* A piece is open from `begin` to `close`; what there is no room for is left out, as on a card. */
static struct writer begin(struct launch *l) {
  enum { HEAD = 8 };
  char *from = l->said + l->said_size + HEAD, *end = l->said + l->said_room;
  return (struct writer){from, from < end ? end : from};
}

static void close_piece(struct launch *l, struct writer *by, uint32_t stream) {
  char *from = l->said + l->said_size;
  uint32_t head[2] = {stream, (uint32_t)(by->at - from - sizeof head)};
  if (!head[1]) return;
  memcpy(from, head, sizeof head);
  l->said_size = (uint64_t)(by->at - l->said);
}

EXPORT void gevolve_print(struct warp *w, int64_t lane, uint64_t format, uint64_t values) {
  struct launch *l = w->launch;
  if (!l->said) return;
  struct writer by = begin(l);
  print(&by, w, lane, seen_by(w, lane, format), seen_by(w, lane, values));
  close_piece(l, &by, TO_STDOUT);
}

EXPORT void gevolve_assert(struct warp *w, int64_t lane, uint64_t message, uint64_t file, uint64_t function, uint64_t line) {
  struct launch *l = w->launch;
  if (!l->said) return;
  struct writer by = begin(l);
  char out[STRING];
  int n = snprintf(out, sizeof out, "%s:%d: %s: block: [%u,%u,%u], thread: [%d,%d,%d] Assertion `%s` failed.\n",
                   seen_by(w, lane, file), (int)line, seen_by(w, lane, function), l->ctaid[0], l->ctaid[1], l->ctaid[2],
                   w->tid[0][lane], w->tid[1][lane], w->tid[2][lane], seen_by(w, lane, message));
  if (n > 0) add(&by, out, (uint64_t)n < sizeof out ? (uint64_t)n : sizeof out - 1);
  close_piece(l, &by, TO_STDERR);
}
