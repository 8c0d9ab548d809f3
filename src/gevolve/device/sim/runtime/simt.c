/* The scheduler: lanes of a warp move together where they can, warps take turns at barriers. */
#include <setjmp.h>
#include <signal.h>
#include <stdlib.h>

enum { SPIN_LIMIT = 1024, FAVOUR_STEPS = 4096, TURN_LIMIT = 4096 };

static void leave(struct warp *w, int lane, int how) {
  struct launch *l = w->launch;
  uint64_t burned = w->fuel + w->own_fuel[lane];
  if (burned > l->fuel) l->fuel = burned;
  keep_counts(w, lane);
  w->live &= ~(1u << lane);
  w->ready &= ~(1u << lane);
  if (how == GO_EXIT || l->stop) return;
  l->stop = how == GO_TRAP ? TRAPPED : how == GO_ASSERT ? ASSERTED : STACK;
  l->bad_block = w->block;
}

static void burn(struct warp *w, uint32_t lanes) {
  struct launch *l = w->launch;
  if (lanes == w->live) w->fuel++;
  else
    for (uint32_t rest = lanes; rest; rest &= rest - 1) {
      uint64_t *own = &w->own_fuel[lowest(rest)];
      if (++*own > w->fuel_most) w->fuel_most = *own;
    }
  if (w->fuel + w->fuel_most <= l->fuel_limit) return;
  for (uint32_t rest = w->live; rest; rest &= rest - 1)
    if (w->fuel + w->own_fuel[lowest(rest)] > l->fuel_limit) l->stop = OUT_OF_FUEL;
}

/* The block just run said where each lane goes: see who left, who went back, who waits. */
static void finish(struct warp *w) {
  struct launch *l = w->launch;
  int block = w->block;
  const struct block *b = &l->blocks[block];
  l->clock += (uint64_t)b->issued;
  if (b->sites) {
    trace_block(w, b);
    if (l->stop) { l->bad_block = block; return; }
  }
  if (l->record && l->record->on) record_block(w, block);
  if (l->hazards) check_block(w, b);
  count_block(w, block);
  uint32_t back = 0, gone = 0;
  for (int64_t i = 0; i < w->count; i++) {
    int lane = (int)w->lane[i];
    int32_t pc = w->pc[lane];
    if (pc <= block) {
      if (pc < 0) gone |= 1u << lane;
      else back |= 1u << lane;
    }
  }
  if (b->kind == CALL) back = w->group & ~gone;
  if (b->kind == RET) back = 0;
  if (back) burn(w, back);
  int left = gone != 0;
  if (l->machine && b->kind == JUMP) part(w, w->group & ~gone);
  for (; gone; gone &= gone - 1) leave(w, lowest(gone), w->pc[lowest(gone)]);
  if (b->kind == JUMP || b->kind == CALL || b->kind == RET) {
    if (left && l->machine && w->exchanging) complete_exchanges(w);
    return;
  }
  uint32_t here = takers(w, b);
  if (l->machine) { part(w, w->group & ~here); part(w, here); }
  if (!here) return;
  for (uint32_t rest = here; rest; rest &= rest - 1) w->at[lowest(rest)] = block;
  if (b->kind >= BAR_SYNC && b->kind <= BAR_OR && !barriers_exist(w, here)) {
    l->stop = NO_BARRIER;
    l->bad_block = block;
    return;
  }
  if (b->kind == BAR_ARRIVE) arrive(w, here);
  else if (b->kind >= BAR_SYNC && b->kind <= BAR_OR) {
    w->at_barrier |= here;
    w->ready &= ~here;
  } else if (b->flags & ALONE) exchange(w, here, (enum kind)b->kind);
  else {
    w->exchanging |= here;
    w->ready &= ~here;
    complete_exchanges(w);
  }
}

static uint32_t mix(uint32_t x) {
  x = (x ^ x >> 16) * 0x7feb352du;
  x = (x ^ x >> 15) * 0x846ca68bu;
  return x ^ x >> 16;
}

static uint32_t rotate(uint32_t mask, uint32_t by) { return mask >> by | mask << (-by & 31); }

