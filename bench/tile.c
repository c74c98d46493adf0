/* MPI-TILE-IO: a 2-D array of elements of 64 bytes, and one of 1 MiB, each rank with one tile
 * of it, written and read collectively, beside the limit (bench.h).
 *
 *     tile FILE [MiB in all] [repetitions] [bytes of an element...]
 */
#include "bench.h"

struct tile {
    struct boxes boxes;
    MPI_File fh;
    MPI_Datatype elem;
};

static void move(struct job *job, int write)
{
    struct tile *t = job->more;
    access_all(t->fh, write, 0, job->buf, (int)boxes_elements(&t->boxes), t->elem);
}

static void fill(struct job *job)
{
    struct tile *t = job->more;
    boxes_words(&t->boxes, 0, (uint64_t *)(void *)job->buf, 0);
}

static long long check(struct job *job)
{
    struct tile *t = job->more;
    return boxes_words(&t->boxes, 0, (uint64_t *)(void *)job->buf, 1);
}

/* As wide and as high as mpi-tile-io's usual tiles: 1.28 to 1. */
static void measure(const char *path, long mib, int reps, int elem)
{
    struct tile t;
    char name[64];
    int grid[2] = {0, 0}, width = 1;
    MPI_Dims_create(nranks, 2, grid);
    long each = (mib << 20) / nranks / elem;
    if (each < 1)
        each = 1;
    while ((long)width * width * 100 < each * 128)
        width++;
    long height = each / width > 0 ? each / width : 1;
    tile_boxes(&t.boxes, (int)height * grid[0], width * grid[1], elem, 0);
    t.fh = bench_open(path, MPI_INFO_NULL);
    t.elem = element_type(elem);
    MPI_Datatype type = boxes_type(&t.boxes);
    must(MPI_File_set_view(t.fh, 0, t.elem, type, "native", MPI_INFO_NULL), "set_view");
    snprintf(name, sizeof name, "tile %d bytes", elem);
    struct job job = {.name = name,
                      .fd = open(path, O_RDWR),
                      .bytes = boxes_bytes(&t.boxes),
                      .calls = 1,
                      .move = move,
                      .fill = fill,
                      .check = check,
                      .more = &t};
    job_share(&job);
    fill(&job);
    job_measure(&job, reps);
    MPI_Type_free(&type);
    MPI_Type_free(&t.elem);
    close(job.fd);
    must(MPI_File_close(&t.fh), "close");
    if (rank == 0)
        unlink(path);
}

int main(int argc, char **argv)
{
    bench_start(&argc, &argv, "tile");
    if (argc < 2) {
        if (rank == 0)
            fprintf(stderr, "usage: tile FILE [MiB in all] [repetitions] [bytes...]\n");
        MPI_Finalize();
        return 2;
    }
    long mib = bench_number(argc, argv, 2, 64, 1, 1 << 20);
    int reps = (int)bench_number(argc, argv, 3, 5, 1, BENCH_REPS);
    if (argc <= 4) {
        measure(argv[1], mib, reps, 64);
        measure(argv[1], mib, reps, 1 << 20);
    }
    for (int i = 4; i < argc; i++)
        measure(argv[1], mib, reps, (int)bench_number(argc, argv, i, 0, 8, 1 << 28) / 8 * 8);
    MPI_Finalize();
    return 0;
}
