/* NPB BT-IO: the solution of a cube of points, 5 doubles each, on a diagonal multi-partition
 * (each of q x q ranks has q cells), appended at every step by one collective write, and read
 * back the same way; beside the limit (bench.h). Class C is `btio FILE 162 40`. Ranks beyond
 * the largest square take part with nothing.
 *
 *     btio FILE [points of a side] [steps] [repetitions]
 */
#include "bench.h"

struct bt {
    struct boxes boxes;
    MPI_File fh;
    MPI_Datatype elem;
};

/* The view is tiled: step i is its i-th tile. */
static void move(struct job *job, int write)
{
    struct bt *bt = job->more;
    long long n = boxes_elements(&bt->boxes);
    for (int i = 0; i < job->calls; i++)
        access_all(bt->fh, write, (MPI_Offset)(i * n), job->buf, (int)n, bt->elem);
}

/* The words of the first step stand for those of all. */
static void fill(struct job *job)
{
    struct bt *bt = job->more;
    boxes_words(&bt->boxes, 0, (uint64_t *)(void *)job->buf, 0);
}

/* The last step was the last one read: the same words, from another place. */
static long long check(struct job *job)
{
    struct bt *bt = job->more;
    return boxes_words(&bt->boxes, 0, (uint64_t *)(void *)job->buf, 1);
}

int main(int argc, char **argv)
{
    bench_start(&argc, &argv, "btio");
    if (argc < 2) {
        if (rank == 0)
            fprintf(stderr, "usage: btio FILE [points of a side] [steps] [repetitions]\n");
        MPI_Finalize();
        return 2;
    }
    struct bt bt;
    char name[64];
    int side = (int)bench_number(argc, argv, 2, 64, 1, 1000);
    bt_boxes(&bt.boxes, side, 0);
    bt.fh = bench_open(argv[1], MPI_INFO_NULL);
    bt.elem = element_type(bt.boxes.elem);
    MPI_Datatype type = boxes_type(&bt.boxes);
    must(MPI_File_set_view(bt.fh, 0, bt.elem, type, "native", MPI_INFO_NULL), "set_view");
    struct job job = {.name = name,
                      .fd = open(argv[1], O_RDWR),
                      .bytes = boxes_bytes(&bt.boxes),
                      .calls = (int)bench_number(argc, argv, 3, 6, 1, 1000),
                      .move = move,
                      .fill = fill,
                      .check = check,
                      .more = &bt};
    snprintf(name, sizeof name, "btio %d^3 x %d steps", side, job.calls);
    job_share(&job);
    fill(&job);
    job_measure(&job, (int)bench_number(argc, argv, 4, 5, 1, BENCH_REPS));
    MPI_Type_free(&type);
    MPI_Type_free(&bt.elem);
    close(job.fd);
    must(MPI_File_close(&bt.fh), "close");
    if (rank == 0)
        unlink(argv[1]);
    MPI_Finalize();
    return 0;
}
