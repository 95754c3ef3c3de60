# A general dictionary (Glavas et al. 2019), for measuring only; lower-cased as the text is.
available bli/$A-$B.train.5k.tsv
available bli/$A-$B.test.2k.tsv
stage raw.gold  raw/gold.tsv : $P/fetch $P/sources.tsv : \
    "{ $P/fetch $P/sources.tsv bli/$A-$B.train.5k.tsv &&
       $P/fetch $P/sources.tsv bli/$A-$B.test.2k.tsv; } | sed 's/.*/\L&/' > raw/gold.tsv"
