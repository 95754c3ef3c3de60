# ckpt import and export: what they write, what they refuse, and imported models in the other
# programs. That the numbers are transformers' is test/unit/interchange.c.
. "$TOP/test/cli/lib.sh"
G=$TOP/test/golden/interchange
ckpt import -q -o bert --lang-code xx "$G/bert"
fails 2 "lang-code: 'e n' is no language's code" ckpt import -o none --lang-code 'e n' "$G/bert"
is "$(head -n 2 bert/vocab | tr '\n' ' ')" '[unused1] ka ' \
    'specials come out of the middle, the rest keeps its order'
is "$(tail -n 2 bert/vocab | tr '\n' ' ')" '<id30> <id31> ' 'rows without a token'
ckpt export -q -o hf bert
is "$(head -n 6 hf/vocab.txt |
    tr '\n' ' ')" '[PAD] [unused1] [UNK] [CLS] [SEP] [MASK] ' 'and go back where they were'
# tokens beyond vocab.txt: a row has their name, and their file comes back
cp -r "$G/bert" more; chmod -R u+w more; echo '{"wug": 30}' > more/added_tokens.json
ckpt import -q -o added more
is "$(tail -n 2 added/vocab | tr '\n' ' ')" 'wug <id31> '
ckpt export -q -o added.hf added; same added.hf/added_tokens.json more/added_tokens.json
# an id in the row that another special does not have: one beyond the table
cp -r bert far; chmod -R u+w far; rm far/model.sum
sed -i 's/"bos": [0-9]*/"bos": 31/; s/"mask": [0-9]*/"mask": -1/' far/pieces.json
fails 1 'far/pieces.json: id 31 is beyond the 31 words' ckpt export -q -o none far
# mBART or mBART-50? A damaged file that says so is no file that says nothing
mkdir damaged; cp "$G/mbart/config.json" damaged
cp "$TOP/test/golden/subwords/unigram.model" damaged/sentencepiece.bpe.model
echo '{' > damaged/tokenizer_config.json
fails 1 'damaged/tokenizer_config.json:[0-9]*: not valid JSON' ckpt import -q -o none damaged
ckpt import -q -o xlm "$G/xlm"
same xlm/codes "$G/xlm/merges.txt"
is "$(echo 'ka le mu' | bpe-apply -q -c xlm/codes)" 'ka le mu'
is "$(sed -n '/^ka$/=;/^l@@$/=;/^<special3>$/=' xlm/vocab | wc -l)" 3
ckpt export -q -o hf2 xlm
for t in '"ka</w>"' '"l"' '"<special3>"'; do grep -qF "$t" hf2/vocab.json ||
    fail "vocab.json lacks $t"; done
ckpt info bert > info; grep -q '"token_types": 2' info

# an imported model is trained on: --init gives its shape, its tokeniser goes along, and it can be
# exported again
printf 'ka lio ##s\nmu ka ne ##t\nta te\n%.0s' {1..20} > text
binarize -q -v bert/vocab -l xx < text > xx.shd
pretrain -q --init bert --train xx=xx.shd --valid xx=xx.shd -v bert/vocab --tokens 100 --steps 3 \
    --lr 1e-3 --out run
same run/last/pieces.json bert/pieces.json
is "$(echo 'kas lio' | tokenize -q --subwords run/last)" 'ka ##s lio'
ckpt export -q -o trained run
is "$(cmp -s trained/model.safetensors hf/model.safetensors && echo same || echo moved)" moved
same trained/config.json hf/config.json
pretrain -q --init bert --train xx=xx.shd -v bert/vocab --tokens 100 --steps 2 --lr 1e-3 \
    --out broken
pretrain -q --init bert --train xx=xx.shd -v bert/vocab --tokens 100 --steps 3 --lr 1e-3 \
    --out broken --resume
same run/last/weights.safetensors broken/last/weights.safetensors
same run/last/pieces.json broken/last/pieces.json

# a vocabulary without codes, of words or of pieces, comes back as it was, and so does what it means
printf 'ka 9\nl@@ 8\nio 7\nmu 6\n' > plain
for l in aa bb; do printf 'ka l@@ io\nmu ka\n%.0s' {1..20} | binarize -q -v plain -l $l -o $l.shd
done
pretrain -q --train aa=aa.shd --train bb=bb.shd -v plain --layers 1 --dim 16 --heads 2 --ffn 64 \
    --positions 16 --tokens 60 --steps 1 --out plainrun
