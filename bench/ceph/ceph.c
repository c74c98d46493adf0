/* Collective writes of interleaved pieces, each way with hints and a file of its own, which
 * stays for those who want to know what the servers saw of it. A plain MPI program.
 *
 *     ceph FILE MIB REPS WAY:HINT=VALUE,...  WAY:...
 *
 * All ranks together write MIB in pieces of 10000 bytes, REPS times, the ways in turn; the file
 * of a way is FILE.WAY. Prints for each way: "WAY: S s, MB MiB/s, R of the first". */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    PIECE = 10000,
    WAYS = 8,
    REPS = 64
};

struct way {
    char name[64];
    MPI_Info info;
    double seconds[REPS];
};

static int rank, nranks;

static void split(const char *text, struct way *way)
{
    char copy[1024], *rest = NULL;
    size_t name = strcspn(text, ":");
    snprintf(way->name, sizeof way->name, "%.*s", (int)name, text);
    snprintf(copy, sizeof copy, "%s", text + name + (text[name] == ':'));
    MPI_Info_create(&way->info);
    for (char *one = strtok_r(copy, ",", &rest); one; one = strtok_r(NULL, ",", &rest)) {
        char *value = strchr(one, '=');
        if (!value)
            continue;
        *value++ = '\0';
        MPI_Info_set(way->info, one, value);
    }
}

static double write_once(const struct way *way, const char *file, const void *data, int pieces)
{
    char path[1024];
    MPI_File fh;
    MPI_Datatype type;
    snprintf(path, sizeof path, "%s.%s", file, way->name);
    MPI_File_open(MPI_COMM_WORLD, path, MPI_MODE_CREATE | MPI_MODE_WRONLY, way->info, &fh);
    MPI_Type_vector(pieces, PIECE, PIECE * nranks, MPI_BYTE, &type);
    MPI_Type_commit(&type);
    MPI_File_set_view(fh, (MPI_Offset)rank * PIECE, MPI_BYTE, type, "native", MPI_INFO_NULL);
    MPI_Barrier(MPI_COMM_WORLD);
    double began = MPI_Wtime();
    MPI_File_write_all(fh, data, pieces * PIECE, MPI_BYTE, MPI_STATUS_IGNORE);
    MPI_File_sync(fh);
    MPI_Barrier(MPI_COMM_WORLD);
    double seconds = MPI_Wtime() - began;
    MPI_Type_free(&type);
    MPI_File_close(&fh);
    return seconds;
}

static int by_size(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static double median(double *seconds, int n)
{
    qsort(seconds, (size_t)n, sizeof *seconds, by_size);
    return (seconds[(n - 1) / 2] + seconds[n / 2]) / 2;
}

int main(int argc, char **argv)
{
    static struct way ways[WAYS];
    MPI_Init(&argc, &argv);
    MPI_File_set_errhandler(MPI_FILE_NULL, MPI_ERRORS_ARE_FATAL);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &nranks);
    int nways = argc - 4, reps = argc > 4 ? atoi(argv[3]) : 0;
    if (nways < 1 || nways > WAYS || reps < 1 || reps > REPS) {
        fprintf(stderr, "usage: ceph FILE MIB REPS WAY:HINT=VALUE,... ...\n");
        MPI_Abort(MPI_COMM_WORLD, 2);
    }
    int pieces = (int)(atof(argv[2]) * 1048576 / PIECE / nranks);
    char *data = malloc((size_t)pieces * PIECE);
    if (!data)
        MPI_Abort(MPI_COMM_WORLD, 1);
    memset(data, 'a' + rank % 26, (size_t)pieces * PIECE);
    for (int w = 0; w < nways; w++)
        split(argv[4 + w], &ways[w]);
    for (int i = 0; i < reps; i++)
        for (int w = 0; w < nways; w++)
            ways[w].seconds[i] = write_once(&ways[w], argv[1], data, pieces);
    for (int w = 0; w < nways && rank == 0; w++) {
        double s = median(ways[w].seconds, reps),
               mib = (double)pieces * PIECE * nranks / 1048576;
        printf("%s: %.4f s, %.0f MiB/s, %.2f of the first\n", ways[w].name, s, mib / s,
               median(ways[0].seconds, reps) / s);
    }
    for (int w = 0; w < nways; w++)
        MPI_Info_free(&ways[w].info);
    free(data);
    MPI_Finalize();
    return 0;
}
