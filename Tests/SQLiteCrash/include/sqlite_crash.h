#ifndef PENSTOCK_SQLITE_CRASH_H
#define PENSTOCK_SQLITE_CRASH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A file system in memory, as an SQLite VFS, that loses what a machine loses when its power is cut: every write that was
   not synced may be there, be missing, be torn, or have happened in another order. Renames and removals of whole files
   are taken to be durable at once. All functions may be called from any thread. */
typedef struct crash_disk crash_disk;

/* Registers a disk as the VFS `name`. What is lost follows from `seed`. */
crash_disk *crash_disk_create(const char *name, uint64_t seed);
/* Unregisters it. Every connection must be closed. */
void crash_disk_destroy(crash_disk *disk);

/* Cuts the power at the `count`-th change from now (write, truncation, sync, removal, rename); 0: never. */
void crash_disk_cut_after(crash_disk *disk, int64_t count);
/* Lets the `count`-th call from now fail with an SQLite code, and all changes after it if `lasting`; 0: never. */
void crash_disk_fail_after(crash_disk *disk, int64_t count, int code, bool lasting);
/* Refuses to write anything: `code` for every change until it is 0 again. */
void crash_disk_refuse(crash_disk *disk, int code);
/* How many changes there were. */
int64_t crash_disk_changes(crash_disk *disk);
bool crash_disk_is_cut(crash_disk *disk);
/* Loses what a power cut loses, and puts the power on again. Every connection must be closed. */
void crash_disk_restart(crash_disk *disk);
/* How many connections are open. */
int crash_disk_open_count(crash_disk *disk);

/* How many bytes all files together may have; nothing can be written beyond. 0: any number. */
void crash_disk_hold_at_most(crash_disk *disk, int64_t count);
/* The number it was last called with. */
int64_t crash_disk_room(crash_disk *disk);
/* How many bytes all files have. */
int64_t crash_disk_size(crash_disk *disk);
/* Whether these bytes stand in any file. */
bool crash_disk_contains(crash_disk *disk, const void *bytes, size_t count);

bool crash_disk_exists(crash_disk *disk, const char *path);
int64_t crash_disk_file_size(crash_disk *disk, const char *path);
/* Makes an empty file, if there is none. */
bool crash_disk_touch(crash_disk *disk, const char *path);
bool crash_disk_rename(crash_disk *disk, const char *path, const char *other);
bool crash_disk_remove(crash_disk *disk, const char *path);

#endif
