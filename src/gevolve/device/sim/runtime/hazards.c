/* Hazards: races, barriers that part of a block skips, reads of shared memory that nothing wrote.
 *
 * Time is a counter that every synchronisation advances. An access is stamped with the time of its
 * warp's last synchronisation, so it comes before another thread's access if that thread has since
 * taken part in a synchronisation with it: of the whole block (`base`), of the warp (`warps`), of some
 * lanes (`lanes`) or of some warps (`others`). Each cell of the shadow keeps, for reads, writes and
 * atomics apart, the last access, one by another thread, and one by an earlier block. */
#include <stdlib.h>

enum hazard { RACE_IN_WARP, RACE_IN_BLOCK, RACE_OF_BLOCKS, UNINITIALISED, DIVERGENT, LEFT };
/* the order is that of `_WORDS` in hazards.py */
enum { UNEQUAL = 8 }; /* added to a race: both write, and not the same value */

enum { STRONG = 1, VOLATILE = 2 }; /* site flags: relaxed, acquire, release; volatile */

/* `first` and `second` are sites; of DIVERGENT and LEFT they are blocks that end in a barrier. */
struct found { int32_t hazard, first, second; };

enum { READS, WRITES, UPDATES, WAYS };
enum { PAGE_BITS = 12, WORD_BITS = 2, RECENT = 64, MOST_FOUND = 1024, FOUND_TABLE = 4096 };
enum { LANE_BITS = 5, WARP_BITS = 5, FLAG_BITS = 2, SITE_SHIFT = LANE_BITS + WARP_BITS + FLAG_BITS };

struct act { uint32_t stamp, who; }; /* who: site, flags, warp, lane */
struct history { struct act last, other; uint32_t before; }; /* before: a site of an earlier block, plus one */
struct cell { struct history did[WAYS]; uint32_t value; }; /* value: as the last write left it */
struct page { uint64_t number; struct cell *cells; int shift; }; /* shift: a cell is 1 << shift bytes */

struct hazards {
  uint64_t room, used;             /* bytes of shadow: allowed, taken */
  struct page *pages;              /* a hash table */
  uint64_t n_pages, size;
  uint64_t recent[RECENT];         /* places in it, plus one */
  uint32_t now;                    /* the counter */
  uint32_t launch_began, block_began, base;
  uint32_t epoch[LANES], warps[LANES];
  uint32_t some_lanes;             /* warps in which only some lanes have synchronised */
  uint32_t lanes[LANES][LANES][LANES], others[LANES][LANES];
  uint32_t arrivals[16][LANES];
  struct found found[MOST_FOUND];
  uint16_t table[FOUND_TABLE];
  int32_t n_found;
};

EXPORT struct hazards *gevolve_hazards_new(uint64_t room) {
  struct hazards *h = calloc(1, sizeof *h);
  if (h) h->room = room;
  return h;
}

EXPORT void gevolve_hazards_free(struct hazards *h) {
  for (uint64_t i = 0; i < h->size; i++) free(h->pages[i].cells);
  free(h->pages);
  free(h);
}

/* Take what was found since the last time, at most `most` of it. */
EXPORT int32_t gevolve_hazards_take(struct hazards *h, struct found *into, int32_t most) {
  int32_t n = h->n_found < most ? h->n_found : most;
  memcpy(into, h->found, (size_t)n * sizeof *into);
  h->n_found = 0;
  memset(h->table, 0, sizeof h->table);
  return n;
}

static uint32_t spread(uint32_t a, uint32_t b, uint32_t c) {
  uint32_t x = a * 0x9e3779b1u ^ b * 0x85ebca6bu ^ c * 0xc2b2ae35u;
  return (x ^ x >> 15) * 0x2c1b3c6du;
}

static void note(struct hazards *h, enum hazard hazard, uint32_t first, uint32_t second) {
  struct found f = {(int32_t)hazard, (int32_t)first, (int32_t)second};
  uint32_t at = spread((uint32_t)hazard, first, second) >> 20;
  for (; h->table[at]; at = (at + 1) % FOUND_TABLE)
    if (!memcmp(&h->found[h->table[at] - 1], &f, sizeof f)) return;
  if (h->n_found == MOST_FOUND) return;
  h->found[h->n_found++] = f;
  h->table[at] = (uint16_t)h->n_found;
}

