# TCS-MLM and SCS-MLM's setting (Lu, Lu and Zhang 2023) of its SMALL models, those of Table 5: XLM
# and MASS as MLM-GC's preset has them, which go on as Table 7 says. How many steps at most is not
# said, only that they end when 15 validations have brought nothing.
[ -z "${START-}" ] || refuse "START=$START" "BASE and LARGE, which go on from XLM-R with CC-100," \
    "have no recipe: SCALE=paper is of the SMALL models (Table 5)"
setting CS_UNMT 1
setting CS_SPECIFIC 100
setting CS_STEPS 150000
# 512 sequences, streams of 256 tokens, in 16 micro-batches
setting CS_ACCUMULATE 16
setting CS_TRAINING "--stream 256 --batch 32 --alpha 0.7 --clip 5 --lr 2e-5 --warmup 4000
    --schedule linear --beta1 0.9 --beta2 0.999 --weight-decay 0 --patience 15 --valid-every 5000
    --save-every 5000 --keep 1 --steps $CS_STEPS"
preset paper/gc
