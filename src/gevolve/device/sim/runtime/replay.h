/* The tables that a replay reads: a kernel's instructions and a GPU's parameters. Times are whole
 * cycles of the SM's clock; those of L2 slices and of DRAM are in 1/256 of a cycle. */
enum { UNITS = 10 };         /* the order is that of `UNITS` in timing/gpu.py */
enum { NO_BOARD = 7 };       /* an instruction that sets no scoreboard */
enum role { COMPUTE, MEMORY, PARAMETER, BARRIER, FENCE }; /* the order is that of `ROLES` in timing/code.py */

struct op {
  uint32_t first;              /* its registers: results, then sources */
  uint16_t latency, interval;
  uint8_t unit, role, slots, results, sources, access, reads, folded;
  /* of machine code: what the compiler wrote into the instruction, and a second unit that may take it */
  uint8_t stall, yields, write, read, wait, other, pad[2];
};
struct span { uint32_t first, count; }; /* the instructions of a block */

struct gpu {
  int32_t sms, schedulers, dual, collectors, queue, branch, barrier, dispatch;
  int32_t shared_latency, constant_latency;
  int32_t l1_latency, l1_rate, send_rate, l1_sets, l1_ways, l1_caches; /* caches: 0 none, 1 read-only, 2 all */
  int32_t slices, slice_interval, slice_behind, hot_interval, atomic_interval, l2_latency;
  int32_t l2_sets, l2_ways;
  int32_t dram_latency, dram_interval, dram_queue, atomics_wait;
  /* of machine code: whether it is; the load/store unit; instruction caches, in lines of 8 */
  int32_t machine, pending, address_interval, bank_interval, read_latency;
  int32_t l0_lines, l1i_lines, fetch_ahead, fetch_interval, fetch_latency, fetch_far;
};

/* What a cache holds: for each set, the lines by age, and which sectors of them. */
struct tags { uint64_t *lines; uint32_t *used; uint8_t *sectors; int32_t sets, ways; uint32_t clock; };

struct replay {
  const struct gpu *gpu;
  const struct op *ops;
  const uint16_t *registers;
  const struct span *spans;
  const struct block *blocks;
  const int32_t *accesses;     /* what each memory site does */
  struct record *trace;
  int32_t warps_per_block, resident, slots, n_ops, first, seeds, n_blocks;
  /* results */
  uint64_t cycles, idle;
  uint64_t early, late;        /* cycles until a third of the waves were done, and two thirds */
  uint64_t *issued, *waited, *stuck, *starved; /* per instruction, in cycles of a scheduler */
  uint64_t *delay, *contended; /* per instruction: latency of its accesses, and of it what was queueing */
  uint64_t *runs;              /* per block: how often warps ran it */
};

/* What a trace amounts to, for a formula. */
struct summary {
  uint64_t sectors, lines, l1_hits, l2_hits, misses, evictions, degree, constants, atomics;
  uint64_t busiest; /* sectors of the most wanted line */
  uint64_t longest; /* instructions of the longest warp */
};
