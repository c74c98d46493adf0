#!/bin/bash
# Suites over OrangeFS, where servers run (see test/pvfs2), on all MPIs at once.
exec "$BRIO_SOURCE/test/pvfs2" "$BRIO_BUILD" short
