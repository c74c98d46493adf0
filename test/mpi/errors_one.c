/* Mistakes and failures of one rank only: every rank of the collective gets an error, none
 * hangs, none is told of bytes that did not move, and the next collective works. */
#include <signal.h>

#include "fault/expect.h"

/* Large enough that a rank's data is more than one rank alone could be forgiven for. */
enum {
    BLOCK = 4096
};

static char block[BLOCK];

/* The rank that errs in this round: the first, then the last. */
static int culprit(int round)
{
    return round == 0 ? 0 : test_nranks - 1;
}

static bool guilty(int round)
{
    return test_rank == culprit(round);
}

static int rounds(void)
{
    return test_nranks > 1 ? 2 : 1;
}

/* The culprit knows what it did wrong; the others are told that something went wrong. */
static void expect_verdict(int line, const char *what, int code, int round, int class)
{
    if (guilty(round))
        expect(line, what, code, class, class);
    else
        expect(line, what, code, ANY_ERROR, ANY_ERROR);
}

#define EXPECT_VERDICT(call, round, class) expect_verdict(__LINE__, #call, call, round, class)

struct mistake {
    const char *name;
    int class;
    int needs; /* only for forms with these flags */
};

enum {
    BAD_COUNT,
    BAD_TYPE,
    BAD_LOOSE,
    BAD_OFFSET,
    BAD_ETYPES,
    BAD_BUFFER,
    MISTAKES
};

static const struct mistake mistakes[MISTAKES] = {
    [BAD_COUNT] = {"negative count", MPI_ERR_COUNT, 0},
    [BAD_TYPE] = {"null datatype", MPI_ERR_TYPE, 0},
    [BAD_LOOSE] = {"uncommitted datatype", MPI_ERR_TYPE, 0},
    [BAD_OFFSET] = {"negative offset", MPI_ERR_ARG, FORM_AT},
    [BAD_ETYPES] = {"not a multiple of the etype", MPI_ERR_IO, 0},
    [BAD_BUFFER] = {"null buffer", ANY_ERROR, 0},
};

static void spoil(struct form_call *call, int mistake, MPI_Datatype loose)
{
    switch (mistake) {
    case BAD_COUNT:
        call->count = -1;
        break;
    case BAD_TYPE:
        call->type = MPI_DATATYPE_NULL;
        break;
    case BAD_LOOSE:
        call->type = loose;
        call->count = 1;
        break;
    case BAD_OFFSET:
        call->off = -1;
        break;
    case BAD_ETYPES:
        call->count = 3;
        break;
    default:
        call->buf = NULL;
    }
}

static void one_mistake(MPI_File fh, const struct form *form, int mistake, int round)
{
    MPI_Datatype loose;
    MPI_Type_contiguous(4, MPI_INT, &loose);
    struct form_call call = {
        .fh = fh, .off = test_rank * 2, .buf = block, .count = 8, .type = MPI_BYTE};
    if (guilty(round))
        spoil(&call, mistake, loose);
    MPI_Count bytes;
    int code = form_run(form, &call, &bytes);
    char what[100];
    snprintf(what, sizeof what, "%s, %s", form->name, mistakes[mistake].name);
    expect_verdict(__LINE__, what, code, round, mistakes[mistake].class);
    CHECK(!guilty(round) || bytes == 0, "%s: the culprit claims %lld bytes", what,
          (long long)bytes);
    MPI_Type_free(&loose);
}

/* A view of ints, so that offsets and counts can fail to fit. */
static void int_view(MPI_File fh)
{
    EXPECT_OK(MPI_File_set_view(fh, 0, MPI_INT, MPI_INT, "native", MPI_INFO_NULL));
    EXPECT_OK(MPI_File_seek_shared(fh, 0, MPI_SEEK_SET));
}

static void every_mistake(int mistake)
{
    MPI_File fh = open_new();
    REQUIRE(fh != MPI_FILE_NULL, "no file");
    EXPECT_OK(MPI_File_set_size(fh, 64 * test_nranks));
    for (int i = 0; i < FORMS; i++) {
        if (!form_is(&forms[i], FORM_COLL | mistakes[mistake].needs))
            continue;
        for (int round = 0; round < rounds(); round++) {
            int_view(fh);
            one_mistake(fh, &forms[i], mistake, round);
            STILL_WORKS(fh);
        }
    }
    close_file(&fh);
}

