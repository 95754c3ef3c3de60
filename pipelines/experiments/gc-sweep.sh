# parts/gc-sweep.sh on English and German.
languages en de
part $CORPUS
part gc-sweep
