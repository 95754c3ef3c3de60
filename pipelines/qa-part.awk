# awk -v from=1 -v to=36 -f qa-part.awk xquad.json: its articles from .. to, as SQuAD's JSON again.
# Reads the layout that XQuAD's files and cloze-qa.awk's have: an article begins with a line of four
# spaces and "{" and ends with one of four spaces and "}".
/^    \{$/ { n++; inside = 1 }
inside && n >= from && n <= to {
    if (/^    \{$/) printf "%s", (kept++ ? ",\n" : "")
    print /^    \},?$/ ? "    }" : $0
    if (/^    \},?$/) inside = 0
    next
}
/^    \},?$/ { inside = 0; next }
!n { print }
END { print "  ],\n  \"version\": \"1.1\"\n}"; if (!kept) exit 1 }
