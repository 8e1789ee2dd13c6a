#include "bare_curl.h"

#include <curl/curl.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <time.h>
#include <unistd.h>

enum { EVENTS = 512, IDLE_CONNECTIONS = 128, IDLE_SECONDS = 90, DESCRIPTORS = 1 << 16 };

typedef struct {
    CURL *easy;
    char *body;
    size_t length, capacity;
    long fields;
    char error[CURL_ERROR_SIZE];
} transfer;

struct bare_curl {
    CURLM *multi;
    struct curl_slist *headers;
    transfer *transfers;
    long in_flight, started, ended, good, calls;
    int64_t timer; /* when libcurl wants to be called, in milliseconds; -1 when it does not */
    int epoll;
    int is_lazy;
    long buffer;
    /* Of a lean loop, by descriptor: the events that libcurl wants now, and those that the kernel was last told. */
    uint32_t wanted[DESCRIPTORS], told[DESCRIPTORS];
};

static int64_t now(void) {
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (int64_t)time.tv_sec * 1000 + time.tv_nsec / 1000000;
}

static size_t on_header(char *line, size_t size, size_t count, void *context) {
    (void)line;
    ((transfer *)context)->fields += 1;
    return size * count;
}

static size_t on_body(char *bytes, size_t size, size_t count, void *context) {
    transfer *item = context;
    size_t length = item->length + size * count;
    if (length > item->capacity) {
        item->capacity = 2 * length;
        if (!(item->body = realloc(item->body, item->capacity))) return 0;
    }
    memcpy(item->body + item->length, bytes, size * count);
    item->length = length;
    return size * count;
}

static uint32_t events_of(int what) {
    return (what & CURL_POLL_IN ? EPOLLIN : 0) | (what & CURL_POLL_OUT ? EPOLLOUT : 0);
}

/* libcurl lets go of a socket after each response and takes it back for the next request. The lazy form tells the kernel
   of neither: what it was told last mostly holds again, and an event that nobody wants takes the socket off. */
static int on_socket_lazily(CURL *easy, curl_socket_t descriptor, int what, void *context, void *known) {
    bare_curl *loop = context;
    (void)easy, (void)known;
    if (descriptor < 0 || descriptor >= DESCRIPTORS) return -1;
    uint32_t wanted = loop->wanted[descriptor] = what == CURL_POLL_REMOVE ? 0 : events_of(what);
    if (!wanted || wanted == loop->told[descriptor]) return 0;
    struct epoll_event event = {.data.fd = descriptor, .events = wanted};
    epoll_ctl(loop->epoll, loop->told[descriptor] ? EPOLL_CTL_MOD : EPOLL_CTL_ADD, descriptor, &event);
    loop->told[descriptor] = wanted;
    return 0;
}

/* The kernel forgets a descriptor that is closed. */
static int on_close(void *context, curl_socket_t descriptor) {
    bare_curl *loop = context;
    if (descriptor >= 0 && descriptor < DESCRIPTORS) loop->wanted[descriptor] = loop->told[descriptor] = 0;
    return close(descriptor);
}

static int is_wanted(bare_curl *loop, int descriptor) {
    if (!loop->is_lazy || loop->wanted[descriptor]) return 1;
    epoll_ctl(loop->epoll, EPOLL_CTL_DEL, descriptor, NULL);
    loop->told[descriptor] = 0;
    return 0;
}

static int on_socket(CURL *easy, curl_socket_t descriptor, int what, void *context, void *known) {
    bare_curl *loop = context;
    (void)easy;
    if (what == CURL_POLL_REMOVE) {
        epoll_ctl(loop->epoll, EPOLL_CTL_DEL, descriptor, NULL);
        return 0;
    }
    struct epoll_event event = {.data.fd = descriptor, .events = events_of(what)};
    epoll_ctl(loop->epoll, known ? EPOLL_CTL_MOD : EPOLL_CTL_ADD, descriptor, &event);
    curl_multi_assign(loop->multi, descriptor, loop);
    return 0;
}

static int on_timer(CURLM *multi, long milliseconds, void *context) {
    (void)multi;
    ((bare_curl *)context)->timer = milliseconds < 0 ? -1 : now() + milliseconds;
    return 0;
}

/* What PenstockCurl sets for a GET and is not libcurl's default; without the callbacks that only Penstock's own features
   need. */
