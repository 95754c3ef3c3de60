# What the pre-trained models of two languages A and B know of one another, layer by layer, and how
# alike the two corpora are: the analyses of MLM-GC (sections 3.2 and 5.1) and TCS/SCS-MLM (section
# 2). The experiment may name sets of sentence pairs, raw/SET.A and raw/SET.B, in SENTENCES, a file
# of analogies in `questions`, and in `kings` four pairs of translations, "x,x' y,y' z,z' w,w'", of
# which the cosines of x - y + z with w and w' are measured, in all languages' mixtures (Table 3),
# and in `company` pairs of words whose counts are compared, "B's|A's|A's..." (MLM-GC, 3.3).
part pretrain
RESULTS=analysis/results.tsv PAGE=analysis-page
layers=$(sed -n 's/.*--layers \([0-9]*\).*/\1/p' <<< "$MODEL")
# the layer whose sentence vectors are mined with: the middle one, as XTREME takes
# 7 of 12
middle=$(((layers + 1) / 2))
setting SENTENCES test
setting SCORES "cosine ratio"
among SCORES cosine distance ratio
setting ANALYSIS_LINES 5000
setting WINDOWS "1 2 5"
among WINDOWS N
setting PLANE_PAIRS 2000
f=analysis

# --- text: lines of the training text for words' states, BPE of the sentence pairs ----------------
for l in $LANGS; do
    quick $f.text.$l  $f/text.$l : bpe/train.$l : \
        "head -n $ANALYSIS_LINES bpe/train.$l > $f/text.$l"
    for t in $SENTENCES; do
        [ $t != test ] || continue
        stage $f.$t.$l  bpe/$t.$l : raw/$t.$l codes : \
            "tokenize -l $l $TOKENIZE < raw/$t.$l | $cut_words > bpe/$t.$l"
    done
done

# --- the two corpora: counts of translations side by side (Figure 1), rank and frequency (Figure 3)
bins=
for w in $WINDOWS; do
    for l in $LANGS; do
        stage $f.words-$w.$l  $f/words.$l.$w.cooc : words/$l.vocab words/train.$l : \
            "cooc-count -w $w -v words/$l.vocab $l=words/train.$l > $f/words.$l.$w.cooc"
    done
    stage $f.bins-$w  $f/bins.$w.tsv : raw/gold.tsv $f/words.$A.$w.cooc $f/words.$B.$w.cooc : \
        "cooc-study --dict raw/gold.tsv $f/words.$A.$w.cooc $f/words.$B.$w.cooc > $f/bins.$w.tsv"
    bins+=" $f/bins.$w.tsv --label \"window $w\""
done
stage $f.ranks  $f/ranks.tsv : cooc/$A.cooc cooc/$B.cooc : \
    "cooc-study --ranks cooc/$A.cooc cooc/$B.cooc > $f/ranks.tsv"
