#!/bin/bash
# brio reproduce: an experiment runs, is kept, is not run again, and stands in the report; an
# interrupted one goes on; wrong options are errors.
. "$BRIO_SOURCE/test/tools/lib.sh"
brio=$BRIO_BUILD/brio
[ -x "$BRIO_BUILD/brio-bench-$mpi" ] || { echo "skipped: built without benchmarks" >&2; exit 77; }
mkdir tmp
export TMPDIR=$PWD/tmp

expect list 0 '^002.12 .*figures 12 and 14' "$brio" reproduce --list
for paper in 000 001 002 003 004; do
    grep -q "^$paper\." said || wrong list "nothing of paper $paper"
done

expect runs 0 'agrees .*fewer requests .*coll' "$brio" reproduce --mpi "$mpi" --only 001.t1 --out out
if command -v python3 >/dev/null; then
    python3 - <<'END' || wrong keeps "results.jsonl is not as it should be"
import json
(line,) = [json.loads(text) for text in open("out/results.jsonl")]
assert line["experiment"] == "001.t1" and line["mode"] == "quick"
assert line["command"].startswith("brio bench btio ")
(case,) = line["run"]["cases"]
assert {"limit", "coll", "indep", "simple"} <= {one["label"] for one in case["contenders"]}
END
    python3 - <<'END' || wrong page "report.html is not well-formed"
import html.parser, re
class Check(html.parser.HTMLParser):
    open = []
    def handle_starttag(self, tag, attrs):
        if tag in ("table", "svg", "ul", "dl", "details", "h2", "h3"):
            self.open.append(tag)
    def handle_endtag(self, tag):
        if tag in ("table", "svg", "ul", "dl", "details", "h2", "h3"):
            assert self.open.pop() == tag, tag
page = Check()
text = open("out/report.html").read()
page.feed(text)
assert not page.open, page.open
assert "Paper 001" in text and "src=" not in text, "not alone"
assert not re.search(r"href=['\"](?!#)", text), "a link to elsewhere"
END
fi
for word in 'The paper found' 'of it' 'brio bench btio' 'All numbers'; do
    grep -q "$word" out/report.html || wrong page "no $word"
done
if command -v gnuplot >/dev/null; then
    grep -q '<svg' out/report.html || wrong page "no figure"
fi
expect markdown 0 'report.html' "$brio" reproduce --page --only 001.t1 --out out --markdown doc.md
grep -q '^| coll | .* ±' doc.md || wrong markdown "no median with its spread"
if command -v gnuplot >/dev/null; then
    grep -q '(doc/001.t1-write.svg)' doc.md && [ -s doc/001.t1-write.svg ] || wrong markdown "no figure"
fi
# Without gnuplot there are tables, and a word about it.
PATH=$PWD/bin:$PATH
mkdir bin && printf '#!/bin/sh\nexit 1\n' >bin/gnuplot && chmod +x bin/gnuplot
expect without_figures 0 'report.html' "$brio" reproduce --page --only 001.t1 --out out
grep -q '<svg' out/report.html && wrong without_figures "a figure without gnuplot"
grep -q '<table' out/report.html || wrong without_figures "no tables"

before=$(stat -c %Y.%s out/results.jsonl)
expect resumes 0 'agrees' "$brio" reproduce --mpi "$mpi" --only 001.t1 --out out
[ "$before" = "$(stat -c %Y.%s out/results.jsonl)" ] || wrong resumes "measured again"

"$brio" reproduce --mpi "$mpi" --only 001.t1,002.10 --out out >said 2>&1 </dev/null &
pid=$!
for _ in $(seq 200); do grep -q '002.10' said && break; sleep 0.1; done
sleep 1
kill -INT $pid
wait $pid
code=$?
[ $code = 130 ] || [ $code = 0 ] || wrong interrupted "exit code $code"
grep -q 'report.html' said || wrong interrupted "no report"
head -c 100 out/results.jsonl >>out/results.jsonl # a line that was cut
expect goes_on 0 'agrees' "$brio" reproduce --mpi "$mpi" --only 001.t1 --out out

# The study by brio tune: interrupted, it keeps what it has.
"$brio" reproduce --mpi "$mpi" --only 004.otpo --out out >said 2>&1 </dev/null &
pid=$!
runs() { grep -c '^[0-9.]' out/004.otpo-quick.journal 2>/dev/null || true; }
for _ in $(seq 300); do [ "$(runs)" -ge 2 ] 2>/dev/null && break; sleep 0.1; done
kill -INT $pid
wait $pid
[ $? = 130 ] || wrong study "exit code"
[ "$(runs)" -ge 2 ] || wrong study "keeps nothing"
grep -q 'goes on from here' said || wrong study "does not say that it can go on"

expect no_paper 2 'there is no .005' "$brio" reproduce --paper 005
expect no_experiment 2 'there is no .000.9' "$brio" reproduce --only 000.9
expect bad_option 2 'cannot use .--frob' "$brio" reproduce --frob
expect no_place 1 'cannot make' "$brio" reproduce --only 001.t1 --out /nowhere/x

for _ in $(seq 100); do # a launcher that was told to end clears up behind itself
    left=$(find tmp -mindepth 1)
    [ -z "$left" ] && break
    sleep 0.1
done
[ -z "$left" ] || wrong leaves_nothing "$left"
finish
