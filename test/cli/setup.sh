# test/setup speaks to apt, dnf, apk and pacman, each by stand-ins that only write down what they
# are told; where none is, it says in one sentence what is missing.
. "$TOP/test/cli/lib.sh"
# system MANAGER LOOKUP: a PATH that has these two and little else. What is said to be installed
# stands in `have`, what the system has no package of in `lacks`.
system() {
    rm -rf path; mkdir path
    for p in awk tr id; do ln -s "$(command -v $p)" path/; done
    [ $# = 2 ] || return 0
    printf '%s\n' '#!/bin/sh' "echo \"$1 \$*\" >> $PWD/told" \
        "case \$* in *info*\\ *|search*|-Si*) for p; do q=\$p; done" \
        "    ! grep -qx -- \"\$q\" $PWD/lacks || exit 1; echo \$q;; esac" > path/$1
    printf '%s\n' '#!/bin/sh' "for p; do q=\$p; done" \
        "grep -qx -- \"\$q\" $PWD/have && echo install ok installed" > path/$2
    chmod +x path/$1 path/$2
    for p in grep sh; do ln -sf "$(command -v $p)" path/; done
    cp path/$1 path/sudo
    echo '#!/bin/sh
[ "$1" != -n ] || shift
exec "$@"' > path/sudo
    [ $1 != apt-get ] || { sed "s/^echo.*//; s/\\*info\\*/*show*/" path/apt-get > path/apt-cache
        chmod +x path/apt-cache; }
}
# asks LOG WORDS PACKAGE...: does its last line begin with the words, and name the packages?
asks() {
    local log=$1 words=$2 p; shift 2
    for p; do
        case "$(tail -n 1 "$log") " in "$words "*" $p "*) ;; *) fail "$p: $(cat "$log")";; esac
    done
}
setup() { : > told; PATH=$PWD/path "$(command -v sh)" "$TOP/test/setup" "$@"; }
: > have; : > lacks

system apt-get dpkg-query
printf '%s\n' gcc g++ make > have; echo gnuplot-nox > lacks
setup libopenmpi-dev 2> said
is "$(sed -n '$p' told)" "apt-get install -y --no-install-recommends -qq pkg-config libc6-dev \
libopenblas-openmp-dev libzstd-dev zlib1g-dev libxxhash-dev libicu-dev libpcre2-dev libcjson-dev \
libcmocka-dev zstd xz-utils ca-certificates curl libopenmpi-dev libdnnl-dev"
grep -qx 'setup: gnuplot-nox is not among this system.s packages: left out' said || cat said
# a package that the table lacks is asked for by its own name: it is Debian's
setup musl-tools 2> said; has musl-tools < told || fail "musl-tools: $(cat told)"

system dnf rpm
: > have; : > lacks
setup libopenmpi-dev 2> said
asks told 'dnf install -y' gcc-c++ glibc-devel openblas-devel onednn-devel xxhash-devel \
    openmpi-devel
fails 1 'Debian calls musl-tools has no name here' setup musl-tools

if [ "$(id -u)" = 0 ]; then
    for m in 'apk apk' 'pacman pacman'; do
        system ${m% *} ${m#* }x
        # what it asks whether a package is there, and what it installs with, is one program
        printf '%s\n' '#!/bin/sh' "echo \"${m% *} \$*\" >> $PWD/told" 'case $* in' \
            "\"info -e\"*|-Q*) for p; do q=\$p; done; grep -qx -- \"\$q\" $PWD/have; exit;;" \
            'search*|-Si*) echo found;; esac' > path/${m% *}
        setup 2> said
        cp told told.${m% *}
    done
    asks told.apk 'apk add' musl-dev linux-headers openblas-dev icu-data-full bash cmocka-dev
    asks told.pacman 'pacman -S --needed --noconfirm' openblas xxhash cjson cmocka onednn
    ! grep -qE ' \.( |$)|[?*]' told.apk told.pacman || fail "marks of the table are packages"
fi
# what is there already is not asked for
awk '/^table="$/ { on = 1; next } /^"$/ { on = 0 } on { sub(/[?*]$/, "", $2); print $2 }' \
    "$TOP/test/setup" > have
system dnf rpm
setup
is "$(cat told)" "" "all is there"

system
fails 1 'neither apt, dnf, apk nor pacman is here; install what Debian calls gcc g\+\+ make' setup
