/* Replay: the cycles that a GPU would take for a trace.
 *
 * Time goes on in windows of a few cycles. In each, every SM in turn steps from event to event, so
 * that what it works on stays in the host's cache; what SMs share, the slices of L2 and DRAM, are
 * queues whose length does not depend on the order of arrivals within a window. Nothing here depends
 * on the machine: times are integers. */

enum { NEVER = 0xffffffffu, RING = 128, LOOK_AHEAD = 32, WINDOW = 16, EPOCH = 7, MOST_WARPS = 64, MOST_COLLECTORS = 8 };
static const uint8_t SECTORS[16] = {0, 1, 1, 2, 1, 2, 2, 3, 1, 2, 2, 3, 2, 3, 3, 4}; /* bits set */
enum { COMING = 64, MOST_SCHEDULERS = 4, LEAST = 2 }; /* least: cycles from issue until operands are read */

struct walker {              /* a resident warp */
  const uint32_t *at, *end;  /* what is left of its stream */
  uint32_t op, op_end;       /* its next instruction, and where the block's end */
  uint32_t *ready;           /* when that may issue; NEVER while it waits for an event */
  uint32_t operands;         /* when its operands are there */
  uint32_t floor;            /* when the front end has it */
  uint32_t cause;            /* the instruction that it waits for */
  uint32_t settled;          /* when all its memory accesses so far are done */
  uint32_t last_block;
  uint32_t queued;           /* accesses that wait in the load/store unit */
  uint8_t live, waiting, waits, holds, second;
  uint8_t scheduler;
  uint16_t group;            /* the resident block that it belongs to */
};

struct group {               /* a resident block */
  uint32_t live, waiting;    /* its warps that have not ended, and those at a barrier */
  uint32_t queued;           /* its accesses that wait in the load/store unit */
  uint32_t done, first;
};

struct scheduler {
  uint32_t wake, mark;
  uint64_t *cell;            /* the counter that the time since `mark` goes to */
  int32_t n, greedy;
  uint32_t collectors[MOST_COLLECTORS];
  uint32_t units[UNITS];
  uint16_t list[MOST_WARPS]; /* its warps, the oldest first, */
  uint32_t when[MOST_WARPS]; /* and when each may issue */
};

struct request {
  const uint32_t *words;
  uint32_t op, enters, done, began;
  uint16_t warp, space;
  uint16_t count, next;
  uint8_t scheduler, collector, held;
};

struct sm {
  uint32_t refill, free; /* when a block may come; when the load/store unit is free */
  uint32_t head, n_requests;
  struct { uint32_t line, when; } coming[COMING]; /* lines on their way to L1 */
  struct scheduler schedulers[MOST_SCHEDULERS];
  struct request ring[RING];
};

struct queue { uint64_t time, work; }; /* work that waits, in 1/256 cycles, as of a time */

struct value { uint32_t when, maker; }; /* a register: when it is written, and by what */

struct engine {
  struct replay *p;
  const struct op *ops;       /* of the kernel */
  const uint16_t *registers;
  const struct span *spans;
  uint32_t slots;
  int counts;                 /* whether to count what is waited for */
  struct gpu g;
  struct sm *sms;
  uint32_t *next;             /* when to look at each SM again */
  struct walker *walkers;
  struct group *groups;
  struct value *boards;        /* the registers of each warp */
  struct queue *slices, *drams;
  uint64_t *fills;            /* when each line has come from DRAM */
  uint32_t *lines, *askers;   /* per slice: the line it serves, and for whom */
  uint32_t *homes;            /* a hash of each line, from which its slice comes */
  uint64_t salt;
  uint64_t next_block, n_blocks, done_blocks;
  uint32_t per_sm;            /* warps that an SM holds */
  uint32_t end;
};

static inline uint32_t later(uint32_t a, uint32_t b) { return a > b ? a : b; }
static inline uint32_t sooner(uint32_t a, uint32_t b) { return a < b ? a : b; }

static inline struct value *board_of(const struct engine *s, uint32_t index) {
  return s->boards + (uint64_t)index * s->slots;
}
static inline const struct op *op_of(const struct engine *s, uint32_t op) { return &s->ops[op]; }

