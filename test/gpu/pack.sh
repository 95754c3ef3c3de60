#!/bin/bash
# Puts what test/gpu/run.sh and bench.sh need into FOLDER, for a machine with a GPU where nothing can be built or installed:
# programs, tests, their libraries (all but the C library's and gcc's), the golden files. At most 64 MiB. test/gpu/pack.sh FOLDER
set -euo pipefail
[ $# = 1 ] || { echo "usage: test/gpu/pack.sh FOLDER" >&2; exit 2; }
top=$(cd "$(dirname "$0")/../.." && pwd)
mkdir -p "$1"; to=$(cd "$1" && pwd)
build=$(make -s -C "$top" print-O) out=$top/$build
programs="pretrain finetune translate vocab-count binarize cooc-count cooc-merge ckpt synth-corpus tokenize bpe-learn bpe-apply"
make -C "$top" $(printf "$build/bin/%s " $programs) cuda gpu-tests >&2
mkdir -p "$to"/{bin,unit,bench,lib/isoglot,test/golden/model,test/gpu,test/bench,test/peers,share/isoglot/nonbreaking}
for p in $programs; do cp "$out/bin/$p" "$to/bin"; done
cp "$out"/test/unit/{ops,search,golden,decode} "$to/unit"
cp "$out"/test/bench/{ops,step} "$to/bench"
cp "$out/lib/isoglot/libisoglot-cuda.so" "$to/lib/isoglot"
cp "$top/test/golden/ops.safetensors" "$to/test/golden"
cp "$top"/test/golden/model/*.safetensors "$to/test/golden/model"
cp "$top"/test/gpu/* "$to/test/gpu"
cp "$top/lib/text/nonbreaking/en" "$to/share/isoglot/nonbreaking"
cp "$top/test/bench/translate.sh" "$to/test/bench"
cp "$top/test/peers/translate.py" "$to/test/peers"
strip "$to"/bin/* "$to"/unit/* "$to"/bench/*
ldd "$to"/bin/* "$to"/unit/* "$to"/bench/* | sed -n 's/.*=> \(\/[^ ]*\) .*/\1/p' | sort -u | while read -r f; do
    case ${f##*/} in libc.so.* | libm.so.* | libgcc_s.so.* | libdl.so.* | libpthread.so.* | librt.so.* | ld-linux*) ;; *) cp -L "$f" "$to/lib" ;; esac
done
echo "isoglot $(git -C "$top" rev-parse --short HEAD 2>/dev/null || true)" > "$to/packed"
size=$(du -sk "$to" | cut -f 1)
echo "$to: $((size / 1024)) MiB; there: $(basename "$to")/test/gpu/run.sh"
[ "$size" -le 65536 ] || { echo "pack.sh: more than 64 MiB" >&2; exit 1; }
