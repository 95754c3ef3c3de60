# start_from WHAT: the model to start from, whose folder WHAT names: $start; $start_reads, what of
# it stages read; $start_width; $start_codes, where tokenize and bpe-apply cut its text;
# $start_layout, where another than its own fits better. It is a model or a run of ours, or a folder
# of transformers, which is imported.
# start_is WHAT TYPE: refuses one of another architecture.
start_is() {
    local t
    t=$(sed -n 's/.*"model_type": *"\([^"]*\)".*/\1/p' "${!1}/config.json" 2>/dev/null)  || t=
    [ "$t" = $2 ] || refuse "$1" "${!1} is no model of transformers of the type $2, from which" \
        "$EXPERIMENT goes on${t:+, but of $t}"
}
start_codes= start_layout=
start_from() {
    local f langs l info said
    absolute "${!1}"; f=$file
    [ ! -f "$f" ] || refuse "$1" "${!1}: a file; give the folder of a model"
    [ -d "$f" ] || refuse "$1" "${!1}: there is no such folder"
    info=$(find "$f" -maxdepth 1 -type f -size -2 -exec grep -l '^version https://git-lfs' {} +) ||
        true    # grep found none
    [ -z "$info" ] ||
        refuse "$1" "${!1}: has pointers of Git LFS in place of its files; run git lfs pull there"
    if [ -e "$f/weights.safetensors" ] || [ -d "$f/best" ] || [ -d "$f/last" ]; then
        info=$("$BIN/ckpt" info "$f" 2>&1) || refuse "$1" "${info#*: }"
        ! grep -q '"encoder_langs": false' <<< "$info" || start_layout=bert
        start_width=$(sed -n 's/^ *"dim": *\([0-9]*\).*/\1/p' <<< "$info")
        langs=$(sed -n 's/^ *"languages": \[\(.*\)\].*/\1/p' <<< "$info" | tr -d '",')
        [ -n "$langs" ] || refuse "$1" "the model in ${!1} has no languages; import it again with" \
            "ckpt import --lang-code $A --lang-code $B"
        for l in $A $B; do
            case " $langs " in *" $l "*) ;; *)
                refuse "$1" "the model in ${!1} knows $langs, not $l";; esac
        done
        start_codes=$(find -L "$f" -maxdepth 2 -name codes)     # best and last are links
        start=$(quoted "$f") start_reads=$(listed "$f/")
        return
    fi
    grep -q '"model_type"' "$f/config.json" 2>/dev/null || refuse "$1" \
        "${!1} is no folder of a model: neither of ours (weights.safetensors) nor of transformers" \
        "(config.json with model_type)"
    # its settings alone say whether such a model can be read
    info=$(mktemp -d); cp "$f/config.json" "$info"
    said=$("$BIN/ckpt" import -o "$info/none" "$info" 2>&1) || true
    rm -r "$info"
    case $said in *"is not supported"*) refuse "$1" "${!1}: ${said#*config.json: }";; esac
    start_width=$(sed -n 's/.*"\(hidden_size\|d_model\|emb_dim\)": *\([0-9]*\).*/\2/p' \
        "$f/config.json" | head -n 1)
    # XLM's own files name its languages
    langs=$(printf -- '--lang-code %s ' $LANGS)
    ! grep -q '"lang2id": *{' "$f/config.json" || langs=
    stage import  start/ : $(listed "$f/") : \
        "ckpt import --head none $langs-o start $(quoted "$f")"
    start=start start_reads=start start_width=${start_width:-0}
}
