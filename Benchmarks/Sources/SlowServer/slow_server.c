#define _GNU_SOURCE
#include "slow_server.h"

#include <arpa/inet.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

enum { HEAD = 1024, SINK = 1 << 18, EVENTS = 256, DESCRIPTORS = 1 << 16, SECONDS = 180 };

typedef struct {
    char head[HEAD];
    size_t length;
    long long body; /* what is still to come of the request's body; -1 while its head is read */
    int waits;      /* whether its answer is held back */
} connection;

static connection *connections[DESCRIPTORS];
static char sink[SINK];
static long held, expected_count;
static int epoll;

static void send_text(int descriptor, const char *text) {
    if (send(descriptor, text, strlen(text), MSG_NOSIGNAL) < 0) shutdown(descriptor, SHUT_RDWR);
}

static void answer(int descriptor) {
    connections[descriptor]->length = 0;
    connections[descriptor]->body = -1;
    connections[descriptor]->waits = 0;
    send_text(descriptor, "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 2\r\n\r\n{}");
}

static void hold(int descriptor) {
    connections[descriptor]->waits = 1;
    held += 1;
    if (held == expected_count) {
        puts("full");
        fflush(stdout);
    }
}

static void release_all(void) {
    held = 0;
    for (int descriptor = 0; descriptor < DESCRIPTORS; descriptor++) {
        if (connections[descriptor] && connections[descriptor]->waits) answer(descriptor);
    }
}

static void request_ended(int descriptor) {
    if (strncmp(connections[descriptor]->head, "GET /wait ", 10) == 0) hold(descriptor);
    else answer(descriptor);
}

static void end(int descriptor) {
    close(descriptor);
    free(connections[descriptor]);
    connections[descriptor] = NULL;
}

/* The head is complete; `extra` bytes behind it belong to the body. */
static void head_ended(int descriptor, size_t extra) {
    connection *item = connections[descriptor];
    const char *length = strcasestr(item->head, "\r\nContent-Length:");
    item->body = length ? atoll(length + 17) - (long long)extra : 0;
    if (strcasestr(item->head, "\r\nExpect:")) send_text(descriptor, "HTTP/1.1 100 Continue\r\n\r\n");
    if (item->body <= 0) request_ended(descriptor);
}

static void read_head(int descriptor) {
    connection *item = connections[descriptor];
    ssize_t count = read(descriptor, item->head + item->length, HEAD - 1 - item->length);
    if (count <= 0) return end(descriptor);
    item->length += (size_t)count;
    item->head[item->length] = 0;
    char *stop = strstr(item->head, "\r\n\r\n");
    if (stop) return head_ended(descriptor, item->length - (size_t)(stop + 4 - item->head));
    if (item->length == HEAD - 1) end(descriptor);
}

static void read_body(int descriptor) {
    ssize_t count = read(descriptor, sink, SINK);
    if (count <= 0) return end(descriptor);
    connections[descriptor]->body -= count;
    if (connections[descriptor]->body <= 0) request_ended(descriptor);
}

static void watch(int descriptor) {
    struct epoll_event event = {.events = EPOLLIN, .data.fd = descriptor};
    epoll_ctl(epoll, EPOLL_CTL_ADD, descriptor, &event);
}

static void accept_all(int listener) {
    int descriptor;
    while ((descriptor = accept4(listener, NULL, NULL, SOCK_CLOEXEC)) >= 0) {
        if (descriptor >= DESCRIPTORS || !(connections[descriptor] = calloc(1, sizeof(connection)))) {
            close(descriptor);
            continue;
        }
        connections[descriptor]->body = -1;
        watch(descriptor);
    }
}

static int listen_anywhere(void) {
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t size = sizeof(address);
    int listener = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    if (bind(listener, (struct sockaddr *)&address, size) || listen(listener, 4096)) return -1;
    if (getsockname(listener, (struct sockaddr *)&address, &size)) return -1;
    printf("%d\n", ntohs(address.sin_port));
    fflush(stdout);
    return listener;
}

int slow_server_run(long expected) {
    struct epoll_event events[EVENTS];
    char line[64];
    int listener = listen_anywhere();
    expected_count = expected;
    epoll = epoll_create1(EPOLL_CLOEXEC);
    if (listener < 0 || epoll < 0) return 1;
    watch(listener);
    watch(STDIN_FILENO);
    alarm(SECONDS);
    while (1) {
        int count = epoll_wait(epoll, events, EVENTS, -1);
        for (int index = 0; index < count; index++) {
            int descriptor = events[index].data.fd;
            if (descriptor == listener) accept_all(listener);
            else if (descriptor != STDIN_FILENO && connections[descriptor]->body < 0) read_head(descriptor);
            else if (descriptor != STDIN_FILENO) read_body(descriptor);
            else if (read(STDIN_FILENO, line, sizeof(line)) <= 0) return 0;
            else release_all();
        }
    }
}
