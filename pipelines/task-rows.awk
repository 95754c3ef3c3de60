# The last validation of a task's log as rows of results for SEED, NAME, TASK and the two LANGS, the
# one that was learnt first: accuracy, or F1 of answers, in percent.
BEGIN { OFS = "\t"; split(LANGS, lang, " "); metric = TASK == "qa" ? "f1" : "accuracy" }
/"valid"/ {
    for (i = 1; i in lang; i++) {
        key = "\"" lang[i] "." metric "\":"
        if (match($0, key "[-+0-9.eE]+"))
            last[i] = substr($0, RSTART + length(key), RLENGTH - length(key))
    }
}
END {
    for (i = 1; i in lang; i++) {
        if (!(i in last)) { print "task-rows: no " lang[i] "." metric > "/dev/stderr"; exit 1 }
        print SEED, NAME, (i == 1 ? lang[1] : lang[1] "-" lang[i]), TASK, last[i]
    }
}
