#ifndef PENSTOCK_CSQLITE_SHIM_H
#define PENSTOCK_CSQLITE_SHIM_H

#if !__has_include(<sqlite3.h>)
#error "SQLite is not installed: apt-get install libsqlite3-dev"
#endif

#include <sqlite3.h>
#include <stdint.h>
#include <errno.h>
#include <sys/types.h>
#ifdef __linux__
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>
#endif

/* Swift cannot call variadic C functions. */

/* Refuses SQL that could write to the file behind the back of the engine: the file may not be ours. */
static inline int csqlite_make_defensive(sqlite3 *database) {
    return sqlite3_db_config(database, SQLITE_DBCONFIG_DEFENSIVE, 1, (int *)0);
}

/* Whether the last connection writes the log back into the file when it is closed. */
static inline int csqlite_write_back_at_end(sqlite3 *database, int is_written_back) {
    return sqlite3_db_config(database, SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, !is_written_back, (int *)0);
}

/* Swift cannot call through SQLite's tables of functions, whose entries are optional. */

/* Reads the first `count` bytes of the file, or as many as there are, through the descriptor that SQLite has: to close
   another one would let go of every lock that the process holds on the file (https://www.sqlite.org/howtocorrupt.html, 2.2). */
static inline int csqlite_first_bytes(sqlite3 *database, void *buffer, int count, int *read) {
    sqlite3_file *file = 0;
    sqlite3_int64 size = 0;
    *read = 0;
    int code = sqlite3_file_control(database, "main", SQLITE_FCNTL_FILE_POINTER, &file);
    if (code != SQLITE_OK) return code;
    if (!file || !file->pMethods) return SQLITE_CANTOPEN;
    code = file->pMethods->xFileSize(file, &size);
    if (code != SQLITE_OK) return code;
    if (size < count) count = (int)size;
    code = file->pMethods->xRead(file, buffer, count, 0);
    if (code == SQLITE_OK) *read = count;
    return code;
}

/* Whether the system can be asked for the bytes of a file that it has in memory, and for no others. */
static inline int csqlite_can_read_immediately(void) {
#if defined(__linux__) && defined(SYS_preadv2)
    return 1;
#else
    return 0;
#endif
}

/* Reads as `pread` does, but fails with EAGAIN rather than wait for the disk (RWF_NOWAIT, preadv2(2)). By its number, since the C
   library declares the call for some programs only. The kernel takes the offset in two halves, of which a 64-bit one uses the
   first alone. */
static inline int64_t csqlite_read_immediately(int descriptor, void *buffer, int64_t count, int64_t offset) {
#if defined(__linux__) && defined(SYS_preadv2)
    struct iovec part = {buffer, (size_t)count};
    return syscall(SYS_preadv2, (long)descriptor, &part, 1L, (long)offset, (long)(offset >> 32), 8L);
#else
    (void)descriptor, (void)buffer, (void)count, (void)offset;
    errno = ENOSYS;
    return -1;
#endif
}

#endif
