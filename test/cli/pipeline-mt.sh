# mt and align: what cannot be used is refused in one line before anything runs, what may be wrong
# is noted, and pairs are cleaned and held out as they say.
. "$TOP/test/cli/lib.sh"
covered pipeline-own, pipeline-rehearse
unset MAKEFLAGS MAKELEVEL MFLAGS CORPUS_CACHE RUN SEEDS SCALE LIFELINE A B DEVICE PARALLEL VALID \
    TEST MONO START MODEL TEXT GOLD
export MAKE=make MAKEFLAGS= RUNS=$PWD/runs
P=$TOP/pipelines
# lines FORMAT MORE: 480 sentences of the same sense in each language, some longer than others
lines() {
    local n k; for n in $(seq 480); do
        printf "$1" "${words[n % 12]}" $n; for ((k = n % 7; k > 0; k--)); do printf ' %s' "$2"; done
        echo
    done
}
words=(house dog car tree book girl boy man child city river street)
lines 'This is the %s and it was with you at %d o'"'"'clock, not the other.' 'and so on' > en
words=(Haus Hund Auto Baum Buch Mädchen Junge Mann Kind Stadt Fluss Straße)
lines 'Das ist nicht der %s und es war mit dir um %d Uhr, auf dem anderen.' 'und so weiter' > de
words=(maison chien auto arbre livre fille garçon homme enfant ville fleuve rue)
lines 'Ce n’est pas la %s et il est avec vous dans le %d, sur les autres.' 'et ainsi de suite' > fr
words=(дом собака машина дерево книга девочка мальчик человек ребёнок город река улица)
lines 'Это не %s, и он был с тобой на %d, а не как вы.' 'и так далее' > ru
refused() {     # RECIPE PATTERN SETTING...
    local recipe=$1 pattern=$2; shift 2
    fails 2 "^make: $pattern" env "$@" BIN="$BIN" "$P/conduct" pipeline $recipe
    [ ! -e runs ] || fail "something was begun: $*"
}
noted() {       # PATTERN SETTING...: one note beside the one about few pairs, or none
    local pattern=$1; shift
    env "$@" BIN="$BIN" "$P/conduct" plan mt 2>&1 > plan |
        grep -v ' pairs in all are few' > notes || true
    [ "$(wc -l < notes)" = "${pattern:+1}" ] || [ -z "$pattern$(cat notes)" ] ||
        fail "$*: $(cat notes)"
    [ -z "$pattern" ] || grep -qE "^make: note: PARALLEL: $pattern" notes ||
        fail "$*: no note like '$pattern': $(cat notes)"
}
head -n 50 en > fifty.en; head -n 50 de > fifty.de; head -n 479 de > short.de
sed 's/.*//' en > blank; : > empty
refused mt 'PARALLEL: not given; say for example PARALLEL="de-en=pairs.de,pairs.en"'
refused mt 'PARALLEL: 50 pairs in all are too few to learn from' \
    PARALLEL=de-en=fifty.de,fifty.en
refused mt 'PARALLEL: short.de has 479 lines and en 480: they are not aligned' \
    PARALLEL=de-en=short.de,en
refused mt 'PARALLEL: blank: all of its lines are empty' PARALLEL=de-en=de,blank
refused mt 'PARALLEL: empty: is empty' PARALLEL=de-en=empty,en
refused mt 'PARALLEL: none: cannot be read' PARALLEL=de-en=de,none
refused mt 'PARALLEL: en and en have the same text' PARALLEL=de-en=en,en
refused mt 'PARALLEL: ru has Cyrillic letters and en Latin: are they swapped\? Then say ru-en=' \
    PARALLEL=en-ru=ru,en
