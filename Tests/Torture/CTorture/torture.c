#ifdef __linux__
#define _GNU_SOURCE
#include "internal.h"

#include <dlfcn.h>
#include <execinfo.h>
#include <link.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

/* MARK: Who calls */

typedef struct {
    uintptr_t start, end;
    bool is_program;
} range;

static range ours[8];
static int ours_count;
static range openssl;

/* The program itself, whose name is empty, and libcurl. */
static int note(struct dl_phdr_info *info, size_t size, void *context) {
    (void)size, (void)context;
    bool is_program = info->dlpi_name[0] == 0;
    bool is_openssl = strstr(info->dlpi_name, "libssl") != NULL;
    if (!is_program && !is_openssl && strstr(info->dlpi_name, "libcurl") == NULL) return 0;
    for (int index = 0; index < info->dlpi_phnum && ours_count < 8; index++) {
        const ElfW(Phdr) *header = &info->dlpi_phdr[index];
        if (header->p_type != PT_LOAD || (header->p_flags & PF_X) == 0) continue;
        uintptr_t start = info->dlpi_addr + header->p_vaddr;
        range found = {start, start + header->p_memsz, is_program};
        if (is_openssl) openssl = found;
        else ours[ours_count++] = found;
    }
    return 0;
}

__attribute__((constructor)) static void find_ours(void) {
    dl_iterate_phdr(note, NULL);
}

/* What libcurl asks of itself is its own business. */
static bool is_ours(torture_kind kind, const void *caller) {
    uintptr_t address = (uintptr_t)caller;
    for (int index = 0; index < ours_count; index++) {
        if (address < ours[index].start || address >= ours[index].end) continue;
        return ours[index].is_program || kind >= torture_socket;
    }
    return false;
}

/* libcurl 7.88 frees the name of a TLS session twice, some time later, where it had no memory to keep the session. It keeps
   sessions when OpenSSL calls it back, and allocates nothing else then; so what it allocates there is let through. */
static bool is_keeping_session(void) {
    void *frames[30];
    int count = backtrace(frames, 30);
    for (int index = 0; index < count; index++) {
        uintptr_t address = (uintptr_t)frames[index];
        if (address >= openssl.start && address < openssl.end) return true;
    }
    return false;
}

void *torture_next(const char *name) { return dlsym(RTLD_NEXT, name); }

/* MARK: What fails */

static atomic_long counts[torture_kinds];
static atomic_int armed_kind = -1;
static atomic_long armed_number;
static atomic_int armed_code;
static atomic_bool is_lasting;
static atomic_bool has_fired;

int torture_hit(torture_kind kind, const void *caller) {
    if (!is_ours(kind, caller)) return 0;
    long number = atomic_fetch_add(&counts[kind], 1) + 1;
    if (atomic_load(&armed_kind) != (int)kind) return 0;
    long armed = atomic_load(&armed_number);
    if (armed == 0 || number < armed || (number > armed && !atomic_load(&is_lasting))) return 0;
    if (kind == torture_allocation && is_keeping_session()) return 0;
    atomic_store(&has_fired, true);
    return atomic_load(&armed_code);
}

void torture_arm(torture_kind kind, long number, int code, bool lasting) {
    torture_disarm();
    for (int index = 0; index < torture_kinds; index++) atomic_store(&counts[index], 0);
    atomic_store(&has_fired, false);
    atomic_store(&armed_number, number);
    atomic_store(&armed_code, code);
    atomic_store(&is_lasting, lasting);
    atomic_store(&armed_kind, (int)kind);
}

void torture_disarm(void) { atomic_store(&armed_kind, -1); }
long torture_count(torture_kind kind) { return atomic_load(&counts[kind]); }
bool torture_has_fired(void) { return atomic_load(&has_fired); }

void torture_tell(char *text, size_t size) {
    int kind = atomic_load(&armed_kind);
    snprintf(
        text, size, "%s, number %ld, code %d", kind < 0 ? "nothing" : torture_name((torture_kind)kind),
        atomic_load(&armed_number), atomic_load(&armed_code));
}

#endif
