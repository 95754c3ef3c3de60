# ALIGN-MLM's setting (Tang et al. 2022, appendix G and its authors' script); what each experiment
# compares is in parts/derived-values.sh.
setting PLAN_NOTE "for a cluster: DEVICE=cuda, RANKS, LAUNCH_CPU, LAUNCH_GPU
    (docs/howto/cluster.md)"
setting PRECISION auto
precision=$PRECISION
setting DERIVED_LINES 100000000
setting DERIVED_MERGES 40000
setting XLM "--segment 256 --stream-sentences"
# RoBERTa, 8 layers of 512, examples of 512 tokens, 128 a batch; Adam 0.9/0.999/1e-8, no decay, clip
# 1 (the script's Trainer has these by default; the text says "as RoBERTa"), 1e-4 after 10,000
# steps, linear to 0 at 500,000
setting DERIVED_MODEL "--layers 8 --dim 512 --heads 8 --ffn 2048 --dropout 0.1
    --attention-dropout 0.1 --positions 514 --output-transform --init-std 0.02"
setting DERIVED_PRETRAIN "--stream 512 --batch 128 --lr 1e-4 --warmup 10000 --schedule linear
    --steps 500000 --clip 1 --weight-decay 0 --valid-every 10000 --save-every 5000 --keep 1"
# of tags Table 11 has 128 tokens, the script no length: no sentence is cut
setting TAG "--lr 2e-5 --epochs 10 --batch 32 --warmup 0 --weight-decay 0 --longest 512"
setting NLI "--lr 2e-5 --epochs 5 --batch 32 --warmup 0 --weight-decay 0 --longest 128
    --head tanh --pair-format two"
