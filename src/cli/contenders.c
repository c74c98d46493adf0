/* Who is measured, and with which settings. */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/contenders.h"

/* The MPIs' own I/O. */
static const struct {
    const char *name;
    enum brio_mpi mpi;
    const char *io, *expect;
} owns[] = {
    {"ompio", BRIO_MPI_OPENMPI, "ompio", "OMPIO"},
    {"romio", BRIO_MPI_OPENMPI, "romio321", "ROMIO"},
    {"mpich", BRIO_MPI_MPICH, NULL, "ROMIO"},
};

int brio_choice_take(struct brio_choice *choice, const char *name, const char *value)
{
    if (strcmp(name, "--mpi") == 0) {
        choice->mpi = brio_mpi_named(value);
        if (choice->mpi == BRIO_MPI_UNKNOWN) {
            brio_say("bench: --mpi takes openmpi or mpich, not `%s'", value);
            return -1;
        }
    } else if (strcmp(name, "--against") == 0) {
        choice->against = value;
    } else if (strcmp(name, "--variant") == 0) {
        brio_words_add(&choice->variants, value);
    } else if (strcmp(name, "--each") == 0) {
        brio_words_add(&choice->each, value);
    } else if (strcmp(name, "--sweep") == 0) {
        brio_words_add(&choice->sweeps, value);
    } else {
        return 0;
    }
    return 1;
}

static bool complete(enum brio_mpi mpi)
{
    return brio_place_library(mpi) && brio_place_bench(mpi) && brio_place_launcher(mpi);
}

enum brio_mpi brio_contenders_mpi(enum brio_mpi asked)
{
    for (enum brio_mpi m = BRIO_MPI_OPENMPI; m <= BRIO_MPI_MPICH; m++)
        if ((asked == BRIO_MPI_UNKNOWN || asked == m) && complete(m))
            return m;
    const char *name = asked == BRIO_MPI_UNKNOWN ? "*" : brio_mpi_name(asked);
    brio_say("bench: needs brio-bench-%s, libbrio-%s.so and mpirun.%s; not all are here "
             "(BRIO_LIBDIR says where the first two are)",
             name, name, name);
    return BRIO_MPI_UNKNOWN;
}

/* The words between commas, in memory of their own. */
static struct brio_words cut_words(const char *text)
{
    struct brio_words list = {0};
    while (text && *text) {
        size_t len = strcspn(text, ",");
        if (len > 0)
            brio_words_add(&list, brio_text("%.*s", (int)len, text));
        text += len + (text[len] == ',');
    }
    return list;
}

struct brio_words brio_modules_of(enum brio_mpi mpi, const char *framework)
{
    enum {
        SIZE = 1 << 18
    };
    static const char mark[] = "{\"name\": \"";
    struct brio_words list = {0};
    char *text = brio_memory(SIZE), *key = brio_text("\"%s\": [", framework);
    const char *argv[] = {"/proc/self/exe",   "info", "--json", "--mpi",
                          brio_mpi_name(mpi), NULL};
    char *at = brio_output_of(argv, text, SIZE) ? strstr(text, "\"frameworks\"") : NULL;
    at = at ? strstr(at, key) : NULL;
    for (int depth = 0; at && *at; at++) { /* module objects stand one bracket deep */
        depth += *at == '[';
        depth -= *at == ']';
        if (depth == 0 && *at == ']')
            break;
        if (depth == 1 && strncmp(at, mark, sizeof mark - 1) == 0) {
            const char *name = at + sizeof mark - 1;
            brio_words_add(&list, brio_text("%.*s", (int)strcspn(name, "\""), name));
        }
    }
    free(text);
    free(key);
    return list;
}

static struct brio_contender *add(struct brio_bench_plan *plan, const char *label,
                                  enum brio_mpi mpi)
{
    plan->who = brio_memory_again(plan->who, (plan->nwho + 1) * sizeof *plan->who);
    struct brio_contender *c = &plan->who[plan->nwho++];
    *c = (struct brio_contender){.label = label, .mpi = mpi};
    return c;
}

static struct brio_contender *add_brio(struct brio_bench_plan *plan, const char *label,
                                       enum brio_mpi mpi)
{
    struct brio_contender *c = add(plan, label, mpi);
    c->brio = true;
    c->expect = "Brio";
    return c;
}

static void add_plain(struct brio_bench_plan *plan, const char *label, enum brio_mpi mpi,
                      const char *how)
{
    struct brio_contender *c = add(plan, label, mpi);
    c->expect = "POSIX";
    brio_words_add(&c->args, brio_text("--plain=%s", how));
}

/* NAME=VALUE that forces a module which is not there. */
static bool is_absent(enum brio_mpi mpi, const char *item)
{
    char *framework = brio_text("%.*s", (int)strcspn(item, "="), item);
    const char *value = item + strcspn(item, "=") + 1;
    struct brio_words modules = brio_modules_of(mpi, framework);
    bool absent = modules.n > 0;
    for (size_t i = 0; i < modules.n; i++)
        absent &= strcmp(modules.word[i], value) != 0;
    free(modules.word);
    free(framework);
    return absent;
}

/* Drops the last contender, and says why. */
static void leave_out(struct brio_bench_plan *plan, struct brio_words *absent, const char *item)
{
    brio_words_add(absent, brio_text("%s (no module %s)", plan->who[--plan->nwho].label, item));
}

