/* Recording: what each warp did and touched, for a model of time to replay. */
#include <stdlib.h>

/* The part of an address that says where in its device's memory it is: which of several open
 * devices it is must not matter. */
static const uint64_t WITHIN = (1ull << 38) - 1;

static int grow(struct record *r, void **array, uint64_t *room, uint64_t wanted, size_t size) {
  if (wanted <= *room) return 1;
  uint64_t next = *room ? *room * 2 : 1024;
  while (next < wanted) next *= 2;
  void *larger = realloc(*array, next * size);
  if (!larger) { r->failed = 1; return 0; }
  *array = larger;
  *room = next;
  return 1;
}

static uint64_t scatter(uint64_t x) {
  x = (x ^ x >> 31) * 0x7fb5d329728ea185u;
  x = (x ^ x >> 27) * 0x81dadef4bc2dd44du;
  return x ^ x >> 33;
}

static void rehash(struct record *r) {
  uint64_t size = r->table_size ? r->table_size * 4 : 4096;
  uint32_t *table = calloc(size, sizeof *table);
  if (!table) { r->failed = 1; return; }
  for (uint64_t i = 0; i < r->n_lines; i++) {
    uint64_t at = scatter(r->lines[i]) & (size - 1);
    while (table[at]) at = (at + 1) & (size - 1);
    table[at] = (uint32_t)i + 1;
  }
  free(r->table);
  r->table = table;
  r->table_size = size;
}

/* The number of a line; new lines get the next one. */
static uint32_t line_number(struct record *r, uint64_t line) {
  if (r->n_lines * 2 >= r->table_size) rehash(r);
  if (r->failed) return 0;
  uint64_t mask = r->table_size - 1, at = scatter(line) & mask;
  for (; r->table[at]; at = (at + 1) & mask)
    if (r->lines[r->table[at] - 1] == line) return r->table[at] - 1;
  if (!grow(r, (void **)&r->lines, &r->lines_room, r->n_lines + 1, sizeof *r->lines)) return 0;
  r->lines[r->n_lines] = line;
  r->table[at] = (uint32_t)++r->n_lines;
  return (uint32_t)r->n_lines - 1;
}

/* Loads and stores: lanes that share a line make one access of it. */
static uint32_t *put_lines(struct record *r, uint32_t *out, const uint64_t *row, int64_t n) {
  uint64_t lines[LANES];
  uint32_t sectors[LANES];
  int count = 0, k = 0;
  for (int64_t i = 0; i < n; i++) {
    if (!row[i]) continue;
    uint64_t line = (row[i] & WITHIN) >> 7;
    if (!count || lines[k] != line) {
      for (k = count - 1; k >= 0 && lines[k] != line; k--) {}
      if (k < 0) { k = count++; lines[k] = line; sectors[k] = 0; }
    }
    sectors[k] |= 1u << (row[i] >> 5 & 3);
  }
  for (k = 0; k < count; k++) *out++ = LINE_WORD(line_number(r, lines[k]), sectors[k]);
  return out;
}

/* Atomics: lanes that share a sector go together unless they share an address too. */
static uint32_t *put_atomics(struct record *r, uint32_t *out, const uint64_t *row, int64_t n) {
  uint64_t addresses[LANES];
  uint32_t *first = out;
  int count = 0;
  for (int64_t i = 0; i < n; i++)
    if (row[i]) addresses[count++] = row[i];
  uint32_t rest = count == LANES ? ~0u : (1u << count) - 1;
  while (rest) { /* one transaction: one sector, each address once */
    uint64_t base = addresses[lowest(rest)];
    uint32_t taken = 0;
    for (uint32_t others = rest; others; others &= others - 1) {
      int i = lowest(others);
      if (addresses[i] >> 5 != base >> 5) continue;
      int twice = 0;
      for (uint32_t t = taken; t; t &= t - 1) twice |= addresses[lowest(t)] == addresses[i];
      if (!twice) taken |= 1u << i;
    }
    rest &= ~taken;
    *out++ = LINE_WORD(line_number(r, (base & WITHIN) >> 7), 1u << (base >> 5 & 3));
    if (out - first == LANES) break;
  }
  return out;
}

/* Local memory is laid out so that lanes that touch the same variable touch one line. */
static uint32_t *put_local(
    struct warp *w, struct record *r, uint32_t *out, const uint64_t *row, int64_t n, uint64_t size) {
  struct launch *l = w->launch;
  uint64_t words[LANES];
  int count = 0;
  for (int64_t i = 0; i < n; i++) {
    if (!row[i]) continue;
    uint64_t word = (row[i] - l->local_base) % l->local_size / 4;
    int k = 0;
    while (k < count && words[k] != word) k++;
    if (k == count) words[count++] = word;
  }
  uint64_t place = ((uint64_t)r->slot * LANES + (uint64_t)w->id) * (l->local_size / 4 + 1);
  uint64_t each = (size + 3) / 4;
  for (int k = 0; k < count; k++)
    for (uint64_t i = 0; i < each; i++)
      *out++ = LINE_WORD(line_number(r, 1ull << 62 | (place + words[k] + i)), 15u);
  return out;
}

