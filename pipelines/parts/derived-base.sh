# What the ablations of `derived` share: the language by SCALE, then the experiment.
languages en xx
part derived-values
case "$SCALE ${CORPUS-}" in
demo*) part derived-synth;;
paper*) part derived-paper;;
*wiki) part derived-wiki;;
*) part derived-english;;
esac
part derived
