#ifndef PENSTOCK_TORTURE_INTERNAL_H
#define PENSTOCK_TORTURE_INTERNAL_H

#include "include/torture.h"

#include <stdatomic.h>

/* Counts a call. Returns the code to fail with, or 0 to go on. */
int torture_hit(torture_kind kind, const void *caller);
/* Says what is armed. */
void torture_tell(char *text, size_t size);

/* The function of that name that would have been called. */
void *torture_next(const char *name);
#define NEXT(name) \
    static __typeof__(name) *next; \
    if (next == NULL) next = (__typeof__(name) *)torture_next(#name)

#define CALLER __builtin_return_address(0)

#endif
