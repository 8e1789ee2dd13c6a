#ifdef __linux__
/* Without GNU's own declarations, which give addresses a type of their own. */
#include "internal.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdarg.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>

/* Goes on, or fails as a system call does. */
#define PASS(kind, name, ...) \
    NEXT(name); \
    int code = torture_hit(kind, CALLER); \
    if (code == 0) return next(__VA_ARGS__); \
    errno = code; \
    return -1

int socket(int domain, int type, int protocol) { PASS(torture_socket, socket, domain, type, protocol); }

int socketpair(int domain, int type, int protocol, int pair[2]) {
    PASS(torture_socketpair, socketpair, domain, type, protocol, pair);
}

int connect(int descriptor, const struct sockaddr *address, socklen_t length) {
    PASS(torture_connect, connect, descriptor, address, length);
}

ssize_t send(int descriptor, const void *bytes, size_t count, int flags) {
    PASS(torture_send, send, descriptor, bytes, count, flags);
}

ssize_t sendto(
    int descriptor, const void *bytes, size_t count, int flags, const struct sockaddr *address, socklen_t length) {
    PASS(torture_send, sendto, descriptor, bytes, count, flags, address, length);
}

ssize_t recv(int descriptor, void *bytes, size_t count, int flags) {
    PASS(torture_recv, recv, descriptor, bytes, count, flags);
}

int poll(struct pollfd *entries, nfds_t count, int timeout) { PASS(torture_poll, poll, entries, count, timeout); }

/* Its argument, where there is one, has the size of a pointer or is passed as if it had. */
int fcntl(int descriptor, int command, ...) {
    va_list arguments;
    va_start(arguments, command);
    void *argument = va_arg(arguments, void *);
    va_end(arguments);
    PASS(torture_fcntl, fcntl, descriptor, command, argument);
}

int setsockopt(int descriptor, int level, int option, const void *value, socklen_t length) {
    PASS(torture_setsockopt, setsockopt, descriptor, level, option, value, length);
}

int getsockopt(int descriptor, int level, int option, void *value, socklen_t *length) {
    PASS(torture_getsockopt, getsockopt, descriptor, level, option, value, length);
}

int getsockname(int descriptor, struct sockaddr *address, socklen_t *length) {
    PASS(torture_getsockname, getsockname, descriptor, address, length);
}

int getpeername(int descriptor, struct sockaddr *address, socklen_t *length) {
    PASS(torture_getpeername, getpeername, descriptor, address, length);
}

int epoll_create1(int flags) { PASS(torture_epoll_create, epoll_create1, flags); }

/* Taking a socket out fails for no reason of the system's. */
int epoll_ctl(int epoll, int operation, int descriptor, struct epoll_event *event) {
    if (operation == EPOLL_CTL_DEL) {
        NEXT(epoll_ctl);
        return next(epoll, operation, descriptor, event);
    }
    PASS(torture_epoll_ctl, epoll_ctl, epoll, operation, descriptor, event);
}

int epoll_wait(int epoll, struct epoll_event *events, int count, int timeout) {
    PASS(torture_epoll_wait, epoll_wait, epoll, events, count, timeout);
}

int eventfd(unsigned int value, int flags) { PASS(torture_eventfd, eventfd, value, flags); }

/* The address sanitizer must hear of threads, by its own function of the same name. */
typedef int thread_maker(pthread_t *, const pthread_attr_t *, void *(*)(void *), void *);
extern thread_maker ___interceptor_pthread_create __attribute__((weak));
extern thread_maker __interceptor_pthread_create __attribute__((weak));

int pthread_create(pthread_t *thread, const pthread_attr_t *attributes, void *(*start)(void *), void *argument) {
    int code = torture_hit(torture_thread, CALLER);
    if (code != 0) return code;
    if (___interceptor_pthread_create) return ___interceptor_pthread_create(thread, attributes, start, argument);
    if (__interceptor_pthread_create) return __interceptor_pthread_create(thread, attributes, start, argument);
    NEXT(pthread_create);
    return next(thread, attributes, start, argument);
}

/* Every thread keeps listening to the watch, also one that wants no signals. */
int pthread_sigmask(int how, const sigset_t *set, sigset_t *old) {
    NEXT(pthread_sigmask);
    if (set == NULL || how == SIG_UNBLOCK) return next(how, set, old);
    sigset_t most = *set;
    sigdelset(&most, SIGUSR2);
    return next(how, &most, old);
}

#endif