ckpt export -q --to xlm -o plainhf plainrun; ckpt import -q -o plainback plainhf
cmp plainback/vocab <(cut -d " " -f 1 plain) || fail "words are spelt otherwise"
for m in plainrun plainback; do
    embed -q -m $m -o $m.vec
    echo 'mu l@@ io' | embed -q -m $m --layer -1 --text - --of sentences --lang aa -o $m.text
done
same plainback.vec plainrun.vec
same plainback.text plainrun.text
# one language has no table in XLM's layout, either: its vector is in the positions
pretrain -q --train aa=aa.shd -v plain --layers 1 --dim 16 --heads 2 --ffn 64 --positions 16 \
    --tokens 60 --steps 1 --lr 1e-2 --warmup 0 --out onerun
ckpt export -q --to xlm -o onehf onerun; ckpt import -o oneback onehf 2> notes
is "$(cat notes)" ""
echo 'mu l@@ io' > line
embed -q --layer -1 --text line --of sentences -m onerun --lang aa > one.vec
embed -q --layer -1 --text line --of sentences -m oneback > back.vec
# (added up in another order)
awk 'NR == FNR { for (i = 1; i <= NF; i++) x[i] = $i; next }
    { for (i = 1; i <= NF; i++) if (($i - x[i]) ^ 2 > 1e-10) exit 1 }
    END { exit NF != 17 }' one.vec back.vec || fail "other states without the table"
# where the encoder alone is written, that is told
for l in bert xlm-roberta xlm; do
    ckpt export --to $l -o one.$l onerun 2> notes
    is "$(cut -c 7-50 notes)" "$([ $l = xlm ] || printf '%.44s' \
        "$l's prediction head is a transformation that this model lacks")"
    # and nothing of a head is there
    is "$(grep -aoE '"(lm_head|cls|pred_layer)[a-z_.]*"' one.$l/model.safetensors || true)" \
        "$([ $l != xlm ] || echo '"pred_layer.proj.bias"')"
done
# a tokeniser of more tokens than the table has rows
n=$(wc -l < hf/vocab.txt); cp -r hf short
sed -i "s/\"vocab_size\":\s*[0-9]*/\"vocab_size\": $((n - 1))/" short/config.json
fails 1 "^ckpt: short/config.json: \"vocab_size\" is $((n - 1)), but the tokeniser has ids up to "\
"$((n - 1))\$" ckpt import -o none short
# its tokenizer.json reads what stands between spaces, framed as the layout has it: XLM's specials
# are 0 to 4, and BERT's [PAD] [UNK] [CLS] [SEP] [MASK]; there a second text has a type of its own
ckpt export -q --to bert --src aa -o plainbert plainrun
reads() {   # FOLDER TYPE BOS EOS SPECIALS: in the order of their ids
    local frame="{\"SpecialToken\":{\"id\":\"$3\",\"type_id\":0}},"
    local end="{\"SpecialToken\":{\"id\":\"$4\",\"type_id\":0}}" id=0 added= vocab= s
    frame+="{\"Sequence\":{\"id\":\"A\",\"type_id\":0}},$end"
    for s in ${*:5}; do
        added+=",{\"id\":$id,\"content\":\"$s\",\"single_word\":false,\"lstrip\":false,"
        added+='"rstrip":false,"normalized":false,"special":true}'
        vocab+="\"$s\":$id,"; id=$((id + 1))
    done
    number() { echo "$*" | tr ' ' '\n' | grep -nxF -- "$word" | sed 's/:.*//'; }
    word=$3; local bos=$(($(number ${*:5}) - 1)); word=$4; local eos=$(($(number ${*:5}) - 1))
    is "$(tr -d '\n\t' < $1/tokenizer.json | sed 's/}, {/},{/g')" '{"version":"1.0",'\
'"truncation":null,"padding":null,"added_tokens":['"${added#,}"'],"normalizer":null,'\
'"pre_tokenizer":{"type":"Split","pattern":{"String":" "},"behavior":"Removed","invert":false},'\
'"post_processor":{"type":"TemplateProcessing","single":['"$frame"'],"pair":['"$frame"','\
'{"Sequence":{"id":"B","type_id":'"$2}},$end"'],"special_tokens":{'"\"$3\":{\"id\":\"$3\","\
"\"ids\":[$bos],\"tokens\":[\"$3\"]},\"$4\":{\"id\":\"$4\",\"ids\":[$eos],"\
"\"tokens\":[\"$4\"]}}},\"decoder\":null,\"model\":{\"type\":\"WordLevel\","\
"\"vocab\":{$vocab\"ka\":5,\"l@@\":6,\"io\":7,\"mu\":8},\"unk_token\":"\
"\"$(echo "${*:5}" | grep -oiE '\S*unk\S*')\"}}" "$1/tokenizer.json"
}
reads plainhf 0 '<s>' '</s>' '<s>' '</s>' '<pad>' '<unk>' '<special1>'
reads plainbert 1 '[CLS]' '[SEP]' '[PAD]' '[UNK]' '[CLS]' '[SEP]' '[MASK]'
tr -d '\n\t' < plainhf/tokenizer_config.json > got
is "$(cat got)" '{"tokenizer_class":"PreTrainedTokenizerFast","bos_token":"<s>",'\
'"eos_token":"</s>","pad_token":"<pad>","unk_token":"<unk>","mask_token":"<special1>",'\
'"cls_token":"</s>","sep_token":"</s>","model_max_length":16}'
is "$(tr -d '\n\t' < plainbert/tokenizer_config.json | grep -o '"cls_token.*')" \
    '"cls_token":"[CLS]","sep_token":"[SEP]","model_max_length":16}'