static void count_negative(void)
{
    every_mistake(BAD_COUNT);
}

static void datatype_null(void)
{
    every_mistake(BAD_TYPE);
}

static void datatype_uncommitted(void)
{
    every_mistake(BAD_LOOSE);
}

static void offset_negative(void)
{
    every_mistake(BAD_OFFSET);
}

static void not_a_multiple_of_etype(void)
{
    every_mistake(BAD_ETYPES);
}

static void buffer_null(void)
{
    every_mistake(BAD_BUFFER);
}

static void open_differs(void)
{
    if (test_nranks < 2)
        SKIP("needs two ranks");
    make_file(test_file(), 8);
    for (int round = 0; round < 2; round++) {
        MPI_File fh = MPI_FILE_NULL;
        int amode = guilty(round) ? MPI_MODE_RDONLY : MPI_MODE_RDWR;
        EXPECT(MPI_File_open(MPI_COMM_WORLD, test_file(), amode, MPI_INFO_NULL, &fh),
               MPI_ERR_NOT_SAME);
        amode = guilty(round) ? MPI_MODE_RDWR | MPI_MODE_WRONLY : MPI_MODE_RDWR;
        EXPECT_VERDICT(MPI_File_open(MPI_COMM_WORLD, test_file(), amode, MPI_INFO_NULL, &fh),
                       round, MPI_ERR_AMODE);
        const char *name = guilty(round) ? NULL : test_file();
        EXPECT_ERROR(MPI_File_open(MPI_COMM_WORLD, name, MPI_MODE_RDWR, MPI_INFO_NULL, &fh));
    }
    MPI_File fh = open_file(MPI_MODE_RDWR);
    STILL_WORKS(fh);
    close_file(&fh);
}

static void open_hints_differ(void)
{
    if (test_nranks < 2)
        SKIP("needs two ranks");
    static const char *const keys[] = {"cb_buffer_size", "cb_nodes", "striping_unit"};
    for (size_t i = 0; i < sizeof keys / sizeof keys[0]; i++) {
        MPI_Info info;
        MPI_File fh = MPI_FILE_NULL;
        MPI_Info_create(&info);
        MPI_Info_set(info, keys[i], test_rank == 0 ? "1048576" : "2097152");
        int code = MPI_File_open(MPI_COMM_WORLD, test_file(), MPI_MODE_CREATE | MPI_MODE_RDWR,
                                 info, &fh);
        expect(__LINE__, keys[i], code, MPI_ERR_NOT_SAME, MPI_ERR_NOT_SAME);
        if (code == MPI_SUCCESS)
            MPI_File_close(&fh);
        MPI_Info_free(&info);
    }
    MPI_File fh = open_new();
    STILL_WORKS(fh);
    close_file(&fh);
}

/* One rank has no descriptor left. */
static void open_fails(void)
{
    make_file(test_file(), 8);
    for (int round = 0; round < rounds(); round++) {
        struct rlimit before, none;
        MPI_File fh = MPI_FILE_NULL;
        MPI_Barrier(MPI_COMM_WORLD);
        getrlimit(RLIMIT_NOFILE, &before);
        none = before;
        none.rlim_cur = 0;
        if (guilty(round))
            setrlimit(RLIMIT_NOFILE, &none);
        int code =
            MPI_File_open(MPI_COMM_WORLD, test_file(), MPI_MODE_RDWR, MPI_INFO_NULL, &fh);
        setrlimit(RLIMIT_NOFILE, &before);
        EXPECT_ERROR(code);
        CHECK(fh == MPI_FILE_NULL, "a failed open gives a handle");
    }
    MPI_File fh = open_file(MPI_MODE_RDWR);
    STILL_WORKS(fh);
    close_file(&fh);
}

/* An open that failed leaves nothing behind that the next one, of other ranks, would upset. */
static void open_after_a_failed_one(void)
{
    char path[600];
    static const char *const caches[] = {"none", "writebehind", "coherent"};
    snprintf(path, sizeof path, "%s.own", test_file());
    for (int i = 0; i < 60; i++) {
        MPI_Info info;
        MPI_File fh = MPI_FILE_NULL, own;
        MPI_Info_create(&info);
        MPI_Info_set(info, "cache", caches[i % 3]);
        MPI_Info_set(info, "cb_nodes", test_rank == 0 ? "1" : "2");
        int code = MPI_File_open(MPI_COMM_WORLD, test_file(), MPI_MODE_CREATE | MPI_MODE_WRONLY,
                                 info, &fh);
        MPI_Info_free(&info);
        CHECK((code == MPI_SUCCESS) == (test_nranks == 1), "open gives %d", code);
        if (code == MPI_SUCCESS)
            MPI_File_close(&fh);
        if (test_rank > 0)
            continue;
        EXPECT_OK(MPI_File_open(MPI_COMM_SELF, path, MPI_MODE_CREATE | MPI_MODE_RDWR,
                                MPI_INFO_NULL, &own));
        EXPECT_OK(MPI_File_close(&own));
    }
}

