# ALBERT's own text, BooksCorpus and Wikipedia, which nobody publishes as a whole: CORPUS_CACHE has
# it, one sentence per line with an empty line behind each document, or Wikipedia alone, of whose
# articles every thousandth is for validation and the one after it for testing. Questions: SQuAD 1.1
# and 2.0, whose development sets are what tables report.
QUESTIONS="squad1 squad2"
part extracted
if extracted albert/train.$A $A; then
    note "ALBERT's text is BooksCorpus and Wikipedia; this is Wikipedia alone"
    stage raw.wikipedia  raw/wikipedia : $(listed "$file/") $sentence_scripts : \
        "$P/sentences --documents $A $(quoted "$file") > raw/wikipedia"
    stage raw.parts  raw/{train,valid,test}.$A : raw/wikipedia : \
        "awk -v RS= '{ to = NR % 1000 == 0 ? \"valid\" : NR % 1000 == 1 ? \"test\" : \"train\";
            print \$0 \"\n\" > (\"raw/\" to \".$A\") }' raw/wikipedia"
else
    for p in train valid test; do published raw.$p  raw/$p.$A albert/$p.$A; done
fi
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
