#ifndef PENSTOCK_CSQLITE_SHIM_H
#define PENSTOCK_CSQLITE_SHIM_H

#if !__has_include(<sqlite3.h>)
#error "SQLite is not installed: apt-get install libsqlite3-dev"
#endif

#include <sqlite3.h>
#include <stdint.h>

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

#endif
