# docs/tour.md: every function stands in the file that the walk names, and stops, rooms and returns
# are as many as it says.
. "$TOP/test/cli/lib.sh"
tour() {    # FILE: what is wrong with it
    awk -v top="$TOP" '
        function ended() {
            if (said == "") return
            is = stops " stops, " rooms " rooms, " stops - rooms " returns."
            if (is != said) print walk ": says " said " and has " is
        }
        /^## / { ended(); walk = $0; said = ""; stops = rooms = 0; split("", been) }
        /^[0-9]+ stops, / { said = $0 }
        /^[0-9]+\. `/ {
            split($0, part, "`"); file = top "/" part[2]; name = part[4]; found = 0
            if ($1 + 0 != ++stops) print walk ": stop " $1 " is number " stops
            if (!(file in been)) { been[file] = 1; rooms++ }
            while ((getline line < file) > 0)
                if (line ~ ("(^|[^A-Za-z0-9_])" name "($|[^A-Za-z0-9_])")) found = 1
            close(file)
            if (!found) print walk ": no " name " in " part[2]
            all++
        }
        END { ended(); if (all < 50) print "too few stops: " all }' "$1"
}
is "$(tour "$TOP/docs/tour.md")" ""
# it does see what is wrong
sed 's/`corpora_next`/`corpora_first`/; s/^20 stops/19 stops/' "$TOP/docs/tour.md" > wrong.md
is "$(tour wrong.md | grep -c 'no corpora_first in lib/data/corpus.c\|says 19 stops')" 2
