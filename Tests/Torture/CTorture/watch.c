#ifdef __linux__
#define _GNU_SOURCE
#include "internal.h"

#include <dirent.h>
#include <execinfo.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

static atomic_long deadline;
static char watched[200];

static long now(void) {
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return time.tv_sec;
}

static void show_stack(int signal) {
    (void)signal;
    void *frames[40];
    backtrace_symbols_fd(frames, backtrace(frames, 40), STDERR_FILENO);
    static const char end[] = "--\n";
    (void)!write(STDERR_FILENO, end, sizeof end - 1);
}

/* What would end the process without a word of what failed. */
static void tell_and_end(int number) {
    char armed[100], text[400];
    torture_tell(armed, sizeof armed);
    int count = snprintf(text, sizeof text, "BREACH: %s ends by signal %d; what failed: %s\n", watched, number, armed);
    (void)!write(STDERR_FILENO, text, (size_t)count);
    show_stack(number);
    signal(number, SIG_DFL);
    raise(number);
}

/* One after the other, so that their lines do not mix. */
static void show_threads(void) {
    DIR *threads = opendir("/proc/self/task");
    if (threads == NULL) return;
    for (struct dirent *entry; (entry = readdir(threads)) != NULL;) {
        long thread = strtol(entry->d_name, NULL, 10);
        if (thread <= 0 || thread == syscall(SYS_gettid)) continue;
        syscall(SYS_tgkill, getpid(), thread, SIGUSR2);
        usleep(50000);
    }
    closedir(threads);
}

static void *watch(void *context) {
    for (;;) {
        usleep(100000);
        long end = atomic_load(&deadline);
        if (end == 0 || now() < end) continue;
        char armed[100];
        torture_tell(armed, sizeof armed);
        fprintf(stderr, "BREACH: %s hangs; what failed: %s\n", watched, armed);
        show_threads();
        _exit(3);
    }
    return context;
}

void torture_watch(unsigned seconds, const char *what) {
    static atomic_bool is_running;
    snprintf(watched, sizeof watched, "%s", what);
    atomic_store(&deadline, seconds == 0 ? 0 : now() + (long)seconds + 1);
    if (atomic_exchange(&is_running, true)) return;
    // The first call loads a library, which a signal's handler must not do.
    void *frame;
    backtrace(&frame, 1);
    struct sigaction action = {.sa_handler = show_stack, .sa_flags = SA_RESTART};
    sigaction(SIGUSR2, &action, NULL);
    const int ends[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT};
    action.sa_handler = tell_and_end;
    for (size_t index = 0; index < sizeof ends / sizeof *ends; index++) sigaction(ends[index], &action, NULL);
    pthread_t thread;
    if (pthread_create(&thread, NULL, watch, NULL) == 0) pthread_detach(thread);
}

#endif
