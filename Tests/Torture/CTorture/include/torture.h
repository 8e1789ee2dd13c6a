#ifndef PENSTOCK_TORTURE_H
#define PENSTOCK_TORTURE_H

#include <stdbool.h>
#include <stddef.h>

/* Lets one chosen call fail, out of all those that libcurl makes to the system and that this program makes to libcurl and
   to the system. The functions are interposed by name, so whatever links this is nothing but a test. Calls from other
   libraries are let through and not counted. */

/* What can fail. */
typedef enum {
    torture_allocation,
    torture_easy_init,
    torture_easy_setopt,
    torture_easy_getinfo,
    torture_easy_pause,
    torture_multi_init,
    torture_multi_setopt,
    torture_multi_add_handle,
    torture_multi_remove_handle,
    torture_multi_socket_action,
    torture_slist_append,
    torture_global_init,
    torture_socket,
    torture_socketpair,
    torture_connect,
    torture_send,
    torture_recv,
    torture_poll,
    torture_fcntl,
    torture_setsockopt,
    torture_getsockopt,
    torture_getsockname,
    torture_getpeername,
    torture_epoll_create,
    torture_epoll_ctl,
    torture_epoll_wait,
    torture_eventfd,
    torture_thread,
    torture_kinds
} torture_kind;

/* Names for people. */
const char *torture_name(torture_kind kind);
/* The codes a call of this kind can fail with, as `errno` or as libcurl's own; 0 past the last. */
int torture_code(torture_kind kind, size_t index);

/* Routes libcurl's allocations through here. Before anything else of libcurl; false when that failed. */
bool torture_prepare(void);

/* Counts from 0 again, and lets the `number`-th call of the kind fail with the code, and all that follow it if `lasting`.
   0 lets none fail. */
void torture_arm(torture_kind kind, long number, int code, bool lasting);
/* Lets everything through. */
void torture_disarm(void);
/* How many calls of the kind there were since the last arming. */
long torture_count(torture_kind kind);
/* Whether the chosen call was made. */
bool torture_has_fired(void);

/* How often libcurl was called, but to let go, after it had failed in the middle of its work. Counts from 0 again. */
long torture_uses_after_failure(void);

/* Ends the process unless it is called again within so many seconds; 0 stops the watch. Before the end it says what was
   armed, and where each thread stands. */
void torture_watch(unsigned seconds, const char *what);

#endif
