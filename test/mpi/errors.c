/* Misuse of MPI-IO: every mistake has its error class, the same on all ranks, the file can
 * be used afterwards, and nothing crashes. Mistakes of one rank only are in errors_one.c. */
#include <signal.h>

#include "fault/expect.h"

enum {
    CREATE_RW = MPI_MODE_CREATE | MPI_MODE_RDWR
};

static char data[64];

/* A data access of one int at the start of the file, in the form given. */
static struct form_call one_int(MPI_File fh)
{
    return (struct form_call){.fh = fh, .buf = data, .count = 1, .type = MPI_INT};
}

/* Runs all forms that have all of `flags` and none of `without`; each must fail with the
 * class, and claim nothing. */
static void expect_forms(int line, const struct form_call *call, int flags, int without,
                         int class)
{
    for (int i = 0; i < FORMS; i++) {
        if (!form_is(&forms[i], flags) || (forms[i].flags & without))
            continue;
        MPI_Count bytes;
        int code = form_run(&forms[i], call, &bytes);
        expect(line, forms[i].name, code, class, class);
        CHECK(bytes == 0, "%s claims %lld bytes", forms[i].name, (long long)bytes);
    }
}

static int try_open(const char *path, int amode)
{
    MPI_File fh = MPI_FILE_NULL;
    int code = MPI_File_open(MPI_COMM_WORLD, path, amode, MPI_INFO_NULL, &fh);
    if (code == MPI_SUCCESS)
        MPI_File_close(&fh);
    else
        CHECK(fh == MPI_FILE_NULL, "a failed open gives a handle");
    return code;
}

static void open_missing(void)
{
    char path[600];
    EXPECT(try_open(test_file(), MPI_MODE_RDONLY), MPI_ERR_NO_SUCH_FILE);
    EXPECT(try_open(test_file(), MPI_MODE_RDWR), MPI_ERR_NO_SUCH_FILE);
    snprintf(path, sizeof path, "%s.dir/file", test_file());
    EXPECT(try_open(path, CREATE_RW), MPI_ERR_NO_SUCH_FILE);
    EXPECT_OK(try_open(test_file(), CREATE_RW));
}

static void open_directory(void)
{
    const char *dir = getenv("BRIO_TEST_DIR");
    EXPECT(try_open(dir ? dir : ".", MPI_MODE_RDWR), MPI_ERR_BAD_FILE);
    EXPECT(try_open(dir ? dir : ".", MPI_MODE_WRONLY), MPI_ERR_BAD_FILE);
}

static void open_bad_name(void)
{
    static char path[6000];
    memset(path, 'x', sizeof path - 1);
    EXPECT(try_open(path, CREATE_RW), MPI_ERR_BAD_FILE);
    make_file(test_file(), 0);
    snprintf(path, sizeof path, "%s/below", test_file());
    EXPECT(try_open(path, CREATE_RW), MPI_ERR_BAD_FILE);
    EXPECT_ERROR(try_open("", CREATE_RW));
}

static void open_amode(void)
{
    static const int wrong[] = {0,
                                MPI_MODE_CREATE,
                                MPI_MODE_RDONLY | MPI_MODE_WRONLY,
                                MPI_MODE_RDONLY | MPI_MODE_RDWR,
                                MPI_MODE_WRONLY | MPI_MODE_RDWR,
                                MPI_MODE_RDONLY | MPI_MODE_CREATE,
                                MPI_MODE_RDONLY | MPI_MODE_EXCL,
                                MPI_MODE_RDWR | MPI_MODE_SEQUENTIAL};
    make_file(test_file(), 8);
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++)
        EXPECT(try_open(test_file(), wrong[i]), MPI_ERR_AMODE);
    EXPECT_OK(try_open(test_file(), MPI_MODE_RDONLY));
}

static void open_excl(void)
{
    make_file(test_file(), 8);
    EXPECT(try_open(test_file(), CREATE_RW | MPI_MODE_EXCL), MPI_ERR_FILE_EXISTS);
    EXPECT_OK(try_open(test_file(), MPI_MODE_RDWR));
}

