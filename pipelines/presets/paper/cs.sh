# TCS-MLM and SCS-MLM's setting (Lu, Lu and Zhang 2023) of its SMALL models, those of Table 5: XLM
# and MASS as MLM-GC's preset has them, which go on as Table 7 says. How many steps at most is not
# said, only that they end when 15 validations have brought nothing.
[ $EXPERIMENT != cs-deen ] || [ -z "${START-}" ] || refuse "START=$START" "BASE and LARGE, which" \
    "go on from XLM-R with CC-100, are cs-xlmr's: make pipeline/cs-xlmr"
if [ $EXPERIMENT = cs-xlmr ]; then
    # BASE and LARGE: XLM-R (START) goes on for 150,000 steps of 2,048 sequences of 512 tokens, in
    # 64 micro-batches; the rate is Table 7's (section 4 has 2e-4 for BASE), Adam's values read as
    # 0.9 and 0.98 (docs/papers.md)
    setting PLAN_NOTE "for a cluster: DEVICE=cuda, RANKS, LAUNCH_CPU, LAUNCH_GPU (docs/cluster.md)"
    setting START ""
    setting PRECISION auto
    precision=$PRECISION
    setting CS_SPECIFIC 100
    setting CS_NEIGHBOURS 10
    setting CS_SWITCH "--switch-units token"
    setting CS_SCS ""
    setting CS_ACCUMULATE 64
    setting CS_TRAINING "--stream 512 --batch 32 --alpha 0.7 --lr 1e-4 --warmup 4000
        --schedule linear --beta1 0.9 --beta2 0.98 --weight-decay 0.01 --valid-every 5000
        --save-every 1000 --keep 1 --steps 150000"
    # tasks as XTREME's code has them; RATE is 2e-5, of LARGE 3e-5
    setting CS_XNLI_TUNE "--epochs 5 --lr RATE --batch 32 --warmup 0 --schedule linear
        --weight-decay 0 --longest 128"
    setting CS_PAWSX_TUNE "$CS_XNLI_TUNE"
    setting CS_POS_TUNE "--epochs 10 --lr RATE --batch 32 --warmup 0 --schedule linear
        --weight-decay 0 --longest 128"
    setting CS_NER_TUNE "$CS_POS_TUNE"
    setting CS_MLQA_TUNE "--epochs 3 --lr 3e-5 --batch 32 --warmup 500 --schedule linear
        --weight-decay 1e-4 --longest 384 --question 64 --stride 128"
    return
fi
setting CS_UNMT 1 none
setting CS_SPECIFIC 100
setting CS_STEPS 150000
# 512 sequences, streams of 256 tokens, in 16 micro-batches
setting CS_ACCUMULATE 16
setting CS_TRAINING "--stream 256 --batch 32 --alpha 0.7 --clip 5 --lr 2e-5 --warmup 4000
    --schedule linear --beta1 0.9 --beta2 0.999 --weight-decay 0 --patience 15 --valid-every 5000
    --save-every 5000 --keep 1 --steps $CS_STEPS"
preset paper/gc
