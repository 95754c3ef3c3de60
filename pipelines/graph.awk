# graph.awk WHY PLAN: make rules for a plan's stages, with a recipe for those that are stale (WHY:
# what `stage why` printed). With LAUNCHED=1, short stages share jobs: those whose inputs are there
# after equally many other jobs, in the order of the plan. KNOWN: a file with the seconds that
# stages took in a kept run of this experiment and scale, for those that have not run here.
BEGIN {
    while (KNOWN && (getline line < KNOWN) > 0) { split(line, w, "\t"); seconds[w[1]] = w[2] }
    FS = "\t"; print ".PHONY: stages data\nstages data:"
    run = "\t@$$LIFELINE \"$$TOP/pipelines/stage\" run \"$$PLAN\" \"$$RUN_FOLDER\" "
}
# said to be, or under a second the last time, here or in the kept run
function is_short(name, kind,    t, file, known) {
    if (!LAUNCHED || !(name in stale) || kind == "gpu") return 0
    if (kind == "quick") return 1
    file = ".stage/" name ".time"; known = (getline t < file) > 0; close(file)
    if (known) return t < 1
    return name in seconds && seconds[name] < 1
}
FILENAME == ARGV[1] { sub(/:.*/, ""); stale[$0]; next }
/^#/ { next }
{
    n = split($4, inputs, " "); short[$1] = is_short($1, $2); level[$1] = 0; m = 0
    for (i = split($3, outs, " "); i; i--) writer[outs[i]] = $1
    for (i = 1; i <= n; i++) if (inputs[i] in writer) {
        d = needs[++m] = writer[inputs[i]]; at = level[d] + ((d in stale) && short[$1] && !short[d])
        if (at > level[$1]) level[$1] = at
    }
    job = short[$1] ? "job/" level[$1] : "stage/" $1
    print ".PHONY: stage/" $1 "\nstages: stage/" $1
    if (index($6, "$TOP/pipelines/fetch ")) print "data: stage/" $1
    if (short[$1]) { print "stage/" $1 ": " job; members[job] = members[job] " " $1 }
    for (i = 1; i <= m; i++)
        if (!(short[$1] && short[needs[i]] && level[needs[i]] == level[$1]))
            print job ": stage/" needs[i]
    if (!short[$1]) print "stage/" $1 ":" (($1 in stale) ? "\n" run $1 : "")
}
END { for (job in members) print ".PHONY: " job "\n" job ":\n" run members[job] }
