/* Where each traced access finds its data: in L1, in L2 or in DRAM.
 *
 * The warps that are resident at once take turns, one memory access each. That is not the order in
 * which a GPU would do it, but what a cache holds depends little on it; and the same answer serves
 * every replay of the trace. */

/* Look up the sectors of a line; afterwards it holds them. Returns whether it held them all, and
 * in `evicted` the sectors of the line that had to go, if they were written to. */
static int look_up(struct tags *c, uint64_t line, uint32_t sectors, int writes, uint32_t *evicted) {
  uint64_t set = scatter(line) % (uint64_t)c->sets * (uint64_t)c->ways;
  uint64_t oldest = set;
  c->clock++;
  for (uint64_t at = set; at < set + (uint64_t)c->ways; at++) {
    if (c->lines[at] == line + 1) {
      int held = (c->sectors[at] & sectors) == sectors;
      c->sectors[at] |= (uint8_t)(writes ? sectors | sectors << 4 : sectors);
      c->used[at] = c->clock;
      return held;
    }
    if (c->used[at] < c->used[oldest]) oldest = at;
  }
  if (evicted) *evicted = c->sectors[oldest] >> 4;
  c->lines[oldest] = line + 1;
  c->sectors[oldest] = (uint8_t)(writes ? sectors | sectors << 4 : sectors);
  c->used[oldest] = c->clock;
  return 0;
}

static void forget(struct tags *c, uint64_t line, uint32_t sectors) {
  uint64_t set = scatter(line) % (uint64_t)c->sets * (uint64_t)c->ways;
  for (uint64_t at = set; at < set + (uint64_t)c->ways; at++)
    if (c->lines[at] == line + 1) c->sectors[at] &= (uint8_t)~sectors;
}

static uint32_t level_of(
    const struct gpu *g, struct tags *l1, struct tags *l2, uint64_t line, uint32_t sectors, int access,
    int local) {
  int cached = l1 && (local || g->l1_caches == 2 || (g->l1_caches == 1 && access == READ_ONLY));
  if (cached && access != ATOMIC && (local || access != STORE)) {
    if (look_up(l1, line, sectors, 0, 0)) return IN_L1;
  } else if (l1 && (access == STORE || access == ATOMIC)) forget(l1, line, sectors);
  if (local && access == STORE) return IN_L1; /* written back when it leaves */
  uint32_t evicted = 0;
  int writes = access == STORE || access == ATOMIC;
  int held = look_up(l2, line, sectors, writes, &evicted);
  if (held) return IN_L2;
  if (access == STORE) return evicted ? IN_DRAM_EVICTS : IN_L2; /* nothing to fetch */
  return evicted ? IN_DRAM_EVICTS : IN_DRAM;
}

/* Host code has written these bytes: they are in L2, as far as it can hold them. */
EXPORT void gevolve_warm(struct tags *l2, uint64_t low, uint64_t high) {
  uint64_t size = (uint64_t)l2->sets * (uint64_t)l2->ways, first = low >> 7, last = (high + 127) >> 7;
  if (last - first > size) first = last - size;
  for (uint64_t line = first; line < last; line++) look_up(l2, line, 15, 0, 0);
}

struct walk { uint64_t at, end, issued; };

/* Go on to a warp's next memory access and say where it finds its lines. */
static void walk_on(
    struct replay *p, struct walk *k, struct tags *l1, struct tags *l2, uint32_t *wanted,
    struct summary *sum) {
  uint32_t *words = p->trace->all.words;
  while (k->at < k->end) {
    uint32_t block = HEAD_BLOCK(words[k->at++]);
    const struct block *b = &p->blocks[block];
    p->runs[block]++;
    k->issued += (uint64_t)b->issued;
    int touched = 0;
    for (int i = 0; i < b->sites; i++) {
      uint32_t site = words[k->at++], n = SITE_COUNT(site);
      switch (SITE_SPACE(site)) {
        case SHARED: sum->degree += n; continue;
        case CONSTANT: sum->constants += n; continue;
        case NOTHING: continue;
        default: break;
      }
      int access = p->accesses[b->first_site + i], local = SITE_SPACE(site) == LOCAL;
      for (; n; n--, k->at++) {
        uint32_t word = words[k->at], sectors = LINE_SECTORS(word);
        uint64_t line = p->trace->lines[LINE_NUMBER(word)];
        uint32_t level = level_of(p->gpu, l1, l2, line, sectors, access, local);
        words[k->at] = (word & ~0x30u) | level << 4;
        uint64_t many = (uint64_t)bits(sectors);
        sum->lines++;
        sum->sectors += many;
        if (access == ATOMIC) sum->atomics++;
        if (level == IN_L1) sum->l1_hits += many;
        else if (level == IN_L2) sum->l2_hits += many;
        else sum->misses += many;
        if (level != IN_L1) {
          wanted[LINE_NUMBER(word)] += (uint32_t)many;
          if (wanted[LINE_NUMBER(word)] > sum->busiest) sum->busiest = wanted[LINE_NUMBER(word)];
        }
        if (level == IN_DRAM_EVICTS) sum->evictions += many;
      }
      touched = 1;
    }
    if (touched) return;
  }
}

/* Give every line of the trace its level. `l1s` has one cache per SM, empty at the start. */
EXPORT int32_t gevolve_levels(struct replay *p, struct tags *l1s, struct tags *l2, struct summary *sum) {
  struct record *r = p->trace;
  uint64_t per_block = (uint64_t)p->warps_per_block;
  uint64_t group = (uint64_t)p->resident * (uint64_t)p->gpu->sms * per_block;
  struct walk *walks = malloc((group < r->n_warps ? group : r->n_warps) * sizeof *walks + 1);
  uint32_t *wanted = calloc(r->n_lines + 1, sizeof *wanted); /* sectors of each line */
  if (!walks || !wanted) { free(walks); free(wanted); return -1; }
  for (uint64_t first = 0; first < r->n_warps; first += group) {
    uint64_t n = r->n_warps - first < group ? r->n_warps - first : group;
    for (uint64_t i = 0; i < n; i++)
      walks[i] = (struct walk){r->starts[first + i], r->starts[first + i + 1], 0};
    for (int more = 1; more;) {
      more = 0;
      for (uint64_t i = 0; i < n; i++) {
        if (walks[i].at == walks[i].end) continue;
        uint64_t sm = i / per_block % (uint64_t)p->gpu->sms;
        walk_on(p, &walks[i], l1s ? &l1s[sm] : 0, l2, wanted, sum);
        more = 1;
      }
    }
    for (uint64_t i = 0; i < n; i++)
      if (walks[i].issued > sum->longest) sum->longest = walks[i].issued;
  }
  free(walks);
  free(wanted);
  return 0;
}
