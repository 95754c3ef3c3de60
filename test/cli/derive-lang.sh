# derive-lang: what each transformation makes of text, tags, pairs and trees, by hand
# (test/golden/derive); order models that are learnt, imported and drawn from; vocabularies and
# dictionaries; what is refused.
. "$TOP/test/cli/lib.sh"
G=$TOP/test/golden/derive
D="derive-lang --quiet"

# --- known answers --------------------------------------------------------------------------------
$D --inv < $G/text | cmp - $G/text.inv
$D --inv --split < $G/text | cmp - $G/text.inv-split
$D --inv --inv-tokens < $G/text | cmp - $G/text.inv-tokens
$D --trans < $G/text | cmp - $G/text.trans
$D --inv --trans < $G/text > both; $D --inv < $G/text | $D --trans | cmp - both
$D --untrans < both | cmp - $G/text.inv
$D --inv < $G/text.inv-split | $D --inv | cmp - $G/text.inv-split           # its own inverse
$D --inv --format conll < $G/tags | cmp - $G/tags.inv
$D --inv --trans --format conll < $G/numbered | cmp - $G/numbered.inv-trans
$D --inv --trans --format conll --lang-prefix < $G/panx | cmp - $G/panx.inv-trans
$D --inv --trans --format nli --header < $G/pairs | cmp - $G/pairs.inv-trans
$D --inv --format conllu --conllu-out < $G/tree | cmp - $G/tree.inv
is "$($D --inv --trans --format conllu < $G/tree)" "ˣapples ˣred ˣeat ˣn't ˣDo ˣ!"
is "$($D --trans <<< '<unk> <mask> <x> <s> </s> <pad> <> <pads> unk>')" \
    "<unk> <mask> ˣ<x> <s> </s> <pad> ˣ<> ˣ<pads> ˣunk>" "specials stay"
printf 'word\ttag\na\tB-X\nb\tI-X\n\nc\tO\nd\tO\n' | $D --inv -f conll --header |
    cmp - <(printf 'word\ttag\nb\tB-X\na\tI-X\n\nd\tO\nc\tO\n\n')
# the second column has the words of a sentence whose first one counts them, and of that one alone
printf '0\ta\tO\n1\tb\tO\n\nx\tP\tO\ny\tP\tO\n' | $D --trans -f conll |
    cmp - <(printf '0\tˣa\tO\n1\tˣb\tO\n\nˣx\tP\tO\nˣy\tP\tO\n\n')
# words stay within their sentences, and their end is one of them
for ((i = 0; i < 300; i++)); do echo 'a b c . d e ! f'; done | $D --permute --split |
    awk '{ print $1 $2 $3 $4, $5 $6 $7, $8 }' > parts
for k in 1:24 2:6; do
    is "$(cut -d ' ' -f ${k%:*} parts | sort -u | wc -l)" "${k#*:}" "orders of a sentence"
done
is "$(cut -d ' ' -f 3 parts | sort -u)" f
! grep -qE '^[^ ]*[def!]|^[^ ]* [^ ]*[abc.]' parts || fail "words left their sentences"
# spaces and the missing newline stay
printf 'a  b \n c' > odd; $D --trans < odd | cmp - <(printf 'ˣa  ˣb \n ˣc')
$D --trans < odd | $D --untrans | cmp - odd
printf 'a b\r\nc d\r\n' | $D --inv | cmp - <(printf 'b a\r\nd c\r\n')
printf 'a\tB-X\r\nb\tI-X' | $D --inv -f conll | cmp - <(printf 'b\tB-X\na\tI-X\n\n')

# Pieces of the copy are the copies of the pieces; words and lines keep their numbers; any number of
# threads, any block.
synth-corpus --out s --sentences 8000 --dev 0 --test 0 --seed 3 --quiet
bpe-learn -n 500 s/mono.xa > codes 2> /dev/null
bpe-apply -c codes < s/mono.xa > en 2> /dev/null
$D --inv --trans < en > x
is "$(wc -l < x)" 8000
bpe-apply --restore < x | sed 's/ˣ//g' | sed 's/^/ /' > x.words
$D --inv < s/mono.xa > inv 2> /dev/null
bpe-apply -c codes < inv 2> /dev/null | $D --trans | cmp - x
$D --permute --seed 5 < s/mono.xa > p5; $D --permute --seed 5 --threads 1 < s/mono.xa | cmp - p5
cat s/mono.xa | $D --permute --seed 5 --line-buffered | cmp - p5
cmp -s p5 <($D --permute --seed 6 < s/mono.xa) && fail "another seed, the same orders"
sorted() { awk '{ n = split($0, w, " "); for (i = 1; i <= n; i++) print NR, w[i] }' "$1" |
    LC_ALL=C sort; }
