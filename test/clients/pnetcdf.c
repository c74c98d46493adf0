/* PnetCDF as its users write it, in the three classic formats: collective and independent
 * puts and gets of blocks, strided and mapped ones, lists of blocks, nonblocking requests
 * that are combined, buffered ones, record variables and fill values.
 *
 *     pnetcdf write FILE FORMAT    FORMAT is 1, 2 or 5
 *     pnetcdf read FILE */
#include "clients.h"

#include <pnetcdf.h>
#include <stdbool.h>

enum {
    ROWS = 40,
    COLS = 57,
    RECORDS = 5,
    PIECES = 6
};

static int nc; /* the open file */

static void ok(int err, const char *what)
{
    CHECK(err == NC_NOERR, "%s: %s", what, ncmpi_strerror(err));
}

static int value(int var, long row, long col)
{
    return (int)(100000 * (var + 1) + row * COLS + col);
}

/* Variables of two fixed dimensions, by their place in this list. */
enum {
    BY_ROWS,
    BY_COLS,
    INDEP,
    COMB,   /* vars: every n-th column */
    TURNED, /* varm: transposed in memory */
    LISTED, /* varn: pieces of rows */
    POSTED, /* iput of single rows, one wait_all */
    BUFFERED,
    HALF, /* only even rows are written; the rest is fill */
    VARS
};

static const char *const names[VARS] = {"by_rows", "by_cols", "indep",    "comb", "turned",
                                        "listed",  "posted",  "buffered", "half"};

struct box {
    MPI_Offset start[2], count[2];
};

static struct box rows_of(int rank)
{
    long first = share_begin(ROWS, rank, test_nranks);
    return (struct box){{first, 0}, {share_begin(ROWS, rank + 1, test_nranks) - first, COLS}};
}

static struct box cols_of(int rank)
{
    long first = share_begin(COLS, rank, test_nranks);
    return (struct box){{0, first}, {ROWS, share_begin(COLS, rank + 1, test_nranks) - first}};
}

static long size_of(const struct box *box)
{
    return (long)(box->count[0] * box->count[1]);
}

static void fill(int var, const struct box *box, long col_step, int *out)
{
    for (long i = 0; i < box->count[0]; i++)
        for (long j = 0; j < box->count[1]; j++)
            *out++ = value(var, box->start[0] + i, box->start[1] + j * col_step);
}

static void verify(int var, const struct box *box, long col_step, const int *got)
{
    for (long i = 0; i < box->count[0]; i++)
        for (long j = 0; j < box->count[1]; j++, got++) {
            int want = value(var, box->start[0] + i, box->start[1] + j * col_step);
            CHECK(*got == want, "%s row %ld of box, column %ld: %d, not %d", names[var], i, j,
                  *got, want);
        }
}

/* Row `i` of this rank in `pieces` parts, for varn. */
static int list_pieces(const struct box *box, MPI_Offset starts[][2], MPI_Offset counts[][2])
{
    int n = 0;
    for (long i = 0; i < box->count[0]; i++)
        for (int p = PIECES - 1; p >= 0; p--, n++) {
            long first = share_begin(COLS, p, PIECES);
            starts[n][0] = box->start[0] + i;
            starts[n][1] = first;
            counts[n][0] = 1;
            counts[n][1] = share_begin(COLS, p + 1, PIECES) - first;
        }
    return n;
}

static void listed(int var, bool write, int *buf)
{
    static MPI_Offset starts[ROWS * PIECES][2], counts[ROWS * PIECES][2];
    MPI_Offset *start[ROWS * PIECES], *count[ROWS * PIECES];
    struct box box = rows_of(test_rank);
    int n = list_pieces(&box, starts, counts);
    for (int i = 0; i < n; i++) {
        start[i] = starts[i];
        count[i] = counts[i];
    }
    int *at = buf;
    for (int i = 0; i < n; i++)
        for (long j = 0; write && j < counts[i][1]; j++)
            *at++ = value(var, starts[i][0], starts[i][1] + j);
    ok(write ? ncmpi_put_varn_int_all(nc, var, n, start, count, buf)
             : ncmpi_get_varn_int_all(nc, var, n, start, count, buf),
       "varn");
    at = buf;
    for (int i = 0; i < n; i++)
        for (long j = 0; j < counts[i][1]; j++, at++)
            CHECK(*at == value(var, starts[i][0], starts[i][1] + j), "listed: %d", *at);
}

