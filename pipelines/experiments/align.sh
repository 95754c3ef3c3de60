# A model's languages aligned by sentence pairs of one's own:
#   make pipeline/align MODEL=folder PARALLEL="en-de=F,G" [VALID="en-de=F,G"] [TEST="en-de=F,G"]
# MODEL: an encoder of ours (pipeline/own, a run of pretrain) or of transformers (mBERT, XLM-R),
# which is imported. Before and after, how many of the held-out sentences find their translation;
# export/ is what sentence-transformers opens.
setting VALID_LINES 500
setting TEST_LINES 1000
setting LONGEST 250
setting LENGTH_RATIO 3
[ -n "${MODEL-}" ] || refuse MODEL \
    "not given; say for example MODEL=runs/own-own/s1/mlm-gc/pretrain"
[ -n "${PARALLEL-}" ] || refuse PARALLEL \
    'not given; say for example PARALLEL="en-de=pairs.en,pairs.de"'
part given
part given-pairs
part start
split_pairs
none_bad
[ "$n" -ge 100 ] || refuse PARALLEL "$n pairs in all, too few to align by; some thousands do"
[ "$n" -ge 1000 ] || note "PARALLEL: $n pairs in all are few: some thousands align a model"
start_from MODEL
! declare -F sized > /dev/null || sized "$n"
split_stages

# how many sentences of the test text are nearest to their translation, by the model in FOLDER
rows= scores=
retrieved() {       # SEED TITLE FOLDER MODEL MODEL-READS
    local l pool vectors of
    for pool in first mean; do
        vectors=
        for l in $A $B; do
            train ${3////.}.$pool.$l  $3/$pool.$l.safetensors : $5 raw/test.$l : \
                "embed --raw --model $4 --layer -1 --lang $l --of sentences --pool $pool
                    --text raw/test.$l --device $DEVICE -o $3/$pool.$l.safetensors"
            vectors+=" $3/$pool.$l.safetensors"
        done
        of=; [ $pool = first ] || of=", mean of states"
        stage ${3////.}.$pool.found  $3/$pool.rows : $vectors : \
            "retrieve --src $3/$pool.$A.safetensors --tgt $3/$pool.$B.safetensors
                --row '$1,$2,$A-$B' --as '*=*$of' > $3/$pool.rows"
        rows+=" $3/$pool.rows"
    done
}
retrieved - before before "$start" $start_reads
for s in $SEEDS; do
    train s$s.align  s$s/align/ : $start_reads raw/{train,valid}.{$A,$B} : \
        "exec align-post --model $start --raw --parallel $A-$B=raw/train.$A,raw/train.$B
            --valid $A-$B=raw/valid.$A,raw/valid.$B $ALIGN --seed $s --device $DEVICE $RESUME
            --out s$s/align"
    retrieved $s aligned s$s/aligned s$s/align s$s/align
done
results $rows
s=${SEEDS%% *}
trained=first; case " $ALIGN " in *" --pool mean "*) trained=mean;; esac
# no tokenizer of transformers cuts text as tokenize and bpe-apply do: then tokens are read there
tokens_only= cut=
[ -z "$start_codes" ] || tokens_only="--tokens-only " cut=" |
    @BIN@/tokenize --subwords @RUN@/s$s/align/best -l $A"
stage export  export/ : s$s/align : \
    "rm -rf export && ckpt export ${tokens_only}${start_layout:+--to $start_layout }-o export
        s$s/align"
use "vectors of sentences, in $A" "@BIN@/embed --raw --model @RUN@/s$s/align --layer -1 --lang $A
    --of sentences --pool $trained --text @RUN@/raw/test.$A > $A.vec"
use "the same in $B" "@BIN@/embed --raw --model @RUN@/s$s/align --layer -1 --lang $B
    --of sentences --pool $trained --text @RUN@/raw/test.$B > $B.vec"
use "translations among them" "@BIN@/retrieve --src $A.vec --tgt $B.vec --score ratio --mine 1.05"
use "in Python" "cat @RUN@/raw/test.$A$cut | python3 -c
    'import sys; from sentence_transformers import SentenceTransformer as S;
    print(S(sys.argv[1]).encode(sys.stdin.read().splitlines()))' @RUN@/export"
