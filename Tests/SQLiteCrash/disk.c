/* The disk: which files there are, when it fails, and what a power cut leaves of them. */
/* memmem is not in every C library's standard part. */
#define _GNU_SOURCE
#include "crash_disk.h"

#include <stdlib.h>
#include <string.h>

uint64_t crash_disk_random(crash_disk *disk) {
    uint64_t mixed = disk->random += 0x9E3779B97F4A7C15u;
    mixed = (mixed ^ (mixed >> 30)) * 0xBF58476D1CE4E5B9u;
    mixed = (mixed ^ (mixed >> 27)) * 0x94D049BB133111EBu;
    return mixed ^ (mixed >> 31);
}

int crash_disk_call(crash_disk *disk, int code_when_cut) {
    if (disk->is_cut) return code_when_cut;
    disk->calls++;
    if (disk->fail_at && disk->calls == disk->fail_at) {
        if (disk->fail_lasts) disk->refuse_code = disk->fail_code;
        disk->fail_at = 0;
        return disk->fail_code;
    }
    return SQLITE_OK;
}

int crash_disk_change(crash_disk *disk, int code_when_cut) {
    int code = crash_disk_call(disk, code_when_cut);
    if (code) return code;
    if (disk->refuse_code) return disk->refuse_code;
    disk->changes++;
    if (disk->cut_at && disk->changes >= disk->cut_at) {
        disk->is_cut = true;
        return code_when_cut;
    }
    return SQLITE_OK;
}

crash_file *crash_disk_find(crash_disk *disk, const char *path) {
    for (crash_file *file = disk->files; file; file = file->next) {
        if (file->path && strcmp(file->path, path) == 0) return file;
    }
    return NULL;
}

crash_file *crash_disk_add(crash_disk *disk, const char *path) {
    crash_file *file = calloc(1, sizeof *file);
    if (!file) abort();
    file->path = strdup(path);
    file->next = disk->files;
    disk->files = file;
    return file;
}

int64_t crash_disk_size_locked(crash_disk *disk) {
    int64_t size = 0;
    for (crash_file *file = disk->files; file; file = file->next) size += file->now.size;
    return size;
}

/* MARK: Contents */

static void reserve(contents *contents, int64_t size) {
    if (size <= contents->capacity) return;
    int64_t capacity = contents->capacity ? contents->capacity : 4096;
    while (capacity < size) capacity *= 2;
    contents->bytes = realloc(contents->bytes, (size_t)capacity);
    if (!contents->bytes) abort();
    contents->capacity = capacity;
}

void crash_contents_write(contents *contents, int64_t offset, const uint8_t *bytes, int64_t count) {
    reserve(contents, offset + count);
    if (offset > contents->size) memset(contents->bytes + contents->size, 0, (size_t)(offset - contents->size));
    if (count) memcpy(contents->bytes + offset, bytes, (size_t)count);
    if (offset + count > contents->size) contents->size = offset + count;
}

void crash_contents_truncate(contents *contents, int64_t size) {
    if (size < contents->size) contents->size = size;
}

static void copy_contents(contents *to, const contents *from) {
    to->size = 0;
    crash_contents_write(to, 0, from->bytes, from->size);
}

static void apply(contents *contents, const change *change) {
    if (change->bytes) {
        crash_contents_write(contents, change->offset, change->bytes, change->count);
    } else {
        crash_contents_truncate(contents, change->offset);
    }
}

/* MARK: Changes that were not synced */

void crash_file_note(crash_file *file, int64_t offset, const uint8_t *bytes, int64_t count) {
    change *new = calloc(1, sizeof *new);
    if (!new) abort();
    new->offset = offset;
    new->count = count;
    if (bytes) {
        new->bytes = malloc((size_t)count + 1);
        if (!new->bytes) abort();
        memcpy(new->bytes, bytes, (size_t)count);
    }
    apply(&file->now, new);
    if (file->last) file->last->next = new; else file->first = new;
    file->last = new;
}

