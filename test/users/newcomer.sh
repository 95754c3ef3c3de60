# A newcomer's way: README, the tutorial and the how-tos, every line as it is written there, in a
# folder with nothing but what a clone has. Lines of a block that begins with "$ " print what stands
# below them; what a comment "<!-- not run: why -->" precedes is left out. Recipes run with small
# settings; of another `make X` it is only asked whether `make help` knows X. Clusters' lines are
# run by cli/slurm-*, Python's by users/python.
. "$TOP/test/cli/lib.sh"
covered "the tests of programs"
unset MAKEFLAGS MAKELEVEL MFLAGS CORPUS_CACHE RUN RUNS SEEDS LIFELINE A B SCALE VALID TEST MONO \
    START TEXT GOLD PARALLEL MODEL LAUNCH_CPU LAUNCH_GPU GPU_JOBS CPU_JOBS

# blocks PAGE: N.run for each block of commands in order, or N.cmd and N.out for each command of a
# session, with what it prints
blocks() {
    rm -f [0-9]*.run [0-9]*.cmd [0-9]*.out
    awk '/^<!-- not run: / { skip = 1 }
        !/^    / { if (NF) { if (!/^<!-- not run/) skip = 0 } on = 0; more = 0; next }
        skip { next }
        { line = substr($0, 5) }
        !on { on = 1; session = line ~ /^\$ /; if (!session) file = sprintf("%02d.run", ++n) }
        !session { print line > file; next }
        line ~ /^\$ / || more {
            if (!more) { file = sprintf("%02d.cmd", ++n); out = sprintf("%02d.out", n)
                printf "" > out }
            sub(/^\$ /, "", line); print line > file; more = line ~ /\\$/; next }
        { print line > out }' "$1"
}

# spans PAGE: what stands in code inside its lines and begins with a program, an option behind it
spans() {
    awk '!/^    /' "$1" | tr '\n' ' ' | { grep -oE '`[a-z-]+ [^`]*`' || true; } |
        tr -d '`' |
        sed -E 's/\\\|/|/g; s/[|;&]+ */\n/g; s/ [<>] [^ \n]*//g; s/\.\.\.//g' |
        while read -r p words; do
            [ -x "$BIN/$p" ] && case $words in *-*) echo "$p $words";; esac || true
        done
}

make -s -C "$TOP" help > help
export BASE=$PWD
cat > prelude <<'END'
set -eE -o pipefail
PATH=$BIN:$PATH
make() {
    case $1 in
    */*)
        local x=$1; shift
        (export "$@"; "$TOP/pipelines/conduct" "${x%%/*}" "${x#*/}") ;;
    *)  local t
        for t; do
            case $t in -*|*=*) continue;; esac
            grep -qE "make $t( |\$)" "$BASE/help" || { echo "make help has no $t"; return 1; }
        done ;;
    esac
}
END

# --- README: in a clone, sessions with what they print --------------------------------------------
mkdir clone && cd clone
ln -s "$BIN" bin; ln -s "$TOP/docs" docs; cp "$TOP/LICENSE" .
blocks "$TOP/README.md"
n=0
{ cat ../prelude
for f in [0-9]*; do
    case $f in
    *.run) cat "$f";;
    *.cmd) echo "{"; cat "$f"; echo "} > ${f%.cmd}.got"; n=$((n + 1));;
    esac
done; } > all
[ "$n" -ge 5 ] || fail "README's sessions are not found"
bash all < /dev/null > said 2>&1 || { cat said; fail "README"; }
for f in *.out; do same "${f%.out}.got" "$f"; done
cd ..

# --- what pages have in their lines: programs and options that there are --------------------------
for page in "$TOP"/{README,docs/tutorial,docs/howto/*}.md; do spans "$page"
done | sort -u > spans
[ "$(wc -l < spans)" -ge 8 ] || { cat spans; fail "pages' lines are not found"; }
set -f
while read -r p words; do
    "$p" $words --help > told 2>&1 || fail "$p $words: $(tail -n 1 told)"
done < spans
set +f

# --- the tutorial, from its first line to its last ------------------------------------------------
mkdir tutorial && cd tutorial
ln -s "$BIN" bin
blocks "$TOP/docs/tutorial.md"
cat ../prelude [0-9]*.run > all
bash all > said 2> err || { tail -n 5 said err; fail "the tutorial"; }
cd tutorial
awk '$1 == "hit@1" { hit = $2 } $1 == "random-hit@1" { chance = $2 }
    END { exit !(hit > .3 && chance < .01) }' ../said || fail "dictionary: $(grep hit@1 ../said)"
awk '$1 == "accuracy-to" { n++; x[n] = $2 } END { exit !(n == 2 && x[1] < .05 && x[2] > .2) }' \
    ../said || fail "sentences: $(grep accuracy ../said)"
grep -q '<svg' words.svg && grep -q '<svg' curves.svg
mkdir ../../how
head -n 1500 made/mono.xa > ../../how/news.en; head -n 1500 made/mono.xb > ../../how/news.de
head -n 600 made/dev.xa > ../../how/pairs.en; head -n 600 made/dev.xb > ../../how/pairs.de

# --- how-tos: own text, a translator, aligning; the languages are invented, two words are English -
cd ../../how
tr -cs '[:alpha:]' '\n' < news.en | grep -x '[a-z]\{4,\}' | sort | uniq -c | sort -k 1,1nr -k 2 |
    awk 'NR <= 2 { print $2 }' > frequent
sed -i "s/\b$(sed -n 1p frequent)\b/house/g; s/\b$(sed -n 2p frequent)\b/dog/g" news.en pairs.en
head -n 20 pairs.de > text
export MAKE=make MAKEFLAGS= RUNS=$PWD/runs DEVICE=cpu MERGES=300 WORD_VECTORS="--dim 20" \
    VALID_LINES=60 TEST_LINES=60 \
    PRETRAIN="--tokens 300 --steps 6 --save-every 0 --warmup 2 --valid-every 6" \
    DICT="--map vecmap --restarts 1 --min-length 1 --cutoff 200 --frequency 0.05 --refinements 1" \
    MT="--tokens 400 --lr 1e-3 --warmup 2 --valid-every 6 --save-every 0 --steps 6" \
    ALIGN="--objective moco --pool mean --batch 16 --queue 32 --queue-start empty --momentum 0.9
        --projection 16 --min-tokens 3 --lr 1e-3 --steps 6 --valid-every 6 --save-every 0"
small="--no-encoder-langs --layers 1 --dim 16 --heads 2 --ffn 32 --dropout 0.1"
for page in own-text translator align; do
    blocks "$TOP/docs/howto/$page.md"
    [ -e 01.run ] || fail "$page.md has no lines"
    for f in [0-9]*.run; do
        { cat ../prelude
          case $page in align) ;; *) printf 'export MODEL="%s"\n' "$small";; esac
          cat "$f"; } > one
        bash one < text > said 2>&1 || { cat "$f"; tail -n 5 said; fail "$page.md, block ${f%.*}"; }
    done
    [ -e folder ] || ln -s runs/own-own/s1/mlm-gc/pretrain folder
done
for f in runs/own-own/{report.html,dictionary.en-de.tsv,s1/mlm-gc/{en,de}.vec} \
    runs/mt-de-en-mt/{report.html,s1/supervised/mt/last/config.json} \
    runs/align-en-de-align/export/config.json en.vec de.vec; do
    [ -s "$f" ] || fail "no $f, which a page speaks of"
done
