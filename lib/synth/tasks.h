/* Examples of tasks with known answers, made from meanings: messages are modified, never text,
 * and then expressed in both languages. */
#ifndef SYNTH_TASKS_H
#define SYNTH_TASKS_H
#include "lib/synth/private.h"

enum synth_split { SYNTH_TRAIN, SYNTH_TASK_DEV, SYNTH_TASK_TEST };
enum { NLI_ENTAILMENT, NLI_NEUTRAL, NLI_CONTRADICTION };

/* Two messages and the class of the pair.
 *
 * NLI: the hypothesis is drawn first, whatever the label, and the premise made from it; so nothing
 * in a hypothesis can tell the label. A hypothesis has one of three things that make its verb
 * phrase more specific (a place, an adverb, an adjective of the object) and lacks another. An
 * affirmative one follows from a more specific premise, a negated one from a less specific one; the
 * other way round it does not, and is neutral, as it is of a premise about another person (subjects
 * that are names). It is contradicted by its negation, and by what the negation follows from.
 *
 * Paraphrase: 1: the adverb elsewhere, synonyms drawn again; 0: subject and object have changed
 * places, or their adjectives have. One side is as the grammar draws it or exchanged by the toss of
 * a coin, so neither side alone tells the label. */
struct synth_pair { struct message first, second; int label; };
void synth_nli(const struct synth *s, enum synth_split split, uint64_t index, struct synth_pair *p);
void synth_paraphrase(const struct synth *s, enum synth_split split, uint64_t index,
                      struct synth_pair *p);

/* A message of any kind; with a name, if `named`. */
void synth_plain(const struct synth *s, enum synth_split split, uint64_t index, bool named,
                 struct message *m);

/* Four statements whose subjects and verbs differ, and which of them (0 to 3) is asked for: the
 * question is that statement with "which" for its subject. */
enum { SYNTH_STATEMENTS = 4 };
struct synth_question { struct message statement[SYNTH_STATEMENTS], question; int asked; };
void synth_qa(const struct synth *s, enum synth_split split, uint64_t index,
              struct synth_question *q);

#endif
