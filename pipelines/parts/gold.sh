# A general dictionary (Glavas et al. 2019), for measuring only; without case where the text has
# none, else spelt as the text usually does (counts.sh).
available bli/$A-$B.train.5k.tsv
available bli/$A-$B.test.2k.tsv
gold=raw/gold.tsv lower=" | sed 's/.*/\L&/'"
[ -z "$cased" ] || gold=raw/gold.any lower=
stage raw.gold  $gold : $P/fetch $P/sources.tsv : \
    "{ $P/fetch $P/sources.tsv bli/$A-$B.train.5k.tsv &&
       $P/fetch $P/sources.tsv bli/$A-$B.test.2k.tsv; }$lower > $gold"
