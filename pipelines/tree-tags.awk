# tree-tags.awk TAGGED TREES: CoNLL-U with the tags of the same words (word<TAB>tag) in its last
# column, where they go along when a tree is reordered. -v OUT=1: word<TAB>tag again, every name
# beginning with B (reordering may part one). -v SENTENCES=N TREES: says whether there are as many.
BEGIN { FS = OFS = "\t" }
function die(what) {
    print "tree-tags: " what > "/dev/stderr"; bad = 1; exit 1
}
SENTENCES != "" { if (!NF) trees++; next }
FILENAME == ARGV[1] && !OUT { if (NF > 1) { word[++n] = $1; tag[n] = $2 } next }
/^#/ { if (!OUT) print; next }
NF < 2 { print ""; before = "O"; next }
$1 ~ /[-.]/ { if (!OUT) print; next }
OUT {
    t = $10
    if (t ~ /^I-/ && substr(before, 3) != substr(t, 3)) t = "B" substr(t, 2)
    before = t
    print $2, t
    next
}
{
    if (++m > n) die("more words in the trees than tags, from \"" $2 "\" on")
    if ($2 != word[m])
        die("word " m " is \"" $2 "\" in the trees and \"" word[m] "\" beside its tag")
    $10 = tag[m]
    print
}
END {
    if (SENTENCES != "" && trees + 0 != SENTENCES + 0)
        die(SENTENCES " sentences became " trees + 0 " trees")
    if (!bad && SENTENCES == "" && !OUT && m != n) die(n " words with tags, and " m " in the trees")
}
