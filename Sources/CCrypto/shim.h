#ifndef PENSTOCK_CCRYPTO_SHIM_H
#define PENSTOCK_CCRYPTO_SHIM_H

#if !__has_include(<openssl/evp.h>)
#error "OpenSSL is not installed: apt-get install libssl-dev"
#endif

/* The digests of OpenSSL's libcrypto. COpenSSL has the rest, and links libssl, which a program without TLS has no use for. */
#include <openssl/crypto.h>
#include <openssl/evp.h>
#include <openssl/hmac.h>

/* Sets OpenSSL up so that it stays whole until the process is gone: see copenssl_prepare. Whichever part of the package comes
 * first decides. */
static inline int ccrypto_prepare(void) {
    return OPENSSL_init_crypto(OPENSSL_INIT_NO_ATEXIT, NULL);
}

#endif
