/* Hazards: races, barriers that part of a block skips, reads of memory that nothing has written.
 *
 * Time is a counter that every synchronisation advances. An access is stamped with the time of its
 * warp's last synchronisation, so it comes before another thread's access if that thread has since
 * taken part in a synchronisation with it: of the whole block (`base`), of the warp (`warps`), of some
 * lanes (`lanes`) or of some warps (`others`). Each cell of the shadow keeps, for reads, writes and
 * atomics apart, the last access, one by another thread, and one by an earlier block. */
#include <stdlib.h>

enum hazard { RACE_IN_WARP, RACE_IN_BLOCK, RACE_OF_BLOCKS, UNWRITTEN, DIVERGENT, LEFT, HEARD, STALE };
/* the order is that of `_WORDS` in hazards.py */
enum { UNEQUAL = 8 }; /* added to a race: both write, and not the same value */

/* site flags: relaxed, acquire, release; volatile; an atomic access whose result is read; a read-only load */
enum { STRONG = 1, VOLATILE = 2, RETURNS = 4, UNCHANGING = 8 };

/* HEARD: a read of what another block of the launch has written, which is no race.
 * STALE: a read-only load of what the launch writes, whoever does and whenever.
 * `first` and `second` are sites; of DIVERGENT and LEFT they are blocks that end in a barrier. */
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

#include "cells.c"

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

/* What a block of this launch has written is read in another: when that is there, no trace can tell. */
static void hear(struct hazards *h, const struct history *d, uint32_t who, uint32_t since) {
  if (d->last.stamp < since) return;
  if (d->last.stamp < h->block_began) note(h, HEARD, site_of(d->last.who), site_of(who));
  else if (d->before) note(h, HEARD, d->before - 1, site_of(who));
}

/* A read-only load reads what was written: the cache that it goes through need not know of it. */
static void stale(struct hazards *h, const struct history *d, int reader, uint32_t since) {
  if (d->last.stamp >= since) note(h, STALE, site_of(d->last.who), (uint32_t)reader);
}

/* What read-only loads have read is written. */
static void spoil(
    struct hazards *h, const struct site *sites, const struct history *d, int writer, uint32_t since) {
  if (d->last.stamp < since) return;
  uint32_t readers[] = {site_of(d->last.who), d->other.stamp >= since ? site_of(d->other.who) : site_of(d->last.who),
                        d->before ? d->before - 1 : site_of(d->last.who)};
  for (int i = 0; i < 3; i++)
    if (sites[readers[i]].flags & UNCHANGING) note(h, STALE, (uint32_t)writer, readers[i]);
}

/* Whether a thread stores what it has read before: between the two others may have stored, too. */
static int updates_in_two_steps(const struct hazards *h, const struct cell *c, uint32_t who) {
  struct act read = c->did[READS].last;
  uint32_t thread = (1u << (LANE_BITS + WARP_BITS)) - 1;
  return read.stamp >= h->block_began && !((read.who ^ who) & thread);
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

/* Whether what is read was written; here it is enough to know of whole bytes. */
static void check_written(struct hazards *h, uint64_t address, uint64_t size, int kind, int site) {
  uint8_t *shadow = (uint8_t *)(address + MIRROR);
  if (kind != STORE)
    for (uint64_t i = 0; i < size; i++)
      if (shadow[i]) { note(h, UNWRITTEN, (uint32_t)site, (uint32_t)site); break; }
  if (kind) memset(shadow, 0, size);
}

static void check_site(struct warp *w, int number, const uint64_t *row) {
  struct launch *l = w->launch;
  struct hazards *h = l->hazards;
  const struct site *site = &l->sites[number];
  uint64_t size = (uint64_t)site->size;
  int kind = site->kind & ~CHECKED, atomic = kind == ATOMIC, stores = kind == STORE;
  uint32_t flags = ((uint32_t)site->flags & (STRONG | VOLATILE)) | (atomic ? STRONG : 0);
  int reads = atomic ? site->flags & RETURNS : !stores;
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
    if (l->shadowed && space <= LOCAL) check_written(h, address, size, kind, number);
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
      if (reads && space == GLOBAL) {
        hear(h, &c->did[WRITES], who, since);
        hear(h, &c->did[UPDATES], who, since);
      }
      if (space == GLOBAL && site->flags & UNCHANGING) {
        stale(h, &c->did[WRITES], number, since);
        stale(h, &c->did[UPDATES], number, since);
      }
      if (space == GLOBAL && way != READS) spoil(h, l->sites, &c->did[READS], number, since);
      if (stores && way == UPDATES && updates_in_two_steps(h, c, who))
        compare_all(h, &c->did[UPDATES], who & ~(STRONG << (LANE_BITS + WARP_BITS)), since, 0);
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
