#ifndef PENSTOCK_BARE_ECHO_H
#define PENSTOCK_BARE_ECHO_H

/* One WebSocket over a connection that libcurl makes and leaves alone, on the caller's thread. */
typedef struct bare_echo bare_echo;

/* Connects to `url`, whose scheme is http, and has the protocol changed; NULL when that failed. */
bare_echo *bare_echo_open(const char *url);

/* Sends `calls` binary messages of `size` bytes, at most 65,535, each once the one before it has come back. Returns how many came back. */
long bare_echo_run(bare_echo *socket, long calls, long size);

#endif