/* LABEL:NAME=VALUE,... */
static bool add_variant(struct brio_bench_plan *plan, const char *text, enum brio_mpi mpi,
                        struct brio_words *absent)
{
    size_t len = strcspn(text, ":");
    if (text[len] != ':' || len == 0) {
        brio_say("bench: --variant takes LABEL:NAME=VALUE,..., not `%s'", text);
        return false;
    }
    struct brio_contender *c = add_brio(plan, brio_text("%.*s", (int)len, text), mpi);
    struct brio_words items = cut_words(text + len + 1);
    for (size_t i = 0; i < items.n; i++) {
        const char *item = items.word[i];
        if (!strchr(item, '=')) {
            brio_say("bench: --variant %s: `%s' is not NAME=VALUE", c->label, item);
            return false;
        }
        if (absent && is_absent(mpi, item)) {
            leave_out(plan, absent, item);
            break;
        }
        brio_words_add(&c->args,
                       strncmp(item, "--", 2) == 0 ? item : brio_text("--hint=%s", item));
    }
    free(items.word);
    return true;
}

static bool add_each(struct brio_bench_plan *plan, const char *framework, enum brio_mpi mpi)
{
    struct brio_words modules = brio_modules_of(mpi, framework);
    for (size_t i = 0; i < modules.n; i++) {
        struct brio_contender *c = add_brio(plan, modules.word[i], mpi);
        brio_words_add(&c->args, brio_text("--hint=%s=%s", framework, modules.word[i]));
    }
    if (modules.n == 0)
        brio_say("bench: --each: the library knows no framework `%s'", framework);
    return modules.n > 0;
}

static bool add_sweep(struct brio_bench_plan *plan, const char *text, enum brio_mpi mpi)
{
    size_t len = strcspn(text, "=");
    struct brio_words values = cut_words(text[len] ? text + len + 1 : "");
    for (size_t i = 0; i < values.n; i++) {
        char *item = brio_text("%.*s=%s", (int)len, text, values.word[i]);
        struct brio_contender *c = add_brio(plan, item, mpi);
        brio_words_add(&c->args, brio_text("--hint=%s", item));
    }
    if (values.n == 0)
        brio_say("bench: --sweep takes NAME=A,B,..., not `%s'", text);
    return values.n > 0;
}

static bool add_own(struct brio_bench_plan *plan, const char *name)
{
    for (size_t i = 0; i < sizeof owns / sizeof owns[0]; i++) {
        if (strcmp(owns[i].name, name) != 0)
            continue;
        if (!brio_place_bench(owns[i].mpi) || !brio_place_launcher(owns[i].mpi)) {
            brio_say("bench: --against %s: there is no %s here", name,
                     brio_mpi_name(owns[i].mpi));
            return false;
        }
        struct brio_contender *c = add(plan, owns[i].name, owns[i].mpi);
        c->io = owns[i].io;
        c->expect = owns[i].expect;
        return true;
    }
    brio_say("bench: --against takes ompio, romio, mpich, files, all; not `%s'", name);
    return false;
}

/* As many as are here. */
static void add_all_owns(struct brio_bench_plan *plan)
{
    for (size_t i = 0; i < sizeof owns / sizeof owns[0]; i++)
        if (brio_place_bench(owns[i].mpi) && brio_place_launcher(owns[i].mpi))
            add_own(plan, owns[i].name);
}

static bool add_others(struct brio_bench_plan *plan, const char *against, enum brio_mpi mpi)
{
    struct brio_words names = cut_words(against);
    bool fine = true;
    for (size_t i = 0; i < names.n && fine; i++) {
        if (strcmp(names.word[i], "all") == 0)
            add_all_owns(plan);
        else if (strcmp(names.word[i], "files") == 0)
            add_plain(plan, "files", mpi, "files");
        else if (strcmp(names.word[i], "limit") != 0) /* is there anyway */
            fine = add_own(plan, names.word[i]);
    }
    free(names.word);
    return fine;
}

/* The aggregators' sweep is what that workload is for. */
static void add_aggregators(struct brio_bench_plan *plan, enum brio_mpi mpi)
{
    for (int i = 1; i <= plan->ranks; i = i < 4 ? i + 1 : i * 2) {
        struct brio_contender *c = add_brio(plan, brio_text("cb_nodes=%d", i), mpi);
        brio_words_add(&c->args, brio_text("--hint=cb_nodes=%d", i));
    }
}

/* More ranks than cores: waiting ranks must give their core away, and none may be bound to one
 * that another job also has. */
static void prepare_environment(int ranks)
{
    setenv("OMPI_MCA_hwloc_base_binding_policy", "none", 0);
    setenv("OMPI_MCA_btl_base_warn_component_unused", "0", 0);
    setenv("PMIX_MCA_gds", "hash", 0);
    if (ranks > sysconf(_SC_NPROCESSORS_ONLN))
        setenv("OMPI_MCA_mpi_yield_when_idle", "1", 0);
}

bool brio_contenders(const struct brio_choice *choice, struct brio_bench_plan *plan)
{
    enum brio_mpi mpi = brio_contenders_mpi(choice->mpi);
    if (mpi == BRIO_MPI_UNKNOWN)
        return false;
    prepare_environment(plan->ranks);
    plan->nwho = 0;
    bool fine = true;
    add_plain(plan, "limit", mpi, "shared");
    bool plain = choice->variants.n == 0 && choice->each.n == 0;
    bool sweep = plain && strcmp(choice->workload, "aggregators") == 0 && choice->sweeps.n == 0;
    if (plain || choice->sweeps.n > 0)
        add_brio(plan, "brio", mpi);
    for (size_t i = 0; i < choice->variants.n && fine; i++)
        fine = add_variant(plan, choice->variants.word[i], mpi, choice->absent);
    for (size_t i = 0; i < choice->each.n && fine; i++)
        fine = add_each(plan, choice->each.word[i], mpi);
    for (size_t i = 0; i < choice->sweeps.n && fine; i++)
        fine = add_sweep(plan, choice->sweeps.word[i], mpi);
    if (sweep)
        add_aggregators(plan, mpi);
    return fine && add_others(plan, choice->against, mpi);
}
