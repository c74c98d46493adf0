#!/bin/bash
# brio calibrate: measures, keeps, leaves nothing behind; and Brio knows it afterwards.
. "$BRIO_SOURCE/test/tools/lib.sh"
brio=$BRIO_BUILD/brio
export XDG_STATE_HOME=$PWD/state
mkdir store
expect measures 0 '<- k' "$brio" calibrate --seconds 4 --processes 2 store
expect is_kept 0 '^[1-9][0-9]+ [1-9][0-9]+ [0-9]+ [^ ]+ [^ ]+ /' cat state/brio/calibration
expect shows_it_again 0 '<- k' "$brio" calibrate --show store
[ "$(grep -c 'process' said)" -ge 4 ] || wrong shows_four_curves "not four"
expect shows_rings 0 'from memory +[0-9.]+ [KMG]iB/s +[0-9.]+ [KMG]iB/s +[0-9.]+ x' \
    "$brio" calibrate --show store
expect keeps_rings 0 ' ring=[1-9][0-9]*/[1-9][0-9]* ' cat state/brio/calibration
expect shows_json 0 '"processes": 2' "$brio" calibrate --show --json store
expect shows_nothing 1 'nothing is known of' env XDG_STATE_HOME="$PWD/other" "$brio" calibrate --show store
expect json 0 '' sh -c "'$brio' calibrate --seconds 2 --dry --json store >out.json"
expect is_json 0 '' python3 -c 'import json
r = json.load(open("out.json"))
assert r["k_write"] >= 4096 and r["k_read"] >= 4096 and r["kept"] == "", r
assert len(r["curves"]) == 4 and len(r["curves"][0]["points"]) > 5, r'
expect one_line 0 '^1$' sh -c 'wc -l <state/brio/calibration'
expect leaves_nothing 0 '^0$' sh -c 'ls -A store | wc -l'

"$brio" calibrate --seconds 60 --dry store >/dev/null 2>&1 &
sleep 1
kill -INT $! 2>/dev/null
kill -TERM $! 2>/dev/null
wait $!
expect interrupted 0 '^0$' sh -c 'ls -A store | wc -l'

mpicc -o job "$BRIO_SOURCE/test/tools/job.c" || exit 1
expect known 0 '' env BRIO_REPORT=job.json "$brio" run -n 2 ./job store/b.dat
expect known_at_open 0 "\"k_write\": $(cut -d' ' -f1 state/brio/calibration)," cat job.json

# io_uring where it was measured to be better, and only there.
rings() { # COLD/WARM: what is kept says so
    sed -i "s,ring=[0-9/]*,ring=$1," state/brio/calibration
}
if [ "$(stat -f -c %T store)" = tmpfs ]; then
    echo "skipped: rings on tmpfs" >&2
else
    rings 150/100
    expect rings_chosen 0 'fbtl=uring' "$brio" info store/b.dat
    expect rings_told 0 '150 % of the speed of plain calls' "$brio" info store/b.dat
    expect rings_explained 0 '\* uring +15 +measured here.* 150 %' "$brio" explain --ranks 2 store/b.dat
    rings 150/80
    expect rings_worse_in_memory 0 'fbtl=posix' "$brio" info store/b.dat
    rings 104/100
    expect rings_no_better 0 'fbtl=posix' "$brio" info store/b.dat
fi

expect no_directory 1 'is no directory' "$brio" calibrate nowhere
expect none_given 2 'no directory given' "$brio" calibrate
expect bad_seconds 2 'cannot use .--seconds' "$brio" calibrate --seconds none store
expect bad_option 2 'cannot use .--nonsense' "$brio" calibrate --nonsense store
finish
