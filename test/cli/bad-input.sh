# Bad input, program by program: a status that is not 0, one line that says which program and which
# file, no output, nothing temporary, and an older output untouched. A row a case; all of them run,
# and those that fail are named. whoever started this may ignore it
[ -n "${PIPES:-}" ] || PIPES=default exec env --default-signal=PIPE bash "$0"
. "$TOP/test/cli/lib.sh"
trap - ERR; set +e
export OMP_NUM_THREADS=1
G=$TOP/test/golden failures=0 cases=0
shopt -s nullglob dotglob

# --- what is good ---------------------------------------------------------------------------------
good() {
    set -e
    awk 'BEGIN { srand(7); for (i = 0; i < 60; i++) { n = 2 + int(rand() * 6); s = "";
        for (j = 0; j < n; j++) s = s (j ? " " : "") "w" int(rand() * 12); print s } }' > text
    vocab-count -q text > vocab; bpe-learn -q -n 20 text > codes; head -n 9 vocab > fewer
    tokenize --settings > tokenizer
    for l in aa bb; do binarize -q -v vocab -l $l -o $l.shd < text
    cooc-count -q -v vocab $l=text -o $l.cooc; done
    binarize -q -v fewer -l aa -o fewer.shd < text; cooc-count -q -v fewer aa=text -o fewer.cooc
    pretrain -q "${small[@]}" -v vocab --codes codes --tokenizer tokenizer --train aa=aa.shd \
        --train bb=bb.shd --out run; cp -rL run/last model
    finetune -q "${small[@]}" --task mt -v vocab --codes codes --tokenizer tokenizer \
        --parallel aa-bb=text,text --out mt; cp -rL mt/last mtmodel
    for f in vec bin npy safetensors; do embed -q --model model -o v.$f; done
    for f in npy safetensors; do head -n 20 text |
        embed -q --model model --text - --lang aa --of sentences -o s.$f; done
    awk '{ print $1 "\t" $1 "\t1" }' vocab > dict
    cooc-query --dump aa.cooc | awk -F '\t' '{ print $1 " " $2 "\t" $1 " " $2 }' > pairs
    printf ': all\nw1 w2 w3 w4\n' > questions
    printf 'layer\trsim\n0\t0.5\n1\t0.6\n' > table
    rsim -q --src v.vec --tgt v.vec --dict dict > rsim.tsv
    echo foo > protected; echo 'Mr' > nonbreaking
    ckpt import -q -o bert --lang-code xx "$G/interchange/bert"
    awk '{ print $1 "\t" $2 "\t" (NR % 2 ? "neutral" : "entailment") }' text > nli.tsv
    awk '{ for (i = 1; i <= NF; i++) print $i "\t" (i % 2 ? "A" : "B"); print "" }' text > tags
    cut -f 3 nli.tsv > labels
    finetune -q --model model --task nli --train aa=nli.tsv --steps 1 --out nlirun
    cp -rL nlirun/last nlimodel
    set +e
}
small=(--layers 1 --dim 8 --heads 2 --ffn 8 --positions 40 --tokens 100 --lr 1e-3 --warmup 2 \
    --steps 2)

