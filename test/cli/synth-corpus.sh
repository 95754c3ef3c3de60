# synth-corpus: the files are there, whole, and the same for any number of threads.
. "$TOP/test/cli/lib.sh"

synth-corpus --out a --sentences 3000 --dev 100 --test 120 --seed 7 --threads 1
is "$(cd a; ls -A | tr '\n' ' ')" \
    "dev.xa dev.xa.pos dev.xb dev.xb.pos dict.tsv "\
"mono.xa mono.xa.pos mono.xb mono.xb.pos test.xa test.xa.pos test.xb test.xb.pos "
for f in a/mono.*; do is "$(wc -l < "$f")" 3000 "$f"; done
for f in a/dev.*; do is "$(wc -l < "$f")" 100 "$f"; done
for f in a/test.*; do is "$(wc -l < "$f")" 120 "$f"; done

synth-corpus --out b --sentences 3000 --dev 100 --test 120 --seed 7 --threads 3
diff -r a b || fail "threads change the bytes"
# Same seed, same bytes, on any machine. A change of the grammar changes this line: say so in the
# commit.
is "$(cd a; cat * | sha256sum)" \
    "e07094b2f8406faa1343a80c06d4cbb1f0bbef2796aabe6232a90786c3caf63b  -"

synth-corpus --out c --sentences 3500 --dev 100 --test 120 --seed 7
head -3000 c/mono.xb | cmp - a/mono.xb || fail "more sentences must continue a corpus"
synth-corpus --out d --sentences 3000 --dev 100 --test 120 --seed 8
cmp -s a/mono.xa d/mono.xa && fail "another seed, the same corpus"

# One tag a token, where punctuation is split off.
for f in mono.xa mono.xb dev.xa test.xb; do
    same <(sed 's/\([.,?!]\)/ \1/g' a/$f | awk '{ print NF }') <(awk '{ print NF }' a/$f.pos)
done
is "$(sort a/dev.xa a/test.xa | uniq -d |
    wc -l)" 0 "a sentence of the development set is in the test set"
is "$(sort a/mono.xa a/dev.xa a/test.xa | uniq -d | sort | comm -12 - <(sort a/dev.xa a/test.xa) |
    wc -l)" 0 "a sentence of the corpus is in a test set"
is "$(LC_ALL=C sort -c a/dict.tsv && awk -F '\t' 'NF != 2 || $1 == "" || $2 == ""' a/dict.tsv |
    wc -l)" 0 "the dictionary"

synth-corpus --out e --sentences 10 --dev 0 --test 0 --invert --shared 0 --order vso,svo \
    --adjective after,before
is "$(wc -c < e/dev.xa)" 0

# Tasks: the corpus is as it was, the files are there, gold given as prediction is right, any number
# of threads.
synth-corpus --out f --sentences 3000 --dev 100 --test 120 --seed 7 --tasks 80 --threads 1
is "$(cd f; ls | grep \
    -cE '^(nli|paws|pos|ner)\.(train|dev|test)\.x[ab]\.tsv$|^qa\.(train|dev|test)\.x[ab]\.json$')" \
        30
for x in a/*; do same "$x" "f/${x#a/}"; done
is "$(cat f/nli.{train,dev,test}.xa.tsv | wc -l)" 100
synth-corpus --out g --sentences 10 --tasks 80 --seed 7 --threads 3
for x in f/*.tsv f/*.json; do [ "$x" = f/dict.tsv ] || same "$x" "g/${x#f/}"; done
cut -f3 f/nli.dev.xb.tsv | score -q -m accuracy f/nli.dev.xa.tsv --resamples 0 > got
is "$(awk -F '\t' 'END { print $3 }' got)" 100.0 "labels of both languages"
sed -nE 's/.*"id": "([^"]*)".*"text": "([^"]*)".*/"\1": "\2"/p' f/qa.dev.xb.json | paste -sd, |
    sed 's/.*/{&}/' | score -m squad f/qa.dev.xb.json > got 2> err
is "$(awk -F '\t' 'NR > 1 { printf "%s ", $3 }' got)" "100.0 100.0 " "answers"
[ ! -s err ] || { cat err; fail "answers that are not at their place"; }

# These, too, have the same bytes on any machine, and so has a corpus of other settings: more shared
# words than names, other orders, one turned round.
is "$(cd f; cat nli.* paws.* pos.* ner.* qa.* | sha256sum)" \
    "6b5671696aef046d00a3dcc92e2ec727297dae35be7962a11c40cca73c30ac94  -"
synth-corpus --out h --sentences 400 --dev 20 --test 20 --seed 3 --lexicon 200 --topics 5 \
    --shared 0.4 --order vso,svo --adjective after,before --invert
is "$(cd h; cat * | sha256sum)" \
    "0633d5a659e3bd9b616b7bedc47ad04fd9c70eed562c19850894ea17dc8529df  -"

# The share of words that are spelt alike is of the lexicon: 0.05 of 600; half of 101 is 50.
alike() { awk -F '\t' '$1 == $2 { n++ } END { print n + 0 }' "$1/dict.tsv"; }
is "$(alike a)" 30
synth-corpus --out half --sentences 1 --dev 0 --test 0 --lexicon 101 --topics 10 --shared 0.5
is "$(alike half)" 50
is "$(alike e)" 0
fails 2 "--shared: 0.0001 of a lexicon of 600 is no word" synth-corpus --out x --shared 0.0001
fails 2 "--out DIR is needed" synth-corpus
fails 2 "unexpected argument" synth-corpus --out x y
fails 2 "--order: 'svo' is not two of" synth-corpus --out x --order svo
fails 2 "--order: 'svo,ovs' is not two of" synth-corpus --out x --order svo,ovs
fails 2 "--adjective: 'before,between'" synth-corpus --out x --adjective before,between
fails 2 "--topics: 61 is more than a tenth of the lexicon of 600" synth-corpus --out x --topics 61
fails 2 "--shared: 0.6 is not between" synth-corpus --out x --shared 0.6
fails 2 "--sentences: 0 is not between" synth-corpus --out x --sentences 0
[ ! -e x ] || fail "wrong usage made a folder"
echo file > x

# A disk that is full half-way leaves what was there.
cp -r a full
fails 1 "cannot write" bash -c 'ulimit -f 100; exec synth-corpus --out full --sentences 20000'
diff -r a full || fail "a failed run changed its folder"