cmp <(sorted p5) <(sorted s/mono.xa) || fail "words are not those of the line"
is "$(paste -d '\n' p5 s/mono.xa |
    awk 'NR % 2 { a = $0 } !(NR % 2) && a == $0 { n++ } END { print (n < 200) }')" 1
# The same orders for the words of a line and for the same words with tags.
awk '{ for (i = 1; i <= NF; i++) print $i "\tT"; print "" }' s/mono.xa |
    $D --permute --seed 5 --format conll |
    awk -F '\t' 'NF { s = s (s == "" ? "" : " ") $1; next } { print s; s = "" }' | cmp - p5
# ... also in the second block, behind a header that stands apart
{ printf 'word\ttag\n\n'; awk '{ for (i = 1; i <= NF; i++) print $i "\tT"; print "" }' s/mono.xa
} > apart
is "$(($(wc -c < apart) > 300000))" 1
sed 2d apart > above
for header in apart above; do
    cat $header | $D --permute --seed 5 --format conll --header | tail -n +2 |
        awk -F '\t' 'NF { s = s (s == "" ? "" : " ") $1; next } s != "" { print s; s = "" }' |
        cmp - p5
done
# All six orders of three words, equally often: chi-square of 5 degrees of freedom, 20.5 is its
# 99.9%.
chi() { awk -v want="$1" \
    '{ n[$0]++; all++ } END { k = split(want, w, ";");
        for (i = 1; i <= k; i++) { split(w[i], p, "=")
    sum += p[2]; name[i] = p[1]; share[i] = p[2] } for (i = 1; i <= k; i++) {
        e = all * share[i] / sum; d = n[name[i]] - e
    c += d * d / e; seen += n[name[i]] } print (c < 20.5 && seen == all) ? "fits" : \
        "chi-square " c " of " seen "/" all }'; }
awk 'BEGIN { for (i = 0; i < 6000; i++) print "a b c" }' | $D --permute > six
is "$(chi 'a b c=1;a c b=1;b a c=1;b c a=1;c a b=1;c b a=1' < six)" fits

# --- vocabulary, overlap, dictionary --------------------------------------------------------------
vocab-count en > vocab
# a vocabulary without counts has copies without
is "$(printf 'a\nb\n' | $D --trans --vocab | tr '\n' ' ')" "a b ˣa ˣb "
n=$(wc -l < vocab)
$D --trans --vocab < vocab > two
is "$(wc -l < two)" $((2 * n))
cmp <(head -$n two) vocab; cmp <(tail -n +$((n + 1)) two) <(sed 's/^/ˣ/' vocab)      # id + n
cat en <($D --trans < en) | vocab-count > counted
cmp <(LC_ALL=C sort counted) <(LC_ALL=C sort two) || fail "the vocabulary is not that of both texts"
$D --trans --vocab --overlap 0.25 --seed 2 < vocab > quarter
shared=$(( (n + 2) / 4 ))
is "$(wc -l < quarter)" $((2 * n - shared)) "a quarter of the types without replacement"
$D --trans --overlap 0.25 --types vocab --seed 2 < en > half
cut -d ' ' -f 1 quarter > known
tr ' ' '\n' < half | LC_ALL=C sort -u | LC_ALL=C comm -23 - <(LC_ALL=C sort known) > unknown
is "$(wc -l < unknown)" 0 "text and vocabulary choose other types"
$D --dict-share 0.5 --overlap 0.25 --vocab --seed 2 < vocab > dict
is "$(wc -l < dict)" "$(awk -v n=$n 'BEGIN { printf "%.0f\n", n / 2 + 0.001 }')"
awk -F '\t' '$2 != "ˣ" $1' dict | cmp - /dev/null
cut -f 2 dict | grep -vxFf known > strange ||
    true; is "$(wc -l < strange)" 0 "shared types in the dictionary"
is "$(cut -f 1 dict | sort | uniq -d | wc -l)" 0
$D --dict-share 0.1 --dict-by frequency --vocab < vocab | cut -f 1 |
    cmp - <(head -$(( (n + 5) / 10 )) vocab | cut -d ' ' -f 1)
cmp -s <($D --dict-share 0.1 --vocab --seed 1 < vocab) <($D --dict-share 0.1 \
    --vocab --seed 2 < vocab) && fail "one dictionary"
