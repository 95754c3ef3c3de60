# Unsupervised translation between English and German. `SCALE=paper` is MLM-GC's own.
languages en de
part captions-start
part $CORPUS
part translation
if [ "$A$B" = ende ]; then
    paper A 4 8 9
    [ $CORPUS != multi30k ] || paper L 2
fi
