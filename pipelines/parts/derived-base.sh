# What the ablations of `derived` share: the language by SCALE, then the experiment.
languages en xx
part derived-values
if [ $SCALE = demo ]; then part derived-synth; else part derived-english; fi
part derived
