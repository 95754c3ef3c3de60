# Code switching (TCS-MLM, SCS-MLM; Lu, Lu and Zhang 2023) on English and German captions: models
# that go on from unmt-deen's MLM, in its run folder, by dictionary, similarity and retrieval. The
# paper's tables of tasks stand beside; ours of real text are tasks-deen's, and those of TEXT=wiki.
FOLDER=unmt-deen
[ "$CORPUS" != wiki ] || part wiki-looks
languages en de
part captions-start
part $CORPUS
[ "$CORPUS" != wiki ] || { part tasks-wiki; setting CS_SENTENCES "test tatoeba"; }
if [ "$B" = ro ]; then setting CS_SENTENCES test; else setting CS_SENTENCES "test tatoeba"; fi
case " $CS_SENTENCES " in *" tatoeba "*) part tatoeba;; esac
setting CS_SPECIFIC 10
[ $SCALE = smoke ] || setting CS_TOKENS 2500
setting CS_STEPS 1000
setting CS_TASKS ""
part code-switch
