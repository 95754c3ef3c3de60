# What a file holds reaches a terminal, an SVG or a page as text, whatever its bytes.
. "$TOP/test/cli/lib.sh"
esc=$'\033' bell=$'\007'
clean() { ! LC_ALL=C grep -q "[$(printf '\001-\010\013-\037\177')]" "$@"; }

# messages: a vocabulary, a model's config.json, an .npy header
printf 'a\033[2Jb\na\033[2Jb\n' > v
fails 1 'v:2: token "a\\x1B\[2Jb"' binarize -v v -l en /dev/null; clean fails.err
mkdir m; printf '{"model_type": "\033]0;x\007"}' > m/config.json
fails 1 'm/config.json' ckpt import -o out --lang-code xx m; clean fails.err
printf '{"model_type": "\\u001b]0;x\\u0007"}' > m/config.json
fails 1 'model_type.*\\x1B\]0;x\\x07' ckpt import -o out --lang-code xx m; clean fails.err
printf '\x93NUMPY\1\0\x36\0{"descr": "\033[2J", "fortran_order": False, "shape": (1,)}' > x.npy
fails 1 'x.npy' analogy --vec x.npy < /dev/null; clean fails.err

# output: a shard's note and language
awk 'BEGIN { printf "a\nb\n" }' > v
printf 'a b\n' | binarize -q -v v -l en --note $'\033[2Jby hand' -o t.shd
shard info t.shd > info; clean info; grep -qF 'note       \x1B[2Jby hand' info
printf 'a b\n' | binarize -q -v v -l $'e\u009b2J\u202en' -o t.shd
shard info t.shd > info
grep -qxF '  language   e\xC2\x9B2J\xE2\x80\xAEn' info || fail "$(cat info)"
cooc-count -q -v v -w 1 -o t.cooc t.shd; cooc-query -q --stat t.cooc > stat
grep -q '^e\\xC2\\x9B2J\\xE2\\x80\\xAEn.1.2.0.' stat || fail "$(cat stat)"
for bad in $'e\177n' $'e\033' 'e n'; do fails 2 'is not a language code' binarize -v v -l "$bad" t
done

# pictures: a title that begins with a quote, holds one, runs a command or turns the text's
# direction; likewise words
if command -v gnuplot > /dev/null; then
    printf '{"event":"train","step":%d,"loss":%d}\n' 1 3 2 2 3 1 > log.jsonl
    for text in "'s" "'90s" "''" '`touch here`' 'a"b\n' "it's" '@a $b' 'x{y}_z^2'; do
        plot curves log.jsonl --title "$text" -o p.svg
        sed "s/&#39;/'/g; s/&apos;/'/g; s/&quot;/\"/g; s/&#34;/\"/g" p.svg > q.svg
        grep -qF -- ">$text<" q.svg ||
            { grep -A2 '<text' q.svg; fail "$text is not in the picture"; }
    done
    plot curves log.jsonl --title $'<x>&y c\xE2\x80\xAEd\033' -o p.svg
    grep -qF '&lt;x>&amp;y c\xE2\x80\xAEd\x1B<' p.svg
    printf "%s\n" "'s 1 0 0" "'90s 0 1 0" '`touch${IFS}here` 0 0 1' 'a"b\n 1 1 0' "it's 0 1 1" \
        '@a 1 0 1' > en.vec
    plot tsne -q --perplexity 1 --names 6 --width 3000 --height 3000 en=en.vec -o p.svg
    grep -qF "'90s" <(sed "s/&#39;/'/g; s/&apos;/'/g" p.svg)
    [ ! -e here ] || fail "a word of a file was run as a command"
    clean p.svg
fi

# what is binary is not written to a terminal; to a pipe it is
printf 'a b\nb a\n' > text; cooc-count -q -o t.cooc text
on_terminal() { script -qec "$*" typescript < /dev/null > /dev/null; }
for command in 'cooc-count -q text' 'cooc-merge -q t.cooc' 'cooc-query -q --glove t.cooc' \
    'binarize -q -v v -l en text' 'plot curves -q log.jsonl --png' \
    'embed -q --from-cooc t.cooc --min-count 1 --dim 2 --format binary' \
    'cooc-count -q -o - text'; do
    status=0; on_terminal "$command" || status=$?
    is $status 1 "$command"
    is "$(grep -c 'standard output is a terminal, and what would be written is binary; name' \
        typescript)" 1 "$command"
    ! grep -q ISOCOOC typescript || fail "bytes of counts on the terminal"
done
on_terminal 'cooc-query -q --dump t.cooc'; grep -q 'a.b' typescript
cooc-count -q text | cmp - t.cooc
