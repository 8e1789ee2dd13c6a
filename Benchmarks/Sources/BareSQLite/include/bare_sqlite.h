#ifndef PENSTOCK_BARE_SQLITE_H
#define PENSTOCK_BARE_SQLITE_H

#include <stdint.h>

/* The next number of a sequence that looks random: splitmix64. */
uint64_t bare_sqlite_draw(uint64_t *state);

/* Makes a file at `path` with one table of `rows` rows, each with an integer key that looks random and two blobs of these
   lengths. Returns 0, or -1 when something could not be done. */
int bare_sqlite_fill(const char *path, long rows, int head_length, int content_length);

/* One connection to such a file, with one prepared statement. */
typedef struct bare_sqlite bare_sqlite;

/* NULL when something could not be had. */
bare_sqlite *bare_sqlite_open(const char *path, long rows);

/* Selects one row after the other by its key, `count` of them drawn with `state`, and copies both blobs out. Returns how many
   brought both at their full lengths. */
long bare_sqlite_run(bare_sqlite *table, uint64_t *state, long count, int head_length, int content_length);

#endif
