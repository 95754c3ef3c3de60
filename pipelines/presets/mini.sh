# mini: the best that 100 minutes on 2 cores buy for both systems and one seed of unsupervised
# translation on 14,500 + 14,500 captions (docs/lab/results/translation.md).
part wiki-values
setting PLAN_NOTE "300 MB of disk, 1.5 GB of memory; PRECISION auto: products in bf16 where that
    is faster (AMX, AMD's AVX-512 BF16, a GPU), in float32 elsewhere"
setting CORPUS multi30k
# text: lower-cased with a marker for the case, undone after decoding; one joint BPE
setting TOKENIZE --case-marker
setting DETOKENIZE --case-marker
# five more captions of each image bear a larger vocabulary and more steps (docs/lab/results)
if [ "${TEXT-}" = task2 ]; then
    setting MERGES 12000
    setting PRETRAIN_STEPS 6000
fi
setting MERGES 6000
# MLM-GC: two words on either side; GC_AS=code: as its authors' code has it
setting GC_WINDOW 2
setting GC "--gc-lambda 1 --gc-window 2"
part gc-as
# the dictionary: window 5 with sides apart, PPMI, SVD, stochastic self-learning after VecMap,
# re-estimated on all contexts
setting WORD_COOC "-w 5 --weights glove"
setting WORD_VECTORS "--dim 50"
setting DICT "--map vecmap --spelling 0.3 --frequency 0.05"
# both systems start from its vectors (INIT= for none)
setting INIT "--init-embeddings words/init.vec"
# model and training
setting MODEL "--no-encoder-langs --layers 3 --dim 256 --heads 4 --ffn 1024 --dropout 0.1"
# auto: bf16, about twice as fast, with AMX, AMD's AVX-512 BF16 (and oneDNN) or a GPU
setting PRECISION auto
# learning rates fall to 0 at the last step
setting PRETRAIN_STEPS 3000
setting PRETRAIN "--tokens 2500 --lr 1e-3 --warmup 300 --schedule linear --precision $PRECISION
    --valid-every 500 --save-every 250 --keep 1 --steps $PRETRAIN_STEPS"
# more steps of translation only make the two directions agree with each other: BLEU stood still
# from step 1,000 (docs/lab/results.md)
setting UNMT_STEPS 1500
setting PSEUDO_STEPS 200
setting UNMT "--tokens 2000 --lr 7e-4 --warmup 150 --schedule linear --beta2 0.98
    --label-smoothing 0.1 --pseudo-steps $PSEUDO_STEPS --precision $PRECISION
    --denoise 0:1,$((UNMT_STEPS / 4)):0.1 --valid-every 250 --save-every 250 --keep 1
    --steps $UNMT_STEPS"
setting MT_STEPS 12000
setting MT "--precision $PRECISION --tokens 2500 --lr 7e-4 --warmup 1000 --schedule inverse-sqrt
    --beta2 0.98 --label-smoothing 0.1 --valid-every 500 --save-every 500 --keep 1
    --steps $MT_STEPS"
setting DECODE "--beam 5"
# mono: ALBERT, small: layers share their weights, narrow embeddings. Two layers and Adam: of four,
# or by LAMB at any rate, batches of so few documents teach little beyond tokens' frequencies in a
# thousand steps (docs/lab/results/tasks.md)
setting MONO_TEXT english
setting MONO_MODEL "--no-encoder-langs --layers 2 --dim 256 --heads 4 --ffn 1024 --embed-dim 64
    --share-layers --output-transform --dropout 0.1 --positions 136"
setting MONO_PRETRAIN "--documents 128 --mask-scheme ngram --optimizer adam --lr 1e-3 --warmup 200
    --tokens 2000 --schedule linear --weight-decay 0.01 --clip 1 --precision $PRECISION
    --valid-every 500 --save-every 250 --keep 1 --steps 3000"
setting MONO_TUNE "--epochs 4 --lr 2e-4 --batch 32 --longest 128 --question 24 --stride 48
    --precision $PRECISION"
# tasks-deen: small encoders take higher rates than BERT's
setting TUNE "--epochs 4 --lr 2e-4 --batch 32 --valid-every 200 --save-every 200 --keep 1
    --precision $PRECISION"