# and BERT's own files say how they cut
is "$(tr -d '\n\t' < hf/tokenizer_config.json | sed 's/,"bos.*//')" \
    '{"do_lower_case":false,"strip_accents":false,"tokenize_chinese_chars":true,'\
'"tokenizer_class":"BertTokenizer"'
is "$(tr -d '\n\t' < hf2/tokenizer_config.json | sed 's/,"bos.*//')" \
    '{"do_lowercase_and_remove_accent":true,"tokenizer_class":"XLMTokenizer"'

# a translator that starts from it, and an average, take it along too
finetune -q --task mt --model bert --parallel xx-yy=text,text --tokens 100 --steps 1 --out mt
same mt/last/pieces.json bert/pieces.json
ckpt average -q -o mean run broken; same mean/pieces.json bert/pieces.json
# a slash behind the name; somebody's folder OUT.tmp is not ours; nothing else is left beside it
mkdir slash slash/out.tmp slash/to.tmp slash/in.tmp
ckpt average -q -o slash/out/ run broken; ckpt export -q -o slash/to/ bert
ckpt import -q -o slash/in// slash/to/
fails 1 'already exists' ckpt average -o slash/out run
fails 1 'nowhere' ckpt average -o slash/new run nowhere
is "$(ls -A slash | tr '\n' ' ')" "in in.tmp out out.tmp to to.tmp "
same slash/out/weights.safetensors mean/weights.safetensors
ckpt import -q -o xlmr "$G/xlmr"; ckpt average -q -o mean2 xlmr
same mean2/sentencepiece.model xlmr/sentencepiece.model

# rows behind the tokeniser's last word are counted
ckpt import -o padded "$G/bert" 2> notes
is "$(cat notes)" "ckpt: $((32 - $(wc -l < "$G/bert/vocab.txt"))) of 32 embeddings have no token\
 (padding): they are never read"

# task heads: what they are called and what becomes of them
ckpt import -o nli "$G/bert_nli" 2> notes
is "$(cat notes)" 'ckpt: its head is called nli and has 3 outputs'
ckpt import -q --head pairs -o pairs "$G/bert_nli"; ckpt info pairs > info
grep -q '"name": "pairs", "hidden": "tanh", "outputs": 3' info
ckpt import -o bare --head none "$G/bert_nli" 2> notes
grep -q 'were left out (bert.pooler.dense.bias, ...)' notes
ckpt info bare > info; grep -q task_heads info && fail 'a head nobody asked for'
ckpt export -o nli-hf nli 2> notes
is "$(cat notes)" "ckpt: head nli is written; the language model's output layer is left out"
grep -q '"1":	"entailment"' nli-hf/config.json; grep -q '"entailment":	1' nli-hf/config.json
ckpt export -q --head none -o nli-bare nli; grep -q '"BertModel"' nli-bare/config.json
ckpt import -q -o linear "$G/xlm_pairs"
fails 1 \
    'BertForSequenceClassification has a dense layer with tanh '\
