#ifdef __linux__
#include "internal.h"

#include <curl/curl.h>
#include <errno.h>

/* What each call is known to fail with, by its manual. 1 stands for a null pointer. */
static const struct {
    const char *name;
    int codes[6];
} kinds[torture_kinds] = {
    [torture_allocation] = {"allocation", {1}},
    [torture_easy_init] = {"curl_easy_init", {1}},
    [torture_easy_setopt] = {"curl_easy_setopt", {CURLE_OUT_OF_MEMORY, CURLE_UNKNOWN_OPTION, CURLE_NOT_BUILT_IN}},
    [torture_easy_getinfo] = {"curl_easy_getinfo", {CURLE_UNKNOWN_OPTION, CURLE_BAD_FUNCTION_ARGUMENT}},
    [torture_easy_pause] =
        {"curl_easy_pause",
         {CURLE_ABORTED_BY_CALLBACK, CURLE_OUT_OF_MEMORY, CURLE_WRITE_ERROR, CURLE_RECV_ERROR}},
    [torture_multi_init] = {"curl_multi_init", {1}},
    [torture_multi_setopt] = {"curl_multi_setopt", {CURLM_UNKNOWN_OPTION, CURLM_OUT_OF_MEMORY}},
    [torture_multi_add_handle] = {"curl_multi_add_handle", {CURLM_OUT_OF_MEMORY, CURLM_INTERNAL_ERROR}},
    [torture_multi_remove_handle] = {"curl_multi_remove_handle", {CURLM_RECURSIVE_API_CALL}},
    [torture_multi_socket_action] = {"curl_multi_socket_action", {CURLM_OUT_OF_MEMORY, CURLM_INTERNAL_ERROR}},
    [torture_slist_append] = {"curl_slist_append", {1}},
    [torture_global_init] = {"curl_global_init", {CURLE_FAILED_INIT, CURLE_OUT_OF_MEMORY}},
    [torture_socket] = {"socket", {EMFILE, ENFILE, ENOBUFS, EACCES, EAFNOSUPPORT}},
    [torture_socketpair] = {"socketpair", {EMFILE, ENFILE}},
    [torture_connect] = {"connect", {ECONNREFUSED, ENETUNREACH, ETIMEDOUT, EADDRNOTAVAIL, EINTR}},
    [torture_send] = {"send", {ECONNRESET, EAGAIN, EINTR, EPIPE, ENOBUFS}},
    [torture_recv] = {"recv", {ECONNRESET, EAGAIN, EINTR, ENOMEM, ETIMEDOUT}},
    [torture_poll] = {"poll", {EINTR, ENOMEM}},
    [torture_fcntl] = {"fcntl", {EINVAL}},
    [torture_setsockopt] = {"setsockopt", {ENOPROTOOPT, ENOMEM}},
    [torture_getsockopt] = {"getsockopt", {ENOBUFS, ENOMEM}},
    [torture_getsockname] = {"getsockname", {ENOBUFS}},
    [torture_getpeername] = {"getpeername", {ENOTCONN, ENOBUFS}},
    [torture_epoll_create] = {"epoll_create1", {EMFILE, ENFILE, ENOMEM}},
    [torture_epoll_ctl] = {"epoll_ctl", {ENOMEM, ENOSPC}},
    [torture_epoll_wait] = {"epoll_wait", {EINTR}},
    [torture_eventfd] = {"eventfd", {EMFILE, ENFILE, ENOMEM}},
    [torture_thread] = {"pthread_create", {EAGAIN}},
};

const char *torture_name(torture_kind kind) { return kinds[kind].name; }
int torture_code(torture_kind kind, size_t index) { return index < 6 ? kinds[kind].codes[index] : 0; }

#endif
