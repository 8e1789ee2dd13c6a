#ifndef PENSTOCK_CNGHTTP2_SHIM_H
#define PENSTOCK_CNGHTTP2_SHIM_H

#if !__has_include(<nghttp2/nghttp2.h>)
#error "nghttp2, which PenstockTesting needs, is not installed: apt-get install libnghttp2-dev"
#endif

#include <nghttp2/nghttp2.h>

#endif
