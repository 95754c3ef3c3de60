#!/bin/bash
# Puts what test/gpu/run.sh, decide.sh, bench.sh and the experiments need into FOLDER, for a machine
# with a GPU where nothing can be built or installed: programs, tests, their libraries (all but the
# C library's and gcc's), the golden files, pipelines, and of their texts those that
# CORPUS_CACHE=folder or the checkout's data/ has. There: FOLDER/test/gpu/run.sh, FOLDER/make
# pipeline/X. The archive has at most 64 MiB.
#   test/gpu/pack.sh [--no-cuda] [--no-texts] FOLDER[.tar.gz] [NAME=VALUE...]
# .tar.gz: an archive that unpacks to FOLDER; NAME=VALUE: settings of make, e.g. CC=clang
# --no-cuda: only the experiments, for machines without a GPU, too; no nvcc is needed.
# --no-texts: none, for what brings its own (evidence.sh)
set -euo pipefail
cuda=1 texts=1
[ "${1-}" != --no-cuda ] || { cuda=; shift; }
[ "${1-}" != --no-texts ] || { texts=; shift; }
case ${1-} in ''|-*) echo "usage: test/gpu/pack.sh [--no-cuda] [--no-texts] FOLDER[.tar.gz]"\
" [NAME=VALUE...]" >&2
exit 2;; esac
archive= folder=$1; shift
top=$(cd "$(dirname "$0")/../.." && pwd)
case $folder in *.tar.gz)
    archive=$folder scratch=$(mktemp -d); trap 'rm -rf "$scratch"' EXIT
    folder=$scratch/$(basename "$folder" .tar.gz);;
esac
[ ! -e "$folder" ] || [ -e "$folder/packed" ] || [ -z "$(ls -A "$folder")" ] ||
    { echo "pack.sh: $folder has other things in it; name a new folder" >&2; exit 1; }
mkdir -p "$folder"; to=$(cd "$folder" && pwd)
build=$(make -s -C "$top" print-O "$@") out=$top/$build
case $build in /*) out=$build;; esac
make -C "$top" build-all ${cuda:+cuda gpu-tests} "$@" >&2
rm -rf "$to"/{packed,bin,unit,bench,lib,test,share,pipelines,data,tools,make,Makefile}
mkdir -p "$to"/{bin,lib,tools,share/isoglot,test/gpu}
touch "$to/packed"
cp "$out"/bin/* "$to/bin"
cp "$(command -v make)" "$to/tools"          # a machine may lack it
cp -R "$top/pipelines" "$to"
cp -R "$top/lib/text/nonbreaking" "$to/share/isoglot"
cp "$top/test/gpu/"* "$to/test/gpu"
mv "$to/test/gpu/make" "$to"
mv "$to/test/gpu/packed.mk" "$to/Makefile"
if [ -n "$cuda" ]; then
    mkdir -p "$to"/{unit,bench,lib/isoglot,test/golden/model,test/bench,test/peers}
    cp "$out"/test/unit/{ops,search,golden,decode,ranks_self} "$to/unit"
    cp "$out"/test/bench/{ops,step} "$to/bench"
    cp "$out/lib/isoglot/libisoglot-cuda.so" "$to/lib/isoglot"
    nccl=$out/lib/isoglot/libisoglot-nccl.so
    [ ! -e "$nccl" ] || cp "$nccl" "$to/lib/isoglot"
    cp "$top/test/golden/ops.safetensors" "$to/test/golden"
    cp "$top"/test/golden/model/*.safetensors "$to/test/golden/model"
    cp "$top/test/bench/translate.sh" "$to/test/bench"
    cp "$top/test/peers/translate.py" "$to/test/peers"
fi
for f in "$to"/{bin,unit,bench}/*; do [ ! -f "$f" ] || { strip "$f"; ldd "$f"; }; done |
    sed -n 's/.*=> \(\/[^ ]*\) .*/\1/p' | sort -u | while read -r f; do
    case ${f##*/} in
    libc.so.* | libm.so.* | libgcc_s.so.* | libdl.so.* | libpthread.so.* | librt.so.* | ld-linux*)
        ;;
    *) cp -L "$f" "$to/lib" ;;
    esac
done
# Texts of known content, from where they are; nothing is downloaded for this. What has no address
# (Wikipedia, sentence pairs) is larger than an archive may be.
lacking=
for name in $(awk -F'\t' -v ALL=$texts 'ALL && $1 !~ /^#/ && $2 != "-" && $3 != "" { print $1 }' \
    "$top/pipelines/sources.tsv"); do
    has=
    at=${CORPUS_CACHE:+$CORPUS_CACHE/$name}
    for f in ${at:+"$at" "$at.gz" "$at.zst"} "$top/data/$name"; do [ ! -f "$f" ] || has=1; done
    [ -n "$has" ] || { lacking+=" $name"; continue; }
    mkdir -p "$(dirname "$to/data/$name")"
    "$top/pipelines/fetch" "$top/pipelines/sources.tsv" "$name" > "$to/data/$name"
done
[ -z "$lacking" ] || echo \
    "pack.sh: without these texts:$lacking; make fetch/unmt-deen fetch/analysis-deen gets them, "\
"CORPUS_CACHE=folder says where they are" >&2
echo "isoglot $(git -C "$top" rev-parse --short HEAD 2>/dev/null || true)" > "$to/packed"
size=$(du -sk "$to" | cut -f 1) what=$to
if [ -n "$archive" ]; then
    tar -czf "$archive.tmp" -C "$scratch" "$(basename "$to")" && mv "$archive.tmp" "$archive"
    echo "unpacked, $((size / 1024)) MiB"
    size=$(du -k "$archive" | cut -f 1) what=$archive
fi
echo "$what: $((size / 1024)) MiB; there: ${cuda:+$(basename "$to")/test/gpu/run.sh, }$(basename \
    "$to")/make"
[ -z "$archive" ] || [ "$size" -le 65536 ] ||
    { echo "pack.sh: $what is more than 64 MiB" >&2; exit 1; }
