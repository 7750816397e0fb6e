/* A clock that runs faster than the wall's and leaps when it is told to, for a process and all that it starts. Loaded by
 * LD_PRELOAD, so that Python, SQLite, uvloop and whatever else asks for the time or waits meet one clock. fast_clock.py is
 * its other half.
 *
 * FAST_CLOCK names a file of struct pace, which all processes share. What it adds is the same for all clocks (of the day,
 * monotonic, since boot), as if the machine had lived through it. Waits are cut into slices, so that a leap ends them.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/mman.h>
#include <sys/select.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

#define SECOND 1000000000LL
#define SLICE (SECOND / 50)

struct pace {
    int64_t speed;  /* how many times as fast, at least 1 */
    int64_t origin; /* real monotonic nanoseconds when it began */
    int64_t leapt;  /* nanoseconds of all leaps so far */
};

static volatile struct pace *pace;

__attribute__((constructor)) static void begin(void) {
    const char *name = getenv("FAST_CLOCK");
    int descriptor = name ? open(name, O_RDONLY | O_CLOEXEC) : -1;
    if (descriptor < 0) return;
    void *memory = mmap(NULL, sizeof(struct pace), PROT_READ, MAP_SHARED, descriptor, 0);
    close(descriptor);
    if (memory != MAP_FAILED) pace = memory;
}

#define REAL(name) ({ static __typeof__(&name) found; if (!found) found = dlsym(RTLD_NEXT, #name); found; })

