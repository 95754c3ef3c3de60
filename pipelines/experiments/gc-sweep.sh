# parts/gc-sweep.sh on English and German.
languages en de
part $CORPUS
DOT=32        # as 1,024 dimensions have it
part gc-sweep
