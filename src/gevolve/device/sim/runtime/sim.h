/* What generated code, the runtime and Python share. `layout.py` states the same offsets. */
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#define LANES 32
#define EXPORT __attribute__((visibility("default")))

enum { GO_EXIT = -1, GO_TRAP = -2, GO_OVERFLOW = -3, GO_ASSERT = -4 };

/* How a block ends, when not by a branch. The order is that of `KINDS` in translate/exchange.py. */
enum kind {
  JUMP, CALL, RET,
  BAR_SYNC, BAR_ARRIVE, BAR_POPC, BAR_AND, BAR_OR,
  WARP_SYNC, SHFL_UP, SHFL_DOWN, SHFL_BFLY, SHFL_IDX,
  VOTE_ALL, VOTE_ANY, VOTE_UNI, VOTE_BALLOT, MATCH_ANY, MATCH_ALL,
  REDUX_ADD, REDUX_AND, REDUX_OR, REDUX_XOR,
  REDUX_MIN_U, REDUX_MIN_S, REDUX_MAX_U, REDUX_MAX_S,
  ELECT, ACTIVEMASK,
  CONVERGE, /* machine code only: BSYNC */
};
/* Block flags: legacy exchange among whoever is here; may spin; only the lanes wait whose `taking` is set. */
enum { ALONE = 1, SPINS = 2, GUARDED = 4 };
static const uint64_t MIRROR = 1ull << 42; /* layout.SPAN: a set bit there is one that nothing has written */
enum { BARRIERS = 16 }; /* convergence barriers of a warp */

struct block { int32_t kind, issued, sites, first_site, flags; };
struct site { int32_t size, kind, line, flags; };
enum { CHECKED = 8 }; /* added to a site's kind: generated code has checked its bounds itself */
enum space { GLOBAL, SHARED, LOCAL, CONSTANT, PARAM };
struct region { uint64_t low, high; int32_t space, index; };

/* Why a launch ended early. The order is that of `STOPS` in launch.py. */
enum stop { RUNNING, OUT_OF_FUEL, TRAPPED, DEADLOCK, OUT_OF_BOUNDS, FAULT, STACK, ASSERTED,
            NO_BARRIER };

struct launch;
struct record;
struct hazards;

struct warp {
  /* read and written by generated code */
  uint64_t frame[LANES];   /* registers of the current activation */
  uint64_t local[LANES];   /* local memory of the current activation */
  int64_t lane[LANES];     /* the lanes that run now */
  uint64_t value[LANES];   /* operands of an exchange ... */
  uint64_t result[LANES];  /* ... and its results */
  int32_t pc[LANES];
  int32_t tid[3][LANES];
  int32_t second[LANES], third[LANES], members[LANES], flag[LANES];
  int32_t depth[LANES];
  int64_t count; /* how many lanes run now */
  struct launch *launch;
  int32_t id, pad;
  uint32_t barrier[BARRIERS][LANES]; /* machine code: the lanes that each lane meets at a convergence barrier */
  int32_t taking[LANES];             /* whether a lane takes part in what it is at */
  int32_t gathered[LANES];           /* what the last block barrier with a reduction gave */
  uint32_t live, group;              /* the lanes that have not left, and those that run now */
  uint64_t scratch[2];               /* machine code: where an access goes whose guard is false */
  /* the runtime's own */
  uint32_t ready, favoured, at_barrier, exchanging, diverse, order_of_lanes;
  int32_t block, spins, favour, turn;
  int32_t at[LANES];       /* the block in which a waiting lane waits */
  int32_t token[LANES], tokens; /* machine code: lanes with the same token move together */
  uint64_t fuel, fuel_most, own_fuel[LANES];
  uint32_t *together;      /* times that all live lanes ran each block */
  uint32_t *apart;         /* times that a lane ran it without the others */
  uint32_t *most;          /* largest total of a lane that is gone */
};
_Static_assert(offsetof(struct warp, pc) == 1280, "layout.PC");
_Static_assert(offsetof(struct warp, tid) == 1408, "layout.TID");
_Static_assert(offsetof(struct warp, second) == 1792, "layout.SECOND");
_Static_assert(offsetof(struct warp, flag) == 2176, "layout.FLAG");
_Static_assert(offsetof(struct warp, depth) == 2304, "layout.DEPTH");
_Static_assert(offsetof(struct warp, launch) == 2440, "layout.LAUNCH");
_Static_assert(offsetof(struct warp, barrier) == 2456, "layout.BARRIER");
_Static_assert(offsetof(struct warp, taking) == 4504, "layout.TAKING");
_Static_assert(offsetof(struct warp, gathered) == 4632, "layout.GATHERED");
_Static_assert(offsetof(struct warp, live) == 4760, "layout.LIVE");
_Static_assert(offsetof(struct warp, scratch) == 4768, "layout.SCRATCH");
_Static_assert(sizeof(struct warp) <= 8192, "gpu.WARP_BYTES");