/* --- the shadow --- */

static uint64_t page_place(const struct hazards *h, uint64_t number) {
  uint64_t at = (number * 0x9e3779b97f4a7c15u) >> 20 & (h->size - 1);
  while (h->pages[at].cells && h->pages[at].number != number) at = (at + 1) & (h->size - 1);
  return at;
}

static int more_pages(struct hazards *h) {
  struct page *old = h->pages;
  uint64_t before = h->size;
  uint64_t size = before ? before * 4 : 1024;
  struct page *fresh = calloc(size, sizeof *fresh);
  if (!fresh) return 0;
  h->pages = fresh;
  h->size = size;
  for (uint64_t i = 0; i < before; i++)
    if (old[i].cells) h->pages[page_place(h, old[i].number)] = old[i];
  free(old);
  memset(h->recent, 0, sizeof h->recent);
  return 1;
}

static struct cell *cells(struct hazards *h, uint64_t count) {
  if (h->used + count * sizeof(struct cell) > h->room) return 0;
  struct cell *made = calloc(count, sizeof *made);
  if (made) h->used += count * sizeof *made;
  return made;
}

/* From words to bytes: what was known of a word is known of each of its bytes. */
static int split(struct hazards *h, struct page *p) {
  uint64_t words = 1u << (PAGE_BITS - WORD_BITS), each = 1u << WORD_BITS;
  struct cell *fine = cells(h, words * each);
  if (!fine) return 0;
  for (uint64_t i = 0; i < words * each; i++) fine[i] = p->cells[i / each];
  free(p->cells);
  h->used -= words * sizeof(struct cell);
  p->cells = fine;
  p->shift = 0;
  return 1;
}

/* The page that an access of this size falls in; null when there is no room to watch it. */
static struct page *page_of(struct hazards *h, uint64_t address, uint64_t size) {
  uint64_t number = address >> PAGE_BITS, *recent = &h->recent[number % RECENT];
  struct page *p = *recent ? &h->pages[*recent - 1] : 0;
  if (!p || p->number != number) {
    if (h->n_pages * 2 >= h->size && !more_pages(h)) return 0;
    uint64_t at = page_place(h, number);
    p = &h->pages[at];
    if (!p->cells) {
      struct cell *made = cells(h, 1u << (PAGE_BITS - WORD_BITS));
      if (!made) return 0;
      *p = (struct page){number, made, WORD_BITS};
      h->n_pages++;
    }
    *recent = at + 1;
  }
  if (size < 1u << p->shift && !split(h, p)) return 0;
  return p;
}

/* --- races --- */

static inline uint32_t lane_of(uint32_t who) { return who & (LANES - 1); }
static inline uint32_t warp_of(uint32_t who) { return who >> LANE_BITS & (LANES - 1); }
static inline uint32_t flags_of(uint32_t who) { return who >> (LANE_BITS + WARP_BITS) & 3; }
static inline uint32_t site_of(uint32_t who) { return who >> SITE_SHIFT; }

static void race(struct hazards *h, enum hazard hazard, uint32_t first, uint32_t who, int unequal) {
  note(h, hazard, first, site_of(who));
  if (unequal) note(h, hazard + UNEQUAL, first, site_of(who));
}

/* An earlier access of this block: does it come before what `who` does now? */
static void compare(struct hazards *h, struct act a, uint32_t who, int unequal) {
  if (a.stamp < h->base) return;
  uint32_t w = warp_of(who), v = warp_of(a.who);
  if (flags_of(a.who) & flags_of(who) & STRONG) return;
  if (v != w) {
    if (a.stamp >= h->others[w][v]) race(h, RACE_IN_BLOCK, site_of(a.who), who, unequal);
    return;
  }
  if (lane_of(a.who) == lane_of(who) || a.stamp < h->warps[w]) return;
  if (h->some_lanes >> w & 1 && a.stamp < h->lanes[w][lane_of(who)][lane_of(a.who)]) return;
  /* code from before warp-level synchronisation: lanes in step, as volatile accesses keep them */
  if (flags_of(a.who) & flags_of(who) & VOLATILE) return;
  race(h, RACE_IN_WARP, site_of(a.who), who, unequal);
}

