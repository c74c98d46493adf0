#!/bin/bash
# Locks that do not leave their node, as on a FUSE or a mount without locks of its own: here, one
# directory through an overlay on each host. Atomic mode is refused there, on all ranks and in
# words; where locks are seen by all it is had.
set -u
ranks=$1
failed=0
. "$BRIO_SOURCE/test/mpi/lib.sh"
mkdir -p store clients/1 clients/2 mnt
mount -t tmpfs none store || { echo "skipped: no tmpfs" >&2; exit 77; }
mkdir store/{low,up,work1,work2}
for i in 1 2; do
    options=lowerdir=store/low,upperdir=store/up,workdir=store/work$i,index=off
    mount -t overlay none clients/$i -o "$options" 2>said ||
        { echo "skipped: no overlays: $(head -n 1 said)" >&2; exit 77; }
done
export BRIO_TEST_DIR=$PWD/mnt
on_hosts 2 atomic get_and_set visible_at_once >said 2>&1
code=$?
said=$(grep -c 'a lock of rank 0 is not seen here' said)
if [ $code = 1 ] && [ "$said" -gt 0 ]; then
    echo "ok refused"
else
    failed=1
    echo "FAIL refused: exit $code"
    sed 's/^/    /' said | head -n 30
fi
umount clients/1 clients/2
mount --bind store/up clients/1 && mount --bind store/up clients/2 || exit 1
run "" 2 atomic get_and_set visible_at_once
exit $failed