struct view_mistake {
    MPI_Offset disp;
    MPI_Datatype etype, filetype;
    const char *rep;
    int class;
};

static void view_with(MPI_File fh, const struct view_mistake *wrong, int round)
{
    MPI_Offset disp = -1;
    MPI_Datatype e, t;
    char rep[MPI_MAX_DATAREP_STRING];
    int_view(fh);
    if (guilty(round))
        EXPECT(MPI_File_set_view(fh, wrong->disp, wrong->etype, wrong->filetype, wrong->rep,
                                 MPI_INFO_NULL),
               wrong->class);
    else
        EXPECT_ERROR(MPI_File_set_view(fh, 8, MPI_INT, MPI_INT, "native", MPI_INFO_NULL));
    EXPECT_OK(MPI_File_get_view(fh, &disp, &e, &t, rep));
    CHECK(disp == 0 && e == MPI_INT && t == MPI_INT, "a refused set_view changed the view");
    STILL_WORKS(fh);
}

static void set_view_wrong(void)
{
    MPI_Datatype loose, three;
    MPI_Type_contiguous(2, MPI_INT, &loose);
    MPI_Type_contiguous(3, MPI_BYTE, &three);
    MPI_Type_commit(&three);
    const struct view_mistake wrong[] = {
        {-8, MPI_INT, MPI_INT, "native", MPI_ERR_ARG},
        {0, MPI_DATATYPE_NULL, MPI_INT, "native", MPI_ERR_TYPE},
        {0, MPI_INT, MPI_DATATYPE_NULL, "native", MPI_ERR_TYPE},
        {0, MPI_INT, loose, "native", MPI_ERR_TYPE},
        {0, MPI_INT, three, "native", MPI_ERR_ARG},
        {0, MPI_INT, MPI_INT, "clay", MPI_ERR_UNSUPPORTED_DATAREP},
        {0, MPI_INT, MPI_INT, NULL, ANY_ERROR},
    };
    MPI_File fh = open_new();
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++)
        for (int round = 0; round < rounds(); round++)
            view_with(fh, &wrong[i], round);
    close_file(&fh);
    MPI_Type_free(&loose);
    MPI_Type_free(&three);
}

static void set_view_differs(void)
{
    if (test_nranks < 2)
        SKIP("needs two ranks");
    MPI_File fh = open_new();
    for (int round = 0; round < 2; round++) {
        const char *rep = guilty(round) ? "external32" : "native";
        EXPECT(MPI_File_set_view(fh, 0, MPI_INT, MPI_INT, rep, MPI_INFO_NULL),
               MPI_ERR_NOT_SAME);
        STILL_WORKS(fh);
        MPI_Datatype type = guilty(round) ? MPI_DOUBLE : MPI_INT;
        EXPECT(MPI_File_set_view(fh, 0, type, type, "native", MPI_INFO_NULL), MPI_ERR_NOT_SAME);
        STILL_WORKS(fh);
    }
    close_file(&fh);
}

