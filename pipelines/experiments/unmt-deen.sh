# Unsupervised translation between English and German. `SCALE=paper` is MLM-GC's own.
languages en de
part $CORPUS
part translation