# --- what is bad ----------------------------------------------------------------------------------
# flip FILE AT TO: one bit of byte AT
flip() { local b; cp "$1" "$3"; b=$(od -An -tu1 -j "$2" -N 1 "$1")
printf "\\$(printf %o $((b ^ 16)))" | dd of="$3" bs=1 seek="$2" conv=notrunc status=none; }
# damage NAME: NAME cut short and with a flipped bit at several places, as NAME's ending asks
damage() {
    local name=$1 size at; size=$(stat -c %s "$1")
    # no checksum there
    case $name in *.bin | *.npy) for at in 30 $((size / 2)); do head -c $at "$name" > "cut$at.$name"
    done; return ;; esac
    for at in 9 $((size / 2)) $((size - 1)); do head -c $at "$name" > "cut$at.$name"; done
    for at in 2 $((size / 2)) $((size - 20)) $((size - 3)); do flip "$name" $at "flip$at.$name"
    done
}
bad() {
    : > empty; mkdir folder
    printf 'w1 w2\nw3 \377 w4\n' > latin; printf 'w1 2\nw\377 1\n' > latin.vocab
    printf 'w1 1 2\nw\377 2 3\n' > latin.vectors
    printf 'w1\tw1\nw3\tw\377\n' > latin.dict; printf 'layer\trsim\n0\t0.\377\n' > latin.table
    printf 'w 1 2\nw \377 2\n' > latin.codes
    printf 'w1 w2 w3 w4\nw1 w2 w\377 w4\n' > latin.questions
    printf 'w1 w2\tw1 w2\nw3 w\377\tw1 w2\n' > latin.pairs
    cut -d ' ' -f 1-2 text | sed -n 1,40p > shorter
    gzip -c text > t.gz; zstd -qc text > t.zst
    head -c 60 t.gz > cut.gz; head -c 60 t.zst > cut.zst
    flip t.gz 100 flip.gz; flip t.zst 100 flip.zst
    rm t.gz t.zst
    for f in aa.shd aa.cooc v.bin v.npy v.safetensors; do damage $f; done
    head -c 10000000 /dev/zero | tr '\0' x > word; { echo w1 w2; cat word; echo; } > long.word
    rm word
    awk 'BEGIN { print "w1 w2"
        for (i = 0; i < 420000; i++) printf "w1 w2 w3 w4 w5 w6 w7 w8 "
        print "" }' > long.line
    local m f
    mkdir models
    for m in model mtmodel nlimodel; do
        cp -r $m models/$m.novocab; rm models/$m.novocab/vocab
        cp -r $m models/$m.othervocab; cp fewer models/$m.othervocab/vocab
        for f in config.json weights.safetensors vocab; do cp -r $m models/$m.empty.$f
        : > models/$m.empty.$f/$f; done
        for f in 100 2000; do cp -r $m models/$m.cut$f
        head -c $f $m/weights.safetensors > models/$m.cut$f/weights.safetensors; done
        f=$(stat -c %s $m/weights.safetensors)
        for f in 2 $((f / 2)) $((f - 3)); do cp -r $m models/$m.flip$f
        flip $m/weights.safetensors $f models/$m.flip$f/weights.safetensors; done
        cp -r $m models/$m.config; head -c 80 $m/config.json > models/$m.config/config.json
    done
}

