# The CUDA side without a GPU: its sources compiled as plain C++ (test/cuda) train and translate
# like the CPU, as test/gpu/run.sh checks them on a GPU; what they wait for, and what is said where
# memory ends or the device is lost. (cli/cuda-ops, cuda-races: the operations.)
. "$TOP/test/cli/lib.sh"
build=$(dirname "$BIN")
export ISOGLOT_CUDA=$build/test/cuda/libisoglot-cuda.so
export ISOGLOT_CUBLASLT=$ISOGLOT_CUDA
export UNIT=$build/test/unit STEPS=10 DIM=32 LAYERS=1 TOKENS=100 SENTENCES=100 TRANSLATE=5
. "$TOP/test/gpu/checks.sh"

check_training_follows_the_cpu
check_bf16_training_follows_the_cpu
check_same_seed_same_bytes
check_translation_follows_the_cpu
# the search's steps are recorded and replayed, a batch after the other; where that fails, whatever
# the reason, they are called
translating_some() { ISOGLOT_EMULATE_COUNTS=$PWD/counts translate -q --model mt/last --src aa \
    --tgt bb --beam 3 --tokens 40 --device cuda --precision bf16 < some; }
translating_some > replayed || fail "a translation"
for what in instantiated replayed; do grep -q "^$what [1-9]" counts ||
    { cat counts; fail "no step was $what"; }; done
launched=$(sed -n 's/^launched //p' counts)
for call in begin launch end instantiate; do
    ISOGLOT_EMULATE_NO_GRAPHS=$call translating_some > called ||
        fail "a translation where a capture fails ($call)"
    same replayed called
    grep -q '^replayed 0' counts || { cat counts; fail "a graph that could not be ($call)"; }
done
ISOGLOT_CUDA_GRAPHS=0 translating_some > called
same replayed called
grep -q '^instantiated 0' counts || fail "ISOGLOT_CUDA_GRAPHS=0"
status=0; ISOGLOT_EMULATE_LOST=$((launched - 5)) translating_some > called 2> why || status=$?
is "$status $(grep -c . why)" "1 1" "a device that is lost while steps are replayed"
grep -q 'translate: GPU: uncorrectable ECC error encountered (replaying)' why ||
    { cat why; fail "the message"; }
# between two lines of the log a step does not wait for the device: twice the steps, as many waits
waits() { STEPS=$1 ISOGLOT_EMULATE_COUNTS=$PWD/waits "${@:2}" --log-every "$1" --valid-every 1000 \
    --out "waits.$1" 2> why || { cat why; fail "a run whose waits are counted"; }; rm -r "waits.$1"
    grep -E "^(stream|event)" waits; }
pretraining() { pretrain_on cuda float32 none --steps "$STEPS" "$@"; }
translating() { finetune -q --task mt -v vocab --parallel aa-bb=fwd,rev --layers 1 --dim 32 \
    --heads 4 --positions 32 --tokens 100 --accumulate 2 --steps "$STEPS" --device cuda "$@"; }
for what in pretraining translating; do
    waits 5 $what > few
    waits 10 $what > many
    grep -q '^stream [1-9]' few || { cat few; fail "$what: no wait was counted"; }
    same few many
done
# a gradient that is not finite: read at once, or steps later, the run ends the same, and nothing of
# the steps since is saved or logged
diverges() {
    fails 1 \
        "$1: the gradients of step [0-9]+ are not finite .* "\
"the newest checkpoint, of step [0-9]+, is from before" \
        pretrain_on cuda float32 "$1" \
        --optimizer lamb --lr 100 --warmup 0 --schedule constant --save-every 4 --steps 100 \
            --valid-every 100 --log-every "$2"
    sed "s/$1//" fails.err > "$1.said"
}
diverges at-once 1
diverges later 90
same at-once.said later.said
is "$(ls later/checkpoints)" "$(ls at-once/checkpoints)" \
    "checkpoints of a run whose gradient is not finite"
[ ! -s later/log.jsonl ] || fail "a line of the log from after a gradient that was not finite"
# what it does not have
fails 1 'back-precision int8 is for the processor; use --device cpu' finetune -q --task unmt \
    -v vocab --train aa=aa.shd --train bb=bb.shd --layers 1 --dim 32 --heads 4 --tokens 100 \
    --steps 1 --device cuda --back-precision int8 --out none
[ ! -e none ] || fail "a run that could not start left a folder"
# without being told
pretrain_on auto float32 auto --steps 1 2> why || { cat why; fail "auto"; }
# a step's first gradients are written and not added to zeros: also with three micro-batches and
# matrices of 64 Ki and more, the CPU's training
for device in cpu cuda; do DIM=160 pretrain_on $device float32 first.$device --accumulate 3; done
follows 0.005 first.cpu first.cuda || fail "first gradients"
# heads of 32 / 4 have no tensor cores, which is said in one line
pretrain --train aa=aa.shd -v vocab --layers 1 --dim 32 --heads 4 --tokens 100 --steps 1 \
    --valid-every 1 --device cuda --precision bf16 --out heads 2> why ||
    { cat why; fail "heads of 8"; }
is "$(grep -c 'attention of heads of 8 is computed in float32, without tensor cores; heads of 32, '\
'64, 96 and 128 have them' why)" 1 "heads without tensor cores"

# the table of test/gpu/decide.sh: a row for each of a group's numbers
BENCH=$build/test/bench SMALL=1 ISOGLOT_EMULATE_SM=90 bash "$TOP/test/gpu/decide.sh" > decided ||
    { cat decided; fail "decide.sh"; }
rows() { grep -cP "^$1\\t[^\\t]+\\t$2\\t" decided; }
is "$(rows A1 passed) $(rows A2 '[\d.]+') $(rows B '[\d.]+') $(rows C1 '[\d.]+, \d+%') $(rows D1 \
    '[\d.]+, \d+%') $(rows 'E.' passed)" "2 4 18 1 2 2" "decide.sh's rows"

# memory that ends: what was wanted, what there is, what helps; nothing half-written
export ISOGLOT_EMULATE_MEMORY=60000000
fails 1 \
    "this run needs [0-9.]+ [MG]iB of the GPU's memory and 25 MiB are free; "\
"--tokens [0-9]+ --accumulate [0-9]+ would need" \
    pretrain_on cuda float32 none --tokens 20000
[ ! -e none ] || fail "a run that could not begin left a folder"
unset ISOGLOT_EMULATE_MEMORY
# a device that is lost in the middle: one line, and the checkpoint before it is whole
status=0; ISOGLOT_EMULATE_LOST=2500 pretrain_on cuda float32 lost --save-every 2 --steps 1000 2> \
    why || status=$?
is $status 1 "status of a run whose device was lost"
grep -q 'pretrain: GPU: uncorrectable ECC error encountered' why || { cat why; fail "the message"; }
[ "$(wc -l < why)" = 1 ] || { cat why; fail "more than one line"; }
ckpt info lost/last > info || fail "the checkpoint is damaged"
! grep -qi nan lost/log.jsonl || fail "numbers of a lost device in the log"
