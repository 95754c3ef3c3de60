# ALBERT's own text, BooksCorpus and Wikipedia, which nobody publishes as a whole: CORPUS_CACHE has
# it, one sentence per line with an empty line behind each document. Questions: SQuAD 1.1 and 2.0,
# whose development sets are what tables report.
QUESTIONS="squad1 squad2"
for p in train valid test; do published raw.$p  raw/$p.$A albert/$p.$A; done
for v in 1 2; do
    for p in train dev; do
        published raw.squad$v.$p  raw/squad$v.$p squad/$p-v$v.json
    done
    quick squad$v.train  task/squad$v/train.json : raw/squad$v.train : \
        "cp raw/squad$v.train task/squad$v/train.json"
    for p in valid test; do
        quick squad$v.$p  task/squad$v/$p.json : raw/squad$v.dev : \
            "cp raw/squad$v.dev task/squad$v/$p.json"
    done
done
