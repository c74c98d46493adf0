/* Handles that are no open file, and pointers that are NULL: an error from every function,
 * never a crash. */
#include "fault/expect.h"

static char data[64];

static void expect_data_forms(MPI_File fh)
{
    struct form_call call = {.fh = fh, .buf = data, .count = 1, .type = MPI_INT};
    for (int i = 0; i < FORMS; i++) {
        MPI_Count bytes;
        int code = form_run(&forms[i], &call, &bytes);
        expect(__LINE__, forms[i].name, code, MPI_ERR_FILE, MPI_ERR_FILE);
    }
    EXPECT(MPI_File_read_at_all_end(fh, data, MPI_STATUS_IGNORE), MPI_ERR_FILE);
    EXPECT(MPI_File_write_at_all_end(fh, data, MPI_STATUS_IGNORE), MPI_ERR_FILE);
    EXPECT(MPI_File_read_all_end(fh, data, MPI_STATUS_IGNORE), MPI_ERR_FILE);
    EXPECT(MPI_File_write_all_end(fh, data, MPI_STATUS_IGNORE), MPI_ERR_FILE);
    EXPECT(MPI_File_read_ordered_end(fh, data, MPI_STATUS_IGNORE), MPI_ERR_FILE);
    EXPECT(MPI_File_write_ordered_end(fh, data, MPI_STATUS_IGNORE), MPI_ERR_FILE);
}

static void expect_other_functions(MPI_File fh)
{
    MPI_Offset off;
    MPI_Aint extent;
    MPI_Group group;
    MPI_Info info;
    MPI_Datatype e, t;
    char rep[MPI_MAX_DATAREP_STRING];
    int flag;
    EXPECT(MPI_File_set_size(fh, 8), MPI_ERR_FILE);
    EXPECT(MPI_File_preallocate(fh, 8), MPI_ERR_FILE);
    EXPECT(MPI_File_get_size(fh, &off), MPI_ERR_FILE);
    EXPECT(MPI_File_get_group(fh, &group), MPI_ERR_FILE);
    EXPECT(MPI_File_get_amode(fh, &flag), MPI_ERR_FILE);
    EXPECT(MPI_File_set_info(fh, MPI_INFO_NULL), MPI_ERR_FILE);
    EXPECT(MPI_File_get_info(fh, &info), MPI_ERR_FILE);
    EXPECT(MPI_File_set_view(fh, 0, MPI_BYTE, MPI_BYTE, "native", MPI_INFO_NULL), MPI_ERR_FILE);
    EXPECT(MPI_File_get_view(fh, &off, &e, &t, rep), MPI_ERR_FILE);
    EXPECT(MPI_File_seek(fh, 0, MPI_SEEK_SET), MPI_ERR_FILE);
    EXPECT(MPI_File_get_position(fh, &off), MPI_ERR_FILE);
    EXPECT(MPI_File_get_byte_offset(fh, 0, &off), MPI_ERR_FILE);
    EXPECT(MPI_File_seek_shared(fh, 0, MPI_SEEK_SET), MPI_ERR_FILE);
    EXPECT(MPI_File_get_position_shared(fh, &off), MPI_ERR_FILE);
    EXPECT(MPI_File_get_type_extent(fh, MPI_INT, &extent), MPI_ERR_FILE);
    EXPECT(MPI_File_set_atomicity(fh, 1), MPI_ERR_FILE);
    EXPECT(MPI_File_get_atomicity(fh, &flag), MPI_ERR_FILE);
    EXPECT(MPI_File_sync(fh), MPI_ERR_FILE);
    MPI_File copy = fh;
    EXPECT(MPI_File_close(&copy), MPI_ERR_FILE);
}

static void null_handle(void)
{
    expect_data_forms(MPI_FILE_NULL);
    expect_other_functions(MPI_FILE_NULL);
}