company_of() {
    local one=${company%%|*} rest=${company#*|}
    quick $f.company  $f/tables/8-company.rows : cooc/{$A,$B}.cooc $P/company.awk : \
        "{ echo '# How far apart counts are: |log(c X) - log(Y)|' &&
            awk -v A=$A -v B=$B -f $P/company.awk <(cooc-query --stat cooc/$A.cooc)
                <(cooc-query --stat cooc/$B.cooc) <(echo $one | cooc-query cooc/$B.cooc)
                <(printf '${rest//|/\\n}\\n' | cooc-query cooc/$A.cooc); }
            > $f/tables/8-company.rows"
    tables+=" $f/tables/8-company.rows"
}
# figure NAME INPUTS COMMAND
figure() { stage $f.fig.${1#*-}  $f/fig/$1.svg : $2 : "$3 -o $f/fig/$1.svg"; }
figure 1-bins "$(printf "$f/bins.%s.tsv " $WINDOWS)" \
    "plot bins$bins --title \"Co-occurrence counts of translations, $A and $B\""
figure 2-ranks $f/ranks.tsv \
    "plot ranks $f/ranks.tsv --title \"Rank and relative frequency after BPE\""

# --- analogies: a - b + c over translations, a and b of one pair, c and d of another; and the
# experiment's own
# -----------------------------------------------------------------------------------
stage $f.questions  $f/questions.txt : \
    words/$A.vocab words/$B.vocab raw/gold.tsv $P/pair-analogies.awk ${questions-} : \
    "{ awk -f $P/pair-analogies.awk words/$A.vocab words/$B.vocab raw/gold.tsv
        ${questions:+&& cat $questions}; } > $f/questions.txt"

# --- a model: S a seed, Y a system, M its folder --------------------------------------------------
# $(states M LAYER LANG): vectors of words; $(sentences M LAYER LANG SET): and of sentences
differences() { # X Y Z W: the eight questions of Table 3
    local x y z
    for x in ${1/,/ }; do for y in ${2/,/ }; do for z in ${3/,/ }; do
        echo -n "echo $x $y $z; "
    done; done; done
}
states() { echo $1/$f/words.$2.$3.safetensors; }
sentences() { echo $1/$f/$4.$2.$3.safetensors; }
# all_layers M states|sentences [SET]: $pairs, --src and --tgt of every layer, and $vectors, the
# files
all_layers() {
    local k; pairs= vectors=
    for ((k = 0; k <= layers; k++)); do
        vectors+=" $($2 $1 $k $A ${3-}) $($2 $1 $k $B ${3-})"
        pairs+=" --src $($2 $1 $k $A ${3-}) --tgt $($2 $1 $k $B ${3-})"
    done
}
analysed() {
    local s=$1 y=$2 m=s$1/$2 a=s$1/$2/$f k l t c
    local row="--row '$s,${title[$y]},-'" row_of_pair="--row '$s,${title[$y]},$A-$B'"
    for l in $LANGS; do
        for ((k = 0; k <= layers; k++)); do
            train s$s.$y.words-$k.$l  $(states $m $k $l) : $m/pretrain $f/text.$l words/$l.vocab : \
                "embed --model $m/pretrain --layer $k --lang $l --text $f/text.$l --of words
                    --words words/$l.vocab --device $DEVICE -o $(states $m $k $l)"
            for t in $SENTENCES; do
                train s$s.$y.$t-$k.$l  $(sentences $m $k $l $t) : $m/pretrain bpe/$t.$l : \
                    "embed --model $m/pretrain --layer $k --lang $l --text bpe/$t.$l --of sentences
                        --device $DEVICE -o $(sentences $m $k $l $t)"
            done
        done
    done
    all_layers $m states
    stage s$s.$y.rsim  $a/rsim.tsv $a/rsim.rows : $vectors raw/gold.tsv : \
        "rsim$pairs --dict raw/gold.tsv $row --as rsim --as cosine --rows-to $a/rsim.rows
            > $a/rsim.tsv"
    stage s$s.$y.hits  $a/hits.tsv $a/hits.rows : $vectors raw/gold.tsv : \
        "dict-induce -q$pairs --eval raw/gold.tsv $row --as hit@1 --rows-to $a/hits.rows
            > $a/hits.tsv"
    for t in $SENTENCES; do
        all_layers $m sentences $t
        for c in $SCORES; do
            stage s$s.$y.$t-$c  $a/$t.$c.tsv $a/$t.$c.rows : $vectors : \
                "retrieve --score $c$pairs $row_of_pair --rows-to $a/$t.$c.rows > $a/$t.$c.tsv"
        done
        local x=$(sentences $m $middle $A $t) z=$(sentences $m $middle $B $t)
        stage s$s.$y.$t-mined  $a/$t.mined.tsv $a/$t.mined.rows : $x $z : \
            "retrieve --score ratio --mine 1.05 --src $x --tgt $z $row
                --rows-to $a/$t.mined.rows > $a/$t.mined.tsv"
    done
    local words="--src $m/$A.vec --tgt $m/$B.vec"
    stage s$s.$y.dictionary  $a/dictionary.tsv : words/{$A,$B}.vocab $m/{$A,$B}.vec : \
        "dict-induce -q $words $counts -k 1 --mutual > $a/dictionary.tsv"
    [ -z "${kings-}" ] || quick s$s.$y.kings  $a/kings.rows : $m/$A.vec $m/$B.vec : \
        "{ $(differences $kings)} | analogy -q --targets ${kings##* } --vec $m/$A.vec
            --vec $m/$B.vec $row > $a/kings.rows"
    stage s$s.$y.embeddings  $a/embeddings.rows : \
        $m/score.dict $m/$A.vec $m/$B.vec raw/gold.tsv $f/questions.txt : \
        "{ cat $m/score.dict &&
           rsim $words --dict raw/gold.tsv $row --as rsim &&
           rsim $words --dict raw/gold.tsv $row_of_pair --as align-to --as align-back &&
           analogy --vec $m/$A.vec --vec $m/$B.vec $f/questions.txt $row; }
            > $a/embeddings.rows"
}
for s in $SEEDS; do
    for y in $SYSTEMS; do trained $s $y; analysed $s $y; done
