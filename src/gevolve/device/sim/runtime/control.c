/* Replay of machine code: the scoreboards and stall counts that the compiler wrote into each
 * instruction, and the caches that instructions come from. */

/* A scoreboard is free from `when` on. */
static void settle_board(struct engine *s, uint32_t index, uint32_t board, uint32_t when, uint32_t maker) {
  if (board == NO_BOARD) return;
  struct value *v = board_of(s, index) + board;
  if (when >= v->when) *v = (struct value){when, maker};
}

/* An access waits in the queue: when its scoreboards are free is not known yet. */
static void owe(struct engine *s, struct scheduler *q, uint32_t index, const struct op *o) {
  struct walker *w = &s->walkers[index];
  if (o->write != NO_BOARD) { w->owed[o->write]++; board_of(s, index)[o->write].maker = w->op; }
  if (o->read != NO_BOARD) { w->owed[o->read]++; board_of(s, index)[o->read].maker = w->op; }
  q->pending++;
}

/* The load/store unit has begun with an access: its scheduler may send another. */
static void begun(struct engine *s, struct sm *m, const struct request *e) {
  struct scheduler *q = &m->schedulers[e->scheduler];
  if (q->pending-- >= (uint32_t)s->g.pending) q->wake = sooner(q->wake, e->began + 1);
}

static void release_boards(struct engine *s, uint32_t index, const struct request *e) {
  const struct op *o = op_of(s, e->op);
  struct walker *w = &s->walkers[index];
  if (o->write != NO_BOARD) {
    w->owed[o->write]--;
    settle_board(s, index, o->write, e->done, e->op);
  }
  if (o->read != NO_BOARD) {
    w->owed[o->read]--;
    settle_board(s, index, o->read, e->began + (uint32_t)s->g.read_latency, e->op);
  }
}

/* Take a line of code into the caches of an SM and of one of its schedulers. The SM's cache sends one
 * line at a time; schedulers that want the one that is on its way get it together. */
static void take_line(
    struct engine *s, struct sm *m, struct source *far, struct scheduler *q, struct fetched *near,
    uint32_t now) {
  uint32_t latency = (uint32_t)s->g.fetch_latency;
  if (!far->sent || far->sent + latency < now) {
    uint32_t when = later(now, m->fetch_free);
    if (!far->held.number || m->fetches - far->held.number >= (uint32_t)s->g.l1i_lines)
      far->held = (struct fetched){++m->fetches, when + (uint32_t)s->g.fetch_far};
    m->fetch_free = when + (uint32_t)s->g.fetch_interval;
    far->sent = later(later(when, far->held.when), 1);
  }
  *near = (struct fetched){++q->fetches, far->sent + latency};
}

static int has_line(const struct engine *s, const struct scheduler *q, const struct fetched *near) {
  return near->number && q->fetches - near->number < (uint32_t)s->g.l0_lines;
}

/* When an instruction has been fetched. A warp that goes on to another line asks for it and, ahead of
 * need, for those that follow. */
static uint32_t fetch(struct engine *s, uint32_t index, uint32_t op, uint32_t now) {
  struct walker *w = &s->walkers[index];
  uint32_t line = op >> FETCH, sm = index / s->per_sm, lines = s->code_lines;
  if (line == w->fetched) return now;
  struct sm *m = &s->sms[sm];
  struct scheduler *q = &m->schedulers[w->scheduler];
  struct source *far = s->far + (uint64_t)sm * lines;
  struct fetched *near = s->near + ((uint64_t)sm * (uint64_t)s->g.schedulers + w->scheduler) * lines;
  uint32_t ahead = (uint32_t)s->g.fetch_ahead;
  w->fetched = line;
  if (has_line(s, q, near + line)) {
    uint32_t next = line + ahead;
    if (next < lines && !has_line(s, q, near + next)) take_line(s, m, far + next, q, near + next, now);
  } else
    for (uint32_t next = line; next <= line + ahead && next < lines; next++)
      if (!has_line(s, q, near + next)) take_line(s, m, far + next, q, near + next, now);
  return later(now, near[line].when);
}

/* When the next instruction of a warp may issue: its scoreboards must be free. */
static void look_at_boards(struct engine *s, uint32_t index) {
  struct walker *w = &s->walkers[index];
  const struct op *o = op_of(s, w->op);
  const struct value *board = board_of(s, index);
  uint32_t when = 0;
  for (uint32_t wait = o->wait; wait; wait &= wait - 1) {
    int b = lowest(wait);
    uint32_t free = w->owed[b] ? NEVER : board[b].when;
    if (free > when) {
      when = free;
      if (when > w->floor) w->cause = board[b].maker;
    }
  }
  if (o->role == FENCE) when = w->queued ? NEVER : later(when, w->settled);
  *w->ready = later(when, w->floor);
  struct scheduler *q = &s->sms[index / s->per_sm].schedulers[w->scheduler];
  q->next[w->ready - q->when] = o;
}

/* When a unit takes an instruction; the queue of the load/store unit says itself when it has room. */
static uint32_t room_at(const struct engine *s, const struct scheduler *q, const struct op *o) {
  if (o->role == MEMORY) return q->pending < (uint32_t)s->g.pending ? 0 : NEVER;
  return sooner(q->units[o->unit], q->units[o->other]);
}
