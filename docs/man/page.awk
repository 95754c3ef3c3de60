# page.awk ROWS PAGE.1.in: a man page (mdoc). PAGE.1.in has its prose, ROWS what PROGRAM --help=rows
# prints: a line per option of heading, names, letter, kind, value's name and text. Between a line
# @options and a line @end, where the options go, PAGE.1.in may have
#   @more NAME      what a page says of an option after what --help says
#   @under HEADING  what it says below a heading
# Both are mdoc. A name or a heading that is not among the rows is an error.
BEGIN { FS = "\t" }
function say(line) { if (line != "") print line }
# text(WORDS): one paragraph's lines; --name becomes a macro, and a sentence ends its line
# (one of another program's options stays as it is)
function text(words,   w, n, i, line, t, open, shut) {
    n = split(words, w, " ")
    for (i = 1; i <= n; i++) {
        t = w[i]
        open = shut = ""
        if (match(t, /--[a-z0-9-]+/) && substr(t, RSTART + 2, RLENGTH - 2) in known &&
            t ~ /^\(?--[a-z0-9-]+[.,;:)]*$/) {
            if (sub(/^\(/, "", t)) open = 1
            while (match(t, /[.,;:)]$/)) {
                shut = " " substr(t, length(t)) shut
                t = substr(t, 1, length(t) - 1)
            }
            say(line)
            print (open ? ".Pf ( Fl " : ".Fl ") substr(t, 2) shut
            line = ""
            continue
        }
        gsub(/\\/, "\\e", t)
        sub(/^-/, "\\-", t)
        if (line == "" && t ~ /^[.']/) t = "\\&" t
        if (length(line) + length(t) > 96) { print line; line = "" }
        line = line (line == "" ? "" : " ") t
        if (t ~ /[a-z)][.]$/ && w[i + 1] ~ /^[A-Z]/) { print line; line = "" }
    }
    say(line)
}
# macro lines of the value's name: a choice's words, LANG=FILE, or another name
function value(arg, kind) {
    if (arg == "") return ""
    if (kind == "choice" || arg ~ /^[a-z0-9-]+(\|[a-z0-9-]+)+$/) {
        gsub(/\|/, " | ", arg)
        return " Cm " arg
    }
    if (arg ~ /^[A-Z]+=[A-Z]+$/) sub(/=/, " Ns = Ns Ar ", arg)
    return " Ar " arg
}
function item(i,   name, n) {
    name = first[i]
    print ".It Fl " (letter[i] == "" ? "" : letter[i] " , ") "-" name value(arg[i], kind[i])
    if (name in more) {
        text(help[i] (help[i] ~ /[.]$/ ? "" : "."))
        printf "%s", more[name]
        delete more[name]
    } else text(help[i])
}
function options(   i, last, heads) {
    for (i = 1; i <= rows; i++) heads += heading[i] != heading[i - 1]
    for (i = 1; i <= rows; i++) {
        if (heading[i] != last) {
            if (last != "") print ".El"
            if (heads > 1 && heading[i] != "Options") print ".Ss " heading[i]
            if (heading[i] in under) printf "%s", under[heading[i]]
            delete under[heading[i]]
            print ".Bl -tag -width Ds"
            last = heading[i]
        }
        item(i)
    }
    print ".El"
    every()
    for (i in more) wrong("no option is called " i)
    for (i in under) wrong("no heading is called " i)
}
# What every program takes: one sentence, and the page that explains it.
function every(   i) {
    if (!commons) return
    print ".Pp\nEvery program takes"
    for (i = 1; i <= commons; i++) {
        if (i == commons) print "and"
        print ".Fl " common[i] (i == commons ? " :" : i < commons - 1 ? " ," : "")
    }
    print "see\n.Xr isoglot 1 ."
}
function wrong(what) {
    print FILENAME ":" FNR ": " what > "/dev/stderr"
    failed = 1
}
FNR == NR && $1 == "" {
    known[$2] = 1
    common[++commons] = ($3 == "" ? "" : $3 " , ") "-" $2 value($5, $4)
    next
}
FNR == NR {
    heading[++rows] = $1
    first[rows] = $2
    sub(/\|.*/, "", first[rows])
    known[first[rows]] = known["no-" first[rows]] = 1
    letter[rows] = $3
    kind[rows] = $4
    arg[rows] = $5
    help[rows] = $6
    next
}
$0 == "@options" { within = 1; next }
$0 == "@end" { options(); within = 0; name = ""; next }
/^@more / && within { name = substr($0, 7); head = 0; more[name] = ""; next }
/^@under / && within { name = substr($0, 8); head = 1; under[name] = ""; next }
/^@/ || within && name == "" { wrong("expected @more NAME, @under HEADING or @end") }
within && head { under[name] = under[name] $0 "\n"; next }
within { more[name] = more[name] $0 "\n"; next }
{ print }
END {
    if (within) wrong("no @end")
    exit failed
}
