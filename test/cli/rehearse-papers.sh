# One rehearsal of each paper beside MLM-GC's (pipeline-rehearse): TCS/SCS's XLM-R, ALIGN-MLM with a
# parser's trees, PPA's mBERT: few languages, all kinds of stages, to the table.
. "$TOP/test/cli/lib.sh"
covered pipeline-rehearse
unset MAKEFLAGS MAKELEVEL MFLAGS CORPUS_CACHE RUN SEEDS SCALE LIFELINE A B DEVICE LAUNCH_CPU \
    LAUNCH_GPU LAUNCH_RANKS RANKS PRECISION START GPU_JOBS CPU_JOBS GPUS DISK REHEARSE SHRINK \
    SYSTEMS PARSER TASKS
P=$TOP/pipelines
# half the width and the tokens that pipeline-rehearse asks for by saying nothing
export RUNS=$PWD/runs MAKE=make SEEDS=1 SHRINK=32
rehearsed() {       # EXPERIMENT SETTING...
    env "${@:2}" "$P/conduct" rehearse $1 > out 2>&1 || { tail -n 20 out; fail "$1"; }
    ! command -v gnuplot > /dev/null || ! grep 'lacks a picture' out || fail "$1's page"
}
# rows RUN: which of results.tsv there are, without their values
rows() { cut -f 2-4 runs/$1/results.tsv; }

rehearsed cs-xlmr CS_LANGS="en de sw" CS_TO_EN=de CS_SYSTEMS="tcs scs" CS_ALL=xnli \
    CS_TASKS="xnli pos ner tatoeba"
for row in 'XLM-R BASE.de-en.table Hit@1' 'XLM-R BASE . TCS-MLM.de-en.RSIM layer 2' \
    'XLM-R BASE . SCS-MLM.sw.XNLI accuracy' 'XLM-R BASE.de.POS f1' 'XLM-R BASE.sw.NER f1' \
    'XLM-R BASE . SCS-MLM.de.XNLI translate-train-all accuracy' \
    'XLM-R BASE . TCS-MLM.sw-en.Tatoeba'; do
    rows cs-xlmr-base-rehearsal-paper | has "^$row$" || fail "cs-xlmr: no row $row"
done
# both pictures of Figure 2, of each model
is "$(cd runs/cs-xlmr-base-rehearsal-paper/page && echo plane-*.svg)" "$(echo \
    plane-{table,top}-1-{scs,tcs,xlm-r}.svg)"

rehearsed derived SYSTEMS=align TRANSFORMS=trans-syn
for k in POS NER NLI; do
    rows derived-rehearsal-paper | has "^ALIGN trans-syn.*$k" || fail "derived: no $k"
done
# a name's tags stay with its words, whatever their order
is "$(tr ' ' '\n' < runs/derived-rehearsal-paper/raw/ner.test.words | sed '/^$/d' | sort |
    cksum)" "$(cut -f 2 runs/derived-rehearsal-paper/raw/ner.test.trees | sed '/^$/d' | sort |
    cksum)"
awk -F '\t' 'NF > 1 { print tolower($1) "\t" ($2 == "O") }' \
    runs/derived-rehearsal-paper/panx/test | sort > want
awk -F '\t' 'NF > 1 { print $1 "\t" ($2 == "O") }' \
    runs/derived-rehearsal-paper/task/ner.test.syn | sort > got
same got want

rehearsed ppa-mbert PPA_SIZES=250000 PPA_SYSTEMS=full PPA_QA_LANGS=de
for row in 'mBERT.zh.XNLI zero-shot accuracy' 'PPA 250k.hi.XNLI translate-train accuracy' \
    'PPA 250k - CS.fr.XNLI translate-train accuracy' 'PPA 250k.de.MLQA translate-train f1'; do
    rows ppa-mbert-rehearsal-paper | has "^$row$" || fail "ppa-mbert: no row $row"
done