'below its output layer; head class is another one \(finetune --head tanh makes one, '\
'--to xlm writes this one\)' \
    ckpt export -o x --to bert --src de linear
ckpt import -q -o number "$G/roberta_class"
# what cuts text is made of vocab.json and merges.txt, and kept under its own name
cp -r "$G/roberta_class" merged; chmod -R u+w merged; echo '#version: 0.2' > merged/merges.txt
ckpt import -q -o merged.ours merged
is "$(ls merged.ours number | grep -c '^tokenizer.json$')" 1
grep -q '"type": *"BPE"' merged.ours/tokenizer.json && [ ! -e merged.ours/sentencepiece.model ]
fails 1 \
    'XLMForSequenceClassification has no layer below its output layer; head class is another one' \
        ckpt export -o x --to xlm number
fails 1 'no head ner; it has nli' ckpt export -o x --head ner nli
fails 1 'config.json: --head nli names a task head, and the model has none' ckpt import -o x \
    --head nli "$G/bert"
fails 1 'config.json: --head class names a task head, and' ckpt import -o x --head class "$G/bart"
fails 1 'lang-code: xx is given twice' ckpt import -o x --lang-code yy --lang-code xx \
    --lang-code xx "$G/bert"
fails 1 'head sentiment: no task has this name' ckpt import -o x --head sentiment "$G/bert_nli"
fails 1 '--head ner does not match what BertForSequenceClassification computes' ckpt import -o x \
    --head ner "$G/bert_nli"

# the model card: what it is for, how it is opened, what it was learnt from, where there was a run
card() {   # FOLDER TITLE TAG CLASS SIZES
    is "$(sed -n 's/^# //p; s/^pipeline_tag: //p; s/^library_name: //p' $1/README.md |
        grep -v '^yours' | paste -sd '|')" "transformers|$3|$2" "$1: what it is"
    is "$(sed -n 's/^from transformers import AutoTokenizer, //p' $1/README.md)" $4 "$1: its class"
    is "$(sed -n 's/^model = \(.*\).from_pretrained(.*/\1/p' $1/README.md)" $4 "$1: its class"
    grep -qx "$5\." $1/README.md || fail "$1: $(grep layers $1/README.md)"
}
for m in bert_qa roberta_ner; do ckpt import -q -o $m "$G/$m"; ckpt export -q -o $m-hf $m; done
card hf 'A bert model' fill-mask AutoModel \
    '2 layers of 16, 2 heads, 32 tokens, sequences of at most 12'
card hf2 'A xlm model' fill-mask AutoModel \
    '2 layers of 16, 2 heads, 25 tokens, sequences of at most 12'
card nli-hf 'A bert model with a task head' text-classification \
    AutoModelForSequenceClassification '1 layers of 16, 2 heads, 30 tokens, .* at most 12'
card nli-bare 'A bert model' feature-extraction AutoModel '1 layers of 16.*'
card bert_qa-hf 'A bert model with a task head' question-answering AutoModelForQuestionAnswering \
    '1 layers of 16.*'
card roberta_ner-hf 'A roberta model with a task head' token-classification \
    AutoModelForTokenClassification '1 layers of 16, 2 heads, 29 tokens.*'
is "$(sed -n '/^language:/,/^lib/p' hf/README.md | paste -sd ' ')" \
    'language: - "xx" library_name: transformers'
if grep -qE '^language:|^## (Data|Options)|^Trained|reads the model.s tokens' nli-hf/README.md; then
    fail "a card says what nobody knows"
fi
grep -qx "Trained by isoglot's .pretrain.: mlm." trained/README.md || fail "no word of the run"
is "$(sed -n '/^## Options/,$p' trained/README.md | sed '1,3d;$d' | cmp - run/run.config)" ""
is "$(sed -n '/^## Data/,/^## Options/p' trained/README.md | grep -cE '^\| .(train|valid)')" 2
is "$(grep -c '^## Data' trained/README.md)" 1
cp xx.shd kept.shd; rm xx.shd; ckpt export -q -o gone run; mv kept.shd xx.shd
is "$(grep '^| .train' gone/README.md)" '| `train` | `xx.shd` | not there any more |'
is "$(grep '^| .train' trained/README.md)" \
    "| \`train\` | \`xx.shd\` | $(sed -nE '/^. .train/s/.*([0-9a-f]{16} .)$/\1/p' trained/*.md)"