/* dlsym may find the form of twenty years ago, with another layout of the condition */
#define REAL_OF(name, version) \
    ({ static __typeof__(&name) found; \
       if (!found) found = dlvsym(RTLD_NEXT, #name, version); \
       if (!found) found = dlsym(RTLD_NEXT, #name); found; })

static int64_t in_ns(const struct timespec *at) { return at->tv_sec * SECOND + at->tv_nsec; }

static struct timespec in_spec(int64_t ns) {
    if (ns < 0) ns = 0;
    return (struct timespec){ns / SECOND, ns % SECOND};
}

static int64_t real_now(clockid_t clock) {
    struct timespec at;
    REAL(clock_gettime)(clock, &at);
    return in_ns(&at);
}

static int is_time(clockid_t clock) {
    return clock == CLOCK_REALTIME || clock == CLOCK_MONOTONIC || clock == CLOCK_BOOTTIME || clock == CLOCK_REALTIME_COARSE
        || clock == CLOCK_MONOTONIC_COARSE || clock == CLOCK_MONOTONIC_RAW;
}

static int64_t now_of(clockid_t clock) {
    int64_t at = real_now(clock);
    if (!pace || !is_time(clock)) return at;
    return at + (pace->speed - 1) * (real_now(CLOCK_MONOTONIC) - pace->origin) + pace->leapt;
}

/* Real nanoseconds of the next slice of a wait until then; 0 when it is over. */
static int64_t slice_until(clockid_t clock, int64_t then) {
    int64_t left = then - now_of(clock);
    if (left <= 0) return 0;
    left = left / pace->speed + 1;
    return left < SLICE ? left : SLICE;
}

int clock_gettime(clockid_t clock, struct timespec *at) {
    if (!pace || !is_time(clock)) return REAL(clock_gettime)(clock, at);
    *at = in_spec(now_of(clock));
    return 0;
}

int gettimeofday(struct timeval *at, void *zone) {
    if (!pace) return REAL(gettimeofday)(at, zone);
    int64_t ns = now_of(CLOCK_REALTIME);
    *at = (struct timeval){ns / SECOND, ns % SECOND / 1000};
    return 0;
}

time_t time(time_t *at) {
    time_t now = now_of(CLOCK_REALTIME) / SECOND;
    if (at) *at = now;
    return now;
}

static int sleep_until(clockid_t clock, int64_t then, struct timespec *left) {
    for (int64_t slice; (slice = slice_until(clock, then));) {
        struct timespec part = in_spec(slice);
        if (REAL(nanosleep)(&part, NULL) && errno == EINTR) {
            if (left) *left = in_spec(then - now_of(clock));
            return EINTR;
        }
    }
    return 0;
}

int clock_nanosleep(clockid_t clock, int flags, const struct timespec *wanted, struct timespec *left) {
    if (!pace || !is_time(clock)) return REAL(clock_nanosleep)(clock, flags, wanted, left);
    int64_t then = in_ns(wanted) + (flags & TIMER_ABSTIME ? 0 : now_of(clock));
    return sleep_until(clock, then, flags & TIMER_ABSTIME ? NULL : left);
}

int nanosleep(const struct timespec *wanted, struct timespec *left) {
    if (!pace) return REAL(nanosleep)(wanted, left);
    errno = sleep_until(CLOCK_MONOTONIC, now_of(CLOCK_MONOTONIC) + in_ns(wanted), left);
    return errno ? -1 : 0;
}

int usleep(useconds_t wanted) {
    struct timespec span = in_spec(wanted * 1000LL);
    return nanosleep(&span, NULL);
}

int sem_clockwait(sem_t *semaphore, clockid_t clock, const struct timespec *then) {
    if (!pace) return REAL(sem_clockwait)(semaphore, clock, then);
    for (;;) {
        int64_t slice = slice_until(clock, in_ns(then));
        struct timespec part = in_spec(real_now(clock) + slice);
        int found = REAL(sem_clockwait)(semaphore, clock, &part);
        if (!found || errno != ETIMEDOUT || !slice) return found;
    }
}

int sem_timedwait(sem_t *semaphore, const struct timespec *then) {
    return pace ? sem_clockwait(semaphore, CLOCK_REALTIME, then) : REAL(sem_timedwait)(semaphore, then);
}

int pthread_cond_timedwait(pthread_cond_t *condition, pthread_mutex_t *mutex, const struct timespec *then) {
    __typeof__(&pthread_cond_timedwait) real = REAL_OF(pthread_cond_timedwait, "GLIBC_2.3.2");
    if (!pace) return real(condition, mutex, then);
    clockid_t clock = then->tv_sec > 1000000000 ? CLOCK_REALTIME : CLOCK_MONOTONIC; /* the condition knows, and does not say */
    for (;;) {
        int64_t slice = slice_until(clock, in_ns(then));
        struct timespec part = in_spec(real_now(clock) + slice);
        int found = real(condition, mutex, &part);
        if (found != ETIMEDOUT || !slice) return found;
    }
}

int pthread_cond_clockwait(pthread_cond_t *condition, pthread_mutex_t *mutex, clockid_t clock, const struct timespec *then) {
    if (!pace) return REAL(pthread_cond_clockwait)(condition, mutex, clock, then);
    for (;;) {
        int64_t slice = slice_until(clock, in_ns(then));
        struct timespec part = in_spec(real_now(clock) + slice);
        int found = REAL(pthread_cond_clockwait)(condition, mutex, clock, &part);
        if (found != ETIMEDOUT || !slice) return found;
    }
}

static int in_ms(int64_t slice) { return (slice + 999999) / 1000000; }

int poll(struct pollfd *files, nfds_t count, int timeout) {
    if (!pace || timeout <= 0) return REAL(poll)(files, count, timeout);
    int64_t then = now_of(CLOCK_MONOTONIC) + timeout * 1000000LL;
    for (;;) {
        int64_t slice = slice_until(CLOCK_MONOTONIC, then);
        int found = REAL(poll)(files, count, in_ms(slice));
        if (found || !slice) return found;
    }
}

int epoll_pwait(int descriptor, struct epoll_event *events, int most, int timeout, const sigset_t *mask) {
    if (!pace || timeout <= 0) return REAL(epoll_pwait)(descriptor, events, most, timeout, mask);
    int64_t then = now_of(CLOCK_MONOTONIC) + timeout * 1000000LL;
    for (;;) {
        int64_t slice = slice_until(CLOCK_MONOTONIC, then);
        int found = REAL(epoll_pwait)(descriptor, events, most, in_ms(slice), mask);
        if (found || !slice) return found;
    }
}

int epoll_wait(int descriptor, struct epoll_event *events, int most, int timeout) {
    return epoll_pwait(descriptor, events, most, timeout, NULL);
}

int select(int count, fd_set *in, fd_set *out, fd_set *odd, struct timeval *timeout) {
    if (!pace || !timeout || (!timeout->tv_sec && !timeout->tv_usec)) return REAL(select)(count, in, out, odd, timeout);
    int64_t then = now_of(CLOCK_MONOTONIC) + timeout->tv_sec * SECOND + timeout->tv_usec * 1000LL;
    fd_set asked[3], *sets[3] = {in, out, odd};
    for (int one = 0; one < 3; one++) if (sets[one]) asked[one] = *sets[one];
    for (;;) {
        int64_t slice = slice_until(CLOCK_MONOTONIC, then);
        struct timeval part = {0, slice / 1000};
        int found = REAL(select)(count, in, out, odd, &part);
        if (found || !slice) return found;
        for (int one = 0; one < 3; one++) if (sets[one]) *sets[one] = asked[one];
    }
}