static void closed_handle(void)
{
    MPI_File fh = open_new(), stale = fh;
    close_file(&fh);
    MPI_Errhandler handler;
    for (int again = 0; again < 2; again++) {
        expect_data_forms(stale);
        expect_other_functions(stale);
        EXPECT(MPI_File_get_errhandler(stale, &handler), MPI_ERR_FILE);
        EXPECT(MPI_File_set_errhandler(stale, MPI_ERRORS_RETURN), MPI_ERR_FILE);
        EXPECT(MPI_File_call_errhandler(stale, MPI_ERR_IO), MPI_ERR_FILE);
        /* Again with the place of the old handle taken by a new one. */
        if (again == 0)
            fh = open_new();
    }
    STILL_WORKS(fh);
    close_file(&fh);
}

static void garbage_handle(void)
{
    MPI_File fh = open_new();
    long here = 0;
    const intptr_t wrong[] = {-1,
                              12345,
                              0x7fffffff,
                              (intptr_t)1 << 40,
                              (intptr_t)&here,
                              (intptr_t)0x8000000000000000u};
    MPI_Errhandler handler;
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
        MPI_File bad = (MPI_File)wrong[i];
        expect_data_forms(bad);
        expect_other_functions(bad);
        EXPECT(MPI_File_get_errhandler(bad, &handler), MPI_ERR_FILE);
        EXPECT(MPI_File_set_errhandler(bad, MPI_ERRORS_RETURN), MPI_ERR_FILE);
        EXPECT(MPI_File_call_errhandler(bad, MPI_ERR_IO), MPI_ERR_FILE);
    }
    STILL_WORKS(fh);
    close_file(&fh);
}

static void null_outputs(void)
{
    MPI_File fh = open_new();
    MPI_Offset disp;
    MPI_Datatype e, t;
    char rep[MPI_MAX_DATAREP_STRING];
    EXPECT_ERROR(MPI_File_get_size(fh, NULL));
    EXPECT_ERROR(MPI_File_get_group(fh, NULL));
    EXPECT_ERROR(MPI_File_get_amode(fh, NULL));
    EXPECT_ERROR(MPI_File_get_info(fh, NULL));
    EXPECT_ERROR(MPI_File_get_view(fh, NULL, &e, &t, rep));
    EXPECT_ERROR(MPI_File_get_view(fh, &disp, NULL, &t, rep));
    EXPECT_ERROR(MPI_File_get_view(fh, &disp, &e, NULL, rep));
    EXPECT_ERROR(MPI_File_get_view(fh, &disp, &e, &t, NULL));
    EXPECT_ERROR(MPI_File_get_position(fh, NULL));
    EXPECT_ERROR(MPI_File_get_position_shared(fh, NULL));
    EXPECT_ERROR(MPI_File_get_byte_offset(fh, 0, NULL));
    EXPECT_ERROR(MPI_File_get_type_extent(fh, MPI_INT, NULL));
    EXPECT_ERROR(MPI_File_get_atomicity(fh, NULL));
    EXPECT_ERROR(MPI_File_get_errhandler(fh, NULL));
    EXPECT_ERROR(MPI_File_create_errhandler(NULL, NULL));
    STILL_WORKS(fh);
    close_file(&fh);
}

static void null_inputs(void)
{
    MPI_File fh = MPI_FILE_NULL;
    int amode = MPI_MODE_CREATE | MPI_MODE_RDWR;
    EXPECT_ERROR(MPI_File_open(MPI_COMM_WORLD, NULL, amode, MPI_INFO_NULL, &fh));
    EXPECT_ERROR(MPI_File_open(MPI_COMM_WORLD, test_file(), amode, MPI_INFO_NULL, NULL));
    EXPECT_ERROR(MPI_File_close(NULL));
    EXPECT_ERROR(MPI_File_delete(NULL, MPI_INFO_NULL));
    fh = open_new();
    EXPECT_ERROR(MPI_File_set_view(fh, 0, MPI_BYTE, MPI_BYTE, NULL, MPI_INFO_NULL));
    STILL_WORKS(fh);
    close_file(&fh);
}

