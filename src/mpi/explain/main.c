/* The program behind `brio explain`: it does to a file what an MPI program would do, through
 * the library that decides and explains, which is told to touch nothing.
 *
 *     brio-explain-MPI FILE write|read [VIEW]
 *
 * Not a part of the library. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

void brio_explain_start_dry(void);

static int rank, nranks;

/* What each rank accesses. */
struct pattern {
    MPI_Offset disp;
    MPI_Datatype type; /* of bytes; MPI_BYTE: all from disp on */
    long long bytes;
};

/* A number with k, m, g or t behind it; false if it is none. */
static int read_size(char **text, long long *out)
{
    static const char units[] = "kmgt";
    char *end;
    long long n = strtoll(*text, &end, 10);
    const char *unit = *end ? strchr(units, *end | 0x20) : NULL;
    if (end == *text || n <= 0 || n > (1LL << 40))
        return 0;
    for (long k = unit ? unit - units + 1 : 0; k > 0; k--)
        n *= 1024;
    if (unit)
        end++;
    *text = end;
    *out = n;
    return n > 0 && n <= (1LL << 50);
}

/* SIZE, or SIZExSIZE, ... : exactly n of them. */
static int read_sizes(char *text, int n, long long *out)
{
    for (int i = 0; i < n; i++) {
        if (i > 0 && *text++ != 'x')
            return 0;
        if (!read_size(&text, &out[i]))
            return 0;
    }
    return *text == '\0';
}

/* Blocks of all ranks in turn. */
static int make_blocks(char *text, struct pattern *p)
{
    long long n[2];
    MPI_Datatype block, spread;
    if (!read_sizes(text, 2, n) || n[0] > (1 << 30) || n[1] > (1 << 30) || n[0] * n[1] <= 0)
        return 0;
    MPI_Type_contiguous((int)n[0], MPI_BYTE, &block);
    MPI_Type_create_resized(block, 0, n[0] * nranks, &spread);
    MPI_Type_contiguous((int)n[1], spread, &p->type);
    MPI_Type_commit(&p->type);
    MPI_Type_free(&block);
    MPI_Type_free(&spread);
    p->disp = n[0] * rank;
    p->bytes = n[0] * n[1];
    return 1;
}

/* Each rank has a tile of a large array, with all ranks in a grid. */
static int make_tiles(char *text, struct pattern *p)
{
    long long n[3];
    int grid[2] = {0, 0};
    if (!read_sizes(text, 3, n) || n[2] > (1 << 30))
        return 0;
    MPI_Dims_create(nranks, 2, grid);
    if (n[0] * grid[0] > (1 << 30) || n[1] * grid[1] > (1 << 30))
        return 0;
    int whole[2] = {(int)n[0] * grid[0], (int)n[1] * grid[1]};
    int part[2] = {(int)n[0], (int)n[1]};
    int at[2] = {rank / grid[1] * part[0], rank % grid[1] * part[1]};
    MPI_Datatype element;
    MPI_Type_contiguous((int)n[2], MPI_BYTE, &element);
    MPI_Type_create_subarray(2, whole, part, at, MPI_ORDER_C, element, &p->type);
    MPI_Type_commit(&p->type);
    MPI_Type_free(&element);
    p->bytes = n[0] * n[1] * n[2];
    return 1;
}

static int make_pattern(char *view, struct pattern *p)
{
    char *colon = strchr(view, ':');
    *p = (struct pattern){.type = MPI_BYTE};
    if (!colon)
        return 0;
    *colon = '\0';
    if (strcmp(view, "blocks") == 0)
        return make_blocks(colon + 1, p);
    if (strcmp(view, "tiles") == 0)
        return make_tiles(colon + 1, p);
    if (strcmp(view, "contiguous") != 0 || !read_sizes(colon + 1, 1, &p->bytes))
        return 0;
    p->disp = p->bytes * rank;
    return 1;
}

static void say(int rc, const char *what)
{
    char text[MPI_MAX_ERROR_STRING];
    int len;
    MPI_Error_string(rc, text, &len);
    if (rank == 0)
        fprintf(stderr, "brio: explain: %s: %s\n", what, text);
}

/* One collective access of the whole pattern. Memory that is never touched costs nothing. */
static int access_all(MPI_File fh, int write, const struct pattern *p)
{
    void *buf = mmap(NULL, (size_t)p->bytes, PROT_READ | PROT_WRITE,
                     MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    MPI_Datatype memory = MPI_BYTE;
    int mine = buf == MAP_FAILED, any, count = (int)p->bytes;
    MPI_Allreduce(&mine, &any, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
    if (any) {
        if (rank == 0)
            fprintf(stderr, "brio: explain: %lld bytes are more than this machine can hold\n",
                    p->bytes);
        return 1;
    }
    if (p->bytes > (1 << 30)) { /* too many for a count */
        MPI_Type_contiguous(1 << 20, MPI_BYTE, &memory);
        MPI_Type_commit(&memory);
        count = (int)(p->bytes >> 20);
    }
    int rc = MPI_File_set_view(fh, p->disp, MPI_BYTE, p->type, "native", MPI_INFO_NULL);
    if (rc == MPI_SUCCESS && write)
        rc = MPI_File_write_all(fh, buf, count, memory, MPI_STATUS_IGNORE);
    else if (rc == MPI_SUCCESS)
        rc = MPI_File_read_all(fh, buf, count, memory, MPI_STATUS_IGNORE);
    if (rc != MPI_SUCCESS)
        say(rc, "the access");
    if (memory != MPI_BYTE)
        MPI_Type_free(&memory);
    munmap(buf, (size_t)p->bytes);
    return rc != MPI_SUCCESS;
}

int main(int argc, char **argv)
{
    struct pattern pattern;
    MPI_File fh;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &nranks);
    int write = argc > 2 && strcmp(argv[2], "read") != 0, bad = argc < 3;
    if (!bad && argc > 3 && !make_pattern(argv[3], &pattern)) {
        if (rank == 0)
            fprintf(stderr, "brio: explain: not a view: contiguous:SIZE, blocks:SIZExCOUNT or "
                            "tiles:ROWSxCOLUMNSxSIZE\n");
        bad = 2;
    }
    if (!bad) {
        brio_explain_start_dry();
        int amode = write ? MPI_MODE_RDWR | MPI_MODE_CREATE : MPI_MODE_RDONLY;
        if (strcmp(argv[2], "write-only") == 0)
            amode = MPI_MODE_WRONLY | MPI_MODE_CREATE;
        int rc = MPI_File_open(MPI_COMM_WORLD, argv[1], amode, MPI_INFO_NULL, &fh);
        if (rc != MPI_SUCCESS) {
            say(rc, "the open");
            bad = 1;
        } else {
            if (argc > 3)
                bad = access_all(fh, write, &pattern);
            MPI_File_close(&fh);
            if (argc > 3 && pattern.type != MPI_BYTE)
                MPI_Type_free(&pattern.type);
        }
    }
    MPI_Finalize();
    return bad;
}
