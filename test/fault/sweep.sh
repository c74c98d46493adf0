#!/bin/bash
# The n-th call of a function fails, is short or is late on one rank, for n = 1, 2, ... until
# there is no such call: every rank returns, collectives agree, nothing is claimed that is not
# in the file, and afterwards everything works. See sweep_prog.c; arguments after the number
# of ranks are functions to go through.
set -u
ranks=$1
shift
. "$BRIO_SOURCE/test/fault/lib.sh"
TORTURE_SECONDS=${TORTURE_SECONDS:-40} torture "${BRIO_TEST_LIMIT:-110}" "$@"
