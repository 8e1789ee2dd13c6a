#ifndef PENSTOCK_CSQLITE_SHIM_H
#define PENSTOCK_CSQLITE_SHIM_H

#include <sqlite3.h>

/* Swift cannot call variadic C functions. */

/* Refuses SQL that could write to the file behind the back of the engine: the file may not be ours. */
static inline int csqlite_make_defensive(sqlite3 *database) {
    return sqlite3_db_config(database, SQLITE_DBCONFIG_DEFENSIVE, 1, (int *)0);
}

#endif
