/* The cells in which hazards keep what was done to memory: by pages, of words or of bytes. */

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
