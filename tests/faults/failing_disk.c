/* A disk that fails when it is told to: the calls by which a process changes files below one folder are counted, and one of
 * them fails. Loaded by LD_PRELOAD, so that SQLite, Arrow and Python meet it alike. failing_disk.py is its other half.
 *
 * FAILING_DISK names a file of struct plan, which all processes share. A failure is once EIO, ENOSPC for whatever needs
 * room from then on, a write that takes half of its bytes and finds no room for the rest, EROFS for every change and every
 * opening for one from then on, or no failure but a pause before each change.
 *
 * The same file says by how much the clock of the wall is wrong (failing_disk.py), and FAILING_DNS names the resolv.conf that
 * is read in place of the machine's.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/time.h>
#include <sys/uio.h>
#include <time.h>
#include <unistd.h>

enum { ERROR_ONCE = 1, FULL_FROM_THEN = 2, SHORT_WRITE = 3, READ_ONLY = 4, SLOW = 5 };
enum { SECOND = 1000000000, PAUSE = SECOND / 20, CLOCK_PLACE = 2048, PAGE = 4096 };

struct plan {
    uint64_t count;  /* calls so far */
    uint64_t target; /* the call that fails, from 1 on; 0 for none */
    uint64_t mode;
    uint64_t failures;
    char call[32];   /* which call failed first, and on which file */
    char path[512];
    char root[512];
    char only[256];  /* "fsync archive/": count but calls whose name and path, with a space between, hold this text */
};

static struct plan *plan;
static volatile int64_t *wrong; /* nanoseconds by which the clock is ahead */

__attribute__((constructor)) static void begin(void) {
    const char *name = getenv("FAILING_DISK");
    int descriptor = name ? open(name, O_RDWR | O_CLOEXEC) : -1;
    if (descriptor < 0) return;
    void *memory = mmap(NULL, PAGE, PROT_READ | PROT_WRITE, MAP_SHARED, descriptor, 0);
    close(descriptor);
    if (memory == MAP_FAILED) return;
    plan = memory;
    wrong = (int64_t *)((char *)memory + CLOCK_PLACE);
}

#define REAL(name) ({ static __typeof__(&name) found; if (!found) found = dlsym(RTLD_NEXT, #name); found; })

static int is_ours(const char *path) {
    size_t length = strlen(plan->root);
    return length && strncmp(path, plan->root, length) == 0 && path[length] == '/';
}

static int named(int descriptor, char *path) {
    char link[64];
    snprintf(link, sizeof link, "/proc/self/fd/%d", descriptor);
    ssize_t length = readlink(link, path, PATH_MAX - 1);
    if (length < 0) return 0;
    path[length] = 0;
    return is_ours(path);
}

/* What the call at hand meets: 0, an error, or -1 for half a write. */
static int fate(const char *call, const char *path, int needs_room, int is_write) {
    char text[PATH_MAX + 64];
    snprintf(text, sizeof text, "%s %s", call, path + strlen(plan->root) + 1);
    if (plan->only[0] && !strstr(text, plan->only)) return 0;
    uint64_t number = __atomic_add_fetch(&plan->count, 1, __ATOMIC_SEQ_CST);
    if (!plan->target || number < plan->target) return 0;
    if (number == plan->target) {
        snprintf(plan->call, sizeof plan->call, "%s", call);
        snprintf(plan->path, sizeof plan->path, "%s", path + strlen(plan->root) + 1);
    }
    int error = 0;
    if (plan->mode == SLOW) {
        struct timespec pause = {0, PAUSE};
        nanosleep(&pause, NULL);
    }
    if (plan->mode == READ_ONLY) error = EROFS;
    if (plan->mode == ERROR_ONCE && number == plan->target) error = EIO;
    if (plan->mode == FULL_FROM_THEN && needs_room) error = ENOSPC;
    if (plan->mode == SHORT_WRITE && number == plan->target && is_write) error = -1;
    if (plan->mode == SHORT_WRITE && number == plan->target + 1 && needs_room) error = ENOSPC;
    if (error) __atomic_add_fetch(&plan->failures, 1, __ATOMIC_SEQ_CST);
    return error;
}

static int fate_of_file(const char *call, int descriptor, int needs_room, int is_write) {
    char path[PATH_MAX];
    if (!plan || !named(descriptor, path)) return 0;
    return fate(call, path, needs_room, is_write);
}

static int fate_of_name(const char *call, const char *path, int needs_room) {
    return plan && is_ours(path) ? fate(call, path, needs_room, 0) : 0;
}

/* Calls that change nothing on a disk that may be written to, and are refused by one that may not; never counted. */
static int refused(const char *call, const char *path) {
    return plan && plan->mode == READ_ONLY && is_ours(path) ? fate(call, path, 0, 0) : 0;
}

#define MEET(error) if ((error) > 0) { errno = (error); return -1; }

