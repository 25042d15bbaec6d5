#ifndef AMBIT_CNETTLE_H
#define AMBIT_CNETTLE_H

#include <nettle/chacha-poly1305.h>
#include <nettle/eddsa.h>
#include <nettle/hmac.h>
#include <nettle/md5.h>
#include <nettle/memops.h>
#include <nettle/sha2.h>
#include <nettle/umac.h>
#include <nettle/version.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

/* Nettle 4 left out the length of a digest. */
#if NETTLE_VERSION_MAJOR >= 4
#define AMBIT_DIGEST(function, context, length, digest) function(context, digest)
#else
#define AMBIT_DIGEST(function, context, length, digest) function(context, length, digest)
#endif

static inline void ambit_sha256_digest(struct sha256_ctx *context, uint8_t digest[SHA256_DIGEST_SIZE]) {
  AMBIT_DIGEST(sha256_digest, context, SHA256_DIGEST_SIZE, digest);
}

static inline void ambit_md5(size_t length, const uint8_t *bytes, uint8_t digest[MD5_DIGEST_SIZE]) {
  struct md5_ctx context;
  md5_init(&context);
  md5_update(&context, length, bytes);
  AMBIT_DIGEST(md5_digest, &context, MD5_DIGEST_SIZE, digest);
}

static inline void ambit_hmac_sha256(size_t key_length, const uint8_t *key, size_t length, const uint8_t *message,
                                     uint8_t digest[SHA256_DIGEST_SIZE]) {
  struct hmac_sha256_ctx context;
  hmac_sha256_set_key(&context, key_length, key);
  hmac_sha256_update(&context, length, message);
  AMBIT_DIGEST(hmac_sha256_digest, &context, SHA256_DIGEST_SIZE, digest);
}

/* The nonce has 8 bytes. */
static inline uint64_t ambit_umac64(struct umac64_ctx *context, const uint8_t *nonce, size_t length, const uint8_t *bytes) {
  uint8_t digest[UMAC64_DIGEST_SIZE];
  uint64_t code;
  umac64_set_nonce(context, 8, nonce);
  umac64_update(context, length, bytes);
  AMBIT_DIGEST(umac64_digest, context, sizeof digest, digest);
  memcpy(&code, digest, sizeof code);
  return code;
}

/* ChaCha20-Poly1305 (RFC 8439): the key has 32 bytes, the nonce 12, the tag 16. */
static inline void ambit_chacha_poly1305_begin(struct chacha_poly1305_ctx *context, const uint8_t *key,
                                               const uint8_t *nonce, size_t bound_length, const uint8_t *bound) {
  chacha_poly1305_set_key(context, key);
  chacha_poly1305_set_nonce(context, nonce);
  chacha_poly1305_update(context, bound_length, bound);
}

static inline void ambit_chacha_poly1305_tag(struct chacha_poly1305_ctx *context, uint8_t *tag) {
  AMBIT_DIGEST(chacha_poly1305_digest, context, CHACHA_POLY1305_DIGEST_SIZE, tag);
}

static inline void ambit_chacha_poly1305_seal(const uint8_t *key, const uint8_t *nonce, size_t bound_length,
                                              const uint8_t *bound, size_t length, const uint8_t *content,
                                              uint8_t *ciphertext, uint8_t *tag) {
  struct chacha_poly1305_ctx context;
  ambit_chacha_poly1305_begin(&context, key, nonce, bound_length, bound);
  chacha_poly1305_encrypt(&context, length, ciphertext, content);
  ambit_chacha_poly1305_tag(&context, tag);
}

/* Returns 1 if the tag is right; otherwise the content must not be used. Takes the same time for every wrong tag. */
static inline int ambit_chacha_poly1305_open(const uint8_t *key, const uint8_t *nonce, size_t bound_length,
                                             const uint8_t *bound, size_t length, const uint8_t *ciphertext,
                                             const uint8_t *tag, uint8_t *content) {
  struct chacha_poly1305_ctx context;
  uint8_t expected[CHACHA_POLY1305_DIGEST_SIZE];
  ambit_chacha_poly1305_begin(&context, key, nonce, bound_length, bound);
  chacha_poly1305_decrypt(&context, length, content, ciphertext);
  ambit_chacha_poly1305_tag(&context, expected);
  return memeql_sec(expected, tag, sizeof expected);
}

#undef AMBIT_DIGEST
#endif
