# translate --raw gives what the pipe of tokenize, bpe-apply, translate, bpe-apply --restore and
# detokenize gives.
. "$TOP/test/cli/lib.sh"
printf '%s\n' 'Die Katze schläft.' 'Ein Hund läuft, "schnell" & weit!' \
    'EU-Recht (neu): 3,5 Prozent.' '' 'Zwei Hunde.' > de
printf '%s\n' 'The cat sleeps.' "A dog's running \"fast\" & far!" 'EU law (new): 3.5 percent.' '' \
    'Two dogs.' > en
for k in 1 2 3 4; do cat de; done > many.de; for k in 1 2 3 4; do cat en; done > many.en
tokenize --case-marker --settings > tokenizer
is "$(grep -v '^#' tokenizer)" "case-marker = true"
tokenize --case-marker --settings -o settings; same settings tokenizer
tokenize -l th --describe -o described; is "$(cat described)" "$(tokenize -l th --describe)"
for l in de en; do tokenize -q -l $l --case-marker < many.$l > tok.$l; done
bpe-learn -q -n 60 tok.de tok.en > codes
for l in de en; do bpe-apply -q -c codes < tok.$l > bpe.$l; done
vocab-count -q bpe.de bpe.en > vocab
finetune -q --task mt -v vocab --codes codes --tokenizer tokenizer --parallel de-en=bpe.de,bpe.en \
    --layers 1 --dim 32 --heads 2 --ffn 64 --positions 64 \
    --tokens 200 --lr 4e-3 --warmup 20 --steps 120 --dropout 0 --attention-dropout 0 --out run
same tokenizer run/last/tokenizer; same codes run/last/codes
tokenize -q -l de --case-marker < de | bpe-apply -q -c codes |
    translate -q --model run --src de --tgt en --beam 2 | bpe-apply -q --restore |
        detokenize -q -l en --case-marker > piped
translate -q --raw --model run --src de --tgt en --beam 2 < de > raw
same piped raw
grep -q '[A-Z]' raw || fail "nothing was learnt: $(cat raw)"
# a model that starts from this one keeps both
finetune -q --task mt --model run --parallel en-de=bpe.en,bpe.de --steps 2 --tokens 100 --out next
same tokenizer next/last/tokenizer
[ ! -e next/last/pieces.json ] || fail "pieces of no imported model"
# so does an average, a model of fewer words, and one that a program starts from without a word
# about its shape
ckpt average -q -o mean run run/last; same tokenizer mean/tokenizer; same codes mean/codes
head -n 30 vocab > fewer; binarize -q --max-unknown 1 -v fewer -l de -o fewer.shd < bpe.de
pretrain -q --max-unknown 1 --init run -v fewer --train de=fewer.shd --steps 1 --tokens 100 \
    --out small
same tokenizer small/last/tokenizer; same codes small/last/codes
binarize -q -v vocab -l de -o de.shd < bpe.de
pretrain -q --init run --train de=de.shd --steps 1 --tokens 100 --out same-shape
same run/last/vocab same-shape/last/vocab
for what in '"dim": 32' '"heads": 2' '"ffn": 64' '"positions": 64'; do grep -q "$what" \
    same-shape/last/config.json next/last/config.json || fail "$what is not taken"; done
finetune -q --task mt --init run --layers 2 --decoder-layers 1 --parallel en-de=bpe.en,bpe.de \
    --steps 1 --tokens 100 --out deeper
grep -q '"layers": 2' deeper/last/config.json; grep -q '"decoder_layers": 1' deeper/last/config.json
finetune -q --config deeper/run.config --out deeper2
same deeper/last/weights.safetensors deeper2/last/weights.safetensors
# words of another language: the codes would cut them wrongly
printf 'zz 1\n' | cat fewer - > other; echo zz | binarize -q -v other -l de -o other.shd
pretrain -q --init run -v other --train de=other.shd --steps 1 --tokens 100 --out other-words
[ ! -e other-words/last/codes ] || fail "codes of another vocabulary were kept"
# embed --raw likewise
for of in sentences tokens words; do
    tokenize -q -l de --case-marker < de | bpe-apply -q -c codes |
        embed -q --model run --layer 1 --lang de --of $of --text - > piped
    embed -q --raw --model run --layer 1 --lang de --of $of --text de > raw; same piped raw
