# Does MLM-GC need anchors? Its loss sees products within one language, so that a rotation of one
# language's states leaves it as it is; only what the languages share ties them. derived-gc-demo
# with a copy that shares types with its original, measured on those that it does not share.
setting GC_OVERLAP "0 0.05 0.25 0.5"
among GC_OVERLAP N
setting GC_STEPS 10000
GC_ORDERS=
for q in $GC_OVERLAP; do
    case $q in 0) GC_ORDERS+=" same";; *) GC_ORDERS+=" same-$q";; esac
done
from experiments/derived-gc-demo.sh