refused mt "PARALLEL: 'de-en=de' is not A-B=FILE,FILE" PARALLEL=de-en=de
refused mt "PARALLEL: 'de=de,en' is not A-B=FILE,FILE" PARALLEL=de=de,en
refused mt 'PARALLEL: fr-en: the pairs are de-en' PARALLEL='de-en=de,en fr-en=fr,en'
refused mt 'TEST: short.de has 479 lines and en 480' PARALLEL=de-en=de,en TEST=de-en=short.de,en
refused mt "MONO: language fr is none of PARALLEL's" PARALLEL=de-en=de,en MONO=fr=fr
refused mt 'MONO: text is translated back by the other direction' PARALLEL=de-en=de,en MONO=en=en \
    DIRECTIONS=de-en
refused mt 'DIRECTIONS=fr-en: both, de-en or en-de' PARALLEL=de-en=de,en DIRECTIONS=fr-en
refused mt 'START: nowhere: there is no such folder' PARALLEL=de-en=de,en START=nowhere
mkdir other none; echo '{"model_type": "gpt2"}' > other/config.json
refused mt 'START: en: a file; give the folder' PARALLEL=de-en=de,en START=en
refused mt "DECODE: --beam: 'x' is not a whole number" PARALLEL=de-en=de,en 'DECODE=--beam x'
mkdir pointers; echo '{"model_type": "bert"}' > pointers/config.json
printf 'version https://git-lfs.github.com/spec/v1\nsize 9\n' > pointers/model.safetensors
refused align 'MODEL: pointers: has pointers of Git LFS' PARALLEL=de-en=de,en MODEL=pointers
refused align 'MODEL: not given; say for example MODEL=' PARALLEL=de-en=de,en
refused align 'PARALLEL: not given' MODEL=other
refused align 'MODEL: other: "model_type": "gpt2" is not supported; bert, roberta' \
    PARALLEL=de-en=de,en MODEL=other
refused align 'MODEL: none is no folder of a model: neither of ours .* nor of transformers' \
    PARALLEL=de-en=de,en MODEL=none
ckpt import -q -o silent "$TOP/test/golden/interchange/bert"
refused align 'MODEL: the model in silent has no languages; import it again with ckpt import' \
    PARALLEL=de-en=de,en MODEL=silent
ckpt import -q --lang-code de --lang-code fr -o de-fr "$TOP/test/golden/interchange/bert"
refused align 'MODEL: the model in de-fr knows de fr, not en' PARALLEL=de-en=de,en MODEL=de-fr
# notes, and none where nothing is wrong
noted '' PARALLEL=de-en=de,en; noted '' PARALLEL=ru-fr=ru,fr; noted '' PARALLEL=en-de=en,de
noted 'en reads like en and de like de: if they are swapped, say en-de=en,de' PARALLEL=de-en=en,de
{ head -n 320 de; tail -n 160 fr; } > mixed
noted 'about 33% of mixed reads like fr, not de; it is not left out' PARALLEL=de-en=mixed,en
noted 'about 33% of mixed reads like fr, not de' PARALLEL=en-de=en,mixed
awk '{ print NR * 7919 % 487 "\t" $0 }' en | sort -n | cut -f 2 > other.en
noted 'lengths of lines of de and other.en .*\(correlation -?0\.[01][0-9]\)' \
    PARALLEL=de-en=de,other.en

# what is left out, and why; sentences are the same without case, blanks and signs
mkdir raw
{ cat de; printf '%s\n' '' 'Ein Satz.' "$(printf 'lang %.0s' $(seq 251))" 'Kurz.' \
    'Это не то.' 'This is no German at all.' "$(sed -n 7p de | tr a-z A-Z) !" 'Hallo 1 !'; } > in.de
{ cat en; printf '%s\n' 'A line.' '' 'short' \
    'Quite a long sentence stands beside a short one here.' 'This is not it.' \
    'This is no German at all.' "$(sed -n 7p en)" 'Hallo 1 !'; } > in.en
"$P/split-pairs" de en 20 30 250 3 in.de in.en
is "$(cat raw/pairs.tsv)" "$(printf '%s\t%s\t%s\n' read 488 100.0% 'an empty side' 2 0.4% \
    'more than 250 words' 1 0.2% \
    'one side more than 3 times as long as the other, for its language' 1 0.2% \
    'not de in Latin letters and en in Latin' 1 0.2% \
    'not translated: both sides the same' 1 0.2% 'the same pair again' 1 0.2% \
    train 431 88.3% valid 20 4.1% test 30 6.1%)"
