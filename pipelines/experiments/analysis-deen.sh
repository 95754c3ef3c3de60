# What the models of unmt-deen know of one another's words and sentences, with sentences of Tatoeba
# and questions of our own. It works in unmt-deen's run folder.
FOLDER=unmt-deen
[ $CORPUS != wikipedia ] || FOLDER=analysis-deen     # other models than unmt-deen's
languages en de
part captions-start
part $CORPUS
part tatoeba
SENTENCES="tatoeba test"
[ ! -f "$own/analogies-$B$A.txt" ] || questions=$P/analogies-$B$A.txt
# kings and queens of Table 3; captions have boys and girls
if [ "$A$B" = ende ]; then
    kings="boy,junge man,mann woman,frau girl,mädchen"
    [ $CORPUS = multi30k ] || kings="king,könig man,mann woman,frau queen,königin"
    # the first lines of Wikipedia have no queens
    [ "$SCALE $CORPUS" != "smoke wiki" ] || kings=
    # as German spells nouns
    [ -z "$cased" ] || kings=$(sed 's/,./\U&/g' <<< "$kings")
    # frequent words of stand-in.awk
    [ -z "${REHEARSE-}" ] || kings="enfi,defi engo,dego enku,deku ende,dede"
    paper A 2 3
    # words whose counts section 3.3 compares
    company="ist die|is the|is a|locally known"
fi
part analysis
