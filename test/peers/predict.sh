#!/bin/bash
# predict beside transformers: one imported model, one machine, one batch size, in one run; labels
# and tags compared.
#   BIN=folder of programs   PYTHON=one with torch, transformers, tokenizers
#   DATA=folder with nli/sick, ud, xquad
#   SHAPES="6x512 12x768" (layers x width)   BATCH=32   REPEATS=3
#   EXAMPLES=N (default: all)   TASKS="nli tag qa"   PRECISIONS="float32 int8"
set -u
here=$(cd "$(dirname "$0")" && pwd)
unset OPENBLAS_CORETYPE OPENBLAS_L2_SIZE
export BIN=$(cd "${BIN:-$here/../../bin}" && pwd -P) DATA=${DATA:-$here/../../../shared/data}
work=$(mktemp -d); trap 'rm -rf "$work"' EXIT; cd "$work" || exit 1
"${PYTHON:-python3}" "$here/predict.py"
