# Documents of English that is at hand, one sentence per line with an empty line behind each
# document: EWT's, and sections of WikiText-2. Every 50th is for validation, the one after it for
# testing. Questions of XQuAD: articles 1 to XQUAD_MOST, 37 to 40 and 41 to 48.
setting MONO_DOCUMENTS 1000000
setting XQUAD_MOST 36
QUESTIONS=xquad
published raw.ewt  raw/ewt ud/en_ewt-train.conllu
for p in valid test; do published raw.wikitext.$p  raw/wikitext.$p wikitext2/$p.txt; done
stage raw.documents  raw/documents : raw/ewt raw/wikitext.{valid,test} : \
    "{ awk '/^# newdoc/ { print \"\" } sub(/^# text = /, \"\")' raw/ewt && echo &&
       cat raw/wikitext.valid raw/wikitext.test |
           sed 's/&lt; *unk *&gt;/unk/g; s/<unk>/unk/g; s/ @\\([-,.]\\)@ /\\1/g' |
           sed 's/&quot;/\"/g; s/&apos;/'\\''/g; s/&amp;/\\&/g' |
           awk '/^ *= / { print \"\"; sub(/^ *(= )+[^=]*(= ?)+/, \"\") } NF'; } > raw/documents"
stage raw.parts  raw/{train,valid,test}.$A : raw/documents : \
    "awk -v RS= -v N=$MONO_DOCUMENTS -v A=raw/train.$A -v B=raw/valid.$A -v C=raw/test.$A '
        NR <= N { print \$0 \"\\n\" > (NR % 50 == 0 ? B : NR % 50 == 1 ? C : A) }' raw/documents"
published raw.xquad  raw/xquad xquad/xquad.$A.json
for p in "train 1 $XQUAD_MOST" "valid 37 40" "test 41 48"; do
    set -- $p
    stage xquad.$1  task/xquad/$1.json : raw/xquad $P/qa-part.awk : \
        "awk -v from=$2 -v to=$3 -f $P/qa-part.awk raw/xquad > task/xquad/$1.json"
done