struct launch {
  /* read by generated code */
  uint64_t params, globals, shared_size;
  uint64_t *trace;
  uint64_t *marks;
  uint64_t clock;
  uint32_t ntid[3], ctaid[3], nctaid[3];
  uint32_t dynamic_size;
  uint64_t grid_id, shared_base, dynamic_base;
  uint64_t local_window;   /* machine code: where each thread sees its own local memory, */
  uint64_t banks[8];       /* and the constant banks */
  uint64_t mirror;         /* bytes from the state of warps to its shadow; 0 if values are not followed */
  uint64_t *used;          /* which uses of values that nothing has written there were */
  uint64_t noise[2];       /* what is in a register that nothing has written */
  uint64_t turn;           /* added to what a thread may not rely on: the numbers of its warp and its SM */
  /* set by Python */
  void (*run)(struct warp *);
  const struct block *blocks;
  const struct site *sites;
  const struct region *regions;
  uint32_t *hits;          /* the region that each site touched last */
  struct warp *warps;
  uint8_t *stacks;
  uint32_t *counts;
  uint64_t stack_size, local_base, local_size, fuel_limit;
  int32_t n_blocks, n_regions, n_sites, entry, waits, order, seed, poison;
  int32_t machine;         /* whether this is machine code: lanes meet where it says */
  int32_t shadowed;        /* whether memory has a shadow, MIRROR bytes behind it */
  struct record *record;   /* where to keep a trace, or null */
  struct hazards *hazards; /* where to note what a GPU gives no promise about, or null */
  void (*const *code)(struct warp *); /* machine code: a function for each block, which `run` calls */
  /* set by the runtime */
  uint64_t instructions, sectors, fuel, bad_address;
  int32_t stop, bad_site, bad_region, bad_block;
  uint32_t arrived[16];
  char *said;              /* what kernels print, or null: pieces of [stream, length, text] */
  uint64_t said_size, said_room;
};
_Static_assert(offsetof(struct launch, ntid) == 48, "layout.NTID");
_Static_assert(offsetof(struct launch, dynamic_size) == 84, "layout.DYNAMIC");
_Static_assert(offsetof(struct launch, shared_base) == 96, "layout.SHARED_BASE");
_Static_assert(offsetof(struct launch, dynamic_base) == 104, "layout.DYNAMIC_BASE");
_Static_assert(offsetof(struct launch, local_window) == 112, "layout.LOCAL_WINDOW");
_Static_assert(offsetof(struct launch, banks) == 120, "layout.BANKS");
_Static_assert(offsetof(struct launch, mirror) == 184, "layout.STATE_MIRROR");
_Static_assert(offsetof(struct launch, noise) == 200, "layout.NOISE");
_Static_assert(offsetof(struct launch, turn) == 216, "layout.TURN");
_Static_assert(offsetof(struct launch, local_size) == 304, "layout.LOCAL_SIZE");

static inline int lowest(uint32_t mask) { return __builtin_ctz(mask); }
static inline int bits(uint32_t mask) { return __builtin_popcount(mask); }
