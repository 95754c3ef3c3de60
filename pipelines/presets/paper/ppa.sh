# PPA's setting (Pan et al. 2021, section 3.3): mBERT, which START names the folder of, goes on with
# 250,000, 600,000 and 2 million pairs, and with 250,000 in each ablation (Table 5).
setting PLAN_NOTE "one GPU of 32 GB"
setting START ""
setting PRECISION auto
precision=$PRECISION
setting TOKENIZE ""
setting PPA_MOST 250000 none
[ $EXPERIMENT = ppa-mbert ] || setting PPA_SIZES "600000 2000000"
setting PPA_TRAINING "--batch 128 --epochs 10 --lr 3e-5 --warmup 10% --schedule linear
    --weight-decay 0.01 --min-tokens 10 --max-tokens 128 --save-every 1000 --keep 1"
# of 2 million pairs five epochs
setting PPA_LARGE 2000000
setting PPA_LARGE_TRAINING "--epochs 5"
setting PPA_MOCO "--queue 32000 --momentum 0.999 --temperature 0.05 --projection 300"
setting PPA_SMALL_MOCO "$PPA_MOCO"
setting PPA_TUNING "--batch 32 --epochs 2 --lr 5e-5 --warmup 1000 --schedule linear
    --weight-decay 0.01 --longest 128"
# MLQA: 386 tokens, as printed, 3e-5, the rest as of XNLI; windows and questions are XTREME's code's
setting PPA_QA_TUNING "--batch 32 --epochs 2 --lr 3e-5 --warmup 1000 --schedule linear
    --weight-decay 0.01 --longest 386 --question 64 --stride 128"
