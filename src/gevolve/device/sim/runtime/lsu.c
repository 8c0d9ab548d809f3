/* Replay, memory: the load/store unit of an SM, and the slices of L2 and DRAM behind it. */

static void complete(struct engine *s, uint32_t sm, struct request *e) {
  struct sm *m = &s->sms[sm];
  const struct op *o = op_of(s, e->op);
  uint32_t index = sm * s->per_sm + e->warp;
  struct walker *w = &s->walkers[index];
  struct value *board = board_of(s, index);
  const uint16_t *r = s->registers + o->first;
  if (s->g.machine) release_boards(s, index, e);
  else
    for (int i = 0; i < o->results; i++) board[r[i]].when = e->done;
  w->settled = later(w->settled, e->done);
  w->queued--;
  if (s->counts) s->p->delay[e->op] += e->done - e->began;
  struct group *b = &s->groups[w->group];
  b->queued--;
  if (!w->live) {
    b->done = later(b->done, e->done);
    finish_group(s, sm, b);
  } else if (!w->waiting && *w->ready == NEVER) {
    look(s, index);
    if (*w->ready != NEVER) wake(s, index);
  }
  m->head = (m->head + 1) % RING;
  m->n_requests--;
  /* the queue has room for one more: it leaves its collector */
  if (m->n_requests >= (uint32_t)s->g.queue) {
    struct request *in = &m->ring[(m->head + (uint32_t)s->g.queue - 1) % RING];
    if (in->held) {
      struct scheduler *q = &m->schedulers[in->scheduler];
      q->collectors[in->collector] = later(m->free, in->enters);
      in->held = 0;
      q->wake = sooner(q->wake, q->collectors[in->collector]);
    }
  }
}

/* The slice of a line. The map changes every so often, so that none is lucky with it for long. */
static inline uint32_t home_of(const struct engine *s, uint32_t line, uint32_t now) {
  uint64_t mixed = (s->homes[line] ^ (s->salt + (now >> EPOCH))) * 0x9e3779b97f4a7c15u;
  return (uint32_t)((mixed >> 32) * (uint64_t)s->g.slices >> 32);
}

/* The work that waits in a queue at a time. */
static inline uint64_t waiting(struct queue *q, uint64_t time) {
  if (time > q->time) {
    uint64_t done = time - q->time;
    q->work = q->work > done ? q->work - done : 0;
    q->time = time;
  }
  return q->work;
}

/* Ask a slice of L2 for sectors of a line; says when they are back. */
static uint32_t ask(
    struct engine *s, uint32_t asker, uint32_t word, int access, uint32_t home, uint32_t now) {
  const struct gpu *g = &s->g;
  uint32_t line = LINE_NUMBER(word), level = LINE_LEVEL(word);
  uint64_t many = SECTORS[LINE_SECTORS(word)], time = (uint64_t)now << 8;
  struct queue *slice = &s->slices[home];
  uint64_t ahead = waiting(slice, time), interval = (uint64_t)g->slice_interval;
  if (access == ATOMIC) interval = (uint64_t)g->atomic_interval;
  slice->work += many * interval;
  /* a line that another SM has just had takes its slice longer, once */
  if (ahead && s->lines[home] == line && s->askers[home] != asker && (uint64_t)g->hot_interval > interval)
    slice->work += (uint64_t)g->hot_interval - interval;
  s->lines[home] = line;
  s->askers[home] = asker;
  uint64_t back = time + slice->work;
  if (level >= IN_DRAM) {
    struct queue *dram = &s->drams[home];
    uint64_t moved = (level == IN_DRAM_EVICTS && access != STORE) ? 2 * many : many;
    waiting(dram, back);
    dram->work += moved * (uint64_t)g->dram_interval;
    /* a slice whose DRAM queue is full takes nothing more */
    uint64_t most = (uint64_t)g->dram_queue * (uint64_t)g->dram_interval;
    if (dram->work > most) slice->work += dram->work - most;
    if (access != STORE) s->fills[line] = back = back + dram->work + ((uint64_t)g->dram_latency << 8);
  } else if (access != STORE && s->fills[line] > back) back = s->fills[line];
  return (uint32_t)(back >> 8) + (uint32_t)g->l2_latency;
}

