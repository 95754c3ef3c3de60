# Wikipedia in two or more of en, de, es and zh (WIKI_LINES lines of each; TEXT=wiki), sentences in
# their articles' order, no text a translation of another; PAWS-X's sentences of Wikipedia and their
# translations by people pick a translator (dev's) and score it (the rest of dev); MUSE's dictionary
# measures. Languages are drawn, and weigh in BPE, as n^0.5.
[ $A = en ] || refuse "TEXT=wiki A=$A" "its pairs and dictionaries are of English; say A=en"
for l in $LANGS; do
    case $l in en|de|es|zh) ;; *) refuse "TEXT=wiki" "there is no $l; it has en de es zh";; esac
done
[ $EXPERIMENT = gc-wiki ] || FOLDER+=-wiki
setting BPE_ALPHA 0.5 none
[[ " $PRETRAIN " == *" --alpha "* ]] || PRETRAIN+=" --alpha 0.5"
for l in $LANGS; do
    with=$l
    [ $l != en ] || with=$B
    published raw.train.$l  raw/train.$l wikipedia/$l.txt "sed -n '1,${WIKI_LINES}p'"
    published raw.valid.$l  raw/valid.$l pawsx-mt/val.$with-en.$l
    published raw.test.$l   raw/test.$l pawsx-mt/test.$with-en.$l
done
gold=raw/gold.tsv lower=" | sed 's/.*/\L&/'"
[ -z "$cased" ] || gold=raw/gold.any lower=
for r in 0-5000 5000-6500; do available muse/en-$B.$r.tsv; done
stage raw.gold  $gold : $P/fetch $P/sources.tsv : \
    "{ $P/fetch $P/sources.tsv muse/en-$B.0-5000.tsv &&
       $P/fetch $P/sources.tsv muse/en-$B.5000-6500.tsv; }$lower > $gold"

# wiki_pairs LANG FOLDER: sentence pairs of English, FOLDER/pairs.{en,LANG}: Tatoeba's, those of
# LibreOffice's help and Debian's package descriptions (Chinese: the help alone), at most WIKI_LINES
# of each
wiki_pairs() {
    local l=$1 f=$2 s k files
    for k in en $l; do
        files=
        for s in tatoeba-pairs lohelp debian-descriptions; do
            [ $l != zh ] || [ $s = lohelp ] || continue
            published ${f////.}.$s.$k  $f/$s.$k $s/train.$l-en.$k "sed -n '1,${WIKI_LINES}p'"
            files+=" $f/$s.$k"
        done
        # in one order that mixes them: PPA_SIZES takes the first
        stage ${f////.}.pairs.$k  $f/pairs.$k : $files $P/shuffle : \
            "cat$files | $P/shuffle > $f/pairs.$k"
    done
}
