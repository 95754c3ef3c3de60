# One small command of every program, for test/faults/run. `inputs` writes what they read into the
# current folder; a case's command runs in a folder beside that one, in/ leads to it.
#   one NAME [file=OUT | folder=OUT | run=OUT] command...
#     file=    the command writes this file, which is there before with other bytes
#     folder=  it makes this folder
#     run=     it trains in this folder; --resume goes on in it
#     none     standard output only
inputs() {
    printf 'A man, a plan: "Panama"!\nThe 2nd red bicycle.\n\n' > raw
    printf 'a b c\nb a a\nc c a b\na b a c b\n' > t
    printf 'a\nb\nc\na b\n' > p
    printf 'a 6\nb 5\nc 4\n' > v
    printf 'old man 1\nthe old man\n' > w
    bpe-learn -q -n 5 w > codes
    binarize -q -v v -l en -o en.shd t
    binarize -q -v v -l de -o de.shd t
    cooc-count -q -v v -w 2 -o en.cooc en=t
    cooc-count -q -v v -w 2 -o de.cooc de=t
    printf 'a 1 0 0\nb 0 1 0\nc 1 1 1\nd 0 0 1\n' > x.vec
    printf 'a 0 1 0\nb 1 0 0\nc 1 1 0.5\nd 0 0 1\n' > y.vec
    printf 'a\ta\nb\tb\nc\tc\nd\td\n' > dict
    printf '{"event":"train","step":%d,"loss":%d}\n' 1 3 2 2 3 1 > log.jsonl
    pretrain "${model[@]}" -v v --train en=en.shd --train de=de.shd --steps 2 --out run
    finetune "${model[@]}" --task mt --model run --parallel en-de=t,t --steps 1 --out mt
    printf '#version: 0.2\na b\n' > t.codes
    tokenize --settings -l en > settings < /dev/null
    pretrain "${model[@]}" -v v --codes t.codes --tokenizer settings --train en=en.shd --steps 1 \
        --out raw.run
    printf 'a\tb\tneutral\nb\tc\tentailment\nc\ta\tcontradiction\n' > nli
    printf '# c\n1\ta\t_\tADJ\t_\t_\t2\tamod\t_\t_\n2\tb\t_\tNOUN\t_\t_\t0\troot\t_\t_\n\n' > ud
    finetune "${model[@]}" --task nli --model raw.run --train en=nli --steps 1 --out nli.run
    derive-lang -q --learn-order N ud > ud.order
    ckpt export -q --tokens-only --to bert --src en -o hf run
    printf '{"data": [{"paragraphs": [{"context": "a b c", '\
'"qas": [{"id": "1", "question": "?", '\
'"answers": [{"text": "b", "answer_start": 2}]}]}]}]}' > gold.json
    printf '{"1": "b"}' > answers.json
    printf ': all\na b c d\n' > questions
    printf 'yes\nno\nyes\n' > labels
    gzip -nk t
    zstd -q t
}
model=(-q --threads 1 --layers 1 --dim 8 --heads 1 --ffn 8 --positions 8 --tokens 20 --seed 5)
cases() {
    one tokenize file=o tokenize -q -l en -o o in/raw
    one detokenize none detokenize -q -l en in/raw
    one bpe-learn file=o bpe-learn -q -n 5 -o o in/w
    one bpe-apply file=o bpe-apply -q -c in/codes -o o in/w
    one vocab-count file=o vocab-count -q -o o in/t.gz
    one vocab-count-zst none vocab-count -q in/t.zst
    one binarize file=o binarize -q -v in/v -l en -o o in/t
    one shard none shard cat -v in/v in/en.shd
    one shard-check none shard check in/en.shd
    one cooc-count file=o cooc-count -q --threads 2 -w 2 -o o en=in/t
    one cooc-merge file=o cooc-merge -q --threads 2 -o o in/en.cooc in/de.cooc
    one cooc-query file=o cooc-query --dump -o o in/en.cooc
    one cooc-study none cooc-study -q --dict in/dict in/en.cooc in/de.cooc
    one synth-corpus folder=o synth-corpus -q --out o --sentences 20 --lexicon 100 --topics 5 \
        --seed 3
    one embed file=o embed -q --threads 1 --model in/run -o o
    one embed-cooc file=o.npy embed -q --threads 1 --from-cooc in/en.cooc --min-count 1 --dim 2 \
        -o o.npy
    one dict-induce file=o dict-induce -q --threads 1 --src in/x.vec --tgt in/y.vec -o o
    one rsim none rsim -q --threads 1 --src in/x.vec --tgt in/y.vec --dict in/dict
    one retrieve none retrieve -q --threads 1 --src in/x.vec --tgt in/y.vec
    one analogy none analogy -q --threads 1 --vec in/x.vec in/questions
    one derive-lang none derive-lang -q --inv in/t
    one ngrams file=o ngrams -q -o o en=in/t
    one cooc-count-skip file=o cooc-count -q -v in/v -w 3 --skip c --memory 64M -o o en=in/t \
        de=in/t.gz
    one bpe-restore none bpe-apply -q --restore in/t
    one embed-raw file=o.npy embed -q --threads 1 --model in/raw.run --raw --text in/t -l en \
        --of sentences -o o.npy
    one derive-syn none derive-lang -q --syn in/ud.order --format conllu in/ud
    one ckpt-import folder=o ckpt import -q --lang-code en -o o in/hf
    one predict file=o predict -q --threads 1 --model in/nli.run -o o in/nli
    one score-squad none score -q --metric squad in/gold.json -p in/answers.json
    one score none score -q --metric accuracy in/labels -p in/labels
    one bleu none bleu -q in/raw -i in/raw
    one ckpt-check none ckpt check in/run
    one ckpt-average folder=o ckpt average -q -o o in/run in/run
    one ckpt-export folder=o ckpt export -q --tokens-only -o o --to bert --src en in/run
    one plot file=o.svg plot curves -q in/log.jsonl -o o.svg
    one translate none translate -q --threads 1 --model in/mt --src en --tgt de
    one finetune run=o finetune "${model[@]}" --task mt --model in/run \
        --parallel en-de=in/t,in/t --save-every 1 --keep 1 --steps 2 --out o
    one pretrain run=o pretrain "${model[@]}" -v in/v --train en=in/en.shd --save-every 1 --keep 1 \
        --steps 2 --out o
    one pretrain-gc run=o pretrain "${model[@]}" -v in/v --train en=in/en.shd --train de=in/de.shd \
        --objective mlm,gc --cooc in/en.cooc --cooc in/de.cooc --save-every 1 --keep 1 --steps 2 \
            --out o
    one finetune-nli run=o finetune "${model[@]}" --task nli --model in/raw.run --train en=in/nli \
        --save-every 1 --keep 1 --steps 2 --out o
    one align-post run=o align-post -q --threads 1 --seed 5 --model in/run \
        --parallel en-de=in/p,in/p \
        --min-tokens 1 --batch 1 --queue 1 --queue-start empty --save-every 1 --keep 1 --steps 2 \
            --out o
}
