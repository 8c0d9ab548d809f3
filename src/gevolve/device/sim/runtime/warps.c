/* Replay, warps: which instruction comes next and when it may issue; blocks that come and go. */

/* When the next instruction of a warp may issue: all that it reads and writes must be settled. */
static void look(struct engine *s, uint32_t index) {
  if (s->g.machine) { look_at_boards(s, index); return; }
  struct walker *w = &s->walkers[index];
  const struct op *o = op_of(s, w->op);
  const struct value *board = board_of(s, index);
  const uint16_t *r = s->registers + o->first, *last = r + o->results + o->sources;
  uint32_t when = 0, maker = 0;
  for (; r < last; r++)
    if (board[*r].when > when) { when = board[*r].when; maker = board[*r].maker; }
  if (when > w->floor) w->cause = maker;
  if (w->holds || o->role == FENCE) when = w->queued ? NEVER : later(when, w->settled);
  w->operands = when;
  *w->ready = later(when, w->floor);
}

/* What ptxas would fold into other instructions takes no time, if its operands are there. */
static int fold(struct engine *s, uint32_t index, const struct op *o) {
  struct value *board = board_of(s, index);
  const uint16_t *r = s->registers + o->first;
  uint32_t when = 0;
  for (int i = 0; i < o->results + o->sources; i++) when = later(when, board[r[i]].when);
  if (when == NEVER) return 0;
  for (int i = 0; i < o->results; i++) board[r[i]].when = when;
  return 1;
}

static void wake(struct engine *s, uint32_t index) {
  uint32_t sm = index / s->per_sm;
  struct scheduler *q = &s->sms[sm].schedulers[s->walkers[index].scheduler];
  q->wake = sooner(q->wake, *s->walkers[index].ready);
  s->next[sm] = sooner(s->next[sm], q->wake);
}

static void release_group(struct engine *s, struct group *b, uint32_t now) {
  for (int i = 0; i < s->p->warps_per_block; i++) {
    uint32_t index = b->first + (uint32_t)i;
    struct walker *w = &s->walkers[index];
    if (!w->waiting) continue;
    w->waiting = 0;
    w->floor = later(w->floor, now + (uint32_t)s->g.barrier);
    look(s, index);
    wake(s, index);
  }
  b->waiting = 0;
}

/* A block whose warps have ended and whose stores are done makes room for another. */
static void finish_group(struct engine *s, uint32_t sm, struct group *b) {
  if (b->live || b->queued) return;
  s->done_blocks++;
  uint64_t wave = (uint64_t)s->p->resident * (uint64_t)s->g.sms, waves = s->n_blocks / wave;
  if (s->done_blocks == waves / 3 * wave) s->early = b->done;
  if (s->done_blocks == waves * 2 / 3 * wave) s->late = b->done;
  s->end = later(s->end, b->done);
  s->sms[sm].refill = sooner(s->sms[sm].refill, b->done);
  s->next[sm] = sooner(s->next[sm], b->done);
}

static void finish_warp(struct engine *s, uint32_t index, uint32_t now) {
  struct walker *w = &s->walkers[index];
  uint32_t sm = index / s->per_sm;
  struct scheduler *q = &s->sms[sm].schedulers[w->scheduler];
  struct group *b = &s->groups[w->group];
  int at = (int)(w->ready - q->when);
  for (q->n--; at < q->n; at++) {
    q->list[at] = q->list[at + 1];
    q->when[at] = q->when[at + 1];
    q->next[at] = q->next[at + 1];
    s->walkers[sm * s->per_sm + q->list[at]].ready = &q->when[at];
  }
  q->greedy = -1;
  w->live = 0;
  b->done = later(b->done, later(now, w->settled));
  if (--b->live && b->waiting == b->live) release_group(s, b, now);
  finish_group(s, sm, b);
}

/* Move a warp on to its next instruction; 0 if it has none. */
static int advance(struct engine *s, uint32_t index, uint32_t floor) {
  struct walker *w = &s->walkers[index];
  w->floor = floor;
  for (;;) {
    while (w->op == w->op_end) {
      if (w->at == w->end) return 0;
      uint32_t head = *w->at++, block = HEAD_BLOCK(head);
      const struct span *span = &s->spans[block];
      w->op = span->first;
      w->op_end = span->first + span->count;
      w->waits = (uint8_t)HEAD_WAITS(head);
      if (block != w->last_block + 1) {
        w->floor += (uint32_t)s->g.branch;
        w->second = 0;
      }
      w->last_block = block;
    }
    const struct op *o = op_of(s, w->op);
    if (!o->folded || !fold(s, index, o)) break;
    w->op++;
  }
  if (s->g.machine) {
    uint32_t there = fetch(s, index, w->op, w->floor);
    w->starved = there > w->floor;
    w->floor = there;
  }
  look(s, index);
  return 1;
}

static void start_block(struct engine *s, uint32_t sm, uint32_t slot, uint32_t now) {
  struct replay *p = s->p;
  struct sm *m = &s->sms[sm];
  uint32_t count = (uint32_t)p->warps_per_block;
  uint64_t block = s->next_block++;
  uint32_t group = sm * (uint32_t)p->resident + slot, first = sm * s->per_sm + slot * count;
  s->groups[group] = (struct group){count, 0, 0, now, first};
  for (uint32_t i = 0; i < count; i++) {
    uint32_t index = first + i;
    struct walker *w = &s->walkers[index];
    const uint64_t *starts = &p->trace->starts[block * count + i];
    memset(w, 0, sizeof *w);
    w->at = p->trace->all.words + starts[0];
    w->end = p->trace->all.words + starts[1];
    w->live = 1;
    w->group = (uint16_t)group;
    w->last_block = NEVER - 1;
    w->fetched = NEVER;
    w->scheduler = (uint8_t)((slot * count + i) % (uint32_t)s->g.schedulers);
    memset(board_of(s, index), 0, s->slots * sizeof *s->boards);
    struct scheduler *q = &m->schedulers[w->scheduler];
    w->ready = &q->when[q->n];
    q->when[q->n] = NEVER;
    q->list[q->n++] = (uint16_t)(slot * count + i);
  }
  for (uint32_t i = 0; i < count; i++) {
    if (advance(s, first + i, now)) wake(s, first + i);
    else finish_warp(s, first + i, now);
  }
}