static void open_communicator(void)
{
    MPI_File fh = MPI_FILE_NULL;
    EXPECT(MPI_File_open(MPI_COMM_NULL, test_file(), CREATE_RW, MPI_INFO_NULL, &fh),
           MPI_ERR_COMM);
    if (test_nranks < 2)
        return;
    MPI_Comm half, inter;
    int low = test_rank < test_nranks / 2;
    MPI_Comm_split(MPI_COMM_WORLD, low, 0, &half);
    MPI_Intercomm_create(half, 0, MPI_COMM_WORLD, low ? test_nranks / 2 : 0, 7, &inter);
    EXPECT(MPI_File_open(inter, test_file(), CREATE_RW, MPI_INFO_NULL, &fh), MPI_ERR_COMM);
    MPI_Comm_free(&inter);
    MPI_Comm_free(&half);
}

static void offset_negative(void)
{
    MPI_File fh = open_new();
    struct form_call call = one_int(fh);
    call.off = -1;
    expect_forms(__LINE__, &call, FORM_AT, 0, MPI_ERR_ARG);
    MPI_Offset byte;
    EXPECT(MPI_File_get_byte_offset(fh, -1, &byte), MPI_ERR_ARG);
    STILL_WORKS(fh);
    close_file(&fh);
}

static void count_negative(void)
{
    MPI_File fh = open_new();
    struct form_call call = one_int(fh);
    call.count = -1;
    expect_forms(__LINE__, &call, 0, 0, MPI_ERR_COUNT);
    STILL_WORKS(fh);
    close_file(&fh);
}

static void datatype_null(void)
{
    MPI_File fh = open_new();
    struct form_call call = one_int(fh);
    call.type = MPI_DATATYPE_NULL;
    expect_forms(__LINE__, &call, 0, 0, MPI_ERR_TYPE);
    STILL_WORKS(fh);
    close_file(&fh);
}

static void datatype_uncommitted(void)
{
    MPI_Datatype pairs;
    MPI_Type_vector(2, 1, 2, MPI_INT, &pairs);
    MPI_File fh = open_new();
    struct form_call call = one_int(fh);
    call.type = pairs;
    expect_forms(__LINE__, &call, 0, 0, MPI_ERR_TYPE);
    MPI_Type_commit(&pairs);
    EXPECT_OK(MPI_File_write_at_all(fh, 0, data, 1, pairs, MPI_STATUS_IGNORE));
    STILL_WORKS(fh);
    close_file(&fh);
    MPI_Type_free(&pairs);
}

static void not_a_multiple_of_etype(void)
{
    MPI_File fh = open_new();
    struct form_call call = one_int(fh);
    EXPECT_OK(MPI_File_set_view(fh, 0, MPI_INT, MPI_INT, "native", MPI_INFO_NULL));
    call.type = MPI_BYTE;
    call.count = 3;
    expect_forms(__LINE__, &call, 0, 0, MPI_ERR_IO);
    STILL_WORKS(fh);
    close_file(&fh);
}

static void seek_wrong(void)
{
    MPI_Offset at = -1;
    MPI_File fh = open_new();
    EXPECT_OK(MPI_File_seek(fh, 5, MPI_SEEK_SET));
    EXPECT(MPI_File_seek(fh, -1, MPI_SEEK_SET), MPI_ERR_ARG);
    EXPECT(MPI_File_seek(fh, -6, MPI_SEEK_CUR), MPI_ERR_ARG);
    EXPECT(MPI_File_seek(fh, -1, MPI_SEEK_END), MPI_ERR_ARG);
    EXPECT(MPI_File_seek(fh, 0, 12345), MPI_ERR_ARG);
    EXPECT_OK(MPI_File_get_position(fh, &at));
    CHECK(at == 5, "a refused seek moved the pointer to %lld", (long long)at);
    EXPECT_OK(MPI_File_seek_shared(fh, 7, MPI_SEEK_SET));
    EXPECT(MPI_File_seek_shared(fh, -1, MPI_SEEK_SET), MPI_ERR_ARG);
    EXPECT(MPI_File_seek_shared(fh, -8, MPI_SEEK_CUR), MPI_ERR_ARG);
    EXPECT(MPI_File_seek_shared(fh, 0, 12345), MPI_ERR_ARG);
    EXPECT_OK(MPI_File_get_position_shared(fh, &at));
    CHECK(at == 7, "a refused seek_shared moved the pointer to %lld", (long long)at);
    STILL_WORKS(fh);
    close_file(&fh);
}

static int view(MPI_File fh, MPI_Offset disp, MPI_Datatype etype, MPI_Datatype filetype,
                const char *rep)
{
    return MPI_File_set_view(fh, disp, etype, filetype, rep, MPI_INFO_NULL);
}