done
fails 2 '--raw needs --text' embed --raw --model run
# raw pairs train as the tokens that the pipe makes of them: the same bytes
pairs=(--steps 2 --tokens 100 --seed 4)
finetune -q --task mt --model run --parallel de-en=bpe.de,bpe.en "${pairs[@]}" --out cut
finetune -q --task mt --model run --raw --parallel de-en=many.de,many.en "${pairs[@]}" --out uncut
same cut/last/weights.safetensors uncut/last/weights.safetensors
# what is refused may change when a run goes on
finetune -q --task mt --model run --raw --parallel de-en=many.de,many.en --steps 1 --tokens 100 \
    --seed 4 --out broken
finetune -q --task mt --model run --raw --parallel de-en=many.de,many.en "${pairs[@]}" \
    --max-unknown 0.5 --out broken --resume
same cut/last/weights.safetensors broken/last/weights.safetensors
pairs=(--steps 2 --batch 4 --queue 4 --projection 6 --min-tokens 1 --seed 4)
align-post -q --model run --parallel de-en=bpe.de,bpe.en "${pairs[@]}" --out cut-a
align-post -q --model run --raw --parallel de-en=many.de,many.en "${pairs[@]}" --out uncut-a
same cut-a/last/weights.safetensors uncut-a/last/weights.safetensors
same tokenizer uncut-a/last/tokenizer; same codes uncut-a/last/codes
fails 1 'de.shd: is a shard, of tokens; --raw reads plain text' align-post -q --model run --raw \
    --parallel de-en=de.shd,de.shd "${pairs[@]}" --out no
fails 2 'plain text by the tokeniser of --model' finetune --task mt --raw -v vocab \
    --parallel de-en=many.de,many.en --out no
# tokenize --subwords reads the folder of any model, with several threads and line by line
tokenize -q --subwords run/last -l de many.de > got; same bpe.de got
tokenize -q --threads 2 --line-buffered --subwords run/last -l de < many.de > got; same bpe.de got
bpe-apply -q --restore bpe.en | detokenize -q -l en --case-marker > back
detokenize -q --subwords run/last -l en bpe.en > got; same back got

# --- the share of unknown tokens, which awk counts, is said; where it is large, text is refused ---
# share FILE: "TOKENS tokens, UNKNOWN unknown (SHARE%)" by the vocabulary
share() {
    awk 'FNR == NR { known[$1]; next } { for (i = 1; i <= NF; i++) u += !($i in known); n += NF }
        END { printf "%d tokens, %d unknown (%.2f%%)", n, u, 100 * u / n }' vocab "$1"
}
# refused FILE COMMAND...: it says the share of FILE and what to do, and writes nothing
refused() {
    local file=$1 of; shift
    of=$(share "$file" | sed 's/[()]/[&]/g')
    fails 1 "$of, more than 20%; if it is plain text, pass --raw or cut it with tokenize \
--subwords run/last; --max-unknown 1 takes it as it is" "$@"
    [ ! -e no ] || fail "$1 wrote something"
}
[ "$(share many.de | sed 's/.*(//; s/\..*//')" -gt 20 ]
refused many.de embed -q --model run --lang de --text many.de --of sentences -o no
refused many.de translate -q --model run --src de --tgt en -o no < many.de
refused many.en align-post -q --model run --parallel de-en=bpe.de,many.en "${pairs[@]}" --out no
refused many.en finetune -q --task mt --model run --parallel de-en=bpe.de,many.en --steps 1 --out no
refused many.en finetune -q --task mt --model run --parallel de-en=bpe.de,bpe.en \
    --valid de-en=bpe.de,many.en --steps 1 --out no
fails 1 "many.de: $(share many.de | sed 's/[()]/[&]/g'), more than 20%; cut it as the vocab" \
    binarize -v vocab many.de -o no
[ ! -e no ] || fail "a shard was written"
# enough known words beside it: a note, and the text is taken; with an option all is
for i in 1 2 3 4 5 6; do cat bpe.de; done | cat - de > mostly
embed --model run --lang de --text mostly --of sentences -o v.npy 2> note
is "$(cat note)" "embed: mostly: $(share mostly)"
embed --model run --max-unknown 1 --lang de --text many.de --of sentences -o v.npy 2> note
is "$(cat note)" "embed: many.de: $(share many.de)"
embed --model run --lang de --text bpe.de --of sentences -o v.npy 2> note; is "$(cat note)" ""
binarize -q --max-unknown 1 -v vocab -l de many.de -o unknown.shd
fails 1 "unknown.shd: $(share many.de | sed 's/[()]/[&]/g'), more than 20%; cut its text" \
    pretrain -q --init run --train de=unknown.shd --steps 1 --out no
