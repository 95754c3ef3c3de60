# demo: what `make demo` runs on two invented languages: with installing and building at most 10
# minutes on 2 cores. Few words and much company, so that the dictionary can be found from so little
# text; their spelling tells nothing.
setting PLAN_NOTE "100 MB of disk, 1 GB of memory; PRECISION auto: products in bf16 where that
    is faster (AMX, AMD's AVX-512 BF16, a GPU), in float32 elsewhere"
setting SYNTH "--sentences 8000 --lexicon 300 --topics 30"
setting WORD_COOC "-w 10 --weights glove"
setting DICT "--map vecmap --frequency 0.05"
setting MERGES 3000
setting MODEL "--no-encoder-langs --layers 2 --dim 128 --heads 4 --ffn 512 --dropout 0.1"
setting PRECISION auto
setting PRETRAIN_STEPS 1000
setting PRETRAIN "--tokens 1500 --lr 1e-3 --warmup 300 --precision $PRECISION
    --valid-every 250 --valid-sentences 300 --save-every 500 --keep 1 --steps $PRETRAIN_STEPS"
setting UNMT_STEPS 800
setting PSEUDO_STEPS 300
setting UNMT "--tokens 1200 --lr 1e-3 --warmup 100 --beta2 0.98 --label-smoothing 0.1
    --precision $PRECISION --pseudo-steps $PSEUDO_STEPS --denoise 0:1,300:0.1 --valid-every 100
    --valid-sentences 200 --save-every 200 --keep 1 --steps $UNMT_STEPS"
setting DECODE "--beam 1"
preset mini
