/* libcuda.so.1 of the virtual GPU. Every function sends its number and its raw arguments to the process
 * that is the GPU (`serve.py`) and does what that asks for, step by step, until it says what to return: it
 * reads and writes the program's memory, copies, and calls its functions. So all that a function means is
 * said there, and none of it here.
 *
 * Device memory is a file that both processes map: `window` shows all of it, and what the host may use
 * by the GPU's own addresses is mapped there as well. */
#define _GNU_SOURCE
#include <errno.h>
#include <pthread.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <unistd.h>

enum { ARGUMENTS = 12, PARAMETERS = 4096 };
enum manner { WAITS, NEED_NOT_WAIT, LAUNCHES, BEGINS }; /* of functions, in `manners` */
enum step_kind { DONE, READ, TEXT, WRITE, COPY, GATHER, SYMBOL, CALL, MAP, UNMAP, ADOPT, ABANDON, PRINT }; /* wire.py */
enum { SUCCESS = 0, INVALID_VALUE = 1, NOT_INITIALIZED = 3, NO_DEVICE = 100, UNKNOWN = 999 };

struct hello { uint64_t base, size, version; };
struct request { uint32_t function, thread; uint64_t arguments[ARGUMENTS]; uint32_t later, size; char data[PARAMETERS]; };
struct step { uint64_t kind, a, b, c, d; };

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int connection = -1, memory = -1;
static pid_t owner; /* the process that has connected: a fork of it cannot use the GPU, as ever */
static struct hello hello;
static char *window;
static int dry; /* whether launches are only timed, so that nothing depends on when they are */

/* The sizes of kernels' parameters, as the GPU has told them. */
static struct layout { uint64_t kernel; uint32_t count, sizes[64]; } layouts[1024];
static uint64_t launched; /* the kernel of the launch that is worked on */

static int forward(uint32_t function, const uint64_t *arguments);

struct symbol { const char *name; void *address; };
struct error { int code; const char *name, *text; };
#include "functions.h" /* made by library.py: a function for each symbol, `symbols`, `errors` */

static int put(const void *from, uint64_t size) {
  for (const char *at = from; size;) {
    ssize_t n = send(connection, at, size, MSG_NOSIGNAL);
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) return 0;
    at += n;
    size -= (uint64_t)n;
  }
  return 1;
}

static int get(void *to, uint64_t size) {
  for (char *at = to; size;) {
    ssize_t n = recv(connection, at, size, 0);
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) return 0;
    at += n;
    size -= (uint64_t)n;
  }
  return 1;
}

/* The first message holds the file of device memory. */
static int greet(void) {
  char room[CMSG_SPACE(sizeof(int))];
  struct iovec to = {&hello, sizeof hello};
  struct msghdr message = {.msg_iov = &to, .msg_iovlen = 1, .msg_control = room, .msg_controllen = sizeof room};
  ssize_t n;
  do n = recvmsg(connection, &message, MSG_CMSG_CLOEXEC | MSG_WAITALL);
  while (n < 0 && errno == EINTR);
  struct cmsghdr *held = n == sizeof hello ? CMSG_FIRSTHDR(&message) : 0;
  if (!held || held->cmsg_type != SCM_RIGHTS) return 0;
  memcpy(&memory, CMSG_DATA(held), sizeof memory);
  window = mmap(0, hello.size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_NORESERVE, memory, 0);
  return window != MAP_FAILED;
}

static int connected(void) {
  if (connection >= 0) return 1;
  const char *path = getenv("GEVOLVE_GPU");
  struct sockaddr_un address = {.sun_family = AF_UNIX};
  if (!path || strlen(path) >= sizeof address.sun_path) {
    fputs("libcuda of gevolve: no virtual GPU here; run the program by `gevolve gpu -- PROGRAM`\n", stderr);
    return 0;
  }
  strcpy(address.sun_path, path);
  connection = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
  if (connection < 0) return 0;
  if (!connect(connection, (struct sockaddr *)&address, sizeof address) && greet()) {
    owner = getpid();
    return 1;
  }
  close(connection);
  connection = -1;
  return 0;
}

/* What the program calls `address`; device memory is seen through the window. */
static void *seen(uint64_t address) {
  return address - hello.base < hello.size ? window + (address - hello.base) : (void *)address;
}

static struct layout *layout_of(uint64_t kernel) { return &layouts[kernel / 64 % 1024]; }

static int gather(const struct step *s) {
  uint64_t sizes[s->b + 1];
  if (!get(sizes, s->b * sizeof *sizes)) return 0;
  if (launched && s->b <= 64) {
    struct layout *known = layout_of(launched);
    known->kernel = launched;
    known->count = (uint32_t)s->b;
    for (uint64_t i = 0; i < s->b; i++) known->sizes[i] = (uint32_t)sizes[i];
  }
  for (uint64_t i = 0; i < s->b; i++)
    if (!put(((void **)s->a)[i], sizes[i])) return 0;
  return 1;
}

