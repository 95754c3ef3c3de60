# A bare Debian, in a chroot that ISOGLOT_TEST_CHROOT names (`debootstrap trixie FOLDER` makes one,
# as root): test/setup finds its packages, the tree builds without a warning and `make quick`
# passes; `make deb`'s packages build, lintian finds no error, they install, are used, and go
# without a trace.
. "$TOP/test/cli/lib.sh"
covered "the tests of programs"
root=${ISOGLOT_TEST_CHROOT-}
[ -n "$root" ] || { echo "ISOGLOT_TEST_CHROOT names no folder of a Debian"; exit 77; }
[ -x "$root/usr/bin/apt-get" ] || fail "$root has no apt-get; make one with debootstrap"
[ "$(id -u)" = 0 ] && [ -e "$TOP/.git" ] || { echo "needs root and a git checkout"; exit 77; }
unset MAKEFLAGS MAKELEVEL MFLAGS
inside() {
    chroot "$root" /usr/bin/env -i PATH=/usr/local/bin:/usr/bin:/bin:/usr/sbin:/sbin HOME=/root \
        LC_ALL=C.UTF-8 DEBIAN_FRONTEND=noninteractive bash -euo pipefail -c "$1" < /dev/null
}
mount -t proc proc "$root/proc" 2> mounted || { cat mounted; echo "may not mount"; exit 77; }
trap 'umount "$root/proc" "$root/dev/pts"; rm -rf "$root/isoglot"' EXIT
mkdir -p "$root/dev/pts"; mount -t devpts -o ptmxmode=666 devpts "$root/dev/pts"
rm -rf "$root/isoglot"; mkdir "$root/isoglot"
git -C "$TOP" archive HEAD | tar -x -C "$root/isoglot"

inside 'cd isoglot && test/setup' > log 2>&1 || { tail log; fail "test/setup"; }
inside 'cd isoglot && make -s -j"$(nproc)" programs' > log 2>&1 || { tail log; fail "make"; }
! has warning: < log || { grep -A 5 warning: log | sed -n 1,40p; fail "warnings"; }
inside 'cd isoglot && make quick' > log 2>&1 || { grep -A 12 '^FAIL' log; fail "make quick"; }
is "$(tail -n 1 log | sed 's/^[0-9]* passed, //')" "0 failed"

# the packages, from a tarball as `make dist` makes it
make -s -C "$TOP" DIST="$PWD" dist > log
cp -R "$TOP/install/debian" debian
version=$(sed -n 's/^VERSION := //p' "$TOP/Makefile")
sed -i "s/@VERSION@/$version/; s/@DATE@/$(LC_ALL=C date -R)/" debian/changelog
rm -rf "$root/isoglot"/*; tar -xzf "isoglot-$version.tar.gz" -C "$root/isoglot"
mv "isoglot-$version.tar.gz" "$root/isoglot/isoglot_$version.orig.tar.gz"
mv debian "$root/isoglot/isoglot-$version"
inside "cd isoglot/isoglot-$version && test/setup build-essential debhelper lintian &&
    dpkg-buildpackage -us -uc" > log 2>&1 || { tail -n 20 log; fail "dpkg-buildpackage"; }
inside 'cd isoglot && lintian --fail-on error *.changes' > log 2>&1 || { cat log; fail "lintian"; }
files() { (cd "$root" && find . \( -path ./proc -o -path ./isoglot -o -path ./var \) -prune -o \
    -print | LC_ALL=C sort); }
files > before
inside 'cd isoglot && dpkg -i isoglot_*.deb libisoglot-dev_*.deb' > log 2>&1 ||
    { cat log; fail "dpkg -i"; }
is "$(inside 'echo a b a | isoglot vocab-count -q')" "$(printf 'a 2\nb 1')"
is "$(inside 'isoglot --version')" "isoglot $version"
is "$(inside 'zgrep -c "^.It Fl" /usr/share/man/man1/isoglot-pretrain.1.gz')" \
    "$(pretrain --help=rows | grep -vc "^	")" "the page's options"
inside 'cd /tmp && cc /usr/share/doc/libisoglot-dev/examples/example.c -o example \
    $(pkg-config --cflags --libs isoglot) && ! ./example 2> said && grep -q usage said
    rm example said'
inside 'dpkg -P isoglot libisoglot-dev' > log 2>&1
files > after
same before after
