#ifndef PENSTOCK_CBROTLIENCODER_SHIM_H
#define PENSTOCK_CBROTLIENCODER_SHIM_H

#include <brotli/encode.h>

#endif
