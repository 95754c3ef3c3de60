# The same of English and German, in unmt-deen's run folder, with sentences of Tatoeba and questions
# of our own beside.
FOLDER=unmt-deen
languages en de
part $CORPUS
part tatoeba
SENTENCES="tatoeba test"
[ ! -f "$own/analogies-$B$A.txt" ] || questions=$P/analogies-$B$A.txt
part analysis
