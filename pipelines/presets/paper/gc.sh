# MLM-GC's own setting (Ai and Fang 2023, sections 4 and 5.2, appendix A.2.2), every value the
# paper's or, where it says "identical to XLM", XLM's (reference/paper/values.tsv).
setting PLAN_NOTE "for a cluster: DEVICE=cuda, RANKS, LAUNCH_CPU, LAUNCH_GPU
    (docs/howto/cluster.md)"
setting PRECISION auto
precision=$PRECISION
# Tables 1 to 3 and Figures 1 to 3 are of 12 layers and Wikipedia, translation of 6 + 6 and
# NewsCrawl
depth=6
case $EXPERIMENT in
gc-sweep|gc-fail|analysis-deen) setting CORPUS wikipedia; depth=12;;
*) setting CORPUS newscrawl;;
esac
# XLM's preparation: punctuation and what does not print normalised, Moses' tokeniser, cased. Its 15
# languages have lower case and no accents; ALBERT lower case, and 30K pieces
case $EXPERIMENT in
xlu) setting TOKENIZE "--xlm --lowercase-and-remove-accent";;
mono) setting TOKENIZE --lowercase-and-remove-accent; setting MERGES 30000;;
*) setting TOKENIZE --xlm;;
esac
setting DETOKENIZE ""
# 60K joint BPE, learnt from text sampled by p ~ n^0.5
setting MERGES 60000
setting BPE_ALPHA 0.5 none
# of words, the most frequent: dictionaries and vectors of all of NewsCrawl's would be what grows
setting WORD_TYPES 200000 none
setting GC_WINDOW 2
setting GC "--gc-lambda 1 --gc-window 2 --gc-xmax 100 --gc-alpha 0.75"
part gc-as
# no vectors from elsewhere, no word-by-word pairs: back-translation starts from the pre-trained
# model alone
setting WORD_COOC "-w 5 --weights glove"
setting WORD_VECTORS "--dim 300"
setting DICT "--map vecmap"
setting INIT ""
# 6 + 6 layers (12 of encoders), 1024 wide, 8 heads; language and position embeddings learnt
setting MODEL "--layers $depth --dim 1024 --heads 8 --ffn 4096 --dropout 0.1 --encoder-langs
    --positions 256"
# streams of 256 tokens, 8,192 tokens per batch, Adam 0.9/0.999/1e-8, lr 1e-4 after 10,000 steps of
# warm-up, 400K steps
setting PRETRAIN_STEPS 400000
setting PRETRAIN "--stream 256 --alpha 0.7 --tokens 8192 --lr 1e-4 --warmup 10000 --beta1 0.9
    --beta2 0.999 --eps 1e-8 --clip 5 --valid-every 5000 --save-every 5000 --keep 2
    --steps $PRETRAIN_STEPS"
# Adam 0.9/0.997/1e-9, peak 7e-4 after 8,000 steps, label smoothing 0.1, 400K steps; denoising
# 1 -> 0.1 over 100K -> 0 at 300K (XLM's lambda_ae)
# from mBART as its authors go on from it (Liu et al. 2020, 3.1: 3e-5 after 2,500 steps, 0.2 of
# label smoothing, dropout 0.3, Adam's beta2 0.98, epsilon 1e-6, 40,000 steps), without denoising
if [ $EXPERIMENT = unmt-mbart ]; then
    setting START ""
    setting UNMT_STEPS 40000
    setting UNMT "--tokens 8192 --lr 3e-5 --warmup 2500 --schedule linear --beta1 0.9 --beta2 0.98
        --eps 1e-6 --label-smoothing 0.2 --dropout 0.3 --attention-dropout 0.1 --pseudo-steps 0
        --denoise 0 --valid-every 5000 --save-every 1000 --keep 2 --steps $UNMT_STEPS"
fi
setting UNMT_STEPS 400000
setting PSEUDO_STEPS 0
setting UNMT "--tokens 8192 --lr 7e-4 --warmup 8000 --schedule inverse-sqrt --beta1 0.9
    --beta2 0.997 --eps 1e-9 --label-smoothing 0.1 --pseudo-steps 0
    --denoise 0:1,100000:0.1,300000:0
    --shuffle 3 --drop 0.1 --blank 0.1 --no-mask-vocab --valid-every 5000 --save-every 5000 --keep 2
    --steps $UNMT_STEPS"
setting MT_STEPS 400000
setting MT "--tokens 8192 --lr 7e-4 --warmup 8000 --schedule inverse-sqrt --beta1 0.9 --beta2 0.997
    --eps 1e-9 --label-smoothing 0.1 --valid-every 5000 --save-every 5000 --keep 2
    --steps $MT_STEPS"
# MASS is fine-tuned by back-translation alone
setting MASS_UNMT "--denoise 0"
# as XLM's scripts decode: greedily
setting DECODE "--beam 1"
# mono: ALBERT base (Lan et al. 2020): 12 layers, 768 wide, embeddings of 128, 140K steps of 4,096
# sequences of 512 (as many tokens), LAMB; SQuAD as BERT's code has it
setting MONO_TEXT albert
setting MONO_MODEL "--no-encoder-langs --layers 12 --dim 768 --heads 12 --ffn 3072 --embed-dim 128
    --share-layers --output-transform --dropout 0 --attention-dropout 0 --positions 512"
setting MONO_PRETRAIN "--documents 512 --mask-scheme ngram --optimizer lamb --lr 0.00176
    --warmup 3125 --schedule linear --weight-decay 0.01 --eps 1e-6 --clip 1 --tokens 32768
    --accumulate 64 --valid-every 5000 --save-every 5000 --keep 2 --steps 140000"
setting MONO_TUNE "--epochs 2 --lr 5e-5 --batch 48 --warmup 10% --schedule linear --longest 384
    --question 64 --stride 128"
# xlu: XLM's 15 languages (Conneau and Lample 2019): 80K joint BPE, 12 layers. XNLI and MLQA by the
# rates and batch that are printed (5.3, A.2.3, A.2.4); XLM's own sweep has rates of 5e-6 to
# 1.25e-4, and 5e-4 may not converge: XNLI_TUNE= gives others. Lengths and epochs are XTREME's
# code's
setting XLU_MERGES 80000
setting XLU_MODEL "--layers 12 --dim 1024 --heads 8 --ffn 4096 --dropout 0.1 --encoder-langs
    --positions 512"
setting XNLI_TUNE "--epochs 2 --lr 5e-4 --batch 16 --warmup 1000 --schedule linear --longest 128"
setting MLQA_TUNE "--epochs 2 --lr 5e-5 --batch 32 --warmup 1000 --schedule linear --longest 384
    --question 64 --stride 128"