static int prepare(bare_curl *loop, transfer *item, const char *url, const char *authorities) {
    int is_secure = strncmp(url, "https:", 6) == 0;
    CURL *easy = item->easy = curl_easy_init();
    if (!easy) return 0;
    curl_easy_setopt(easy, CURLOPT_PRIVATE, item);
    curl_easy_setopt(easy, CURLOPT_ERRORBUFFER, item->error);
    curl_easy_setopt(easy, CURLOPT_NOSIGNAL, 1L);
    curl_easy_setopt(easy, CURLOPT_PROTOCOLS_STR, "http,https");
    curl_easy_setopt(easy, CURLOPT_PROXY, "");
    curl_easy_setopt(easy, CURLOPT_PATH_AS_IS, 1L);
    curl_easy_setopt(easy, CURLOPT_HEADERFUNCTION, on_header);
    curl_easy_setopt(easy, CURLOPT_HEADERDATA, item);
    curl_easy_setopt(easy, CURLOPT_WRITEFUNCTION, on_body);
    curl_easy_setopt(easy, CURLOPT_WRITEDATA, item);
    curl_easy_setopt(easy, CURLOPT_TCP_KEEPALIVE, 1L);
    curl_easy_setopt(easy, CURLOPT_CONNECTTIMEOUT_MS, (long)INT32_MAX);
    curl_easy_setopt(easy, CURLOPT_MAXAGE_CONN, (long)IDLE_SECONDS);
    curl_easy_setopt(easy, CURLOPT_ACCEPT_ENCODING, "");
    curl_easy_setopt(easy, CURLOPT_HTTPHEADER, loop->headers);
    curl_easy_setopt(easy, CURLOPT_HTTP_VERSION, (long)(is_secure ? CURL_HTTP_VERSION_2TLS : CURL_HTTP_VERSION_1_1));
    curl_easy_setopt(easy, CURLOPT_PIPEWAIT, (long)is_secure);
    if (loop->is_lazy) {
        curl_easy_setopt(easy, CURLOPT_CLOSESOCKETFUNCTION, on_close);
        curl_easy_setopt(easy, CURLOPT_CLOSESOCKETDATA, loop);
    }
    if (loop->buffer) curl_easy_setopt(easy, CURLOPT_BUFFERSIZE, loop->buffer);
    if (authorities) {
        curl_easy_setopt(easy, CURLOPT_CAINFO, authorities);
        curl_easy_setopt(easy, CURLOPT_CAPATH, NULL);
    }
    return curl_easy_setopt(easy, CURLOPT_URL, url) == CURLE_OK;
}

bare_curl *bare_curl_open(
    const char *url, const char *header, const char *authorities, long in_flight, int is_lazy,
    long buffer) {
    curl_global_init(CURL_GLOBAL_DEFAULT);
    bare_curl *loop = calloc(1, sizeof(bare_curl));
    transfer *transfers = calloc((size_t)in_flight, sizeof(transfer));
    CURLM *multi = curl_multi_init();
    if (!loop || !transfers || !multi) return NULL;
    loop->multi = multi;
    loop->transfers = transfers;
    loop->in_flight = in_flight;
    loop->timer = -1;
    loop->is_lazy = is_lazy;
    loop->buffer = buffer;
    loop->epoll = epoll_create1(EPOLL_CLOEXEC);
    loop->headers = curl_slist_append(curl_slist_append(NULL, header), "Accept:");
    curl_multi_setopt(multi, CURLMOPT_SOCKETFUNCTION, is_lazy ? on_socket_lazily : on_socket);
    curl_multi_setopt(multi, CURLMOPT_SOCKETDATA, loop);
    curl_multi_setopt(multi, CURLMOPT_TIMERFUNCTION, on_timer);
    curl_multi_setopt(multi, CURLMOPT_TIMERDATA, loop);
    curl_multi_setopt(multi, CURLMOPT_PIPELINING, CURLPIPE_MULTIPLEX);
    curl_multi_setopt(multi, CURLMOPT_MAXCONNECTS, in_flight + IDLE_CONNECTIONS);
    for (long index = 0; index < in_flight; index++) {
        if (!prepare(loop, &transfers[index], url, authorities)) return NULL;
    }
    return loop->epoll < 0 || !loop->headers ? NULL : loop;
}

static void start(bare_curl *loop, transfer *item) {
    if (loop->started++ >= loop->calls) return;
    item->length = 0;
    item->fields = 0;
    curl_multi_add_handle(loop->multi, item->easy);
}

static void collect(bare_curl *loop) {
    CURLMsg *message;
    int left;
    while ((message = curl_multi_info_read(loop->multi, &left))) {
        CURL *easy = message->easy_handle;
        CURLcode code = message->data.result; /* the message is gone with its handle */
        char *context = NULL;
        long status = 0;
        curl_easy_getinfo(easy, CURLINFO_PRIVATE, &context);
        curl_easy_getinfo(easy, CURLINFO_RESPONSE_CODE, &status);
        transfer *item = (transfer *)(void *)context;
        curl_multi_remove_handle(loop->multi, easy);
        loop->ended += 1;
        loop->good += code == CURLE_OK && status == 200 && item->fields > 0 && item->length > 0;
        start(loop, item);
    }
}

static int time_left(const bare_curl *loop) {
    if (loop->timer < 0) return -1;
    int64_t left = loop->timer - now();
    return left > 0 ? (int)left : 0;
}

static int selection(uint32_t events) {
    int mask = 0;
    if (events & (EPOLLIN | EPOLLHUP)) mask |= CURL_CSELECT_IN;
    if (events & EPOLLOUT) mask |= CURL_CSELECT_OUT;
    if (events & EPOLLERR) mask |= CURL_CSELECT_ERR;
    return mask;
}

long bare_curl_run(bare_curl *loop, long calls) {
    struct epoll_event events[EVENTS];
    int running;
    loop->started = loop->ended = loop->good = 0;
    loop->calls = calls;
    for (long index = 0; index < loop->in_flight; index++) start(loop, &loop->transfers[index]);
    while (loop->ended < calls) {
        int count = epoll_wait(loop->epoll, events, EVENTS, time_left(loop));
        for (int index = 0; index < count; index++) {
            if (!is_wanted(loop, events[index].data.fd)) continue;
            curl_multi_socket_action(loop->multi, events[index].data.fd, selection(events[index].events), &running);
        }
        collect(loop);
        while (loop->timer >= 0 && loop->timer <= now()) {
            loop->timer = -1;
            curl_multi_socket_action(loop->multi, CURL_SOCKET_TIMEOUT, 0, &running);
            collect(loop);
        }
    }
    return loop->good;
}
