#ifndef PENSTOCK_CBROTLIENCODER_SHIM_H
#define PENSTOCK_CBROTLIENCODER_SHIM_H

#if !__has_include(<brotli/encode.h>)
#error "Brotli is not installed: apt-get install libbrotli-dev"
#endif

#include <brotli/encode.h>

#endif
