#!/bin/bash
# BRIO_REPORT and brio report, as a user has them.
. "$BRIO_SOURCE/test/tools/lib.sh"
brio=$BRIO_BUILD/brio
mpicc -o job "$BRIO_SOURCE/test/tools/job.c" || exit 1

expect runs 0 '' env BRIO_REPORT="reports/" "$brio" run -n 3 ./job "a <b>\"c.dat" b.dat
expect two_reports 0 '^2$' sh -c 'ls reports/*.json | wc -l'
expect summary 0 'by 3 ranks on 1 node' "$brio" report reports/b.dat.*.json
expect summary_counts 0 'in 1530 accesses \(30 collective, 1500 independent\)' "$brio" report reports/b.dat.*.json
expect summary_advises 0 'Many small accesses' "$brio" report reports/b.dat.*.json
expect summary_chooses 0 'fcoll +[a-z_]+ +[a-z]' "$brio" report reports/b.dat.*.json
expect strange_name 0 '^a <b>"c.dat$' "$brio" report reports/*.json
expect is_json 0 '' python3 -c 'import glob, json
for name in glob.glob("reports/*.json"):
    r = json.load(open(name))
    assert r["total"]["write.bytes"] == 3 * (500 * 100 + 10 * 80000), r["total"]
    assert len(r["per_rank"]) == 3 and all(k["timeline"] for k in r["per_rank"])'
expect fixed_name 0 '' env BRIO_REPORT="one-%f.json" "$brio" run -n 1 ./job b.dat
expect fixed_name_there 0 'by 1 rank on' "$brio" report one-b.dat.json
expect cannot_write 0 'no report on b.dat: .*/no/such' env BRIO_REPORT=/no/such/x.json "$brio" run -n 1 ./job b.dat

expect none_given 2 'BRIO_REPORT=' "$brio" report
expect bad_option 2 'cannot use' "$brio" report --nonsense
expect not_there 1 'cannot read nothing.json: No such file' "$brio" report nothing.json
head -c 700 one-b.dat.json >half.json
expect half 1 'half.json is no report: line [0-9]+: ' "$brio" report half.json
echo '{"a": 1}' >other.json
expect other_json 1 'no report of this version' "$brio" report other.json
finish
