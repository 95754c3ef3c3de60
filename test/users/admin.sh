# An administrator's way: what `make install` leaves under a prefix, used from there and removed
# again without a trace.
. "$TOP/test/cli/lib.sh"
covered "the tests of programs"
unset MAKEFLAGS MAKELEVEL MFLAGS CORPUS_CACHE RUN RUNS SEEDS LIFELINE A B PARALLEL GOLD LAUNCH_CPU \
    LAUNCH_GPU GPU_JOBS CPU_JOBS TEXT
[ -n "${BUILD_WITH-}" ] || fail "run this by make test, which says how the programs were built"
PATH=${PATH#"$BIN":}
make_() { make -s -C "$TOP" $BUILD_WITH DESTDIR="$PWD/root" PREFIX=/any/isoglot "$@"; }
at=$PWD/root/any/isoglot
mkdir -p "$at/share/of others"; : > "$at/share/of others/file"
make_ install > out
programs=$(cd "$TOP/docs/man" && ls | sed -n 's/\.1\.in$//p' | grep -vx isoglot)

# every file, and no other
{ for p in $programs; do
    echo "bin/isoglot-$p"; echo "lib/isoglot/bin/$p"; echo "share/man/man1/isoglot-$p.1"
    echo "share/bash-completion/completions/isoglot-$p"
    echo "share/fish/vendor_completions.d/isoglot-$p.fish"
done
printf '%s\n' bin/{isoglot,train.sbatch,pieces.sbatch,cooc-cluster.sbatch} \
    share/man/{man1/isoglot.1,man5/isoglot-formats.5} \
    share/{bash-completion/completions/isoglot,doc/isoglot/LICENSE} \
    share/{zsh/site-functions/_isoglot,fish/vendor_completions.d/isoglot.fish} \
    share/isoglot/{packed,modulefile} 'share/of others/file'
(cd "$TOP/docs" && find formats -type f | sed 's|^|share/doc/isoglot/|')
(cd "$TOP/lib/text" && find nonbreaking -type f | sed 's|^|share/isoglot/|')
(cd "$TOP" && find pipelines -type f ! -name '*.sbatch' ! -name rules.mk ! -name isoglot.def |
    sed 's|^|share/isoglot/|'); } | sort > want
(cd "$at" && find . -type f -o -type l) | sed 's|^\./||' |
    grep -v '^lib/isoglot/libisoglot-[a-z]*\.so$' | sort > got
same got want
is "$(find "$at" ! -type l ! -perm -444; find "$at" -type d ! -perm 755)" "" "not for all to read"

# two programs by either name, in a pipe; German has a list of abbreviations of its own
is "$(echo 'Das ist z.B. gut.' | "$at/bin/isoglot" tokenize -q -l de |
    "$at/lib/isoglot/bin/vocab-count" -q | sort | tr '\n' ' ')" ". 1 Das 1 gut 1 ist 1 z.B. 1 "
# the scripts are whole: beside each other, and on their own
for s in train pieces cooc-cluster; do
    fails 2 "usage: .*$s.sbatch" "$at/bin/$s.sbatch"
done
# a cluster's module leads to folders that are there, programs by their short names first
is "$(sed -n 's/^prepend-path //p' "$at/share/isoglot/modulefile" | while read -r name folder; do
    cd "root/$folder" && cd - > /dev/null && echo "$name ${folder#/any/isoglot/}"; done)" "PATH bin
PATH lib/isoglot/bin
MANPATH share/man"
# what completes a word, in three shells, from one list
c() { "$at/bin/isoglot" --complete "$@"; }
is "$(c cooc-count --weights '' | tr '\n' ' ')" "mlm-gc glove flat "
is "$(c score -m '' | grep squad | tr '\n' ' ')" "squad squad2 "
is "$(c ckpt '' | sed -n '1p;$p' | tr '\n' ' ')" "info export "
is "$(c cooc-count -- | grep -- '^--window')" "--window	number of words on either side (default: 2)"
is "$(c cooc-count --vocab '')$(c nonsense '')" "" "a file"
c '' | has -x cooc-merge; c help '' | has -x plot; c pipeline '' | has -x own
if command -v fish > /dev/null; then
    is "$(PATH=$at/bin:$PATH HOME=$PWD fish -c ". $at/share/fish/vendor_completions.d/isoglot.fish
        complete -C 'isoglot-cooc-count --oov c'; complete -C 'isoglot cooc-m'")" "collapse
