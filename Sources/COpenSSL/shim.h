#ifndef PENSTOCK_COPENSSL_SHIM_H
#define PENSTOCK_COPENSSL_SHIM_H

#if !__has_include(<openssl/ssl.h>)
#error "OpenSSL is not installed: apt-get install libssl-dev"
#endif

#include <openssl/core_names.h>
#include <openssl/crypto.h>
#include <openssl/ec.h>
#include <openssl/err.h>
#include <openssl/evp.h>
#include <openssl/params.h>
#include <openssl/pem.h>
#include <openssl/pkcs12.h>
#include <openssl/ssl.h>
#include <openssl/x509v3.h>
#include <stdlib.h>
#include <string.h>

/* Swift cannot call variadic functions, nor macros that look like functions. Each wrapper below stands for one of them. */

/* Sets OpenSSL up so that it stays whole until the process is gone. Otherwise it takes itself down in a handler of exit(),
 * while other threads are still at work with it, and they crash. Only the first use of OpenSSL in a process decides. */
static inline int copenssl_prepare(void) {
    return OPENSSL_init_crypto(OPENSSL_INIT_NO_ATEXIT, NULL);
}

/* A key on the curve P-256. */
static inline EVP_PKEY *copenssl_make_key(void) {
    return EVP_EC_gen("P-256");
}

/* A public key on the curve P-256: an encoded point, which must be on the curve. OpenSSL keeps pointers to the names of the
 * parameters while it reads them, and those of Swift's strings would not live as long. */
static inline EVP_PKEY *copenssl_p256_public_key(unsigned char *point, size_t size) {
    char group[] = "P-256";
    OSSL_PARAM parameters[] = {
        OSSL_PARAM_construct_utf8_string(OSSL_PKEY_PARAM_GROUP_NAME, group, 0),
        OSSL_PARAM_construct_octet_string(OSSL_PKEY_PARAM_PUB_KEY, point, size),
        OSSL_PARAM_construct_end(),
    };
    EVP_PKEY *key = NULL;
    EVP_PKEY_CTX *context = EVP_PKEY_CTX_new_from_name(NULL, "EC", NULL);
    if (context == NULL) return NULL;
    if (EVP_PKEY_fromdata_init(context) != 1
        || EVP_PKEY_fromdata(context, &key, EVP_PKEY_PUBLIC_KEY, parameters) != 1) {
        key = NULL;
    }
    EVP_PKEY_CTX_free(context);
    return key;
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

/* The certificates of a chain; none of a chain that is not there. */
static inline int copenssl_chain_count(STACK_OF(X509) *chain) {
    return chain ? sk_X509_num(chain) : 0;
}

/* One of them, which the chain keeps. */
static inline X509 *copenssl_chain_certificate(STACK_OF(X509) *chain, int index) {
    return sk_X509_value(chain, index);
}

/* A chain with nothing in it. */
static inline STACK_OF(X509) *copenssl_make_chain(void) {
    return sk_X509_new_null();
}

/* Appends a certificate, of which the chain takes a reference of its own; 1 where that went well. */
static inline int copenssl_add_to_chain(STACK_OF(X509) *chain, X509 *certificate) {
    if (!chain || X509_up_ref(certificate) != 1) return 0;
    if (sk_X509_push(chain, certificate) > 0) return 1;
    X509_free(certificate);
    return 0;
}

/* Frees a chain with its certificates. */
static inline void copenssl_free_chain(STACK_OF(X509) *chain) {
    sk_X509_pop_free(chain, X509_free);
}

static inline void copenssl_free_text(
    void *owner, void *text, CRYPTO_EX_DATA *data, int index, long number, void *pointer) {
    free(text);
}

/* A place for a text in every context, which frees it; -1 when there is no memory. */
static inline int copenssl_text_index(void) {
    return SSL_CTX_get_ex_new_index(0, NULL, NULL, NULL, copenssl_free_text);
}

/* Keeps a copy of a text with a context that has none yet; 1 where that went well. */
static inline int copenssl_keep_text(SSL_CTX *context, int index, const char *text) {
    char *copy = index < 0 ? NULL : strdup(text);
    if (!copy) return 0;
    if (SSL_CTX_set_ex_data(context, index, copy) == 1) return 1;
    free(copy);
    return 0;
}

/* The text of the context whose peer's certificates are being verified; NULL where it has none. */
static inline const char *copenssl_kept_text(X509_STORE_CTX *store, int index) {
    SSL *ssl = X509_STORE_CTX_get_ex_data(store, SSL_get_ex_data_X509_STORE_CTX_idx());
    return ssl && index >= 0 ? SSL_CTX_get_ex_data(SSL_get_SSL_CTX(ssl), index) : NULL;
}

#endif