/* Put the parameters of a launch into its request; 0 if that cannot be done. */
static int packed(struct request *r) {
  const struct layout *known = layout_of(r->arguments[0]);
  void **params = (void **)r->arguments[9];
  if (!params || known->kernel != r->arguments[0]) return 0;
  for (uint32_t i = 0; i < known->count; i++) {
    if (r->size + known->sizes[i] > PARAMETERS) return 0;
    memcpy(r->data + r->size, params[i], known->sizes[i]);
    r->size += known->sizes[i];
  }
  return 1;
}

/* Pages of the program's become pages of device memory, with what they hold. The allocator's own notes may
 * lie on the same pages, so nothing is allocated in between, and one system call puts the new pages there. */
static int adopt(const struct step *s) {
  memcpy(seen(s->b), (void *)s->a, s->c);
  int flags = MAP_FIXED | MAP_SHARED;
  return mmap((void *)s->a, s->c, PROT_READ | PROT_WRITE, flags, memory, (off_t)(s->b - hello.base)) != MAP_FAILED;
}

/* And its own again. */
static int abandon(const struct step *s) {
  void *own = mmap(0, s->c, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (own == MAP_FAILED) return 0;
  memcpy(own, (void *)s->a, s->c);
  return mremap(own, s->c, s->c, MREMAP_MAYMOVE | MREMAP_FIXED, (void *)s->a) != MAP_FAILED;
}

/* What a kernel prints goes where the program's own output goes. */
static int print(const struct step *s) {
  FILE *to = s->a == 1 ? stdout : stderr;
  char part[4096];
  for (uint64_t left = s->b; left;) {
    uint64_t size = left < sizeof part ? left : sizeof part;
    if (!get(part, size)) return 0;
    fwrite(part, 1, size, to);
    left -= size;
  }
  fflush(to);
  return 1;
}

/* Do a step; 0 if the GPU is gone. */
static int follow(const struct step *s) {
  uint64_t good = 1;
  switch (s->kind) {
    case READ: return put((void *)s->a, s->b);
    case TEXT: {
      uint64_t size = strlen((char *)s->a);
      return put(&size, sizeof size) && put((void *)s->a, size);
    }
    case WRITE: return get((void *)s->a, s->b);
    case GATHER: return gather(s);
    case COPY: memmove(seen(s->a), seen(s->b), s->c); break;
    case SYMBOL: *(void **)s->a = symbols[s->b].address; break;
    case CALL: good = ((uint64_t (*)(uint64_t, uint64_t, uint64_t))s->a)(s->b, SUCCESS, s->c); break;
    case MAP: {
      void *to = (void *)s->a;
      off_t from = (off_t)(s->a - hello.base);
      good = mmap(to, s->b, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED_NOREPLACE, memory, from) == to;
      break;
    }
    case UNMAP: good = !munmap((void *)s->a, s->b); break;
    case ADOPT: good = (uint64_t)adopt(s); break;
    case ABANDON: good = (uint64_t)abandon(s); break;
    case PRINT: if (!print(s)) return 0; break;
    default: return 0;
  }
  return put(&good, sizeof good);
}

static int forward(uint32_t function, const uint64_t *arguments) {
  struct step s = {.kind = DONE, .a = NOT_INITIALIZED};
  pthread_mutex_lock(&lock);
  if (owner && owner != getpid()) goto out;
  if (!connected()) { s.a = NO_DEVICE; goto out; }
  struct request r; /* its data is not set, since most have none */
  r.function = function, r.thread = (uint32_t)syscall(SYS_gettid), r.size = 0;
  memcpy(r.arguments, arguments, sizeof r.arguments);
  enum manner manner = manners[function];
  r.later = dry && (manner == NEED_NOT_WAIT || (manner == LAUNCHES && packed(&r)));
  if (!r.later) r.size = 0;
  launched = manner == LAUNCHES ? r.arguments[0] : 0;
  if (manner == BEGINS) dry = r.arguments[0] != 0;
  int there = put(&r, offsetof(struct request, data) + r.size);
  if (r.later && there) { s.a = SUCCESS; goto out; }
  while ((there = there && get(&s, sizeof s)) && s.kind != DONE) there = follow(&s);
  if (!there) s = (struct step){.kind = DONE, .a = UNKNOWN};
out:
  pthread_mutex_unlock(&lock);
  /* a host function, which may take its time; all but callbacks of streams take one argument */
  if (s.b) ((void (*)(uint64_t, uint64_t, uint64_t))s.b)(s.c, SUCCESS, s.d);
  return (int)s.a;
}

static int error_text(int code, const char **to, int name) {
  if (!to) return INVALID_VALUE;
  *to = 0;
  for (unsigned i = 0; i < sizeof errors / sizeof *errors; i++)
    if (errors[i].code == code) *to = name ? errors[i].name : errors[i].text;
  return *to ? SUCCESS : INVALID_VALUE;
}

int cuGetErrorName(int code, const char **to) { return error_text(code, to, 1); }
int cuGetErrorString(int code, const char **to) { return error_text(code, to, 0); }