cooc-merge"
fi
if command -v zsh > /dev/null; then
    is "$(PATH=$at/bin:$PATH zsh -fc 'compset() { PREFIX=${PREFIX#*=}; }
        _files() { echo files; }; _describe() { print -l -- ${(P)2}; }
        at() { words=("$@") CURRENT=$# PREFIX=${@[-1]}
            eval "() { $(< '"$at"'/share/zsh/site-functions/_isoglot) }"; }
        at isoglot cooc-count --oov ""; at isoglot-cooc-count --oov=c; at isoglot cooc-count x
        at isoglot-cooc-count -- ' | grep -v -- '^--[a-vx-z]\|^--we\|^--wo')" "gap
collapse
gap
collapse
files
--window:number of words on either side (default: 2)"
fi
if command -v man > /dev/null; then
    MANPAGER=cat MANWIDTH=80 man -l "$at/share/man/man1/isoglot-tokenize.1" > page 2> warnings
    has -i '^ISOGLOT-TOKENIZE(1)' < page
    is "$(cat warnings)" ""
fi

# a recipe, run from there by somebody who may not write there: a model of one's own text
list() { (cd "$at" && find . -printf '%p %s %T@\n' | sort); }
list > before
mkdir -p "user/my text"; cd user
awk 'BEGIN { srand(2); for (n = 0; n < 400; n++) { s = n
    for (i = 0; i < 8; i++) s = s " w" int(60 * rand() * rand()); print s } }' > "my text/a 1"
isoglot() { "$at/bin/isoglot" "$@"; }
fails 2 'isoglot: my-text=a: no setting' isoglot pipeline own my-text=a
fails 2 'usage: isoglot plan RECIPE' isoglot plan
fails 2 'no experiment nonsense; there are:.* own ' isoglot pipeline nonsense
set -- own "TEXT=xa=my text/a*" SCALE=smoke SYSTEMS=mlm DEVICE=cpu MERGES=100 \
    "MODEL=--layers 1 --dim 16 --heads 2 --ffn 32 --dropout 0.1" "WORD_VECTORS=--dim 20" \
    "PRETRAIN=--tokens 300 --steps 6 --save-every 0 --warmup 2 --valid-every 6"
isoglot pipeline "$@" > out 2>&1 || { tail -n 5 out; fail "isoglot pipeline own"; }
is "$(isoglot why "$@")" "nothing to do"
is "$(ls)" "$(printf '%s\n' fails.err fails.out 'my text' out runs)"
# its page says how to do that again, in words that a shell reads as they were
printf '%s\n' isoglot pipeline "$@" > ../given
eval "printf '%s\n' $(sed -n 's/^command\t//p' runs/own-smoke/.stage/plan.run)" > ../shown
same ../shown ../given
cd ..; list > after; same before after

make_ uninstall
is "$(cd "$at" && find . -mindepth 1 | sort)" "./share
./share/of others
./share/of others/file" "left after uninstall"

# what is passed on: every file of the commit, the same bytes twice, whatever umask and clock say
[ -e "$TOP/.git" ] || exit 0
dist() { (umask "$1" && make -s -C "$TOP" dist DIST="$PWD/$2" > /dev/null 2> said); }
dist 022 one; sleep 1; dist 077 two
set -- one/*.tar.gz; tar=${1#one/}
same one/$tar two/$tar
(cd two && sha256sum --quiet -c $tar.sha256) || fail "its SHA-256"
is "$tar" "isoglot-$("$BIN/tokenize" --version | sed -nE '1s/.*\(isoglot\) //p').tar.gz"
tar -xf one/$tar
is "$(cd "${tar%.tar.gz}" && find . -type f | sed 's|^\./||' | sort)" \
    "$(git -C "$TOP" -c core.quotePath=false ls-tree -r --name-only HEAD | sort)"
cmp "${tar%.tar.gz}/LICENSE" <(git -C "$TOP" show HEAD:LICENSE)
! make -s -C "${tar%.tar.gz}" dist 2> said || fail "a dist of no checkout"
has 'dist needs the git checkout' < said