# a long text of the wrong kind is refused at its beginning, here after the 667 sentences of 6 rows
# in the first batch of 4000, before anything is written
for ((i = 0; i < 2000; i++)); do echo 'ein zwei drei vier'; done > long
fails 1 'of its first 2668 tokens, 2001 unknown .75.00%.' embed -q --model run --lang de \
    --text long --of sentences
[ ! -s fails.out ] || fail "vectors of a text that is refused"

# --- an imported model reads plain text by its own tokeniser, as transformers does (raw.py), and so
# does whatever is made from it ---
G=$TOP/test/golden
# states MODEL KIND [OPTION...]: embed --raw gives raw.tsv's rows of KIND
states() {
    local m=$1 kind=$2; shift 2
    awk -F '\t' -v k="$kind" '
        $1 == k { print $2 > "lines"; print $4 > "mean.rows"; print $5 > "first.rows" }' \
        "$G/raw.tsv"
    for pool in mean first; do
        embed -q --model "$m" --raw --max-unknown 0.5 "$@" --layer -1 --text lines \
            --of sentences --pool $pool | cut -d ' ' -f 2- | paste -d ' ' - $pool.rows |
            awk '{ for (i = 1; i <= NF / 2; i++) {
                    d = $i - $(i + NF / 2); if (d > 2e-5 || d < -2e-5) exit 1 } n++ }
                END { exit n != 3 }' || fail "$m ($*): not transformers'"' states'
    done
}
for kind in bert xlmr; do
    ckpt import -q -o i.$kind "$G/interchange/$kind"
    states i.$kind $kind; states i.$kind $kind --lang qq
    embed --model i.$kind --raw --max-unknown 0.5 --layer -1 --text lines --of sentences 2> note > v
    is "$(cat note)" "$(awk -F '\t' -v k=$kind '
        $1 == k { split($3, s, " of "); u += s[1]; n += s[2] }
        END { if (u) printf "embed: lines: %d tokens, %d unknown (%.2f%%)", n, u, 100 * u / n }' \
        "$G/raw.tsv")"
    # the same by the pipe
    tokenize -q --subwords i.$kind lines > pieces
    embed -q --model i.$kind --max-unknown 0.5 --layer -1 --text pieces --of sentences > piped
    same piped v
    # words: pieces of one word by this tokeniser, and --words' means of them
    [ $kind != bert ] || is "$(echo 'kas lio kas' | embed -q --model i.bert --raw --text - \
        --of words | cut -d ' ' -f 1 | paste -sd ' ')" "2 kas lio"
    [ $kind != xlmr ] || is "$(echo 'ka tio ka' | embed -q --model i.xlmr --raw --text - \
        --of words | cut -d ' ' -f 1 | paste -sd ' ')" "2 ka tio"
    # a learning rate of 0: the states stay what they were, and the tokeniser comes along
    for i in 1 2 3 4; do cat lines; done > both
    align-post -q --model i.$kind --raw --max-unknown 1 --parallel de-en=both,both --steps 1 \
        --lr 0 --batch 2 --queue 2 --projection 6 --min-tokens 1 --out a.$kind
    states a.$kind $kind
    ckpt average -q -o m.$kind a.$kind a.$kind/last; states m.$kind $kind
    ckpt export -q -o e.$kind m.$kind; ckpt import -q -o r.$kind e.$kind; states r.$kind $kind
    # how a sentence's vector is taken goes along: test/peers/card.py has sentence-transformers
    # compute the same vectors
    ckpt export -q -o s.$kind a.$kind
    tr -d ' \n' < s.$kind/1_Pooling/config.json > pooling
    is "$(cat pooling)" '{"word_embedding_dimension":16,"pooling_mode_cls_token":true,'\
