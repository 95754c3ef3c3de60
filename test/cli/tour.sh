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
# docs/extending.md shows the objective tlm as it is: members of its struct, options, hooks
shown() {       # FILE: what its struct, its list of options and its struct objective have
    awk '/^struct tlm \{/ || /opt options\[\]/ || /objective objective_tlm/ { on = 1 }
        on { sub(/\/\*.*\*\//, ""); text = text " " $0 }
        on && /\};?$/ && (/^\};/ || /\} *\};/ || /close \};/) { on = 0 }
        END { part = "(enum|struct|int|bool) [a-z ]+;|\"tlm-[a-z]+\"|[.][a-z_]+ = &?[a-z_]+"
            while (match(text, part)) {
            print substr(text, RSTART, RLENGTH); text = substr(text, RSTART + RLENGTH) } }' "$1" |
        tr -s ' ' | sort -u
}
is "$(shown "$TOP/docs/extending.md")" "$(shown "$TOP/lib/objective/tlm.c")"
[ "$(shown "$TOP/docs/extending.md" | wc -l)" -ge 15 ] || fail "too little of tlm is shown"
# they do see what is wrong
sed 's/enum order order;//' "$TOP/docs/extending.md" > wrong.md
is "$(comm -23 <(shown "$TOP/lib/objective/tlm.c") <(shown wrong.md))" "enum order order;"
sed 's/`corpora_next`/`corpora_first`/; s/^20 stops/19 stops/' "$TOP/docs/tour.md" > wrong.md
is "$(tour wrong.md | grep -c 'no corpora_first in lib/data/corpus.c\|says 19 stops')" 2
