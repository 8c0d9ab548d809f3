/* What machine code asks of the runtime: exchanges in the middle of a block, convergence barriers, and the
 * instructions of its special function unit and its conversions. */

/* Step a warp through blocks, each of which is a function. */
EXPORT void gevolve_run_blocks(struct warp *w) {
  const struct launch *l = w->launch;
  for (int32_t now; (now = gevolve_next(w)) >= 0 && now < l->n_blocks;) l->code[now](w);
}

/* An exchange among the lanes that run now; if it is guarded, among those that take part. */
EXPORT void gevolve_exchange(struct warp *w, int32_t kind, int32_t guarded) {
  uint32_t lanes = w->group;
  if (guarded) {
    lanes = 0;
    for (int64_t i = 0; i < w->count; i++) lanes |= (uint32_t)(w->taking[w->lane[i]] != 0) << w->lane[i];
  }
  if (lanes) exchange(w, lanes, (enum kind)kind);
}

/* A lane will not come to a convergence barrier: the others need not wait for it. */
EXPORT void gevolve_break(struct warp *w, int32_t barrier, int64_t lane) {
  if (barrier < 0) return; /* its guard is false */
  uint32_t gone = ~(1u << lane);
  for (uint32_t rest = w->barrier[barrier][lane]; rest; rest &= rest - 1) {
    int other = lowest(rest);
    w->barrier[barrier][other] &= gone;
    if (w->exchanging >> other & 1 && w->second[other] == barrier &&
        w->launch->blocks[w->at[other]].kind == CONVERGE)
      w->members[other] &= (int32_t)gone;
  }
}

static uint64_t bits64(double x) { uint64_t b; memcpy(&b, &x, 8); return b; }
static double double_of(uint64_t b) { double x; memcpy(&x, &b, 8); return x; }

/* The special function unit: correctly rounded but for the last bit of libm's own error, and four functions that are
 * further off. */
EXPORT float gevolve_mufu_rcp(float a) { return (float)(1 / (double)a); }
EXPORT float gevolve_mufu_rsq(float a) { return (float)(1 / sqrt((double)a)); }
EXPORT float gevolve_mufu_sqrt(float a) { return sqrtf(a); }
EXPORT float gevolve_mufu_ex2(float a) { return (float)exp2((double)a); }
EXPORT float gevolve_mufu_lg2(float a) { return (float)logarithm(a); }
EXPORT float gevolve_mufu_tanh(float a) { return (float)tangent(a); }
/* Sine and cosine take turns, not radians. */
static double turn(float a) { return isfinite(a) ? 2 * M_PI * remainder((double)a, 1) : NAN; }
EXPORT float gevolve_mufu_sin(float a) { return (float)sine(turn(a)); }
EXPORT float gevolve_mufu_cos(float a) { return (float)cosine(turn(a)); }
/* Of a double only the upper half is read and written. */
EXPORT uint32_t gevolve_mufu_rcp64h(uint32_t high) {
  return (uint32_t)(bits64(1 / double_of((uint64_t)high << 32)) >> 32);
}
EXPORT uint32_t gevolve_mufu_rsq64h(uint32_t high) {
  return (uint32_t)(bits64(1 / sqrt(double_of((uint64_t)high << 32))) >> 32);
}

/* Whether a / b needs more care than two steps of Newton's method. */
EXPORT int32_t gevolve_fchk(float a, float b) {
  uint32_t x, y;
  memcpy(&x, &a, 4);
  memcpy(&y, &b, 4);
  int32_t ea = x >> 23 & 255, eb = y >> 23 & 255;
  return eb == 0 || eb >= 253 || ea <= 24 || ea == 255 || ea - eb > 125 || ea - eb < -125;
}
