# tokenize --subwords gives the pieces that transformers and sentencepiece give
# (test/golden/subwords.py), from the files they read and from imported folders; detokenize
# --subwords joins them.
. "$TOP/test/cli/lib.sh"
G=$TOP/test/golden/subwords
sed -n 1p "$G/text" > one
tokenize -q --subwords "$G/cased.txt" "$G/text" > out; same out "$G/cased.out"
tokenize -q --subwords "$G/uncased.txt" --uncased "$G/text" > out; same out "$G/uncased.out"
for m in unigram bpe spaces; do
    tokenize -q --subwords "$G/$m.model" "$G/text" > out; same out "$G/$m.out"
    tokenize -q --threads 3 --line-buffered --subwords "$G/$m.model" < "$G/text" > out
    same out "$G/$m.out"
done
# letters that the model lacks are one piece where they follow each other (sentencepiece 0.2)
is "$(printf 'a 漢字漢 b\n漢 字\nx漢字y\n' |
    tokenize -q --subwords "$G/unigram.model")" "$(printf '▁a ▁ 漢字漢 ▁b\n▁ 漢 ▁ 字\n▁ x 漢字 y')"
# tokenizer.json: each component that models have, added tokens, unknown text
for m in xlmr first mixed roberta llama prefix bert patterns; do
    tokenize -q --subwords "$G/$m.json" "$G/text-added" > out; same out "$G/$m.out"
done
tokenize -q --threads 3 --line-buffered --subwords "$G/roberta.json" < "$G/text-added" > out
same out "$G/roberta.out"
# the first id is a piece as any other, and a word has at most so many characters (tokenizers 0.23)
spaces='"version":"1.0","pre_tokenizer":{"type":"WhitespaceSplit"}'
printf '%s' "{$spaces" ',"model":{"type":"WordPiece","unk_token":"[UNK]",' \
    '"continuing_subword_prefix":"##","max_input_chars_per_word":7,' \
    '"vocab":{"un":0,"##do":1,"##ing":2,"[UNK]":3,"##n":4,"##i":5}}}' > zero.json
is "$(echo un undo undoing undoingn undoingg doun | tokenize -q --subwords zero.json)" \
    'un un ##do un ##do ##ing [UNK] [UNK] [UNK]'
printf '%s' "{$spaces" ',"model":{"type":"BPE","unk_token":"<u>",' \
    '"vocab":{"a":0,"b":1,"ab":2,"<u>":3,"ba":4},' \
    '"merges":[["a","b"],["b","a"]]}}' > zero.json
is "$(echo a ab ba aab xa axb | tokenize -q --subwords zero.json)" 'a ab ba a ab <u> a a <u> b'
# (of a vocabulary without a file of settings: 100, as BERT has it)
printf '%s\n' '[UNK]' x '##x' > x.vocab
x=$(printf '%0100d' 0 | tr 0 x); cut="x$(printf ' ##x%.0s' {1..99})"
is "$(echo "$x ${x}x $x" | tokenize -q --subwords x.vocab)" "$cut [UNK] $cut"
# what is a word alone: the ends of BERT's blocks of ideographs, ASCII's punctuation, others; what
# is none: what lies beside the blocks, letters, digits; what is not there at all; what is a space
printf '%s\n' '[UNK]' a '##a' > a.vocab
around() { printf 'a%ba\n' "$@" | tokenize -q --subwords a.vocab | sort | uniq -c | sed 's/^ *//'; }
is "$(around '\u4E00' '\u9FFF' '\u3400' '\u4DBF' '\U20000' '\U2A6DF' '\U2A700' '\U2B73F' \
    '\U2B740' '\U2B81F' '\U2B820' '\U2CEAF' '\uF900' '\uFAFF' '\U2F800' '\U2FA1F' \
    '!' / : @ '[' '\x60' '{' '~' '\u00A1' '\u2013' '\u2018' '\u2019' '\u203F' '\u3001' '\u3008' \
    '\u3009')" '32 a [UNK] a'
is "$(around '\u33FF' '\u4DC0' '\u4DFF' '\uA000' '\U1FFFD' '\U2A6E0' '\U2A6FF' '\U2CEB0' '\uFB00' \
    '\U2F7FF' '\U2FA20' 0 9 A Z z '\u20AC' '\u00B1')" '18 [UNK]'
is "$(around '\x01' '\x1F' '\x7F' '\u0085' '\u00AD' '\u200B' '\uE000' '\uFFFD' '\uFEFF')" '9 a ##a'
is "$(around ' ' '\t' '\u00A0' '\u3000' '\u2028')" '5 a a'
# the white space that goes with an added token may begin the next (ids of tokenizers 0.23)
added() { printf '{"id":%s,"content":"%s","single_word":false,"lstrip":%s,"rstrip":%s,%s}' "$@" \
    '"normalized":false,"special":false'; }
