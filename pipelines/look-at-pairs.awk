# look-at-pairs.awk -v A= -v B= -v F= -v G=, after script.awk: what is wrong with pairs of languages
# A and B from files F and G; rows of both texts and of both in small letters. ALONE=1: one text,
# given twice, of which at least LEAST lines must be there.
function percent(x, all) { return sprintf("%.0f%%", 100 * x / all) }
# the language that LINE's words speak for, "" where none is ahead
function language(line,    n, i, k, l, w, list, points, best, next_best) {
    gsub(/[^a-z\200-\377]+/, " ", line)
    n = split(line, w, " ")
    for (i = 1; i <= n; i++) if (w[i] in known) {
        k = split(known[w[i]], list, " ")
        for (l = 1; l <= k; l++) points[list[l]] += 1 / k
    }
    best = ""; next_best = 0
    for (l in points)
        if (best == "" || points[l] > points[best]) {
            if (best != "") next_best = points[best]
            best = l
        } else if (points[l] > next_best) next_best = points[l]
    return best != "" && points[best] >= 1 && points[best] > 1.5 * next_best ? best : ""
}
function told(s, line,    l) {
    l = language(line)
    if (l != "") { said[s]++; speaks[s, l]++; spoken[l] = 1 }
}
# of a side whose lines do not speak its language
function other(s, lang, file,    l, best) {
    best = ""
    for (l in spoken) if (l != lang && (best == "" || speaks[s, l] > speaks[s, best])) best = l
    if (!(lang in writes) || frequent[lang] == "" || best == "" || said[s] < 50) return ""
    return best
}
FNR == 1 {
    for (l in frequent) {
        k = split(frequent[l], w, " ")
        for (i = 1; i <= k; i++)
            if (index(" " known[w[i]] " ", " " l " ") == 0) known[w[i]] = known[w[i]] " " l
    }
}
{
    n++
    full_a += $1 ~ /[^ ]/; full_b += $2 ~ /[^ ]/
    if ($1 !~ /[^ ]/ || $2 !~ /[^ ]/) next
    both++
    same += $1 == $2
    if (A in writes) { out_a += !in_script($1, writes[A]); as_a += in_script($2, writes[A]) }
    if (B in writes) { out_b += !in_script($2, writes[B]); as_b += in_script($1, writes[B]) }
    told("a", $3); told("b", $4)
    x = log(length($1)); y = log(length($2))
    sx += x; sy += y; sxx += x * x; syy += y * y; sxy += x * y
}
END {
    if (n && !full_a) { print "bad\t" F ": all of its lines are empty"; exit }
    if (n && !full_b) { print "bad\t" G ": all of its lines are empty"; exit }
    if (ALONE && both < LEAST) {
        print "bad\t" F ": " both " lines with text; at least " LEAST " are needed"
        exit
    }
    if (!both) { print "bad\t" F " and " G ": where one has text, the other has none"; exit }
    if (!ALONE && same > .9 * both) { print "bad\t" F " and " G " have the same text"; exit }
    if (writes[A] != writes[B] && out_a > .5 * both && out_b > .5 * both && as_b > .5 * both &&
        as_a > .5 * both) {
        print "bad\t" F " has " writes[B] " letters and " G " " writes[A] ": are they swapped? " \
            "Then say " B "-" A "=" F "," G
        exit
    }
    for (i = 0; i < 2 - ALONE; i++) {
        out = i ? out_b : out_a
        if (out > .5 * both) {
            print "bad\t" (i ? G : F) ": " percent(out, both) " of its lines are not in " \
                writes[i ? B : A] " letters, which " (i ? B : A) " has"
            exit
        }
    }
    p = other("a", A, F); q = other("b", B, G)
    if (p == B && q == A && speaks["a", B] > .5 * said["a"] && speaks["b", A] > .5 * said["b"])
        print "note\t" F " reads like " B " and " G " like " A ": if they are swapped, say " B "-" \
            A "=" F "," G
    else {
        if (p != "" && speaks["a", p] >= .1 * said["a"])
            print "note\tabout " percent(speaks["a", p], said["a"]) " of " F " reads like " p \
                ", not " A "; it is not left out"
        if (!ALONE && q != "" && speaks["b", q] >= .1 * said["b"])
            print "note\tabout " percent(speaks["b", q], said["b"]) " of " G " reads like " q \
                ", not " B "; it is not left out"
    }
    if (ALONE) exit
    spread = (both * sxx - sx * sx) * (both * syy - sy * sy)
    r = spread > 0 ? (both * sxy - sx * sy) / sqrt(spread) : 1
    if (both >= 200 && r < .3)
        print "note\tlengths of lines of " F " and " G " have little to do with each other " \
            "(correlation " sprintf("%.2f", r) "): is each the translation of the other?"
}
