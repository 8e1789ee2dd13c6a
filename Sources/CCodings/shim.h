#ifndef PENSTOCK_CCODINGS_SHIM_H
#define PENSTOCK_CCODINGS_SHIM_H

#if !__has_include(<brotli/decode.h>)
#error "Brotli is not installed: apt-get install libbrotli-dev"
#endif
#if !__has_include(<zlib.h>)
#error "zlib is not installed: apt-get install zlib1g-dev"
#endif
#if !__has_include(<zstd.h>)
#error "Zstandard is not installed: apt-get install libzstd-dev"
#endif

#include <brotli/decode.h>
#include <zlib.h>
#include <zstd.h>

/* A macro, which passes the version and the size that the header declares: Swift sees neither the macro nor, were it
   to pass them itself, a mistake in them. */
static inline int ccodings_inflate_init(z_stream *stream, int window_bits) {
    return inflateInit2(stream, window_bits);
}

/* Raw DEFLATE (RFC 1951) with zlib's usual level and memory: a negative window says that there is no wrapper. */
static inline int ccodings_deflate_raw_init(z_stream *stream, int window_bits) {
    return deflateInit2(stream, Z_DEFAULT_COMPRESSION, Z_DEFLATED, window_bits, 8, Z_DEFAULT_STRATEGY);
}

/* For the same reason. 8 is zlib's own default for the memory it takes. */
static inline int ccodings_deflate_init(z_stream *stream, int level, int window_bits) {
    return deflateInit2(stream, level, Z_DEFLATED, window_bits, 8, Z_DEFAULT_STRATEGY);
}

#endif
