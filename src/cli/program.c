/* Finds out which MPI a program uses, without running it: by the libraries that the dynamic
 * loader would load for it. Only a Python is run, to be asked for its MPI module. */
#include <elf.h>
#include <fcntl.h>
#include <link.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli/cli.h"

enum {
    OUTPUT_MAX = 256 * 1024,
    LINE_MAX_LEN = 1024,
    SCRIPT_DEPTH = 4 /* scripts run by scripts, as the kernel counts them */
};

static bool runnable(const char *path)
{
    struct stat st;
    return stat(path, &st) == 0 && S_ISREG(st.st_mode) && access(path, X_OK) == 0;
}

static char *find_on_path(const char *name)
{
    const char *path = getenv("PATH");
    if (!path)
        path = "/usr/local/bin:/usr/bin:/bin";
    while (*path) {
        size_t len = strcspn(path, ":");
        char *file = len ? brio_text("%.*s/%s", (int)len, path, name) : brio_copy(name);
        if (runnable(file))
            return file;
        free(file);
        path += len + (path[len] == ':');
    }
    return NULL;
}

char *brio_program_find(const char *name, const char *dir)
{
    if (!*name)
        return NULL;
    if (!strchr(name, '/'))
        return find_on_path(name);
    char *file = dir && name[0] != '/' ? brio_text("%s/%s", dir, name) : brio_copy(name);
    if (runnable(file))
        return file;
    free(file);
    return NULL;
}

/* The loader that an ELF program names, in `out`; false if the file is no ELF file of this
 * machine. A shared object names none: out is "". */
static bool read_loader(FILE *file, char *out, size_t size)
{
    ElfW(Ehdr) head;
    out[0] = '\0';
    if (fseek(file, 0, SEEK_SET) != 0 || fread(&head, sizeof head, 1, file) != 1 ||
        memcmp(head.e_ident, ELFMAG, SELFMAG) != 0 ||
        head.e_ident[EI_CLASS] != (sizeof(void *) == 8 ? ELFCLASS64 : ELFCLASS32))
        return false;
    for (int i = 0; i < head.e_phnum; i++) {
        ElfW(Phdr) part;
        if (fseek(file, (long)(head.e_phoff + (size_t)i * head.e_phentsize), SEEK_SET) != 0 ||
            fread(&part, sizeof part, 1, file) != 1)
            return true;
        if (part.p_type != PT_INTERP)
            continue;
        size_t len = part.p_filesz < size ? part.p_filesz : size - 1;
        if (fseek(file, (long)part.p_offset, SEEK_SET) != 0 || fread(out, 1, len, file) != len)
            len = 0;
        out[len] = '\0';
        return true;
    }
    return true;
}

static bool starts(const char *text, const char *with)
{
    return strncmp(text, with, strlen(with)) == 0;
}

/* A library's name tells the MPI. Open MPI's libmpi is at 40, that of MPICH and those who
 * keep its ABI at 12; Debian calls the latter libmpich. */
static enum brio_mpi mpi_of_library(const char *name)
{
    if (starts(name, "libmpich") || starts(name, "libmpi.so.12") ||
        starts(name, "libbrio-mpich."))
        return BRIO_MPI_MPICH;
    if (starts(name, "libmpi.so.") || starts(name, "libmpi_mpifh.so") ||
        starts(name, "libopen-rte.so") || starts(name, "libbrio-openmpi."))
        return BRIO_MPI_OPENMPI;
    return BRIO_MPI_UNKNOWN;
}

/* Lines are "	name => path (address)". */
static enum brio_mpi mpi_of_listing(char *listing)
{
    char *rest = NULL;
    for (char *line = strtok_r(listing, "\n", &rest); line;
         line = strtok_r(NULL, "\n", &rest)) {
        line += strspn(line, " \t");
        line[strcspn(line, " ")] = '\0';
        char *slash = strrchr(line, '/');
        enum brio_mpi mpi = mpi_of_library(slash ? slash + 1 : line);
        if (mpi != BRIO_MPI_UNKNOWN)
            return mpi;
    }
    return BRIO_MPI_UNKNOWN;
}

