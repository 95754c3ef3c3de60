# `make install`: what lands where, the dispatcher, the short names, and that all of it goes away
# again.
. "$TOP/test/cli/lib.sh"
unset MAKEFLAGS MAKELEVEL MFLAGS
make_() { make -s -C "$TOP" $BUILD_WITH PREFIX="$PWD/usr" "$@"; }
[ -n "${BUILD_WITH-}" ] || fail "run this by make test, which says how the programs were built"
make_ install > out
some=$(ls usr/bin | sed -n 's/^isoglot-//p' | sed -n 1p)
[ -n "$some" ] || fail "no programs installed"
is "$(usr/bin/isoglot --list | sort)" "$(ls "$BIN" | sort)" "every program"
is "$(usr/bin/isoglot "$some" --version | sed -n 1p)" "$("$BIN/$some" --version | sed -n 1p)"
is "$(cd / && "$OLDPWD/usr/bin/isoglot" "$some" --help | sed -n 1p)" "$("$BIN/$some" --help |
    sed -n 1p)"
fails 2 'no program nonsense' usr/bin/isoglot nonsense
fails 2 'no program nonsense' usr/bin/isoglot help nonsense
fails 2 "no program ${some}e; did you mean $some\?" usr/bin/isoglot "${some}e"
is "$(usr/bin/isoglot help "$some" | sed -n 1p)" "$("$BIN/$some" --help | sed -n 1p)"
is "$(usr/bin/isoglot help | sed -n 1p)" "$(usr/bin/isoglot --help | sed -n 1p)"
is "$(usr/bin/isoglot --version)" "isoglot $("$BIN/$some" --version |
    sed -nE '1s/.*\(isoglot\) //p')"
fails 2 'usage' usr/bin/isoglot
fails 2 'no program tokeniz; did you mean tokenize\?' usr/bin/isoglot tokeniz
fails 2 'no program cooc-me; did you mean cooc-merge\?' usr/bin/isoglot help cooc-me
fails 2 'no program hlep; did you mean help\?' usr/bin/isoglot hlep
fails 2 'no program TOKENISE; did you mean tokenize\?' usr/bin/isoglot TOKENISE
fails 2 'no program pre; did you mean predict or pretrain\?' usr/bin/isoglot pre
[ ! -e usr/bin/"$some" ] || fail "a short name that nobody asked for"
[ -f usr/share/man/man1/isoglot.1 ]
# pages call themselves what they are installed as, and refer to pages that are there (gnuplot's is
# Debian's)
for f in usr/share/man/man*/*; do
    name=${f##*/}; section=${name##*.}; name=${name%.*}
    grep -qix "\.Dt $name $section" "$f" && grep -qx "\.Nm $name" "$f" ||
        fail "$f: $(sed -n 2,5p "$f")"
    for x in $(grep '^\.' "$f" | grep -oE '\bXr [a-z-]+ [15]' | sed 's/^Xr //; s/ /./'); do
        [ -f "usr/share/man/man${x##*.}/$x" ] || [ "$x" = gnuplot.1 ] || fail "$f refers to $x"
    done
done
[ "$(grep -h '^\.Xr isoglot-' usr/share/man/man1/* | wc -l)" -gt 20 ] || fail "no references"
# through a link elsewhere in the path it still finds its programs
ln -s "$PWD/usr/bin/isoglot" link; is "$(./link --list | wc -l)" "$(ls "$BIN" | wc -l)"
# completion: program names after `isoglot`, options after a program
got=$(PATH=$PWD/usr/bin:$PATH bash -c '. usr/share/bash-completion/completions/isoglot
    COMP_WORDS=(isoglot '"${some:0:3}"'); COMP_CWORD=1; _isoglot isoglot; echo "${COMPREPLY[*]}"
    COMP_WORDS=(isoglot-'"$some"' --ver); COMP_CWORD=1;
        _isoglot isoglot-'"$some"'; echo "${COMPREPLY[*]}"')
case " $got " in *" $some"*--version*) ;; *) fail "completion gives: $got";; esac
# and the choices of an option, after it
got=$(PATH=$PWD/usr/bin:$PATH bash -c '. usr/share/bash-completion/completions/isoglot
    COMP_WORDS=(isoglot cooc-count --weights ""); COMP_CWORD=3;
        _isoglot isoglot; echo "${COMPREPLY[*]}"
    COMP_WORDS=(isoglot-cooc-count --weights gl); COMP_CWORD=2;
        _isoglot isoglot-cooc-count; echo "${COMPREPLY[*]}"
    COMP_WORDS=(isoglot-cooc-count --weights = gl); COMP_CWORD=3;
        _isoglot isoglot-cooc-count; echo "${COMPREPLY[*]}"
    COMP_WORDS=(isoglot-cooc-count --weights =); COMP_CWORD=2;
        _isoglot isoglot-cooc-count; echo "${COMPREPLY[*]}"')
is "$got" "mlm-gc glove flat
glove
glove
mlm-gc glove flat"
# and what a program can be told to do
got=$(PATH=$PWD/usr/bin:$PATH bash -c '. usr/share/bash-completion/completions/isoglot
    COMP_WORDS=(isoglot ckpt i); COMP_CWORD=2; _isoglot isoglot; echo "${COMPREPLY[*]}"
    COMP_WORDS=(isoglot-shard c); COMP_CWORD=1; _isoglot isoglot-shard; echo "${COMPREPLY[*]}"')
is "$got" "info import
cat check"
# fish, where it is: a list without files beside it, files where nothing is listed
if command -v fish > /dev/null; then
    : > a.file
    got=$(PATH=$PWD/usr/bin:$PATH fish --no-config -c '
        source usr/share/fish/vendor_completions.d/isoglot.fish
        complete -C"isoglot cooc-count --weights "
        complete -C"isoglot-cooc-count -v a.f"')
    is "$got" "flat
glove
mlm-gc
a.file" "fish"
fi
# a letter's choices
got=$(PATH=$PWD/usr/bin:$PATH bash -c '. usr/share/bash-completion/completions/isoglot
    COMP_WORDS=(isoglot score -m s); COMP_CWORD=3; _isoglot isoglot; echo "${COMPREPLY[*]}"')
is "$got" "squad squad2 spearman"
make_ install SHORT=1 > out
is "$(usr/bin/"$some" --version | sed -n 1p)" "$("$BIN/$some" --version | sed -n 1p)"
make_ uninstall
is "$(find usr -type f -o -type l)" "" "left after uninstall"