/* Send the lines of the request at the head; 0 if it must go on later. */
static int send(struct engine *s, uint32_t sm, struct request *e, uint32_t now) {
  struct sm *m = &s->sms[sm];
  const struct gpu *g = &s->g;
  int access = op_of(s, e->op)->access;
  uint32_t x = m->free, ideal;
  for (; e->next < e->count; e->next++) {
    if (x > now + LOOK_AHEAD) break;
    uint32_t word = e->words[e->next], many = SECTORS[LINE_SECTORS(word)];
    uint32_t line = LINE_NUMBER(word), place = line % COMING;
    if (LINE_LEVEL(word) == IN_L1) {
      x += (many + (uint32_t)g->l1_rate - 1) / (uint32_t)g->l1_rate;
      e->done = later(e->done, x + (uint32_t)g->l1_latency);
      if (m->coming[place].line == line + 1) e->done = later(e->done, m->coming[place].when);
      continue;
    }
    uint32_t home = home_of(s, line, x);
    uint64_t ahead = waiting(&s->slices[home], (uint64_t)x << 8);
    uint64_t most = (uint64_t)g->slice_behind << 8;
    if (ahead > most) { /* the slice pushes back */
      x += (uint32_t)((ahead - most + 255) >> 8);
      if (x > now + LOOK_AHEAD) break;
    }
    uint32_t back = ask(s, sm, word, access, home, x);
    x += (many + (uint32_t)g->send_rate - 1) / (uint32_t)g->send_rate;
    e->done = later(e->done, back);
    if (access == LOAD || access == READ_ONLY) {
      m->coming[place].line = line + 1;
      m->coming[place].when = back;
    }
  }
  m->free = x;
  if (e->next < e->count) return 0;
  if (g->machine) m->free = later(x, e->began + (uint32_t)g->address_interval);
  ideal = e->began + (uint32_t)g->l2_latency + e->count;
  if (s->counts && e->done > ideal && access != STORE) s->p->contended[e->op] += e->done - ideal;
  return 1;
}

static void serve(struct engine *s, uint32_t sm, uint32_t now) {
  struct sm *m = &s->sms[sm];
  const struct gpu *g = &s->g;
  while (m->n_requests) {
    struct request *e = &m->ring[m->head];
    if (!e->began) m->free = later(m->free, e->enters);
    if (m->free > now) return;
    if (!e->began) {
      e->began = later(m->free, 1);
      if (g->machine) begun(s, m, e);
    }
    uint32_t cost = e->count ? e->count : 1;
    switch (e->space) {
      case GLOBAL: case LOCAL:
        if (!send(s, sm, e, now)) return;
        break;
      case SHARED:
        if (s->counts) s->p->contended[e->op] += cost - 1;
        cost *= (uint32_t)g->bank_interval;
        e->done = m->free + cost - 1 + (uint32_t)g->shared_latency;
        m->free += later(cost, (uint32_t)g->address_interval);
        break;
      default:
        e->done = m->free + cost - 1 + (uint32_t)g->constant_latency;
        m->free += cost;
        break;
    }
    complete(s, sm, e);
  }
}

/* Put a warp's next instruction into the queue; it enters when its operands are read. */
static void request(
    struct engine *s, uint32_t sm, struct scheduler *q, int collector, uint32_t index,
    uint32_t enters) {
  struct sm *m = &s->sms[sm];
  struct walker *w = &s->walkers[index];
  const struct op *o = op_of(s, w->op);
  struct request *e = &m->ring[(m->head + m->n_requests) % RING];
  uint32_t word = o->role == MEMORY ? *w->at++ : SITE_WORD(CONSTANT, 1);
  memset(e, 0, sizeof *e);
  e->op = w->op;
  e->enters = enters;
  e->warp = (uint16_t)(index - sm * s->per_sm);
  e->scheduler = w->scheduler;
  e->collector = (uint8_t)collector;
  e->space = (uint16_t)SITE_SPACE(word);
  e->count = (uint16_t)SITE_COUNT(word);
  if (e->space == GLOBAL || e->space == LOCAL) {
    e->words = w->at;
    w->at += e->count;
  }
  m->n_requests++;
  w->queued++;
  s->groups[w->group].queued++;
  if (s->g.machine) { owe(s, q, index, o); return; }
  e->held = m->n_requests > (uint32_t)s->g.queue;
  q->collectors[collector] = e->held ? NEVER : enters;
  struct value *board = board_of(s, index);
  const uint16_t *r = s->registers + o->first;
  for (int i = 0; i < o->results; i++) board[r[i]] = (struct value){NEVER, w->op};
}
