/* Exchanges between the lanes of a warp, and barriers between the threads of a block. */

/* The shadow of what lanes exchange, where values are followed. */
static struct warp *shadow_of(const struct warp *w) {
  uint64_t mirror = w->launch->mirror;
  return mirror ? (struct warp *)((uint8_t *)w + mirror) : 0;
}

static void shuffle(struct warp *w, uint32_t lanes, enum kind kind) {
  struct warp *s = shadow_of(w);
  for (uint32_t rest = lanes; rest; rest &= rest - 1) {
    int lane = lowest(rest);
    int b = w->second[lane] & 31, c = w->third[lane];
    int clamp = c & 31, segment = (c >> 8) & 31;
    int top = (lane & segment) | (clamp & ~segment), bottom = lane & segment;
    int source = lane, inside = 0;
    switch (kind) {
      case SHFL_UP: source = lane - b; inside = source >= top; break;
      case SHFL_DOWN: source = lane + b; inside = source <= top; break;
      case SHFL_BFLY: source = lane ^ b; inside = source <= top; break;
      default: source = bottom | (b & ~segment); inside = source <= top; break;
    }
    if (!inside) source = lane;
    if (!(lanes >> source & 1)) source = lane; /* nobody there: undefined on a GPU */
    w->result[lane] = w->value[source];
    if (s) { s->result[lane] = s->value[source]; s->flag[lane] = 0; }
    w->flag[lane] = inside;
  }
}

static void match(struct warp *w, uint32_t lanes, enum kind kind) {
  for (uint32_t rest = lanes; rest; rest &= rest - 1) {
    int lane = lowest(rest);
    uint32_t same = 0;
    for (uint32_t other = lanes; other; other &= other - 1)
      if (w->value[lowest(other)] == w->value[lane]) same |= 1u << lowest(other);
    int all = same == lanes;
    w->flag[lane] = all;
    w->result[lane] = kind == MATCH_ANY ? same : all ? lanes : 0;
  }
}

static void vote(struct warp *w, uint32_t lanes, enum kind kind) {
  uint32_t yes = 0, result;
  for (uint32_t rest = lanes; rest; rest &= rest - 1)
    if (w->value[lowest(rest)] & 1) yes |= rest & -rest;
  switch (kind) {
    case VOTE_ALL: result = yes == lanes; break;
    case VOTE_ANY: result = yes != 0; break;
    case VOTE_UNI: result = yes == 0 || yes == lanes; break;
    default: result = yes; break;
  }
  for (uint32_t rest = lanes; rest; rest &= rest - 1) w->result[lowest(rest)] = result;
}

static void reduce(struct warp *w, uint32_t lanes, enum kind kind) {
  uint32_t total = (uint32_t)w->value[lowest(lanes)];
  for (uint32_t rest = lanes & (lanes - 1); rest; rest &= rest - 1) {
    uint32_t x = (uint32_t)w->value[lowest(rest)];
    switch (kind) {
      case REDUX_ADD: total += x; break;
      case REDUX_AND: total &= x; break;
      case REDUX_OR: total |= x; break;
      case REDUX_XOR: total ^= x; break;
      case REDUX_MIN_U: if (x < total) total = x; break;
      case REDUX_MAX_U: if (x > total) total = x; break;
      case REDUX_MIN_S: if ((int32_t)x < (int32_t)total) total = x; break;
      default: if ((int32_t)x > (int32_t)total) total = x; break;
    }
  }
  for (uint32_t rest = lanes; rest; rest &= rest - 1) w->result[lowest(rest)] = total;
}

/* What comes of all lanes together is unknown if what one of them gave is; of a ballot, that lane's bit. */
static void shadow_gathered(struct warp *w, uint32_t lanes, enum kind kind) {
  struct warp *s = shadow_of(w);
  uint32_t unknown = 0;
  for (uint32_t rest = lanes; rest; rest &= rest - 1)
    if (s->value[lowest(rest)]) unknown |= rest & -rest;
  if (kind == ELECT || kind == ACTIVEMASK) unknown = 0;
  for (uint32_t rest = lanes; rest; rest &= rest - 1) {
    int lane = lowest(rest);
    s->result[lane] = kind == VOTE_BALLOT ? unknown : unknown ? ~0ull : 0;
    s->flag[lane] = unknown ? -1 : 0;
  }
}

static void exchange(struct warp *w, uint32_t lanes, enum kind kind) {
  if (w->launch->mirror && kind > SHFL_IDX && kind != CONVERGE) shadow_gathered(w, lanes, kind);
  switch (kind) {
    case WARP_SYNC: case CONVERGE: break;
    case SHFL_UP: case SHFL_DOWN: case SHFL_BFLY: case SHFL_IDX: shuffle(w, lanes, kind); break;
    case MATCH_ANY: case MATCH_ALL: match(w, lanes, kind); break;
    case VOTE_ALL: case VOTE_ANY: case VOTE_UNI: case VOTE_BALLOT: vote(w, lanes, kind); break;
    case ELECT: case ACTIVEMASK:
      for (uint32_t rest = lanes; rest; rest &= rest - 1) {
        int lane = lowest(rest);
        w->result[lane] = kind == ELECT ? (uint32_t)lowest(lanes) : lanes;
        w->flag[lane] = lane == lowest(lanes);
      }
      break;
    default: reduce(w, lanes, kind); break;
  }
}

