# A translator made of sentence pairs of one's own, from raw text to raw text:
#   make pipeline/mt PARALLEL="de-en=F,G" [VALID="de-en=F,G"] [TEST="de-en=F,G"]
#       [MONO="de=F en=G"] [START=folder] [DIRECTIONS=de-en]
# Line i of F is translated by line i of G; further pairs of files may follow. VALID and TEST are
# drawn from them unless given. MONO: text in one language, which is translated back and learnt
# from, too. START: a model to start from, of this program's or transformers'.
setting VALID_LINES 1000
setting TEST_LINES 1000
setting LONGEST 250
setting LENGTH_RATIO 3
setting DIRECTIONS both
setting MONO_LINES 50000
[ -n "${PARALLEL-}" ] || refuse PARALLEL \
    'not given; say for example PARALLEL="de-en=pairs.de,pairs.en"'

# --- what is given, looked at before anything runs ------------------------------------------------
part given
part given-pairs
split_pairs
declare -A mono=() read_mono=()
items MONO "${MONO-}"
for item in "${items[@]}"; do
    given MONO "$item"
    case $key in $A|$B) ;; *) refuse MONO "language $key is none of PARALLEL's";; esac
    [ -z "${mono[$key]+x}" ] ||
        refuse MONO "language $key is named twice; a glob or a folder takes many files"
    all_files MONO "$item"
    was=$bad; looked_at MONO "$key" "${files[@]}"
    [ "$bad" != "$was" ] || language_seen MONO "$key" 1 "${files[@]}"
    for f in "${files[@]}"; do
        mono[$key]+=" $(listed "$f")" read_mono[$key]+=" $(quoted "$f")"
    done
done
none_bad
[ "$n" -ge 100 ] || refuse PARALLEL "$n pairs in all are too few to learn from; some" \
    "thousands make a first translator"
[ "$n" -ge 1000 ] || note "PARALLEL: $n pairs in all are few: expect single words to be right and" \
    "hardly a sentence; some thousands make a first translator, START= a model that knows the" \
    "languages a better one"
