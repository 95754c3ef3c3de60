# looked PAGE WIDTH...: what a browser shows of it at each width, light and dark: rows of width,
# light or dark, table or cards, how much is cut off or lies on something else, and what.
# can_look: is there one? ISOGLOT_TEST_BROWSER=1: there must be.
can_look() {
    command -v chromium > /dev/null && return
    [ -z "${ISOGLOT_TEST_BROWSER-}" ] || fail "no chromium here"
    echo "no chromium here: the page was not opened"; return 1
}
looked() {
    local page=$1 w c; shift
    { look_at_it; cat "$page"; } > opened.html
    {
        echo '<!DOCTYPE html><body><pre id="said"></pre><script>'
        echo 'addEventListener("message", '\
'e => { said.textContent += "said " + e.data + "\n" })</script>'
        for w; do for c in light dark; do
            echo "<iframe src='opened.html' width=$w height=900 "\
"style='border:0;color-scheme:$c'></iframe>"
        done; done
    } > outer.html
    # a browser reserves more addresses than a mutant's test has (test/mutants/run)
    (ulimit -S -v "$(ulimit -H -v)"; HOME=$PWD exec timeout 120 chromium \
        --headless=new --no-sandbox --disable-gpu --hide-scrollbars --window-size=1400,900 \
        --virtual-time-budget=8000 --dump-dom "file://$PWD/outer.html") 2> chromium.err |
        sed -n 's/.*said \([0-9]* \(light\|dark\) .*\)/\1/p' | sort -n
}
look_at_it() {
    cat <<'JS'
<script>
// What of the page is cut off at this width: elements beyond its sides, cells and pictures that
// hide text.
addEventListener("load", () => {
    const wrong = [], width = document.documentElement.clientWidth;
    const start = e => (e.textContent || "").replace(/\s+/g, " ").slice(0, 40);
    const say = (e, what) => wrong.push(`${what}: ${e.tagName} ${start(e)}`);
    if (document.documentElement.scrollWidth > width) say(document.body, "scrolls");
    for (const e of document.body.querySelectorAll("*:not(script):not(style)")) {
        const r = e.getBoundingClientRect();
        if (!r.width || !r.height) continue;
        if (r.left < -1 || r.right > width + 1) say(e, "beyond the side");
        if (/^T[DH]$/.test(e.tagName) && e.scrollWidth > e.clientWidth + 1)
            say(e, "hidden in its cell");
        if (e.tagName === "text") {
            const s = e.ownerSVGElement.getBoundingClientRect();
            if (r.left < s.left - 1 || r.right > s.right + 1 || r.bottom > s.bottom + 2)
                say(e, "beyond its picture");
            if (r.height < 7) say(e, "too small to read");
        }
    }
    const overlap = [...document.querySelectorAll("tr")].find(t => {
        const c = [...t.children].map(x => x.getBoundingClientRect());
        return c.some((a, i) => c.some((b, j) => j > i && a.width && b.width &&
            a.left < b.right - 1 &&
            b.left < a.right - 1 && a.top < b.bottom - 1 && b.top < a.bottom - 1));
    });
    if (overlap) say(overlap, "cells on top of each other");
    const dark = matchMedia("(prefers-color-scheme: dark)").matches;
    const back = getComputedStyle(document.body).backgroundColor;
    const light = back.match(/\d+/g).reduce((a, b) => a + +b, 0) > 384;
    if (light === dark) say(document.body, "background " + back);
    const cards = getComputedStyle(document.querySelector("table")).display === "block";
    const seen = `${width} ${dark ? "dark" : "light"} ${cards ? "cards" : "table"}`;
    parent.postMessage(`${seen} ${wrong.length} ${wrong.slice(0, 5).join("; ")}`, "*");
});
</script>
JS
}
