# awk -v what=what -f cloze-qa.awk captions: questions whose answers are known, as SQuAD's JSON in
# XQuAD's layout. A context is five captions; the question is one of them with a word that occurs
# once in the context (of four letters or more) replaced by `what`; the answer is that word. Which
# caption and which word go round with the number of the context, in every language alike.
BEGIN { print "{\n  \"data\": [" }
function quoted(s) {
    gsub(/\\/, "\\\\", s); gsub(/"/, "\\\"", s); gsub(/[\001-\037]/, " ", s)
    return s
}
# characters, not bytes, before byte `at` of s: those that are no continuation
function characters(s, at,  head) {
    head = substr(s, 1, at - 1); gsub(/[\200-\277]/, "", head)
    return length(head)
}
function say(depth, text) { printf "%*s%s\n", 2 * depth, "", text }
function question(number,  context, at, i, k, n, w, bare, times, start, q, choice, chosen, m) {
    context = caption[1]
    for (i = 2; i <= 5; i++) context = context " " caption[i]
    n = split(context, w, " ")
    for (i = 1; i <= n; i++) { bare = w[i]; gsub(/[.,;:!?"()]/, "", bare); times[tolower(bare)]++ }
    for (k = 0; k < 5; k++) {
        q = caption[(number + k) % 5 + 1]
        n = split(q, w, " ")
        m = 0
        for (i = 1; i <= n; i++) {
            bare = w[i]; gsub(/[.,;:!?"()]/, "", bare)
            # the word must be found where it stands, and nowhere as a part of another
            if (length(bare) >= 4 && times[tolower(bare)] == 1 \
                && index(context, bare) == whole(context, bare)) choice[++m] = bare
        }
        if (m) break
    }
    if (!m) return 0
    chosen = choice[number % m + 1]
    start = characters(context, index(context, chosen))
    at = index(q, chosen)
    q = substr(q, 1, at - 1) what substr(q, at + length(chosen))
    if (number) print ","
    say(2, "{"); say(3, "\"paragraphs\": ["); say(4, "{")
    say(5, "\"context\": \"" quoted(context) "\","); say(5, "\"qas\": ["); say(6, "{")
    say(7, "\"answers\": ["); say(8, "{"); say(9, "\"answer_start\": " start ",")
    say(9, "\"text\": \"" quoted(chosen) "\""); say(8, "}"); say(7, "],")
    say(7, "\"id\": \"" number "\","); say(7, "\"question\": \"" quoted(q) "\"")
    say(6, "}"); say(5, "]"); say(4, "}"); say(3, "],"); say(3, "\"title\": \"captions\"")
    printf "    }"
    return 1
}
# where `word` stands in s with no letter on either side; 0: nowhere, or inside a longer one first
function whole(s, word,  at) {
    at = index(s, word)
    if (at > 1 && substr(s, at - 1, 1) !~ /[ .,;:!?"()]/) return 0
    return substr(s, at + length(word), 1) ~ /^[ .,;:!?"()]?$/ ? at : 0
}
{
    sub(/\r$/, ""); gsub(/  +/, " "); sub(/^ /, ""); sub(/ $/, "")
    caption[(NR - 1) % 5 + 1] = $0
}
NR % 5 == 0 { made += question(made + 0) }
END { print "\n  ],\n  \"version\": \"1.1\"\n}"; if (!made) exit 1 }
