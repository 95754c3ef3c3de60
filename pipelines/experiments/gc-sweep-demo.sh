# parts/gc-sweep.sh on two invented languages.
part synth
DOT=16
part gc-sweep
