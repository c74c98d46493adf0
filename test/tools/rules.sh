#!/bin/bash
# tools/check finds what it is there to find: one breach of each rule, planted in a copy.
. "$BRIO_SOURCE/test/tools/lib.sh"
command -v python3 >/dev/null || { echo "skipped: no python3" >&2; exit 77; }
(cd "$BRIO_SOURCE" && tar -cf - --exclude='./build*' --exclude=./.git .) | tar -xf -
chmod -R u+w .

# planted RULE PATTERN FILE: FILE with standard input appended breaks RULE.
planted() {
    mkdir -p "$(dirname "$3")"
    [ -e "$3" ] && cp -p "$3" kept
    cat >>"$3"
    expect "$1" 1 "$2" tools/check --only "${1%%_*}"
    if [ -e kept ]; then mv kept "$3"; else rm "$3"; fi
}

planted layers_up 'base must not include core' src/base/err.c <<<'#include "core/core.h"'
planted layers_sideways 'comm must not include type' src/comm/page.c <<<'#include "type/map.h"'
planted layers_file 'core only' src/mpi/view.c <<<'#include "core/file.h"'
planted calls_mpi 'PMPI_' src/core/open.c <<<'int x(void) { return MPI_Barrier(MPI_COMM_WORLD); }'
planted calls_exit 'does not end' src/base/mem.c <<<'void x(void) { exit(1); }'
{ echo 'void x(void)'; echo '{'; for i in $(seq 100); do echo "    y($i);"; done; echo '}'; } |
    planted sizes_function '103 lines' src/base/mem.c
planted sizes_parameters '7 parameters' src/base/mem.c <<'END'

void x(int a, int b, int c, int d,
       int e, int f, void (*g)(int, int))
{
}
END
seq 701 | planted sizes_file 'more than 700' src/base/new.h
command -v clang-format >/dev/null &&
    planted format_layout 'clang-format' src/base/mem.c <<<'int  x ( void );'
printf 'const struct brio_fs brio_fs_new = {\n    .base = {.name = "new"},\n};\n' >module
planted modules_registry 'brio_fs_new is not in' src/fs/new.c <module
planted modules_test 'no test names the fs module "new"' src/fs/new.c <module
rm module
planted hints_table 'not the modules' src/fs/new.c <<'END'
static const struct brio_hint hints[] = {
    {.name = "new_hint", .kind = BRIO_HINT_BOOL, .def = "true", .help = "x"},
};
END
planted tests_unlisted 'never runs' test/unit/new.c <<<'int main(void)'
planted tests_missing 'no test unit/new' test/list <<<'unit/new'
planted words_unfinished 'unfinished' src/base/mem.c <<<"/* TO""DO */"
planted links_broken 'nowhere.md does not exist' README.md <<<'[x](nowhere.md)'
planted headers_alone 'does not compile alone' src/base/new.h <<<'struct x { size_t y; };'
planted scripts_syntax 'syntax error' tools/deps <<<'if'
finish
