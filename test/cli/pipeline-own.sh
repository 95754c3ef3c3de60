# Own text: what cannot be used is refused in one line before anything runs; lines that are left out
# are counted, and no line of valid or test is in train.
. "$TOP/test/cli/lib.sh"
unset MAKEFLAGS MAKELEVEL MFLAGS CORPUS_CACHE RUN SEEDS SCALE LIFELINE A B DEVICE PARALLEL GOLD TEXT
export MAKE=make MAKEFLAGS= RUNS=$PWD/runs SCALE=smoke
seq -f 'A line with the number %.0f .' 1 300 > en.txt
{ sed 3q en.txt; echo; echo; seq 300 |
    tr '\n' ' '; echo; printf 'ends without a newline'; } > more.txt
seq -f 'Zeile mit der Zahl %.0f .' 1 250 | gzip > de.gz
mkdir web; seq -f 'Une ligne avec %.0f .' 1 120 > web/a.txt; seq -f 'Encore %.0f .' 1 80 > web/b.txt
refused() {     # PATTERN SETTING...
    local pattern=$1; shift
    fails 2 "^make: $pattern" env "$@" BIN="$BIN" "$TOP/pipelines/conduct" pipeline own
    [ ! -e runs ] || fail "something was begun: $*"
}
refused 'TEXT: not given; say for example TEXT="en=news'
refused 'TEXT: en=none/\*.gz matches no file' TEXT="en=none/*.gz de=de.gz"
refused 'TEXT: language en is named twice' TEXT="en=en.txt de=de.gz en=more.txt"
refused "TEXT: 'en.txt' is not NAME=FILE" TEXT="en.txt"
refused 'language E: two to eight small letters' TEXT="E=en.txt de=de.gz"
mkdir pdf void; printf '%%PDF-1.7\nx\n' > pdf/a.pdf
refused 'TEXT: .*/pdf/a.pdf: a PDF; take its text out first' TEXT="en=pdf de=de.gz"
refused 'TEXT: en=void: no file is in it' TEXT="en=void de=de.gz"
mkdir mixed; cp en.txt mixed/1; { sed 7q en.txt; printf 'caf\xe9 au lait\n'; sed 5q en.txt
} > mixed/2
refused 'TEXT: .*/mixed/2: line 8 is not UTF-8; convert it first: iconv' TEXT="en=mixed de=de.gz"
mkdir one; cp en.txt one/1; printf 'caf\xe9\n' > one/2       # its last line, which is whole
refused 'TEXT: .*/one/2: line 1 is not UTF-8' TEXT="en=one de=de.gz"
gzip -c en.txt > whole.gz; head -c 200 whole.gz > cut
refused 'TEXT: .*/cut: damaged: gzip: .*unexpected end of file' TEXT="en=cut de=de.gz"
printf '\xff\xfea\0' > utf16; refused 'TEXT: .*/utf16: UTF-16; convert' TEXT="en=utf16 de=de.gz"
printf 'a\0b\n' > zero; refused 'TEXT: .*/zero: has zero bytes' TEXT="en=zero de=de.gz"
# all that is wrong with files at once; what they may be instead of UTF-8
printf 'Er sagte \x84ja\x93.\n' > cp1252
printf '\xcf\xf0\xe8\xe2\xe5\xf2, \xec\xe8\xf0\n' > cp1251
printf 'na\xc3\xafve caf\xc3\xa9\nab\xff\n' > torn
mkdir bad; cp cp1252 utf16 bad
all=0
TEXT="en=bad ru=cp1251 de=torn" PARALLEL=en-de=zero,de.gz BIN=$BIN "$TOP/pipelines/conduct" \
    plan own 2> why || all=$?
is "$all" 2; sed -i "s|$PWD/||; s|; |\n|" why
cat > want <<'END'
make: TEXT: bad/cp1252: line 1 is not UTF-8
convert it first: iconv -f WINDOWS-1252 -t UTF-8
make: TEXT: bad/utf16: UTF-16
convert it first: iconv -f UTF-16 -t UTF-8
make: TEXT: cp1251: line 1 is not UTF-8
is it WINDOWS-1251, "Привет, мир"? Then convert it: iconv -f WINDOWS-1251 -t UTF-8
make: TEXT: torn: line 2 is not UTF-8
most of it is UTF-8; iconv -c -f UTF-8 -t UTF-8 leaves out what is not
make: PARALLEL: zero: has zero bytes in it, is it text?
END
same why want
sed 9q en.txt > nine; sed 10q en.txt > ten; sed 's|with the|mit der|' ten > zehn
refused 'PARALLEL: nine has 9 lines and ten 10: they are not aligned' TEXT="en=en.txt de=de.gz" \
    PARALLEL=en-de=nine,ten
