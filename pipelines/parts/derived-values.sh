# Values of parts/derived.sh by SCALE. demo: two minutes of pre-training per model on an invented
# language; mini: 8 M tokens of EWT and WikiText-2 per model; paper: ALIGN-MLM, appendix G.
setting SPLIT_SEED 1
setting OVERLAP 0
setting TAG_SENTENCES 1000000
setting DICT_SHARE 0.25
setting PARALLEL_SHARE 0.25
setting XLM ""
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
mini)
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
    setting TASKS "pos ner nli"
    setting DERIVED_LINES 100000000
    setting DERIVED_MERGES 40000
    setting XLM "--segment 256 --whole"
    # RoBERTa, 8 layers of 512, examples of 512 tokens, 128 a batch; Adam 0.9/0.999/1e-8, no decay,
    # clip 1, 1e-4 after 10,000 steps, linear to 0 at 500,000
    setting DERIVED_MODEL "--layers 8 --dim 512 --heads 8 --ffn 2048 --dropout 0.1
        --attention-dropout 0.1 --positions 514 --output-transform --init-std 0.02"
    setting DERIVED_PRETRAIN "--stream 512 --batch 128 --lr 1e-4 --warmup 10000 --schedule linear
        --steps 500000 --clip 1 --weight-decay 0 --valid-every 10000 --save-every 5000 --keep 1"
    setting TAG "--lr 2e-5 --epochs 10 --batch 32 --warmup 0 --weight-decay 0 --longest 512"
    setting NLI "--lr 2e-5 --epochs 5 --batch 32 --warmup 0 --weight-decay 0 --longest 128
        --head tanh --pair-format two";;
*) refuse "SCALE=$SCALE" "derived experiments have smoke, demo, mini and paper";;
esac
MERGES=$DERIVED_MERGES
# the objectives that a transformation is pre-trained with
systems_of() { echo $SYSTEMS; }
