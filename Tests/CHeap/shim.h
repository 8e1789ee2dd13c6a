#ifndef PENSTOCK_CHEAP_SHIM_H
#define PENSTOCK_CHEAP_SHIM_H

#include <malloc.h>

#endif
