# The whole chain of unsupervised translation on two invented languages.
part synth
part translation
