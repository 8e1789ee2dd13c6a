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

/* Swift cannot read memory that changes under its hands. */

/* Both copies of the header of the log's index (https://www.sqlite.org/walformat.html, 2.1): every commit of every process
   writes another number into it. */
typedef struct {
    uint64_t words[12];
} csqlite_log_header;

/* Where the header is, for as long as the connection is open; NULL when it is in no memory that processes share. */
static inline const void *csqlite_log_memory(sqlite3 *database) {
    sqlite3_file *file = 0;
    void volatile *memory = 0;
    if (sqlite3_file_control(database, "main", SQLITE_FCNTL_FILE_POINTER, &file) != SQLITE_OK) return 0;
    if (!file || !file->pMethods || file->pMethods->iVersion < 2 || !file->pMethods->xShmMap) return 0;
    if (file->pMethods->xShmMap(file, 0, 32768, 0, &memory) != SQLITE_OK) return 0;
    return (const void *)memory;
}

static inline csqlite_log_header csqlite_log_read(const void *memory) {
    csqlite_log_header header;
    for (int word = 0; word < 12; word++) header.words[word] = ((const volatile uint64_t *)memory)[word];
    return header;
}

/* Whether nothing was committed since the header was read. */
static inline int csqlite_log_is_same(const void *memory, const csqlite_log_header *header) {
    for (int word = 0; word < 12; word++) {
        if (((const volatile uint64_t *)memory)[word] != header->words[word]) return 0;
    }
    return 1;
}

#endif