derive-lang --dict-share 1 --vocab < vocab 2>&1 > /dev/null |
    has "$n of $n types in the dictionary: 100.0% of occurrences"
# (2^63 and 2^63 are more than 64 bits)
printf 'a 9223372036854775808\nb 9223372036854775808\n' |
    derive-lang --dict-share 0.5 --vocab 2>&1 > /dev/null |
    has "1 of 2 types in the dictionary: 50.0% of occurrences"

# --- order models ---------------------------------------------------------------------------------
# trees SENTENCES SEED SWAP: "the big dog saw an old cat ." with the adjectives before (0) or behind
# (1) their nouns
trees() {
    awk -v n=$1 -v seed=$2 -v swap=$3 'BEGIN { srand(seed)
        for (k = 0; k < n; k++) { o = int(rand() * 3) == 0 ? "" : "x"; at = 0; noun(4 + (o == ""));
            noun1 = last; verb = ++at
            row(verb, "saw", "VERB", 0, "root"); noun(verb); noun2 = last;
            row(++at, ".", "PUNCT", verb, "punct")
            for (i = 1; i <= at; i++) { if (role[i] == "nsubj?") { head[i] = verb;
                role[i] = i < verb ? "nsubj" : "obj" }
                printf "%d\t%s\t_\t%s\t_\t_\t%d\t%s\t_\t_\n", i, form[i], pos[i], head[i], role[i] }
            print "" } }
        function row(i, f, p, h, r) { form[i] = f; pos[i] = p; head[i] = h; role[i] = r }
        function noun(h,  d, a, b, w) {
            d = ++at; a = int(rand() * 3); w = swap ? at + 1 : at + 1 + a; last = w
            row(d, "the", "DET", w, "det")
            for (b = 0; b < a; b++) row(swap ? w + 1 + b : d + 1 + b, "big" b, "ADJ", w, "amod")
            row(w, "dog", "NOUN", 0, "nsubj?"); at = d + 1 + a }'
}
behind() { awk -F '\t' '$8 == "amod" { n++; b += $1 > $7 } END { printf "%.4f\n", b / n }'; }
trees 1500 1 1 > swapped; trees 1000 2 0 > plain; trees 1000 3 1 > swapped2
is "$(behind < plain) $(behind < swapped)" "0.0000 1.0000"
derive-lang --learn-order N,V --held-out swapped2 swapped 2> told > swapped.order
$D --syn swapped.order --conllu-out < plain > moved
is "$(behind < moved | awk '{ print ($1 >= 0.99) }')" 1 \
    "adjectives behind their nouns: $(behind < moved)"
cmp <(sorted <($D --format conllu --inv plain)) <(sorted <($D --syn swapped.order plain))
$D --syn swapped.order plain | cmp - <($D --syn swapped.order --threads 1 < plain)
$D --learn-order V,N --seed 1 < swapped | cmp - swapped.order
# more empty lines between sentences, of any kind, say nothing
awk 'NF == 0 { print "\r"; print "" } { print }' swapped | $D --learn-order N,V |
    cmp - swapped.order
# Trees stay trees: the same heads, by word, whatever their places.
heads() { awk -F '\t' \
    'NF == 10 { f[$1] = $2; h[$1] = $7; n = $1; next }
    { for (i = 1; i <= n; i++) print s + 0, f[i], f[h[i]]; s++ }' |
        sort; }
cmp <(heads < plain) <(heads < moved)
derive-lang --syn swapped.order plain swapped2 2>&1 > both | has '^derive-lang: 2000 sentences: '
# Better than no knowledge, also on text not seen; own orders are kept as often as the model says (4
# standard errors).
awk '/held-out/ { n++; if ($9 + 0 >= substr($13, 1, length($13) - 2) + 0) bad = 1 } END {
    exit bad || n != 2 }' told ||
    { cat told; fail "held-out orders cost more bits than uniform ones"; }
derive-lang --learn-order N --held-out plain swapped plain 2> told > both.order
derive-lang --syn both.order plain 2>> told > kept
awk '/held-out/ { p = $(NF) / 100 } / nodes drawn/ { n = $4; q = 1 - $7 / n }
    END { d = q - p; s = sqrt(p * (1 - p) / n);
        exit !(n > 500 && p > 0.1 && p < 0.95 && d < 4 * s && d > -4 * s) }' told ||
    { cat told; fail "orders are not kept as often as the model says"; }
