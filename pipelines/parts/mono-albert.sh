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
    # of fewer than 1,000 articles, the last for validation and the first for testing
    stage raw.parts  raw/{train,valid,test}.$A : raw/wikipedia : \
        "n=\$(awk -v RS= 'END { print NR }' raw/wikipedia) && { [ \$n -ge 3 ] || {
            echo \"\$n articles: too few to learn from, to choose and to test\" >&2; exit 1; }; } &&
         awk -v RS= -v K=\$((n < 1000 ? n : 1000)) '{
            to = NR % K == 0 ? \"valid\" : NR % K == 1 ? \"test\" : \"train\";
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
