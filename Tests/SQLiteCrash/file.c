/* What SQLite does with an open file: reading, writing, syncing, locking, and the memory that connections share. */
#include "crash_disk.h"

#include <stdlib.h>
#include <string.h>

static crash_handle *handle_of(sqlite3_file *file) { return (crash_handle *)file; }

static void enter(crash_handle *handle) { pthread_mutex_lock(&handle->disk->mutex); }
static int leave(crash_handle *handle, int code) {
    pthread_mutex_unlock(&handle->disk->mutex);
    return code;
}

static int do_read(sqlite3_file *base, void *buffer, int count, sqlite3_int64 offset) {
    crash_handle *handle = handle_of(base);
    enter(handle);
    int code = crash_disk_call(handle->disk, SQLITE_IOERR_READ);
    if (code) return leave(handle, code == SQLITE_FULL ? SQLITE_IOERR_READ : code);
    contents *now = &handle->file->now;
    int64_t there = now->size - offset;
    if (there >= count) {
        memcpy(buffer, now->bytes + offset, (size_t)count);
        return leave(handle, SQLITE_OK);
    }
    memset(buffer, 0, (size_t)count);
    if (there > 0) memcpy(buffer, now->bytes + offset, (size_t)there);
    return leave(handle, SQLITE_IOERR_SHORT_READ);
}

static int do_write(sqlite3_file *base, const void *buffer, int count, sqlite3_int64 offset) {
    crash_handle *handle = handle_of(base);
    enter(handle);
    bool was_cut = handle->disk->is_cut;
    int code = crash_disk_change(handle->disk, SQLITE_IOERR_WRITE);
    int64_t growth = offset + count - handle->file->now.size;
    if (!code && handle->disk->room && growth > 0 && crash_disk_size_locked(handle->disk) + growth > handle->disk->room) {
        return leave(handle, SQLITE_FULL);
    }
    /* The write that is cut may have reached the medium in part. */
    if (!code || (handle->disk->is_cut && !was_cut)) crash_file_note(handle->file, offset, buffer, count);
    return leave(handle, code);
}

static int do_truncate(sqlite3_file *base, sqlite3_int64 size) {
    crash_handle *handle = handle_of(base);
    enter(handle);
    int code = crash_disk_change(handle->disk, SQLITE_IOERR_TRUNCATE);
    if (!code) crash_file_note(handle->file, size, NULL, 0);
    return leave(handle, code);
}

static int do_sync(sqlite3_file *base, int flags) {
    (void)flags;
    crash_handle *handle = handle_of(base);
    enter(handle);
    int code = crash_disk_change(handle->disk, SQLITE_IOERR_FSYNC);
    if (!code) crash_file_sync(handle->file);
    return leave(handle, code);
}

static int do_size(sqlite3_file *base, sqlite3_int64 *size) {
    crash_handle *handle = handle_of(base);
    enter(handle);
    int code = crash_disk_call(handle->disk, SQLITE_IOERR_FSTAT);
    if (!code) *size = handle->file->now.size;
    return leave(handle, code == SQLITE_FULL ? SQLITE_IOERR_FSTAT : code);
}

/* MARK: Locks. They are the process's own and never fail for want of power. */

static void release(crash_handle *handle, int level) {
    crash_file *file = handle->file;
    if (file->exclusive == handle) file->exclusive = NULL;
    if (file->pending == handle) file->pending = NULL;
    if (file->reserved == handle) file->reserved = NULL;
    if (level == SQLITE_LOCK_NONE && handle->level >= SQLITE_LOCK_SHARED) file->shared--;
    handle->level = level;
}

static int do_lock(sqlite3_file *base, int level) {
    crash_handle *handle = handle_of(base);
    enter(handle);
    crash_file *file = handle->file;
    if (handle->level >= level) return leave(handle, SQLITE_OK);
    if (handle->level == SQLITE_LOCK_NONE) {
        if (file->pending || file->exclusive) return leave(handle, SQLITE_BUSY);
        file->shared++;
        handle->level = SQLITE_LOCK_SHARED;
    }
    if (level == SQLITE_LOCK_SHARED) return leave(handle, SQLITE_OK);
    if (file->reserved && file->reserved != handle) return leave(handle, SQLITE_BUSY);
    file->reserved = handle;
    handle->level = SQLITE_LOCK_RESERVED;
    if (level == SQLITE_LOCK_RESERVED) return leave(handle, SQLITE_OK);
    file->pending = handle;
    handle->level = SQLITE_LOCK_PENDING;
    if (file->shared > 1) return leave(handle, SQLITE_BUSY);
    file->exclusive = handle;
    handle->level = SQLITE_LOCK_EXCLUSIVE;
    return leave(handle, SQLITE_OK);
}

static int do_unlock(sqlite3_file *base, int level) {
    crash_handle *handle = handle_of(base);
    enter(handle);
    if (handle->level > level) release(handle, level);
    return leave(handle, SQLITE_OK);
}

static int do_check_reserved(sqlite3_file *base, int *is_reserved) {
    crash_handle *handle = handle_of(base);
    enter(handle);
    *is_reserved = handle->file->reserved != NULL;
    return leave(handle, SQLITE_OK);
}

