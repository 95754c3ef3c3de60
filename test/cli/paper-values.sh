# What SCALE=paper runs, beside the papers' values (pipelines/reference/paper/values.tsv, made from
# the papers by hand): each is the one that the plan gives the program, its default where the plan
# is silent, or stands with ours and the reason among docs/papers.md's "Values that differ"; and
# nothing stands there that does not differ.
. "$TOP/test/cli/lib.sh"
P=$TOP/pipelines
export TOP BIN EXPERIMENTS=$P/experiments SCALE=paper SEEDS=1 DEVICE=auto
unset CORPUS_CACHE A B SYSTEMS RANKS PRECISION START TOKENS
# what begins with a published model
for x in mbert xlmr mbart; do
    printf 'a house\nein Haus\n%.0s' {1..9} | "$(dirname "$BIN")/test/tool/standin" $x start-$x
done
mkdir plans help
sed 1d "$P/reference/paper/values.tsv" | cut -f 6 | sort -u | grep -vx -e - -e START > experiments
while read -r experiment more; do
    case $experiment in
        ppa-*) more="START=$PWD/start-mbert";;
        cs-xlmr) more="START=$PWD/start-xlmr";;
        unmt-mbart) more="START=$PWD/start-mbart";;
    esac
    env ${more:+"$more"} "$P/plan" $experiment > plans/$experiment 2> said ||
        { cat said; fail "$experiment"; }
done < experiments
# PROGRAM OPTION DEFAULT, as --help has it
for p in $(sed 1d "$P/reference/paper/values.tsv" | cut -f 8 | sort -u); do
    "$BIN/$p" --help | awk -v PROGRAM=$p '
        function flush(v) {
            if (name != "" && match(text, /\(default: [^),;]+/)) {
                v = substr(text, RSTART + 10, RLENGTH - 10); gsub(/ /, "", v)
                print PROGRAM "\t" name "\t" v
            }
            name = text = ""
        }
        /^  ?  ?  ?(-[A-Za-z0-9], )?--[a-z]/ { flush(); match($0, /--[a-z0-9-]+/)
            name = substr($0, RSTART, RLENGTH) }
        /^$/ { flush() }
        { text = text " " $0 }
        END { flush() }'
done > defaults
awk -F '\t' '
    function number(v) { return v ~ /^-?[0-9.]+(e-?[0-9]+)?$/ ? sprintf("%.10g", v + 0) : v }
    # the last value of an option in a command; "" without it, "yes" for a flag
    function given(command, option,    n, w, i, v) {
        n = split(command, w, / +/)
        for (i = 1; i <= n; i++)
            if (w[i] == option) v = i < n && w[i + 1] !~ /^(-[a-z-]|<|>)/ ? w[i + 1] : "yes"
        return v
    }
    function ours(experiment, stage, program, options,    c, at, n, o, i, v, all) {
        if (experiment == "-") return "no recipe"
        if (experiment == "START") return "START"
        sub(/ .*/, "", experiment)
        if (!((experiment, stage) in command)) return "no stage"
        c = command[experiment, stage]
        if (!(at = match(c, "(^|[ |])" program " "))) return "no " program
        c = substr(c, at + (substr(c, at, 1) ~ /[ |]/))
        sub(/ [|&;].*/, "", c)
        n = split(options, o, "*"); all = 1
        for (i = 1; i <= n; i++) {
            v = given(c, o[i])
            if (v == "") v = default_of[program, o[i]]
            if (v == "") return "none"
            if (n == 1) return number(v)
            all *= v
        }
        return number(all)
    }
    FILENAME == "defaults" { default_of[$1, $2] = $3; next }
    FILENAME ~ /^plans/ {
        if (!/^#/) command[substr(FILENAME, 7), $1] = $6
        next
    }
    FNR > 1 {
        v = ours($6, $7, $8, $9)
        if (v == "no recipe" || v == "START") { if (!none[$1 ", " $2]++)
            print $1 ", " $2 "\tevery value\t\t" v; next }
        if (v != number($4)) print $1 ", " $2 "\t" $3 "\t" $4 "\t" v
    }' defaults plans/* "$P/reference/paper/values.tsv" | sort > differ
awk -F ' *[|] *' '/^### / { on = /Values that differ/ } on && $2 ~ /^[A-D], / {
    print $2 "\t" $3 "\t" $4 "\t" $5; if ($6 == "") print "no reason: " $2 ", " $3 }' \
    "$TOP/docs/papers.md" | sed 's/`//g' | sort > explained
diff explained differ > said ||
    { cat said; fail 'docs/papers.md ("<") and what the plans have (">") are not the same'; }

echo "# all rows of the papers, with recipes that there are"
awk -F ' *[|] *' '/^## / { on = /papers. rows/ } on && $2 ~ /^[A-D] [0-9]+$/ { print }' \
    "$TOP/docs/papers.md" > rows
is "$(awk -F ' *[|] *' '{ split($2, a, " "); n[a[1]]++; if (a[2] != n[a[1]]) print "gap at " $2 }
    END { print n["A"], n["B"], n["C"], n["D"] }' rows)" "24 23 17 15"
awk -F ' *[|] *' '$4 !~ /^none/ && split($4, a, "`") > 1 { print a[2] }' rows | sort -u > named
while read -r x; do
    [ ! -f plans/$x ] || continue
    "$P/list" "$P/experiments" | has "^$x"$'\t' ||
        { [ -x "$BIN/${x%% *}" ] || fail "no recipe $x"; continue; }
    START=; [ $x != unmt-mbart ] || START=$PWD/start-mbart
    env ${START:+START="$START"} "$P/plan" $x > plan 2> said || { cat said; fail "$x"; }
done < named
rows=$(sed 1d "$P/reference/paper/values.tsv" | wc -l)
[ "$rows" -gt 180 ] || fail "only $rows values"
