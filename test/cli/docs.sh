# The documents: no dead link, no page that nothing leads to, at most 30,000 words on a reader's
# path (README, CONTRIBUTING, pipelines, docs without docs/lab and man), no history there (what was
# found, tried and aimed at is in docs/lab), no source file that is not there, and no option that
# no program has. `PRINT=1` shows words per folder.
. "$TOP/test/cli/lib.sh"

# pages TREE: every page of Markdown
pages() {
    (cd "$1" && find . \( -name .git -o -path ./build -o -path ./shared -o -path ./runs \) \
        -prune -o -name '*.md' -print) | sed 's|^\./||' | LC_ALL=C sort
}

# links PAGE: targets of its links, code left out, one per line
links() {
    awk '/^ *```/ { code = !code; next } code || /^    / { next } { gsub(/`[^`]*`/, ""); print }' |
        tr '\n' ' ' | grep -oE '\]\([^) ]+\)' | sed 's/^](//; s/)$//' || true
}

# slugs: what follows a # to lead to the headings of a page
slugs() {
    awk '/^ *```/ { code = !code; next } !code && sub(/^#+ /, "")' | sed -E \
        's/\[([^]]*)\]\([^)]*\)/\1/g; s/.*/\L&/; s/[^[:alnum:] _-]//g; s/ /-/g'
}

# on_path: those of the pages that a reader meets
on_path() {
    grep -E '^(README|CONTRIBUTING|pipelines/README|docs/.*)\.md$' | grep -v '^docs/lab/'
}

# check TREE: what is wrong with its pages
check() {
    local page link to part month
    (cd "$1" || exit
        while read -r page; do
            links < "$page" | while read -r link; do
                case $link in *:*) continue;; esac
                part=; case $link in *'#'*) part=${link#*#};; esac
                to=${link%%#*}; to=${to:+$(dirname "$page")/$to}; to=${to:-$page}
                to=$(realpath -m --relative-to=. "$to")
                if [ ! -e "$to" ]; then echo "$page: nothing at $link"; continue; fi
                [ -z "$part" ] || slugs < "$to" | has -xF -- "$part" ||
                    echo "$page: no heading $link"
                [ ! -d "$to" ] || to=$to/README.md
                printf '%s\t%s\n' "$page" "${to#./}" >> "$OLDPWD/arrows"
            done
        done < "$OLDPWD/pages")
    # what README leads to, link by link
    awk -F'\t' 'FILENAME == "arrows" { to[$1] = to[$1] "\n" $2; next } { page[$0] }
        END { todo[n = 1] = "README.md"; seen["README.md"]
            for (i = 1; i <= n; i++) { m = split(to[todo[i]], t, "\n")
                for (j = 1; j <= m; j++) if (!(t[j] in seen)) { seen[t[j]]; todo[++n] = t[j] } }
            for (p in page) if (!(p in seen)) print p ": no page leads to it from README.md" }' \
        arrows pages | LC_ALL=C sort
    on_path < pages > path
    (cd "$1" && xargs grep -noE '`(cmd|common|kernels|lib)/[a-z0-9_/-]+\.(c|h|cu)\b' /dev/null \
        < "$OLDPWD/path" || true) | tr -d '`' |
        while IFS=: read -r page line source; do
            [ -e "$1/$source" ] || echo "$page:$line: no file $source"
        done
    # the path of a reader; papers.md's rows say when each was rehearsed
    month='January|February|March|April|May|June|July|August|September|October|November|December'
    (cd "$1" && xargs grep -nHE "\b([Aa]im(s|ed)?|[Ff]ormer(ly)?)\b|\b20[0-9]{2}-[01][0-9]-[0-3]|\
\b[0-9]{1,2} ($month) 20[0-9]{2}\b" < "$OLDPWD/path" |
        sed -E '/^[^:]*:[0-9]+:    /d; /^docs\/papers\.md:[0-9]+:\|/d
            s/^([^:]*:[0-9]+):.*/\1: history, for docs\/lab/') || true
    awk '{ total += $1 } END { if (total > 30000) print total " words on the path" }' words
}

# count TREE: words of each page outside of code, a word being what has a letter
count() {
    (cd "$1" && xargs awk 'FNR == 1 { code = 0 }
        /^ *```/ { code = !code; next } code || /^    / { next }
        { for (i = 1; i <= NF; i++) if ($i ~ /[[:alpha:]]/) n[FILENAME]++ }
        END { for (f in n) print n[f] "\t" f }' | LC_ALL=C sort -k 2)
}

look() {
    rm -f arrows; : > arrows
    pages "$1" > pages
    on_path < pages | count "$1" > words
    check "$1"
}
look "$TOP" > problems
awk -F'\t' '{ folder = $2; if (!sub(/\/[^\/]*$/, "", folder)) folder = "."
        n[folder] += $1; all += $1 }
    END { for (f in n) printf "%6d  %s\n", n[f], f; printf "%6d  in all\n", all }' words |
    LC_ALL=C sort -k 2 > per-folder
[ -z "${PRINT-}" ] || cat per-folder
[ -s problems ] && { cat problems per-folder; fail "documents"; }

# Every option that a page on the path names is one of the programs', of a script, or of what starts
# jobs.
others='all cpu-bind export filter gpus-per-task kill-on-invalid-dep logdir map-by master-addr mem
    mpi nnodes no-cuda no-python node-rank nproc-per-node ntasks-per-node resv-ports signal wrap'
for p in "$BIN"/*; do
    case $p in *.so) ;; *) "$p" --help=rows;; esac
done | cut -f 2 | tr '|, ' '\n' | sed 's/^--*//' | sort -u > options
# unknown: what of the pages on standard input no program knows
unknown() {
    grep -ohE '(^|[ `(])--[a-z][a-z0-9-]+' | sed 's/.*--//' | sort -u | while read -r o; do
        grep -qxF -e "$o" -e "${o#no-}" options || has -w -- "$o" <<< "$others" || echo "$o"
    done
}
is "$(cut -f 2 words | (cd "$TOP" && xargs cat) | unknown)" "" "options that no program has"
is "$(echo '`pretrain --stream 5 --no-predict-unk --strems 5`; srun --mem 3' | unknown)" strems

# What the above would say of some.
mkdir -p copy/docs/lab
cat > copy/README.md <<'END'
# A page
[one](docs/one.md#two-words-and-more) [none](docs/none.md) `[code](is-code.md)`
[there](https://example.org/x.md)
END
printf '%s\n' '# One' '' '## Two *words*, and more' '' 'as `lib/a/b.c` [far](#nowhere)' 'the aim' \
    '' '    aims in code' > copy/docs/one.md
echo 'On 3 May 2026 [back](../one.md)' > copy/docs/lab/old.md
is "$(look copy)" "README.md: nothing at docs/none.md
docs/one.md: no heading #nowhere
docs/lab/old.md: no page leads to it from README.md
docs/one.md:5: no file lib/a/b.c
docs/one.md:6: history, for docs/lab"
is "$(cut -f 1 words | tr '\n' ' ')" "6 10 "
awk 'BEGIN { while (n++ < 30001) print "word" }' > copy/docs/one.md
look copy | has 'words on the path'
