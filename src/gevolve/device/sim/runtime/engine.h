/* The state of a replay: SMs with their schedulers, resident blocks and warps, slices of L2. */
enum { NEVER = 0xffffffffu };
enum {
  WINDOW = 16,    /* cycles that an SM goes on alone */
  LOOK_AHEAD = 32, /* cycles that a request may be ahead of its SM */
  EPOCH = 7,      /* the map of lines to slices changes every 128 cycles */
  LEAST = 2,      /* cycles from issue until operands are read */
  RING = 128,     /* requests that an SM's queue and collectors may hold */
  COMING = 64,    /* lines on their way to an L1 that are remembered */
  MOST_WARPS = 64, MOST_COLLECTORS = 8, MOST_SCHEDULERS = 4,
  BOARDS = 6,     /* scoreboards of a warp of machine code */
  FETCH = 3,      /* a line of the instruction caches has 8 instructions */
};
static const uint8_t SECTORS[16] = {0, 1, 1, 2, 1, 2, 2, 3, 1, 2, 2, 3, 2, 3, 3, 4}; /* bits set */

struct walker {              /* a resident warp */
  const uint32_t *at, *end;  /* what is left of its stream */
  uint32_t op, op_end;       /* its next instruction, and where the block's end */
  uint32_t *ready;           /* when that may issue; NEVER while it waits for an event */
  uint32_t operands;         /* when its operands are there */
  uint32_t floor;            /* when the front end has it */
  uint32_t cause;            /* the instruction that it waits for */
  uint32_t settled;          /* when all its memory accesses so far are done */
  uint32_t last_block;
  uint32_t queued;           /* accesses that wait in the load/store unit */
  uint8_t live, waiting, waits, holds, second;
  uint8_t scheduler;
  uint16_t group;            /* the resident block that it belongs to */
  uint8_t owed[BOARDS];      /* machine code: accesses in the queue that each scoreboard waits for */
  uint32_t fetched;          /* the line of code that it is in */
  uint8_t starved;           /* it waits for that line */
};

struct group {               /* a resident block */
  uint32_t live, waiting;    /* its warps that have not ended, and those at a barrier */
  uint32_t queued;           /* its accesses that wait in the load/store unit */
  uint32_t done, first;
};

struct scheduler {
  uint32_t wake, mark;
  uint64_t *cell;            /* the counter that the time since `mark` goes to */
  int32_t n, greedy;
  uint32_t collectors[MOST_COLLECTORS];
  uint32_t units[UNITS];
  uint32_t pending;          /* its accesses that the load/store unit has not begun */
  uint32_t fetches;          /* lines of code that its instruction cache has taken */
  const struct op *next[MOST_WARPS]; /* machine code: the next instruction of each warp */
  uint16_t list[MOST_WARPS]; /* its warps, the oldest first, */
  uint32_t when[MOST_WARPS]; /* and when each may issue */
};

struct request {
  const uint32_t *words;
  uint32_t op, enters, done, began;
  uint16_t warp, space;
  uint16_t count, next;
  uint8_t scheduler, collector, held;
};

struct sm {
  uint32_t refill, free; /* when a block may come; when the load/store unit is free */
  uint32_t head, n_requests;
  uint32_t fetch_free, fetches; /* when its instruction cache may send a line; lines it has taken */
  struct { uint32_t line, when; } coming[COMING]; /* lines on their way to L1 */
  struct scheduler schedulers[MOST_SCHEDULERS];
  struct request ring[RING];
};

struct queue { uint64_t time, work; }; /* work that waits, in 1/256 cycles, as of a time */

struct value { uint32_t when, maker; }; /* a register: when it is written, and by what */

struct fetched { uint32_t number, when; }; /* a line of code in a cache: when taken, when there */
struct source { struct fetched held; uint32_t sent; }; /* in that of an SM: when it was sent last */

struct engine {
  struct replay *p;
  const struct op *ops;       /* of the kernel */
  const uint16_t *registers;
  const struct span *spans;
  uint32_t slots;
  int counts;                 /* whether to count what is waited for */
  struct gpu g;
  struct sm *sms;
  uint32_t *next;             /* when to look at each SM again */
  struct walker *walkers;
  struct group *groups;
  struct value *boards;        /* the registers of each warp */
  struct queue *slices, *drams;
  uint64_t *fills;            /* when each line has come from DRAM */
  uint32_t *lines, *askers;   /* per slice: the line it serves, and for whom */
  uint32_t *homes;            /* a hash of each line, from which its slice comes */
  struct fetched *near;
  struct source *far;         /* lines of code in the cache of each scheduler (near), and of each SM */
  uint32_t code_lines;
  uint64_t salt;
  uint64_t next_block, n_blocks, done_blocks;
  uint32_t per_sm;            /* warps that an SM holds */
  uint32_t end, early, late;
};

static inline uint32_t later(uint32_t a, uint32_t b) { return a > b ? a : b; }
static inline uint32_t sooner(uint32_t a, uint32_t b) { return a < b ? a : b; }

static inline struct value *board_of(const struct engine *s, uint32_t index) {
  return s->boards + (uint64_t)index * s->slots;
}
static inline const struct op *op_of(const struct engine *s, uint32_t op) { return &s->ops[op]; }
