# parts/gc-fail.sh on English and German.
languages en de
part $CORPUS
part gc-fail
