# Values of parts/derived.sh by SCALE. demo: two minutes of pre-training per model on an invented
# language; mini: 8 M tokens of EWT and WikiText-2 per model; paper: presets/paper/align.sh.
setting SPLIT_SEED 1
# a share, though none is written as a whole number
setting OVERLAP 0.0
[ "$OVERLAP" != 0.0 ] || OVERLAP=0
setting TAG_SENTENCES 1000000
setting DICT_SHARE 0.25
setting PARALLEL_SHARE 0.25
setting XLM ""
case $SCALE in
gpu)
    [ "${CORPUS-}" = wiki ] || refuse "SCALE=gpu" "of derived experiments for TEXT=wiki; others" \
        "have smoke, demo, mini and paper";;
esac
case $SCALE in
smoke)
    setting SYSTEMS "mlm align"
    setting TRANSFORMS trans-inv
    setting TASKS "pos"
    setting DERIVED_LINES 3000
    setting TAG_SENTENCES 1000
    setting DERIVED_MERGES 1000
    setting DERIVED_MODEL "--layers 2 --dim 64 --heads 2 --ffn 256 --dropout 0.1 --positions 96"
    setting DERIVED_PRETRAIN "--tokens 1000 --lr 2e-3 --warmup 20 --steps 200 --valid-every 100
        --valid-sentences 100 --save-every 0"
    setting TAG "--lr 1e-3 --epochs 1 --valid-every 1000 --save-every 0"
    setting NLI "--lr 1e-3 --epochs 1 --valid-every 1000 --save-every 0";;
demo)
    setting SYSTEMS "mlm xlm dict align"
    setting TRANSFORMS "trans trans-inv"
    setting TASKS pos
    setting DERIVED_SYNTH "--sentences 8000 --lexicon 300 --topics 30 --tasks 1600"
    setting DERIVED_MERGES 1000
    setting DERIVED_MODEL "--layers 2 --dim 64 --heads 4 --ffn 256 --dropout 0.1 --positions 64"
    setting DERIVED_PRETRAIN "--tokens 1500 --lr 2e-3 --warmup 100 --steps 1000 --valid-every 500
        --valid-sentences 200 --save-every 500 --keep 1"
    setting TAG "--lr 1e-3 --epochs 3 --valid-every 1000 --save-every 0"
    setting NLI "--lr 1e-3 --epochs 5 --valid-every 1000 --save-every 0";;
mini|gpu)
    setting SYSTEMS "mlm xlm dict align"
    setting TRANSFORMS "trans trans-inv trans-syn"
    setting TASKS "pos ner nli"
    setting DERIVED_LINES 1000000
    setting DERIVED_MERGES 4000
    setting DERIVED_MODEL "--layers 3 --dim 128 --heads 4 --ffn 512 --dropout 0.1 --positions 96"
    setting PRECISION auto
    setting DERIVED_PRETRAIN "--tokens 2000 --lr 1e-3 --warmup 400 --schedule linear --steps 4000
        --precision $PRECISION --clip 1 --valid-every 1000 --valid-sentences 300
        --save-every 500 --keep 1"
    setting TAG "--lr 5e-4 --epochs 3 --valid-every 1000 --save-every 0"
    setting NLI "--lr 5e-4 --epochs 5 --valid-every 1000 --save-every 0";;
paper)
    setting SYSTEMS "mlm xlm dict align"
    setting TRANSFORMS "trans trans-inv trans-syn"
    setting TASKS "pos ner nli";;
*) refuse "SCALE=$SCALE" "derived experiments have smoke, demo, mini and paper";;
esac
MERGES=$DERIVED_MERGES
# the objectives that a transformation is pre-trained with
systems_of() { echo $SYSTEMS; }