printf %s "$(cat nine)" > open; refused 'PARALLEL: open has 9 lines and ten 10' \
    TEXT="en=en.txt de=de.gz" PARALLEL=en-de=open,ten
refused 'PARALLEL: language fr has no TEXT' TEXT="en=en.txt de=de.gz" PARALLEL=en-fr=ten,ten
refused 'PARALLEL: de-en: say en-de' TEXT="en=en.txt de=de.gz" PARALLEL=de-en=ten,ten
printf 'a b\n\nword\n' > gold; refused 'GOLD: gold: line 3 has only one word' \
    TEXT="en=en.txt de=de.gz" GOLD=en-de=gold
refused 'GOLD: one/2: line 1 is not UTF-8' TEXT="en=en.txt de=de.gz" GOLD=en-de=one/2
refused 'GOLD: de.gz: most lines have more than four words' TEXT="en=en.txt de=de.gz" \
    GOLD=en-de=de.gz
# too little, in another script, on one line, of another program; models that there are not
sed 's/.*//' en.txt > blank; tr '\n' ' ' < en.txt > line; head -c 9000 "$BIN/bleu" > program
sed 's/[a-z]/и/g' en.txt > cyrillic
refused 'TEXT: .*/blank: all of its lines are empty' TEXT="en=blank de=de.gz"
refused 'TEXT: .*/nine: 9 lines with text; at least 100' TEXT="en=nine de=de.gz"
refused 'TEXT: .*/line: 1 lines with text' TEXT="en=line de=de.gz"
refused 'TEXT: .*/program: is not text' TEXT="en=program de=de.gz"
refused 'TEXT: .*/cyrillic: 100% of its lines are not in Latin letters' TEXT="en=cyrillic de=de.gz"
refused 'PARALLEL: nine and nine have the same text' TEXT="en=en.txt de=de.gz" \
    PARALLEL=en-de=nine,nine
refused 'SYSTEMS=mlm gcmlm: there is no gcmlm' TEXT="en=en.txt de=de.gz" SYSTEMS="mlm gcmlm"
# text that reads like another language is noted
seq -f 'Die Katze und der Hund mit der Zahl %.0f in dem Haus' 300 > german
TEXT="en=german de=de.gz" BIN=$BIN "$TOP/pipelines/conduct" plan own 2> why > plan
is "$(sed "s|$PWD/||" why)" \
    "make: note: TEXT: about 100% of german reads like de, not en; it is not left out"
gzip -c nine > nine.z; zstd -q nine -o nine.y; ln -s nine.y link; ln -s nine.z link.zst
for f in nine.z nine.y link link.zst; do    # whatever they are called, and behind links
    refused "PARALLEL: $f has 9 lines and ten 10" TEXT="en=en.txt de=de.gz" PARALLEL=en-de=$f,ten
done

# Names are names, whatever they look like: nothing is taken for an option or a word of a shell, and
# a plan leaves all as it is. Nor does make hand its targets to a shell.
printf 'word\tWort\n' > 'pairs of words'
mkdir odd; cd odd
mkdir 'my texts' 'de=1'
names=(-delete -exec -rf -- -n '$(touch x)' "it's" 'a;b' 'a&b|c' $'new\nline' 'a*b' '[x]' '`b`'
    '"' 'x\y')
for n in "${names[@]}"; do cp ../en.txt "./$n"; cp ../en.txt "my texts/$n"; done
gzip -dc ../de.gz > 'de=1/t 1'
sed 's/with the/mit der/' ../en.txt > ./--
find . -type f -exec sha256sum {} + | sort > ../was
for t in -delete '-*' . 'my texts/*'; do
    TEXT=" en=$t
        de=de=1/ " GOLD="en-de=../pairs of words" PARALLEL=en-de=-n,-- BIN=$BIN \
            "$TOP/pipelines/conduct" plan own > ../plan 2> ../why ||
        { cat ../why; fail "TEXT=en=$t"; }
    grep -q 'split-text en' ../plan || fail "no plan of $t"
done
find . -type f -exec sha256sum {} + | sort > ../now; same ../was ../now
cd ..
mkdir goal; for t in 'plan/$(touch goal/1)' 'plan/x`touch goal/2`' 'plan/x;touch goal/3' \
    "plan/'\$(touch goal/4)'" $'plan/x\ntouch goal/5' 'plan/../x'; do
    ! make -f "$TOP/pipelines/rules.mk" O=. experiment= "$t" > out 2>&1 || fail "make $t"
    is "$(ls goal)" "" "make $t"
