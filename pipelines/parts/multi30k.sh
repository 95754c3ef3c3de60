# Captions of Multi30k in two of its languages, the standard split: A takes training lines 1 to
# 14,500, B 14,501 to 29,000, so that no sentence has its translation in the training data; val
# picks the model, test_2016_flickr scores it. TEXT=task2 adds the five captions that were written
# about each of the same images in either language, without a translation of each other: lines that
# are a multiple of APART apart describe one image (counts.sh), and the FIRST lines are those of the
# standard split, which the test's are like (pseudo.sh).
setting TEXT task1
half_A="sed -n '1,14500p'" half_B="sed -n '14501,29000p'"
case $TEXT in
task1)
    published raw.train.$A  raw/train.$A multi30k/train.$A "$half_A"
    published raw.train.$B  raw/train.$B multi30k/train.$B "$half_B";;
task2)
    FOLDER+=-task2
    setting APART 14500 none
    setting FIRST 14500 none
    for l in $A $B; do
        half=$half_A files="raw/task1.$l"
        [ $l = $A ] || half=$half_B
        published raw.task1.$l  raw/task1.$l multi30k/train.$l "$half"
        for n in 1 2 3 4 5; do
            published raw.task2.$n.$l  raw/task2.$n.$l multi30k/task2/train.$n.$l "$half"
            files+=" raw/task2.$n.$l"
        done
        quick raw.train.$l  raw/train.$l : $files : "cat $files > raw/train.$l"
    done;;
*) refuse "TEXT=$TEXT" "task1 or task2";;
esac
for l in $LANGS; do
    published raw.valid.$l  raw/valid.$l multi30k/val.$l
    published raw.test.$l   raw/test.$l multi30k/test_2016_flickr.$l
done
part gold