tree3() { printf \
    '1\ta\t_\tADJ\t_\t_\t3\tamod\t_\t_\n2\tb\t_\tDET\t_\t_\t3\tdet\t_\t_\n'\
'3\tH\t_\tNOUN\t_\t_\t0\troot\t_\t_\n\n';
}
# What is learnt is AdaGrad's over ten passes of batches of 20, here of 50 nodes that are all one,
# from features of all orders, one by one; told are bits and shares of the order that is there.
# learnt CLASS HEAD ITEM...: items in their order, each "POS RELATION", the head's "@POS @"
learnt() {
    local class=$1 head=$2; shift 2
    printf '%s\n' "$@" | awk -v class="$class" -v head="$head" '
        { n++; pos[n] = $1; rel[n] = $2 }
        function name(i, k) {
            if (i < 1) return "BOS"
            if (i > n) return "EOS"
            return k == 1 ? pos[i] : k == 2 ? rel[i] : pos[i] "&" rel[i]
        }
        function add(kind, a, b,  k) {
            for (k = 1; k <= 3; k++) { f = kind "_" name(a, k) "_" name(b, k)
                c[o, f]++; all[f] }
        }
        # every order, the first being 1 2 ... n
        function visit(depth,  i, j, h) {
            if (depth > n) {
                o++
                add("BI", 0, to[1]); add("BI", to[n], n + 1)
                for (i = 1; i <= n; i++) if (to[i] == head) h = i
                for (i = 1; i <= n; i++) for (j = i + 1; j <= n; j++) {
                    if (j == i + 1) add("BI", to[i], to[j])
                    add("PRE", to[i], to[j])
                    if (i == h || j == h) continue
                    add(j < h ? "BFR" : i > h ? "AFT" : "BTW", to[i], to[j])
                }
                return
            }
            for (i = 1; i <= n; i++)
                if (!used[i]) { used[i] = 1; to[depth] = i; visit(depth + 1); used[i] = 0 }
        }
        function shares(  i, f, sum) {
            for (i = 1; i <= o; i++) { p[i] = 0
                for (f in all) p[i] += c[i, f] * w[f]
                sum += p[i] = exp(p[i]) }
            for (i = 1; i <= o; i++) p[i] /= sum
        }
        END {
            visit(1)
            for (pass = 0; pass < 10; pass++) for (left = 50; left > 0; left -= 20) {
                shares()
                for (f in all) { d = c[1, f]
                    for (i = 1; i <= o; i++) d -= p[i] * c[i, f]
                    d *= (left < 20 ? left : 20) / 20; s[f] += d * d
                    step[f] = d == 0 ? 0 : 0.1 * d / sqrt(s[f]) }
                for (f in all) w[f] += step[f]
            }
            shares()
            for (f in all) printf "%s\t%s\t%.7f\n", class, f, w[f] + 1e-12
            printf "%s: 50 nodes of the held-out text, %.3f bits each (uniform: %.3f); its own " \
                "order has %.1f%%\n", class, -log(p[1]) / log(2), log(o) / log(2),
                100 * p[1] > ("bits." class)
        }'
}
for ((i = 0; i < 50; i++)); do
    tree3
    printf '1\tn\t_\tADV\t_\t_\t2\tadvmod\t_\t_\n'\
'2\tH\t_\tVERB\t_\t_\t0\troot\t_\t_\n3\to\t_\tPRON\t_\t_\t2\tobj\t_\t_\n\n'
done > fifty
derive-lang --learn-order N,V --held-out fifty fifty 2> told |
    awk -F '\t' 'NR > 2 { printf "%s\t%s\t%.7f\n", $1, $2, $3 + 1e-12 }' | LC_ALL=C sort > got
{ learnt N 3 "ADJ amod" "DET det" "@NOUN @"; learnt V 2 "ADV advmod" "@VERB @" "PRON obj"; } |
    LC_ALL=C sort > want
