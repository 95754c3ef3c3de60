# MLM-GC on English and German Wikipedia from random embeddings: MLM, GC by the paper's text, GC by
# its authors' code, and GC with counts of other words as frequent, everything else equal.
# Perplexity of PAWS-X's sentences; of the embedding table, by MUSE's dictionary, the cosine of
# translations, what of it is more than words drawn at random have, Hit@1 and RSIM; retrieval of
# PAWS-X's and of Tatoeba's pairs by layer. SYSTEMS="mlm paper paper-0.25 code exchanged": lambdas,
# too.
languages en de
part wiki
part tatoeba
setting GC_BIN 8
form() { system $1 "$2" "--objective mlm,gc --cooc cooc/$3.cooc $gc_alone ${4-}" cooc/$3.cooc; }
form paper     "GC by the text" paper
form code      "GC by the code" code "$gc_code"
form exchanged "GC, exchanged counts" exchanged
form exchanged-code "by the code, exchanged counts" exchanged-code "$gc_code"
setting SYSTEMS "mlm paper code exchanged"
for y in $SYSTEMS; do
    case $y in
    paper-[0-9]*) form $y "text, lambda ${y#*-}" paper "--gc-lambda ${y#*-}";;
    code-[0-9]*) form $y "code, lambda ${y#*-}" code "$gc_code --gc-lambda ${y#*-}";;
    esac
done
GC_WINDOWS= GC_FORMS=1 GC_EXCHANGED=1
layers=$(sed -n 's/.*--layers \([0-9]*\).*/\1/p' <<< "$MODEL")
also() {            # SEED SYSTEM
    local s=$1 y=$2 m=s$1/$2 t k l pairs vectors
    for l in $A $B; do
        [ -n "${WRITER[/bpe/tatoeba.$l]+x}" ] ||
            stage bpe.tatoeba.$l  bpe/tatoeba.$l : raw/tatoeba.$l codes : \
                "tokenize -l $l $TOKENIZE < raw/tatoeba.$l | $cut_words > bpe/tatoeba.$l"
    done
    stage s$s.$y.rsim  $m/rsim.rows : $m/$A.vec $m/$B.vec raw/gold.tsv : \
        "rsim --src $m/$A.vec --tgt $m/$B.vec --dict raw/gold.tsv --row '$s,${title[$y]},-'
            --as rsim > $m/rsim.rows"
    results+=" $m/rsim.rows"
    for t in test tatoeba; do
        pairs= vectors=
        for ((k = 0; k <= layers; k++)); do
            for l in $A $B; do
                train s$s.$y.$t-$k.$l  $m/$t.$k.$l.safetensors : $m/pretrain bpe/$t.$l : \
                    "embed -q --model $m/pretrain --layer $k --lang $l --text bpe/$t.$l
                        --of sentences --device $DEVICE -o $m/$t.$k.$l.safetensors"
                vectors+=" $m/$t.$k.$l.safetensors"
            done
            pairs+=" --src $m/$t.$k.$A.safetensors --tgt $m/$t.$k.$B.safetensors"
        done
        stage s$s.$y.$t  $m/$t.rows : $vectors : \
            "retrieve -q --score ratio$pairs --row '$s,${title[$y]},$A-$B' --as '*=$t' > $m/$t.rows"
        results+=" $m/$t.rows"
    done
}
part gc-runs
