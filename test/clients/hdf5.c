/* Parallel HDF5 as its users write it: one file, many datasets that differ in layout, in
 * the shape of what a rank selects, and in collective or independent transfer.
 *
 *     hdf5 write FILE    creates the file and all datasets
 *     hdf5 read FILE     reads them back, each in both transfer modes, and checks each value
 *
 * The two are separate so that one MPI-IO can read what the other wrote. */
#include "clients.h"

#include <hdf5.h>
#include <stdbool.h>

enum {
    ROWS = 61,
    COLS = 83
};

enum layout {
    CONTIGUOUS,
    CHUNKED,
    DEFLATED, /* written collectively only: HDF5 demands it */
    GROWN     /* chunked, created small and extended */
};

enum shape {
    BY_ROWS,     /* a band of rows for each rank */
    BY_COLS,     /* a band of columns */
    TILES,       /* rows cyclic, every other column to the next rank */
    COMB,        /* every n-th element of each row: the finest grain */
    PATCHES,     /* a union of boxes: an irregular selection */
    POINTS,      /* single elements, listed */
    ONE_FOR_ALL, /* the last rank has everything, the others select nothing */
    SHAPES
};

struct plan {
    const char *name;
    enum layout layout;
    enum shape shape;
    H5FD_mpio_xfer_t xfer;
};

static const struct plan plans[] = {
    {"rows_coll", CONTIGUOUS, BY_ROWS, H5FD_MPIO_COLLECTIVE},
    {"rows_indep", CONTIGUOUS, BY_ROWS, H5FD_MPIO_INDEPENDENT},
    {"cols_coll", CONTIGUOUS, BY_COLS, H5FD_MPIO_COLLECTIVE},
    {"cols_indep", CONTIGUOUS, BY_COLS, H5FD_MPIO_INDEPENDENT},
    {"tiles_coll", CONTIGUOUS, TILES, H5FD_MPIO_COLLECTIVE},
    {"comb_coll", CONTIGUOUS, COMB, H5FD_MPIO_COLLECTIVE},
    {"comb_indep", CONTIGUOUS, COMB, H5FD_MPIO_INDEPENDENT},
    {"patches_coll", CONTIGUOUS, PATCHES, H5FD_MPIO_COLLECTIVE},
    {"points_coll", CONTIGUOUS, POINTS, H5FD_MPIO_COLLECTIVE},
    {"one_coll", CONTIGUOUS, ONE_FOR_ALL, H5FD_MPIO_COLLECTIVE},
    {"chunk_rows_coll", CHUNKED, BY_ROWS, H5FD_MPIO_COLLECTIVE},
    {"chunk_cols_coll", CHUNKED, BY_COLS, H5FD_MPIO_COLLECTIVE},
    {"chunk_cols_indep", CHUNKED, BY_COLS, H5FD_MPIO_INDEPENDENT},
    {"chunk_comb_coll", CHUNKED, COMB, H5FD_MPIO_COLLECTIVE},
    {"chunk_patches_indep", CHUNKED, PATCHES, H5FD_MPIO_INDEPENDENT},
    {"deflate_rows_coll", DEFLATED, BY_ROWS, H5FD_MPIO_COLLECTIVE},
    {"deflate_tiles_coll", DEFLATED, TILES, H5FD_MPIO_COLLECTIVE},
    {"grown_cols_coll", GROWN, BY_COLS, H5FD_MPIO_COLLECTIVE},
};
enum {
    PLANS = sizeof plans / sizeof plans[0]
};

static const double unwritten = -7, untouched = -1;
static double image[ROWS * COLS]; /* a full array in memory, selected as the file is */
static int writers;               /* ranks that wrote the file */

static double value(int plan, int row, int col)
{
    return 1e6 * (plan + 1) + row * COLS + col + 0.25;
}

/* Adds a box to the selection; empty boxes add nothing. */
static void add_box(hid_t space, hsize_t row, hsize_t col, hsize_t nrows, hsize_t ncols)
{
    hsize_t start[2] = {row, col}, count[2] = {nrows, ncols};
    if (nrows && ncols)
        CHECK(H5Sselect_hyperslab(space, H5S_SELECT_OR, start, NULL, count, NULL) >= 0,
              "select a box");
}

static void add_strided(hid_t space, hsize_t row, hsize_t row_step, hsize_t col,
                        hsize_t col_step)
{
    if (row >= ROWS || col >= COLS)
        return;
    hsize_t start[2] = {row, col}, stride[2] = {row_step, col_step};
    hsize_t count[2] = {(ROWS - row + row_step - 1) / row_step,
                        (COLS - col + col_step - 1) / col_step};
    CHECK(H5Sselect_hyperslab(space, H5S_SELECT_OR, start, stride, count, NULL) >= 0,
          "select every %d-th column", (int)col_step);
}

