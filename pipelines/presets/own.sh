# own: a first model of one's own text within a quarter of an hour on 2 cores (3.4 to 6.5 CPU
# minutes of three times 29,000 lines); more steps make a better one.
setting PLAN_NOTE "20 times the text on disk, 2 GB of memory"
setting MERGES 8000
setting MODEL "--no-encoder-langs --layers 3 --dim 192 --heads 4 --ffn 768 --dropout 0.1"
setting PRECISION auto
setting PRETRAIN_STEPS 1500
setting PRETRAIN "--tokens 2000 --lr 1e-3 --warmup 200 --schedule linear --precision $PRECISION
    --valid-every 250 --valid-sentences 300 --save-every 250 --keep 1 --steps $PRETRAIN_STEPS"
setting DICT "--map vecmap --spelling 0.3 --frequency 0.05 --restarts 1"
setting SYSTEMS mlm-gc
preset mini