static void compare_all(
    struct hazards *h, const struct history *d, uint32_t who, uint32_t since, int unequal) {
  if (d->last.stamp < since) return;
  int strong = flags_of(d->last.who) & flags_of(who) & STRONG;
  if (d->last.stamp < h->block_began) {
    if (!strong) race(h, RACE_OF_BLOCKS, site_of(d->last.who), who, unequal);
    return;
  }
  if (d->before && !strong) race(h, RACE_OF_BLOCKS, d->before - 1, who, unequal);
  compare(h, d->last, who, unequal);
  compare(h, d->other, who, unequal);
}

static void remember(struct hazards *h, struct history *d, struct act a, uint32_t since) {
  struct act last = d->last;
  uint32_t warp = warp_of(a.who);
  d->last = a;
  if (last.stamp < since) { d->other.stamp = d->before = 0; return; }
  if (last.stamp < h->block_began) {
    d->before = site_of(last.who) + 1;
    d->other.stamp = 0;
    return;
  }
  uint32_t thread = (1u << (LANE_BITS + WARP_BITS)) - 1;
  if (last.stamp < h->base || !((last.who ^ a.who) & thread)) return;
  /* rather one of another warp than one of another lane */
  if (warp_of(last.who) == warp && d->other.stamp >= h->base && warp_of(d->other.who) != warp) return;
  d->other = last;
}

/* Two accesses are at odds unless both read, or both are atomic. `value` is what is there now. */
static void touch(
    struct hazards *h, struct cell *c, struct act a, int way, uint32_t since, uint32_t value) {
  if (way != READS) compare_all(h, &c->did[READS], a.who, since, 0);
  compare_all(h, &c->did[WRITES], a.who, since, way == WRITES && c->value != value);
  if (way != UPDATES) compare_all(h, &c->did[UPDATES], a.who, since, 0);
  remember(h, &c->did[way], a, since);
  if (way != READS) c->value = value;
}

static void check_site(struct warp *w, int number, const uint64_t *row) {
  struct launch *l = w->launch;
  struct hazards *h = l->hazards;
  const struct site *site = &l->sites[number];
  uint64_t size = (uint64_t)site->size;
  int kind = site->kind & ~CHECKED, atomic = kind == ATOMIC, stores = kind == STORE;
  uint32_t flags = (uint32_t)site->flags | (atomic ? STRONG : 0);
  int way = atomic || (stores && flags & STRONG) ? UPDATES : stores ? WRITES : READS;
  const struct region *r = &l->regions[l->hits[number]];
  for (int64_t i = 0; i < w->count; i++) {
    uint64_t address = row[i];
    if (!address) continue;
    if (address < r->low || address + size > r->high) {
      int found = find_region(l, address, size);
      if (found < 0) continue;
      l->hits[number] = (uint32_t)found;
      r = &l->regions[found];
    }
    int space = r->space;
    if (space != GLOBAL && space != SHARED) continue;
    struct page *p = page_of(h, address, size);
    if (!p) continue;
    uint32_t since = space == SHARED ? h->block_began : h->launch_began;
    uint32_t who = (uint32_t)number << SITE_SHIFT | flags << (LANE_BITS + WARP_BITS) |
                   (uint32_t)w->id << LANE_BITS | (uint32_t)w->lane[i];
    struct act a = {h->epoch[w->id], who};
    struct cell *c = p->cells + ((address & ((1u << PAGE_BITS) - 1)) >> p->shift);
    const uint8_t *at = (const uint8_t *)address;
    for (uint64_t n = size >> p->shift; n; n--, c++, at += 1 << p->shift) {
      uint32_t value = p->shift ? *(const uint32_t *)at : *at;
      if (space == SHARED && !stores && c->did[WRITES].last.stamp < h->block_began &&
          c->did[UPDATES].last.stamp < h->block_began)
        note(h, UNINITIALISED, (uint32_t)number, (uint32_t)number);
      touch(h, c, a, way, since, value);
    }
  }
}