/* Every nranks-th element of the first 12 rows, in falling order within a row. */
static void add_points(hid_t space, int rank, int nranks)
{
    static hsize_t points[12 * COLS][2];
    size_t n = 0;
    for (hsize_t row = 0; row < 12; row++)
        for (hsize_t back = 1; back <= COLS; back++)
            if ((int)((row + COLS - back) % (hsize_t)nranks) == rank) {
                points[n][0] = row;
                points[n++][1] = COLS - back;
            }
    if (n)
        CHECK(H5Sselect_elements(space, H5S_SELECT_SET, n, points[0]) >= 0, "select points");
}

/* The rank that writes an element, or -1 if nobody does: select_shape said once more, in
 * other words, to check it. */
static int owner(enum shape shape, int row, int col, int nranks)
{
    int band = 0, first;
    switch (shape) {
    case BY_COLS:
        while (share_begin(COLS, band + 1, nranks) <= col)
            band++;
        return band;
    case TILES:
        return col % 2 == 0 ? row % nranks : (row % nranks + nranks - 1) % nranks;
    case COMB:
        return col % nranks;
    case POINTS:
        return row < 12 ? (row + col) % nranks : -1;
    case ONE_FOR_ALL:
        return nranks - 1;
    default:
        while (share_begin(ROWS, band + 1, nranks) <= row)
            band++;
        if (shape == BY_ROWS || col == 80 || col == 81)
            return band;
        first = row - (int)share_begin(ROWS, band, nranks);
        return first < 3 && col >= 5 + 23 * first && col < 12 + 26 * first ? band : -1;
    }
}

/* What `rank` of `nranks` has of a dataset; each element belongs to one rank. */
static hid_t select_shape(enum shape shape, int rank, int nranks)
{
    hsize_t dims[2] = {ROWS, COLS};
    hid_t space = H5Screate_simple(2, dims, NULL);
    H5Sselect_none(space);
    hsize_t r = (hsize_t)rank, n = (hsize_t)nranks;
    hsize_t row = (hsize_t)share_begin(ROWS, rank, nranks);
    hsize_t col = (hsize_t)share_begin(COLS, rank, nranks);
    hsize_t rows = (hsize_t)share_begin(ROWS, rank + 1, nranks) - row;
    hsize_t cols = (hsize_t)share_begin(COLS, rank + 1, nranks) - col;
    switch (shape) {
    case BY_ROWS:
        add_box(space, row, 0, rows, COLS);
        break;
    case BY_COLS:
        add_box(space, 0, col, ROWS, cols);
        break;
    case TILES:
        add_strided(space, r, n, 0, 2);
        add_strided(space, (r + 1) % n, n, 1, 2);
        break;
    case COMB:
        add_strided(space, 0, 1, r, n);
        break;
    case PATCHES:
        for (hsize_t i = 0; i < 3; i++)
            add_box(space, row + i, 5 + 23 * i, rows > i ? 1 : 0, 7 + 3 * i);
        add_box(space, row, 80, rows, 2);
        break;
    case POINTS:
        add_points(space, rank, nranks);
        break;
    default:
        if (rank == nranks - 1)
            add_box(space, 0, 0, ROWS, COLS);
    }
    return space;
}

static hid_t transfer(H5FD_mpio_xfer_t xfer)
{
    hid_t list = H5Pcreate(H5P_DATASET_XFER);
    CHECK(H5Pset_dxpl_mpio(list, xfer) >= 0, "H5Pset_dxpl_mpio");
    return list;
}

static hid_t create_dataset(hid_t file, const struct plan *plan)
{
    hsize_t dims[2] = {ROWS, COLS}, first[2] = {ROWS / 2, COLS / 3};
    hsize_t max[2] = {H5S_UNLIMITED, H5S_UNLIMITED}, chunk[2] = {16, 20};
    bool grown = plan->layout == GROWN;
    hid_t space = grown ? H5Screate_simple(2, first, max) : H5Screate_simple(2, dims, NULL);
    hid_t list = H5Pcreate(H5P_DATASET_CREATE);
    if (plan->layout != CONTIGUOUS)
        H5Pset_chunk(list, 2, chunk);
    if (plan->layout == DEFLATED)
        H5Pset_deflate(list, 6);
    H5Pset_fill_value(list, H5T_NATIVE_DOUBLE, &unwritten);
    hid_t set =
        H5Dcreate2(file, plan->name, H5T_IEEE_F64LE, space, H5P_DEFAULT, list, H5P_DEFAULT);
    CHECK(set >= 0, "create %s", plan->name);
    if (grown)
        CHECK(H5Dset_extent(set, dims) >= 0, "extend %s", plan->name);
    H5Pclose(list);
    H5Sclose(space);
    return set;
}

