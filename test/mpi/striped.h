/* Files that are created with stripes as the user asks for, and what the library tells of them
 * afterwards. */
#ifndef BRIO_TEST_STRIPED_H
#define BRIO_TEST_STRIPED_H

#include "expect.h"

/* A value of the file's info, "" if there is none. */
static inline void text_of(MPI_File fh, const char *key, char value[64])
{
    MPI_Info info;
    int there = 0;
    value[0] = '\0';
    OK(MPI_File_get_info(fh, &info));
    MPI_Info_get(info, key, 63, value, &there);
    MPI_Info_free(&info);
}

static inline long long number_of(MPI_File fh, const char *key)
{
    char value[64];
    text_of(fh, key, value);
    return *value ? atoll(value) : -1;
}

/* What the file is opened with, and that its layout is used. */
static inline void expect_modules(MPI_File fh, const char *fs, const char *fbtl)
{
    char got_fs[64], got_fbtl[64], fcache[64];
    text_of(fh, "brio_fs", got_fs);
    text_of(fh, "brio_fbtl", got_fbtl);
    text_of(fh, "brio_fcache", fcache);
    CHECK(strcmp(got_fs, fs) == 0 && strcmp(got_fbtl, fbtl) == 0 &&
              strcmp(fcache, "stripe") == 0,
          "fs %s, fbtl %s, fcache %s", got_fs, got_fbtl, fcache);
}

static inline MPI_File open_striped(const char *factor, const char *unit)
{
    MPI_File fh = MPI_FILE_NULL;
    MPI_Info info;
    MPI_Info_create(&info);
    if (factor)
        MPI_Info_set(info, "striping_factor", factor);
    if (unit)
        MPI_Info_set(info, "striping_unit", unit);
    OK(MPI_File_open(MPI_COMM_WORLD, test_file(), MPI_MODE_RDWR | MPI_MODE_CREATE, info, &fh));
    MPI_Info_free(&info);
    return fh;
}

/* A new file, asked for with these hints, has `width` servers and units of `bytes`; and another
 * open with other hints changes nothing of it. */
static inline void expect_stripes(const char *factor, const char *unit, long long width,
                                  long long bytes)
{
    MPI_File fh = open_striped(factor, unit);
    CHECK(number_of(fh, "striping_factor") == width, "%s by %s: %lld wide",
          factor ? factor : "-", unit ? unit : "-", number_of(fh, "striping_factor"));
    CHECK(number_of(fh, "striping_unit") == bytes, "%s by %s: units of %lld",
          factor ? factor : "-", unit ? unit : "-", number_of(fh, "striping_unit"));
    OK(MPI_File_close(&fh));
    fh = open_striped("7", "131072");
    CHECK(number_of(fh, "striping_unit") == bytes && number_of(fh, "striping_factor") == width,
          "a second open tells %lld by %lld", number_of(fh, "striping_factor"),
          number_of(fh, "striping_unit"));
    OK(MPI_File_close(&fh));
    MPI_Barrier(MPI_COMM_WORLD);
    if (test_rank == 0)
        OK(MPI_File_delete(test_file(), MPI_INFO_NULL));
    MPI_Barrier(MPI_COMM_WORLD);
}

/* Each rank writes every n-th piece of 10000 bytes, collectively, over many stripes; all is
 * read by the system's calls. */
static inline void expect_data_in_stripes(const char *factor, const char *unit)
{
    enum {
        PIECE = 10000,
        PIECES = 60
    };
    static unsigned char mine[PIECE * PIECES], got[PIECE];
    MPI_Datatype type;
    MPI_File fh = open_striped(factor, unit);
    MPI_Type_vector(PIECES, PIECE, PIECE * test_nranks, MPI_BYTE, &type);
    MPI_Type_commit(&type);
    for (int i = 0; i < PIECE * PIECES; i++)
        mine[i] = (unsigned char)(i * 7 + i / PIECE + test_rank * 31);
    OK(MPI_File_set_view(fh, test_rank * PIECE, MPI_BYTE, type, "native", MPI_INFO_NULL));
    OK(MPI_File_write_all(fh, mine, PIECE * PIECES, MPI_BYTE, MPI_STATUS_IGNORE));
    sync_all(fh);
    for (int i = 0; i < PIECES; i++) {
        load_file(test_file(), (int64_t)PIECE * (i * test_nranks + test_rank), got, PIECE);
        CHECK(memcmp(got, mine + PIECE * i, PIECE) == 0, "piece %d", i);
    }
    MPI_Offset size;
    OK(MPI_File_get_size(fh, &size));
    CHECK(size == (MPI_Offset)PIECE * PIECES * test_nranks, "%lld bytes", (long long)size);
    MPI_Type_free(&type);
    OK(MPI_File_close(&fh));
}

/* An open with one hint that cannot work. */
static inline void expect_refused(const char *name, const char *key, const char *value,
                                  int class)
{
    MPI_File fh;
    MPI_Info info;
    MPI_Info_create(&info);
    MPI_Info_set(info, key, value);
    FAILS(MPI_File_open(MPI_COMM_WORLD, name, MPI_MODE_RDWR | MPI_MODE_CREATE, info, &fh),
          class);
    MPI_Info_free(&info);
}

#endif