done
# settings are looked at before anything runs
for v in SEEDS=1,2 'SEEDS=1 1' SEEDS=-1 DEVICE=gpu PRECISION=fp16 GPU_JOBS=x VALID_LINES=some \
    LONGEST=2.5 RUN=-rf \
    'MODEL=--layers 1;x' 'PRETRAIN=$(x)' LAUNCH_GPU=none-such UNESCAPE=yes; do
    refused "${v%%=*}" TEXT="en=en.txt de=de.gz" "$v"
done

# three languages from files, folders and gz: the plan is sound, and splitting does what it says
env TEXT="en=en*.txt de=de.gz fr=web/" PARALLEL=en-de=ten,zehn BIN="$BIN" \
    "$TOP/pipelines/conduct" \
    plan own > plan || fail plan
for want in 'pretrain --train en=.*--train de=.*--train fr=' 'retrieve --score ratio' \
    'words/en-fr.dict'; do
    grep -q -- "$want" plan || fail "the plan lacks $want"
done
mkdir raw; "$TOP/pipelines/split-text" en 20 30 250 en.txt more.txt
is "$(cat raw/en.counts)" "$(printf 'en\t307\t0\t0\t2\t1\t3\t251\t20\t30')" \
    "lines read, with entities, with tags, empty, long, repeated, train, valid, test"
is "$(cat raw/train.en raw/valid.en raw/test.en | sort | uniq -d | wc -l)" 0
{ cat en.txt; echo 'ends without a newline'; } |
    sort > want; sort raw/{train,valid,test}.en > got; same got want