for l in de en; do
    { cat $l; echo 'Hallo 1 !'; } | sort > want; sort raw/{train,valid,test}.$l > got; same want got
done
for p in train valid test; do paste raw/$p.de raw/$p.en; done | sort > got
paste de en | sort | comm -13 - got > odd
is "$(cat odd)" "$(printf 'Hallo 1 !\tHallo 1 !')" "pairs that were none"
# nor is a sentence of the test learnt from in another translation
{ cat de; sed 3d de; } > twice.de; { cat en; sed '3d; s/^/So /' en; } > twice.en
"$P/split-pairs" de en 20 30 250 3 twice.de twice.en
awk -F'\t' '{ n[$1] = $2 } END { shared = n["with a sentence of valid or test"]
    exit n["read"] != 959 || shared < 25 || n["train"] + n["valid"] + n["test"] != 959 - shared }
    ' raw/pairs.tsv || fail "$(cat raw/pairs.tsv)"
! grep -qxFf raw/train.de raw/{valid,test}.de || fail "sentences of test in train"
# a test set that is given stays as it is; a sentence of it, other case and other translation, is
# not learnt from
{ echo; sed -n 3p de; sed -n 5p de; } > test.de; { echo A; sed -n 4p en; echo B; } > test.en
sed 's/Das/das/; s/,/ ,/' de > other.de
"$P/split-pairs" --test test.de test.en de en 20 30 250 3 other.de en
same raw/test.de test.de; same raw/test.en test.en
is "$(awk -F'\t' '/sentence of|^train|^valid/ { print $2 }' raw/pairs.tsv | tr '\n' ' ')" \
    "3 457 20 " "lines 3, 4 and 5"
fails 1 'split-pairs: too few pairs: read: 50, train: 40, valid: 5, test: 5' \
    "$P/split-pairs" de en 20 30 250 3 fifty.de fifty.en
# text in one language: none that the pairs have
{ cat en; sed 9q de; sed 4q de; echo; } > mono
"$P/split-pairs" de en 20 30 250 3 de en; "$P/split-mono" en 5 250 mono
is "$(cut -f 2- raw/mono.en.tsv)" "$(printf '494\t1\t0\t480\t4\t4\t5')" \
    "read, empty, too long, in the pairs, repeated, not used, used"
! grep -vxFf de raw/mono.en || fail "not what is new"

# directions, a model to start from, text in one language: the plan is sound
env PARALLEL=de-en=de,en DIRECTIONS=en-de BIN="$BIN" "$P/conduct" plan mt > plan 2> notes
grep -q -- '--parallel en-de=bpe/train.en,bpe/train.de' plan && ! grep -q -- '--src de' plan ||
    fail "one direction"
env PARALLEL=de-en=de,en MONO='de=de en=en' START="$TOP/test/golden/interchange/bert" BIN="$BIN" \
    "$P/conduct" plan mt > plan 2> notes
for want in 'ckpt import .*--lang-code de --lang-code en' 'finetune --task mt --raw --model start' \
    'finetune --task mt --raw --model s1/supervised/mt --parallel de-en=s1/back/both.de-en.de,'; do
    grep -q -- "$want" plan || fail "the plan lacks $want"
done
# more pairs make a larger model
for n in 9000 90000; do
    for l in de en; do
        awk -v n=$n '{ s = s $0 "\n" } END { while (i++ < n / NR) printf "%s", s }' $l > many.$l
    done
    env PARALLEL=de-en=many.de,many.en BIN="$BIN" "$P/conduct" plan mt > plan.$n
done
grep -q -- 'bpe-learn -n 3000 ' plan.9000 && grep -q -- '--dim 192 ' plan.9000 || fail "9,000"
grep -q -- 'bpe-learn -n 10000 ' plan.90000 && grep -q -- '--dim 256 ' plan.90000 || fail "90,000"
