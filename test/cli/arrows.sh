# Which folder may include what: only folders on lower floors, so that no circle can be. In common/
# no circle of files either; and common/ names no variable of the environment that belongs to
# another folder.
. "$TOP/test/cli/lib.sh"

# From the ground up; folders of one line do not know one another.
floors='common
common/files
common/json common/text
common/prog
kernels
kernels/linalg
kernels/int8
kernels/cpu kernels/cuda
kernels/cuda/attention
lib/text lib/bpe lib/synth lib/cooc lib/graph lib/ranks lib/torch
lib/subword lib/vectors lib/model lib/ngrams lib/derive lib/count
lib/raw lib/score lib/masking lib/ranks/mpi lib/ranks/nccl
lib/bilingual lib/hf lib/embed lib/trainer lib/labelled lib/eval lib/sacrebleu
lib/engine
lib/plot lib/data lib/api
lib/batch
lib/objective
lib/task
cmd'
# Arrows that go up and are to go away: FILE INCLUDED.
known=''

# includes TREE: a line "FILE INCLUDED" for each include of ours
includes() {
    (cd "$1" && grep -rnE '^#include "' \
        --include='*.[ch]' --include='*.cu' --include='*.cuh' common kernels lib cmd) |
        sed -E 's/:[0-9]+:#include "/ /; s/".*//' | sort -u
}

# houses TREE: rows of lib/README.md that say other than the includes in the file `all`
houses() {
    sed -nE -e 's/^lib\/([a-z/]+)\/[a-z0-9_]+\.[chu]+ lib\/([a-z/]+)\/[a-z0-9_]+\.h$/\1 \2/p' \
        -e 's/^(common[a-z/]*)\/[a-z0-9_]+\.[ch] (common\/[a-z]+)\/[a-z0-9_]+\.h$/\1 \2/p' all |
        awk '$1 != $2' | sort -u > uses
    (cd "$1" && find common lib \( -name '*.[ch]' -o -name '*.cu' \) -printf '%h\n' | sort -u |
        sed 's|^lib/||') |
        awk 'FNR == NR { to[$1] = to[$1] (to[$1] == "" ? "" : " ") $2; next }
            { printf "%s | %s\n", $1, to[$1] }' uses - | sort > found
    sed -nE 's/^\| `([a-z/]+)` \|.*\| ?(.*) \|$/\1 | \2/p' "$1/lib/README.md" | sort > told
    comm -3 found told | sed 's/^\t*/lib\/README.md and the includes differ: /'
}

# check TREE: what is wrong with its arrows
check() {
    includes "$1" > all
    awk -v floors="$floors" -v known="$known" '
        function folder(f) { sub(/\/[^\/]*$/, "", f); return f }
        BEGIN {
            n = split(floors, line, "\n")
            for (i = 1; i <= n; i++) { m = split(line[i], f, " ");
                for (j = 1; j <= m; j++) floor[f[j]] = i }
            n = split(known, line, "\n")
            for (i = 1; i <= n; i++) if (line[i] != "") expected[line[i]] = 1
        }
        { a = folder($1); b = folder($2) }
        a == b { next }
        !(a in floor) { print $1 ": its folder stands on no floor; see test/cli/arrows.sh"; next }
        !(b in floor) || floor[b] < floor[a] { next }
        ($0 in expected) { seen[$0] = 1; next }
        { print $1 " includes " $2 ", which does not stand on a lower floor" }
        END { for (k in expected) if (!(k in seen))
            print k ": gone; take it from the list of known arrows" }' all
    sed -nE 's/^(common\/[a-z0-9_/]+)\.[ch] (common\/[a-z0-9_/]+)\.h$/\1 \2/p' all |
        awk '$1 != $2' | { tsort 2>&1 > order || true; } |
        sed 's/^tsort: -: input contains a loop:$/a circle in common:/; s/^tsort: /    /'
    houses "$1"
    (cd "$1" && grep -noE 'ISOGLOT_[A-Z_]+' common{,/*}/*.[ch]) |
        awk '!/:ISOGLOT_VERSION$/ { print $0 " is not a variable of common" }'
}

check "$TOP" > problems
[ -s problems ] && { cat problems; fail "arrows between folders"; }

# What the above would say of a circle, an arrow that goes up, a new folder and a variable of
# another one.
mkdir -p copy/lib; cp -r "$TOP/common" "$TOP/kernels" "$TOP/cmd" copy; cp -r "$TOP"/lib/* copy/lib
echo '#include "common/thread.h"' >> copy/common/err.c
echo '#include "lib/vectors/csls.h"' >> copy/lib/count/count.c
mkdir copy/lib/new; echo '#include "common/err.h"' > copy/lib/new/x.c
echo 'getenv("ISOGLOT_CSLS");' >> copy/common/err.c
check copy > problems
grep -q 'lib/count/count.c includes lib/vectors/csls.h, which does not stand on a lower floor' \
    problems || fail "an arrow that goes up: $(cat problems)"
grep -q 'lib/new/x.c: its folder stands on no floor' problems ||
    fail "a folder without a floor: $(cat problems)"
grep -q 'a circle in common:' problems || fail "a circle: $(cat problems)"
grep -q 'common/err.c:[0-9]*:ISOGLOT_CSLS is not a variable of common' problems ||
    fail "a variable: $(cat problems)"
grep -q '^lib/README.md and the includes differ: new | $' problems ||
    fail "a folder that lib/README.md lacks: $(cat problems)"
grep -q '^lib/README.md and the includes differ: count | cooc vectors$' problems ||
    fail "an arrow that lib/README.md lacks: $(cat problems)"
is "$(grep -c . problems)" "$(grep -cE 'floor|circle|variable|differ|^    ' problems)"
