#!/bin/bash
# The short form of make check-ceph, on all MPIs at once: one cluster is enough.
exec "$BRIO_SOURCE/test/ceph" "$BRIO_BUILD" short