'"pooling_mode_mean_tokens":false,"pooling_mode_max_tokens":false,'\
'"pooling_mode_mean_sqrt_len_tokens":false}'
    is "$(grep -o '"path": "[^"]*"' s.$kind/modules.json | paste -sd ' ')" \
        '"path": "" "path": "1_Pooling"'
done
# of a model that align-post did not train nothing is said, unless it is told
[ ! -e e.bert/modules.json ] || fail "a pooling that nobody named"
ckpt export -q --pool mean -o p.bert i.bert
tr -d ' \n' < p.bert/1_Pooling/config.json | has '"pooling_mode_mean_tokens":true'
# the model card: languages, objectives, checksums of the data, the options
grep -q '^library_name: sentence-transformers$' s.bert/README.md
is "$(sed -n '/^language:/,/^library/p' s.bert/README.md | paste -sd ' ')" \
    'language: - "de" - "en" library_name: sentence-transformers'
grep -qx "Trained by isoglot's .align-post.: moco,tlm." s.bert/README.md
grep -qE "^\| .parallel. \| .both. \| [0-9a-f]{16} \|$" s.bert/README.md
grep -qx 'parallel = de-en=both,both' s.bert/README.md
grep -qx '# A bert model for sentences' s.bert/README.md
grep -qx "A sentence's vector is the state of its first token." s.bert/README.md
grep -qx "A sentence's vector is the mean of its states." p.bert/README.md
grep -qx 'pipeline_tag: sentence-similarity' p.bert/README.md
is "$(tr -d ' \n' < s.bert/sentence_bert_config.json)" '{"max_seq_length":12,"do_lower_case":false}'
# our own rules go into no tokenizer of theirs: refused, or a tokenizer of tokens, as whose words
# the model's come back in their order
fails 1 "cuts text by its tokenizer and codes: .* tokenize --subwords run/last makes them" \
    ckpt export -o own --to bart --src de --tgt en run
[ ! -e own ] || fail "an export that is refused"
ckpt export -q --tokens-only -o own --src de --tgt en run
grep -qx '# A bart model that translates' own/README.md
grep -qx 'pipeline_tag: translation' own/README.md
grep -qx 'print(model.generate(\*\*batch))' own/README.md
grep -q '^The tokenizer reads the model.s tokens, one space between them' own/README.md
ckpt import -q -o back.own own
is "$(awk '{ print $1 }' back.own/vocab | sha256sum)" \
    "$(awk '{ print $1 }' run/last/vocab | sha256sum)"
small=(--train de=de.shd --steps 1 --tokens 100 --layers 1 --dim 8 --heads 2 --ffn 32)
pretrain -q -v vocab --tokenizer tokenizer --codes codes "${small[@]}" --out xlm
fails 1 'cuts text by its tokenizer: ' ckpt export -o no --to xlm xlm
# text that only spaces cut is theirs, too
tokenize --no-tokenize --settings > spaces
pretrain -q -v vocab --tokenizer spaces "${small[@]}" --out spaced
ckpt export -q -o spaced.hf spaced; grep -q '"Split"' spaced.hf/tokenizer.json
# names: where languages have embeddings, one is needed, and the message lists them
fails 1 "the model has 2 languages; name the text's with --lang: de, en" embed -q --model run \
    --raw --text de
fails 1 'the model has no language embeddings; leave out --add-language' \
    embed -q --model i.bert --add-language de
fails 1 "the model has 2 languages; name the text's with --tgt: de, en" translate -q --model run \
    --src de < bpe.de
# a setting of one language
{ cat tokenizer; echo 'en.case-marker = false'; } > run/last/tokenizer; rm run/last/model.sum
translate -q --raw --model run/last --src de --tgt en --beam 2 < de > marked
grep -q '⇧' marked || fail "en.case-marker = false had no effect"
echo 'case-marker = perhaps' > run/last/tokenizer
fails 1 'run/last/tokenizer:1: "case-marker = perhaps" is not a setting' translate \
    -q --raw --model run/last --src de --tgt en < de
rm run/last/tokenizer
fails 1 'run/last: has no file tokenizer, which says how its text was tokenised' translate -q \
    --raw --model run/last --src de --tgt en < de
rm next/last/codes next/last/model.sum
fails 1 'has no codes' translate -q --raw --model next/last --src en --tgt de < en
fails 1 'cannot be kept' tokenize --protected x --settings
fails 2 'subwords' tokenize --subwords x.model --settings
fails 2 'subwords' tokenize --subwords x.model --describe