/* The cycles that 32 banks of four bytes need: the most distinct words in one bank. */
static uint32_t bank_degree(const uint64_t *row, int64_t n, uint64_t size, int atomic) {
  uint32_t words[LANES][2 * LANES], most = 0;
  uint8_t counts[LANES] = {0};
  for (int64_t i = 0; i < n; i++) {
    if (!row[i]) continue;
    for (uint64_t at = 0; at < size; at += 4) {
      uint32_t word = (uint32_t)((row[i] + at) >> 2), bank = word & 31, k = 0;
      if (!atomic)
        while (k < counts[bank] && words[bank][k] != word) k++;
      else k = counts[bank];
      if (k == counts[bank] && k < 2 * LANES) {
        words[bank][k] = word;
        if (++counts[bank] > most) most = counts[bank];
      }
    }
  }
  return most;
}

/* Constant memory gives one word a cycle, to all lanes that want it. */
static uint32_t distinct(const uint64_t *row, int64_t n) {
  uint64_t seen[LANES];
  uint32_t count = 0;
  for (int64_t i = 0; i < n; i++) {
    if (!row[i]) continue;
    uint32_t k = 0;
    while (k < count && seen[k] != row[i] >> 2) k++;
    if (k == count) seen[count++] = row[i] >> 2;
  }
  return count;
}

static uint32_t *put_site(struct warp *w, struct record *r, uint32_t *out, int site, const uint64_t *row) {
  struct launch *l = w->launch;
  const uint64_t size = (uint64_t)l->sites[site].size;
  int64_t n = w->count, first = 0;
  while (first < n && !row[first]) first++;
  if (first == n) { *out++ = SITE_WORD(NOTHING, 0); return out; }
  int region = (int)l->hits[site], space = SHARED;
  if (!(l->sites[site].kind & CHECKED)) {
    if (row[first] < l->regions[region].low || row[first] >= l->regions[region].high)
      region = find_region(l, row[first], 1);
    space = region < 0 ? GLOBAL : l->regions[region].space;
  }
  int atomic = (l->sites[site].kind & ~CHECKED) == ATOMIC;
  if (space == SHARED) { *out++ = SITE_WORD(SHARED, bank_degree(row, n, size, atomic)); return out; }
  if (space == CONSTANT || space == PARAM) { *out++ = SITE_WORD(CONSTANT, distinct(row, n)); return out; }
  uint32_t *head = out++;
  if (space == LOCAL) out = put_local(w, r, out, row, n, size);
  else out = atomic ? put_atomics(r, out, row, n) : put_lines(r, out, row, n);
  *head = SITE_WORD(space, out - head - 1);
  return out;
}

/* The block that a warp has just run. */
static void record_block(struct warp *w, int block) {
  struct launch *l = w->launch;
  struct record *r = l->record;
  const struct block *b = &l->blocks[block];
  struct stream *s = &r->warps[w->id];
  uint64_t most = s->n + 1 + (uint64_t)b->sites * (1 + LANES * 8); /* 32 bytes a lane */
  if (!grow(r, (void **)&s->words, &s->room, most, sizeof *s->words)) { r->on = 0; return; }
  uint32_t *out = s->words + s->n;
  int barrier = b->kind >= BAR_SYNC && b->kind <= BAR_OR && b->kind != BAR_ARRIVE;
  /* a warp whose lanes come to a barrier in parts waits when the last part has come */
  *out++ = HEAD(block, barrier && (w->at_barrier | takers(w, b)) == w->live, w->count);
  for (int k = 0; k < b->sites; k++)
    out = put_site(w, r, out, b->first_site + k, l->trace + k * LANES);
  r->pending += (uint64_t)b->issued;
  r->words += (uint64_t)(out - s->words) - s->n;
  s->n = (uint64_t)(out - s->words);
  if (r->words > r->room) r->on = 0;
}

static void begin_record(struct launch *l, uint64_t block) {
  struct record *r = l->record;
  r->on = !r->failed && r->words < r->room && block / r->wave % r->stride == 0;
  r->began = r->on;
  r->slot = (uint32_t)(block % r->wave);
  r->pending = 0;
  for (int i = 0; i < LANES; i++) r->warps[i].n = 0;
}

/* Keep the streams of the block that has just ended. One for which there was no room is left out,
 * but for the first: half of a block says more than nothing. */
static void end_record(struct launch *l, int n_warps) {
  struct record *r = l->record;
  if (!r->began || (!r->on && r->blocks) || r->failed) return;
  uint64_t n = r->all.n;
  for (int i = 0; i < n_warps; i++) n += r->warps[i].n;
  uint64_t warps = r->n_warps + (uint64_t)n_warps + 1;
  if (!grow(r, (void **)&r->starts, &r->warps_room, warps, sizeof *r->starts)) return;
  if (!grow(r, (void **)&r->all.words, &r->all.room, n, sizeof *r->all.words)) return;
  for (int i = 0; i < n_warps; i++) {
    const struct stream *s = &r->warps[i];
    if (s->n) memcpy(r->all.words + r->all.n, s->words, s->n * sizeof *s->words);
    r->starts[r->n_warps++] = r->all.n;
    r->all.n += s->n;
  }
  r->starts[r->n_warps] = r->all.n;
  r->blocks++;
  r->instructions += r->pending;
}

EXPORT void gevolve_record_free(struct record *r) {
  free(r->all.words);
  free(r->starts);
  free(r->lines);
  free(r->table);
  for (int i = 0; i < LANES; i++) free(r->warps[i].words);
  memset(r, 0, sizeof *r);
}
