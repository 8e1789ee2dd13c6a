#ifndef PENSTOCK_CPSL_SHIM_H
#define PENSTOCK_CPSL_SHIM_H

#if !__has_include(<libpsl.h>)
#error "libpsl is not installed: apt-get install libpsl-dev"
#endif

#include <libpsl.h>

#endif
