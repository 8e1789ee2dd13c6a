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

bool crash_disk_exists(crash_disk *disk, const char *path);
bool crash_disk_rename(crash_disk *disk, const char *path, const char *other);
bool crash_disk_remove(crash_disk *disk, const char *path);

#endif
