#ifndef PENSTOCK_CCURL_SHIM_H
#define PENSTOCK_CCURL_SHIM_H

#if !__has_include(<curl/curl.h>)
#error "libcurl is not installed: apt-get install libcurl4-openssl-dev"
#endif

#include <curl/curl.h>
#include <errno.h>
#include <poll.h>
#include <sys/epoll.h>   /* not part of the Glibc module */
#include <sys/eventfd.h> /* not part of the Glibc module */
#include <sys/ioctl.h>
#include <sys/uio.h>
#include <linux/sockios.h>

/* Waits until a socket can be read, for less than a second. The Glibc module does not have ppoll. */
static inline int ccurl_wait_to_read(int descriptor, long nanoseconds) {
    struct pollfd entry = {.fd = descriptor, .events = POLLIN};
    struct timespec limit = {.tv_nsec = nanoseconds};
    return ppoll(&entry, 1, &limit, NULL) > 0;
}

/* Swift cannot call variadic C functions. Each wrapper below fixes the one argument type its options take, so that a
   value of another width cannot reach libcurl. */

/* Options that take a number or a switch. */
static inline CURLcode ccurl_set_long(CURL *easy, CURLoption option, long value) {
    return curl_easy_setopt(easy, option, value);
}

/* Options that take a length: `curl_off_t` is passed differently from `long` on some machines. */
static inline CURLcode ccurl_set_size(CURL *easy, CURLoption option, curl_off_t value) {
    return curl_easy_setopt(easy, option, value);
}

/* Options that take text, which libcurl copies; NULL puts the default back. */
static inline CURLcode ccurl_set_text(CURL *easy, CURLoption option, const char *value) {
    return curl_easy_setopt(easy, option, value);
}

/* Options that take a pointer libcurl keeps: callback data, lists, the error buffer. */
static inline CURLcode ccurl_set_pointer(CURL *easy, CURLoption option, void *value) {
    return curl_easy_setopt(easy, option, value);
}

/* The header, body and read callbacks share one C type, so a mistake in order would compile with a plain pointer. */
static inline CURLcode ccurl_set_data_callback(
    CURL *easy, CURLoption option, size_t (*callback)(char *, size_t, size_t, void *)) {
    return curl_easy_setopt(easy, option, callback);
}

/* Rewinds a request body. */
static inline CURLcode ccurl_set_seek_callback(CURL *easy, curl_seek_callback callback) {
    return curl_easy_setopt(easy, CURLOPT_SEEKFUNCTION, callback);
}

/* Asked before each attempt at sending the request. */
static inline CURLcode ccurl_set_prereq_callback(CURL *easy, curl_prereq_callback callback) {
    return curl_easy_setopt(easy, CURLOPT_PREREQFUNCTION, callback);
}

/* Told when a name look-up starts. */
static inline CURLcode ccurl_set_resolver_callback(CURL *easy, curl_resolver_start_callback callback) {
    return curl_easy_setopt(easy, CURLOPT_RESOLVER_START_FUNCTION, callback);
}

/* Opens each socket. */
static inline CURLcode ccurl_set_open_callback(CURL *easy, curl_opensocket_callback callback) {
    return curl_easy_setopt(easy, CURLOPT_OPENSOCKETFUNCTION, callback);
}

/* Closes each socket. */
static inline CURLcode ccurl_set_close_callback(CURL *easy, curl_closesocket_callback callback) {
    return curl_easy_setopt(easy, CURLOPT_CLOSESOCKETFUNCTION, callback);
}

/* Numeric options of a multi handle. */
static inline CURLMcode ccurl_multi_set_long(CURLM *multi, CURLMoption option, long value) {
    return curl_multi_setopt(multi, option, value);
}

/* Callback data of a multi handle. */
static inline CURLMcode ccurl_multi_set_pointer(CURLM *multi, CURLMoption option, void *value) {
    return curl_multi_setopt(multi, option, value);
}

/* Asked for each new TLS connection, with the TLS library's own object for its rules. */
static inline CURLcode ccurl_set_tls_callback(CURL *easy, curl_ssl_ctx_callback callback) {
    return curl_easy_setopt(easy, CURLOPT_SSL_CTX_FUNCTION, callback);
}

/* Told now and then while a transfer moves, and once more when it ends. */
static inline CURLcode ccurl_set_progress_callback(CURL *easy, curl_xferinfo_callback callback) {
    return curl_easy_setopt(easy, CURLOPT_XFERINFOFUNCTION, callback);
}

/* Told what libcurl would print of a transfer. */
static inline CURLcode ccurl_set_debug_callback(CURL *easy, curl_debug_callback callback) {
    return curl_easy_setopt(easy, CURLOPT_DEBUGFUNCTION, callback);
}

/* OpenSSL's own object for the connection of a transfer under way; NULL without TLS, or with another library. */
static inline void *ccurl_openssl_session(CURL *easy) {
    struct curl_tlssessioninfo *info = NULL;
    curl_easy_getinfo(easy, CURLINFO_TLS_SSL_PTR, &info);
    return info && info->backend == CURLSSLBACKEND_OPENSSL ? info->internals : NULL;
}

