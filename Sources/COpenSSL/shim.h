#ifndef PENSTOCK_COPENSSL_SHIM_H
#define PENSTOCK_COPENSSL_SHIM_H

#if !__has_include(<openssl/ssl.h>)
#error "OpenSSL is not installed: apt-get install libssl-dev"
#endif

#include <openssl/ec.h>
#include <openssl/err.h>
#include <openssl/evp.h>
#include <openssl/pem.h>
#include <openssl/ssl.h>
#include <openssl/x509v3.h>

/* Swift cannot call variadic functions, nor macros that look like functions. Each wrapper below stands for one of them. */

/* A key on the curve P-256. */
static inline EVP_PKEY *copenssl_make_key(void) {
    return EVP_EC_gen("P-256");
}

/* Bounds for the version of TLS. */
static inline int copenssl_set_versions(SSL_CTX *context, int least, int most) {
    return SSL_CTX_set_min_proto_version(context, least) && SSL_CTX_set_max_proto_version(context, most);
}

/* Adds a certificate that leads to the authority; the context takes a reference of its own. */
static inline long copenssl_add_chain_certificate(SSL_CTX *context, X509 *certificate) {
    return SSL_CTX_add1_chain_cert(context, certificate);
}

/* The contents of a memory BIO, which keeps them. */
static inline long copenssl_memory_contents(BIO *memory, char **contents) {
    return BIO_get_mem_data(memory, contents);
}

/* The certificate that a client has shown; the caller frees it. */
static inline X509 *copenssl_peer_certificate(SSL *ssl) {
    return SSL_get1_peer_certificate(ssl);
}

#endif