static void write_one(hid_t file, int index)
{
    const struct plan *plan = &plans[index];
    hid_t set = create_dataset(file, plan);
    hid_t space = select_shape(plan->shape, test_rank, test_nranks);
    hid_t list = transfer(plan->xfer);
    for (int i = 0; i < ROWS * COLS; i++)
        image[i] = value(index, i / COLS, i % COLS);
    CHECK(H5Dwrite(set, H5T_NATIVE_DOUBLE, space, space, list, image) >= 0, "write %s",
          plan->name);
    H5Pclose(list);
    H5Sclose(space);
    H5Dclose(set);
}

/* Reads what `shape` gives this rank and checks the whole image: what was written, the
 * fill value where nobody wrote, and no touch on what was not asked for. */
static void read_one(hid_t file, int index, enum shape shape, H5FD_mpio_xfer_t xfer)
{
    const struct plan *plan = &plans[index];
    hid_t set = H5Dopen2(file, plan->name, H5P_DEFAULT);
    hid_t space = select_shape(shape, test_rank, test_nranks);
    hid_t list = transfer(xfer);
    for (int i = 0; i < ROWS * COLS; i++)
        image[i] = untouched;
    CHECK(H5Dread(set, H5T_NATIVE_DOUBLE, space, space, list, image) >= 0, "read %s",
          plan->name);
    for (int i = 0; i < ROWS * COLS; i++) {
        int row = i / COLS, col = i % COLS;
        bool mine = owner(shape, row, col, test_nranks) == test_rank;
        bool written = owner(plan->shape, row, col, writers) >= 0;
        double want = !mine ? untouched : written ? value(index, row, col) : unwritten;
        CHECK(image[i] == want, "%s as shape %d, row %d, column %d: %g, not %g", plan->name,
              (int)shape, row, col, image[i], want);
    }
    H5Pclose(list);
    H5Sclose(space);
    H5Dclose(set);
}

/* A compound type, written with a hole in memory by every rank into a line of its own. */
struct particle {
    char kind;
    double mass;
    int id;
};

static hid_t particle_type(void)
{
    hid_t type = H5Tcreate(H5T_COMPOUND, sizeof(struct particle));
    H5Tinsert(type, "kind", HOFFSET(struct particle, kind), H5T_NATIVE_CHAR);
    H5Tinsert(type, "mass", HOFFSET(struct particle, mass), H5T_NATIVE_DOUBLE);
    H5Tinsert(type, "id", HOFFSET(struct particle, id), H5T_NATIVE_INT);
    return type;
}

enum {
    PARTICLES = 1000
};

static void particles(hid_t file, bool write)
{
    static struct particle p[PARTICLES];
    hsize_t dims[2] = {(hsize_t)writers, PARTICLES}, count[2] = {1, PARTICLES};
    hsize_t start[2] = {(hsize_t)(test_rank % writers), 0};
    hid_t type = particle_type(), list = transfer(H5FD_MPIO_COLLECTIVE);
    hid_t space = H5Screate_simple(2, dims, NULL), mem = H5Screate_simple(2, count, NULL);
    hid_t set = write ? H5Dcreate2(file, "particles", type, space, H5P_DEFAULT, H5P_DEFAULT,
                                   H5P_DEFAULT)
                      : H5Dopen2(file, "particles", H5P_DEFAULT);
    H5Sselect_hyperslab(space, H5S_SELECT_SET, start, NULL, count, NULL);
    for (int i = 0; write && i < PARTICLES; i++)
        p[i] = (struct particle){(char)('a' + i % 26), i * 0.5, (int)start[0] * PARTICLES + i};
    CHECK((write ? H5Dwrite(set, type, mem, space, list, p)
                 : H5Dread(set, type, mem, space, list, p)) >= 0,
          "particles");
    for (int i = 0; i < PARTICLES; i++)
        CHECK(p[i].kind == 'a' + i % 26 && p[i].mass == i * 0.5 &&
                  p[i].id == (int)start[0] * PARTICLES + i,
              "particle %d: %c %g %d", i, p[i].kind, p[i].mass, p[i].id);
    H5Dclose(set);
    H5Sclose(mem);
    H5Sclose(space);
    H5Pclose(list);
    H5Tclose(type);
}

