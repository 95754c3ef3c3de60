# smoke: everything of mini, too small and too short to learn much: under 5 minutes on 2 cores.
# It proves the plumbing.
setting PLAN_NOTE "60 MB of disk, 1 GB of memory"
setting MERGES 2000
setting MODEL "--no-encoder-langs --layers 2 --dim 64 --heads 2 --ffn 256 --dropout 0.1"
setting PRETRAIN_STEPS 200
setting PRETRAIN "--tokens 1000 --lr 1e-3 --warmup 50 --valid-every 100 --valid-sentences 200
    --save-every 100 --keep 1 --steps $PRETRAIN_STEPS"
setting UNMT_STEPS 100
setting PSEUDO_STEPS 50
setting UNMT "--tokens 800 --lr 1e-3 --warmup 20 --beta2 0.98 --pseudo-steps $PSEUDO_STEPS
    --denoise 0:1,50:0.1 --valid-every 50 --valid-sentences 100 --save-every 50 --keep 1
    --steps $UNMT_STEPS"
setting MT_STEPS 200
setting MT "--tokens 800 --lr 1e-3 --warmup 50 --beta2 0.98 --label-smoothing 0.1
    --valid-every 100 --valid-sentences 100 --save-every 100 --keep 1 --steps $MT_STEPS"
setting CS_STEPS 40
setting CS_LINES 300
setting CS_EXAMPLES 300
setting CS_TUNING "--batch 16 --lr 1e-3"
setting CS_EPOCHS 1
setting CS_NLI_EPOCHS 1
setting PPA_DEV 400
setting PPA_EXAMPLES 200
setting PPA_SIZES 200
setting PPA_TRAINING "--batch 16 --steps 40 --lr 3e-4 --warmup 10% --min-tokens 5 --save-every 0"
setting PPA_MOCO "--queue 64 --queue-start empty --momentum 0.99 --projection 32"
setting PPA_SMALL_MOCO "--queue 32 --queue-start empty --momentum 0.99 --projection 32"
setting PPA_TUNING "--batch 16 --lr 1e-3 --epochs 1"
setting DECODE "--beam 1"
setting TASK_MOST 120
setting TEST_MOST 60
setting XQUAD_MOST 2
setting TUNE "--epochs 2 --lr 5e-4 --batch 16 --valid-every 10 --save-every 50 --keep 1"
setting MONO_MODEL "--no-encoder-langs --layers 2 --dim 64 --heads 2 --ffn 256 --embed-dim 32
    --share-layers --output-transform --dropout 0.1 --positions 72"
setting MONO_PRETRAIN "--documents 64 --mask-scheme ngram --optimizer lamb --lr 5e-3 --warmup 20
    --tokens 1000 --schedule linear --weight-decay 0.01 --clip 1 --valid-every 50
    --valid-sentences 100 --save-every 50 --keep 1 --steps 100"
setting MONO_TUNE "--epochs 1 --lr 5e-4 --batch 16 --longest 72 --question 20 --stride 24"
setting MONO_DOCUMENTS 300
setting SYNTH "--sentences 2000"
# one run of self-learning, not the best of three
setting DICT "--map vecmap --spelling 0.3 --frequency 0.05 --restarts 1"
preset mini