printf '%s' '{"version":"1.0","pre_tokenizer":{"type":"ByteLevel","add_prefix_space":false,' \
    '"trim_offsets":true,"use_regex":true},"added_tokens":[' "$(added 6 '<a>' false true)," \
    "$(added 7 ' b' false false),$(added 8 '  ' false false),$(added 9 '<m>' true false)]," \
    '"model":{"type":"BPE","merges":[["Ġ","x"],["Ġ","b"]],' \
    '"vocab":{"a":0,"b":1,"x":2,"Ġ":3,"Ġx":4,"Ġb":5}}}' > spaces.json
printf '%s\n' '<a> b' '<a>   b' '<a>   x' '<a>     x' '<a> b<m>x' '<a>  <m> x' 'x <a> <a>b' > text
is "$(tokenize -q --subwords spaces.json text)" '<a> <id7>
<a> <id8> <id7>
<a> <id8> Ġx
<a> <id8> <id8> Ġx
<a> <id7> <m> x
<a> <id8> <m> Ġx
x Ġ <a> <a> b'
# byte-level pieces are the text again, whatever it is; bytes that are no character are said to be
tokenize -q --subwords "$G/roberta.json" "$G/text" |
    detokenize -q --subwords "$G/roberta.json" > back; same back "$G/text"
is "$(printf 'caf\303\203 Ġx\n' | detokenize -q --subwords "$G/roberta.json")" \
    "$(printf 'caf\357\277\275 x')"
is "$(tokenize -q --subwords "$G/xlmr.json" one | detokenize -q --subwords "$G/xlmr.json")" \
    "$(cat one)"
# text without what normalisation changes comes back
tokenize -q --subwords "$G/unigram.model" one |
    detokenize -q --subwords "$G/unigram.model" > back; same back one
printf 'un ##der ##stand me\n' |
    detokenize -q --subwords "$G/cased.txt" > back; is "$(cat back)" "understand me"
# a folder that ckpt import made knows its own tokeniser
ckpt import -q -o m "$TOP/test/golden/interchange/xlmr"
is "$(echo 'ka le TIO' | tokenize -q --subwords m)" "$(echo 'ka le TIO' |
    tokenize -q --subwords m/sentencepiece.model)"
ckpt import -q -o b "$TOP/test/golden/interchange/bert"
is "$(echo 'kas lio, X' | tokenize -q --subwords b)" 'ka ##s lio [UNK] [UNK]'
# what cannot be read is refused
head -c 3000 "$G/unigram.model" > cut.model
# a model's own tokeniser knows nothing of Moses' options
fails 2 'subwords cuts text as its model does: without --aggressive' tokenize -a \
    --subwords "$G/unigram.model"
fails 2 'subwords cuts text as its model does: without --xlm' tokenize --xlm \
    --subwords "$G/unigram.model"
fails 2 'subwords cuts text as its model does: without --case-marker' tokenize --case-marker \
    --subwords "$G/unigram.model"
fails 2 'subwords does nothing else: without --uppercase' detokenize -u \
    --subwords "$G/unigram.model"
fails 2 'subwords does nothing else: without --uppercase' detokenize --case-marker \
    --subwords "$G/unigram.model"
fails 2 'case-marker-only joins no tokens, and has no --uppercase' detokenize --case-marker-only -u
fails 1 'cut.model: byte .*damaged' tokenize -q --subwords cut.model
: > empty.model; fails 1 'empty.model: holds no pieces' tokenize -q --subwords empty.model
# a component that is not read is named
component() {   # component OLD NEW WHAT: of roberta.json, OLD made NEW is refused for WHAT
    sed "s/$1/$2/" "$G/roberta.json" > t.json
    fails 1 "t.json: $3" tokenize -q --subwords t.json
}
component '"normalizer":null' '"normalizer":{"type":"Casefold"}' 'the normalizer Casefold is not'
component '"type":"ByteLevel"' '"type":"UnicodeScripts"' 'the pre-tokenizer UnicodeScripts is not'
component '"type":"BPE"' '"type":"Gram"' 'the model Gram is not supported'
component '"dropout":null' '"dropout":0.1' 'a dropout of merges is not supported'
component '"end_of_word_suffix":null' '"end_of_word_suffix":"<\/w>"' 'the end_of_word_suffix'
split='"pre_tokenizer":{"type":"Split","behavior":"Isolated","invert":false'
component '"pre_tokenizer":{' "$split"',"pattern":{"Regex":"[a[b]]"}},"was":{' \
    'the pattern \[a\[b\]\] is not supported'
component '"merges":\[' '"merges":[" a",' 'merge 0, " a", is of or into tokens that the'
component '"id":3,' '"id":1e300,' 'an added token without content or id'
mkdir plain; fails 1 'plain: has no file tokenizer, .*pieces.json' tokenize -q --subwords plain
fails 2 '--uncased needs --subwords' tokenize --uncased
