#!/bin/bash
# The page of brio report --html in a real browser: it draws all its parts and complains of
# nothing, without a network.
. "$BRIO_SOURCE/test/tools/lib.sh"
brio=$BRIO_BUILD/brio
browser=$(command -v chromium || command -v chromium-browser || command -v google-chrome) ||
    { echo "skipped: no chromium" >&2; exit 77; }
mpicc -o job "$BRIO_SOURCE/test/tools/job.c" || exit 1
mkdir 'a <'
expect runs 0 '' env BRIO_REPORT="reports/" "$brio" run -n 3 ./job 'a </script><b>.dat' b.dat
expect page 0 'page.html: 2 reports' "$brio" report --html page.html reports/*.json
expect needs_nothing_else 1 '' grep -E '(src|href)=|url\(|@import|https?://[^w]' page.html

HOME=$PWD timeout 150 "$browser" --headless --no-sandbox --disable-gpu --user-data-dir="$PWD/user" \
    --enable-logging=stderr --dump-dom "file://$PWD/page.html" >dom.html 2>console
cp console said
[ -s dom.html ] && echo "ok browser" || { wrong browser "no page"; finish; }
drawn() { # drawn NAME TEXT
    if grep -Fq -e "$2" dom.html; then echo "ok $1"; else wrong "$1" "no $2"; fi
}
drawn ready 'data-ready="true"'
drawn advice 'class="advice"'
drawn phases 'aria-label="time by phase of each rank"'
drawn sizes 'aria-label="sizes"'
drawn ranks '>rank 2<'
drawn choices '<td>fcoll</td>'
drawn both_reports '<option value="1">'
drawn speed 'write speed'
drawn name_is_text 'a &lt;/script&gt;&lt;b&gt;.dat'
if grep -E 'CONSOLE.*(Error|error)' console; then wrong console "complaints"; else echo "ok console"; fi
finish
