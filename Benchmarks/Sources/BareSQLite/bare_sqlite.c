#include "bare_sqlite.h"

#include <sqlite3.h>
#include <stdlib.h>
#include <string.h>

struct bare_sqlite {
    sqlite3 *database;
    sqlite3_stmt *select;
    long rows;
    char copy[1 << 16];
};

uint64_t bare_sqlite_draw(uint64_t *state) {
    uint64_t mixed = (*state += 0x9E3779B97F4A7C15u);
    mixed = (mixed ^ (mixed >> 30)) * 0xBF58476D1CE4E5B9u;
    mixed = (mixed ^ (mixed >> 27)) * 0x94D049BB133111EBu;
    return mixed ^ (mixed >> 31);
}

/* Keys are spread like the hashes of URLs. */
static sqlite3_int64 key_of(uint64_t row) {
    uint64_t state = row;
    return (sqlite3_int64)(bare_sqlite_draw(&state) >> 1);
}

static int is_done(sqlite3 *database, const char *sql) {
    return sqlite3_exec(database, sql, NULL, NULL, NULL) == SQLITE_OK;
}

static sqlite3 *connect(const char *path, int flags) {
    sqlite3 *database = NULL;
    if (sqlite3_open_v2(path, &database, flags | SQLITE_OPEN_NOMUTEX, NULL) != SQLITE_OK) {
        sqlite3_close_v2(database);
        return NULL;
    }
    return database;
}

static int insert(sqlite3_stmt *statement, uint64_t row, const char *bytes, int head_length, int content_length) {
    sqlite3_bind_int64(statement, 1, key_of(row));
    sqlite3_bind_blob(statement, 2, bytes, head_length, SQLITE_STATIC);
    sqlite3_bind_blob(statement, 3, bytes, content_length, SQLITE_STATIC);
    int code = sqlite3_step(statement);
    sqlite3_reset(statement);
    return code == SQLITE_DONE;
}

static int fill(sqlite3 *database, long rows, int head_length, int content_length) {
    if (!is_done(database, "PRAGMA journal_mode=WAL; PRAGMA synchronous=OFF; PRAGMA cache_size=-262144;"
                           "CREATE TABLE item (id INTEGER PRIMARY KEY, head BLOB NOT NULL, content BLOB NOT NULL)"))
        return -1;
    char bytes[1 << 16];
    memset(bytes, 'x', sizeof bytes);
    sqlite3_stmt *statement = NULL;
    if (sqlite3_prepare_v2(database, "INSERT INTO item VALUES (?, ?, ?)", -1, &statement, NULL) != SQLITE_OK) return -1;
    int is_good = is_done(database, "BEGIN");
    for (long row = 0; is_good && row < rows; row++) {
        is_good = insert(statement, (uint64_t)row, bytes, head_length, content_length);
        if (is_good && row % 10000 == 9999) is_good = is_done(database, "COMMIT; BEGIN");
    }
    sqlite3_finalize(statement);
    return is_good && is_done(database, "COMMIT; PRAGMA wal_checkpoint(TRUNCATE)") ? 0 : -1;
}

int bare_sqlite_fill(const char *path, long rows, int head_length, int content_length) {
    if (head_length > 1 << 16 || content_length > 1 << 16) return -1;
    sqlite3 *database = connect(path, SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE);
    if (!database) return -1;
    int outcome = fill(database, rows, head_length, content_length);
    sqlite3_close_v2(database);
    return outcome;
}

bare_sqlite *bare_sqlite_open(const char *path, long rows) {
    bare_sqlite *table = calloc(1, sizeof *table);
    if (!table) return NULL;
    table->rows = rows;
    table->database = connect(path, SQLITE_OPEN_READWRITE);
    if (table->database && is_done(table->database, "PRAGMA cache_size=-8192; PRAGMA query_only=ON") &&
        sqlite3_prepare_v3(table->database, "SELECT head, content FROM item WHERE id = ?", -1, SQLITE_PREPARE_PERSISTENT,
                           &table->select, NULL) == SQLITE_OK)
        return table;
    sqlite3_close_v2(table->database);
    free(table);
    return NULL;
}

static int copy(bare_sqlite *table, int column, int length) {
    const void *bytes = sqlite3_column_blob(table->select, column);
    if (!bytes || sqlite3_column_bytes(table->select, column) != length) return 0;
    memcpy(table->copy, bytes, (size_t)length);
    return 1;
}

long bare_sqlite_run(bare_sqlite *table, uint64_t *state, long count, int head_length, int content_length) {
    if (head_length > (int)sizeof table->copy || content_length > (int)sizeof table->copy) return 0;
    long good = 0;
    for (long done = 0; done < count; done++) {
        sqlite3_bind_int64(table->select, 1, key_of(bare_sqlite_draw(state) % (uint64_t)table->rows));
        if (sqlite3_step(table->select) == SQLITE_ROW && copy(table, 0, head_length) && copy(table, 1, content_length)) good++;
        sqlite3_reset(table->select);
    }
    return good;
}
