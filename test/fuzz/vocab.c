/* covers: common/vocab.c */
/* Any bytes as a vocabulary: what is accepted finds its own tokens, and encodes anything to ids of its own. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>
#include "common/vocab.h"

int LLVMFuzzerTestOneInput(const uint8_t *p, size_t n);

int LLVMFuzzerTestOneInput(const uint8_t *p, size_t n)
{
    char path[64];
    int fd = memfd_create("fuzz", 0);
    if (fd < 0 || write(fd, p, n) != (ssize_t)n) abort();
    snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
    struct vocab *v = vocab_read(path);
    close(fd);
    if (!v) return 0;
    for (uint32_t id = VOCAB_SPECIALS; id < v->n; id++)
        if (vocab_id(v, vocab_token(v, id), vocab_token_len(v, id)) != id || strlen(vocab_token(v, id)) != vocab_token_len(v, id)) abort();
    uint32_t *ids = NULL;
    size_t cap = 0, k = vocab_encode(v, (const char *)p, n, &ids, &cap);
    for (size_t i = 0; i < k; i++)
        if (ids[i] >= v->n) abort();
    free(ids);
    vocab_free(v);
    return 0;
}