static void set_view_wrong(void)
{
    MPI_Datatype three, loose, back, e, t;
    MPI_Offset disp = -1;
    char rep[MPI_MAX_DATAREP_STRING], longer[2 * MPI_MAX_DATAREP_STRING];
    MPI_Type_contiguous(3, MPI_BYTE, &three);
    MPI_Type_commit(&three);
    MPI_Type_contiguous(2, MPI_INT, &loose);
    MPI_Aint first = -8;
    MPI_Type_create_hindexed(1, (int[]){1}, &first, MPI_INT, &back);
    MPI_Type_commit(&back);
    memset(longer, 'd', sizeof longer - 1);
    longer[sizeof longer - 1] = '\0';

    MPI_File fh = open_new();
    EXPECT_OK(view(fh, 16, MPI_INT, MPI_INT, "native"));
    EXPECT(view(fh, 0, MPI_BYTE, MPI_BYTE, "no such thing"), MPI_ERR_UNSUPPORTED_DATAREP);
    EXPECT_OR(view(fh, 0, MPI_BYTE, MPI_BYTE, longer), MPI_ERR_UNSUPPORTED_DATAREP,
              MPI_ERR_ARG);
    EXPECT(view(fh, -1, MPI_BYTE, MPI_BYTE, "native"), MPI_ERR_ARG);
    EXPECT(view(fh, MPI_DISPLACEMENT_CURRENT, MPI_BYTE, MPI_BYTE, "native"), MPI_ERR_ARG);
    EXPECT(view(fh, 0, MPI_DATATYPE_NULL, MPI_BYTE, "native"), MPI_ERR_TYPE);
    EXPECT(view(fh, 0, MPI_BYTE, MPI_DATATYPE_NULL, "native"), MPI_ERR_TYPE);
    EXPECT(view(fh, 0, loose, loose, "native"), MPI_ERR_TYPE);
    EXPECT(view(fh, 0, MPI_INT, three, "native"), MPI_ERR_ARG);
    EXPECT_OR(view(fh, 0, MPI_INT, back, "native"), MPI_ERR_ARG, MPI_ERR_TYPE);
    EXPECT_OK(MPI_File_get_view(fh, &disp, &e, &t, rep));
    CHECK(disp == 16 && e == MPI_INT && t == MPI_INT && !strcmp(rep, "native"),
          "a refused set_view changed the view");
    EXPECT_OK(view(fh, 0, MPI_INT, MPI_INT, "internal"));
    STILL_WORKS(fh);
    close_file(&fh);
    MPI_Type_free(&three);
    MPI_Type_free(&loose);
    MPI_Type_free(&back);
}

static void size_negative(void)
{
    MPI_Offset size = -1;
    MPI_File fh = open_new();
    EXPECT_OK(MPI_File_set_size(fh, 100));
    EXPECT(MPI_File_set_size(fh, -1), MPI_ERR_ARG);
    EXPECT(MPI_File_preallocate(fh, -1), MPI_ERR_ARG);
    EXPECT_OK(MPI_File_get_size(fh, &size));
    CHECK(size == 100, "the size is %lld", (long long)size);
    STILL_WORKS(fh);
    close_file(&fh);
}

static void read_only(void)
{
    make_file(test_file(), 64);
    MPI_File fh = open_file(MPI_MODE_RDONLY);
    struct form_call call = one_int(fh);
    expect_forms(__LINE__, &call, FORM_WRITE, 0, MPI_ERR_READ_ONLY);
    EXPECT(MPI_File_set_size(fh, 8), MPI_ERR_READ_ONLY);
    EXPECT(MPI_File_preallocate(fh, 128), MPI_ERR_READ_ONLY);
    EXPECT_OK(MPI_File_sync(fh));
    MPI_Status status;
    int n = -1;
    EXPECT_OK(MPI_File_read_at_all(fh, 0, data, 64, MPI_BYTE, &status));
    MPI_Get_count(&status, MPI_BYTE, &n);
    CHECK(n == 64, "%d bytes read", n);
    close_file(&fh);
}

static void write_only(void)
{
    MPI_File fh = open_file(MPI_MODE_CREATE | MPI_MODE_WRONLY);
    struct form_call call = one_int(fh);
    expect_forms(__LINE__, &call, 0, FORM_WRITE, MPI_ERR_ACCESS);
    EXPECT_OK(MPI_File_write_at_all(fh, 0, data, 4, MPI_BYTE, MPI_STATUS_IGNORE));
    close_file(&fh);
}

