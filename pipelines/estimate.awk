# estimate.awk WHY PLAN [REFERENCE.seconds...], in the run folder: a plan's stages, done and to do,
# and how long those to do will take. Seconds of a stage that is done are its own. Of one to do,
# they are those of its last run, else ('~') those of a run that was kept as reference, where that
# had a stage of this name (seeds take as long as seed 1). A training's are scaled by its work:
# steps x tokens x (weights + 500,000, for what a token costs beside them: so times at dim 64 and at
# dim 256 lie on a line). Where stages that the reference knows have run here, its times of others
# are multiplied by how much longer those took, trainings and what is none apart. With KEEP=1 it
# prints what such a reference is: name, seconds, work, of the stages of seed 1.
BEGIN { FS = OFS = "\t" }
function option(command, name,    v) {
    if (!match(command, " --" name " [0-9]+")) return 0
    v = substr(command, RSTART, RLENGTH); sub(/.* /, "", v)
    return v
}
# weights that a token passes, without the vocabulary's; 0 where the command does not say
function weights(c,    d) {
    d = option(c, "dim")
    return option(c, "layers") * d * (4 * d + 2 * option(c, "ffn"))
}
# 0 for what is no training; what starts from a model has that of the last pretrain before it
function work(c,    w) {
    w = weights(c)
    return option(c, "steps") * option(c, "tokens") * ((w ? w : model) + 500000)
}
function last(name) { sub(/.*\./, "", name); return name }
function first(file,    line) {
    if ((getline line < file) < 1) line = ""
    close(file)
    return line
}
FILENAME == ARGV[1] { i = index($0, ":"); why[substr($0, 1, i - 1)] = 1; next }
FILENAME == ARGV[2] {
    if (/^#/) next
    n++; name[n] = $1; command[n] = $6; todo[n] = $1 in why
    next
}
/^#/ { next }
{ usual[$1] = $2; if ($3 > 0) { rate[last($1)] = $2 / $3; usual_work[$1] = $3 } }
# what stage k is and took: key, own (seconds, "" unknown), w and before (work, now and then)
function look(k,    stamp) {
    if (weights(command[k])) model = weights(command[k])
    key = name[k]; sub(/^s[0-9]+\./, "s1.", key)
    # a stamp's first line is the command; what has none was cut off, and took longer
    stamp = first(".stage/" name[k] ".stamp")
    own = stamp == "" ? "" : first(".stage/" name[k] ".time")
    w = work(command[k]); before = work(stamp)
}
# how much longer than the reference's trainings (else: other stages) ours take; 1: too few ran
function slower(training) {
    return there[training] >= 5 ? here[training] / there[training] : 1
}
END {
    for (k = 1; k <= n; k++) {
        look(k)
        if (own == "") continue
        if (before && (last(key) in rate)) there[1] += before * rate[last(key)]
        else if (!w && (key in usual)) there[0] += usual[key]
        else continue
        here[before > 0] += own
    }
    for (k = 1; k <= n; k++) {
        look(k); t = "-"
        if (own != "") t = todo[k] && w && before ? sprintf("%.1f", own * w / before) : own
        else if (w && (last(key) in rate)) t = "~" sprintf("%.1f", slower(1) * w * rate[last(key)])
        else if (!w && (key in usual)) t = "~" sprintf("%.1f", slower(0) * usual[key])
        if (KEEP) {
            if (own != "" && name[k] !~ /^s([2-9]|1[0-9])/) print name[k], own, w
            continue
        }
        if (todo[k]) {
            left++; if (t == "-") unknown++; else { v = t; sub(/~/, "", v); sum += v }
        }
        printf "%-6s %8s s  %-24s %s\n", todo[k] ? "to do" : "done", t, name[k], command[k]
    }
    if (KEEP) exit
    print ""
    if (!left) print "nothing to do"
    else if (left == unknown) printf "%d of %d stages to do; no times are known for them\n", left, n
    else {
        printf "%d of %d stages to do: about %s", left, n,
            sum < 90 ? sprintf("%.0f s", sum) : sum < 5400 ? sprintf("%.0f minutes", sum / 60) : \
            sprintf("%.1f hours", sum / 3600)
        if (unknown)
            printf " for %d of them; no times are known for the others\n", left - unknown
        else print ", one after the other"
    }
}
