# parts/gc-fail.sh on two invented languages.
part synth
part gc-fail