/* The mask of lanes whose numbers are flipped in these bits. */
static uint32_t mirror(uint32_t mask, uint32_t flip) {
  static const uint32_t halves[] = {0x55555555u, 0x33333333u, 0x0f0f0f0fu, 0x00ff00ffu, 0x0000ffffu};
  for (int i = 0; i < 5; i++)
    if (flip >> i & 1) mask = (mask >> (1 << i) & halves[i]) | (mask & halves[i]) << (1 << i);
  return mask;
}

/* Which of several lanes goes first in this order of threads. */
static int first_of(const struct warp *w, uint32_t lanes) {
  const struct launch *l = w->launch;
  if (l->order < 2) return lowest(lanes);
  if (l->order == 2) return 31 - __builtin_clz(lanes);
  /* lane numbers are turned and mirrored, differently in each warp */
  uint32_t key = mix((uint32_t)l->seed ^ mix((uint32_t)w->id + 1)), turn = key & 31, flip = key >> 5 & 31;
  return (int)((((uint32_t)lowest(rotate(mirror(lanes, flip), turn)) + turn) & 31) ^ flip);
}

/* Lanes alone, one after another: which of the ready ones goes first. */
static uint32_t pick_alone(struct warp *w, uint32_t ready) {
  if (w->group & ready) return w->group & ready; /* go on with the one that runs */
  return 1u << first_of(w, ready);
}

/* Together: the deepest call first, then the lane furthest behind, and all that are there too. */
static uint32_t pick_together(struct warp *w, uint32_t ready) {
  int first = lowest(ready);
  int32_t pc = w->pc[first], depth = w->depth[first];
  uint32_t same = ready & -ready;
  for (uint32_t rest = ready & (ready - 1); rest; rest &= rest - 1) {
    int lane = lowest(rest);
    int32_t p = w->pc[lane], d = w->depth[lane];
    if (p == pc && d == depth) { same |= 1u << lane; continue; }
    if (d > depth || (d == depth && p < pc)) { pc = p; depth = d; same = 1u << lane; }
  }
  return same;
}

/* Machine code: all that have the same token. The group that ran goes on; of its parts, or of all that
 * are ready, the lanes furthest behind, or those that the order of threads has first. */
static uint32_t pick_converged(const struct warp *w, uint32_t ready) {
  uint32_t from = w->group & ready ? w->group & ready : ready, same = 0;
  int first = w->launch->order ? first_of(w, from) : lowest(from);
  if (!w->launch->order)
    for (uint32_t rest = from; rest; rest &= rest - 1)
      if (w->pc[lowest(rest)] < w->pc[first]) first = lowest(rest);
  for (uint32_t rest = ready; rest; rest &= rest - 1)
    if (w->token[lowest(rest)] == w->token[first]) same |= rest & -rest;
  return same;
}

/* Lanes of a group run one after another in other orders, too. */
static void reorder(struct warp *w, int64_t n) {
  const struct launch *l = w->launch;
  if (l->order == 1) return;
  int64_t from[LANES], turn = l->order == 3 ? mix((uint32_t)l->seed + (uint32_t)w->id) % (uint32_t)n : 0;
  memcpy(from, w->lane, sizeof from);
  for (int64_t i = 0; i < n; i++) w->lane[i] = from[l->order == 2 ? n - 1 - i : (i + turn) % n];
}

static int choose(struct warp *w) {
  struct launch *l = w->launch;
  uint32_t ready = w->ready, group;
  if (!ready) return -1;
  if (l->machine) {
    if (w->favoured & ready && w->favour-- > 0) ready &= w->favoured;
    else w->favoured = 0;
    group = pick_converged(w, ready);
  } else if (l->order) group = pick_alone(w, ready);
  else {
    if (w->favoured & ready && w->favour-- > 0) ready &= w->favoured;
    else w->favoured = 0;
    group = pick_together(w, ready);
  }
  int block = w->pc[lowest(group)];
  if (l->blocks[block].flags & SPINS) {
    /* whoever spins may wait for a lane or a warp that waits for its turn */
    if (group != w->ready && ++w->spins > SPIN_LIMIT) {
      w->spins = 0;
      w->favoured = w->ready & ~group;
      w->favour = FAVOUR_STEPS;
      w->group = 0;
      return choose(w);
    }
    if (l->machine && group == w->ready && w->exchanging && ++w->spins > SPIN_LIMIT) {
      w->spins = 0;
      stop_waiting(w);
    }
    if (l->waits && ++w->turn > TURN_LIMIT) return -1;
  }
  if (group != w->group) {
    int64_t n = 0;
    for (uint32_t rest = group; rest; rest &= rest - 1) w->lane[n++] = lowest(rest);
    if (l->machine && l->order) reorder(w, n);
    w->count = n;
    w->group = group;
  }
  return w->block = block;
}

