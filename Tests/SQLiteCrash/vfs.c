/* The disk as SQLite sees it: opening and removing files by name. */
#include "crash_disk.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static crash_disk *disk_of(sqlite3_vfs *vfs) { return vfs->pAppData; }

static int do_open(sqlite3_vfs *vfs, const char *path, sqlite3_file *base, int flags, int *given) {
    static int64_t unnamed;
    crash_disk *disk = disk_of(vfs);
    crash_handle *handle = (crash_handle *)base;
    memset(handle, 0, sizeof *handle);
    pthread_mutex_lock(&disk->mutex);
    char name[32];
    if (!path) {
        snprintf(name, sizeof name, "temporary-%lld", (long long)unnamed++);
        path = name;
    }
    crash_file *file = crash_disk_find(disk, path);
    int code = crash_disk_call(disk, SQLITE_CANTOPEN);
    if (!code && !file && !(flags & SQLITE_OPEN_CREATE)) code = SQLITE_CANTOPEN;
    if (!code && !file) code = crash_disk_change(disk, SQLITE_CANTOPEN);
    if (!code) {
        handle->base.pMethods = &crash_methods;
        handle->disk = disk;
        handle->file = file ? file : crash_disk_add(disk, path);
        handle->file->handles++;
        handle->deletes = flags & SQLITE_OPEN_DELETEONCLOSE;
        disk->open_count++;
        if (given) *given = flags;
    }
    pthread_mutex_unlock(&disk->mutex);
    return code ? SQLITE_CANTOPEN : SQLITE_OK;
}

static int do_delete(sqlite3_vfs *vfs, const char *path, int syncs) {
    (void)syncs;
    crash_disk *disk = disk_of(vfs);
    if (!crash_disk_exists(disk, path)) return SQLITE_IOERR_DELETE_NOENT;
    return crash_disk_remove(disk, path) ? SQLITE_OK : SQLITE_IOERR_DELETE;
}

static int do_access(sqlite3_vfs *vfs, const char *path, int flags, int *result) {
    (void)flags;
    *result = crash_disk_exists(disk_of(vfs), path);
    return SQLITE_OK;
}

static int do_full_path(sqlite3_vfs *vfs, const char *path, int count, char *full) {
    (void)vfs;
    snprintf(full, (size_t)count, "%s", path);
    return SQLITE_OK;
}

static int do_random(sqlite3_vfs *vfs, int count, char *bytes) {
    crash_disk *disk = disk_of(vfs);
    pthread_mutex_lock(&disk->mutex);
    for (int index = 0; index < count; index++) bytes[index] = (char)crash_disk_random(disk);
    pthread_mutex_unlock(&disk->mutex);
    return count;
}

static int do_sleep(sqlite3_vfs *vfs, int microseconds) {
    (void)vfs;
    return sqlite3_vfs_find(NULL)->xSleep(sqlite3_vfs_find(NULL), microseconds);
}

static int do_time(sqlite3_vfs *vfs, sqlite3_int64 *time) {
    (void)vfs;
    *time = 210866760000000;
    return SQLITE_OK;
}

static int last_error(sqlite3_vfs *vfs, int count, char *text) {
    (void)vfs, (void)count, (void)text;
    return 0;
}

crash_disk *crash_disk_create(const char *name, uint64_t seed) {
    crash_disk *disk = calloc(1, sizeof *disk);
    if (!disk) abort();
    disk->name = strdup(name);
    disk->random = seed;
    pthread_mutex_init(&disk->mutex, NULL);
    disk->vfs = (sqlite3_vfs){
        .iVersion = 2,
        .szOsFile = sizeof(crash_handle),
        .mxPathname = 512,
        .zName = disk->name,
        .pAppData = disk,
        .xOpen = do_open,
        .xDelete = do_delete,
        .xAccess = do_access,
        .xFullPathname = do_full_path,
        .xRandomness = do_random,
        .xSleep = do_sleep,
        .xGetLastError = last_error,
        .xCurrentTimeInt64 = do_time,
    };
    sqlite3_vfs_register(&disk->vfs, 0);
    return disk;
}

void crash_disk_destroy(crash_disk *disk) {
    sqlite3_vfs_unregister(&disk->vfs);
    while (disk->files) crash_file_drop(disk, disk->files);
    pthread_mutex_destroy(&disk->mutex);
    free(disk->name);
    free(disk);
}