static void forget_changes(crash_file *file) {
    while (file->first) {
        change *next = file->first->next;
        free(file->first->bytes);
        free(file->first);
        file->first = next;
    }
    file->last = NULL;
}

void crash_file_sync(crash_file *file) {
    for (change *each = file->first; each; each = each->next) apply(&file->synced, each);
    forget_changes(file);
}

/* Writes some of the sectors of a change, and of one of them perhaps only the beginning. */
static void tear(crash_disk *disk, contents *contents, const change *change) {
    for (int64_t start = 0; start < change->count; start += 512) {
        int64_t count = change->count - start < 512 ? change->count - start : 512;
        uint64_t luck = crash_disk_random(disk) % 8;
        if (luck < 3) continue;
        if (luck == 3) count = (int64_t)(crash_disk_random(disk) % (uint64_t)(count + 1));
        crash_contents_write(contents, change->offset + start, change->bytes + start, count);
    }
}

/* What is left: what was synced and, of the rest, all, nothing, a beginning, or some in any order. */
void crash_file_lose(crash_disk *disk, crash_file *file) {
    int count = 0;
    for (change *each = file->first; each; each = each->next) count++;
    change **order = malloc(sizeof *order * (size_t)(count + 1));
    if (!order) abort();
    int index = 0;
    for (change *each = file->first; each; each = each->next) order[index++] = each;
    uint64_t manner = crash_disk_random(disk) % 5;
    if (manner == 0) count = 0;
    if (manner == 2) count = (int)(crash_disk_random(disk) % (uint64_t)(count + 1));
    for (int left = count; manner == 3 && left > 1; left--) {
        int other = (int)(crash_disk_random(disk) % (uint64_t)left);
        change *swap = order[left - 1];
        order[left - 1] = order[other];
        order[other] = swap;
    }
    for (int each = 0; each < count; each++) {
        uint64_t luck = manner < 3 ? 0 : crash_disk_random(disk) % 3;
        if (luck == 0) apply(&file->synced, order[each]);
        if (luck == 1 && order[each]->bytes) tear(disk, &file->synced, order[each]);
    }
    /* The write that the cut fell into may have begun. */
    if (manner == 2 && count < index && order[count]->bytes) tear(disk, &file->synced, order[count]);
    free(order);
    forget_changes(file);
    copy_contents(&file->now, &file->synced);
}

void crash_file_drop(crash_disk *disk, crash_file *file) {
    for (crash_file **link = &disk->files; *link; link = &(*link)->next) {
        if (*link != file) continue;
        *link = file->next;
        break;
    }
    forget_changes(file);
    for (int region = 0; region < file->region_count; region++) free(file->regions[region]);
    free(file->now.bytes);
    free(file->synced.bytes);
    free(file->path);
    free(file);
}

/* MARK: For the tests */

static int64_t later(int64_t now, int64_t count) { return count ? now + count : 0; }

void crash_disk_cut_after(crash_disk *disk, int64_t count) {
    pthread_mutex_lock(&disk->mutex);
    disk->cut_at = later(disk->changes, count);
    pthread_mutex_unlock(&disk->mutex);
}

void crash_disk_fail_after(crash_disk *disk, int64_t count, int code, bool lasting) {
    pthread_mutex_lock(&disk->mutex);
    disk->fail_at = later(disk->calls, count);
    disk->fail_code = code;
    disk->fail_lasts = lasting;
    pthread_mutex_unlock(&disk->mutex);
}

void crash_disk_refuse(crash_disk *disk, int code) {
    pthread_mutex_lock(&disk->mutex);
    disk->refuse_code = code;
    pthread_mutex_unlock(&disk->mutex);
}

int64_t crash_disk_changes(crash_disk *disk) {
    pthread_mutex_lock(&disk->mutex);
    int64_t changes = disk->changes;
    pthread_mutex_unlock(&disk->mutex);
    return changes;
}

bool crash_disk_is_cut(crash_disk *disk) {
    pthread_mutex_lock(&disk->mutex);
    bool is_cut = disk->is_cut;
    pthread_mutex_unlock(&disk->mutex);
    return is_cut;
}