/* --- order --- */

static void begin_hazards(struct launch *l) { l->hazards->launch_began = ++l->hazards->now; }

static void all_ordered(struct hazards *h) {
  h->base = ++h->now;
  h->some_lanes = 0;
  for (int i = 0; i < LANES; i++) h->epoch[i] = h->warps[i] = h->base;
}

static void begin_block_hazards(struct launch *l) {
  struct hazards *h = l->hazards;
  all_ordered(h);
  h->block_began = h->base;
  memset(h->arrivals, 0, sizeof h->arrivals);
}

/* Lanes of a warp have synchronised. */
static void order_lanes(struct warp *w, uint32_t here) {
  struct hazards *h = w->launch->hazards;
  uint32_t now = h->epoch[w->id] = ++h->now, joined[LANES];
  if (here == w->live) {
    h->warps[w->id] = now;
    h->some_lanes &= ~(1u << w->id);
    return;
  }
  uint32_t (*rows)[LANES] = h->lanes[w->id];
  if (!(h->some_lanes >> w->id & 1)) memset(rows, 0, sizeof h->lanes[0]);
  h->some_lanes |= 1u << w->id;
  for (int j = 0; j < LANES; j++) {
    joined[j] = here >> j & 1 ? now : 0;
    for (uint32_t rest = here; rest; rest &= rest - 1)
      if (rows[lowest(rest)][j] > joined[j]) joined[j] = rows[lowest(rest)][j];
  }
  for (uint32_t rest = here; rest; rest &= rest - 1) memcpy(rows[lowest(rest)], joined, sizeof joined);
}

/* Machine code says what lanes do in step: of a group, all have done one access before any does the next. */
static void check_block(struct warp *w, const struct block *b) {
  struct launch *l = w->launch;
  for (int k = 0; k < b->sites; k++) {
    check_site(w, b->first_site + k, l->trace + k * LANES);
    if (l->machine) order_lanes(w, w->group);
  }
}

static void join(uint32_t *into, const uint32_t *from) {
  for (int i = 0; i < LANES; i++)
    if (from[i] > into[i]) into[i] = from[i];
}

/* A warp has told a barrier that it has come, and goes on. */
static void order_arrival(struct warp *w, int lane) {
  struct hazards *h = w->launch->hazards;
  uint32_t *arrivals = h->arrivals[w->second[lane] & 15];
  join(arrivals, h->others[w->id]);
  arrivals[w->id] = h->epoch[w->id] = ++h->now;
}

/* A barrier lets go of its threads; `whole`: it is one for all threads of the block. */
static void order_block(struct launch *l, int n_warps, int id, int whole) {
  struct hazards *h = l->hazards;
  uint32_t joined[LANES] = {0}, live = 0, threads = l->ntid[0] * l->ntid[1] * l->ntid[2];
  int32_t first = -1;
  join(joined, h->arrivals[id]);
  memset(h->arrivals[id], 0, sizeof h->arrivals[id]);
  uint32_t now = h->now + 1;
  for (int i = 0; i < n_warps; i++) {
    struct warp *w = &l->warps[i];
    live += (uint32_t)bits(w->live);
    for (uint32_t rest = w->at_barrier; rest; rest &= rest - 1) {
      int lane = lowest(rest);
      if ((w->second[lane] & 15) != id) continue;
      if (joined[i] != now) join(joined, h->others[i]);
      joined[i] = now;
      if (first < 0) first = w->at[lane];
      else if (w->at[lane] != first) note(h, DIVERGENT, (uint32_t)first, (uint32_t)w->at[lane]);
    }
  }
  if (whole) {
    if (live < threads && first >= 0) note(h, LEFT, (uint32_t)first, (uint32_t)first);
    all_ordered(h);
    return;
  }
  h->now = now;
  for (int i = 0; i < n_warps; i++)
    if (joined[i] == now) {
      memcpy(h->others[i], joined, sizeof joined);
      h->epoch[i] = h->warps[i] = now;
      h->some_lanes &= ~(1u << i);
    }
}