/* Each row a request of its own; all are served by one collective call. */
static void posted(int var, bool write, bool buffered, int *buf)
{
    struct box box = cols_of(test_rank);
    int requests[ROWS], statuses[ROWS];
    MPI_Offset count[2] = {1, box.count[1]};
    if (write)
        fill(var, &box, 1, buf);
    if (buffered)
        ok(ncmpi_buffer_attach(nc, ROWS * COLS * (MPI_Offset)sizeof(int)), "buffer_attach");
    for (int i = 0; i < ROWS; i++) {
        MPI_Offset start[2] = {ROWS - 1 - i, box.start[1]};
        int *at = buf + start[0] * box.count[1];
        ok(buffered ? ncmpi_bput_vara_int(nc, var, start, count, at, &requests[i])
           : write  ? ncmpi_iput_vara_int(nc, var, start, count, at, &requests[i])
                    : ncmpi_iget_vara_int(nc, var, start, count, at, &requests[i]),
           "post");
    }
    if (buffered)
        memset(buf, 0, (size_t)size_of(&box) * sizeof *buf);
    ok(ncmpi_wait_all(nc, ROWS, requests, statuses), "wait_all");
    for (int i = 0; i < ROWS; i++)
        ok(statuses[i], "status of a request");
    if (buffered)
        ok(ncmpi_buffer_detach(nc), "buffer_detach");
    if (!write)
        verify(var, &box, 1, buf);
}

static void blocks(bool write, int *buf)
{
    struct box rows = rows_of(test_rank), cols = cols_of(test_rank);
    fill(BY_ROWS, &rows, 1, buf);
    if (write)
        ok(ncmpi_put_vara_int_all(nc, BY_ROWS, rows.start, rows.count, buf), "put rows");
    else
        ok(ncmpi_get_vara_int_all(nc, BY_ROWS, rows.start, rows.count, buf), "get rows");
    verify(BY_ROWS, &rows, 1, buf);
    memset(buf, 0, ROWS * COLS * sizeof *buf);
    if (write) {
        fill(BY_COLS, &cols, 1, buf);
        ok(ncmpi_put_vara_int_all(nc, BY_COLS, cols.start, cols.count, buf), "put columns");
    } else {
        ok(ncmpi_get_vara_int_all(nc, BY_COLS, cols.start, cols.count, buf), "get columns");
        verify(BY_COLS, &cols, 1, buf);
    }
    ok(ncmpi_begin_indep_data(nc), "begin_indep_data");
    memset(buf, 0, ROWS * COLS * sizeof *buf);
    if (write) {
        fill(INDEP, &cols, 1, buf);
        ok(ncmpi_put_vara_int(nc, INDEP, cols.start, cols.count, buf), "put independently");
    } else {
        ok(ncmpi_get_vara_int(nc, INDEP, cols.start, cols.count, buf), "get independently");
        verify(INDEP, &cols, 1, buf);
    }
    ok(ncmpi_end_indep_data(nc), "end_indep_data");
}

static void strided(bool write, int *buf)
{
    struct box comb = {{0, test_rank}, {ROWS, 0}};
    MPI_Offset step[2] = {1, test_nranks};
    comb.count[1] = (COLS - test_rank + test_nranks - 1) / test_nranks;
    memset(buf, 0, ROWS * COLS * sizeof *buf);
    if (write) {
        fill(COMB, &comb, test_nranks, buf);
        ok(ncmpi_put_vars_int_all(nc, COMB, comb.start, comb.count, step, buf), "put_vars");
    } else {
        ok(ncmpi_get_vars_int_all(nc, COMB, comb.start, comb.count, step, buf), "get_vars");
        verify(COMB, &comb, test_nranks, buf);
    }
}

/* In memory the columns are contiguous. */
static void turned(bool write, int *buf)
{
    struct box rows = rows_of(test_rank);
    MPI_Offset imap[2] = {1, rows.count[0]};
    memset(buf, 0, ROWS * COLS * sizeof *buf);
    for (long i = 0; write && i < rows.count[0]; i++)
        for (long j = 0; j < COLS; j++)
            buf[j * rows.count[0] + i] = value(TURNED, rows.start[0] + i, j);
    ok(write ? ncmpi_put_varm_int_all(nc, TURNED, rows.start, rows.count, NULL, imap, buf)
             : ncmpi_get_varm_int_all(nc, TURNED, rows.start, rows.count, NULL, imap, buf),
       "varm");
    for (long i = 0; i < rows.count[0]; i++)
        for (long j = 0; j < COLS; j++)
            CHECK(buf[j * rows.count[0] + i] == value(TURNED, rows.start[0] + i, j),
                  "turned row %ld column %ld: %d", i, j, buf[j * rows.count[0] + i]);
}

