# Is it the method or the counts? MLM-GC on an invented language and its copy, whose counts agree
# exactly (parts/derived-gc.sh).
part synth
for p in train valid; do
    stage tok.$p  tok/$p.$A : raw/$p.$A : \
        "tokenize -q -l $A --case-marker < raw/$p.$A | sed 's/⇧ //g; s/⇪ //g' > tok/$p.$A"
done
part derived-gc