ssize_t write(int fd, const void *data, size_t size) {
    int error = fate_of_file("write", fd, 1, size > 1);
    MEET(error);
    return REAL(write)(fd, data, error ? size / 2 : size);
}

ssize_t pwrite(int fd, const void *data, size_t size, off_t place) {
    int error = fate_of_file("pwrite", fd, 1, size > 1);
    MEET(error);
    return REAL(pwrite)(fd, data, error ? size / 2 : size, place);
}

ssize_t pwrite64(int fd, const void *data, size_t size, off64_t place) {
    int error = fate_of_file("pwrite", fd, 1, size > 1);
    MEET(error);
    return REAL(pwrite64)(fd, data, error ? size / 2 : size, place);
}

ssize_t writev(int fd, const struct iovec *parts, int count) {
    int error = fate_of_file("writev", fd, 1, parts[0].iov_len > 0 && count > 1);
    MEET(error);
    return REAL(writev)(fd, parts, error ? 1 : count);
}

int fsync(int fd) {
    int error = fate_of_file("fsync", fd, 0, 0);
    MEET(error);
    return REAL(fsync)(fd);
}

int fdatasync(int fd) {
    int error = fate_of_file("fdatasync", fd, 0, 0);
    MEET(error);
    return REAL(fdatasync)(fd);
}

int ftruncate(int fd, off_t size) {
    int error = fate_of_file("ftruncate", fd, 0, 0);
    MEET(error);
    return REAL(ftruncate)(fd, size);
}

int ftruncate64(int fd, off64_t size) {
    int error = fate_of_file("ftruncate", fd, 0, 0);
    MEET(error);
    return REAL(ftruncate64)(fd, size);
}

int rename(const char *from, const char *to) {
    int error = fate_of_name("rename", to, 1);
    MEET(error);
    return REAL(rename)(from, to);
}

int linkat(int from_folder, const char *from, int to_folder, const char *to, int flags) {
    int error = fate_of_name("link", to, 1);
    MEET(error);
    return REAL(linkat)(from_folder, from, to_folder, to, flags);
}

int link(const char *from, const char *to) {
    int error = fate_of_name("link", to, 1);
    MEET(error);
    return REAL(link)(from, to);
}

int mkdir(const char *path, mode_t mode) {
    int error = fate_of_name("mkdir", path, 1);
    MEET(error);
    return REAL(mkdir)(path, mode);
}

int unlink(const char *path) {
    int error = refused("unlink", path);
    MEET(error);
    return REAL(unlink)(path);
}

int rmdir(const char *path) {
    int error = refused("rmdir", path);
    MEET(error);
    return REAL(rmdir)(path);
}

#define OPENING(name)                                                  \
    int name(const char *path, int flags, ...) {                      \
        va_list rest;                                                 \
        va_start(rest, flags);                                        \
        mode_t mode = flags & (O_CREAT | O_TMPFILE) ? va_arg(rest, mode_t) : 0; \
        va_end(rest);                                                 \
        if (flags & O_CREAT && access(path, F_OK) != 0) {             \
            int error = fate_of_name("create", path, 1);              \
            MEET(error);                                              \
        } else if ((flags & O_ACCMODE) != O_RDONLY) {                 \
            int error = refused("open", path);                        \
            MEET(error);                                              \
        }                                                             \
        return REAL(name)(path, flags, mode);                         \
    }

OPENING(open)
OPENING(open64)

/* The clock of the wall, which somebody sets; those that nobody sets are left alone. */

int clock_gettime(clockid_t clock, struct timespec *now) {
    int result = REAL(clock_gettime)(clock, now);
    if (result || !wrong || !*wrong || (clock != CLOCK_REALTIME && clock != CLOCK_REALTIME_COARSE)) return result;
    int64_t all = now->tv_sec * (int64_t)SECOND + now->tv_nsec + *wrong;
    now->tv_sec = all / SECOND;
    now->tv_nsec = all % SECOND;
    return result;
}

int gettimeofday(struct timeval *now, void *zone) {
    struct timespec exact;
    (void)zone;
    int result = clock_gettime(CLOCK_REALTIME, &exact);
    now->tv_sec = exact.tv_sec;
    now->tv_usec = exact.tv_nsec / 1000;
    return result;
}

time_t time(time_t *place) {
    struct timespec exact;
    clock_gettime(CLOCK_REALTIME, &exact);
    if (place) *place = exact.tv_sec;
    return exact.tv_sec;
}

/* Which servers of names there are. */

static const char *instead_of(const char *path) {
    const char *servers = getenv("FAILING_DNS");
    return servers && strcmp(path, "/etc/resolv.conf") == 0 ? servers : path;
}

FILE *fopen(const char *path, const char *mode) { return REAL(fopen)(instead_of(path), mode); }

FILE *fopen64(const char *path, const char *mode) { return REAL(fopen64)(instead_of(path), mode); }