# refused, with a line that says why; nothing is left behind
edit() { rm -rf broken-hf; cp -r "$G/$1" broken-hf; sed -i "$2" broken-hf/config.json; }
# FOLDER SED PATTERN: its config.json so changed is refused with this; with a line about config.json
refuse() { edit "$1" "$2"; fails 1 "$3" ckpt import -o x broken-hf; }
refuse_config() { refuse "$1" "$2" "config.json: $3"; }
refuse bert 's/"hidden_act": "gelu"/"hidden_act": "quick_gelu"/' \
    '"quick_gelu" is not supported; gelu \(the exact one\), gelu_new \(by tanh\) and relu are'
refuse_config xlmr 's/"hidden_act": "gelu"/"hidden_act": "gelu_new"/' \
    'xlm-roberta has the exact gelu in its output layer, whatever "hidden_act" says'
# GELU by tanh, under each of its names; it goes where it came from and nowhere else
ckpt import -q -o tanh "$G/bert_tanh"; ckpt info tanh > info
grep -q '"activation": "gelu-tanh"' info
ckpt export -q -o tanh-hf tanh
grep -q '"hidden_act":	"gelu_new"' tanh-hf/config.json
fails 1 'roberta has the exact gelu in its output layer.*this model.s activation is gelu_new' \
    ckpt export -o x --to roberta tanh
fails 1 'xlm has relu and the exact gelu' ckpt export -o x --to xlm --src de tanh
for name in gelu_pytorch_tanh gelu_fast gelu_accurate; do
    edit bert_tanh "s/gelu_new/$name/"; ckpt import -q -o "$name" broken-hf
    same "$name/config.json" tanh/config.json
done
refuse bert 's/"model_type": "bert"/"model_type": "gpt2"/' \
    '"gpt2" is not supported'
refuse bert 's/"hidden_size": 16/"hidden_size": 18/' \
    'has the shape \[32, 16\]; config.json says \[32, 18\]'
refuse bert 's/"vocab_size": 32/"vocab_size": 9/' \
    '"vocab_size" is 9'
refuse bert 's/^/x/' 'config.json:1: not valid JSON'
refuse bert '$s/$/ x/' 'something follows the JSON value'
refuse bert 's/"hidden_size": 16/&, &/' \
    'config.json:[0-9]+: the key "hidden_size" is given twice'
refuse_config bert 's/"hidden_size": 16/"hidden_size": "16"/' '"hidden_size" is not a number'
refuse_config bert '/"hidden_size"/d' 'has no "hidden_size"'
refuse_config bert 's/"hidden_size": 16/"hidden_size": 16.5/' \
    '"hidden_size" is 16.5, not a whole number'
refuse_config bert 's/"hidden_size": 16/"hidden_size": -16/' \
    '"hidden_size" is -16, not a whole number'
refuse_config bert 's/"pad_token_id": [0-9]*/"pad_token_id": -1/' '"pad_token_id" is not an id'
refuse_config bert 's/"pad_token_id": [0-9]*/"pad_token_id": 0.5/' '"pad_token_id" is not an id'
refuse_config bert 's/"tie_word_embeddings": true/"tie_word_embeddings": 1/' \
    '"tie_word_embeddings" is neither true nor false'
# an output layer of its own that is not there would be guessed to be the embeddings
untied='s/"tie_word_embeddings": true/"tie_word_embeddings": false/'
refuse bert "$untied" 'is false and cls.predictions.decoder.weight is not there'
refuse bart "$untied" 'is false and lm_head.weight is not there'
refuse_config bert 's/"model_type"/"position_embedding_type": "relative_key", &/' \
    '"position_embedding_type": "relative_key" is not supported'
refuse_config bert '/"model_type"/d' 'has no "model_type"'
refuse_config bart 's/"decoder_layers": [0-9]*/"decoder_layers": 0/' '"decoder_layers" is 0'
refuse_config bart 's/"decoder_attention_heads": [0-9]*/"decoder_attention_heads": 1/' \
    'encoder_attention_heads and decoder_attention_heads differ'
edit bert ''; echo '[1]' > broken-hf/config.json
fails 1 'config.json: not a JSON object' ckpt import -o x broken-hf
edit xlmr 's/^//'; sed -i 's/"weight_map": {/&"weight_map": 1, "weight_map": 2,/' \
    broken-hf/model.safetensors.index.json