static enum brio_mpi mpi_of_elf(const char *path, const char *loader)
{
    char own[256];
    if (!*loader) { /* a shared object: our own loader would load it */
        FILE *self = fopen("/proc/self/exe", "re");
        bool ok = self && read_loader(self, own, sizeof own);
        if (self)
            fclose(self);
        if (!ok || !*own)
            return BRIO_MPI_UNKNOWN;
        loader = own;
    }
    char *file = realpath(path, NULL);
    char *listing = malloc(OUTPUT_MAX);
    enum brio_mpi mpi = BRIO_MPI_UNKNOWN;
    if (file && listing) {
        const char *argv[] = {loader, "--list", file, NULL};
        brio_output_of(argv, listing, OUTPUT_MAX); /* what it lists before a failure counts */
        mpi = mpi_of_listing(listing);
    }
    free(listing);
    free(file);
    return mpi;
}

static const char *base_name(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash ? slash + 1 : path;
}

static enum brio_mpi mpi_of_file(const char *path, int depth);

static enum brio_mpi mpi_of_python(const char *python)
{
    static const char ask[] = "import importlib.util as u\n"
                              "s = u.find_spec('mpi4py.MPI')\n"
                              "print(s.origin if s else '')\n";
    const char *argv[] = {python, "-c", ask, NULL};
    char origin[LINE_MAX_LEN];
    if (!brio_output_of(argv, origin, sizeof origin))
        return BRIO_MPI_UNKNOWN;
    origin[strcspn(origin, "\n")] = '\0';
    return *origin ? mpi_of_file(origin, SCRIPT_DEPTH) : BRIO_MPI_UNKNOWN;
}

/* The program behind "#!", with env looked through. */
static char *interpreter(char *line)
{
    char *rest = NULL;
    char *word = strtok_r(line, " \t\n", &rest);
    if (!word || strcmp(base_name(word), "env") != 0)
        return word ? brio_program_find(word, NULL) : NULL;
    do
        word = strtok_r(NULL, " \t\n", &rest);
    while (word && (word[0] == '-' || strchr(word, '=')));
    return word ? brio_program_find(word, NULL) : NULL;
}

static enum brio_mpi mpi_of_script(FILE *file, int depth)
{
    char line[LINE_MAX_LEN];
    rewind(file);
    if (!fgets(line, sizeof line, file) || !starts(line, "#!"))
        return BRIO_MPI_UNKNOWN;
    char *program = interpreter(line + 2);
    enum brio_mpi mpi = program ? mpi_of_file(program, depth + 1) : BRIO_MPI_UNKNOWN;
    free(program);
    return mpi;
}

static enum brio_mpi mpi_of_file(const char *path, int depth)
{
    FILE *file = fopen(path, "re");
    if (!file)
        return BRIO_MPI_UNKNOWN;
    char loader[256];
    bool elf = read_loader(file, loader, sizeof loader);
    enum brio_mpi mpi = BRIO_MPI_UNKNOWN;
    if (elf)
        mpi = mpi_of_elf(path, loader);
    else if (depth < SCRIPT_DEPTH)
        mpi = mpi_of_script(file, depth);
    fclose(file);
    if (mpi == BRIO_MPI_UNKNOWN && starts(base_name(path), "python"))
        mpi = mpi_of_python(path);
    return mpi;
}

enum brio_mpi brio_program_mpi(const char *path, const char *const *args)
{
    enum brio_mpi mpi = mpi_of_file(path, 0);
    for (; mpi == BRIO_MPI_UNKNOWN && *args; args++) {
        char *file = (*args)[0] == '-' ? NULL : brio_program_find(*args, NULL);
        if (file)
            mpi = mpi_of_file(file, 0);
        free(file);
    }
    return mpi;
}
