/* Replay: the cycles that a GPU would take for a trace.
 *
 * Time goes on in windows of a few cycles. In each, every SM in turn steps from event to event, so
 * that what it works on stays in the host's cache; what SMs share, the slices of L2 and DRAM, are
 * queues whose length does not depend on the order of arrivals within a window. Nothing here depends
 * on the machine: times are integers. */

static int free_collector(const struct engine *s, const struct scheduler *q, uint32_t now) {
  for (int i = 0; i < s->g.collectors; i++)
    if (q->collectors[i] <= now + 1) return i;
  return -1;
}

/* Issue a warp's next instruction and move the warp on. */
static void issue(
    struct engine *s, uint32_t sm, struct scheduler *q, int collector, uint32_t index, uint32_t now) {
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
  else if (w->starved && q->when[0] == w->floor) q->cell = &s->p->starved[w->op];
  else q->cell = &s->p->waited[q->when[0] == w->floor && !s->g.machine ? w->op : w->cause];
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

/* Machine code: issue a warp's next instruction, which holds its unit and sets its scoreboard. */
static void issue_machine(struct engine *s, uint32_t sm, struct scheduler *q, uint32_t index, uint32_t now) {
  struct walker *w = &s->walkers[index];
  const struct op *o = op_of(s, w->op);
  uint32_t op = w->op, stall = later(o->stall, 1u + o->yields);
  if (s->counts) s->p->issued[op]++;
  if (o->role == MEMORY) request(s, sm, q, 0, index, now + LEAST);
  else {
    uint32_t unit = q->units[o->unit] <= now ? o->unit : o->other;
    q->units[unit] = now + o->interval;
    settle_board(s, index, o->write, now + o->latency, op);
    settle_board(s, index, o->read, now + later(LEAST, o->reads), op);
  }
  w->op++;
  w->cause = op;
  if (o->role == BARRIER && w->waits) {
    struct group *b = &s->groups[w->group];
    if (!advance(s, index, now + stall)) { finish_warp(s, index, now + 1); return; }
    w->cause = op;
    w->waiting = 1;
    *w->ready = NEVER;
    if (++b->waiting == b->live) release_group(s, b, now);
    return;
  }
  if (!advance(s, index, now + stall)) finish_warp(s, index, now + 1);
}

/* Machine code: one instruction of one warp leaves, of the warp that issued last or else of the oldest
 * one, if its time has come and its unit is free. */
static void schedule_machine(struct engine *s, uint32_t sm, struct scheduler *q, uint32_t now) {
  uint32_t base = sm * s->per_sm, soonest = NEVER;
  if (s->counts && q->cell) { *q->cell += now - q->mark; q->cell = 0; q->mark = now; }
  int chosen = -1;
  if (q->greedy >= 0 && q->when[q->greedy] <= now && room_at(s, q, q->next[q->greedy]) <= now)
    chosen = q->greedy;
  for (int i = 0; chosen < 0 && i < q->n; i++) {
    uint32_t when = q->when[i];
    if (when <= now) when = room_at(s, q, q->next[i]);
    if (when <= now) chosen = i;
    else soonest = sooner(soonest, when);
  }
  if (chosen < 0) {
    q->wake = soonest;
    if (s->counts) mark(s, q, base, now);
    return;
  }
  q->greedy = chosen;
  q->wake = now + 1;
  issue_machine(s, sm, q, base + q->list[chosen], now);
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
    if (q->wake > now) continue;
    if (s->g.machine) schedule_machine(s, sm, q, now);
    else schedule(s, sm, q, now);
  }
  for (int i = 0; i < s->g.schedulers; i++) next = sooner(next, m->schedulers[i].wake);
  if (m->n_requests) {
    const struct request *e = &m->ring[m->head];
    next = sooner(next, later(e->began ? m->free : later(m->free, e->enters), now + 1));
  }
  s->next[sm] = later(next, now + 1);
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
EXPORT int32_t gevolve_replay(struct replay *p) {
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
  s.code_lines = s.g.machine ? ((uint32_t)p->n_ops >> FETCH) + 1 : 0;
  uint64_t far = sms * s.code_lines, near = far * (uint64_t)s.g.schedulers;
  s.near = take(near, sizeof *s.near, &failed);
  s.far = take(far, sizeof *s.far, &failed);
  for (uint64_t i = 0; i < lines && !failed; i++) s.homes[i] = (uint32_t)scatter(p->trace->lines[i]);
  p->cycles = p->early = p->late = 0;
  for (int nth = 0; nth < p->seeds && !failed; nth++) {
    memset(s.sms, 0, sms * sizeof *s.sms);
    memset(s.groups, 0, groups * sizeof *s.groups);
    memset(s.slices, 0, slices * sizeof *s.slices);
    memset(s.drams, 0, slices * sizeof *s.drams);
    memset(s.fills, 0, lines * sizeof *s.fills);
    memset(s.near, 0, near * sizeof *s.near);
    memset(s.far, 0, far * sizeof *s.far);
    s.next_block = s.done_blocks = s.end = s.early = s.late = 0;
    s.salt = (uint64_t)(p->first + nth) << 32;
    run_engine(&s);
    failed = s.done_blocks < s.n_blocks;
    p->cycles += s.end;
    p->early += s.early;
    p->late += s.late;
    s.counts = 0;
  }
  free(s.sms); free(s.next); free(s.walkers); free(s.groups); free(s.boards); free(s.slices);
  free(s.drams); free(s.lines); free(s.askers); free(s.fills); free(s.homes);
  free(s.near); free(s.far);
  return failed;
}