static void null_requests(void)
{
    MPI_File fh = open_new();
    EXPECT_ERROR(MPI_File_iread_at(fh, 0, data, 1, MPI_INT, NULL));
    EXPECT_ERROR(MPI_File_iwrite_at(fh, 0, data, 1, MPI_INT, NULL));
    EXPECT_ERROR(MPI_File_iread(fh, data, 1, MPI_INT, NULL));
    EXPECT_ERROR(MPI_File_iwrite(fh, data, 1, MPI_INT, NULL));
    EXPECT_ERROR(MPI_File_iread_shared(fh, data, 1, MPI_INT, NULL));
    EXPECT_ERROR(MPI_File_iwrite_shared(fh, data, 1, MPI_INT, NULL));
    EXPECT_ERROR(MPI_File_iread_at_all(fh, 0, data, 1, MPI_INT, NULL));
    EXPECT_ERROR(MPI_File_iwrite_at_all(fh, 0, data, 1, MPI_INT, NULL));
    EXPECT_ERROR(MPI_File_iread_all(fh, data, 1, MPI_INT, NULL));
    EXPECT_ERROR(MPI_File_iwrite_all(fh, data, 1, MPI_INT, NULL));
    STILL_WORKS(fh);
    close_file(&fh);
}

/* A buffer at NULL is an error, contiguous or not; with nothing to move, and where
 * MPI_BOTTOM is meant, it is none. */
static void null_buffer(void)
{
    MPI_File fh = open_new();
    MPI_Datatype gaps, absolute;
    MPI_Aint place;
    MPI_Type_vector(4, 1, 2, MPI_INT, &gaps);
    MPI_Type_commit(&gaps);
    MPI_Get_address(data, &place);
    MPI_Type_create_hindexed(1, (int[]){4}, &place, MPI_INT, &absolute);
    MPI_Type_commit(&absolute);
    EXPECT_OK(MPI_File_set_size(fh, 4096));
    for (int i = 0; i < FORMS; i++) {
        MPI_Count bytes;
        struct form_call call = {.fh = fh, .buf = NULL, .count = 4, .type = MPI_INT};
        expect(__LINE__, forms[i].name, form_run(&forms[i], &call, &bytes), ANY_ERROR, 0);
        CHECK(bytes == 0, "%s claims %lld bytes", forms[i].name, (long long)bytes);
        call.type = gaps;
        expect(__LINE__, forms[i].name, form_run(&forms[i], &call, &bytes), ANY_ERROR, 0);
        CHECK(bytes == 0, "%s claims %lld bytes", forms[i].name, (long long)bytes);
        call.count = 0;
        expect(__LINE__, forms[i].name, form_run(&forms[i], &call, &bytes), MPI_SUCCESS, 0);
        call.buf = MPI_BOTTOM;
        call.type = absolute;
        call.count = 1;
        expect(__LINE__, forms[i].name, form_run(&forms[i], &call, &bytes), MPI_SUCCESS, 0);
        CHECK(bytes == 16, "%s with MPI_BOTTOM: %lld bytes", forms[i].name, (long long)bytes);
    }
    STILL_WORKS(fh);
    close_file(&fh);
    MPI_Type_free(&gaps);
    MPI_Type_free(&absolute);
}

static void conversions(void)
{
    MPI_File fh = open_new();
    CHECK(MPI_File_f2c(MPI_File_c2f(fh)) == fh, "c2f and f2c do not meet");
    CHECK(MPI_File_f2c(MPI_File_c2f(MPI_FILE_NULL)) == MPI_FILE_NULL, "the null handle");
    CHECK(MPI_File_c2f(MPI_FILE_NULL) == 0, "Fortran's null handle");
    MPI_Offset size;
    EXPECT(MPI_File_get_size(MPI_File_f2c(77777), &size), MPI_ERR_FILE);
    EXPECT(MPI_File_get_size(MPI_File_f2c(-5), &size), MPI_ERR_FILE);
    close_file(&fh);
}

static const struct test_case cases[] = {
    TEST(null_handle),  TEST(closed_handle), TEST(garbage_handle),
    TEST(null_outputs), TEST(null_inputs),   TEST(null_requests),
    TEST(null_buffer),  TEST(conversions),   {0}};

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    int result = run_error_cases(argc, argv, cases);
    MPI_Finalize();
    return result;
}