# --- a case ---------------------------------------------------------------------------------------
in=/dev/null to=5 limit=unlimited
# where output may go: nowhere, a full disk, a pipe that nobody reads
exec 5> /dev/null 6> /dev/full 7> >(:)
wait $!
# run1 PROGRAM STATUS PATTERN command...: from $in to descriptor $to, no file above $limit KiB; what
# went wrong is in $why
run1() {
    local want=$2 pattern=$3 status before=(*) after p=$1; shift 3
    if IFS= read -r -d '' said < <(ulimit -f $limit; exec timeout 120 "$@" < "$in" 2>&1 >&$to); \
        then why+="; a NUL byte in the message"; fi
    wait $!; status=$?
    after=(*) said=${said%$'\n'}
    [ "$status" = "$want" ] || why+="; status $status, not $want"
    [ "${before[*]}" = "${after[*]}" ] || why+="; it leaves ${after[*]}"
    if [ "$want" = 0 ] || [ "$want" = 141 ]; then [ -z "$said" ] ||
        why+="; it says something"; return; fi
    case $said in *$'\n'*) why+="; more than one line" ;; "$p: "*) ;;
    *) why+="; no line that begins with the program's name" ;; esac
    [[ $said =~ $pattern ]] || why+="; the message does not match /$pattern/"
}
first=yes leaves=no
# check PROGRAM CASE STATUS PATTERN command...: with an older output of that name, which stays; if
# $first, with none too
check() {
    local p=$1 name=$2 want=$3 left why=; shift 2
    cases=$((cases + 1))
    rm -rf o; mkdir o; said=
    case " ${*:3} " in *" o/out "*) echo older > o/out; left=older ;; *) left= ;; esac
    run1 "$p" "$@"
    if [ "$want" != 0 ]; then
        if [ -n "$left" ]; then
            left=(o/*); [ "${left[*]}" = o/out ] && [ "$(<o/out)" = older ] ||
                why+="; an older output is touched: ${left[*]}"
        fi
        if [ $first = yes ] || [ -z "$left" ]; then
            [ -z "$left" ] || { rm -rf o; mkdir o; run1 "$p" "$@"; }
            left=(o/*); [ $leaves = yes ] || [ ${#left[@]} = 0 ] || why+="; it leaves ${left[*]}"
        fi
    fi
    [ -z "$why" ] && return
    failures=$((failures + 1))
    echo "FAILED $p, $name: ${why:2}"; echo "    \$ ${*:3}"; [ -z "$said" ] ||
        printf '%s\n' "$said" | sed -n 1,3p | cut -c 1-300 | sed 's/^/    | /'
}
# slot PROGRAM KIND EMPTY command...: @ in the command is a file of that KIND; EMPTY is the status
# that an empty one gets, - if there is none
slot() {
    local p=$1 kind=$2 empty=$3 b c w f file status pattern; shift 3
    local bads=(none/such:1:none/such folder:1:folder)
    [ "$empty" = - ] || bads+=("empty:$empty:$([ "$empty" = 0 ] || echo empty)")
    case $kind in
        text) bads+=(latin:1:'latin:2: byte 4' cut.gz:1:'cut.gz: .*truncated' \
            cut.zst:1:'cut.zst: .*truncated' flip.gz:1:'flip.gz: .*byte' \
                flip.zst:1:'flip.zst: .*byte') ;;
        vocab | vectors | dict | table | codes | questions | pairs) \
            bads+=("latin.$kind:1:latin.$kind:2: byte" "latin:1:latin") ;;
        log) bads+=(latin:1:latin) ;;
        lines) bads+=(latin:1:'latin:2: byte 4') ;;
        shd | cooc | bin | npy | safetensors) for f in {cut*,flip*}.*.$kind; do bads+=("$f:1:$f")
        done; [ "$empty" = - ] || bads+=(text:1:text) ;;
        model | mtmodel | nlimodel) bads=(none/such:1:none/such folder:1:folder text:1:text)
        for f in models/$kind.*; do bads+=("$f:1:$f"); done ;;
    esac
    first=yes
    for b in "${bads[@]}"; do
        IFS=: read -r file status pattern <<< "$b"
        c=(); for w in "$@"; do c+=("${w//@/$file}"); done
        check "$p" "$kind $file" "$status" "$pattern" "${c[@]}"
        first=no
    done
    first=yes
}
# a row of the tables below goes on after a backslash: read without -r joins them
rows() { local p kind empty c; while read p kind empty c; do case $p in '' | '#') ;;
*) slot "$p" "$kind" "$empty" $c ;; esac; done; }
good; bad

rows <<'END'
tokenize      text   0  tokenize -q -l en -o o/out @
tokenize      other  -  tokenize -q -l en --protected @ -o o/out text
tokenize      other  1  tokenize -q --subwords @ -o o/out text
detokenize    other  1  detokenize -q --subwords @ -o o/out text
tokenize      lines  0  tokenize -q -l en --nonbreaking @ -o o/out text
detokenize    text   0  detokenize -q -l en -o o/out @
bpe-learn     text   1  bpe-learn -q -n 9 -o o/out @
bpe-learn     vocab  1  bpe-learn -q -n 9 --dict-input -o o/out @
bpe-apply     text   0  bpe-apply -q -c codes -o o/out @
bpe-apply     codes  1  bpe-apply -q -c @ -o o/out text
bpe-apply     vocab  1  bpe-apply -q -c codes --vocab @ -o o/out text
bpe-apply     text   0  bpe-apply -q --restore -o o/out @
bpe-apply     lines  0  bpe-apply -q -c codes --glossary-file @ -o o/out text
vocab-count   text   0  vocab-count -q -o o/out @
vocab-count   vocab  0  vocab-count -q --merge -o o/out @
binarize      text   0  binarize -q -v vocab -o o/out @
binarize      vocab  1  binarize -q -v @ -o o/out text
shard         shd    1  shard check @
shard         shd    1  shard cat -v vocab -o o/out @
shard         vocab  1  shard cat -v @ -o o/out aa.shd
cooc-count    text   0  cooc-count -q -v vocab -o o/out @
cooc-count    text   0  cooc-count -q -o o/out @
cooc-count    shd    -  cooc-count -q -v vocab -o o/out @
cooc-count    vocab  1  cooc-count -q -v @ -o o/out text
cooc-merge    cooc   1  cooc-merge -q -o o/out bb.cooc @
cooc-query    cooc   1  cooc-query --dump -o o/out @
cooc-query    cooc   1  cooc-query --glove -o o/out @
cooc-study    cooc   1  cooc-study --pairs pairs -o o/out aa.cooc @
cooc-study    pairs  1  cooc-study --pairs @ -o o/out aa.cooc bb.cooc
cooc-study    dict   1  cooc-study --dict @ -o o/out aa.cooc bb.cooc
derive-lang   text   0  derive-lang -q --trans -o o/out @
derive-lang   text   0  derive-lang -q --inv -o o/out @
derive-lang   vocab  1  derive-lang -q --vocab --trans -o o/out @
derive-lang   vocab  1  derive-lang -q --trans --overlap 0.5 --types @ -o o/out text
derive-lang   log    1  derive-lang -q --syn @ -o o/out text
embed         cooc   1  embed -q --from-cooc @ --dim 2 -o o/out
embed         model  -  embed -q --model @ -o o/out
embed         text   0  embed -q --model model --lang aa --of sentences -o o/out --text @
embed         text   0  embed -q --model model --lang aa --raw --of sentences -o o/out --text @
embed         vocab  1  embed -q --model model -o o/out --words @
embed         vocab  1  embed -q --model model --text text --lang aa --of words -o o/out --words @
dict-induce   vectors 1 dict-induce -q --src @ --tgt v.vec -o o/out
dict-induce   bin    1  dict-induce -q --src v.vec --tgt @ -o o/out
dict-induce   npy    1  dict-induce -q --src v.vec --tgt @ -o o/out
dict-induce   safetensors    1  dict-induce -q --src @ --tgt v.vec -o o/out
dict-induce   dict   1  dict-induce -q --src v.vec --tgt v.vec --eval @ -o o/out
dict-induce   dict   1  dict-induce -q --src v.vec --tgt v.vec --map procrustes --seed-dict @ \
    -o o/out
dict-induce   vocab  1  dict-induce -q --src v.vec --tgt v.vec --src-counts @ -o o/out
dict-induce   cooc   1  dict-induce -q --src v.vec --tgt v.vec --src-cooc @ --tgt-cooc bb.cooc \
    -o o/out
rsim          vectors 1 rsim -q --src v.vec --tgt @ --dict dict
rsim          dict   1  rsim -q --src v.vec --tgt v.vec --dict @
retrieve      npy    1  retrieve -q --src @ --tgt v.npy -o o/out
retrieve      safetensors    1  retrieve -q --src v.safetensors --tgt @ -o o/out
analogy       vectors 1 analogy -q --vec @ questions
analogy       questions 1 analogy -q --vec v.vec --answers o/out @
bleu          text   1  bleu -o o/out @ -i text
bleu          text   1  bleu -o o/out text -i @
plot          log    1  plot curves -o o/out @
plot          log    1  plot curves -o o/out run --against @
plot          dict   1  plot tsne -q -o o/out aa=v.vec bb=v.vec --dict @
plot          table  1  plot rsim -o o/out @
plot          table  1  plot bins -o o/out @
plot          table  1  plot ranks -o o/out @
plot          vectors 1 plot tsne -q -o o/out aa=@
plot          safetensors    1  plot tsne -q -o o/out aa=@
pretrain      shd    1  pretrain -q --layers 1 --dim 8 --heads 2 -v vocab --train aa=@ --out o/new
pretrain      shd    1  pretrain -q --layers 1 --dim 8 --heads 2 -v vocab --train aa=aa.shd \
    --valid aa=@ --out o/new
pretrain      vocab  1  pretrain -q --layers 1 --dim 8 --heads 2 -v @ --train aa=aa.shd --out o/new
pretrain      cooc   1  pretrain -q --layers 1 --dim 8 --heads 2 -v vocab --train aa=aa.shd \
    --objective mlm,gc --cooc @ --out o/new
pretrain      model  -  pretrain -q -v vocab --train aa=aa.shd --init @ --out o/new
pretrain      vectors 1  pretrain -q --layers 1 --dim 8 --heads 2 -v vocab --train aa=aa.shd \
    --init-embeddings @ --out o/new
pretrain      codes  1  pretrain -q --layers 1 --dim 8 --heads 2 -v vocab --train aa=aa.shd \
    --codes @ --out o/new
pretrain      log    -  pretrain -q --layers 1 --dim 8 --heads 2 -v vocab --train aa=aa.shd \
    --tokenizer @ --out o/new
finetune      codes  1  finetune -q --layers 1 --dim 8 --heads 2 --task mt -v vocab \
    --parallel aa-bb=text,text --codes @ --out o/new
finetune      other  -  finetune -q --layers 1 --dim 8 --heads 2 --task mt -v vocab \
    --parallel aa-bb=text,text --tokenizer @ --out o/new
finetune      shd    1  finetune -q --task unmt --layers 1 --dim 8 --heads 2 -v vocab \
    --train aa=aa.shd --train bb=@ --out o/new
finetune      text   1  finetune -q --task mt --layers 1 --dim 8 --heads 2 -v vocab \
    --parallel aa-bb=text,@ --out o/new
finetune      text   1  finetune -q --task mt --layers 1 --dim 8 --heads 2 -v vocab \
    --parallel aa-bb=text,text --valid aa-bb=@,text --out o/new
finetune      text   1  finetune -q --layers 1 --dim 8 --heads 2 -v vocab --train aa=aa.shd \
    --train bb=bb.shd --pseudo aa-bb=@,text --pseudo-steps 1 --out o/new
finetune      model  -  finetune -q --task mt --model @ --parallel aa-bb=text,text --out o/new
translate     mtmodel - translate -q --model @ --src aa --tgt bb -o o/out
finetune      lines  1  finetune -q --model model --task nli --steps 1 --train aa=@ --out o/new
finetune      lines  1  finetune -q --model model --task nli --steps 1 --train aa=nli.tsv \
    --valid aa=@ --out o/new
finetune      lines  1  finetune -q --model model --task tag --steps 1 --train aa=@ --out o/new
finetune      lines  1  finetune -q --model model --task qa --steps 1 --train aa=@ --out o/new
finetune      model  -  finetune -q --model @ --task tag --steps 1 --train aa=tags --out o/new
align-post    text   1  align-post -q --model model --parallel aa-bb=text,@ --min-tokens 1 \
    --batch 4 --queue 8 --steps 1 --out o/new
align-post    model  -  align-post -q --model @ --parallel aa-bb=text,text --min-tokens 1 \
    --batch 4 --queue 8 --steps 1 --out o/new
predict       lines  1  predict -q --model nlimodel -l aa -o o/out @
predict       nlimodel - predict -q --model @ -l aa -o o/out nli.tsv
score         lines  1  score -q --metric accuracy @ --pred labels
score         lines  1  score -q --metric accuracy nli.tsv --pred @
score         other  1  score --compare @
ngrams        text   0  ngrams -q -o o/out @
ckpt          model  -  ckpt info @
ckpt          other  -  ckpt import -q -o o/new @
ckpt          model  -  ckpt average -q -o o/new model @
ckpt          model  -  ckpt export -q -o o/new @
END

# --- standard input -------------------------------------------------------------------------------
while read -r p empty c; do
    while IFS=: read -r file status pattern; do
        in=$file; check "$p" "standard input is $file" "$status" "standard input$pattern" $c
    done <<END
folder:1:: is a folder
latin:1::2: byte 4 is not UTF-8
cut.gz:1:: .*truncated
empty:$empty:
END
    in=/dev/null
done <<'END'
tokenize 0 tokenize -q -l en -o o/out
detokenize 0 detokenize -q -l en -o o/out
bpe-learn 1 bpe-learn -q -o o/out
bpe-apply 0 bpe-apply -q -c codes -o o/out
vocab-count 0 vocab-count -q -o o/out
binarize 0 binarize -q -v vocab -o o/out
cooc-count 0 cooc-count -q -v vocab -o o/out
cooc-count 0 cooc-count -q -o o/out
ngrams 0 ngrams -q -o o/out
predict 1 predict -q --model nlimodel -l aa -o o/out
translate 0 translate -q --model mtmodel --src aa --tgt bb -o o/out
translate 0 translate -q --raw --model mtmodel --src aa --tgt bb -o o/out
embed 0 embed -q --model model --lang aa --of sentences --text - -o o/out
bleu 1 bleu text -o o/out
END
in=cut9.aa.shd; check shard 'standard input cut' 1 'standard input: ' shard check -
in=cut9.aa.cooc; check cooc-merge 'standard input cut' 1 'standard input: ' cooc-merge -q -o o/out -
in=/dev/null

# --- where output cannot go -----------------------------------------------------------------------
while read -r p c; do
    for w in "/dev/full:/dev/full: .*No space left" "none/such/out:none/such/out: .*No such file" \
        "text/out:text/out: .*Not a directory" "folder:folder: is a folder"; do
        check "$p" "output to ${w%%:*}" 1 "${w#*:}" ${c//@/${w%%:*}}
    done
    limit=0; check "$p" "output to a full disk" 1 '(o/out|gnuplot|TMPDIR): .*File too large' \
        ${c//@/o/out}; limit=unlimited
done <<'END'
tokenize tokenize -q -l en -o @ text
detokenize detokenize -q -l en -o @ text
bpe-learn bpe-learn -q -n 9 -o @ text
bpe-apply bpe-apply -q -c codes -o @ text
bpe-apply bpe-apply -q --restore -o @ text
vocab-count vocab-count -q -o @ text
binarize binarize -q -v vocab -o @ text
shard shard cat -v vocab -o @ aa.shd
cooc-count cooc-count -q -v vocab -o @ text
cooc-merge cooc-merge -q -o @ aa.cooc bb.cooc
cooc-query cooc-query --dump -o @ aa.cooc
cooc-query cooc-query --stat -o @ aa.cooc
cooc-query cooc-query --glove -o @ aa.cooc
cooc-study cooc-study --ranks -o @ aa.cooc bb.cooc
embed embed -q --model model -o @
embed embed -q --model model --format npy -o @
embed embed -q --from-cooc aa.cooc --dim 2 -o @
dict-induce dict-induce -q --src v.vec --tgt v.vec -o @
dict-induce dict-induce -q --src v.vec --tgt v.vec --eval dict --out-src @
ngrams ngrams -q -n 2 --min-count 1 -o @ text
predict predict -q --model nlimodel -l aa -o @ nli.tsv
retrieve retrieve -q --src v.npy --tgt v.npy -o @
analogy analogy -q --vec v.vec --answers @ questions
bleu bleu -o @ text -i text
plot plot rsim -o @ rsim.tsv
plot plot rsim -o o/picture --tsv @ rsim.tsv
END
while read -r p c; do
    for w in "none:text/new:text: cannot create the folder" "0:o/new:File too large"; do
        IFS=: read -r limit file pattern <<< "${w/none/unlimited}"
        check "$p" "output to $file, at most $limit KiB" 1 "$pattern" ${c//@/$file}
    done
    limit=unlimited
done <<END
pretrain pretrain -q ${small[*]} -v vocab --train aa=aa.shd --out @
align-post align-post -q --model model --parallel aa-bb=text,text --min-tokens 1 --batch 4 \
    --queue 8 --steps 1 --out @
finetune finetune -q --model model --task nli --steps 1 --train aa=nli.tsv --out @
finetune finetune -q ${small[*]} --task mt -v vocab --parallel aa-bb=text,text --out @
ckpt ckpt average -q -o @ model
ckpt ckpt import -q -o @ $G/interchange/bert
ckpt ckpt export -q -o @ bert
synth-corpus synth-corpus --sentences 100 --out @
END

# --- standard output: a full disk; a reader that has gone (the silent end by SIGPIPE, or a message 
while read -r p c; do
    to=6; check "$p" "standard output on a full disk" 1 'standard output: cannot write' $c
    to=7; check "$p" "standard output closed" 141 '' $c
    check "$p" "standard output closed, SIGPIPE ignored" 1 'standard output: closed pipe' env \
        --ignore-signal=PIPE $c
    to=5
done <<'END'
tokenize tokenize -q -l en text
tokenize tokenize --settings
detokenize detokenize -q -l en text
bpe-learn bpe-learn -q -n 9 text
bpe-apply bpe-apply -q -c codes text
vocab-count vocab-count -q text
binarize binarize -q -v vocab text
shard shard cat -v vocab aa.shd
shard shard info aa.shd
cooc-count cooc-count -q -v vocab text
cooc-merge cooc-merge -q aa.cooc bb.cooc
cooc-query cooc-query --dump aa.cooc
cooc-query cooc-query aa.cooc w1 w2
cooc-study cooc-study --ranks aa.cooc bb.cooc
embed embed -q --model model
embed embed -q --model model --words vocab
embed embed -q --from-cooc aa.cooc --dim 2
dict-induce dict-induce -q --src v.vec --tgt v.vec
dict-induce dict-induce -q --src v.vec --tgt v.vec --eval dict
rsim rsim -q --src v.vec --tgt v.vec --dict dict
retrieve retrieve -q --src v.npy --tgt v.npy
analogy analogy -q --vec v.vec questions
ngrams ngrams -q -n 2 --min-count 1 text
predict predict -q --model nlimodel -l aa nli.tsv
score score -q --metric accuracy nli.tsv --pred labels
bleu bleu text -i text
plot plot rsim rsim.tsv
ckpt ckpt info model
synth-corpus synth-corpus --help
pretrain pretrain --help
finetune finetune --version
END
in=text
for to in 6 7; do check translate "standard output $to" "$([ $to = 6 ] && echo 1 ||
    echo 141)" 'standard output: cannot write' translate -q --model mtmodel --src aa --tgt bb; done
in=/dev/null to=5

# --- lines and words of 10 MB: read as any other, or refused at their line ------------------------
while read p file status pattern c; do check "$p" "$file" "$status" "$pattern" ${c//@/$file}
done <<'END'
tokenize long.line 0 - tokenize -q -l en -o o/out @
tokenize long.word 0 - tokenize -q -l en -o o/out @
detokenize long.line 0 - detokenize -q -l en -o o/out @
detokenize long.word 0 - detokenize -q -l en -o o/out @
bpe-learn long.line 0 - bpe-learn -q -n 5 -o o/out @
bpe-learn long.word 0 - bpe-learn -q -n 5 -o o/out @
bpe-apply long.line 0 - bpe-apply -q -c codes -o o/out @
bpe-apply long.word 0 - bpe-apply -q -c codes -o o/out @
bpe-apply long.line 0 - bpe-apply -q --restore -o o/out @
vocab-count long.line 0 - vocab-count -q -o o/out @
vocab-count long.word 0 - vocab-count -q -o o/out @
binarize long.line 0 - binarize -q -v vocab -o o/out @
binarize long.word 0 - binarize -q --max-unknown 1 -v vocab -o o/out @
cooc-count long.line 0 - cooc-count -q -v vocab -o o/out @
embed long.line 1 long.line:2: embed -q --model model --lang aa --of sentences -o o/out --text @
bleu long.line 0 - bleu -o o/out @ -i @
finetune long.line 0 - finetune -q --layers 1 --dim 8 --heads 2 --steps 1 --task mt -v vocab \
    --parallel aa-bb=@,@ --out o/new
dict-induce long.line 1 long.line: dict-induce -q --src @ --tgt v.vec -o o/out
rsim long.line 1 long.line: rsim -q --src v.vec --tgt v.vec --dict @
analogy long.line 1 long.line:1: analogy -q --vec v.vec --answers o/out @
plot long.line 1 long.line plot rsim -o o/out @
bpe-apply long.line 1 long.line: bpe-apply -q -c @ -o o/out text
binarize long.line 1 long.line: binarize -q -v @ -o o/out text
END
in=long.line; check translate long.line 1 \
    'standard input:2: 3360000 tokens; the model reads at most' translate -q --model mtmodel \
        --src aa --tgt bb -o o/out; in=/dev/null

# --- a folder for temporary files that is none is told at once, needed or not ---
while read -r p c; do
    check $p "--tmp none/such" 1 'none/such: cannot create a temporary file' $c
    check $p "--tmp text" 1 'text: cannot create a temporary file.*Not a dir' ${c//none\/such/text}
done <<'END'
cooc-count cooc-count -q -v vocab --tmp none/such -o o/out text
cooc-count cooc-count -q --tmp none/such -o o/out text
cooc-merge cooc-merge -q --tmp none/such -o o/out aa.cooc bb.cooc
ngrams ngrams -q --tmp none/such -o o/out text
END

# --- what does not belong together ----------------------------------------------------------------
while read p pattern c; do check "$p" "$c" 1 "$pattern" $c; done <<'END'
bleu shorter bleu -o o/out text -i shorter
finetune shorter finetune -q --layers 1 --dim 8 --heads 2 --task mt -v vocab \
    --parallel aa-bb=text,shorter --out o/new
finetune shorter finetune -q --layers 1 --dim 8 --heads 2 --task mt -v vocab \
    --parallel aa-bb=text,text --valid aa-bb=text,shorter --out o/new
finetune shorter finetune -q --layers 1 --dim 8 --heads 2 -v vocab --train aa=aa.shd \
    --train bb=bb.shd --pseudo aa-bb=shorter,text --pseudo-steps 1 --out o/new
retrieve s.npy retrieve -q --src v.npy --tgt s.npy -o o/out
shard aa.shd shard cat -v fewer -o o/out aa.shd
cooc-count aa.shd cooc-count -q -v fewer -o o/out aa.shd
cooc-merge fewer.cooc cooc-merge -q -o o/out aa.cooc fewer.cooc
pretrain fewer.shd pretrain -q --layers 1 --dim 8 --heads 2 -v vocab --train aa=fewer.shd \
    --out o/new
pretrain fewer.cooc pretrain -q --layers 1 --dim 8 --heads 2 -v vocab --train aa=aa.shd \
    --objective mlm,gc --cooc fewer.cooc --out o/new
finetune aa.shd finetune -q --layers 1 --dim 8 --heads 2 -v fewer --train aa=aa.shd \
    --train bb=bb.shd --out o/new
finetune fewer.shd finetune -q --layers 1 --dim 8 --heads 2 --task mt -v vocab \
    --parallel aa-bb=fewer.shd,fewer.shd --out o/new
pretrain bb.shd.*language pretrain -q --layers 1 --dim 8 --heads 2 -v vocab --train aa=bb.shd \
    --out o/new
ckpt bert ckpt average -q -o o/new model bert
translate decoder translate -q --model bert --src aa --tgt bb -o o/out
ckpt mt ckpt average -q -o mt model
END

# --- two runs in one folder; a run that is there already; a loss that is no number ----------------
exec 9> run/.lock; flock -n 9
check pretrain "a folder in use" 1 'another process .* is writing run;' pretrain -q "${small[@]}" \
    -v vocab --train aa=aa.shd --resume --out run
exec 9>&-
check pretrain "a run that is there" 1 'run: holds a run already' pretrain -q "${small[@]}" \
    -v vocab --train aa=aa.shd --out run
check finetune "a run that is there" 1 'mt: holds a run already' finetune -q "${small[@]}" \
    --task mt -v vocab --parallel aa-bb=text,text --out mt
check pretrain "a folder that holds a model" 1 'model: is the folder of a model' pretrain -q \
    "${small[@]}" -v vocab --train aa=aa.shd --out model
check finetune "a folder that holds a model" 1 'model: is the folder of a model' finetune -q \
    "${small[@]}" --task mt --model mtmodel --parallel aa-bb=text,text --resume --out model
# a gradient of 0 divided by itself in step 1, and steps so long that float32 overflows sooner or
# later: what was saved before is whole
finite() { ckpt info --tensors "$1" | grep -E 'mean square.*(inf|nan)' && return 1; return 0; }
leaves=yes                  # a run that began has a log
while read -r p pattern c; do
    check "$p" "$c" 1 "o/new: the $pattern of step [0-9]+ are not finite .*checkpoint" $c
    for d in o/new/checkpoints/*; do finite "$d" ||
        { failures=$((failures + 1)); echo "FAILED $p: $d is not finite: $c"; }; done
done <<END
pretrain (weights|gradients) pretrain -q -v vocab --train aa=aa.shd --layers 1 --dim 8 --heads 2 \
    --eps 0 --save-every 1 --steps 9 --out o/new
finetune (weights|gradients) finetune -q -v vocab --task mt --parallel aa-bb=text,text --layers 1 \
    --dim 8 --heads 2 --lr 100 --warmup 0 --schedule constant --clip 0 --beta2 0.5 \
    --tokens 50 --save-every 10 --keep 2 --steps 999 --out o/new
END

echo "$cases cases, $failures failures"
[ $failures = 0 ]
