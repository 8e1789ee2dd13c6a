#ifndef PENSTOCK_BARE_CURL_H
#define PENSTOCK_BARE_CURL_H

/* GET requests through one libcurl multi handle, driven by epoll on the caller's thread. */
typedef struct bare_curl bare_curl;

/* A loop that keeps `in_flight` requests to `url`, each with one header line, under way, for the life of the process;
   NULL when something could not be had. `authorities` is a PEM file for https, or NULL for the system's.
   A lazy loop tells the kernel of a socket only what has changed since it was told last. `buffer` is what libcurl receives
   into, in bytes; 0 for its default of 16 KiB. */
bare_curl *bare_curl_open(const char *url, const char *header, const char *authorities, long in_flight,
                          int is_lazy, long buffer);

/* Performs `calls` requests. Returns how many ended with status 200 and a body. */
long bare_curl_run(bare_curl *loop, long calls);

#endif
