#ifndef PENSTOCK_CKERNELKEYRING_SHIM_H
#define PENSTOCK_CKERNELKEYRING_SHIM_H

#if !__has_include(<linux/keyctl.h>)
#error "The kernel's headers are not installed: apt-get install linux-libc-dev"
#endif

#include <linux/keyctl.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/syscall.h>
#include <unistd.h>

/* The system calls for the kernel's keys (keyrings(7)). The C library has no functions for them, and Swift cannot call
   `syscall`, which is variadic. Each returns -1 and sets `errno` where it fails. */

/* Puts a key of the type "user" into the user's keyring, in place of one of the same name. Programs of the user may find and
   read it whatever session they run in, and nobody else may. */
static inline int32_t ckernelkeyring_add(const char *name, const void *content, size_t size) {
    long key = syscall(SYS_add_key, "user", name, content, size, KEY_SPEC_USER_KEYRING);
    if (key < 0) return -1;
    /* KEY_POS_ALL, KEY_USR_VIEW, KEY_USR_READ, KEY_USR_WRITE, KEY_USR_SEARCH of the kernel's include/linux/key.h */
    if (syscall(SYS_keyctl, KEYCTL_SETPERM, key, 0x3f0f0000) < 0) return -1;
    return (int32_t)key;
}

/* Looks where the process may, and in the user's keyring, which not every session is linked to. */
static inline int32_t ckernelkeyring_find(const char *name) {
    long key = syscall(SYS_request_key, "user", name, NULL, 0);
    if (key < 0) key = syscall(SYS_keyctl, KEYCTL_SEARCH, KEY_SPEC_USER_KEYRING, "user", name, 0);
    return (int32_t)key;
}

/* How many bytes the key has, of which as many as fit were copied. */
static inline long ckernelkeyring_read(int32_t key, void *buffer, size_t size) {
    return syscall(SYS_keyctl, KEYCTL_READ, key, buffer, size);
}

static inline int ckernelkeyring_set_timeout(int32_t key, uint32_t seconds) {
    return (int)syscall(SYS_keyctl, KEYCTL_SET_TIMEOUT, key, seconds);
}

static inline int ckernelkeyring_remove(int32_t key) {
    return (int)syscall(SYS_keyctl, KEYCTL_UNLINK, key, KEY_SPEC_USER_KEYRING);
}

#endif
