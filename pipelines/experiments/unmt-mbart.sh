# MLM-GC's Table 4, the row of mBART with CC25: unsupervised translation that goes on from
# mBART-cc25 (START names its folder) on the same text as the others, by back-translation alone.
# English and German; B=ro: Romanian.
[ $SCALE = paper ] || refuse "SCALE=$SCALE" "mBART is SCALE=paper's; make rehearse/unmt-mbart" \
    "proves the plan"
[ -n "$START" ] || refuse "SCALE=paper" "this goes on from mBART: say START=<its folder> (the" \
    "files of huggingface.co/facebook/mbart-large-cc25)"
languages en de
case $B in de|ro|fr) ;; *) refuse "B=$B" "there are de, fr and ro";; esac
part $CORPUS
part given
part start
start_is START mbart
start_from START
part score
reads= trains=
for l in $LANGS; do
    for p in train valid; do
        stage pieces.$p.$l  pieces/$p.$l : raw/$p.$l $start_reads : \
            "tokenize -q --subwords $start < raw/$p.$l > pieces/$p.$l"
    done
    stage shard.$l  shd/train.$l.shd : pieces/train.$l $start_reads : \
        "binarize -q -v $start/vocab -l $l < pieces/train.$l > shd/train.$l.shd"
    trains+=" --train $l=shd/train.$l.shd" reads+=" shd/train.$l.shd pieces/valid.$l"
done
for d in $directions; do trains+=" --valid $d=pieces/valid.${d%-*},pieces/valid.${d#*-}"; done
results="base/copy/score.$A-$B base/copy/score.$B-$A"
for s in $SEEDS; do
    m=s$s/mbart
    train s$s.mbart.unmt  $m/unmt/ : $start_reads $reads : \
        "exec finetune --task unmt --model $start$trains $UNMT --seed $s --device $DEVICE $RESUME
            --out $m/unmt"
    for d in $directions; do
        train s$s.mbart.$d  $m/$d : $m/unmt raw/test.${d%-*} : \
            "translate -q --raw --model $m/unmt --src ${d%-*} --tgt ${d#*-} $DECODE
                --device $DEVICE < raw/test.${d%-*} > $m/$d"
        scored $m $s "mBART+CC25" $d
        results+=" $m/score.$d"
    done
done
results $results
paper A 4