done

# --- pictures of all systems and seeds; words in the plane of the first seed ----------------------
# every FILE: $files, that file of every model, and $labelled, with the system as its label, so that
# seeds are repeated runs
every() {
    local s y; files= labelled=
    for y in $SYSTEMS; do
        for s in $SEEDS; do
            files+=" s$s/$y/$f/$1" labelled+=" s$s/$y/$f/$1 --label ${title[$y]}"
        done
    done
}
curves() {      # NAME KIND TITLE: with what was drawn, as a table
    layered $f.fig.${1#*-}  $f/fig/$1.svg $f/fig/$1.tsv : $files : \
        "plot $2$labelled --title \"$3\""
}
every rsim.tsv; curves 3-rsim rsim "Translations by layer"
every hits.tsv; curves 4-hits hits "Dictionary by CSLS, by layer"
for t in $SENTENCES; do
    for c in $SCORES; do
        every $t.$c.tsv
        figure 5-$t-$c "$files" \
            "plot hits$labelled --title \"Retrieval of $t sentences by $c, by layer\""
    done
done
plane() {       # SYSTEM NAME A's VECTORS B's TITLE
    local n=6-plane-$1-$2
    stage $f.fig.plane-$1-$2  $f/fig/$n.svg $f/fig/$n.tsv : $3 $4 raw/gold.tsv : \
        "plot tsne $A=$3 $B=$4 --dict raw/gold.tsv --pairs $PLANE_PAIRS --names 20
            --title \"${title[$1]}, $5\" -o $f/fig/$n.svg --tsv $f/fig/$n.tsv"
}
first=s${SEEDS%% *}
for y in $SYSTEMS; do
    plane $y embeddings $first/$y/$A.vec $first/$y/$B.vec "word embeddings"
    plane $y top $(states $first/$y $layers $A) $(states $first/$y $layers $B) \
        "states of layer $layers"
done

# --- the tables -----------------------------------------------------------------------------------
tables=
tabulate() {    # NAME FILE CAPTION [METRIC]: the rows of every model, as a table's input
    every "$2"
    local them=cat
    [ -z "${4-}" ] || them="sed -n '/$4/p'"
    quick $f.table.$1  $f/tables/$1.rows : $files : \
        "{ echo \"# $3\" && $them$files; } > $f/tables/$1.rows"
    tables+=" $f/tables/$1.rows"
}
tabulate 1-embeddings embeddings.rows "Word embeddings (means of sub-words) against the dictionary"
tabulate 2-rsim rsim.rows "Relational similarity of words' states, by layer" "RSIM layer"
tabulate 3-cosine rsim.rows "Mean cosine of translations, by layer" "cosine layer"
tabulate 4-hits hits.rows "Hit@1 of words' states by CSLS, by layer"
for t in $SENTENCES; do
    for c in $SCORES; do
        tabulate 5-$t-$c $t.$c.rows "Retrieval of $t sentences by $c, by layer"
    done
    tabulate 6-$t-mined $t.mined.rows \
        "Mining among $t sentences, layer $middle, margin by ratio above 1.05"
done
[ -z "${kings-}" ] ||
    tabulate 7-kings kings.rows "Cosine of one word less another, plus a third, with a fourth"
[ -z "${company-}" ] || company_of
# one name per column: what sentences, and how they were compared
quick $f.results  $RESULTS : $tables : \
    "awk -F '\\t' -v OFS='\\t' '/^#/ { next }
        FILENAME ~ /\\/[56]-/ { n = FILENAME; sub(/.*\\/[56]-/, \"\", n)
            sub(/[.]rows\$/, \"\", n); \$4 = n \" \" \$4 } 1'$tables > $RESULTS"
