# parts/gc-sweep.sh on two invented languages.
part synth
part gc-sweep
