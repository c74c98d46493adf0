/* S3D-IO: a checkpoint of four arrays on a 3-D block partition - mass (11 components),
 * velocity (3), pressure, temperature - each with a view of its own and one collective write;
 * beside the limit (bench.h). The usual size is `s3d FILE 50`: 15.26 MiB a rank.
 *
 *     s3d FILE [points of a side, a rank] [checkpoints] [repetitions]
 */
#include "bench.h"

enum {
    ARRAYS = 4
};

static const int components[ARRAYS] = {11, 3, 1, 1};

struct s3d {
    struct boxes boxes[ARRAYS];
    MPI_Datatype type[ARRAYS];
    MPI_File fh;
};

/* An array is [component][z][y][x]: a box of each component. */
static void make_array(struct s3d *s, int a, int side)
{
    int grid[3] = {0, 0, 0}, size[4], sub[4], start[4] = {0};
    MPI_Dims_create(nranks, 3, grid);
    int at[3] = {rank / (grid[1] * grid[2]), rank / grid[2] % grid[1], rank % grid[2]};
    struct boxes *b = &s->boxes[a];
    memset(b, 0, sizeof *b);
    b->elem = 8;
    b->n = size[0] = sub[0] = components[a];
    for (int d = 0; d < 3; d++) {
        size[d + 1] = side * grid[d];
        sub[d + 1] = side;
        start[d + 1] = side * at[d];
        b->dim[d] = size[d + 1] * (d == 0 ? components[a] : 1);
    }
    for (int c = 0; c < b->n; c++)
        b->box[c] =
            (struct box){{c * size[1] + start[1], start[2], start[3]}, {side, side, side}};
    must(MPI_Type_create_subarray(4, size, sub, start, MPI_ORDER_C, MPI_DOUBLE, &s->type[a]),
         "subarray");
    must(MPI_Type_commit(&s->type[a]), "commit");
}

static void move(struct job *job, int write)
{
    struct s3d *s = job->more;
    long long base = 0;
    for (int i = 0; i < job->calls; i++) {
        char *buf = job->buf;
        for (int a = 0; a < ARRAYS; a++) {
            long long bytes = boxes_bytes(&s->boxes[a]);
            must(
                MPI_File_set_view(s->fh, base, MPI_DOUBLE, s->type[a], "native", MPI_INFO_NULL),
                "set_view");
            access_all(s->fh, write, 0, buf, (int)(bytes / 8), MPI_DOUBLE);
            buf += bytes;
            base += boxes_extent(&s->boxes[a]);
        }
    }
}

/* All arrays in turn; words are those of the first checkpoint. */
static long long words(struct job *job, int look)
{
    struct s3d *s = job->more;
    char *buf = job->buf;
    long long base = 0, bad = 0;
    for (int a = 0; a < ARRAYS; a++) {
        bad += boxes_words(&s->boxes[a], base, (uint64_t *)(void *)buf, look);
        buf += boxes_bytes(&s->boxes[a]);
        base += boxes_extent(&s->boxes[a]);
    }
    return bad;
}

static void fill(struct job *job)
{
    words(job, 0);
}

static long long check(struct job *job)
{
    return words(job, 1);
}

int main(int argc, char **argv)
{
    bench_start(&argc, &argv, "s3d");
    if (argc < 2) {
        if (rank == 0)
            fprintf(stderr, "usage: s3d FILE [points of a side] [checkpoints] [repetitions]\n");
        MPI_Finalize();
        return 2;
    }
    static struct s3d s;
    char name[64];
    int side = (int)bench_number(argc, argv, 2, 32, 1, 400);
    struct job job = {.name = name,
                      .calls = (int)bench_number(argc, argv, 3, 2, 1, 1000),
                      .move = move,
                      .fill = fill,
                      .check = check,
                      .more = &s};
    for (int a = 0; a < ARRAYS; a++) {
        make_array(&s, a, side);
        job.bytes += boxes_bytes(&s.boxes[a]);
    }
    s.fh = bench_open(argv[1], MPI_INFO_NULL);
    job.fd = open(argv[1], O_RDWR);
    snprintf(name, sizeof name, "s3d %d^3 a rank x %d", side, job.calls);
    job_share(&job);
    fill(&job);
    job_measure(&job, (int)bench_number(argc, argv, 4, 5, 1, BENCH_REPS));
    for (int a = 0; a < ARRAYS; a++)
        MPI_Type_free(&s.type[a]);
    close(job.fd);
    must(MPI_File_close(&s.fh), "close");
    if (rank == 0)
        unlink(argv[1]);
    MPI_Finalize();
    return 0;
}
