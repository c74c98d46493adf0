/* The options of Open MPI's mpirun and of MPICH's Hydra that are followed by values: without
 * them the program could not be told from a value. One table for both, since no option takes
 * different numbers of values in the two. */
#include <string.h>

#include "cli/options.h"

static const struct brio_option table[] = {
    /* both */
    {"n", 1, BRIO_OPTION_RANKS},
    {"np", 1, BRIO_OPTION_RANKS},
    {"host", 1, BRIO_OPTION_HOSTS},
    {"machinefile", 1, BRIO_OPTION_HOSTS},
    {"hostfile", 1, BRIO_OPTION_HOSTS},
    {"wdir", 1, BRIO_OPTION_DIR},
    {"bind-to", 1, BRIO_OPTION_PLAIN},
    {"map-by", 1, BRIO_OPTION_PLACES},
    {"rank-by", 1, BRIO_OPTION_PLAIN},
    {"path", 1, BRIO_OPTION_PLAIN},
    /* Open MPI */
    {"c", 1, BRIO_OPTION_RANKS},
    {"N", 1, BRIO_OPTION_PLACES},
    {"npernode", 1, BRIO_OPTION_PLACES},
    {"npersocket", 1, BRIO_OPTION_PLACES},
    {"H", 1, BRIO_OPTION_HOSTS},
    {"default-hostfile", 1, BRIO_OPTION_HOSTS},
    {"rankfile", 1, BRIO_OPTION_HOSTS},
    {"rf", 1, BRIO_OPTION_HOSTS},
    {"nooversubscribe", 0, BRIO_OPTION_PLACES},
    {"no-oversubscribe", 0, BRIO_OPTION_PLACES},
    {"wd", 1, BRIO_OPTION_DIR},
    {"x", 1, BRIO_OPTION_SET},
    {"mca", 2, BRIO_OPTION_PLAIN},
    {"gmca", 2, BRIO_OPTION_PLAIN},
    {"pmca", 2, BRIO_OPTION_PLAIN},
    {"omca", 2, BRIO_OPTION_PLAIN},
    {"prtemca", 2, BRIO_OPTION_PLAIN},
    {"pmixmca", 2, BRIO_OPTION_PLAIN},
    {"am", 1, BRIO_OPTION_PLAIN},
    {"tune", 1, BRIO_OPTION_PLAIN},
    {"app", 1, BRIO_OPTION_PLAIN},
    {"prefix", 1, BRIO_OPTION_PLAIN},
    {"preload-files", 1, BRIO_OPTION_PLAIN},
    {"output-filename", 1, BRIO_OPTION_PLAIN},
    {"stdin", 1, BRIO_OPTION_PLAIN},
    {"timeout", 1, BRIO_OPTION_PLAIN},
    {"report-uri", 1, BRIO_OPTION_PLAIN},
    {"report-pid", 1, BRIO_OPTION_PLAIN},
    {"ompi-server", 1, BRIO_OPTION_PLAIN},
    {"report-events", 1, BRIO_OPTION_PLAIN},
    {"launch-agent", 1, BRIO_OPTION_PLAIN},
    {"hnp", 1, BRIO_OPTION_PLAIN},
    {"cartofile", 1, BRIO_OPTION_PLAIN},
    {"cf", 1, BRIO_OPTION_PLAIN},
    {"xml-file", 1, BRIO_OPTION_PLAIN},
    {"cpus-per-proc", 1, BRIO_OPTION_PLACES},
    {"cpus-per-rank", 1, BRIO_OPTION_PLACES},
    {"cpu-set", 1, BRIO_OPTION_PLAIN},
    {"cpu-list", 1, BRIO_OPTION_PLAIN},
    {"slot-list", 1, BRIO_OPTION_PLACES},
    {"ppr", 1, BRIO_OPTION_PLACES},
    {"max-restarts", 1, BRIO_OPTION_PLAIN},
    {"max-vm-size", 1, BRIO_OPTION_PLAIN},
    {"tmpdir", 1, BRIO_OPTION_PLAIN},
    {"xterm", 1, BRIO_OPTION_PLAIN},
    {"personality", 1, BRIO_OPTION_PLAIN},
    {"debugger", 1, BRIO_OPTION_PLAIN},
    /* MPICH */
    {"ppn", 1, BRIO_OPTION_PLAIN},
    {"hosts", 1, BRIO_OPTION_HOSTS},
    {"hostlist", 1, BRIO_OPTION_HOSTS},
    {"f", 1, BRIO_OPTION_HOSTS},
    {"genv", 2, BRIO_OPTION_SET},
    {"env", 2, BRIO_OPTION_SET},
    {"genvlist", 1, BRIO_OPTION_PLAIN},
    {"envlist", 1, BRIO_OPTION_PLAIN},
    {"launcher", 1, BRIO_OPTION_PLAIN},
    {"launcher-exec", 1, BRIO_OPTION_PLAIN},
    {"bootstrap", 1, BRIO_OPTION_PLAIN},
    {"bootstrap-exec", 1, BRIO_OPTION_PLAIN},
    {"rmk", 1, BRIO_OPTION_PLAIN},
    {"iface", 1, BRIO_OPTION_PLAIN},
    {"demux", 1, BRIO_OPTION_PLAIN},
    {"topolib", 1, BRIO_OPTION_PLAIN},
    {"binding", 1, BRIO_OPTION_PLAIN},
    {"membind", 1, BRIO_OPTION_PLAIN},
    {"usize", 1, BRIO_OPTION_PLAIN},
    {"localhost", 1, BRIO_OPTION_PLAIN},
    {"order-nodes", 1, BRIO_OPTION_PLAIN},
    {"prepend-pattern", 1, BRIO_OPTION_PLAIN},
    {"outfile-pattern", 1, BRIO_OPTION_PLAIN},
    {"errfile-pattern", 1, BRIO_OPTION_PLAIN},
    {"configfile", 1, BRIO_OPTION_PLAIN},
    {"nameserver", 1, BRIO_OPTION_PLAIN},
    {"ckpoint-interval", 1, BRIO_OPTION_PLAIN},
    {"ckpoint-prefix", 1, BRIO_OPTION_PLAIN},
    {"ckpoint-num", 1, BRIO_OPTION_PLAIN},
    {"ckpointlib", 1, BRIO_OPTION_PLAIN},
    {"gpus-per-proc", 1, BRIO_OPTION_PLAIN},
    {"gpu-subdevs-per-proc", 1, BRIO_OPTION_PLAIN},
};

const struct brio_option *brio_option_find(const char *word)
{
    static const struct brio_option other = {"", 0, BRIO_OPTION_PLAIN};
    word += strspn(word, "-");
    for (size_t i = 0; i < sizeof table / sizeof table[0]; i++)
        if (strcmp(table[i].name, word) == 0)
            return &table[i];
    return &other;
}