/* Called by generated code after each block: the next block to run, or -1 to stop for now. */
EXPORT int32_t gevolve_next(struct warp *w) {
  if (w->block >= 0) {
    finish(w);
    w->block = -1;
    if (w->launch->stop) return -1;
  }
  return choose(w);
}

/* Fill memory whose content nobody may rely on. */
static void fill(const struct launch *l, uint64_t address, uint64_t size) {
  uint32_t word = (uint32_t)l->noise[0], *at = (uint32_t *)address;
  for (uint64_t i = 0; i < (size + 3) / 4; i++) at[i] = word;
}

static void poison(const struct launch *l, uint64_t address, uint64_t size) {
  fill(l, address, size);
  if (l->shadowed) memset((void *)(address + MIRROR), 0xff, size);
}

static void begin_warp(struct launch *l, struct warp *w, int id, uint32_t threads, int place) {
  uint32_t n = (uint32_t)l->n_blocks;
  w->launch = l;
  w->id = id;
  w->block = -1;
  w->live = 0;
  w->group = w->at_barrier = w->exchanging = w->diverse = w->favoured = 0;
  w->spins = w->favour = w->turn = w->tokens = 0;
  w->fuel = w->fuel_most = 0;
  w->together = l->counts + (uint64_t)place * n * (LANES + 2);
  w->most = w->together + n;
  w->apart = w->most + n;
  memset(w->together, 0, 2 * n * sizeof *w->together);
  for (uint32_t lane = 0; lane < LANES; lane++) {
    uint32_t thread = (uint32_t)id * LANES + lane;
    if (thread >= threads) break;
    uint64_t slot = (uint64_t)place * LANES + lane;
    w->live |= 1u << lane;
    w->pc[lane] = l->entry;
    w->depth[lane] = w->token[lane] = 0;
    w->own_fuel[lane] = 0;
    w->frame[lane] = (uint64_t)(l->stacks + slot * l->stack_size);
    w->local[lane] = l->local_base + slot * l->local_size;
    w->tid[0][lane] = (int32_t)(thread % l->ntid[0]);
    w->tid[1][lane] = (int32_t)(thread / l->ntid[0] % l->ntid[1]);
    w->tid[2][lane] = (int32_t)(thread / l->ntid[0] / l->ntid[1]);
  }
  w->ready = w->live;
  if (l->machine) fill(l, w->frame[0], (uint64_t)bits(w->live) * l->stack_size);
  if (l->local_size) poison(l, w->local[0], LANES * l->local_size);
}

static int run_warp(struct launch *l, struct warp *w) {
  w->turn = 0;
  w->block = -1;
  l->run(w);
  return w->live != 0;
}

static void run_waiting_block(struct launch *l, uint32_t threads, int n_warps) {
  for (int i = 0; i < n_warps; i++) begin_warp(l, &l->warps[i], i, threads, i);
  memset(l->arrived, 0, sizeof l->arrived);
  for (;;) {
    int ready = 0, live = 0;
    for (int k = 0; k < n_warps; k++) {
      int i = l->order == 2 ? n_warps - 1 - k
            : l->order == 3 ? (int)((k + mix((uint32_t)l->seed)) % (uint32_t)n_warps) : k;
      struct warp *w = &l->warps[i];
      if (w->ready) {
        run_warp(l, w);
        if (l->stop) return;
      }
      complete_exchanges(w);
      ready |= w->ready != 0;
      live |= w->live != 0;
    }
    if (!live) break;
    if (ready) continue;
    for (int id = 0; id < 16; id++) ready |= release(l, n_warps, id);
    for (int i = 0; l->machine && !ready && i < n_warps; i++) ready = stop_waiting(&l->warps[i]);
    if (!ready) {
      l->stop = DEADLOCK;
      for (int i = 0; i < n_warps; i++) {
        uint32_t stuck = l->warps[i].at_barrier | l->warps[i].exchanging;
        if (stuck) { l->bad_block = l->warps[i].at[lowest(stuck)]; break; }
      }
      return;
    }
  }
  for (int i = 0; i < n_warps; i++) sum_counts(&l->warps[i]);
}

