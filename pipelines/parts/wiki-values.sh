# Values of TEXT=wiki and of gc-wiki by SCALE, which come before those of captions: sixty times the
# text bears larger models, vocabularies and dictionaries, and more steps. smoke: its first lines.
[ "${TEXT-}" = wiki ] || [ $EXPERIMENT = gc-wiki ] || return 0
case $EXPERIMENT in
*-demo|demo|own|mt|align|gc-anchors|mt-deen|mono|tasks-deen|unmt-roen|unmt-neen)
    refuse "TEXT=wiki" "$EXPERIMENT has a text of its own; unmt-deen, analysis-deen, gc-wiki," \
        "xlu, cs-deen, ppa-deen and derived can have Wikipedia";;
esac
case $SCALE in smoke|mini|gpu) ;; *)
    refuse "TEXT=wiki SCALE=$SCALE" "Wikipedia's 50 MB are for smoke, mini and gpu";; esac
setting CORPUS wiki
setting PRECISION auto
# words that have vectors and are translated; what much text wants is as in presets/own.sh
setting RE_ESTIMATE ""
setting DICT "--map vecmap --spelling 0.3 --frequency 0.05 --restarts 1"
# case markers are most of German's counts
setting GC_SKIP "⇧,⇪"
# encoders for tasks are deeper than translators', and start from nothing
encoder=
case $EXPERIMENT in xlu|cs-deen|ppa-deen|derived*) encoder=1; setting INIT "";; esac
case $SCALE in
smoke)
    setting WIKI_LINES 2000
    setting WORD_TYPES 1000 none
    # questions' contexts cannot be cut short
    case $EXPERIMENT in derived*) ;; *) setting TASKS "pos ner nli";; esac
    return;;
mini)
    setting WORD_TYPES 20000 none
    layers=$([ "$encoder" ] && echo 4 || echo 3) width=256 heads=4 tokens=2500 lr=1e-3 warmup=500
    steps=$([ "$encoder" ] && echo 16000 || echo 10000) unmt="3000 2000"
    derived=10000
    setting PLAN_NOTE "2 GB of disk, 3 GB of memory; hours of two cores"
    setting PPA_TRAINING "--batch 128 --epochs 2 --lr 5e-4 --warmup 10% --min-tokens 5
        --save-every 500";;
gpu)
    setting WORD_TYPES 50000 none
    layers=$([ "$encoder" ] && echo 8 || echo 6) width=512 heads=8 tokens=16000 lr=5e-4 warmup=2000
    steps=25000 unmt="10000 8000"
    derived=6250
    setting PLAN_NOTE "3 GB of disk, 4 GB of memory; minutes of an H100 for each training, and 10 of
        one CPU before them"
    setting PPA_TRAINING "--batch 256 --epochs 6 --lr 2e-4 --warmup 10% --min-tokens 5
        --precision $PRECISION --save-every 1000";;
esac
setting WIKI_LINES 1000000
setting WORD_VECTORS "--dim 200"
setting MERGES 30000
setting MODEL "--no-encoder-langs --layers $layers --dim $width --heads $heads --ffn $((4 * width))
    --dropout 0.1"
setting PRETRAIN_STEPS $steps
setting PRETRAIN "--tokens $tokens --lr $lr --warmup $warmup --schedule linear
    --precision $PRECISION --valid-every 1000 --save-every 1000 --keep 1 --steps $PRETRAIN_STEPS"
setting UNMT_STEPS ${unmt% *}
setting PSEUDO_STEPS 400
setting UNMT "--tokens ${unmt#* } --lr 5e-4 --warmup 500 --schedule linear --beta2 0.98
    --label-smoothing 0.1 --pseudo-steps $PSEUDO_STEPS --precision $PRECISION
    --denoise 0:1,$((UNMT_STEPS / 4)):0.1 --valid-every 250 --save-every 500 --keep 1
    --steps $UNMT_STEPS"
# a tenth of the steps before, in batches as large
setting CS_STEPS $((steps / 10))
setting CS_TOKENS $tokens
setting CS_SPECIFIC 100
setting PPA_SIZES "10000 50000"
case $EXPERIMENT in derived*) setting TRANSFORMS "trans trans-inv";; esac
setting DERIVED_MERGES 30000
setting DERIVED_MODEL "--layers $layers --dim $width --heads $heads --ffn $((4 * width))
    --dropout 0.1 --positions 96"
setting DERIVED_PRETRAIN "--tokens $tokens --lr $lr --warmup $warmup --schedule linear
    --steps $derived --precision $PRECISION --clip 1 --valid-every 1000 --valid-sentences 300
    --save-every 1000 --keep 1"
