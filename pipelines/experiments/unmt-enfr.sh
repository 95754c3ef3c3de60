# Unsupervised translation, English and French, as unmt-deen (Lample et al. 2018: 32.76 and 32.07
# with vectors of Wikipedia's text).
languages en fr
part captions-start
part $CORPUS
part translation
if [ $SCALE = paper ]; then paper B 5; else paper L 2; fi