static void sequential(void)
{
    make_file(test_file(), 4096);
    MPI_File fh = open_file(MPI_MODE_RDONLY | MPI_MODE_SEQUENTIAL);
    struct form_call call = one_int(fh);
    expect_forms(__LINE__, &call, 0, FORM_SHARED | FORM_WRITE, MPI_ERR_UNSUPPORTED_OPERATION);
    MPI_Offset at;
    EXPECT(MPI_File_seek(fh, 0, MPI_SEEK_SET), MPI_ERR_UNSUPPORTED_OPERATION);
    EXPECT(MPI_File_get_position(fh, &at), MPI_ERR_UNSUPPORTED_OPERATION);
    EXPECT(view(fh, 8, MPI_BYTE, MPI_BYTE, "native"), MPI_ERR_ARG);
    EXPECT_OK(view(fh, MPI_DISPLACEMENT_CURRENT, MPI_INT, MPI_INT, "native"));
    MPI_Count bytes;
    for (int i = 0; i < FORMS; i++)
        if (form_is(&forms[i], FORM_SHARED) && !form_is(&forms[i], FORM_WRITE)) {
            expect(__LINE__, forms[i].name, form_run(&forms[i], &call, &bytes), MPI_SUCCESS,
                   MPI_SUCCESS);
            CHECK(bytes == 4, "%s: %lld bytes", forms[i].name, (long long)bytes);
        }
    close_file(&fh);
    fh = open_file(MPI_MODE_CREATE | MPI_MODE_WRONLY | MPI_MODE_SEQUENTIAL);
    call.fh = fh;
    expect_forms(__LINE__, &call, FORM_WRITE, FORM_SHARED, MPI_ERR_UNSUPPORTED_OPERATION);
    EXPECT_OK(MPI_File_write_ordered(fh, data, 1, MPI_INT, MPI_STATUS_IGNORE));
    close_file(&fh);
}

static void end_without_begin(void)
{
    MPI_File fh = open_new();
    MPI_Status status;
    EXPECT(MPI_File_read_at_all_end(fh, data, &status), MPI_ERR_IO);
    EXPECT(MPI_File_write_at_all_end(fh, data, &status), MPI_ERR_IO);
    EXPECT(MPI_File_read_all_end(fh, data, &status), MPI_ERR_IO);
    EXPECT(MPI_File_write_all_end(fh, data, &status), MPI_ERR_IO);
    EXPECT(MPI_File_read_ordered_end(fh, data, &status), MPI_ERR_IO);
    EXPECT(MPI_File_write_ordered_end(fh, data, &status), MPI_ERR_IO);
    STILL_WORKS(fh);
    close_file(&fh);
}

static void begin_while_active(void)
{
    static char other[8];
    MPI_File fh = open_new();
    MPI_Status status;
    MPI_Offset off = 8 * test_rank;
    int n = -1;
    EXPECT_OK(MPI_File_write_at_all_begin(fh, off, data, 8, MPI_BYTE));
    EXPECT(MPI_File_write_at_all_begin(fh, off, other, 8, MPI_BYTE), MPI_ERR_IO);
    EXPECT(MPI_File_read_all_begin(fh, other, 8, MPI_BYTE), MPI_ERR_IO);
    EXPECT(MPI_File_write_ordered_begin(fh, other, 8, MPI_BYTE), MPI_ERR_IO);
    /* These are refused, or let the first one finish before they do what they do. */
    EXPECT_OR(MPI_File_write_at_all(fh, off, data, 8, MPI_BYTE, &status), MPI_ERR_IO,
              MPI_SUCCESS);
    EXPECT_OR(view(fh, 0, MPI_BYTE, MPI_BYTE, "native"), MPI_ERR_IO, MPI_SUCCESS);
    EXPECT_OK(MPI_File_write_at_all_end(fh, data, &status));
    MPI_Get_count(&status, MPI_BYTE, &n);
    CHECK(n == 8, "%d bytes", n);
    STILL_WORKS(fh);
    close_file(&fh);
}

static void end_of_another_kind(void)
{
    MPI_File fh = open_new();
    MPI_Status status;
    int n = -1;
    EXPECT_OK(MPI_File_write_at_all_begin(fh, 8 * test_rank, data, 8, MPI_BYTE));
    EXPECT(MPI_File_read_at_all_end(fh, data, &status), MPI_ERR_IO);
    EXPECT(MPI_File_write_all_end(fh, data, &status), MPI_ERR_IO);
    EXPECT(MPI_File_write_ordered_end(fh, data, &status), MPI_ERR_IO);
    EXPECT_OK(MPI_File_write_at_all_end(fh, data, &status));
    MPI_Get_count(&status, MPI_BYTE, &n);
    CHECK(n == 8, "%d bytes", n);
    STILL_WORKS(fh);
    close_file(&fh);
}

