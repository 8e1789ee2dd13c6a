#include "bare_echo.h"

#include <curl/curl.h>
#include <poll.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

enum { BUFFER = 1 << 17, HEAD = 4, MASK = 4 };

struct bare_echo {
    CURL *easy;
    curl_socket_t descriptor;
    unsigned char in[BUFFER], out[BUFFER];
    size_t count;
    uint64_t random;
};

static int wait_for(bare_echo *socket, short events) {
    struct pollfd item = {.fd = socket->descriptor, .events = events};
    return poll(&item, 1, -1) > 0;
}

static int say(bare_echo *socket, const void *data, size_t length) {
    const unsigned char *next = data;
    while (length > 0) {
        size_t sent = 0;
        CURLcode code = curl_easy_send(socket->easy, next, length, &sent);
        if (code == CURLE_AGAIN) {
            if (!wait_for(socket, POLLOUT)) return 0;
            continue;
        }
        if (code != CURLE_OK) return 0;
        next += sent;
        length -= sent;
    }
    return 1;
}

static int hear(bare_echo *socket) {
    for (;;) {
        size_t more = 0;
        CURLcode code = curl_easy_recv(socket->easy, socket->in + socket->count, BUFFER - 1 - socket->count, &more);
        if (code == CURLE_AGAIN) {
            if (!wait_for(socket, POLLIN)) return 0;
            continue;
        }
        if (code != CURLE_OK || more == 0) return 0;
        socket->count += more;
        socket->in[socket->count] = 0;
        return 1;
    }
}

static void drop(bare_echo *socket, size_t length) {
    socket->count -= length;
    memmove(socket->in, socket->in + length, socket->count);
}

bare_echo *bare_echo_open(const char *url) {
    curl_global_init(CURL_GLOBAL_DEFAULT);
    bare_echo *socket = calloc(1, sizeof(bare_echo));
    if (!socket || !(socket->easy = curl_easy_init())) return NULL;
    curl_easy_setopt(socket->easy, CURLOPT_URL, url);
    curl_easy_setopt(socket->easy, CURLOPT_CONNECT_ONLY, 1L);
    curl_easy_setopt(socket->easy, CURLOPT_PROXY, "");
    if (curl_easy_perform(socket->easy) != CURLE_OK) return NULL;
    if (curl_easy_getinfo(socket->easy, CURLINFO_ACTIVESOCKET, &socket->descriptor) != CURLE_OK) return NULL;
    if (getrandom(&socket->random, sizeof socket->random, 0) != sizeof socket->random) return NULL;
    socket->random |= 1;
    const char *request =
        "GET / HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n"
        "Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n";
    if (!say(socket, request, strlen(request))) return NULL;
    char *end;
    while (!(end = strstr((char *)socket->in, "\r\n\r\n"))) {
        if (!hear(socket)) return NULL;
    }
    if (!strstr((char *)socket->in, "s3pPLMBiTxaQ9kYGzzhZRbK+xOo=")) return NULL;
    drop(socket, (size_t)(end + 4 - (char *)socket->in));
    return socket;
}

/* A new mask for each frame, as RFC 6455 §5.3 wants; from xorshift, which nobody should take for a random that is hard to guess. */
static uint32_t new_mask(bare_echo *socket) {
    socket->random ^= socket->random << 13;
    socket->random ^= socket->random >> 7;
    socket->random ^= socket->random << 17;
    return (uint32_t)socket->random;
}

static int send_message(bare_echo *socket, const unsigned char *payload, size_t size) {
    uint32_t mask = new_mask(socket);
    unsigned char *frame = socket->out, *key = frame + (size < 126 ? 2 : HEAD);
    frame[0] = 0x82;
    frame[1] = (unsigned char)(0x80 | (size < 126 ? size : 126));
    if (size >= 126) {
        frame[2] = (unsigned char)(size >> 8);
        frame[3] = (unsigned char)size;
    }
    memcpy(key, &mask, MASK);
    for (size_t index = 0; index < size; index++) key[MASK + index] = payload[index] ^ key[index & 3];
    return say(socket, frame, (size_t)(key - frame) + MASK + size);
}

static int receive_message(bare_echo *socket, const unsigned char *payload, size_t size) {
    size_t head = size < 126 ? 2 : HEAD;
    while (socket->count < head + size) {
        if (!hear(socket)) return 0;
    }
    int is_right = socket->in[0] == 0x82 && memcmp(socket->in + head, payload, size) == 0;
    drop(socket, head + size);
    return is_right;
}

long bare_echo_run(bare_echo *socket, long calls, long size) {
    long good = 0;
    unsigned char *payload = calloc(1, (size_t)size + 1);
    if (!payload) return 0;
    for (long index = 0; index < calls; index++) {
        memset(payload, (int)(index & 0xFF), (size_t)size);
        if (!send_message(socket, payload, (size_t)size)) break;
        good += receive_message(socket, payload, (size_t)size);
    }
    free(payload);
    return good;
}
