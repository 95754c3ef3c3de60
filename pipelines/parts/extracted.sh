# Wikipedia as WikiExtractor leaves it, CORPUS_CACHE/wikipedia-extracted/L/: sentences of it are
# made here, unless texts that were prepared elsewhere are in CORPUS_CACHE, too.

# extracted NAME LANG: is that, $file, what a language's text is made of, and not NAME?
extracted() {
    local f
    [ -z "${REHEARSE-}" ] && [ -n "${CORPUS_CACHE-}" ] || return 1
    for f in "$CORPUS_CACHE/$1"{,.gz,.zst}; do [ ! -f "$f" ] || return 1; done
    file=$(realpath -sm -- "$CORPUS_CACHE/wikipedia-extracted/$2")
    [ -d "$file" ]
}
sentence_scripts="$P/sentences $P/extracted.awk $P/joined.awk $P/unescape.awk $P/plain"
# wikipedia_text LANG: raw/{train,valid,test}.LANG; to choose and to test 5,000 sentences each, as
# XLM's scripts have it, none of which is in train
wikipedia_text() {
    local l=$1 p
    if extracted wiki15/train.$l $l; then
        stage raw.wikipedia.$l  raw/wikipedia.$l : $(listed "$file/") $sentence_scripts : \
            "$P/sentences $l $(quoted "$file") > raw/wikipedia.$l"
        stage raw.parts.$l  raw/{train,valid,test}.$l raw/$l.counts : \
            raw/wikipedia.$l $P/split-text $P/unescape.awk $P/{as-lines,plain} : \
            "$P/split-text $l 5000 5000 1000 raw/wikipedia.$l"
    else
        for p in train valid test; do published raw.$p.$l  raw/$p.$l wiki15/$p.$l; done
    fi
}
