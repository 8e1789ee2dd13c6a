#ifdef __linux__
#define CURL_DISABLE_TYPECHECK
#include "internal.h"

#include <curl/curl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The header has macros of these names, which check the types of arguments. */
#undef curl_easy_setopt
#undef curl_easy_getinfo
#undef curl_multi_setopt

/* Goes on, or fails with a code of libcurl's. */
#define PASS(kind, name, type, ...) \
    NEXT(name); \
    int code = torture_hit(kind, CALLER); \
    return code == 0 ? next(__VA_ARGS__) : (type)code

/* The same for functions that give a pointer. */
#define PASS_POINTER(kind, name, ...) \
    NEXT(name); \
    return torture_hit(kind, CALLER) == 0 ? next(__VA_ARGS__) : NULL

/* The one argument of options: numbers and pointers are passed alike where both have 64 bits. */
#define ARGUMENT(last) \
    va_list arguments; \
    va_start(arguments, last); \
    void *argument = va_arg(arguments, void *); \
    va_end(arguments)

CURLcode curl_global_init(long flags) { PASS(torture_global_init, curl_global_init, CURLcode, flags); }

CURL *curl_easy_init(void) { PASS_POINTER(torture_easy_init, curl_easy_init); }

CURLcode curl_easy_setopt(CURL *easy, CURLoption option, ...) {
    ARGUMENT(option);
    PASS(torture_easy_setopt, curl_easy_setopt, CURLcode, easy, option, argument);
}

CURLcode curl_easy_getinfo(CURL *easy, CURLINFO info, ...) {
    ARGUMENT(info);
    PASS(torture_easy_getinfo, curl_easy_getinfo, CURLcode, easy, info, argument);
}

CURLM *curl_multi_init(void) { PASS_POINTER(torture_multi_init, curl_multi_init); }

CURLMcode curl_multi_setopt(CURLM *multi, CURLMoption option, ...) {
    ARGUMENT(option);
    PASS(torture_multi_setopt, curl_multi_setopt, CURLMcode, multi, option, argument);
}

CURLMcode curl_multi_add_handle(CURLM *multi, CURL *easy) {
    PASS(torture_multi_add_handle, curl_multi_add_handle, CURLMcode, multi, easy);
}

CURLMcode curl_multi_remove_handle(CURLM *multi, CURL *easy) {
    PASS(torture_multi_remove_handle, curl_multi_remove_handle, CURLMcode, multi, easy);
}

struct curl_slist *curl_slist_append(struct curl_slist *list, const char *text) {
    PASS_POINTER(torture_slist_append, curl_slist_append, list, text);
}

/* MARK: Going on after a failure */

/* Where it fails in the middle of its work, libcurl 7.88 may have forgotten who uses a socket, and divides by zero when it
   goes on: it must not be called again but to let go. (Of the only multi handle there is.) */
static atomic_bool is_broken;
static atomic_long uses_after;

static void note_use(void) {
    if (atomic_load(&is_broken)) atomic_fetch_add(&uses_after, 1);
}

long torture_uses_after_failure(void) { return atomic_exchange(&uses_after, 0); }

/* It fails after its work. Content that nobody takes is let go of so, and that goes no further. */
CURLcode curl_easy_pause(CURL *easy, int bits) {
    NEXT(curl_easy_pause);
    CURLcode forced = (CURLcode)torture_hit(torture_easy_pause, CALLER);
    CURLcode code = next(easy, bits);
    if (code != CURLE_WRITE_ERROR) note_use();
    if (forced != CURLE_OK) code = forced;
    if (code == CURLE_ABORTED_BY_CALLBACK) atomic_store(&is_broken, true);
    return code;
}

CURLMcode curl_multi_socket_action(CURLM *multi, curl_socket_t socket, int events, int *running) {
    NEXT(curl_multi_socket_action);
    note_use();
    CURLMcode code = (CURLMcode)torture_hit(torture_multi_socket_action, CALLER);
    if (code == CURLM_OK) code = next(multi, socket, events, running);
    if (code != CURLM_OK) atomic_store(&is_broken, true);
    return code;
}

CURLMcode curl_multi_cleanup(CURLM *multi) {
    NEXT(curl_multi_cleanup);
    atomic_store(&is_broken, false);
    return next(multi);
}

/* MARK: Allocations */

/* libcurl's own hook. What it asks for is counted whoever stands in between. */
#define ALLOCATE(...) return torture_hit(torture_allocation, (const void *)torture_prepare) == 0 ? __VA_ARGS__ : NULL

static void *allocate(size_t size) { ALLOCATE(malloc(size)); }
static void *allocate_zeroed(size_t count, size_t size) { ALLOCATE(calloc(count, size)); }
static void *reallocate(void *memory, size_t size) { ALLOCATE(realloc(memory, size)); }
static char *duplicate(const char *text) { ALLOCATE(strdup(text)); }

bool torture_prepare(void) {
    // What was said is to be read even if the process does not end well.
    setvbuf(stdout, NULL, _IOLBF, 0);
    return curl_global_init_mem(CURL_GLOBAL_DEFAULT, allocate, free, reallocate, duplicate, allocate_zeroed) == CURLE_OK;
}

#endif
