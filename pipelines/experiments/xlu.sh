# Zero-shot tasks of MLM-GC's Tables 5 and 6 (and 10, 11): XLM, with PMI-Masking, with MLM-GC, with
# TLM, with TLM and MLM-GC. Encoders of English and German captions and mixed text (Europarl, news,
# the web), fine-tuned on English, judged on English and, without a German example, on German
# (tasks-deen's data). SCALE=paper: XNLI and MLQA, in their languages (parts/xlu-paper.sh), beside
# mBERT where START names its folder.
# gc-output and tlm-gc-output have Eq. 6 (Tables 10 and 11).
languages en de
setting XLU_SYSTEMS "xlm pmi gc tlm tlm-gc"
among XLU_SYSTEMS xlm pmi gc tlm tlm-gc gc-output tlm-gc-output
INIT=
title[xlm]=XLM title[pmi]=XLM+PMI title[gc]=XLM+GC title[tlm]=XLM+TLM title[tlm-gc]=XLM+TLM+GC
title[gc-output]="XLM+GC output" title[tlm-gc-output]="XLM+TLM+GC output"
case "$SCALE ${CORPUS-}" in
paper*) part xlu-paper;;
*wiki) part xlu-wiki;;
*) part xlu-mixed;;
esac
paper A 5 6 10 11