same got want
sed -n 's/^derive-lang: \(.*held-out.*\)/\1/p' told > got; cat bits.N bits.V > want; same got want
# Weights by hand: an order's share is e to the sum of its features' weights.
model() { printf '# isoglot order 1\n# labels ud2\n'; [ $# = 0 ] || printf '%b\n' "$@"; }
for ((i = 0; i < 6000; i++)); do tree3; done > three
L2=0.693147181 L3=1.09861229 L5=1.60943791
model > empty.order; : > none.orm
is "$($D --syn empty.order three |
    sort -u)" "a b H" "a class that the model does not have keeps its order"
model 'N\tBI_DET_ADJ\t0' 'V\tBI_DET_ADJ\t0' > none.order
is "$($D --syn none.order three | chi 'a b H=1;a H b=1;b a H=1;b H a=1;H a b=1;H b a=1')" fits
model "N\tBFR_ADJ_DET\t$L2" "N\tAFT_amod_det\t$L3" "N\tBTW_ADJ&amod_DET&det\t$L5" \
    "V\tBTW_ADJ_DET\t9" > side.order
is "$($D --syn side.order three | chi 'a b H=2;a H b=5;b a H=1;b H a=1;H a b=3;H b a=1')" fits
model "N\tPRE_@_amod\t$L2" "N\tBI_DET_@NOUN\t$L3" "N\tBI_BOS_ADJ&amod\t$L5" \
    "N\tBI_@NOUN&@_EOS\t$L2" > near.order
is "$($D --syn near.order three | chi 'a b H=30;a H b=5;b a H=2;b H a=6;H a b=2;H b a=2')" fits
# Mixed: 0.5 of each is the mean of the weights.
model "N\tBFR_ADJ_DET\t$(awk -v a=$L2 'BEGIN { print 2 * a }')" "N\tBTW_ADJ_DET\t$(awk -v a=$L5 \
    'BEGIN { print 2 * a }')" > mix.order
is "$($D --syn mix.order --substrate none.order --substrate-share 0.5 three |
    chi 'a b H=2;a H b=5;b a H=1;b H a=1;H a b=1;H b a=1')" fits
# relations have other numbers in the substrate, and are the same ones by name
twice() { awk -v a=$1 'BEGIN { print 2 * a }'; }
model "N\tPRE_@_nummod\t0" > other.order
model "N\tBFR_ADJ_DET\t$(twice $L2)" "N\tAFT_amod_det\t$(twice $L3)" \
    "N\tBTW_ADJ&amod_DET&det\t$(twice $L5)" > double.order
is "$($D --syn other.order --substrate double.order --substrate-share 0.5 three |
    chi 'a b H=2;a H b=5;b a H=1;b H a=1;H a b=3;H b a=1')" fits
# Galactic Dependencies' own, with UD 1.2's labels: obj is dobj, a negation neg, n-grams count.
printf '%s %s\n' PRE_dobj_@ $L3 'BI_neg_VERB&dobj' 0 'HI_BOS_@VERB&@_PART&neg' $L5 \
    'HI_PART&neg_EOS_EOS' $L2 > v.orm
derive-lang --import-orm V=v.orm > v.order
is "$(cat v.order)" "$(printf \
    '# isoglot order 1\n# labels ud1\nV\tBI_neg_VERB&dobj\t0\nV\tHI_BOS_@VERB&@_PART&neg\t%s\n'\
'V\tHI_PART&neg_EOS_EOS\t%s\nV\tPRE_dobj_@\t%s' $L5 $L2 $L3)"
printf 'BI_no\tsubj_@ 1\n' > tab.orm           # no line of a model could say it
fails 1 'tab.orm:1: relation "no.x09subj" has a space or control' derive-lang --import-orm V=tab.orm
# a relation that looks like a part of speech keeps its "&" (found by fuzz/order)
printf 'BI_n_&@mo$ 0.25\n' > at.orm; derive-lang --import-orm N=at.orm > at.order
grep -q '^N	BI_n_&@mo\$	0.25$' at.order || fail "$(cat at.order)"
# and so does one with "&" in its own name
printf 'BI_&n&m_amod 0.5\n' > and.orm; derive-lang --import-orm N=and.orm > and.order
grep -q '^N	BI_&n&m_amod	0.5$' and.order || fail "$(cat and.order)"
for ((i = 0; i < 6000; i++)); do
    printf '1\tn\t_\tPART\t_\tX=1|Polarity=Neg\t2\tadvmod\t_\t_\n'\
'2\tH\t_\tVERB\t_\t_\t0\troot\t_\t_\n3\to\t_\tNOUN\t_\t_\t2\tobj\t_\t_\n\n'
done > negated
is "$($D --syn v.order negated | chi 'n H o=1;n o H=3;o n H=3;o H n=6;H n o=5;H o n=2')" fits

# What UD 2 calls otherwise than UD 1: each relation, alone with its head, stands before it as often
# as the weight of its older name says; a label without an older one goes by its base.
printf '%s %s\n' PRE_nmod_@ $L3 PRE_nsubjpass_@ $L5 PRE_nsubj_@ $L2 PRE_mwe_@ 0 PRE_CONJ_@VERB $L3 \
    PRE_VERB_@VERB $L5 PRE_neg_@ $L2 > old.orm