static void type_extent(void)
{
    MPI_Aint extent = -1;
    MPI_File fh = open_new();
    EXPECT(MPI_File_get_type_extent(fh, MPI_DATATYPE_NULL, &extent), MPI_ERR_TYPE);
    EXPECT_OK(MPI_File_get_type_extent(fh, MPI_INT, &extent));
    CHECK(extent == sizeof(int), "%ld", (long)extent);
    close_file(&fh);
}

static void delete_missing(void)
{
    EXPECT(MPI_File_delete(test_file(), MPI_INFO_NULL), MPI_ERR_NO_SUCH_FILE);
    char path[600];
    snprintf(path, sizeof path, "%s.dir/file", test_file());
    EXPECT(MPI_File_delete(path, MPI_INFO_NULL), MPI_ERR_NO_SUCH_FILE);
}

static int extent_of(MPI_Datatype type, MPI_Aint *extent, void *state)
{
    int size;
    (void)state;
    MPI_Type_size(type, &size);
    *extent = size;
    return MPI_SUCCESS;
}

static int convert(void *user, MPI_Datatype type, int count, void *file, MPI_Offset position,
                   void *state)
{
    (void)user, (void)type, (void)count, (void)file, (void)position, (void)state;
    return MPI_SUCCESS;
}

static void register_datarep(void)
{
    char longer[2 * MPI_MAX_DATAREP_STRING];
    memset(longer, 'r', sizeof longer - 1);
    longer[sizeof longer - 1] = '\0';
    EXPECT(MPI_Register_datarep("errors-none", convert, convert, NULL, NULL), MPI_ERR_ARG);
    EXPECT(MPI_Register_datarep(NULL, convert, convert, extent_of, NULL), MPI_ERR_ARG);
    EXPECT(MPI_Register_datarep(longer, convert, convert, extent_of, NULL), MPI_ERR_ARG);
    EXPECT_OK(MPI_Register_datarep("errors-rep", convert, convert, extent_of, NULL));
    EXPECT(MPI_Register_datarep("errors-rep", convert, convert, extent_of, NULL),
           MPI_ERR_DUP_DATAREP);
    EXPECT(MPI_Register_datarep("native", convert, convert, extent_of, NULL),
           MPI_ERR_DUP_DATAREP);
}

static void on_comm(MPI_Comm *comm, int *code, ...)
{
    (void)comm, (void)code;
}

static void on_win(MPI_Win *win, int *code, ...)
{
    (void)win, (void)code;
}

static void errhandler_kind(void)
{
    MPI_Errhandler comm, win, kept = MPI_ERRHANDLER_NULL;
    MPI_Comm_create_errhandler(on_comm, &comm);
    MPI_Win_create_errhandler(on_win, &win);
    MPI_File fh = open_new();
    EXPECT(MPI_File_set_errhandler(fh, comm), MPI_ERR_ARG);
    EXPECT(MPI_File_set_errhandler(fh, win), MPI_ERR_ARG);
    EXPECT(MPI_File_set_errhandler(fh, MPI_ERRHANDLER_NULL), MPI_ERR_ARG);
    EXPECT_OK(MPI_File_get_errhandler(fh, &kept));
    CHECK(kept == MPI_ERRORS_RETURN, "the handler was changed");
    STILL_WORKS(fh);
    close_file(&fh);
    MPI_Errhandler_free(&comm);
    MPI_Errhandler_free(&win);
}

/* The text of an error names a rank, the file, and `more`. */
static bool text_names(int code, const char *more)
{
    char text[MPI_MAX_ERROR_STRING] = "";
    int len = 0;
    const char *base = strrchr(test_file(), '/');
    MPI_Error_string(code, text, &len);
    bool all = strstr(text, "rank ") && strstr(text, base ? base + 1 : test_file()) &&
               strstr(text, more);
    if (!all)
        fprintf(stderr, "the text is \"%s\", without \"%s\"\n", text, more);
    return all;
}

#define EXPECT_TEXT(call, more) CHECK(text_names(call, more), "incomplete text")

/* A write that the system refuses: with a collective one, whoever made the system call
 * knows most, and the others at least who and where. */
