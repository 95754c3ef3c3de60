#!/bin/bash
# The experiments that want a GPU, in minutes that are planned beforehand: their text and merges are
# made here, the trainings there, several at a time, each experiment within a limit of its own.
#   test/gpu/evidence.sh pack FOLDER[.tar.gz]   here: programs, libraries, and what trainings read
#                        pack --again FOLDER    here: only the latter; programs are there
#   FOLDER/test/gpu/evidence.sh run [NAME...]   there: NAMEs of the list below, all in its order;
#                                               what is broken off leaves its last validation
#   FOLDER/test/gpu/evidence.sh table           what came of them: validations, scores
# SMALL=1 for pack: toy sizes on the CPU, to see that all of it runs. SEEDS="1 2 3", CORPUS_CACHE.
# EVIDENCE=file: another list of experiments, as below.
set -u -o pipefail
top=$(cd "$(dirname "$0")/../.." && pwd)
export TOP=$top LC_ALL=C.UTF-8
die() { echo "evidence.sh: $*" >&2; exit 1; }
# experiment NAME MINUTES TRAININGS-AT-ONCE RECIPE PATTERN SETTING... [small SETTING...]: the stages
# of a recipe whose names PATTERN has, with what they need
list() {
    local toy=(MODEL="--no-encoder-langs --layers 1 --dim 32 --heads 2 --ffn 64" MERGES=500
        PRETRAIN_STEPS=20 PRETRAIN="--tokens 500 --valid-every 10 --save-every 10 --steps 20"
        UNMT_STEPS=8 WORD_TYPES=300)
    # S2: MLM-GC in translation without what replaces it: no mapped vectors, no pseudo-pairs
    experiment s2 6 2 unmt-deen '^s[0-9]+[.](mlm|mlm-gc)[.]' TEXT=task2 INIT= INIT_PIECES= \
        PSEUDO_STEPS=0 GC_SKIP=⇧,⇪ GC="--gc-lambda 0.5 --gc-window 2 --gc-dot 0.03125" \
        MODEL="--no-encoder-langs --layers 4 --dim 512 --heads 8 --ffn 2048 --dropout 0.1" \
        PRETRAIN_STEPS=40000 PRETRAIN="--tokens 8000 --lr 5e-4 --warmup 4000 --schedule linear
            --precision bf16 --valid-every 5000 --save-every 5000 --keep 1 --steps 40000" \
        small "${toy[@]}"
    # translation of Wikipedia: MLM, MLM-GC by the text and by the code
    experiment wiki 20 3 unmt-deen '^s[0-9]+[.]' TEXT=wiki WIKI_LINES=250000 INIT= PSEUDO_STEPS=0 \
        SYSTEMS="mlm mlm-gc mlm-gc-code" small WIKI_LINES=500 "${toy[@]}"
    # English Wikipedia and its disguise: four objectives of 100 million tokens
    experiment derived 10 4 derived '^s[0-9]+[.].*[.]rows$' TEXT=wiki WIKI_LINES=250000 \
        TRANSFORMS=trans-inv TASKS="pos ner" small WIKI_LINES=600 TASKS=pos SYSTEMS="mlm align" \
        DERIVED_MERGES=500 TAG_SENTENCES=40 \
        DERIVED_MODEL="--layers 1 --dim 32 --heads 2 --ffn 64 --positions 96" \
        DERIVED_PRETRAIN="--tokens 500 --steps 20 --valid-every 10 --save-every 0"
    # zero-shot tasks: XLM, GC, TLM
    experiment xlu 20 3 xlu '^s[0-9]+[.]' TEXT=wiki WIKI_LINES=100000 TASKS="pos ner nli" \
        XLU_SYSTEMS="xlm gc tlm" small WIKI_LINES=800 TASKS=pos TASK_MOST=40 TEST_MOST=20 \
        XLU_SYSTEMS="xlm tlm" "${toy[@]}"
}
# each FUNCTION: of every experiment, with $name $minutes $jobs $recipe $wanted ${given[@]}
each() {
    local name minutes jobs recipe wanted given small act=$1
    experiment() {
        [ $# -ge 5 ] && [[ $2 =~ ^[0-9.]+$ && $3 =~ ^[1-9][0-9]*$ ]] ||
            die "expected experiment NAME MINUTES TRAININGS RECIPE PATTERN SETTING...: $*"
        name=$1 minutes=$2 jobs=$3 recipe=$4 wanted=$5 given=() small=
        shift 5
        while [ $# != 0 ]; do
            if [ "$1" = small ]; then small=1
            elif [ -z "$small" ] || [ -n "${SMALL-}" ]; then given+=("$1"); fi
            shift
        done
        $act
    }
    if [ -n "${EVIDENCE-}" ]; then . "$EVIDENCE"; else list; fi
}
# planned FOLDER: FOLDER/before and FOLDER/plan: of the stages that the wanted need those that are
# done here, and those there: trainings, what comes behind them, and shards and counts, which are
# quick to make and large
planned() {
    env SCALE="${SCALE:-gpu}" SEEDS="${SEEDS:-1}" DEVICE="${DEVICE:-cuda}" BIN="$BIN" \
        EXPERIMENTS="${EXPERIMENTS:-$top/pipelines/experiments}" "${given[@]}" \
        "$top/pipelines/plan" "$recipe" > "$1/whole" || die "$name: no plan"
    awk -F '\t' -v WANTED="$wanted" -v DIR="$1" '
        /^#/ { next }
        { row[++n] = $0; at[$1] = n; split($3, o, " ")
          for (i in o) writer[o[i]] = n }
        END {
            for (k = n; k; k--) {
                split(row[k], f, "\t")
                if (!(f[1] ~ WANTED || k in need)) continue
                need[k]; m = split(f[4], in_, " ")
                for (i = 1; i <= m; i++) if (in_[i] in writer) need[writer[in_[i]]]
            }
            printf "" > (DIR "/before"); printf "" > (DIR "/plan")
            for (k = 1; k <= n; k++) {
                if (!(k in need)) continue
                split(row[k], f, "\t"); m = split(f[4], in_, " "); late = f[2] == "gpu"
                if (f[1] ~ /^(shard|cooc|exchanged)/) late = 1
                for (i = 1; i <= m; i++) if (writer[in_[i]] in there) late = 1
                if (late) { there[k]; print row[k] > (DIR "/plan") }
                else print row[k] > (DIR "/before")
            }
        }' "$1/whole"
    [ -s "$1/plan" ] || die "$name: no stage of $recipe is called like $wanted"
}
# ran PLAN RUN JOBS: make runs the plan, going on behind what fails
ran() {
    local mk
    cut -f 1 "$1" > "$1.why"
    mk=$(command -v make) || mk=$top/tools/make
    (cd "$2" && awk -f "$top/pipelines/graph.awk" "$1.why" "$1") > "$1.mk" &&
        env PLAN="$1" RUN_FOLDER="$2" BIN="$BIN" GPU_JOBS="$3" CPU_JOBS=0 LIFELINE= MAKEFLAGS= \
            "$mk" --no-print-directory -rsk -j"$(nproc)" -f "$1.mk" stages
}
pack() {
    local scratch to f
    local again=
    [ "${1-}" != --again ] || { again=1; shift; }
    [ $# = 1 ] || die "usage: evidence.sh pack [--again] FOLDER[.tar.gz]"
    [ -z "${SMALL-}" ] || export SCALE=smoke DEVICE=cpu
    to=$1
    case $to in *.tar.gz) scratch=$(mktemp -d); trap 'rm -rf "$scratch"' EXIT
        to=$scratch/$(basename "$to" .tar.gz);; esac
    if [ -z "$again" ]; then "$top/test/gpu/pack.sh" ${SMALL:+--no-cuda} --no-texts "$to" || exit 1
    else [ -e "$to/packed" ] || die "$to is no folder of pack.sh"; fi
    to=$(cd "$to" && pwd) BIN=$to/bin
    export LD_LIBRARY_PATH=$to/lib${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH} MAKEFLAGS=
    [ -z "${CORPUS_CACHE-}" ] || export CORPUS_CACHE="$(realpath -sm -- "$CORPUS_CACHE")"
    prepared() {
        local f=$to/runs/$name o
        mkdir -p "$f/.stage"
        planned "$f/.stage"
        echo "evidence.sh: $name: text"
        ran "$f/.stage/before" "$f" 0 || die "$name: text was not made"
        # what nothing there reads stays here
        awk -F '\t' 'NR == FNR { n = split($4, w, " "); for (i = 1; i <= n; i++) read_[w[i]]; next }
            { n = split($3, w, " "); for (i = 1; i <= n; i++) if (!(w[i] in read_)) print w[i] }' \
            "$f/.stage/plan" "$f/.stage/before" | while read -r o; do rm -rf "${f:?}/$o"; done
        rm -rf "$f/log" "$f/.stage/hashes" "$f/.stage"/*.{mk,why}
    }
    each prepared
    [ -z "${EVIDENCE-}" ] || cp "$EVIDENCE" "$to/list"
    echo "DEVICE=${DEVICE:-cuda}" > "$to/evidence"
    [ "$to" = "$1" ] || case $1 in *.tar.gz)
        tar -czf "$1.tmp" -C "$scratch" "$(basename "$to")" && mv "$1.tmp" "$1" || exit 1
        f=$(du -k "$1" | cut -f 1)
        echo "$1: $((f / 1024)) MiB; there: $(basename "$to")/test/gpu/evidence.sh run"
        [ "$f" -le 65536 ] || die "$1 is more than 64 MiB; WIKI_LINES in the list makes less";;
    esac
}
packed() {
    cd "$top" && [ -f evidence ] || die "this is for a folder that evidence.sh pack made"
    . ./evidence
    [ ! -f list ] || EVIDENCE=$top/list
}
run() {
    local mps= only=" $* "
    packed
    export PATH=$top/bin:$PATH BIN=$top/bin
    if [ "$DEVICE" = cuda ]; then
        . "$top/test/gpu/where.sh"
        timeout 60 "$UNIT/ops" cuda describe > device 2>&1 || die "nothing was run: $(cat device)"
        # small models share one card well
        ! command -v nvidia-cuda-mps-control > /dev/null ||
            { nvidia-cuda-mps-control -d && mps=1; } > /dev/null 2>&1
    else
        export LD_LIBRARY_PATH=$top/lib${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}
        sed -n 's/^model name[^:]*: //p' /proc/cpuinfo | sort -u > device
    fi
    cat device
    trained() {
        local f=$top/runs/$name t0=$SECONDS status=done
        [ "$only" = "  " ] || [[ $only == *" $name "* ]] || return 0
        echo "--- $name: at most $minutes minutes, $jobs at once"
        # TERM to all of its group: trainings save their state, and their log has what they reached
        timeout -k 20 "$(awk -v m="$minutes" 'BEGIN { print m * 60 }')" \
            "$top/test/gpu/evidence.sh" ran "$f/.stage/plan" "$f" "$jobs" < /dev/null
        case $? in 0) ;; 124|137) status="broken off";; *) status="not all of it";; esac
        echo "$name: $status, $((SECONDS - t0)) s" | tee "$f/ended"
    }
    each trained
    [ -z "$mps" ] || echo quit | nvidia-cuda-mps-control > /dev/null 2>&1
    table
}
# table: of each training its last validation, of each experiment its rows of results
table() {
    packed
    cat device 2>/dev/null || true
    shown() {
        local f=runs/$name l
        [ -f "$f/ended" ] || return 0
        echo; cat "$f/ended"
        while read -r l; do
            awk -v NAME="${l#"$f"/}" '
                /"event":"valid"/ { last = $0 }
                END {
                    sub(/\/log[.]jsonl$/, "", NAME)
                    if (!match(last, /"step":[0-9]+/)) { print NAME "\tno validation"; exit }
                    line = NAME "\tstep " substr(last, RSTART + 7, RLENGTH - 7)
                    while (match(last, /"[A-Za-z0-9_.-]*(perplexity|bleu|accuracy|f1)":[0-9.]+/)) {
                        w = substr(last, RSTART, RLENGTH); gsub(/"/, "", w); line = line "\t" w
                        last = substr(last, RSTART + RLENGTH)
                    }
                    print line
                }' "$l"
        done < <(find "$f" -name log.jsonl | sort)
        find "$f"/s[0-9]* \( -name '*.score' -o -name '*rows' -o -name 'score.??-??' \) -type f \
            2>/dev/null | sort | while read -r l; do cat "$l"; done
    }
    each shown
}
case ${1-} in
pack) shift; pack "$@";;
run) shift; run "$@";;
table) table;;
ran) shift; ran "$@";;          # of `run` itself
*) echo "usage: test/gpu/evidence.sh pack FOLDER[.tar.gz] | run [NAME...] | table" >&2; exit 2;;
esac
