# stand-in.awk -v NAME=SOURCE: an invented text in the form of that one of sources.tsv, for `make
# rehearse/X`, which proves that the stages of SCALE=paper run, and nothing about what they give.
# Words of a language differ from those of others, and sentence N is a translation of sentence N.
# -v TREES=1 < SENTENCES: a tree for each, in CoNLL-U, as a parser would make it.
BEGIN {
    if (TREES) { while ((getline) > 0) tree($0); exit }
    part = NAME ~ /dev|valid|val\./ ? 2 : NAME ~ /test/ ? 3 : 1
    lines = part == 1 ? 400 : 60
    srand(part); n = split(NAME, dot, "."); lang = dot[n]
    if (NAME ~ /\.sgm$/) { sub(/_.*/, "", dot[n - 1]); sgm(dot[n - 1]) }
    else if (NAME ~ /^newscrawl/) { split(NAME, p, /[\/.]/); srand(p[3]); text(p[2], 100) }
    else if (NAME ~ /^bli\//) { sub(/bli\//, ""); split(NAME, p, /[\/.-]/); dictionary(p[2], p[3]) }
    else if (NAME ~ /\.vec$/) vectors(dot[n - 1])
    else if (NAME ~ /^muse\//) { split(NAME, p, /[\/.-]/); dictionary(p[2], p[3]) }
    else if (NAME ~ /^cc100\//) text(substr(NAME, 7), lines)
    else if (NAME ~ /^pawsx/) { split(NAME, p, /[\/.]/); paraphrases(p[2]) }
    else if (NAME ~ /^udpos/) { split(NAME, p, /[\/.]/); trees(p[2]) }
    else if (NAME ~ /conllu$/) trees("en")
    else if (NAME ~ /^panx/) { split(NAME, p, /[\/.]/); names(p[2]) }
    else if (NAME ~ /multinli/) { split(NAME, p, "."); pairs(p[3]) }
    else if (NAME ~ /xnli\.(dev|test)/) languages_of_pairs()
    else if (NAME ~ /^squad\/translate/) { split(NAME, p, "."); questions(p[3]) }
    else if (NAME ~ /^squad/) questions("en")
    else if (NAME ~ /^mlqa/) { split(NAME, p, "."); questions(p[2]) }
    else if (NAME ~ /^albert/) documents()
    else if (NAME ~ /^wikitext/) text("en", lines)
    else if (NAME ~ /^tatoeba/) text(two(lang), 60)
    else text(lang, lines)
}
# the two letters of a language that Tatoeba has three for
function two(l,    known, k, w) {
    k = split("bul bg cmn zh spa es jpn ja pes fa eus eu swh sw est et nld nl mal ml mar mr " \
        "ind id tgl tl tur tr por pt jav jv kat ka kaz kk", known, " ")
    for (k--; k > 0; k -= 2) if (l == known[k]) return known[k + 1]
    return substr(l, 1, 2)
}
# word NUMBER of a language: syllables that spell the number, and the language's own ending
function word(l, k,    s, c) {
    c = "bdfgklmnprstvz"
    s = l
    do { s = s substr(c, k % 14 + 1, 1) substr("aeiou", k % 5 + 1, 1); k = int(k / 14) } while (k)
    return s
}
function drawn() { return int(exp(rand() * log(100))) }
function sentence(l,    i, s, m) {
    m = 8 + int(rand() * 8)
    for (i = 1; i <= m; i++) s = s (i > 1 ? " " : "") word(l, drawn())
    return toupper(substr(s, 1, 1)) substr(s, 2) " ."
}
function text(l, m,    i) { for (i = 1; i <= m; i++) print sentence(l) }
function sgm(l,    i) { for (i = 1; i <= 40; i++) print "<seg id=\"" i "\">" sentence(l) "</seg>" }
function documents(   i) {
    for (i = 1; i <= lines; i++) { print sentence("en"); if (i % 10 == 0) print "" }
}
function dictionary(a, b,    k) { for (k = 1; k <= 99; k++) print word(a, k) "\t" word(b, k) }
function vectors(l,    i, k) {
    print "99 8"
    for (k = 1; k <= 99; k++) {
        printf "%s", word(l, k)
        for (i = 1; i <= 8; i++) printf " %.3f", sin(k * i) + rand() / 2
        print ""
    }
}
function trees(l,    i) { for (i = 1; i <= lines; i++) tree(sentence(l)) }
# words by threes, the middle one, a verb or a noun, on that of the three before
function tree(s,    k, m, w, first, head) {
    m = split(s, w, " ")
    for (k = 1; k <= m; k++) {
        first = k - (k - 1) % 3
        head = first + (first + 1 < m)
        if (k == m) head = 2
        print k "\t" w[k] "\t" w[k] "\t" (k == m ? "PUNCT" : k < head ? "DET" : \
            k > head ? "ADJ" : first % 2 ? "VERB" : "NOUN") "\t_\t_\t" \
            (k == m || k != head ? head : first > 1 ? first - 2 : 0) "\t" \
            (k == head && first == 1 ? "root" : "dep") "\t_\t_"
    }
    print ""
}
function names(l,    i, k, m, w) {
    for (i = 1; i <= lines; i++) {
        m = split(sentence(l), w, " ")
        for (k = 1; k <= m; k++) print w[k] "\t" (length(w[k]) % 4 ? "O" : "B-PER")
        print ""
    }
}
function label(k) { return k % 3 == 0 ? "entailment" : k % 3 == 1 ? "neutral" : "contradiction" }
function pairs(l,    i, t) {
    print "premise\thypo\tlabel"
    for (i = 1; i <= 90; i++) {
        t = label(i); sub(/ion$/, "ory", t)
        print sentence(l) "\t" sentence(l) "\t" t
    }
}
function paraphrases(l,    i) {
    print "id\tsentence1\tsentence2\tlabel"
    for (i = 1; i <= 90; i++) print i "\t" sentence(l) "\t" sentence(l) "\t" i % 2
}
function languages_of_pairs(   all, k, i, m) {
    print "language\tgold_label\tsentence1_binary_parse\tsentence2_binary_parse\t" \
        "sentence1_parse\tsentence2_parse\tsentence1\tsentence2\tpromptID\tpairID\tgenre"
    m = split("ar bg de el en es fr hi ru sw th tr ur vi zh", all, " ")
    for (k = 1; k <= m; k++)
        for (i = 1; i <= 9; i++)
            print all[k] "\t" label(i) "\t\t\t\t\t" sentence(all[k]) "\t" sentence(all[k]) \
                "\t1\t" i "\tx"
}
function questions(l,    i, s, w) {
    printf "{\"version\": \"1.1\", \"data\": [{\"title\": \"x\", \"paragraphs\": ["
    for (i = 1; i <= 24; i++) {
        s = sentence(l); split(s, w, " ")
        printf "%s{\"context\": \"%s\", \"qas\": [{\"id\": \"%d\", \"question\": \"%s %s ?\", ",
            (i > 1 ? ", " : ""), s, i, w[2], w[3]
        printf "\"answers\": [{\"text\": \"%s\", \"answer_start\": %d}]}]}", w[4],
            length(w[1] w[2] w[3]) + 3
    }
    print "]}]}"
}