/* Many small groups with attributes: metadata, which HDF5 writes in bits and pieces. */
static void groups(hid_t file, bool write)
{
    for (int i = 0; i < 40; i++) {
        char name[32];
        int got = i * i;
        snprintf(name, sizeof name, "group%02d", i);
        hid_t group = write ? H5Gcreate2(file, name, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT)
                            : H5Gopen2(file, name, H5P_DEFAULT);
        hid_t space = H5Screate(H5S_SCALAR);
        hid_t attr =
            write ? H5Acreate2(group, "square", H5T_STD_I32BE, space, H5P_DEFAULT, H5P_DEFAULT)
                  : H5Aopen(group, "square", H5P_DEFAULT);
        CHECK((write ? H5Awrite(attr, H5T_NATIVE_INT, &got)
                     : H5Aread(attr, H5T_NATIVE_INT, &got)) >= 0,
              "attribute of %s", name);
        CHECK(got == i * i, "attribute of %s: %d", name, got);
        H5Aclose(attr);
        H5Sclose(space);
        H5Gclose(group);
    }
}

/* The number of ranks that wrote, kept in the file. */
static void keep_writers(hid_t file, bool write)
{
    hid_t space = H5Screate(H5S_SCALAR);
    hid_t attr =
        write ? H5Acreate2(file, "writers", H5T_NATIVE_INT, space, H5P_DEFAULT, H5P_DEFAULT)
              : H5Aopen(file, "writers", H5P_DEFAULT);
    CHECK((write ? H5Awrite(attr, H5T_NATIVE_INT, &writers)
                 : H5Aread(attr, H5T_NATIVE_INT, &writers)) >= 0,
          "attribute writers");
    H5Aclose(attr);
    H5Sclose(space);
}

static void check_handle(hid_t file)
{
    MPI_File *fh = NULL;
    CHECK(H5Fget_vfd_handle(file, H5P_DEFAULT, (void **)&fh) >= 0 && fh, "no MPI_File");
    if (fh)
        check_served(*fh);
}

static void write_file(hid_t access, const char *path)
{
    hid_t file = H5Fcreate(path, H5F_ACC_TRUNC, H5P_DEFAULT, access);
    REQUIRE(file >= 0, "create %s", path);
    check_handle(file);
    writers = test_nranks;
    keep_writers(file, true);
    for (int i = 0; i < PLANS; i++)
        write_one(file, i);
    H5Fflush(file, H5F_SCOPE_GLOBAL);
    CHECK(H5Fset_mpi_atomicity(file, true) >= 0, "atomic mode");
    particles(file, true);
    CHECK(H5Fset_mpi_atomicity(file, false) >= 0, "no atomic mode");
    groups(file, true);
    CHECK(H5Fclose(file) >= 0, "close %s", path);
}

static void read_file(hid_t access, const char *path)
{
    hid_t file = H5Fopen(path, H5F_ACC_RDONLY, access);
    REQUIRE(file >= 0, "open %s", path);
    check_handle(file);
    keep_writers(file, false);
    for (int i = 0; i < PLANS; i++) {
        read_one(file, i, plans[i].shape, H5FD_MPIO_COLLECTIVE);
        read_one(file, i, plans[i].shape, H5FD_MPIO_INDEPENDENT);
        read_one(file, i, BY_COLS, H5FD_MPIO_COLLECTIVE);
        read_one(file, i, COMB, H5FD_MPIO_COLLECTIVE);
    }
    particles(file, false);
    groups(file, false);
    CHECK(H5Fclose(file) >= 0, "close %s", path);
}

int main(int argc, char **argv)
{
    clients_begin(&argc, &argv);
    if (argc != 3 || (strcmp(argv[1], "write") && strcmp(argv[1], "read"))) {
        fprintf(stderr, "usage: hdf5 write|read FILE\n");
        MPI_Abort(MPI_COMM_WORLD, 2);
    }
    hid_t access = H5Pcreate(H5P_FILE_ACCESS);
    H5Pset_fapl_mpio(access, MPI_COMM_WORLD, MPI_INFO_NULL);
    H5Pset_all_coll_metadata_ops(access, true);
    H5Pset_coll_metadata_write(access, true);
    if (strcmp(argv[1], "write") == 0)
        write_file(access, argv[2]);
    else
        read_file(access, argv[2]);
    H5Pclose(access);
    H5close();
    return clients_end(argv[1]);
}
