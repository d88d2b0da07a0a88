/* SPDX-License-Identifier: MIT */
/*
 * libcurl for Swift: Swift does not import functions with variable arguments, so each type of option has a function of
 * its own here.
 */
#ifndef TENDON_CSYSTEMCURL_H
#define TENDON_CSYSTEMCURL_H

#include <curl/curl.h>
#include <malloc.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>

static inline CURLcode tendon_curl_set_long(CURL *easy, CURLoption option, long value) {
    return curl_easy_setopt(easy, option, value);
}

static inline CURLcode tendon_curl_set_offset(CURL *easy, CURLoption option, int64_t value) {
    return curl_easy_setopt(easy, option, (curl_off_t)value);
}

static inline CURLcode tendon_curl_set_text(CURL *easy, CURLoption option, const char *value) {
    return curl_easy_setopt(easy, option, value);
}

static inline CURLcode tendon_curl_set_pointer(CURL *easy, CURLoption option, void *value) {
    return curl_easy_setopt(easy, option, value);
}

static inline CURLcode tendon_curl_set_data(CURL *easy, CURLoption option,
                                            size_t (*function)(char *, size_t, size_t, void *)) {
    return curl_easy_setopt(easy, option, function);
}

static inline CURLcode tendon_curl_get_long(CURL *easy, CURLINFO info, long *value) {
    return curl_easy_getinfo(easy, info, value);
}

static inline CURLcode tendon_curl_get_offset(CURL *easy, CURLINFO info, int64_t *value) {
    curl_off_t offset = 0;
    CURLcode code = curl_easy_getinfo(easy, info, &offset);
    *value = offset;
    return code;
}

/** The transfer of a message that reports a completed one, and its result; NULL: another message. */
static inline CURL *tendon_curl_message_done(const CURLMsg *message, CURLcode *result) {
    *result = message->msg == CURLMSG_DONE ? message->data.result : CURLE_OK;
    return message->msg == CURLMSG_DONE ? message->easy_handle : NULL;
}

/* ---- memory that is wiped when libcurl frees it: a payment's body is in libcurl's buffers for a moment ---- */

static inline void tendon_curl_wiping_free(void *block) {
    if (block != NULL) {
        explicit_bzero(block, malloc_usable_size(block));
        free(block);
    }
}

static inline void *tendon_curl_wiping_realloc(void *block, size_t size) {
    size_t before = block != NULL ? malloc_usable_size(block) : 0;
    void *grown = malloc(size);
    if (grown != NULL && block != NULL) {
        memcpy(grown, block, before < size ? before : size);
        tendon_curl_wiping_free(block);
    }
    return grown;
}

/* ---- core dumps ---- */

/** 1: the process has core dumps, as usual. */
static inline int tendon_process_dumpable(void) {
    return prctl(PR_GET_DUMPABLE, 0, 0, 0, 0);
}

static inline void tendon_process_set_dumpable(int dumpable) {
    (void)prctl(PR_SET_DUMPABLE, dumpable, 0, 0, 0); /* cannot fail with 0 or 1 */
}

/** Initializes libcurl; if another part of the program did it before, its functions for memory stay. */
static inline CURLcode tendon_curl_global_init(void) {
    return curl_global_init_mem(CURL_GLOBAL_DEFAULT, malloc, tendon_curl_wiping_free, tendon_curl_wiping_realloc,
                                strdup, calloc);
}

#endif
