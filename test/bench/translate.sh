# Translation beside PyTorch (transformers' generate) and CTranslate2: the same model, sentences,
# threads and longest translation, greedy and beam 5, batches of 1 and 32: tokens/s, ratios, and how
# many translations are the same.
#   PYTHON=a Python with torch, transformers and ctranslate2 (pip install; without it only ours
#   runs)
#   MODEL=folder of a model or run, SRC=xa TGT=xb, TEXT=file of its BPE text; without MODEL one is
#   trained first, of invented languages, always the same
#   SENTENCES=200 of TEXT (or one number for each of BATCHES); THREADS=N, BEAMS="1 5",
#   BATCHES="1 32", LONGEST=100 tokens per translation, TIMES=2 (the fastest counts);
#   PEERS="transformers ctranslate2"
#   STEPS=600, LAYERS=3, DIM=256, HEADS=4, LR=1e-3: the model that is trained (1 to 2 minutes on 2
#   cores)
#   DEVICE=cpu (cuda: test/gpu/bench.sh), PRECISION=float32 (bf16; int8, which transformers has not:
#   then the last column of ours is how many translations are those of our float32); the peers' is
#   the same. REF=reference of TEXT, line by line: BLEU of both precisions, too
# Ours is timed as a process, less what the same process takes for no sentence at all; the peers
# without loading. Memory is the host's.
set -eu
for v in $(env | sed -n 's/^\(OPENBLAS_[A-Z_]*\)=.*/\1/p'); do unset "$v"; done
export LC_ALL=C.UTF-8 PATH=$BIN:$PATH
threads=${THREADS:-$(nproc)} device=${DEVICE:-cpu} precision=${PRECISION:-float32}
trained=$precision; [ "$precision" != int8 ] || trained=float32      # of a model of our own
longest=${LONGEST:-100} times=${TIMES:-2} python=${PYTHON-}
peers="transformers ctranslate2"; [ "$precision" != int8 ] || peers=ctranslate2
REF=${REF:+$(realpath "$REF")}
export OMP_NUM_THREADS=$threads
work=$(mktemp -d); trap 'rm -rf "$work"' EXIT
[ -z "${MODEL:-}" ] || MODEL=$(cd "$MODEL" && pwd)
[ -z "${TEXT:-}" ] || TEXT=$(realpath "$TEXT")
[ -z "$python" ] || python=$(command -v "$python")
cd "$work"

if [ -z "${MODEL:-}" ]; then
    SRC=xa TGT=xb
    synth-corpus -q -o d -n 100 --dev 20000 --test 2000 --seed 11
    for l in xa xb; do for f in dev test; do tokenize -q -l en d/$f.$l > $f.$l; done; done
    bpe-learn -q -n 4000 dev.xa dev.xb > codes
    for f in dev.xa dev.xb test.xa test.xb; do bpe-apply -q -c codes $f > $f.bpe; done
    vocab-count -q dev.xa.bpe dev.xb.bpe > vocab
    echo "training: ${LAYERS:-3} + ${LAYERS:-3} layers, D = ${DIM:-256}, ${STEPS:-600} steps" >&2
    finetune --task mt -v vocab --parallel xa-xb=dev.xa.bpe,dev.xb.bpe --layers "${LAYERS:-3}" \
        --dim "${DIM:-256}" --heads "${HEADS:-4}" --positions 256 --tokens 1000 \
        --device "$device" --precision "$trained" --steps "${STEPS:-600}" --lr "${LR:-1e-3}" \
        --warmup 100 --dropout 0 --seed 1 --save-every 100000 --threads "$threads" --out run >&2
    MODEL=$work/run TEXT=$work/test.xa.bpe
fi
: "${SRC:?set SRC and TGT, the languages of MODEL}" "${TGT:?}"
: "${TEXT:?set TEXT to BPE text in SRC}"
# references of the lines that are not empty
[ -z "$REF" ] ||
    paste -d '\n' "$TEXT" "$REF" | awk 'NR % 2 { a = $0; next } split(a, w) { print > "ref" }'
# equal A B: how many of their lines are
equal() { paste -d '\n' "$1" "$2" |
    awk 'NR % 2 { a = $0; next } a == $0 { n++ } END { print n + 0 }'; }
