# What is given: files of somebody's own, looked at before anything runs.

# items WHAT VALUE: its NAME=VALUE into $items, one by one; a value may have spaces
items() {
    mapfile -t items < <(
        sed -zE 's/^\s+|\s+$//g; s/\s+([[:alnum:]_-]+=)/\n\1/g' <<< "$2" | tr -d '\0')
}
# given WHAT ITEM: $key and $value of KEY=VALUE
given() {
    case $2 in ?*=?*) ;; *) refuse "$1" "'$2' is not NAME=FILE";; esac
    key=${2%%=*} value=${2#*=}
}
# absolute PATH: $file, which no program can take for an option, and which is found from anywhere
absolute() { file=$(realpath -smz -- "$1" | tr '\0' x) file=${file%x}; }
# looked_at WHAT LANG FILE...: what is wrong with files is said of all of them together, below
bad=
looked_at() {
    local what=$1 l=$2 said; shift 2
    said=$(LANGUAGE_OF_TEXT=$l "$own/look-at-text" "$@") || bad+=$(sed "s/^/make: $what: /" \
        <<< "$said")$'\n'
}
# language_seen WHAT LANG LEAST FILE...: text of fewer lines or in another script is bad; what else
# it reads like is noted. Not of files that looked_at has found bad.
language_seen() {
    local what=$1 row said; shift
    while IFS=$'\t' read -r row said; do
        case $row in
        bad) bad+="make: $what: $said"$'\n';;
        note) note "$what: $said";;
        esac
    done < <("$own/look-at-language" "$@")
}
# pairs_seen WHAT A B F G: the same of pairs of files; $seen_lines, how many lines they have
pairs_seen() {
    local row said; seen_lines=0
    while IFS=$'\t' read -r row said; do
        case $row in
        lines) seen_lines=$said;;
        bad) bad+="make: $1: $said"$'\n';;
        note) note "$1: $said";;
        esac
    done < <("$own/look-at-pairs" "${@:2}")
}
none_bad() { [ -z "$bad" ] || { printf %s "$bad" >&2; exit 2; }; }
# all_files WHAT ITEM: $files, what the file, glob or folder $value has
all_files() {
    case $value in /*) ;; *) value=./$value;; esac
    set +f; shopt -s nullglob; IFS=
    files=($value)
    unset IFS; shopt -u nullglob; set -f
    [ ${#files[@]} -gt 0 ] && [ -e "${files[0]}" ] || refuse "$1" "$2 matches no file"
    mapfile -d '' -t files < <(find -L "${files[@]}" -type f ! -name '.*' -print0 | sort -z)
    [ ${#files[@]} -gt 0 ] || refuse "$1" "$2: no file is in it"
    mapfile -d '' -t files < <(realpath -sz -- "${files[@]}")
}
# two_files WHAT ITEM: $f and $g of $value, F,G, whose names may have commas
two_files() {
    local rest=$value,
    case $value in *,*) ;; *) refuse "$1" "'$2' is not A-B=FILE,FILE";; esac
    f=
    while [ -n "${rest#*,}" ]; do
        f+=${f:+,}${rest%%,*} rest=${rest#*,} g=${rest%,}
        [ ! -e "$f" ] || [ ! -e "$g" ] || return 0
    done
    f=${value%%,*} g=${value#*,}
}
lines() { "$own/plain" "$1" | awk 'END { print NR }'; }      # the last without newline, too
# size_of FILE: bytes of its text; what is packed is three to four times as large
size_of() {
    local times=2
    case $(head -c 2 -- "$1" | od -An -tx1) in ' 1f 8b'|' 28 b5') times=7;; esac
    echo $(($(stat -Lc %s -- "$1") * times / 2))
}

# what web pages leave in text is counted, and with UNESCAPE=1 made text of
setting UNESCAPE ""
case $UNESCAPE in
'') unescape= web="have entities (&amp;) or tags (<p>): UNESCAPE=1 makes text of them";;
1) unescape="--unescape " web="had entities (&amp;) or tags (<p>), of which UNESCAPE=1 made text";;
*) refuse "UNESCAPE=$UNESCAPE" "1, or not given";;
esac