/* Machine code: lanes that go to different places part. */
static void part(struct warp *w, uint32_t lanes) {
  if (!lanes) return;
  int32_t pc = w->pc[lowest(lanes)];
  uint32_t whole = lanes, same = 0;
  for (uint32_t rest = lanes; rest; rest &= rest - 1)
    if (w->pc[lowest(rest)] == pc) same |= rest & -rest;
  if (same == w->group) return;
  for (; whole; whole &= ~same) {
    pc = w->pc[lowest(whole)];
    same = 0;
    w->tokens++;
    for (uint32_t rest = whole; rest; rest &= rest - 1)
      if (w->pc[lowest(rest)] == pc) { same |= rest & -rest; w->token[lowest(rest)] = w->tokens; }
  }
}

/* Complete every exchange whose members that still live have all come to it. */
static int complete_exchanges(struct warp *w) {
  const struct block *blocks = w->launch->blocks;
  int done = 0;
  for (uint32_t rest = w->exchanging; rest;) {
    int first = lowest(rest);
    enum kind kind = (enum kind)blocks[w->at[first]].kind;
    uint32_t members = (uint32_t)w->members[first] & w->live, here = 0;
    members |= 1u << first; /* a lane outside its own mask is undefined; let it pass */
    for (uint32_t other = rest; other; other &= other - 1) {
      int lane = lowest(other);
      if ((enum kind)blocks[w->at[lane]].kind == kind && w->members[lane] == w->members[first])
        here |= 1u << lane;
    }
    rest &= ~here;
    if ((members & ~here) != 0) continue;
    exchange(w, here, kind);
    if (w->launch->machine) { w->group = 0; part(w, here); } /* they move together from now on */
    if ((kind == WARP_SYNC || kind == CONVERGE) && w->launch->hazards) order_lanes(w, here);
    w->exchanging &= ~here;
    w->ready |= here;
    done = 1;
  }
  return done;
}

/* Lanes spin, or wait for good, perhaps for one that waits at a convergence barrier for them: let all go on who wait
 * there, and nobody wait for those any more. A GPU does so when a lane yields. Returns whether anybody waited. */
static int stop_waiting(struct warp *w) {
  uint32_t released = 0;
  for (uint32_t rest = w->exchanging; rest; rest &= rest - 1)
    if (w->launch->blocks[w->at[lowest(rest)]].kind == CONVERGE) released |= rest & -rest;
  for (uint32_t rest = released; rest; rest &= rest - 1) {
    uint32_t *lanes = w->barrier[w->second[lowest(rest)]];
    for (int i = 0; i < LANES; i++) lanes[i] &= ~(rest & -rest);
  }
  w->exchanging &= ~released;
  w->ready |= released;
  w->group = 0;
  part(w, released);
  return released != 0;
}

/* Barriers. A thread that has exited counts as arrived. */

static int barriers_exist(const struct warp *w, uint32_t here) {
  for (; here; here &= here - 1)
    if ((uint32_t)w->second[lowest(here)] > 15) return 0;
  return 1;
}

static void arrive(struct warp *w, uint32_t here) {
  int first = lowest(here);
  if (w->launch->hazards) order_arrival(w, first);
  for (uint32_t rest = here; rest; rest &= rest - 1) w->launch->arrived[w->second[lowest(rest)]]++;
  /* lanes that are gone arrive with their warp */
  if (here == w->live) w->launch->arrived[w->second[first]] += LANES - (uint32_t)bits(here);
}

static int release(struct launch *l, int n_warps, int id) {
  uint32_t waiting = 0, live = 0, expected = 0, whole = l->arrived[id], votes = 0, unknown = 0;
  enum kind kind = BAR_SYNC;
  for (int i = 0; i < n_warps; i++) {
    struct warp *w = &l->warps[i];
    uint32_t here = 0;
    live += (uint32_t)bits(w->live);
    for (uint32_t rest = w->at_barrier; rest; rest &= rest - 1) {
      int lane = lowest(rest);
      if (w->second[lane] != id) continue;
      here |= 1u << lane;
      kind = (enum kind)l->blocks[w->at[lane]].kind;
      if (w->third[lane]) expected = (uint32_t)w->third[lane];
      votes += (uint32_t)(w->value[lane] & 1);
      if (l->mirror) unknown |= shadow_of(w)->value[lane] != 0;
    }
    waiting += (uint32_t)bits(here);
    whole += here && here == w->live ? LANES : (uint32_t)bits(here);
  }
  if (!waiting || (expected ? whole < expected : waiting < live)) return 0;
  if (l->hazards) order_block(l, n_warps, id, !expected);
  uint64_t result = kind == BAR_POPC ? votes : kind == BAR_AND ? votes == waiting : votes != 0;
  for (int i = 0; i < n_warps; i++) {
    struct warp *w = &l->warps[i];
    for (uint32_t rest = w->at_barrier; rest; rest &= rest - 1) {
      int lane = lowest(rest);
      if (w->second[lane] != id) continue;
      w->result[lane] = result;
      if (l->mirror) shadow_of(w)->result[lane] = unknown ? ~0ull : 0;
      w->gathered[lane] = (int32_t)result;
      w->at_barrier &= ~(1u << lane);
      w->ready |= 1u << lane;
    }
  }
  l->arrived[id] = 0;
  return 1;
}
