# awk -v how=majority|lexical -f tag-baseline.awk train test: tags of test's words without a model,
# as predictions (word TAB tag). majority: the tag that most words of train have. lexical: the tag
# that this word mostly has there, else the majority's. Files: CoNLL-U, or columns of which the last
# is the tag and the one before it the word.
BEGIN { FS = "\t" }
/^#/ && NF < 2 || NF == 10 && $1 ~ /^[0-9]+[.-][0-9]+$/ { next }
{ sub(/\r$/, "") }
NF { word = NF == 10 ? $2 : $(NF - 1); tag = NF == 10 ? $4 : $NF }
FILENAME == ARGV[1] {
    if (NF && ++all[tag] > all[most]) most = tag
    if (NF && ++of[word, tag] > of[word, usual[word]]) usual[word] = tag
    next
}
!NF { if (open) print ""; open = 0; next }
{ print word "\t" (how == "lexical" && word in usual ? usual[word] : most); open = 1 }
END { if (open) print "" }
