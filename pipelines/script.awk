# Letters and their scripts, in bytes of UTF-8 (LC_ALL=C); the first file's rows are languages.tsv.
# Han, kana and Hangul are one script, "Asian".
BEGIN {
    FS = "\t"
    cont = "[\200-\277]"
    script["Latin"] = "[A-Za-z]|\303[\200-\226\230-\266\270-\277]|[\304-\311]" cont \
        "|\341[\270-\273]" cont
    script["Greek"] = "\315[\260-\277]|[\316\317]" cont "|\341[\274-\277]" cont
    script["Cyrillic"] = "[\320-\323]" cont "|\324[\200-\257]"
    script["Armenian"] = "\324[\261-\277]|\325" cont "|\326[\200-\217]"
    script["Hebrew"] = "\326[\220-\277]|\327" cont
    script["Arabic"] = "[\330-\333]" cont "|\335[\220-\277]"
    script["Devanagari"] = "\340[\244\245]" cont; script["Bengali"] = "\340[\246\247]" cont
    script["Gurmukhi"] = "\340[\250\251]" cont; script["Gujarati"] = "\340[\252\253]" cont
    script["Tamil"] = "\340[\256\257]" cont; script["Telugu"] = "\340[\260\261]" cont
    script["Kannada"] = "\340[\262\263]" cont; script["Malayalam"] = "\340[\264\265]" cont
    script["Thai"] = "\340[\270\271]" cont; script["Georgian"] = "\341[\202\203]" cont
    script["Asian"] = "\343[\201-\277]" cont "|[\344-\355]" cont cont
    any_letter = "[A-Za-z]|[\303-\337]" cont "|[\340\341]" cont cont "|\343[\201-\277]" cont \
        "|[\344-\355]" cont cont
}
# is LINE mostly in the script NAME? 0 is no, 1 yes, or it has no letters
function in_script(line, name,    all, own, s) {
    s = line; all = gsub(any_letter, "", s)
    if (!all) return 1
    s = line; own = gsub(script[name], "", s)
    return 2 * own >= all
}
# the script that most of LINE's letters have, "" of none
function script_of(line,    k, n, most, best, s) {
    most = 0; best = ""
    for (k in script) {
        s = line; n = gsub(script[k], "", s)
        if (n > most) { most = n; best = k }
    }
    return best
}
FILENAME ~ /languages\.tsv$/ {
    if (!/^#/) { writes[$1] = $2; frequent[$1] = $3 }
    next
}
