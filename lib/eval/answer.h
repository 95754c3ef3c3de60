/* Comparison of a predicted answer with a gold one, as in the official scripts.
 *
 *   SQuAD 1.1 (Rajpurkar et al. 2016), XQuAD in every language: evaluate-v1.1.py
 *   SQuAD 2.0 (Rajpurkar et al. 2018): evaluate-v2.0.py; two empty answers agree
 *   MLQA (Lewis et al. 2020): mlqa_evaluation_v1.py; all Unicode punctuation goes, articles by the
 * context's language, each Chinese character is a token
 *
 * In this order: lower case, punctuation removed, articles become spaces, tokens at white space
 * (Python's str.split). Exact match: equal tokens. F1: of the tokens as bags. The Unicode tables
 * are ICU's. */
#ifndef EVAL_ANSWER_H
#define EVAL_ANSWER_H
#include <stdbool.h>
#include "lib/score/tokenise.h"

enum answer_rules { ANSWER_SQUAD, ANSWER_SQUAD2, ANSWER_MLQA };

struct answer_judge {
    enum answer_rules rules;
    const char *const *articles;         /* whole words; NULL: none */
    bool al, chinese; /* Arabic: every "\u0627\u0644" goes; Chinese characters are tokens */
};
/* lang: MLQA's context language, of ar de en es hi vi zh (others have no rules: -1 with a message);
 * else not looked at. */
int answer_judge(struct answer_judge *j, enum answer_rules rules, const char *lang);

/* An answer's tokens; zero it first, reuse freely, answer_free at the end. */
struct answer_tokens { struct token_spans token; struct bytes text, room; };
void answer_free(struct answer_tokens *t);
/* Replaces *t. text: valid UTF-8, NUL-terminated. */
void answer_tokenise(const struct answer_judge *j, const char *text, struct answer_tokens *t);

/* 0 or 1; 0 to 1. f1 sorts both lists. */
bool answer_exact(const struct answer_tokens *a, const struct answer_tokens *b);
double answer_f1(const struct answer_judge *j, struct answer_tokens *predicted,
                 struct answer_tokens *gold);

#endif