int crash_disk_open_count(crash_disk *disk) {
    pthread_mutex_lock(&disk->mutex);
    int count = disk->open_count;
    pthread_mutex_unlock(&disk->mutex);
    return count;
}

void crash_disk_restart(crash_disk *disk) {
    pthread_mutex_lock(&disk->mutex);
    for (crash_file *file = disk->files; file; file = file->next) {
        if (disk->is_cut) crash_file_lose(disk, file); else crash_file_sync(file);
    }
    disk->is_cut = false;
    disk->cut_at = disk->fail_at = 0;
    disk->refuse_code = 0;
    pthread_mutex_unlock(&disk->mutex);
}

bool crash_disk_exists(crash_disk *disk, const char *path) {
    pthread_mutex_lock(&disk->mutex);
    bool exists = crash_disk_find(disk, path) != NULL;
    pthread_mutex_unlock(&disk->mutex);
    return exists;
}

bool crash_disk_remove(crash_disk *disk, const char *path) {
    pthread_mutex_lock(&disk->mutex);
    crash_file *file = crash_disk_find(disk, path);
    /* A full disk lets files be removed. */
    int refused = disk->refuse_code;
    if (refused == SQLITE_FULL) disk->refuse_code = 0;
    bool is_done = file ? crash_disk_change(disk, SQLITE_IOERR_DELETE) == SQLITE_OK : !disk->is_cut;
    if (refused == SQLITE_FULL) disk->refuse_code = refused;
    if (file && is_done) {
        free(file->path);
        file->path = NULL;
        if (!file->handles) crash_file_drop(disk, file);
    }
    pthread_mutex_unlock(&disk->mutex);
    return is_done;
}

bool crash_disk_rename(crash_disk *disk, const char *path, const char *other) {
    pthread_mutex_lock(&disk->mutex);
    crash_file *file = crash_disk_find(disk, path);
    bool is_done = file && !crash_disk_find(disk, other) && crash_disk_change(disk, SQLITE_IOERR) == SQLITE_OK;
    if (is_done) {
        free(file->path);
        file->path = strdup(other);
    }
    pthread_mutex_unlock(&disk->mutex);
    return is_done;
}

void crash_disk_hold_at_most(crash_disk *disk, int64_t count) {
    pthread_mutex_lock(&disk->mutex);
    disk->room = count;
    pthread_mutex_unlock(&disk->mutex);
}

int64_t crash_disk_room(crash_disk *disk) {
    pthread_mutex_lock(&disk->mutex);
    int64_t room = disk->room;
    pthread_mutex_unlock(&disk->mutex);
    return room;
}

int64_t crash_disk_size(crash_disk *disk) {
    pthread_mutex_lock(&disk->mutex);
    int64_t size = crash_disk_size_locked(disk);
    pthread_mutex_unlock(&disk->mutex);
    return size;
}

bool crash_disk_contains(crash_disk *disk, const void *bytes, size_t count) {
    pthread_mutex_lock(&disk->mutex);
    bool is_there = false;
    for (crash_file *file = disk->files; file && !is_there; file = file->next) {
        is_there = memmem(file->now.bytes, (size_t)file->now.size, bytes, count) != NULL;
    }
    pthread_mutex_unlock(&disk->mutex);
    return is_there;
}

int64_t crash_disk_file_size(crash_disk *disk, const char *path) {
    pthread_mutex_lock(&disk->mutex);
    crash_file *file = crash_disk_find(disk, path);
    int64_t size = file ? file->now.size : 0;
    pthread_mutex_unlock(&disk->mutex);
    return size;
}

bool crash_disk_touch(crash_disk *disk, const char *path) {
    pthread_mutex_lock(&disk->mutex);
    bool is_there = crash_disk_find(disk, path) != NULL;
    if (!is_there && crash_disk_change(disk, SQLITE_CANTOPEN) == SQLITE_OK) {
        crash_disk_add(disk, path);
        is_there = true;
    }
    pthread_mutex_unlock(&disk->mutex);
    return is_there;
}
