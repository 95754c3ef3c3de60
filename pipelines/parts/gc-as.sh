# What MLM-GC trains as: its paper's text, or its authors' code, which has another mean, logarithm,
# neighbours, targets and counts (docs/papers.md). Presets read this behind GC.
setting GC_AS paper
gc_code="--gc-mean pairs --gc-log 1+x --gc-neighbours visible --gc-targets selected"
gc_form= gc_weights=
case $GC_AS in
paper) ;;
code) gc_form="$gc_code " gc_weights=" --weights glove";;
*) refuse "GC_AS=$GC_AS" "there are paper and code";;
esac
gc_alone=$GC GC=$gc_form$GC