static void half(bool write, int *buf)
{
    struct box cols = cols_of(test_rank);
    MPI_Offset step[2] = {2, 1}, count[2] = {ROWS / 2, cols.count[1]};
    struct box even = {{cols.start[0], cols.start[1]}, {count[0], count[1]}};
    if (write) {
        for (long i = 0; i < count[0]; i++)
            for (long j = 0; j < count[1]; j++)
                buf[i * count[1] + j] = value(HALF, 2 * i, cols.start[1] + j);
        ok(ncmpi_put_vars_int_all(nc, HALF, even.start, even.count, step, buf), "put half");
        return;
    }
    ok(ncmpi_get_vara_int_all(nc, HALF, cols.start, cols.count, buf), "get half");
    for (long i = 0; i < ROWS; i++)
        for (long j = 0; j < cols.count[1]; j++) {
            int want = i % 2 ? NC_FILL_INT : value(HALF, i, cols.start[1] + j);
            CHECK(buf[i * cols.count[1] + j] == want, "half row %ld: %d, not %d", i,
                  buf[i * cols.count[1] + j], want);
        }
}

/* A record of doubles a rank and time; two record variables interleave in the file. */
static void records(int first_var, bool write)
{
    double line[COLS];
    long first = share_begin(COLS, test_rank, test_nranks);
    long n = share_begin(COLS, test_rank + 1, test_nranks) - first;
    MPI_Offset count[2] = {1, n};
    for (long t = 0; t < RECORDS; t++)
        for (int v = 0; v < 2; v++) {
            MPI_Offset start[2] = {t, first};
            for (long j = 0; j < n; j++)
                line[j] = write ? value(first_var + v, t, first + j) * 0.5 : -1;
            ok(write ? ncmpi_put_vara_double_all(nc, first_var + v, start, count, line)
                     : ncmpi_get_vara_double_all(nc, first_var + v, start, count, line),
               "record");
            for (long j = 0; j < n; j++)
                CHECK(line[j] == value(first_var + v, t, first + j) * 0.5,
                      "record %ld of variable %d: %g", t, v, line[j]);
        }
}

static void define(void)
{
    int dims[2], recs[2], id;
    ok(ncmpi_def_dim(nc, "row", ROWS, &dims[0]), "def_dim");
    ok(ncmpi_def_dim(nc, "col", COLS, &dims[1]), "def_dim");
    ok(ncmpi_def_dim(nc, "time", NC_UNLIMITED, &recs[0]), "def_dim");
    recs[1] = dims[1];
    for (int v = 0; v < VARS; v++) {
        ok(ncmpi_def_var(nc, names[v], NC_INT, 2, dims, &id), "def_var");
        CHECK(id == v, "variable %d is %d", v, id);
    }
    ok(ncmpi_def_var_fill(nc, HALF, 0, NULL), "def_var_fill");
    ok(ncmpi_def_var(nc, "wind", NC_DOUBLE, 2, recs, &id), "def_var");
    ok(ncmpi_def_var(nc, "rain", NC_FLOAT, 2, recs, &id), "def_var");
    ok(ncmpi_put_att_text(nc, NC_GLOBAL, "title", 6, "brio's"), "put_att");
    ok(ncmpi_enddef(nc), "enddef");
}

/* PnetCDF shows the hints that are in force for its MPI_File. */
static void check_hints(void)
{
    MPI_Info info;
    char text[64] = "";
    int found = 0;
    ok(ncmpi_inq_file_info(nc, &info), "inq_file_info");
    MPI_Info_get(info, "brio_version", (int)sizeof text - 1, text, &found);
    CHECK(found == brio_expected(), "brio_version %s", found ? text : "absent");
    MPI_Info_free(&info);
}

int main(int argc, char **argv)
{
    static int buf[ROWS * COLS];
    clients_begin(&argc, &argv);
    if (argc < 3 || (argc == 4) != (strcmp(argv[1], "write") == 0)) {
        fprintf(stderr, "usage: pnetcdf write FILE 1|2|5 | read FILE\n");
        MPI_Abort(MPI_COMM_WORLD, 2);
    }
    bool write = argc == 4;
    int format = !write                      ? 0
                 : strcmp(argv[3], "5") == 0 ? NC_64BIT_DATA
                 : strcmp(argv[3], "2") == 0 ? NC_64BIT_OFFSET
                                             : 0;
    int err =
        write ? ncmpi_create(MPI_COMM_WORLD, argv[2], NC_CLOBBER | format, MPI_INFO_NULL, &nc)
              : ncmpi_open(MPI_COMM_WORLD, argv[2], NC_NOWRITE, MPI_INFO_NULL, &nc);
    ok(err, argv[2]);
    if (err == NC_NOERR) {
        if (write)
            define();
        check_hints();
        blocks(write, buf);
        strided(write, buf);
        turned(write, buf);
        listed(LISTED, write, buf);
        posted(POSTED, write, false, buf);
        posted(BUFFERED, write, write, buf);
        half(write, buf);
        records(VARS, write);
        ok(ncmpi_close(nc), "close");
    }
    return clients_end(argv[1]);
}
