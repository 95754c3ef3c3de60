# Does MLM-GC gain with better counts? The training text is the same; the counts are of it alone, of
# it and ten times as much of the same languages, or, in the second language, of other words that
# are as frequent: what that control gains, too, is not what words keep company.
languages xa xb
[ -n "${SYNTH-}" ] || refuse "SCALE=$SCALE" "invented languages have smoke and demo"
setting SYNTH_SEED 1
setting GC_LINES 8000
setting GC_TIMES 10
stage raw.synth  synth/{mono,dev,test}.{$A,$B} synth/dict.tsv : : \
    "synth-corpus --out synth $SYNTH --sentences $((GC_LINES * (GC_TIMES + 1))) --seed $SYNTH_SEED"
for l in $LANGS; do
    quick raw.train.$l  raw/train.$l : synth/mono.$l : \
        "head -n $GC_LINES synth/mono.$l > raw/train.$l"
    quick raw.more.$l  raw/more.$l : synth/mono.$l : \
        "tail -n +$((GC_LINES + 1)) synth/mono.$l > raw/more.$l"
    quick raw.valid.$l  raw/valid.$l : synth/dev.$l  : "cp synth/dev.$l raw/valid.$l"
    quick raw.test.$l   raw/test.$l  : synth/test.$l : "cp synth/test.$l raw/test.$l"
done
quick raw.gold  raw/gold.tsv : synth/dict.tsv : 'sed "s/.*/\L&/" synth/dict.tsv > raw/gold.tsv'
system more  "MLM-GC, counts of $((GC_TIMES + 1)) times the text" \
    "--objective mlm,gc --cooc cooc/more.cooc $GC" cooc/more.cooc
setting GC_BIN 8
system exchanged "MLM-GC, exchanged counts" "--objective mlm,gc --cooc cooc/exchanged.cooc $GC" \
    cooc/exchanged.cooc
setting SYSTEMS "mlm mlm-gc more exchanged"
# not among them: the paper's text and its authors' code whatever GC_AS is, what tells them apart
# one by one, and the text with other lambdas (paper-0.25)
form() { system $1 "$2" "--objective mlm,gc --cooc cooc/$3.cooc $gc_alone ${4-}" cooc/$3.cooc; }
form paper     "GC by the text" paper
form code      "GC by the code" code "$gc_code"
form exchanged-code "by the code, exchanged counts" exchanged-code "$gc_code"
form pairs     "mean over pairs" paper "--gc-mean pairs"
form log       "log(X + 1)" paper "--gc-log 1+x"
form visible   "visible neighbours" paper "--gc-neighbours visible"
form selected  "predicted targets" paper "--gc-targets selected"
form glove     "counts 1/d" code
GC_FORMS=
for y in $SYSTEMS; do
    case $y in
    paper-[0-9]*) form $y "text, lambda ${y#*-}" paper "--gc-lambda ${y#*-}";;
    code-[0-9]*) form $y "code, lambda ${y#*-}" code "$gc_code --gc-lambda ${y#*-}";;
    mlm|mlm-gc|more|exchanged) continue;;
    esac
    GC_FORMS=1
done
GC_WINDOWS= GC_MORE=1 GC_EXCHANGED=1
part gc-runs
