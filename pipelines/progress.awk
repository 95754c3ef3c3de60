# progress.awk PLAN, in the run folder: how many stages have run, and how far those are that have
# begun. Stamps are counted, not read: this is asked for while stages run. A training tells its
# steps in log.jsonl.
BEGIN { FS = "\t" }
function first(file,    line) {
    if ((getline line < file) < 1) line = ""
    close(file)
    return line
}
function steps(log_, command,    line, step, speed, of) {
    while ((getline line < log_) > 0) {
        if (match(line, /"step":[0-9]+/)) step = substr(line, RSTART + 7, RLENGTH - 7)
        if (match(line, /"tokens_per_second":[0-9]+/))
            speed = substr(line, RSTART + 20, RLENGTH - 20)
    }
    close(log_)
    if (match(command, / --steps [0-9]+/)) of = " of " substr(command, RSTART + 9, RLENGTH - 9)
    return (step ? " at step " step of : "") (speed ? ", " speed " tokens/s" : "")
}
/^#/ || NF < 6 { next }
{
    all++; seconds += first(".stage/" $1 ".time")
    if (first(".stage/" $1 ".stamp") != "") ran++
    else if (first(".stage/" $1 ".part") != "")
        begun = begun (begun ? "; " : "; begun: ") $1 steps($3 "log.jsonl", $6)
}
END { printf "%d of %d stages done; %.0f s of stages%s\n", ran, all, seconds, begun }
