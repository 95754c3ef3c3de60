# SIGINT and SIGTERM in every phase of cooc-count and cooc-merge: the process ends by the signal,
# and no output and no temporary file is left. Which phase a process is in is read from the files it
# has open (/proc), while it is stopped; the signal is sent only in the phase that was wanted, so
# each is really hit.
. "$TOP/test/cli/lib.sh"
[ -d /proc/self/fdinfo ] || { echo "there is no /proc to read phases from"; exit 77; }
M=24M; [ -z "${ISOGLOT_TEST_SANITIZED:-}" ] || M=40M
mkdir tmp
awk 'BEGIN { srand(3); for (i = 0; i < 20000; i++) { s = "";
    for (k = rand() * 30; k > 0; k--) s = s " w" int(exp(rand() * 8));
        print substr(s, 2) } }' > part
for i in $(seq 24); do cat part; done > text
cooc-count -q part | cooc-query --vocab - > v
cooc-count -q -v v -w 5 text > want.cooc
mkfifo pipe

# phase PID: what its open files say: of the temporary files in tmp, unnamed as they are, how many
# there are; of the text, whether it was read to the end; of the output, whether anything was
# written
phase() {
    local fd to pos temporary=0 text= out=0
    for fd in /proc/$1/fd/*; do
        to=$(readlink "$fd" 2> /dev/null) || continue
        case $to in
        *"/tmp/"*"(deleted)") temporary=$((temporary + 1));;
        */text) pos=$(sed -n 's/^pos:[[:space:]]*//p' /proc/$1/fdinfo/"${fd##*/}" 2> /dev/null) ||
            continue; text=${pos:-0};;
        *killed*tmp) out=$(stat -Lc %s "$fd" 2> /dev/null || echo 0);;
        esac
    done
    if [ -n "$text" ] && [ "$text" -gt 0 ] && [ "$text" -lt "$size" ]; then [ $temporary = 0 ] &&
        echo reading || echo spilling
    elif [ $temporary -gt 1 ]; then echo merging
    elif [ $temporary = 1 ] && [ -z "$text" ] && [ "$out" -gt "$head" ]; then echo writing
    else echo other; fi
}
size=$(stat -c %s text); head=$(($(stat -c %s v) + 65536))

# hit SIG PHASE command...: runs it until it was killed in that phase
hit() {
    local sig=$1 want=$2 pid status try; shift 2
    for try in $(seq 20); do
        env --default-signal=INT,TERM "$@" > /dev/null 2> err & pid=$!
        while kill -0 $pid 2> /dev/null; do
            [ "$(phase $pid)" = "$want" ] || continue
            kill -STOP $pid 2> /dev/null || break
            if [ "$(phase $pid)" = "$want" ]; then kill -$sig $pid; kill -CONT $pid; break; fi
            kill -CONT $pid
        done
        status=0; wait $pid || status=$?
        is "$(ls -A tmp)" "" "temporary files after $sig"
        # it was over before it was stopped in that phase
        if [ $status = 0 ]; then rm -f killed; continue; fi
        is $status $((128 + $(kill -l $sig))) "status after $sig while $want"
        is "$(ls -A | grep killed || true)" "" "an output after $sig while $want"
        echo "$sig while $want: clean, try $try"
        return
    done
    fail "never stopped while $want: $*"
}
for sig in INT TERM; do
    hit $sig reading cooc-count -q -v v -w 5 --threads 2 --tmp tmp -o killed text
    # collecting the vocabulary
    hit $sig reading cooc-count -q -w 5 --threads 2 --tmp tmp -o killed text
    hit $sig spilling cooc-count -q -v v -w 5 --threads 2 --memory $M --tmp tmp -o killed text
    hit $sig merging cooc-count -q -v v -w 5 --threads 2 --memory $M --batch-size 2 --tmp tmp \
        -o killed text
    hit $sig writing cooc-count -q -v v -w 5 --threads 2 --memory $M --tmp tmp -o killed text
    # a pipe that is open at the other end: the text is being copied (no -v), or counted
    for how in "" "-v v"; do
        env --default-signal=INT,TERM cooc-count -q $how --memory $M --tmp tmp -o killed pipe 2> \
            /dev/null & pid=$!
        exec 7> pipe; cat part >&7
        until [ "$(awk '/^read_bytes|^rchar/ { print $2; exit }' /proc/$pid/io)" -gt 100000 ]; do :
        done
        kill -$sig $pid; status=0; wait $pid || status=$?; exec 7>&-
        is $status $((128 + $(kill -l $sig))); is "$(ls -A tmp)" ""; is "$(ls -A | grep killed ||
            true)" ""
    done
    # a merge that goes on and on
    env --default-signal=INT,TERM cooc-merge -q --tmp tmp -o killed $(for i in $(seq 200); do echo \
        want.cooc; done) 2> /dev/null & pid=$!
    until [ -n "$(find . -maxdepth 1 -name '.killed*' -size +0)" ] ||
        ! kill -0 $pid 2> /dev/null; do :; done
    kill -$sig $pid; status=0; wait $pid || status=$?
    is $status $((128 + $(kill -l $sig))); is "$(ls -A tmp)" ""; is "$(ls -A | grep killed ||
        true)" ""
done
# and without a signal the same command is right
cooc-count -q -v v -w 5 --threads 2 --memory $M --batch-size 2 --tmp tmp -o done text
same done want.cooc