awk 'NF' "$TEXT" > all
read -ra beams <<< "${BEAMS:-1 5}"
read -ra batches <<< "${BATCHES:-1 32}"
read -ra sentences <<< "${SENTENCES:-200}"
[ -s all ] || { echo "no sentence in $TEXT" >&2; exit 1; }
ckpt info "$MODEL" > info
echo "$(sed -n 's/^model name[^:]*: //p' /proc/cpuinfo | head -n 1), $threads threads," \
    "$device, $precision; load $(cut -d' ' -f1-3 /proc/loadavg)"
echo "model: $(grep -oE '"(layers|decoder_layers|dim|ffn|vocab)": *[0-9]+' info |
    tr -d '"' | tr '\n' ' ')"
[ -z "$python" ] || ckpt export -q --tokens-only -o hf --to bart --src "$SRC" --tgt "$TGT" "$MODEL"
vocab=vocab.model
for f in "$MODEL/vocab" "$MODEL/best/vocab" "$MODEL/last/vocab"; do
    [ ! -e "$f" ] || { cp "$f" $vocab; break; }
done

# one TEXT OUT BEAM BATCH: seconds and, where there is GNU time, KiB of a process
measure=()
[ -z "$(type -P time)" ] || measure=("$(type -P time)" -f %M -o kib)
echo 0 > kib
one() {
    local began=$EPOCHREALTIME
    "${measure[@]}" translate -q -m "$MODEL" -s "$SRC" -t "$TGT" --device "$device" \
        --precision "$precision" --threads "$threads" --beam "$3" --sentences "$4" \
        --tokens 1000000 --max-ratio 0 --max-extra "$longest" --early-stopping < "$1" > "$2" &&
        awk -v a="$began" -v b="$EPOCHREALTIME" -v k="$(tail -n 1 kib)" 'BEGIN { print b - a, k }'
}
fastest() { for _ in $(seq "$times"); do one "$@"; done | sort -n | head -n 1; }
: > none
: > rows
for beam in "${beams[@]}"; do
    for i in "${!batches[@]}"; do
        batch=${batches[i]}
        head -n "${sentences[i]:-${sentences[0]}}" all > text
        [ "$beam" != "${beams[0]}" ] ||
            echo "text, batches of $batch: $(wc -l < text) sentences, $(wc -w < text) tokens"
        read -r start _ < <(fastest none out "$beam" "$batch")
        read -r wall kib < <(fastest text ours "$beam" "$batch")
        awk -v w="$wall" -v s="$start" -v n="$(wc -w < ours)" -v k="$kib" -v c="$beam, $batch" \
            'BEGIN { d = w - s
                few = d < w / 10    # loading is nearly all of it: too few sentences to tell
                if (few) d = w
                print c "\tours\t" d "\t" n "\t" k / 1024 "\t\tours: " w " s with loading" \
                    (few ? ", which counts here: give more SENTENCES" : "") }' | tee -a rows >&2
        if [ "$precision" != float32 ]; then
            mv ours lower
            precision=float32 one text ours "$beam" "$batch" > /dev/null
            mv ours float32; mv lower ours
            echo "beam $beam, batches of $batch:" \
                "$(equal float32 ours) of $(wc -l < ours) are our float32's"
            [ -z "$REF" ] || for f in float32 ours; do
                echo "$f: $(bleu --multi <(head -n "$(wc -l < text)" ref) < $f)"
            done
        fi
        for peer in ${python:+${PEERS:-$peers}}; do
            IFS=$'\t' read -r seconds tokens translated mib version < <(
                "$python" "$TOP/test/peers/translate.py" $peer $vocab hf theirs "$beam" "$batch" \
                    "$threads" "$longest" "$times" "$device" "$precision" < text 2>err) ||
                { echo "$peer: failed: $(tail -n 1 err)"; continue; }
            same=$(equal ours theirs)
            printf '%s\t%s\t%s\t%s\t%s\t%s of %s\t%s\n' "$beam, $batch" "$peer" "$seconds" \
                "$tokens" "$mib" "$same" "$translated" "$version" | tee -a rows >&2
        done
    done
done
awk -F '\t' '
    $2 == "ours" { ours = $4 / $3 }
    NR == 1 {
        print "\n| beam, batch | | tokens/s | seconds | MiB | times faster | the same translation |"
        print "|---|---|---|---|---|---|---|" }
    { printf "| %s | %s | %.0f | %.2f | %.0f | %s | %s |\n", $1, $2, $4 / $3, $3, $5,
          $2 == "ours" ? "" : sprintf("%.2f", ours * $3 / $4), $6
      if ($2 != "ours") v[$7] = 1 }
    END { print ""; for (x in v) print "    " x }' rows
