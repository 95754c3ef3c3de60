# extracted.awk: the paragraphs that WikiExtractor took out of Wikipedia, one per line, with an
# empty line behind each article. It reads both of its forms, <doc ...> and --json, whatever their
# version; titles, with which an article begins, are left out. \u00e9 becomes &#233;, for
# unescape.awk. FILE, of the environment, is what it is called. Bytes: LC_ALL=C.
function hex(s,    i, n) {
    n = 0; s = tolower(s)
    for (i = 1; i <= 4; i++) n = 16 * n + index("0123456789abcdef", substr(s, i, 1)) - 1
    return n
}
# what a string of JSON stands for; characters beyond 65,535 are two numbers
function json(s,    n, p, i, code, high, to) {
    gsub(/\\\\/, "\001", s)
    gsub(/\\n/, "\n", s); gsub(/\\[tbfr]/, " ", s); gsub(/\\"/, "\"", s); gsub(/\\\//, "/", s)
    n = split(s, p, /\\u/); to = p[1]; high = 0
    for (i = 2; i <= n; i++) {
        code = hex(p[i])
        if (high && code >= 56320 && code < 57344) code = 65536 + high * 1024 + code - 56320
        high = 0
        if (code >= 55296 && code < 56320 && length(p[i]) == 4) { high = code - 55296; continue }
        to = to "&#" code ";" substr(p[i], 5)
    }
    gsub(/\001/, "\\", to)
    return to
}
# the string NAME of the line, as JSON has it
function field(name,    s) {
    if (!match($0, "\"" name "\": *\"")) return ""
    s = substr($0, RSTART + RLENGTH)
    if (!match(s, /^([^"\\]|\\.)*"/)) die("no end of \"" name "\"")
    return substr(s, 1, RLENGTH - 1)
}
function die(why) {
    printf "sentences: %s: line %d: %s\n", ENVIRON["FILE"], NR, why > "/dev/stderr"
    failed = 1; exit 1
}
function plain(s) { gsub(/&quot;/, "\"", s); gsub(/&amp;/, "\\&", s); return s }
function paragraph(s) {
    gsub(/\r/, "", s)
    if (s !~ /[^ \t]/) return
    if (first) { first = 0; if (plain(s) == plain(title)) return }
    print s; said = 1
}
function ended() { if (said) print ""; said = 0 }
/^\002/ { die("damaged") }
/^<doc( |>)/ && !inside {
    title = $0
    if (!sub(/.* title="/, "", title)) title = ""
    sub(/" *>$/, "", title)
    inside = 1; first = 1; next
}
/^<\/doc>/ && inside { inside = 0; ended(); next }
inside { paragraph($0); next }
/^ *\{/ {
    title = json(field("title")); first = 1
    n = split(json(field("text")), part, "\n")
    for (i = 1; i <= n; i++) paragraph(part[i])
    ended(); next
}
/[^ \t\r]/ { die("not WikiExtractor's, neither in <doc ...> nor {...}") }
END { if (!failed && inside) die("an article without </doc>: it is cut off") }
