/* Tracing: what a block touched. Checks every address against the exact bounds of its buffer and
 * counts distinct 32-byte sectors. What a sector costs is decided elsewhere. */

/* The lanes that the end of a block is for. */
static uint32_t takers(const struct warp *w, const struct block *b) {
  if (!(b->flags & GUARDED)) return w->group;
  uint32_t lanes = 0;
  for (int64_t i = 0; i < w->count; i++) lanes |= (uint32_t)(w->taking[w->lane[i]] != 0) << w->lane[i];
  return lanes;
}

static int find_region(const struct launch *l, uint64_t address, uint64_t size) {
  int low = 0, high = l->n_regions;
  while (low < high) {
    int middle = (low + high) / 2;
    if (l->regions[middle].low <= address) low = middle + 1;
    else high = middle;
  }
  if (!low) return -1;
  const struct region *r = &l->regions[low - 1];
  return address + size <= r->high ? low - 1 : -1;
}

static void bad(struct launch *l, int stop, int site, uint64_t address) {
  l->stop = stop;
  l->bad_site = site;
  l->bad_address = address;
}

/* Whether an address in local memory is in the lane's own part of it. */
static int own_local(const struct warp *w, int64_t lane, uint64_t address) {
  const struct launch *l = w->launch;
  uint64_t slot = (uint64_t)((l->waits ? w->id * LANES : 0) + lane);
  return (address - l->local_base) / l->local_size == slot;
}

static void trace_site(const struct warp *w, int site, const uint64_t *row) {
  struct launch *l = w->launch;
  const int64_t n = w->count;
  const uint64_t size = (uint64_t)l->sites[site].size;
  const struct region *r = &l->regions[l->hits[site]];
  uint64_t seen[LANES];
  int count = 0;
  for (int64_t i = 0; i < n; i++) {
    uint64_t address = row[i];
    if (!address) continue; /* the lane's guard was false */
    if (address < r->low || address + size > r->high) {
      int found = find_region(l, address, size);
      if (found < 0) { bad(l, OUT_OF_BOUNDS, site, address); return; }
      l->hits[site] = (uint32_t)found;
      r = &l->regions[found];
    }
    if (r->space != GLOBAL) {
      if (r->space != LOCAL || own_local(w, w->lane[i], address)) continue;
      bad(l, OUT_OF_BOUNDS, site, address);
      return;
    }
    uint64_t sector = address >> 5;
    if (count) {
      if (seen[count - 1] == sector) continue;
      int k = count - 1;
      if (sector < seen[count - 1])
        while (k >= 0 && seen[k] != sector) k--;
      else {
        /* the largest is last: a larger one is new */
        k = -1;
      }
      if (k >= 0) continue;
      if (sector < seen[count - 1]) { /* keep the largest last */
        seen[count] = seen[count - 1];
        seen[count - 1] = sector;
        count++;
        continue;
      }
    }
    seen[count++] = sector;
  }
  l->sectors += (uint64_t)count;
}

static void trace_block(struct warp *w, const struct block *b) {
  struct launch *l = w->launch;
  for (int k = 0; k < b->sites; k++)
    if (!(l->sites[b->first_site + k].kind & CHECKED))
      trace_site(w, b->first_site + k, l->trace + k * LANES);
}

/* After a fault: the traced address of this block that no buffer holds, if there is one. */
static void blame(struct launch *l, int block) {
  const struct block *b = &l->blocks[block];
  l->stop = FAULT;
  l->bad_block = block;
  l->bad_site = -1;
  for (int k = 0; k < b->sites; k++)
    for (int i = 0; i < LANES; i++) {
      uint64_t address = l->trace[k * LANES + i];
      uint64_t size = (uint64_t)l->sites[b->first_site + k].size;
      if (!address || l->sites[b->first_site + k].kind & CHECKED) continue;
      int found = find_region(l, address, size);
      int read_only = found >= 0 && l->regions[found].space >= CONSTANT;
      int writes = l->sites[b->first_site + k].kind != 0;
      if (found < 0 || address % size || (read_only && writes)) {
        l->bad_site = b->first_site + k;
        l->bad_address = address;
        return;
      }
    }
}

/* Counting: a block's count in a warp is the largest over the lanes. */

static void count_block(struct warp *w, int block) {
  if (w->group == w->live) { w->together[block]++; return; }
  uint32_t n = (uint32_t)w->launch->n_blocks;
  for (int64_t i = 0; i < w->count; i++) w->apart[(uint64_t)w->lane[i] * n + (uint32_t)block]++;
  w->diverse |= w->group;
}

static void keep_counts(struct warp *w, int lane) {
  if (!(w->diverse >> lane & 1)) return;
  uint32_t n = (uint32_t)w->launch->n_blocks;
  uint32_t *own = w->apart + (uint64_t)lane * n;
  for (uint32_t b = 0; b < n; b++) {
    uint32_t total = w->together[b] + own[b];
    if (total > w->most[b]) w->most[b] = total;
  }
  memset(own, 0, n * sizeof *own);
  w->diverse &= ~(1u << lane);
}

static void sum_counts(struct warp *w) {
  struct launch *l = w->launch;
  for (int b = 0; b < l->n_blocks; b++) {
    uint64_t times = w->together[b] > w->most[b] ? w->together[b] : w->most[b];
    l->instructions += times * (uint64_t)l->blocks[b].issued;
  }
}
