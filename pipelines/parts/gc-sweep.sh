# Tables 1 and 2 of MLM-GC: lambda and n; besides, what the paper leaves as it is: x_max, Eq. 6, the
# factor of products, both losses apart.
gc="--objective mlm,gc --cooc cooc/all.cooc $GC"
system lambda-0.1  "MLM-GC lambda 0.1" "$gc --gc-lambda 0.1" cooc/all.cooc
system lambda-0.5  "MLM-GC lambda 0.5" "$gc --gc-lambda 0.5" cooc/all.cooc
system lambda-2    "MLM-GC lambda 2" "$gc --gc-lambda 2" cooc/all.cooc
GC_WINDOWS="1 3 4"
for n in $GC_WINDOWS; do
    system window-$n  "MLM-GC n $n" "--objective mlm,gc --cooc cooc/$n.cooc $GC --gc-window $n" \
        cooc/$n.cooc
done
system xmax-1      "MLM-GC x_max 1" "$gc --gc-xmax 1" cooc/all.cooc
system xmax-10     "MLM-GC x_max 10" "$gc --gc-xmax 10" cooc/all.cooc
system output      "MLM-GC output" "$gc --gc-form output" cooc/all.cooc
# another factor of products than 1/sqrt(dim): 1/$DOT
system dot         "MLM-GC 1/$DOT" "$gc --gc-dot $(awk "BEGIN { print 1 / $DOT }")" cooc/all.cooc
system alone       "GC alone" "$gc --objective gc" cooc/all.cooc
setting SYSTEMS "mlm mlm-gc$NAMED"
part gc-runs
paper A 1 2
