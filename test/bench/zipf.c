/* zipf TOKENS TYPES [SEED]: text of independent words, word r with probability ~ 1/r, sentences of
 * 8 to 40 words. Words are a rank's digits in letters, three at least. For benchmarks; the same
 * text on every machine. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static uint64_t state;
static uint64_t next(void)        /* splitmix64 */
{
    uint64_t z = state += 0x9E3779B97F4A7C15u;
    z = (z ^ z >> 30) * 0xBF58476D1CE4E5B9u;
    z = (z ^ z >> 27) * 0x94D049BB133111EBu;
    return z ^ z >> 31;
}

int main(int argc, char **argv)
{
    if (argc < 3) { fprintf(stderr, "usage: zipf TOKENS TYPES [SEED]\n"); return 2; }
    uint64_t tokens = strtoull(argv[1], NULL, 10);
    uint32_t types = (uint32_t)strtoul(argv[2], NULL, 10);
    state = argc > 3 ? strtoull(argv[3], NULL, 10) : 1;
    /* Vose's alias table. */
    double *p = malloc(types * sizeof *p), sum = 0;
    uint32_t *alias = malloc(types * sizeof *alias), *small = malloc(types * sizeof *small),
             *large = malloc(types * sizeof *large), ns = 0, nl = 0;
    uint64_t *keep = malloc(types * sizeof *keep);
    char (*word)[12] = calloc(types, sizeof *word);
    for (uint32_t i = 0; i < types; i++) sum += p[i] = 1.0 / (i + 1);
    for (uint32_t i = 0; i < types; i++) {
        p[i] *= types / sum;
        if (p[i] < 1) small[ns++] = i; else large[nl++] = i;
        uint32_t r = i;
        int n = 0;
        do word[i][n++] = (char)('a' + r % 26); while ((r /= 26) || n < 3);
    }
    while (ns && nl) {
        uint32_t s = small[--ns], l = large[nl - 1];
        keep[s] = (uint64_t)(p[s] * 0x1p53);
        alias[s] = l;
        if ((p[l] -= 1 - p[s]) < 1) { nl--; small[ns++] = l; }
    }
    while (nl) { keep[large[--nl]] = (uint64_t)1 << 53; alias[large[nl]] = 0; }
    while (ns) { keep[small[--ns]] = (uint64_t)1 << 53; alias[small[ns]] = 0; }
    static char buf[1 << 20];
    size_t at = 0;
    for (uint64_t t = 0; t < tokens; ) {
        uint64_t n = 8 + next() % 33;
        for (; n && t < tokens; n--, t++) {
            uint64_t r = next();
            uint32_t i = (uint32_t)(((r >> 32) * types) >> 32);
            if ((next() >> 11) >= keep[i]) i = alias[i];
            size_t k = strlen(word[i]);
            memcpy(buf + at, word[i], k);
            at += k;
            buf[at++] = n == 1 || t + 1 == tokens ? '\n' : ' ';
            if (at > sizeof buf - 16) { if (fwrite(buf, 1, at, stdout) != at) return 1; at = 0; }
        }
    }
    return fwrite(buf, 1, at, stdout) != at || fflush(stdout) != 0;
}