case $DIRECTIONS in
both) directions="$A-$B $B-$A";;
"$A-$B"|"$B-$A") directions=$DIRECTIONS
    [ ${#mono[@]} = 0 ] || refuse MONO "text is translated back by the other direction, too:" \
        "leave DIRECTIONS away";;
*) refuse "DIRECTIONS=$DIRECTIONS" "both, $A-$B or $B-$A";;
esac
! declare -F sized > /dev/null || sized "$n"
decoding

# --- pairs to learn from, to stop by, to measure with ---------------------------------------------
split_stages
if [ -n "${START-}" ]; then
    part start; start_from START
    from="--raw --model $start" reads=$start_reads pairs=raw
else
    part text
    from="--vocab vocab --codes codes --tokenizer tokenizer $MODEL" reads="vocab codes tokenizer"
    pairs=bpe
fi
# trained SEED SYSTEM FROM READS PARALLEL: a model, by early stop
trained() {
    local d valid= in=
    for d in $directions; do
        valid+=" --valid $d=$pairs/valid.${d%-*},$pairs/valid.${d#*-}"
        in+=" $pairs/valid.${d%-*} $pairs/valid.${d#*-}"
    done
    train s$1.$2.mt  s$1/$2/mt/ : $4 $in : \
        "exec finetune --task mt $3$5$valid $MT --seed $1 --device $DEVICE $RESUME --out s$1/$2/mt"
}
# translated SEED SYSTEM TITLE: the test text by it, from raw text to raw text, with scores
rows=
translated() {
    local d m=s$1/$2
    for d in $directions; do
        train s$1.$2.$d  $m/$d : $m/mt raw/test.${d%-*} : \
            "translate --raw --model $m/mt --src ${d%-*} --tgt ${d#*-} $DECODE --device $DEVICE
                < raw/test.${d%-*} > $m/$d"
        measured $1 "$3" $d $m
    done
}
measured() {    # SEED TITLE DIRECTION FOLDER
    local name=${4////.}
    stage $name.score.$3  $4/score.$3 : $4/$3 raw/test.${3#*-} : \
        "bleu -l $3 -w 2 -m bleu chrf --confidence --row '$1,$2,$3' raw/test.${3#*-} < $4/$3
            > $4/score.$3"
    rows+=" $4/score.$3"
}
for d in $directions; do
    quick copy.$d  base/copy/$d : raw/test.${d%-*} : "cp raw/test.${d%-*} base/copy/$d"
    measured - copying $d base/copy
done
for s in $SEEDS; do
    parallel= in=
    for d in $directions; do
        parallel+=" --parallel $d=$pairs/train.${d%-*},$pairs/train.${d#*-}"
        in+=" $pairs/train.${d%-*} $pairs/train.${d#*-}"
    done
    trained $s supervised "$from" "$reads$in" "$parallel"
    translated $s supervised supervised
    best=supervised
done

# --- text in one language, translated back: its translation is a source ---------------------------
for l in "${!mono[@]}"; do
    stage raw.mono.$l  raw/mono.$l raw/mono.$l.tsv : \
        $P/split-mono $P/{as-lines,plain} $P/unescape.awk raw/{train,valid,test}.$l${mono[$l]} : \
        "$P/split-mono $unescape$l $MONO_LINES $LONGEST${read_mono[$l]}"
    counted+=" raw/mono.$l.tsv"
done
if [ ${#mono[@]} -gt 0 ]; then
    quick page.mono  page/1-text.tsv : $counted : \
        "{ echo '# Text in one language; some $web' && printf 'language\tread\tempty\ttoo long\tin'
           && printf ' the pairs\trepeated\tnot used\tused\n' && cat$counted; } > page/1-text.tsv"
    for s in $SEEDS; do
        m=s$s/supervised parallel= in=
        for d in $A-$B $B-$A; do
            x=${d%-*} y=${d#*-} back=
            if [ -n "${mono[$y]-}" ]; then
                train s$s.back.$d  s$s/back/$d.$x : $m/mt raw/mono.$y : \
                    "translate --raw --model $m/mt --src $y --tgt $x --device $DEVICE < raw/mono.$y
                        > s$s/back/$d.$x"
                quick s$s.back.both.$d  s$s/back/both.$d.{$x,$y} : s$s/back/$d.$x raw/mono.$y \
                    raw/train.{$x,$y} : \
                    "cat raw/train.$x s$s/back/$d.$x > s$s/back/both.$d.$x &&
                        cat raw/train.$y raw/mono.$y > s$s/back/both.$d.$y"
                back=s$s/back/both.$d
            fi
            : "${back:=raw/train}"
            parallel+=" --parallel $d=$back.$x,$back.$y" in+=" $back.$x $back.$y"
        done
        pairs=raw
        trained $s back-translation "--raw --model $m/mt" "$m/mt$in" "$parallel"
        translated $s back-translation "and back-translation"
        best=back-translation
    done
fi
# the sixth column of the rows has intervals
quick results  results.tsv : $rows : "cut -f 1-5$rows > results.tsv"
quick page.scores  page/2-scores.tsv : $rows : \
    "{ echo '# Test text: scores with 95% intervals (bootstrap, 1,000 resamples)' &&
       printf 'system\tseed\tdirection\tmetric\tscore\tinterval\n' &&
       awk -F '\t' -v OFS='\t' '{ print \$2, \$1, \$3, \$4, \$5, \"± \" \$6 }'$rows; }
       > page/2-scores.tsv"
for d in $directions; do
    use "translate ${d/-/ to }" "@BIN@/translate --raw --model @RUN@/s${SEEDS%% *}/$best/mt
        --src ${d%-*} --tgt ${d#*-} $DECODE < @RUN@/raw/test.${d%-*}"
done
