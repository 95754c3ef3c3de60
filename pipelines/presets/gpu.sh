# gpu: mini's models of captions, trained as long as it helps, in batches that keep a GPU busy
# (docs/lab/results/translation.md). On a CPU these are hours.
part wiki-values
setting PLAN_NOTE "300 MB of disk, 1.5 GB of memory; about 2 minutes of an H100 for a system and
    seed (TEXT=task2: 3), and 3 of one CPU before them"
setting PRECISION auto
if [ "${TEXT-}" = task2 ]; then
    setting PRETRAIN_STEPS 10000
    setting UNMT_STEPS 2500
fi
setting PRETRAIN_STEPS 5000
setting PRETRAIN "--tokens 8000 --lr 1e-3 --warmup 500 --schedule linear --precision $PRECISION
    --valid-every 1000 --save-every 1000 --keep 1 --steps $PRETRAIN_STEPS"
setting UNMT_STEPS 1500
setting PSEUDO_STEPS 200
setting UNMT "--tokens 4000 --lr 7e-4 --warmup 150 --schedule linear --beta2 0.98
    --label-smoothing 0.1 --pseudo-steps $PSEUDO_STEPS --precision $PRECISION
    --denoise 0:1,$((UNMT_STEPS / 4)):0.1 --valid-every 250 --save-every 500 --keep 1
    --steps $UNMT_STEPS"
preset mini
