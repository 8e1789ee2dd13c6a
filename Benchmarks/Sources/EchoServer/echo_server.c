#define _GNU_SOURCE
#include "echo_server.h"

#include <arpa/inet.h>
#include <netinet/tcp.h>
#include <openssl/evp.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

enum { BUFFER = 1 << 17, HEAD = 4, MASK = 4 };

static unsigned char bytes[BUFFER];
static size_t count;

static int say(int descriptor, const void *data, size_t length) {
    const unsigned char *next = data;
    while (length > 0) {
        ssize_t sent = send(descriptor, next, length, MSG_NOSIGNAL);
        if (sent <= 0) return 0;
        next += sent;
        length -= (size_t)sent;
    }
    return 1;
}

/* Reads what there is behind what was read. */
static int hear(int descriptor) {
    ssize_t more = recv(descriptor, bytes + count, BUFFER - 1 - count, 0);
    if (more <= 0) return 0;
    count += (size_t)more;
    bytes[count] = 0;
    return 1;
}

static void drop(size_t length) {
    count -= length;
    memmove(bytes, bytes + length, count);
}

/* Proves that the key was read (§4.2.2). */
static int shake_hands(int descriptor) {
    char *end;
    while (!(end = strstr((char *)bytes, "\r\n\r\n"))) {
        if (!hear(descriptor)) return 0;
    }
    char *key = strcasestr((char *)bytes, "\r\nSec-WebSocket-Key: ");
    if (!key) return 0;
    char text[128];
    unsigned char digest[EVP_MAX_MD_SIZE], proof[64];
    unsigned int length = 0;
    snprintf(text, sizeof text, "%.24s258EAFA5-E914-47DA-95CA-C5AB0DC85B11", key + 21);
    if (!EVP_Digest(text, strlen(text), digest, &length, EVP_sha1(), NULL)) return 0;
    EVP_EncodeBlock(proof, digest, (int)length);
    char answer[256];
    snprintf(
        answer, sizeof answer,
        "HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Accept: %s\r\n\r\n", proof);
    drop((size_t)(end + 4 - (char *)bytes));
    return say(descriptor, answer, strlen(answer));
}

/* Sends the frame back that the bytes begin with, once it is whole. A client's frames have masks (§5.1), a server's have none. */
static int echo(int descriptor) {
    while (count < 2) {
        if (!hear(descriptor)) return 0;
    }
    size_t length = bytes[1] & 0x7F, head = 2;
    if (length == 127 || !(bytes[1] & 0x80)) return 0;
    if (length == 126) {
        head = HEAD;
        while (count < HEAD) {
            if (!hear(descriptor)) return 0;
        }
        length = (size_t)bytes[2] << 8 | bytes[3];
    }
    while (count < head + MASK + length) {
        if (!hear(descriptor)) return 0;
    }
    unsigned char *mask = bytes + head, *payload = mask + MASK;
    for (size_t index = 0; index < length; index++) payload[index] ^= mask[index & 3];
    /* The head of the answer stands directly before the payload, in the place of the mask. */
    unsigned char *frame = bytes + MASK, opcode = bytes[0];
    memmove(frame, bytes, head);
    frame[0] = opcode;
    frame[1] &= 0x7F;
    int is_sent = say(descriptor, frame, head + length);
    drop(head + MASK + length);
    return is_sent && (opcode & 0x0F) != 8;
}

int echo_server_run(void) {
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t size = sizeof address;
    int listener = socket(AF_INET, SOCK_STREAM, 0), one = 1;
    if (listener < 0 || bind(listener, (struct sockaddr *)&address, size) < 0 || listen(listener, 1) < 0
        || getsockname(listener, (struct sockaddr *)&address, &size) < 0)
        return 1;
    printf("%d\n", ntohs(address.sin_port));
    fflush(stdout);
    int descriptor = accept(listener, NULL, NULL);
    if (descriptor < 0) return 1;
    setsockopt(descriptor, IPPROTO_TCP, TCP_NODELAY, &one, sizeof one);
    if (!shake_hands(descriptor)) return 1;
    while (echo(descriptor)) {}
    close(descriptor);
    return 0;
}