/* Values that must be equal on all ranks and are not: nothing happens, all are told. */
static void sizes_differ(void)
{
    if (test_nranks < 2)
        SKIP("needs two ranks");
    MPI_File fh = open_new();
    MPI_Offset size = -1, at = -1;
    int atomic = -1;
    STILL_WORKS(fh);
    EXPECT_OK(MPI_File_set_size(fh, 500));
    EXPECT_OK(MPI_File_seek_shared(fh, 3, MPI_SEEK_SET));
    MPI_Offset mine = test_rank == 0 ? 1000 : 2000;
    EXPECT_OR(MPI_File_set_size(fh, mine), MPI_ERR_NOT_SAME, MPI_ERR_ARG);
    EXPECT_OR(MPI_File_preallocate(fh, mine), MPI_ERR_NOT_SAME, MPI_ERR_ARG);
    EXPECT_OR(MPI_File_seek_shared(fh, mine, MPI_SEEK_SET), MPI_ERR_NOT_SAME, MPI_ERR_ARG);
    EXPECT_OR(MPI_File_seek_shared(fh, 0, test_rank == 0 ? MPI_SEEK_SET : MPI_SEEK_CUR),
              MPI_ERR_NOT_SAME, MPI_ERR_ARG);
    EXPECT_OR(MPI_File_set_atomicity(fh, test_rank == 0), MPI_ERR_NOT_SAME, MPI_ERR_ARG);
    EXPECT_OK(MPI_File_get_size(fh, &size));
    EXPECT_OK(MPI_File_get_position_shared(fh, &at));
    EXPECT_OK(MPI_File_get_atomicity(fh, &atomic));
    CHECK(size == 500 && at == 3 && atomic == 0, "size %lld, shared %lld, atomic %d",
          (long long)size, (long long)at, atomic);
    STILL_WORKS(fh);
    close_file(&fh);
}

static void sizes_wrong(void)
{
    MPI_File fh = open_new();
    MPI_Offset size = -1;
    STILL_WORKS(fh);
    EXPECT_OK(MPI_File_set_size(fh, 500));
    for (int round = 0; round < rounds(); round++) {
        MPI_Offset mine = guilty(round) ? -1 : 1000;
        EXPECT_VERDICT(MPI_File_set_size(fh, mine), round, MPI_ERR_ARG);
        EXPECT_VERDICT(MPI_File_preallocate(fh, mine), round, MPI_ERR_ARG);
        EXPECT_VERDICT(MPI_File_seek_shared(fh, mine, MPI_SEEK_SET), round, MPI_ERR_ARG);
        int whence = guilty(round) ? 999 : MPI_SEEK_SET;
        EXPECT_VERDICT(MPI_File_seek_shared(fh, 5, whence), round, MPI_ERR_ARG);
        EXPECT_OK(MPI_File_get_size(fh, &size));
        CHECK(size == 500, "the size is %lld", (long long)size);
        STILL_WORKS(fh);
        EXPECT_OK(MPI_File_set_size(fh, 500));
    }
    close_file(&fh);
}

/* A user's data representation whose functions fail where they are told to. */
static int conversion_fails;

static int extent_of(MPI_Datatype type, MPI_Aint *extent, void *state)
{
    int size;
    (void)state;
    MPI_Type_size(type, &size);
    *extent = size;
    return MPI_SUCCESS;
}

static int to_file(void *user, MPI_Datatype type, int count, void *file, MPI_Offset position,
                   void *state)
{
    int size;
    (void)state;
    MPI_Type_size(type, &size);
    if (conversion_fails)
        return MPI_ERR_OTHER;
    memcpy(file, (char *)user + position * size, (size_t)count * (size_t)size);
    return MPI_SUCCESS;
}

static int to_memory(void *user, MPI_Datatype type, int count, void *file, MPI_Offset position,
                     void *state)
{
    int size;
    (void)state;
    MPI_Type_size(type, &size);
    if (conversion_fails)
        return MPI_ERR_OTHER;
    memcpy((char *)user + position * size, file, (size_t)count * (size_t)size);
    return MPI_SUCCESS;
}

static void conversion_fails_on_one(void)
{
    EXPECT_OK(MPI_Register_datarep("one-fails", to_memory, to_file, extent_of, NULL));
    MPI_File fh = open_new();
    EXPECT_OK(MPI_File_set_size(fh, 4 * BLOCK * test_nranks));
    for (int i = 0; i < FORMS; i++) {
        if (!form_is(&forms[i], FORM_COLL))
            continue;
        for (int round = 0; round < rounds(); round++) {
            MPI_Count bytes;
            EXPECT_OK(MPI_File_set_view(fh, 0, MPI_INT, MPI_INT, "one-fails", MPI_INFO_NULL));
            struct form_call call = {
                .fh = fh, .off = test_rank * 8, .buf = block, .count = 8, .type = MPI_INT};
            expect(__LINE__, forms[i].name, form_run(&forms[i], &call, &bytes), MPI_SUCCESS,
                   MPI_SUCCESS);
            CHECK(bytes == 32, "%s: %lld bytes", forms[i].name, (long long)bytes);
            conversion_fails = guilty(round);
            int code = form_run(&forms[i], &call, &bytes);
            conversion_fails = 0;
            expect_verdict(__LINE__, forms[i].name, code, round, MPI_ERR_CONVERSION);
            CHECK(!guilty(round) || bytes == 0, "%s: the culprit claims %lld bytes",
                  forms[i].name, (long long)bytes);
            STILL_WORKS(fh);
        }
    }
    close_file(&fh);
}