derive-lang --import-orm V=old.orm > ud1.order
# one FORM POS RELATION FEATS: a verb with one dependent before it
one() { printf '1\t%s\t_\t%s\t_\t%s\t2\t%s\t_\t_\n2\tH\t_\tVERB\t_\t_\t0\troot\t_\t_\n\n' \
    "$1" "$2" "$4" "$3"; }
for ((i = 0; i < 1500; i++)); do
    one a NOUN obl:agent _; one b NOUN nsubj:pass _; one c NOUN nsubj:outer _; one d NOUN fixed _
    one e CCONJ cc _; one f AUX cop _; one g AUX aux _; one h PART advmod 'A=B|Polarity=Neg'
    one i PART advmod 'Polarity=Negative|NotPolarity=Neg'
done > old.conllu
$D --syn ud1.order old.conllu > drawn
for x in a:3 b:5 c:2 d:1 e:3 f:5 g:1 h:2 i:1; do
    is "$(grep "${x%:*}" drawn | chi "${x%:*} H=${x#*:};H ${x%:*}=1")" fits "UD 1's weight of $x"
done

# Nodes with more than six dependents keep their order; so do crossing arcs; --strict leaves such
# trees out.
{ for i in 1 2 3 4 5 6 7; do printf '%d\tw%d\t_\tADJ\t_\t_\t8\tamod\t_\t_\n' $i $i; done
printf '8\tH\t_\tNOUN\t_\t_\t0\troot\t_\t_\n\n'; } > wide
is "$($D --syn near.order wide)" "w1 w2 w3 w4 w5 w6 w7 H"
# ... with what is below them, on either side
{ for i in 1 2 3 4; do printf '%d\tw%d\t_\tADJ\t_\t_\t5\tamod\t_\t_\n' $i $i; done
printf '5\tH\t_\tNOUN\t_\t_\t0\troot\t_\t_\n'
for i in 6 8 10; do printf '%d\tx%d\t_\tADV\t_\t_\t%d\tadvmod\t_\t_\n' $i $i $((i + 1))
    printf '%d\tw%d\t_\tADJ\t_\t_\t5\tamod\t_\t_\n' $((i + 1)) $((i + 1)); done; echo
} > sides
is "$($D --syn near.order sides)" "w1 w2 w3 w4 H x6 w7 x8 w9 x10 w11"
printf '1\ta\t_\tADJ\t_\t_\t3\tamod\t_\t_\n'\
'2\tV\t_\tVERB\t_\t_\t0\troot\t_\t_\n3\tN\t_\tNOUN\t_\t_\t2\tobj\t_\t_\n\n' > crossed
derive-lang --syn none.order --strict wide crossed three 2> told | wc -l > lines
is "$(cat lines)" 6000
grep -q "more than 6 dependents in 1 sentences, with crossing arcs in 1; 2 sentences left out" told

# --- what is refused: one line, status 1, nothing written -----------------------------------------
row() { printf '%s\t%s\t_\t%s\t_\t_\t%s\t%s\t_\t_\n' "$@"; }
{ row 1 x NOUN 0 root; echo; row 1 a NOUN 2 nsubj; row 2 b VERB 3 obj; row 3 c NOUN 2 obl; echo
} > cycle
fails 1 'cycle:4: word 2, "b", is in a cycle of HEADs' derive-lang --syn none.order cycle
fails 1 'cycle:4: word 2, "b", is in a cycle' derive-lang --learn-order N cycle
# of two words beside a root, or of one: from word 2 three heads up, or two
{ row 1 a NOUN 0 root; row 2 b VERB 3 obj; row 3 c NOUN 2 obl; } > pair
fails 1 'pair:3: word 3, "c", is in a cycle' derive-lang --learn-order N pair
{ row 1 a NOUN 0 root; row 2 b VERB 2 obj; } > self
fails 1 'self:2: word 2, "b", is in a cycle' derive-lang --learn-order N self
{ row 1 x NOUN 7 root; echo; } > far
fails 1 'far:1: HEAD is "7", which is not one of this sentence.s 1 words' \
    derive-lang --syn none.order far
fails 1 'far:1: HEAD is "7"' derive-lang --inv --format conllu --conllu-out far
{ row 1 x NN 0 root; echo; } > penn
fails 1 'penn:1: UPOS of "x" is "NN", not one of UD 2.s 17' derive-lang --syn none.order penn
{ row 1 x NOUN 2 dobj; row 2 y VERB 0 root; echo; } > old
fails 1 'old:1: DEPREL of "x" is "dobj", not one of UD 2.s 37' derive-lang --syn none.order old
{ row 1 x _ 0 root; echo; } > untagged
fails 1 'untagged:1: UPOS of "x" is "_"' derive-lang --learn-order N untagged
printf 'a\tO\nb\nc\tO\n' > missing
fails 1 'missing:2: the word "b" has no tag' derive-lang --inv --format conll missing
printf 'a\tO\nb\t\n' > missing
fails 1 'missing:2: column 2 is empty' derive-lang --inv --format conll missing
printf 'a\tB-X\nb\tE-X\n' > bioes
fails 1 'bioes:2: tag "E-X" among B- and I- tags' derive-lang --inv --format conll bioes
printf '1\tx\t_\n' > thin
fails 1 'thin:1: 3 columns; CoNLL-U has ten' derive-lang --inv --format conllu thin
{ row 1 x NOUN 0 root; row 3 y NOUN 1 obj; } > gap
fails 1 'gap:2: ID is "3", not 2' derive-lang --inv --format conllu gap
echo 'a b' > two.txt
fails 1 'two.txt:1: expected a label, a tab, a sentence' derive-lang --inv --format nli two.txt
printf 'ok\nˣa b\n' > marked
fails 1 'marked:2: token "ˣa" begins with U\+02E3' derive-lang --trans marked
# ... in a tree, too, whether it is written as a tree or as text
printf '1\ta\ta\tDET\t_\t_\t2\tdet\t_\t_\n2\tˣb\tb\tNOUN\t_\t_\t0\troot\t_\t_\n\n' > marked.conllu
for out in "" --conllu-out; do
    fails 1 'marked.conllu:2: token "ˣb" begins with U\+02E3' \
        derive-lang --trans -f conllu $out marked.conllu
done
fails 1 'token "ˣa" begins with U\+02E3' derive-lang --trans --vocab <(printf 'ˣa 3\n')
printf 'a b@@\n' > within
fails 1 'within:1: the last token, "b@@", ends within a word' derive-lang --inv within
printf 'a\xff\n' > bytes
fails 1 'bytes:1: .*UTF-8' derive-lang --trans bytes
model 'N\tBI_NN_JJ\t1' > penn.order
fails 1 'penn.order:3: "NN" is not a label of ud2' derive-lang --syn penn.order three
model 'N\tBI_dobj_amod\t1' > old.order
fails 1 'old.order:3: "dobj" is not a label of ud2' derive-lang --syn old.order three
printf '# isoglot order 1\n# labels penn\n' > penn.order
fails 1 'penn.order:2: "# labels ud2" or "# labels ud1" expected' derive-lang --syn penn.order \
    three
fails 1 'three: not an order model' derive-lang --syn three three
fails 1 'different label sets' derive-lang --syn v.order --substrate none.order three
for bad in 'N\tXX_amod_det\t1' 'N\tBI_amod\t1' 'N\tBI_amod_det_amod\t1' 'N\tHI_amod_det\t1' \
    'N\tBI_amod_det\tnan' 'N\tBI_amod_det\t1x' \
    'A\tBI_amod_det\t1' 'N BI_amod_det 1' 'N\tBI_amod_det\t1\nN\tBI_amod_det\t2'; do
    model "$bad" > bad.order
    fails 1 'bad.order:[34]: ' derive-lang --syn bad.order three
done
fails 1 'no verb with one to six dependents' derive-lang --learn-order V <(tree3)
# a text that has nothing to judge by, before anything is learnt
fails 1 'no noun with one to six dependents in the text of --held-out' \
    derive-lang --learn-order N --held-out /dev/null three
fails 1 '^derive-lang: none.orm: holds no feature' derive-lang --import-orm N=none.orm < none.orm
# what a table program made of the words 1 and 2 is no empty node, and no sentence without words
row 1.0 a NOUN 2 nsubj > table; row 2.0 b VERB 0 root >> table
fails 1 'table:1: ID is "1.0", not 1' derive-lang --inv -f conllu table
# a byte order mark goes, and does not move with the first word
M=$'\xEF\xBB\xBF'
{ printf '%s' "$M"; tree3; } > mark
same <($D --inv -f conllu --conllu-out mark) <(tree3 | $D --inv -f conllu --conllu-out)
same <($D --learn-order N mark) <(tree3 | $D --learn-order N)
same <(printf '%s0\ta\tO\n1\tb\tO\n' "$M" | $D --inv -f conll) <(printf '0\tb\tO\n1\ta\tO\n\n')
# ... of each file
is "$($D --inv -f conllu mark mark)" "$(printf 'H b a\nH b a')"
# whatever read standard input second would find nothing
for w in '--inv - -' '--syn -' '--syn none.order --substrate - -' '--learn-order N --held-out -' \
    '--trans --types - --overlap 0' '--import-orm N=-,V=-'; do
    fails 2 'standard input can be given only once' derive-lang $w
done
fails 1 'are more than the|is more than the' derive-lang --dict-share 0.9 --overlap 0.5 \
    --vocab vocab
fails 2 '^derive-lang: --header takes one file' \
    derive-lang --inv --format nli --header $G/pairs $G/pairs
fails 2 'nothing to do' derive-lang two.txt
fails 2 'conllu-out needs --format conllu' derive-lang --inv --conllu-out two.txt
fails 2 'lang-prefix needs --format conll$' derive-lang --inv --lang-prefix two.txt
fails 2 'header needs --format nli or conll' derive-lang --inv --header two.txt
fails 2 'inv-tokens needs --format text or nli' derive-lang --inv --inv-tokens -f conll two.txt
fails 2 'split and --inv-tokens need --inv or --permute' derive-lang --trans --split two.txt
printf 'en:a\tO\nb\tO\n' > prefix
fails 1 'prefix:2: word "b" has no prefix and colon' derive-lang --inv -f conll --lang-prefix prefix
printf 'a\tX\tO\nb\tO\n' > torn
fails 1 'torn:2: 2 columns, but 3 on the first line' derive-lang --inv -f conll torn
printf 'PRE_%024d_@ 1\n' 0 > long.orm
fails 1 'long.orm:1: relation "0*" does not have 1 to 23 bytes' derive-lang --import-orm N=long.orm
echo PRE_amod_@ > bare.orm
fails 1 'bare.orm:1: expected a feature, a space and a weight' derive-lang --import-orm N=bare.orm
fails 2 'undo each other' derive-lang --trans --untrans two.txt
fails 2 '--overlap needs --types' derive-lang --trans --overlap 0.5 two.txt
# what would change nothing is refused
fails 2 '--types needs --overlap Q' derive-lang --trans --types vocab two.txt
same <(derive-lang --trans --types vocab --overlap 0 two.txt) <(derive-lang --trans two.txt)
fails 2 '--dict-by needs --dict-share' derive-lang --trans --dict-by random two.txt
fails 2 '--substrate-share needs --substrate' derive-lang --syn none.order --substrate-share 0.2 \
    three
for w in --inv --trans --untrans --permute --header --conllu-out '--syn none.order'; do
    fails 2 'write a model, and derive nothing' derive-lang --learn-order N $w three
    fails 2 'write a model, and derive nothing' derive-lang --import-orm N=bare.orm $w
done
fails 2 'allows no other derivation' derive-lang --vocab --trans --header vocab
fails 2 'allows no other derivation' derive-lang --vocab --trans --split vocab
fails 2 'allows no other derivation' derive-lang --vocab --trans --strict vocab
for w in '--vocab --trans' '--vocab --dict-share 1' '--learn-order N' '--import-orm N=bare.orm'; do
    fails 2 '--format is for text that is derived' derive-lang $w --format text
    fails 2 '--line-buffered is for text that is derived' derive-lang $w -b
done
# a treebank is CoNLL-U, said or not
same <($D --learn-order N -f conllu three) <($D --learn-order N three)
fails 2 '--overlap needs --types' derive-lang --learn-order N --overlap 0.5 three
fails 2 '--dict-share needs --vocab' derive-lang --dict-share 0.5 vocab
fails 2 '--syn needs dependency trees' derive-lang --syn none.order --format text two.txt
fails 2 "'NV' is not N, V or N,V" derive-lang --learn-order NV three
echo kept > out; fails 1 'cycle' derive-lang --syn none.order -o out cycle; is "$(cat out)" kept
fails 1 'cannot write' bash -c 'ulimit -f 10; exec derive-lang --trans -o big en'
[ ! -e big ] || fail "half a file was left"

# a message names the file of several, and standard input
printf 'a\tN\nb\tV\n' > good.tags; printf 'a\tN\nb\n' > bad.tags
fails 1 '^derive-lang: bad.tags:2: the word "b" has no tag' \
    derive-lang --trans --format conll -o nothing good.tags bad.tags good.tags
fails 1 '^derive-lang: standard input:2: the word "b"' \
    derive-lang --trans --format conll -o nothing good.tags - < bad.tags
[ ! -e nothing ]