static void expect_system_text(const struct form *form, int code)
{
    int known = text_names(code, "write") && text_names(code, "8000") &&
                text_names(code, "File too large");
    if (form_is(form, FORM_COLL)) {
        MPI_Allreduce(MPI_IN_PLACE, &known, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
        known = known && text_names(code, "");
    }
    CHECK(code != MPI_SUCCESS && known, "%s: incomplete text", form->name);
}

static void messages(void)
{
    MPI_File fh = open_new();
    EXPECT_OK(MPI_File_set_size(fh, 1000));
    EXPECT_TEXT(MPI_File_write_at(fh, -77, data, 1, MPI_INT, MPI_STATUS_IGNORE), "-77");
    EXPECT_TEXT(MPI_File_write_at_all(fh, 0, data, -3, MPI_INT, MPI_STATUS_IGNORE), "-3");
    EXPECT_TEXT(MPI_File_set_size(fh, -5), "-5");
    EXPECT_TEXT(view(fh, 0, MPI_BYTE, MPI_BYTE, "wax tablet"), "wax tablet");
    EXPECT_TEXT(MPI_File_seek(fh, 0, 12345), "12345");

    limit_file_size(4096);
    struct form_call call = {.fh = fh, .off = 8000, .buf = data, .count = 8, .type = MPI_BYTE};
    for (int i = 0; i < FORMS; i++) {
        if (!form_is(&forms[i], FORM_WRITE | FORM_AT))
            continue;
        MPI_Count bytes;
        expect_system_text(&forms[i], form_run(&forms[i], &call, &bytes));
    }
    limit_file_size(-1);
    STILL_WORKS(fh);
    close_file(&fh);

    EXPECT_TEXT(try_open(test_file(), CREATE_RW | MPI_MODE_EXCL), "");
    MPI_Barrier(MPI_COMM_WORLD);
    if (test_rank == 0)
        unlink(test_file());
    MPI_Barrier(MPI_COMM_WORLD);
    EXPECT_TEXT(try_open(test_file(), MPI_MODE_RDONLY), "");
}

/* The last error that a handler of ours was given. */
static int handled_code;
static MPI_File handled_file;

static void on_file(MPI_File *fh, int *code, ...)
{
    handled_file = *fh;
    handled_code = *code;
}

static void handler_is_called(void)
{
    MPI_Errhandler mine;
    EXPECT_OK(MPI_File_create_errhandler(on_file, &mine));
    MPI_File fh = open_new();
    EXPECT_OK(MPI_File_set_errhandler(fh, mine));
    struct form_call call = one_int(fh);
    call.count = -1;
    for (int i = 0; i < FORMS; i++) {
        MPI_Count bytes;
        /* The completion call of a request has the communicator's handler. */
        if (form_is(&forms[i], FORM_NONBLOCKING | FORM_COLL))
            continue;
        handled_code = MPI_SUCCESS;
        handled_file = MPI_FILE_NULL;
        int code = form_run(&forms[i], &call, &bytes);
        CHECK(handled_code == code && code != MPI_SUCCESS, "%s: handler %d, returned %d",
              forms[i].name, handled_code, code);
        CHECK(handled_file == fh, "%s: the handler got another file", forms[i].name);
    }
    EXPECT_OK(MPI_Errhandler_free(&mine));
    STILL_WORKS(fh);
    close_file(&fh);
}

static const struct test_case cases[] = {TEST(open_missing),
                                         TEST(open_directory),
                                         TEST(open_bad_name),
                                         TEST(open_amode),
                                         TEST(open_excl),
                                         TEST(open_communicator),
                                         TEST(offset_negative),
                                         TEST(count_negative),
                                         TEST(datatype_null),
                                         TEST(datatype_uncommitted),
                                         TEST(not_a_multiple_of_etype),
                                         TEST(seek_wrong),
                                         TEST(set_view_wrong),
                                         TEST(size_negative),
                                         TEST(read_only),
                                         TEST(write_only),
                                         TEST(sequential),
                                         TEST(end_without_begin),
                                         TEST(begin_while_active),
                                         TEST(end_of_another_kind),
                                         TEST(type_extent),
                                         TEST(delete_missing),
                                         TEST(register_datarep),
                                         TEST(errhandler_kind),
                                         TEST(messages),
                                         TEST(handler_is_called),
                                         {0}};

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    signal(SIGXFSZ, SIG_IGN);
    int result = run_error_cases(argc, argv, cases);
    MPI_Finalize();
    return result;
}
