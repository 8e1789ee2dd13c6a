#ifndef PENSTOCK_CKERNELKEYRING_SHIM_H
#define PENSTOCK_CKERNELKEYRING_SHIM_H

#if !__has_include(<linux/keyctl.h>)
#error "The kernel's headers are not installed: apt-get install linux-libc-dev"
#endif

#include <errno.h>
#include <linux/keyctl.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/syscall.h>
#include <unistd.h>

/* The system calls for the kernel's keys (keyrings(7)). The C library has no functions for them, and Swift cannot call
   `syscall`, which is variadic. Each returns -1 and sets `errno` where it fails. */

/* Puts a key of the type "user" into a keyring, in place of one of the same name. Programs of the user may read it
   whatever session they run in, if they find the keyring, and nobody else may. It is made in the thread's own keyring,
   since a session need not be linked to the user's: then the process may not say who reads what is there. So nobody
   sees it before it is complete. With 0 seconds it stays for good. */
static inline int ckernelkeyring_add(
    const char *name, const void *content, size_t size, uint32_t seconds, int32_t keyring) {
    long key = syscall(SYS_add_key, "user", name, content, size, KEY_SPEC_THREAD_KEYRING);
    if (key < 0) return -1;
    /* KEY_POS_ALL, KEY_USR_VIEW, KEY_USR_READ, KEY_USR_WRITE, KEY_USR_SEARCH of the kernel's include/linux/key.h */
    int is_added = syscall(SYS_keyctl, KEYCTL_SETPERM, key, 0x3f0f0000) >= 0
        && (seconds == 0 || syscall(SYS_keyctl, KEYCTL_SET_TIMEOUT, key, seconds) >= 0)
        && syscall(SYS_keyctl, KEYCTL_LINK, key, keyring) >= 0;
    int reason = errno;
    syscall(SYS_keyctl, KEYCTL_UNLINK, key, KEY_SPEC_THREAD_KEYRING);
    errno = reason;
    return is_added ? 0 : -1;
}

/* Looks in one keyring, and in those that are linked to it. */
static inline int32_t ckernelkeyring_find(const char *name, int32_t keyring) {
    return (int32_t)syscall(SYS_keyctl, KEYCTL_SEARCH, keyring, "user", name, 0);
}

/* Looks in all keyrings that the thread, the process and the session have. */
static inline int32_t ckernelkeyring_find_anywhere(const char *name) {
    return (int32_t)syscall(SYS_request_key, "user", name, NULL, 0);
}

/* How many bytes the key has, of which as many as fit were copied. */
static inline long ckernelkeyring_read(int32_t key, void *buffer, size_t size) {
    return syscall(SYS_keyctl, KEYCTL_READ, key, buffer, size);
}

static inline int ckernelkeyring_remove(int32_t key, int32_t keyring) {
    return (int)syscall(SYS_keyctl, KEYCTL_UNLINK, key, keyring);
}

#endif
