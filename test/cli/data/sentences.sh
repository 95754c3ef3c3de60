# Random sentences of 30 words: s, its vocab and its shard aa.shd of language aa.
awk 'BEGIN {
    srand(7)
    for (i = 0; i < 300; i++) {
        s = ""; for (j = 1 + int(rand() * 8); j > 0; j--) s = s " w" int(rand() * 30)
        print substr(s, 2)
    }
}' > s
awk 'BEGIN { for (j = 0; j < 30; j++) print "w" j, 30 - j }' > vocab
binarize -q -v vocab -l aa -o aa.shd < s