/* One rank's process may not write beyond a limit; its block lies half beyond. */
static void io_fails(const struct form *form, MPI_File fh, int round)
{
    MPI_Offset start = 2 * BLOCK, mine = start + (MPI_Offset)test_rank * BLOCK;
    memset(block, 'a' + test_rank, sizeof block);
    EXPECT_OK(MPI_File_set_size(fh, 0));
    EXPECT_OK(MPI_File_set_view(fh, start, MPI_BYTE, MPI_BYTE, "native", MPI_INFO_NULL));
    EXPECT_OK(MPI_File_seek(fh, mine - start, MPI_SEEK_SET));
    struct form_call call = {
        .fh = fh, .off = mine - start, .buf = block, .count = BLOCK, .type = MPI_BYTE};
    if (guilty(round))
        limit_file_size(mine + BLOCK / 2);
    MPI_Count bytes;
    int code = form_run(form, &call, &bytes);
    limit_file_size(-1);
    expect(__LINE__, form->name, code, ANY_ERROR, ANY_ERROR);
    MPI_Barrier(MPI_COMM_WORLD);
    CHECK(bytes >= 0 && bytes <= BLOCK, "%s claims %lld", form->name, (long long)bytes);
    MPI_Count there = bytes_there(test_file(), mine, block, bytes);
    CHECK(there >= bytes, "%s on rank %d claims %lld bytes, %lld are there", form->name,
          test_rank, (long long)bytes, (long long)there);
    CHECK(!guilty(round) || bytes <= BLOCK / 2, "%s: the culprit claims %lld bytes", form->name,
          (long long)bytes);
    MPI_Barrier(MPI_COMM_WORLD);
    STILL_WORKS(fh);
}

static void io_fails_on_one(void)
{
    MPI_File fh = open_new();
    for (int i = 0; i < FORMS; i++)
        if (form_is(&forms[i], FORM_COLL | FORM_WRITE))
            for (int round = 0; round < rounds(); round++)
                io_fails(&forms[i], fh, round);
    close_file(&fh);
}

static void set_size_fails_on_one(void)
{
    MPI_File fh = open_new();
    for (int round = 0; round < rounds(); round++) {
        MPI_Offset size = -1;
        MPI_Barrier(MPI_COMM_WORLD);
        if (guilty(round))
            limit_file_size(BLOCK);
        /* Only one rank asks the system: it is all or none. */
        int failed = MPI_File_set_size(fh, 2 * BLOCK) != MPI_SUCCESS, some = 0, all = 0;
        limit_file_size(-1);
        MPI_Allreduce(&failed, &some, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
        MPI_Allreduce(&failed, &all, 1, MPI_INT, MPI_MIN, MPI_COMM_WORLD);
        CHECK(some == all, "some ranks say it failed, others not");
        EXPECT_OK(MPI_File_get_size(fh, &size));
        CHECK(all ? size < 2 * BLOCK : size == 2 * BLOCK, "size %lld", (long long)size);
        CHECK(test_nranks > 1 || all, "success beyond the limit");
        STILL_WORKS(fh);
        EXPECT_OK(MPI_File_set_size(fh, 0));
    }
    close_file(&fh);
}

static const struct test_case cases[] = {TEST(count_negative),
                                         TEST(datatype_null),
                                         TEST(datatype_uncommitted),
                                         TEST(offset_negative),
                                         TEST(not_a_multiple_of_etype),
                                         TEST(buffer_null),
                                         TEST(open_differs),
                                         TEST(open_hints_differ),
                                         TEST(open_fails),
                                         TEST(open_after_a_failed_one),
                                         TEST(set_view_wrong),
                                         TEST(set_view_differs),
                                         TEST(sizes_differ),
                                         TEST(sizes_wrong),
                                         TEST(conversion_fails_on_one),
                                         TEST(io_fails_on_one),
                                         TEST(set_size_fails_on_one),
                                         {0}};

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    signal(SIGXFSZ, SIG_IGN);
    int result = run_error_cases(argc, argv, cases);
    MPI_Finalize();
    return result;
}