/* MARK: Shared memory */

static int do_shm_map(sqlite3_file *base, int index, int size, int extend, void volatile **region) {
    crash_handle *handle = handle_of(base);
    enter(handle);
    crash_file *file = handle->file;
    *region = NULL;
    if (!handle->maps) {
        handle->maps = true;
        file->region_users++;
    }
    if (index >= MAX_REGIONS) return leave(handle, SQLITE_IOERR_SHMMAP);
    while (extend && file->region_count <= index) {
        file->regions[file->region_count] = calloc(1, (size_t)size);
        if (!file->regions[file->region_count]) return leave(handle, SQLITE_NOMEM);
        file->region_count++;
    }
    if (index < file->region_count) *region = file->regions[index];
    return leave(handle, SQLITE_OK);
}

static int do_shm_lock(sqlite3_file *base, int offset, int count, int flags) {
    crash_handle *handle = handle_of(base);
    enter(handle);
    crash_file *file = handle->file;
    for (int slot = offset; slot < offset + count && (flags & SQLITE_SHM_LOCK); slot++) {
        bool is_taken = file->slot_exclusive[slot] && file->slot_exclusive[slot] != handle;
        int own = (handle->slots_shared >> slot) & 1;
        if (flags & SQLITE_SHM_EXCLUSIVE) is_taken = is_taken || file->slot_shared[slot] > own;
        if (is_taken) return leave(handle, SQLITE_BUSY);
    }
    for (int slot = offset; slot < offset + count; slot++) {
        unsigned bit = 1u << slot;
        if (flags & SQLITE_SHM_EXCLUSIVE) {
            bool locks = flags & SQLITE_SHM_LOCK;
            if (locks || file->slot_exclusive[slot] == handle) file->slot_exclusive[slot] = locks ? handle : NULL;
            handle->slots_exclusive = locks ? handle->slots_exclusive | bit : handle->slots_exclusive & ~bit;
        } else if (flags & SQLITE_SHM_LOCK) {
            if (!(handle->slots_shared & bit)) file->slot_shared[slot]++;
            handle->slots_shared |= bit;
        } else if (handle->slots_shared & bit) {
            file->slot_shared[slot]--;
            handle->slots_shared &= ~bit;
        }
    }
    return leave(handle, SQLITE_OK);
}

static void do_shm_barrier(sqlite3_file *base) {
    crash_handle *handle = handle_of(base);
    enter(handle);
    __sync_synchronize();
    leave(handle, SQLITE_OK);
}

static void unmap(crash_handle *handle) {
    crash_file *file = handle->file;
    if (!handle->maps) return;
    handle->maps = false;
    for (int slot = 0; slot < LOCK_SLOTS; slot++) {
        if (handle->slots_shared & (1u << slot)) file->slot_shared[slot]--;
        if (file->slot_exclusive[slot] == handle) file->slot_exclusive[slot] = NULL;
    }
    handle->slots_shared = handle->slots_exclusive = 0;
    if (--file->region_users) return;
    for (int region = 0; region < file->region_count; region++) free(file->regions[region]);
    file->region_count = 0;
}

static int do_shm_unmap(sqlite3_file *base, int deletes) {
    (void)deletes;
    crash_handle *handle = handle_of(base);
    enter(handle);
    unmap(handle);
    return leave(handle, SQLITE_OK);
}

/* MARK: The rest */

static int do_close(sqlite3_file *base) {
    crash_handle *handle = handle_of(base);
    crash_disk *disk = handle->disk;
    pthread_mutex_lock(&disk->mutex);
    unmap(handle);
    release(handle, SQLITE_LOCK_NONE);
    crash_file *file = handle->file;
    disk->open_count--;
    if (handle->deletes && file->path) {
        free(file->path);
        file->path = NULL;
    }
    if (--file->handles == 0 && !file->path) crash_file_drop(disk, file);
    pthread_mutex_unlock(&disk->mutex);
    return SQLITE_OK;
}

static int do_control(sqlite3_file *base, int operation, void *argument) {
    crash_handle *handle = handle_of(base);
    if (operation != SQLITE_FCNTL_HAS_MOVED) return SQLITE_NOTFOUND;
    enter(handle);
    crash_file *file = handle->file;
    *(int *)argument = !file->path || crash_disk_find(handle->disk, file->path) != file;
    return leave(handle, SQLITE_OK);
}

static int sector_size(sqlite3_file *base) {
    (void)base;
    return 4096;
}

/* As the machine's own VFS claims: a torn write leaves its neighbours alone. */
static int characteristics(sqlite3_file *base) {
    (void)base;
    return SQLITE_IOCAP_POWERSAFE_OVERWRITE;
}

const sqlite3_io_methods crash_methods = {
    2, do_close, do_read, do_write, do_truncate, do_sync, do_size, do_lock, do_unlock, do_check_reserved, do_control,
    sector_size, characteristics, do_shm_map, do_shm_lock, do_shm_barrier, do_shm_unmap, NULL, NULL,
};