/* Tells which sockets to watch. */
static inline CURLMcode ccurl_multi_set_socket_callback(CURLM *multi, curl_socket_callback callback) {
    return curl_multi_setopt(multi, CURLMOPT_SOCKETFUNCTION, callback);
}

/* Tells when to call again. */
static inline CURLMcode ccurl_multi_set_timer_callback(CURLM *multi, curl_multi_timer_callback callback) {
    return curl_multi_setopt(multi, CURLMOPT_TIMERFUNCTION, callback);
}

/* The pointer a handle was given as CURLOPT_PRIVATE. */
static inline void *ccurl_private(CURL *easy) {
    char *value = NULL;
    curl_easy_getinfo(easy, CURLINFO_PRIVATE, &value);
    return value;
}

/* One number about a transfer; -1 where libcurl does not tell, which is none of the numbers asked for. */
static inline long ccurl_get_long(CURL *easy, CURLINFO info) {
    long value = 0;
    return curl_easy_getinfo(easy, info, &value) == CURLE_OK ? value : -1;
}

/* The socket of a connection that was made for its own sake. */
static inline CURLcode ccurl_get_socket(CURL *easy, curl_socket_t *socket) {
    return curl_easy_getinfo(easy, CURLINFO_ACTIVESOCKET, socket);
}

/* How many bytes of content came. */
static inline curl_off_t ccurl_get_received(CURL *easy) {
    curl_off_t value = 0;
    curl_easy_getinfo(easy, CURLINFO_SIZE_DOWNLOAD_T, &value);
    return value;
}

/* How many bytes of a request's body were given to the socket. */
static inline curl_off_t ccurl_get_sent(CURL *easy) {
    curl_off_t value = 0;
    curl_easy_getinfo(easy, CURLINFO_SIZE_UPLOAD_T, &value);
    return value;
}

/* A macro with a cast, which Swift does not import. */
static const long ccurl_auth_basic = (long)CURLAUTH_BASIC;

/* What a transfer leaves behind; times are microseconds from its start. */
typedef struct {
    curl_off_t name_lookup, connected, secured, request_start, response_start, total;
    curl_off_t body_sent, body_received;
    long connects, port;
    const char *address;
} ccurl_facts;

/* One call into C in place of eleven. */
static inline ccurl_facts ccurl_get_facts(CURL *easy) {
    ccurl_facts facts = {0};
    curl_easy_getinfo(easy, CURLINFO_NAMELOOKUP_TIME_T, &facts.name_lookup);
    curl_easy_getinfo(easy, CURLINFO_CONNECT_TIME_T, &facts.connected);
    curl_easy_getinfo(easy, CURLINFO_APPCONNECT_TIME_T, &facts.secured);
    curl_easy_getinfo(easy, CURLINFO_PRETRANSFER_TIME_T, &facts.request_start);
    curl_easy_getinfo(easy, CURLINFO_STARTTRANSFER_TIME_T, &facts.response_start);
    curl_easy_getinfo(easy, CURLINFO_TOTAL_TIME_T, &facts.total);
    curl_easy_getinfo(easy, CURLINFO_SIZE_UPLOAD_T, &facts.body_sent);
    curl_easy_getinfo(easy, CURLINFO_SIZE_DOWNLOAD_T, &facts.body_received);
    curl_easy_getinfo(easy, CURLINFO_NUM_CONNECTS, &facts.connects);
    curl_easy_getinfo(easy, CURLINFO_PRIMARY_PORT, &facts.port);
    curl_easy_getinfo(easy, CURLINFO_PRIMARY_IP, &facts.address);
    return facts;
}

/* How many bytes that were written to a TCP socket the other end has not confirmed; -1 where the system does not tell. */
static inline int ccurl_unconfirmed(int descriptor) {
    int count = 0;
    return ioctl(descriptor, SIOCOUTQ, &count) == 0 ? count : -1;
}

/* Reads what the system has of a file in memory; -1 where that is nothing, or the file's system does not tell. The Glibc module does
   not have preadv2, and hides the name of its flag, RWF_NOWAIT. */
static inline ssize_t ccurl_read_from_memory(int descriptor, void *memory, size_t count, off_t offset) {
    struct iovec part = {.iov_base = memory, .iov_len = count};
    return preadv2(descriptor, &part, 1, offset, 0x8);
}

/* What a look at a socket finds without taking anything from it or waiting. The flags of recv are an enumeration of the
   system's headers, which Swift finds in one module or another depending on what else a build imports. */
typedef enum { ccurl_socket_quiet, ccurl_socket_readable, ccurl_socket_ended } ccurl_socket_news;

static inline ccurl_socket_news ccurl_peek(int descriptor) {
    char byte;
    ssize_t count = recv(descriptor, &byte, 1, MSG_PEEK | MSG_DONTWAIT);
    if (count > 0) return ccurl_socket_readable;
    if (count == 0) return ccurl_socket_ended;
    /* Any other error is news, and comes out when libcurl reads. */
    return errno == EAGAIN || errno == EINTR ? ccurl_socket_quiet : ccurl_socket_readable;
}

#endif
