# The systems, and how one is trained on the text of all languages.
system mlm     MLM     "--objective mlm"
system mlm-gc  MLM-GC  "--objective mlm,gc --cooc cooc/all.cooc $GC"  cooc/all.cooc
setting SYSTEMS "$NAMED"
# What has to be asked for: PMI-Masking, whose n-grams each language's text gives.
setting NGRAMS ""
case " $SYSTEMS " in *" pmi "*)
    part ngrams
    system pmi  MLM+PMI  "--objective mlm --mask-scheme pmi$named"  $lists;;
esac
# MLM-GC by its authors' code, whatever GC_AS is.
case " $SYSTEMS " in *" mlm-gc-code "*)
    coocs=
    for l in $LANGS; do
        stage cooc.code.$l  cooc/code.$l.cooc : vocab bpe/train.$l : \
            "cooc-count -w $GC_WINDOW --weights glove${GC_SKIP:+ --skip $GC_SKIP} -v vocab
                $l=bpe/train.$l > cooc/code.$l.cooc"
        coocs+=" cooc/code.$l.cooc"
    done
    stage cooc.code  cooc/code.cooc : $coocs : "cooc-merge --normalize $A$coocs > cooc/code.cooc"
    system mlm-gc-code  "MLM-GC by the code" \
        "--objective mlm,gc --cooc cooc/code.cooc $gc_code $gc_alone"  cooc/code.cooc;;
esac
names=$NAMED
for y in pmi mlm-gc-code mass mass-gc; do
    [[ " $names " == *" $y "* ]] || names+=" $y"
done
among SYSTEMS $names
# MASS, whose decoder translation goes on with (MASS_UNMT="--denoise 0" is its authors'
# fine-tuning).
case " $SYSTEMS " in *" mass"*)
    written="--decoder-layers $(sed -n 's/.*--layers \([0-9]*\).*/\1/p' <<< "$MODEL")"
    # it reads sentences
    [[ $PRETRAIN != *--stream* ]] || written+=" --stream 0"
    system mass  MASS  "--objective mass $written"
    case "$GC_AS $GC " in *"--gc-side enc "*|paper*) ;; *)
        [[ " $SYSTEMS " != *" mass-gc "* ]] ||
            refuse "GC_AS=$GC_AS SYSTEMS=mass-gc" \
                "MASS's decoder sees no neighbours that can be read; add --gc-side enc to GC";;
    esac
    system mass-gc  MASS-GC  "--objective mass,gc $written --cooc cooc/all.cooc $GC" \
        cooc/all.cooc;;
esac
model() {       # SEED SYSTEM: a model, and its vectors of each language's words
    local s=$1 y=$2 l trains= valids= shards=
    for l in $LANGS; do
        trains+=" --train $l=shd/train.$l.shd" valids+=" --valid $l=shd/valid.$l.shd"
        shards+=" shd/train.$l.shd shd/valid.$l.shd"
    done
    train s$s.$y.pretrain  s$s/$y/pretrain/ : \
        $shards vocab codes tokenizer ${INIT:+words/init.vec} ${needs[$y]} : \
        "exec pretrain$trains$valids
            -v vocab $text_files $unknown $INIT $MODEL $PRETRAIN ${options[$y]}
            --seed $s --device $DEVICE $RESUME --out s$s/$y/pretrain"
    for l in $LANGS; do
        stage s$s.$y.vectors.$l  s$s/$y/$l.vec : s$s/$y/pretrain words/$l.vocab : \
            "embed --model s$s/$y/pretrain --layer 0 --words words/$l.vocab --device cpu
                > s$s/$y/$l.vec"
    done
}