/* When the next instruction of a warp may issue: all that it reads and writes must be settled. */
static void look(struct engine *s, uint32_t index) {
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

/* --- the load/store unit */

static void complete(struct engine *s, uint32_t sm, struct request *e) {
  struct sm *m = &s->sms[sm];
  const struct op *o = op_of(s, e->op);
  uint32_t index = sm * s->per_sm + e->warp;
  struct walker *w = &s->walkers[index];
  struct value *board = board_of(s, index);
  const uint16_t *r = s->registers + o->first;
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
static uint32_t ask(struct engine *s, uint32_t asker, uint32_t word, int access, uint32_t home, uint32_t now) {
  const struct gpu *g = &s->g;
  uint32_t line = LINE_NUMBER(word), level = LINE_LEVEL(word);
  uint64_t many = SECTORS[LINE_SECTORS(word)], time = (uint64_t)now << 8;
  struct queue *slice = &s->slices[home];
  uint64_t ahead = waiting(slice, time), interval = (uint64_t)g->slice_interval;
  if (access == ATOMIC) interval = (uint64_t)g->atomic_interval;
  else if (ahead && s->lines[home] == line && s->askers[home] != asker)
    interval = (uint64_t)g->hot_interval;
  s->lines[home] = line;
  s->askers[home] = asker;
  slice->work += many * interval;
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
    if (!e->began) e->began = later(m->free, 1);
    uint32_t cost = e->count ? e->count : 1;
    switch (e->space) {
      case GLOBAL: case LOCAL:
        if (!send(s, sm, e, now)) return;
        break;
      case SHARED:
        if (s->counts) s->p->contended[e->op] += cost - 1;
        e->done = m->free + cost - 1 + (uint32_t)g->shared_latency;
        m->free += cost;
        break;
      default:
        e->done = m->free + cost - 1 + (uint32_t)g->constant_latency;
        m->free += cost;
        break;
    }
    complete(s, sm, e);
  }
}

static void request(struct engine *s, uint32_t sm, struct scheduler *q, int collector, uint32_t index, uint32_t enters) {
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
  e->held = m->n_requests >= (uint32_t)s->g.queue;
  q->collectors[collector] = e->held ? NEVER : enters;
  m->n_requests++;
  w->queued++;
  s->groups[w->group].queued++;
  struct value *board = board_of(s, index);
  const uint16_t *r = s->registers + o->first;
  for (int i = 0; i < o->results; i++) board[r[i]] = (struct value){NEVER, w->op};
}

/* --- issue */

static int free_collector(const struct engine *s, const struct scheduler *q, uint32_t now) {
  for (int i = 0; i < s->g.collectors; i++)
    if (q->collectors[i] <= now + 1) return i;
  return -1;
}

/* Issue a warp's next instruction and move the warp on. */
static void issue(struct engine *s, uint32_t sm, struct scheduler *q, int collector, uint32_t index, uint32_t now) {
  struct walker *w = &s->walkers[index];
  const struct op *o = op_of(s, w->op);
  uint32_t op = w->op, slots = o->slots;
  uint32_t leaves = now + 1 + o->reads; /* its operands are read */
  if (s->counts) s->p->issued[op] += slots;
  w->holds = 0;
  if (o->role == MEMORY || o->role == PARAMETER) {
    request(s, sm, q, collector, index, leaves);
    if (o->access == ATOMIC && o->role == MEMORY && s->g.atomics_wait) w->holds = 1;
  } else {
    uint32_t starts = later(leaves, q->units[o->unit]);
    q->units[o->unit] = starts + o->interval;
    q->collectors[collector] = starts;
    struct value *board = board_of(s, index);
    const uint16_t *r = s->registers + o->first;
    for (int i = 0; i < o->results; i++) board[r[i]] = (struct value){starts + o->latency - LEAST, op};
  }
  w->op++;
  w->second ^= 1;
  if (o->role == BARRIER && w->waits) {
    struct group *b = &s->groups[w->group];
    if (!advance(s, index, now + slots)) { finish_warp(s, index, now + 1); return; }
    w->cause = op;
    w->waiting = 1;
    *w->ready = NEVER;
    if (++b->waiting == b->live) release_group(s, b, now);
    return;
  }
  if (!advance(s, index, now + slots)) finish_warp(s, index, now + 1);
}

/* No instruction leaves from now on: note what the oldest warp waits for. */
static void mark(struct engine *s, struct scheduler *q, uint32_t base, uint32_t now) {
  q->mark = now;
  q->cell = &s->p->idle;
  if (!q->n) return;
  const struct walker *w = &s->walkers[base + q->list[0]];
  if (q->when[0] <= now) q->cell = &s->p->stuck[w->op];
  else q->cell = &s->p->waited[q->when[0] == w->floor ? w->op : w->cause];
}

static void schedule(struct engine *s, uint32_t sm, struct scheduler *q, uint32_t now) {
  uint32_t base = sm * s->per_sm, soonest = NEVER;
  if (s->counts && q->cell) { *q->cell += now - q->mark; q->cell = 0; q->mark = now; }
  int collector = free_collector(s, q, now), chosen = -1;
  if (collector >= 0) {
    if (q->greedy >= 0 && q->when[q->greedy] <= now) chosen = q->greedy;
    for (int i = 0; chosen < 0 && i < q->n; i++) {
      if (q->when[i] <= now) chosen = i;
      else soonest = sooner(soonest, q->when[i]);
    }
  } else {
    for (int i = 0; i < s->g.collectors; i++)
      if (q->collectors[i] != NEVER) soonest = sooner(soonest, q->collectors[i] - 1);
  }
  if (chosen < 0) {
    q->wake = soonest;
    if (s->counts) mark(s, q, base, now);
    return;
  }
  uint32_t index = base + q->list[chosen];
  struct walker *w = &s->walkers[index];
  const struct op *first = op_of(s, w->op);
  uint32_t next = now + first->slots, end = w->op_end;
  uint32_t before = w->op;
  int even = !w->second;
  q->greedy = chosen;
  q->wake = next;
  issue(s, sm, q, collector, index, now);
  if (!s->g.dual || !even || !w->live || w->waiting || w->op <= before || w->op_end != end) return;
  const struct op *second = op_of(s, w->op);
  if (w->operands > now || second->unit == first->unit || w->holds) return;
  collector = free_collector(s, q, now);
  if (collector >= 0) issue(s, sm, q, collector, index, now);
}

static void step(struct engine *s, uint32_t sm, uint32_t now) {
  struct sm *m = &s->sms[sm];
  if (m->refill <= now) {
    m->refill = NEVER;
    for (uint32_t slot = 0; slot < (uint32_t)s->p->resident; slot++) {
      const struct group *b = &s->groups[sm * (uint32_t)s->p->resident + slot];
      if (b->live || b->queued) continue;
      if (b->done > now) m->refill = sooner(m->refill, b->done);
      else if (s->next_block < s->n_blocks) start_block(s, sm, slot, now);
    }
    if (s->next_block >= s->n_blocks) m->refill = NEVER;
  }
  if (m->n_requests) serve(s, sm, now);
  uint32_t next = m->refill;
  for (int i = 0; i < s->g.schedulers; i++) {
    struct scheduler *q = &m->schedulers[i];
    if (q->wake <= now) schedule(s, sm, q, now);
  }
  for (int i = 0; i < s->g.schedulers; i++) next = sooner(next, m->schedulers[i].wake);
  if (m->n_requests) {
    const struct request *e = &m->ring[m->head];
    next = sooner(next, later(e->began ? m->free : later(m->free, e->enters), now + 1));
  }
  s->next[sm] = later(next, now + 1);
}

static void place_lines(struct engine *s, int seed) {
  struct record *r = s->p->trace;
  s->salt = (uint64_t)seed << 32;
  for (uint64_t i = 0; i < r->n_lines && !seed; i++) s->homes[i] = (uint32_t)scatter(r->lines[i]);
}

static void start(struct engine *s) {
  uint32_t sms = (uint32_t)s->g.sms, resident = (uint32_t)s->p->resident;
  for (uint32_t sm = 0; sm < sms; sm++) {
    struct sm *m = &s->sms[sm];
    s->next[sm] = m->refill = NEVER;
    for (int i = 0; i < s->g.schedulers; i++) {
      m->schedulers[i].wake = NEVER;
      m->schedulers[i].greedy = -1;
    }
  }
  for (uint32_t slot = 0; slot < resident; slot++)
    for (uint32_t sm = 0; sm < sms && s->next_block < s->n_blocks; sm++)
      start_block(s, sm, slot, slot * (uint32_t)s->g.dispatch);
}

static void run_engine(struct engine *s) {
  uint32_t sms = (uint32_t)s->g.sms, now = 0, first = 0;
  start(s);
  while (s->done_blocks < s->n_blocks && now != NEVER) {
    uint32_t next = NEVER, end = now + WINDOW;
    for (uint32_t i = 0; i < sms; i++) { /* another SM goes first in each window */
      uint32_t sm = first + i < sms ? first + i : first + i - sms;
      while (s->next[sm] < end) step(s, sm, s->next[sm]);
      next = sooner(next, s->next[sm]);
    }
    first = first + 1 < sms ? first + 1 : 0;
    now = next;
  }
  for (uint32_t sm = 0; s->counts && sm < sms; sm++)
    for (int i = 0; i < s->g.schedulers; i++) {
      struct scheduler *q = &s->sms[sm].schedulers[i];
      if (s->end > q->mark) *(q->cell ? q->cell : &s->p->idle) += s->end - q->mark;
    }
}

static void *take(uint64_t count, size_t size, int *failed) {
  void *array = calloc(count + 1, size);
  *failed |= !array;
  return array;
}

/* Replay a trace with each of several maps of lines to slices; the first also counts what was waited
 * for. `cycles` is the sum over the maps. */
EXPORT int32_t gevo_replay(struct replay *p) {
  struct engine s = {
    .p = p, .ops = p->ops, .registers = p->registers, .spans = p->spans, .slots = (uint32_t)p->slots,
    .counts = 1, .g = *p->gpu,
  };
  uint64_t sms = (uint64_t)s.g.sms, lines = p->trace->n_lines, slices = (uint64_t)s.g.slices;
  s.per_sm = (uint32_t)(p->resident * p->warps_per_block);
  s.n_blocks = p->trace->n_warps / (uint64_t)p->warps_per_block;
  uint64_t warps = sms * s.per_sm, groups = sms * (uint64_t)p->resident;
  int failed = 0;
  s.sms = take(sms, sizeof *s.sms, &failed);
  s.next = take(sms, sizeof *s.next, &failed);
  s.walkers = take(warps, sizeof *s.walkers, &failed);
  s.groups = take(groups, sizeof *s.groups, &failed);
  s.boards = take(warps * (uint64_t)p->slots, sizeof *s.boards, &failed);
  s.slices = take(slices, sizeof *s.slices, &failed);
  s.drams = take(slices, sizeof *s.drams, &failed);
  s.lines = take(slices, sizeof *s.lines, &failed);
  s.askers = take(slices, sizeof *s.askers, &failed);
  s.fills = take(lines, sizeof *s.fills, &failed);
  s.homes = take(lines, sizeof *s.homes, &failed);
  p->cycles = 0;
  for (int seed = 0; seed < p->seeds && !failed; seed++) {
    memset(s.sms, 0, sms * sizeof *s.sms);
    memset(s.groups, 0, groups * sizeof *s.groups);
    memset(s.slices, 0, slices * sizeof *s.slices);
    memset(s.drams, 0, slices * sizeof *s.drams);
    memset(s.fills, 0, lines * sizeof *s.fills);
    s.next_block = s.done_blocks = s.end = 0;
    place_lines(&s, seed);
    run_engine(&s);
    failed = s.done_blocks < s.n_blocks;
    p->cycles += s.end;
    s.counts = 0;
  }
  free(s.sms); free(s.next); free(s.walkers); free(s.groups); free(s.boards); free(s.slices);
  free(s.drams); free(s.lines); free(s.askers); free(s.fills); free(s.homes);
  return failed;
}