fails 1 'index.json:[0-9]+: the key "weight_map" is given twice' ckpt import -o x broken-hf
edit bert ''; rm broken-hf/vocab.txt; fails 1 'has no tokeniser file' ckpt import -o x broken-hf
edit bert ''; rm broken-hf/model.safetensors
fails 1 'no model.safetensors or pytorch_model.bin' ckpt import -o x broken-hf
edit xlmr ''; rm broken-hf/model-00002-of-00003.safetensors
fails 1 'model-00002-of-00003' ckpt import -o x broken-hf
refuse bart 's/"decoder_ffn_dim": 64/"decoder_ffn_dim": 32/' \
    'decoder_ffn_dim differ'
refuse bert_nli 's/"2": "neutral"/"3": "neutral"/' \
    '"id2label" is not a label for each number from 0 to 2'
refuse bert_nli 's/"2": "neutral"/"2": "entailment"/' \
    '"id2label": head nli: label "entailment" appears twice'
refuse bert_nli 's/"model_type"/"problem_type": "multi_label_classification", &/' \
    'several labels at once'
refuse xlm_pairs 's/"summary_type": "first"/"summary_type": "mean"/' \
    'not linear on the first state'
refuse bert_nli 's/"2": "neutral"/"2": "neutral", "3": "other"/' \
    'classifier.weight has the shape \[3, 16\]; config.json says \[4, 16\]'
edit bert_bare ''; LC_ALL=C sed -i 's/OrderedDict/OrderedDicT/' broken-hf/pytorch_model.bin
fails 1 'asks for collections.OrderedDicT, which a state dict does not need; nothing was executed' \
    ckpt import -o x broken-hf
edit bert_bare ''; head -c 9000 "$G/bert_bare/pytorch_model.bin" > broken-hf/pytorch_model.bin
fails 1 'cut short' ckpt import -o x broken-hf
[ ! -e x ] && [ ! -e x.tmp ] || fail 'something was left behind'
fails 1 'hf: already exists' ckpt export -o hf bert
fails 1 'is for encoder-decoders' ckpt export -o x --to bart bert
fails 1 'xlm has no token types' ckpt export -o x --to xlm bert
fails 1 'unknown layout' ckpt export -o x --to gpt2 bert
fails 1 'name the one that is folded' ckpt export -o x --to xlm-roberta xlm
fails 1 'language zz is not' ckpt export -o x --to xlm-roberta --src zz xlm
fails 2 'needs -o OUT' ckpt import "$G/bert"
# an option of another command is refused, and nothing is written
while read -r command option; do
    # shellcheck disable=SC2086
    fails 2 "^ckpt: --${option%% *} is for ckpt .*, not for ckpt $command\$" \
        ckpt $command -o x --$option bert
done <<'END'
import to bert
import tgt en
average src en
average lang-code en
average head none
average tensors
import mask-vocab
export lang-code en
END
fails 2 '--output is for ckpt average, import or export, not for ckpt info' ckpt info -o x bert
[ ! -e x ]

# a run that starts from an imported model has its shape: token types (BERT), scaled embeddings and
# pre-norm (mBART); only the languages are the data's
ckpt import -q -o types "$TOP/test/golden/predict/bert_nli"
paste <(cut -f 1,2 "$TOP/test/golden/predict/pairs.in") \
    <(cut -f 1 "$TOP/test/golden/predict/pairs.out") > labelled
finetune -q --task nli --model types --train en=labelled --steps 0 --max-unknown 1 --out typed
shape() { grep -vE '"(decoder_langs|languages)"' "$1/config.json"; }
same <(shape types) <(shape typed/last)
ckpt import -q -o scaled "$G/mbart"
# a decoder that starts with <s>, and one that does not
begins() { ckpt import -o begins "$1" 2>&1 | sed -n 's/.*decoder starts with \([^,]*\),.*/\1/p'
    rm -r begins; }
cp -r "$G/mbart" starts; chmod -R u+w starts
sed -i 's/"decoder_start_token_id": 0/"decoder_start_token_id": 2/' starts/config.json
is "$(begins "$G/mbart") $(begins starts)" ' id 2'
grep -q '"scale_embed": 4,' scaled/config.json
cut -d ' ' -f 1 scaled/vocab | sed -n 6,9p > some
finetune -q --task mt --model scaled --parallel en-ro=some,some --steps 0 --max-unknown 1 \
    --out goes-on
same <(shape scaled) <(shape goes-on/last)