static void run_grid(struct launch *l) {
  uint32_t threads = l->ntid[0] * l->ntid[1] * l->ntid[2];
  int n_warps = (int)((threads + LANES - 1) / LANES);
  uint64_t blocks = (uint64_t)l->nctaid[0] * l->nctaid[1] * l->nctaid[2];
  if (l->hazards) begin_hazards(l);
  for (uint64_t k = 0; k < blocks; k++) {
    uint64_t at = l->order == 2 ? blocks - 1 - k : k;
    l->ctaid[0] = (uint32_t)(at % l->nctaid[0]);
    l->ctaid[1] = (uint32_t)(at / l->nctaid[0] % l->nctaid[1]);
    l->ctaid[2] = (uint32_t)(at / l->nctaid[0] / l->nctaid[1]);
    if (l->shared_size) poison(l, l->shared_base, l->shared_size);
    if (l->record) begin_record(l, at);
    if (l->record && l->record->only && !l->record->began) continue;
    if (l->hazards) begin_block_hazards(l);
    if (l->waits) {
      run_waiting_block(l, threads, n_warps);
      if (l->stop) return;
      if (l->record) end_record(l, n_warps);
      continue;
    }
    for (int i = 0; i < n_warps; i++) {
      struct warp *w = &l->warps[0];
      begin_warp(l, w, l->order == 2 ? n_warps - 1 - i : i, threads, 0);
      while (run_warp(l, w) && !l->stop)
        if (!w->ready && !complete_exchanges(w) && !(l->machine && stop_waiting(w))) {
          l->stop = DEADLOCK;
          l->bad_block = w->at[lowest(w->exchanging | 1u << 31)];
        }
      if (l->stop) return;
      sum_counts(w);
    }
    if (l->record) end_record(l, n_warps);
  }
}

static sigjmp_buf rescue;
static struct launch *volatile running;

static void on_fault(int number) {
  if (running) siglongjmp(rescue, 1);
  signal(number, SIG_DFL); /* not ours: let it happen again */
}

/* Run a whole grid. A fault inside it ends the launch, not the process. */
EXPORT void gevolve_launch(struct launch *l) {
  struct sigaction mine, segv, bus, fpe;
  memset(&mine, 0, sizeof mine);
  mine.sa_handler = on_fault;
  mine.sa_flags = SA_NODEFER | SA_ONSTACK;
  sigaction(SIGSEGV, &mine, &segv);
  sigaction(SIGBUS, &mine, &bus);
  sigaction(SIGFPE, &mine, &fpe);
  l->stop = RUNNING;
  l->bad_site = l->bad_block = -1;
  running = l;
  if (sigsetjmp(rescue, 0) == 0) run_grid(l);
  else {
    int block = -1;
    uint32_t threads = l->ntid[0] * l->ntid[1] * l->ntid[2];
    int n = l->waits ? (int)((threads + LANES - 1) / LANES) : 1;
    for (int i = 0; i < n; i++)
      if (l->warps[i].block >= 0) block = l->warps[i].block;
    l->stop = FAULT;
    if (block >= 0) blame(l, block);
  }
  running = 0;
  sigaction(SIGSEGV, &segv, 0);
  sigaction(SIGBUS, &bus, 0);
  sigaction(SIGFPE, &fpe, 0);
}

/* A value was used that nothing has written (`some`), or read at an address. */
EXPORT void gevolve_used(const struct launch *l, int32_t number, int some, const void *address) {
  if (some && !l->used[number]) l->used[number] = address ? (uint64_t)address : 1;
}

EXPORT int32_t gevolve_isspacep(const struct launch *l, uint64_t address, int32_t space) {
  int found = find_region(l, address, 1);
  return found >= 0 && l->regions[found].space == space;
}

EXPORT void gevolve_copy(void *to, const void *from, uint32_t wanted, uint32_t most) {
  memcpy(to, from, wanted < most ? wanted : most);
}