is "$(ls raw)" "$(printf 'en.counts\ntest.en\ntrain.en\nvalid.en')"
zstd -q en.txt -o en.zst; ln -s en.zst link.en
rm raw/*; "$TOP/pipelines/split-text" en 20 30 250 link.en
is "$(cat raw/en.counts)" "$(printf 'en\t300\t0\t0\t0\t0\t0\t250\t20\t30')" "through a link"
# what web pages leave in text, as Python's html.unescape has it; tags are a space
cat > web.txt <<'END'
a &amp; b &lt;b&gt; &eacute; &#8364; &#x20AC; &#228;&nbsp;x &bogus; AT&T; &#150; &yuml;
<p class="x">Hallo<br/> Welt</p> 1 < 2 > 0 <3
a<b and c>d &frac12; &#1114112; &#55296; &#128512; &hellip;
END
{ seq -f 'Zeile %.0f.' 1 120; cat web.txt; } > web.in
rm raw/*; "$TOP/pipelines/split-text" en 5 5 250 web.in
is "$(cut -f 2-4 raw/en.counts)" "$(printf '123\t2\t1')" "entities and tags"
grep -qF 'a &amp; b' raw/*.en || fail "text was changed"
"$TOP/pipelines/split-text" --unescape en 5 5 250 web.in
is "$(cut -f 2-4 raw/en.counts)" "$(printf '123\t2\t1')" "entities and tags that were mended"
cat raw/{train,valid,test}.en | grep -v Zeile | sort > got
sort > want <<'END'
a & b <b> é € € ä x &bogus; AT&T; – ÿ
Hallo Welt 1 < 2 > 0 <3
a<b and c>d ½ � � 😀 …
END
sed -i 's/ä x/ä\xc2\xa0x/' want; same got want
# what is written has no room: no word about the text, which is right and longer than pipes hold
seq -f 'A line with the number %.0f .' 1 20000 > long
mkdir full; ln -s /dev/full full/lines; mktemp() { echo full; }; export -f mktemp
"$TOP/pipelines/split-text" en 20 30 250 long 2> why && fail "a full disk passes"
grep -q 'No space left' why && ! grep -q UTF-8 why || fail "$(cat why)"
unset -f mktemp
fails 1 'split-text: fr: of 9 lines 9 are left .0 empty, 0 too long, 0 repeated.; at least 100' \
    "$TOP/pipelines/split-text" fr 20 30 250 nine
fails 1 'mixed/2: not UTF-8' "$TOP/pipelines/split-text" fr 20 30 250 en.txt mixed/2

# best pairs both ways, spelt alike and not; what is near ten frequent words
printf '</s> 0\nthe 50\nhund 9\nradio 5\nno1 4\nhaus 3\n' > x.vocab
printf '</s> 0\nder 40\ndog 8\nradio 6\nno2 4\nhouse 2\n' > y.vocab
{   printf 'the\tder\t.5\nthe\tdog\t.25\nhund\tdog\t.75\nhund\thouse\t.1\nradio\tradio\t.9\n'
    printf 'no1\tno2\t.4\nhaus\tdog\t.3\n'; } > x.dict
{   printf 'der\tthe\t.5\ndog\thund\t.75\ndog\thaus\t.3\nradio\tradio\t.9\nno2\tno1\t.4\n'
    printf 'house\thund\t.1\n'; } > y.dict
awk -v NEIGHBOURS=near -f "$TOP/pipelines/best-pairs.awk" x.vocab y.vocab y.dict x.dict > best
{   printf 'the\tder\t.5\t50\t40\t\nhund\tdog\t.75\t9\t8\t\n'
    printf 'radio\tradio\t.9\t5\t6\tsame\nno1\tno2\t.4\t4\t4\t\n'; } > want
same best want
is "$(sed 1,2d near)" "$(printf 'hund\t9\tdog 0.75, house 0.10')"
{ echo 'a	b	score	na	nb	spelt'; cat best; } > dictionary.tsv
awk -v PAIR=a-b -f "$TOP/pipelines/best-page.awk" dictionary.tsv > page.tsv
grep -q '^# .*, a-b: 4 mutual best pairs, 3 of them spelt differently' page.tsv ||
    fail "$(cat page.tsv)"
is "$(sed 1,2d page.tsv)" "$(printf 'the\tder\t.5\t50\t40\nhund\tdog\t.75\t9\t8')"

# words are spelt alike if their letters are: 10 and 10. (a German ordinal), of equal value, are two
printf '</s> 0\n10 9\n05 8\n7 7\n' > x.vocab; printf '</s> 0\n10. 9\n5 8\n7 7\n7.0 6\n' > y.vocab
printf '10\t10.\t.9\n05\t5\t.8\n7\t7.0\t.7\n7\t7\t.6\n' > x.dict
printf '10.\t10\t.9\n5\t05\t.8\n7.0\t7\t.7\n7\t07\t.6\n' > y.dict
awk -v NEIGHBOURS=near -f "$TOP/pipelines/best-pairs.awk" x.vocab y.vocab y.dict x.dict > best
printf '%s\t%s\t%s\t%s\t%s\t\n' 10 10. .9 9 9 05 5 .8 8 8 7 7.0 .7 7 6 > want
same best want
printf '5\t5.0\t.5\n' > x.dict; printf '5.0\t05\t.5\n' > y.dict      # not each other's best
is "$(awk -v NEIGHBOURS=near -f "$TOP/pipelines/best-pairs.awk" x.vocab y.vocab y.dict x.dict)" ""
mkdir -p words; printf '10\t10.\n5\t5\n05\t5\nde\tde\n' > words/en-de.pairs
bash -c "$(sed -n 's/^.* s  apart\.en-de *//p' plan)"
printf '10\t10.\n05\t5\n' > want; same words/en-de.apart want

# a large text has more dimensions, types and steps than a small one, and no re-estimation
for mb in 5 75; do
    head -c ${mb}000000 /dev/zero | tr '\0' 'x' | fold -w 60 > size.txt; echo >> size.txt
    TEXT="en=size.txt de=size.txt" SCALE=own BIN=$BIN "$TOP/pipelines/conduct" plan own > plan.$mb
done
grep -q -- '--max-size 20000 .*' plan.5 && grep -q -- '--src-cooc' plan.5 || fail "5 MB"
grep -q -- '--max-size 50000 .*' plan.75 && ! grep -q -- '--src-cooc' plan.75 || fail "75 MB"
grep -q -- '--steps 4000 ' plan.75 && grep -q -- '--dim 200' plan.75 || fail "75 MB"

# the page's command, pasted into a shell, gives make what it was given
printf '#languages\ten de\n' > given.plan
printf 'x:\n\t@SCALE=own SEEDS=1 DEVICE=cpu TOP=%q %q/pipelines/facts own given.plan > facts\n' \
    "$TOP" "$TOP" > paste.mk
said=("TEXT=en=my texts/*.gz de=it's \\here" 'GOLD=en-de=$$x"y' 'SEEDS=1 2' RUN=a)
env -u SCALE -u RUNS make -s -f paste.mk x "${said[@]}"
(make() { printf '%s\n' "$@" | sort > pasted; }; eval "$(sed -n 's/^command\t//p' facts)")
printf '%s\n' pipeline/own "${said[@]}" | sort > want; same pasted want
