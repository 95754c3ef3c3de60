/* Parts of speech and relations of dependency trees as small numbers: UD 2's, and those of UD
 * 1.2, in which Galactic Dependencies' published order models are written. A treebank is always
 * UD 2; for a model of the older labels its labels are translated. */
#ifndef DERIVE_LABELS_H
#define DERIVE_LABELS_H
#include <stdint.h>
#include "lib/derive/rows.h"

enum label_set { LABELS_UD2, LABELS_UD1 };
enum { LABEL_POS = 32, LABEL_RELATIONS = 128, LABEL_NAME = 24 };

/* Parts of speech: 1..; a head is marked, so NOUN and @NOUN differ. 0: none. */
enum { POS_NONE, POS_NOUN = 8, POS_PRON = 11, POS_PROPN = 12, POS_VERB = 16,
       POS_BOS = 30, POS_EOS = 31 };
/* Relations: REL_HEAD, "@", stands for the head itself; REL_OTHER for one that a model does not
 * have. 0: none. */
enum { REL_NONE, REL_HEAD, REL_OTHER = LABEL_RELATIONS - 1 };

/* Relations have names, a model's own: UD 2 has 37 and these subtypes: nsubj:pass, csubj:pass,
 * aux:pass. */
struct relations { char name[LABEL_RELATIONS][LABEL_NAME]; int n; };
/* UD 2: all of them; UD 1.2: only "@". */
void relations_begin(struct relations *r, enum label_set set);
/* 0: not there */
int relations_find(const struct relations *r, const char *s, size_t n);
/* -1 with a message: full, too long, a space or control character */
int relations_add(struct relations *r, const char *s, size_t n);

/* "NOUN", "@NOUN", "BOS", "EOS": the number, 0 if it is none of the set's. */
int pos_find(enum label_set set, const char *s, size_t n);
const char *pos_name(int pos);
int pos_marked(int pos);              /* of the same word as a head */

/* The labels of a word of a UD 2 treebank in a model's label set. relation: REL_OTHER where the
 * model has no such one. 0, or -1 with a message: UPOS or DEPREL is missing or none of UD 2's. */
struct labels { int pos, relation; };
int labels_of(enum label_set set, const struct relations *r, const struct row *row,
              struct labels *l);

#endif
