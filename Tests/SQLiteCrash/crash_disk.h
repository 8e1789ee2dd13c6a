#ifndef PENSTOCK_CRASH_DISK_H
#define PENSTOCK_CRASH_DISK_H

#include <pthread.h>
#include <sqlite3.h>

#include "include/sqlite_crash.h"

/* A change that was not synced: bytes written at an offset, or, without bytes, the length cut to the offset. */
typedef struct change {
    struct change *next;
    int64_t offset;
    int64_t count;
    uint8_t *bytes;
} change;

typedef struct contents {
    uint8_t *bytes;
    int64_t size, capacity;
} contents;

enum { LOCK_SLOTS = SQLITE_SHM_NLOCK, MAX_REGIONS = 256 };

typedef struct crash_file {
    struct crash_file *next;
    char *path;      /* NULL once it was removed while open */
    contents now;    /* what the process sees */
    contents synced; /* what is on the medium for certain */
    change *first, *last;
    int handles;
    int shared; /* handles that hold at least SHARED */
    void *reserved, *pending, *exclusive;
    void *regions[MAX_REGIONS];
    int region_count, region_users;
    int slot_shared[LOCK_SLOTS];
    void *slot_exclusive[LOCK_SLOTS];
} crash_file;

struct crash_disk {
    sqlite3_vfs vfs;
    char *name;
    pthread_mutex_t mutex;
    crash_file *files;
    uint64_t random;
    int64_t changes, calls, cut_at, fail_at, room;
    int fail_code, refuse_code;
    bool is_cut, fail_lasts;
    int open_count;
};

typedef struct crash_handle {
    sqlite3_file base;
    crash_disk *disk;
    crash_file *file;
    int level;
    bool maps, deletes;
    unsigned slots_shared, slots_exclusive;
} crash_handle;

extern const sqlite3_io_methods crash_methods;

/* With the disk's mutex held. Each gives SQLITE_OK, or the code to fail with. */
int crash_disk_call(crash_disk *disk, int code_when_cut);
int crash_disk_change(crash_disk *disk, int code_when_cut);

uint64_t crash_disk_random(crash_disk *disk);
int64_t crash_disk_size_locked(crash_disk *disk);
crash_file *crash_disk_find(crash_disk *disk, const char *path);
crash_file *crash_disk_add(crash_disk *disk, const char *path);
void crash_contents_write(contents *contents, int64_t offset, const uint8_t *bytes, int64_t count);
void crash_contents_truncate(contents *contents, int64_t size);
void crash_file_note(crash_file *file, int64_t offset, const uint8_t *bytes, int64_t count);
void crash_file_sync(crash_file *file);
void crash_file_lose(crash_disk *disk, crash_file *file);
void crash_file_drop(crash_disk *disk, crash_file *file);

#endif
