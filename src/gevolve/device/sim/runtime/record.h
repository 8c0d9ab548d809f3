/* The trace of a launch: one stream of words per warp, in the order in which its blocks ran.
 *
 * A stream is a list of events. An event is a head (which block, how many lanes, whether the warp
 * waits at its end) and, for each memory site of the block, a word that says which space was touched
 * and how: for shared and constant memory the cycles that the banks need; for global and local memory
 * the number of lines, and then a word per line with its number and the sectors wanted. */
enum { NOTHING = 7 }; /* a site's space, if no lane was active there */

#define HEAD(block, waits, lanes) ((uint32_t)(block) | (uint32_t)(waits) << 26 | (uint32_t)((lanes) - 1) << 27)
#define HEAD_BLOCK(word) ((word) & 0x3ffffffu)
#define HEAD_WAITS(word) ((word) >> 26 & 1)
#define HEAD_LANES(word) (((word) >> 27) + 1)
#define SITE_WORD(space, count) ((uint32_t)(space) << 16 | (uint32_t)(count))
#define SITE_SPACE(word) ((word) >> 16)
#define SITE_COUNT(word) ((word) & 0xffffu)
/* level: filled in by the cache model */
enum level { IN_L1, IN_L2, IN_DRAM, IN_DRAM_EVICTS };
#define LINE_WORD(line, sectors) ((uint32_t)(line) << 6 | (uint32_t)(sectors))
#define LINE_NUMBER(word) ((word) >> 6)
#define LINE_LEVEL(word) ((word) >> 4 & 3)
#define LINE_SECTORS(word) ((word) & 15)

enum access { LOAD, STORE, ATOMIC, READ_ONLY }; /* the order is that of `ACCESSES` in timing/code.py */

struct stream { uint32_t *words; uint64_t n, room; };

struct record {
  /* set by Python */
  uint64_t wave;           /* blocks that are resident at once */
  uint64_t stride;         /* of so many waves, the first is recorded */
  uint64_t room;           /* the most words that may be kept */
  /* filled in by the runtime */
  struct stream all;       /* the streams of all warps, one after another */
  uint64_t *starts;        /* where each warp's stream begins; one more than there are warps */
  uint64_t n_warps, warps_room;
  uint64_t *lines;         /* the address of each line, divided by its size */
  uint64_t n_lines, lines_room;
  uint32_t *table;         /* a hash table of lines: their numbers plus one */
  uint64_t table_size;
  uint64_t blocks;         /* blocks recorded, */
  uint64_t instructions;   /* warp instructions in them */
  uint64_t words, pending; /* words made so far; instructions of the present block */
  int32_t on, began;       /* whether the present block is recorded, and was from its start */
  int32_t failed;          /* memory ran out */
  int32_t only;            /* blocks that are not recorded are not run */
  uint32_t slot;           /* the present block's place among the resident ones */
  struct stream warps[LANES];
};
