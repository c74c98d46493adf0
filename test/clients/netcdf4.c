/* Parallel netCDF-4 (over HDF5) as its users write it: fixed and unlimited dimensions,
 * contiguous, chunked and compressed variables, collective and independent access, blocks
 * and strides.
 *
 *     netcdf4 write FILE
 *     netcdf4 read FILE */
#include "clients.h"

#include <netcdf.h>
#include <netcdf_par.h>
#include <stdbool.h>

enum {
    ROWS = 50,
    COLS = 34,
    STEPS = 4
};

static int nc;

static void ok(int err, const char *what)
{
    CHECK(err == NC_NOERR, "%s: %s", what, nc_strerror(err));
}

static int value(int var, size_t row, size_t col)
{
    return (int)(10000 * (size_t)(var + 1) + row * COLS + col);
}

enum {
    PLAIN,  /* contiguous, bands of rows, collective */
    CHUNK,  /* chunked, bands of columns, collective */
    SOLO,   /* contiguous, bands of columns, independent */
    SQUASH, /* compressed, bands of rows, collective */
    COMB,   /* every n-th column, collective */
    VARS
};

static const char *const names[VARS] = {"plain", "chunk", "solo", "squash", "comb"};

static void define(void)
{
    int dims[2], grows[2], id;
    size_t chunks[2] = {7, 9};
    ok(nc_def_dim(nc, "row", ROWS, &dims[0]), "def_dim");
    ok(nc_def_dim(nc, "col", COLS, &dims[1]), "def_dim");
    ok(nc_def_dim(nc, "time", NC_UNLIMITED, &grows[0]), "def_dim");
    grows[1] = dims[1];
    for (int v = 0; v < VARS; v++) {
        ok(nc_def_var(nc, names[v], NC_INT, 2, dims, &id), "def_var");
        if (v == CHUNK || v == SQUASH)
            ok(nc_def_var_chunking(nc, id, NC_CHUNKED, chunks), "chunking");
        if (v == SQUASH)
            ok(nc_def_var_deflate(nc, id, 1, 1, 4), "deflate");
    }
    ok(nc_def_var(nc, "level", NC_DOUBLE, 2, grows, &id), "def_var");
    ok(nc_put_att_text(nc, NC_GLOBAL, "title", 6, "brio's"), "put_att");
    ok(nc_enddef(nc), "enddef");
}

static void move(int var, bool write)
{
    static int buf[ROWS * COLS];
    bool cols = var == CHUNK || var == SOLO, comb = var == COMB;
    size_t n = (size_t)(cols ? COLS : ROWS);
    size_t first = (size_t)share_begin((long)n, test_rank, test_nranks);
    size_t mine = (size_t)share_begin((long)n, test_rank + 1, test_nranks) - first;
    size_t start[2] = {cols ? 0 : first, cols ? first : 0};
    size_t count[2] = {cols ? ROWS : mine, cols ? mine : COLS};
    ptrdiff_t step[2] = {1, 1};
    if (comb) {
        start[0] = 0;
        start[1] = (size_t)test_rank;
        count[0] = ROWS;
        count[1] = (size_t)((COLS - test_rank + test_nranks - 1) / test_nranks);
        step[1] = test_nranks;
    }
    size_t total = count[0] * count[1];
    for (size_t i = 0; i < total; i++)
        buf[i] = write ? value(var, start[0] + i / count[1],
                               start[1] + i % count[1] * (size_t)step[1])
                       : -1;
    ok(nc_var_par_access(nc, var, var == SOLO ? NC_INDEPENDENT : NC_COLLECTIVE), "par_access");
    ok(write ? nc_put_vars_int(nc, var, start, count, step, buf)
             : nc_get_vars_int(nc, var, start, count, step, buf),
       names[var]);
    for (size_t i = 0; i < total; i++)
        CHECK(buf[i] == value(var, start[0] + i / count[1],
                              start[1] + i % count[1] * (size_t)step[1]),
              "%s element %zu of my share: %d", names[var], i, buf[i]);
}

static void records(bool write)
{
    double line[COLS];
    size_t first = (size_t)share_begin(COLS, test_rank, test_nranks);
    size_t n = (size_t)share_begin(COLS, test_rank + 1, test_nranks) - first;
    ok(nc_var_par_access(nc, VARS, NC_COLLECTIVE), "par_access");
    for (size_t t = 0; t < STEPS; t++) {
        size_t start[2] = {t, first}, count[2] = {1, n};
        for (size_t j = 0; j < n; j++)
            line[j] = write ? value(VARS, t, first + j) + 0.5 : -1;
        ok(write ? nc_put_vara_double(nc, VARS, start, count, line)
                 : nc_get_vara_double(nc, VARS, start, count, line),
           "record");
        for (size_t j = 0; j < n; j++)
            CHECK(line[j] == value(VARS, t, first + j) + 0.5, "step %zu: %g", t, line[j]);
    }
}

int main(int argc, char **argv)
{
    clients_begin(&argc, &argv);
    if (argc != 3) {
        fprintf(stderr, "usage: netcdf4 write|read FILE\n");
        MPI_Abort(MPI_COMM_WORLD, 2);
    }
    bool write = strcmp(argv[1], "write") == 0;
    int mode = NC_CLOBBER | NC_NETCDF4;
    int err = write ? nc_create_par(argv[2], mode, MPI_COMM_WORLD, MPI_INFO_NULL, &nc)
                    : nc_open_par(argv[2], NC_NOWRITE, MPI_COMM_WORLD, MPI_INFO_NULL, &nc);
    ok(err, argv[2]);
    if (err == NC_NOERR) {
        if (write)
            define();
        for (int v = 0; v < VARS; v++)
            move(v, write);
        records(write);
        ok(nc_close(nc), "close");
    }
    return clients_end(argv[1]);
}
