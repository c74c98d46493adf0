/* Error handlers of files and of MPI_FILE_NULL, predefined and the program's own; error codes,
 * classes and texts. `errhandler fatal` and `errhandler abort` end the job and are run by
 * errhandler_fatal.sh. */
#include "check_mpi.h"

static int calls;        /* of the handlers below */
static MPI_File last_fh; /* what they were called with */
static int last_code;    /* likewise */
static int other_calls;  /* of the second handler */
static int inner_result; /* of a call made inside a handler */
static int early_result; /* of an open before MPI_Init */

static int class_of(int code)
{
    int class;
    MPI_Error_class(code, &class);
    return class;
}

static void count_calls(MPI_File *fh, int *code, ...)
{
    calls++;
    last_fh = *fh;
    last_code = *code;
}

static void count_others(MPI_File *fh, int *code, ...)
{
    (void)fh;
    (void)code;
    other_calls++;
}

/* A handler that uses the file it is told about, and does something wrong itself. */
static void use_file(MPI_File *fh, int *code, ...)
{
    int amode = 0;
    calls++;
    last_code = *code;
    inner_result = MPI_File_get_amode(*fh, &amode);
    if (calls == 1)
        MPI_File_seek(*fh, -1, MPI_SEEK_SET);
}

static void comm_handler(MPI_Comm *comm, int *code, ...)
{
    (void)comm;
    (void)code;
}

static MPI_File open_rw(void)
{
    MPI_File fh;
    int rc = MPI_File_open(MPI_COMM_WORLD, test_file(), MPI_MODE_CREATE | MPI_MODE_RDWR,
                           MPI_INFO_NULL, &fh);
    CHECK(rc == MPI_SUCCESS, "open: %d", rc);
    return fh;
}

static int open_missing(MPI_File *fh)
{
    return MPI_File_open(MPI_COMM_WORLD, "/nonexistent/brio/file", MPI_MODE_RDONLY,
                         MPI_INFO_NULL, fh);
}

static int set_null(MPI_Errhandler eh)
{
    return MPI_File_set_errhandler(MPI_FILE_NULL, eh);
}

/* A failing call on the file: the seek to a negative offset. */
static int fail_on(MPI_File fh)
{
    return MPI_File_seek(fh, -1, MPI_SEEK_SET);
}

/* ---- Codes and texts ----------------------------------------------------------------------
 */

static void returns_by_default(void)
{
    MPI_File fh = MPI_FILE_NULL;
    MPI_Errhandler eh;
    MPI_File_get_errhandler(MPI_FILE_NULL, &eh);
    CHECK(eh == MPI_ERRORS_RETURN, "not the default");
    MPI_Errhandler_free(&eh);
    int rc = open_missing(&fh);
    CHECK(class_of(rc) == MPI_ERR_NO_SUCH_FILE, "class %d", class_of(rc));
    CHECK(fh == MPI_FILE_NULL, "the handle is not null");
    rc = MPI_File_delete("/nonexistent/brio/file", MPI_INFO_NULL);
    CHECK(class_of(rc) == MPI_ERR_NO_SUCH_FILE, "class %d", class_of(rc));
}

static void text_names_rank_and_file(void)
{
    char text[MPI_MAX_ERROR_STRING], want[64];
    int len = 0;
    MPI_File fh = open_rw();
    int rc = fail_on(fh);
    MPI_Error_string(rc, text, &len);
    snprintf(want, sizeof want, "brio: rank %d, file ", test_rank);
    CHECK(strncmp(text, want, strlen(want)) == 0, "%s", text);
    CHECK(len == (int)strlen(text), "%d: %s", len, text);
    CHECK(class_of(rc) == MPI_ERR_ARG, "class %d", class_of(rc));
    MPI_Error_string(MPI_ERR_COMM, text, &len);
    CHECK(len > 0 && !strstr(text, "brio"), "an ordinary class: %s", text);
    MPI_File_close(&fh);
}

static void texts_are_kept_apart(void)
{
    int code[5], len;
    char text[MPI_MAX_ERROR_STRING], path[64];
    for (int round = 0; round < 40; round++) {
        for (int i = 0; i < 5; i++) {
            snprintf(path, sizeof path, "/nonexistent/brio/%d.%d", round, i);
            code[i] = MPI_File_delete(path, MPI_INFO_NULL);
        }
        for (int i = 0; i < 5; i++) {
            snprintf(path, sizeof path, "/nonexistent/brio/%d.%d:", round, i);
            MPI_Error_string(code[i], text, &len);
            CHECK(strstr(text, path), "%s is not about %s", text, path);
            CHECK(class_of(code[i]) == MPI_ERR_NO_SUCH_FILE, "%d", class_of(code[i]));
        }
    }
}

static void long_names_do_not_hide_the_reason(void)
{
    char path[300] = "/nonexistent/", text[MPI_MAX_ERROR_STRING];
    int len;
    memset(path + 13, 'x', 200);
    strcpy(path + 213, "/end");
    int rc = MPI_File_delete(path, MPI_INFO_NULL);
    MPI_Error_string(rc, text, &len);
    CHECK(strstr(text, "brio: rank") && strstr(text, "x/end") && strstr(text, "No such file"),
          "%s", text);
}

static void before_init_and_null(void)
{
    CHECK(early_result == MPI_ERR_OTHER, "open before MPI_Init gave %d", early_result);
}

/* ---- The program's own handlers -------------------------------------------------------------
 */

static void null_handler_hears_of_open(void)
{
    MPI_File fh;
    MPI_Errhandler eh;
    MPI_File_create_errhandler(count_calls, &eh);
    CHECK(set_null(eh) == MPI_SUCCESS, "set");
    calls = 0;
    int rc = open_missing(&fh);
    CHECK(calls == 1 && last_fh == MPI_FILE_NULL && last_code == rc, "%d calls", calls);
    rc = MPI_File_delete("/nonexistent/brio/file", MPI_INFO_NULL);
    CHECK(calls == 2 && last_code == rc, "%d calls", calls);
    rc = MPI_Register_datarep("brio-no-extent", NULL, NULL, NULL, NULL);
    CHECK(calls == 3 && last_code == rc && class_of(rc) == MPI_ERR_ARG, "%d calls", calls);
    rc = MPI_File_sync(MPI_FILE_NULL);
    CHECK(calls == 4 && last_code == rc && class_of(rc) == MPI_ERR_FILE, "%d calls", calls);
    set_null(MPI_ERRORS_RETURN);
    MPI_Errhandler_free(&eh);
    CHECK(eh == MPI_ERRHANDLER_NULL, "free left the handle");
}

static void file_handler_gets_the_file(void)
{
    MPI_Errhandler eh;
    MPI_File fh = open_rw(), mine = fh;
    MPI_File_create_errhandler(count_calls, &eh);
    CHECK(MPI_File_set_errhandler(fh, eh) == MPI_SUCCESS, "set");
    calls = 0;
    int rc = fail_on(fh);
    CHECK(calls == 1 && last_fh == mine && last_code == rc, "%d calls", calls);
    char byte = 0;
    rc = MPI_File_write_at_all(fh, -1, &byte, 1, MPI_BYTE, MPI_STATUS_IGNORE);
    CHECK(calls == 2 && last_fh == mine && last_code == rc, "%d calls", calls);
    CHECK(MPI_File_call_errhandler(fh, MPI_ERR_OTHER) == MPI_SUCCESS, "call");
    CHECK(calls == 3 && last_fh == mine && last_code == MPI_ERR_OTHER, "%d calls", calls);
    MPI_File_set_errhandler(fh, MPI_ERRORS_RETURN);
    fail_on(fh);
    CHECK(calls == 3, "%d calls", calls);
    MPI_Errhandler_free(&eh);
    MPI_File_close(&fh);
}

static void handler_may_use_the_file(void)
{
    MPI_Errhandler eh;
    MPI_File fh = open_rw();
    MPI_File_create_errhandler(use_file, &eh);
    MPI_File_set_errhandler(fh, eh);
    MPI_Errhandler_free(&eh);
    calls = 0;
    fail_on(fh);
    CHECK(calls == 2, "%d calls: one for the program's error, one for the handler's", calls);
    CHECK(inner_result == MPI_SUCCESS, "%d", inner_result);
    MPI_File_close(&fh);
}

static void lives_after_free(void)
{
    MPI_Errhandler eh, again;
    MPI_File fh = open_rw();
    MPI_File_create_errhandler(count_calls, &eh);
    MPI_Errhandler was = eh;
    MPI_File_set_errhandler(fh, eh);
    MPI_Errhandler_free(&eh);
    /* Others take up what would have become free. */
    MPI_Errhandler others[8];
    for (int i = 0; i < 8; i++)
        MPI_File_create_errhandler(count_others, &others[i]);
    calls = other_calls = 0;
    fail_on(fh);
    CHECK(calls == 1 && other_calls == 0, "%d and %d calls", calls, other_calls);
    for (int i = 0; i < 1000; i++) {
        MPI_File_get_errhandler(fh, &again);
        CHECK(again == was, "another handle came back");
        MPI_Errhandler_free(&again);
    }
    fail_on(fh);
    CHECK(calls == 2, "%d calls", calls);
    for (int i = 0; i < 8; i++)
        MPI_Errhandler_free(&others[i]);
    MPI_File_close(&fh);
}

static void predefined_come_back(void)
{
    MPI_Errhandler eh;
    MPI_File fh = open_rw();
    for (int i = 0; i < 1000; i++) {
        MPI_File_get_errhandler(fh, &eh);
        CHECK(eh == MPI_ERRORS_RETURN, "not what was set");
        MPI_Errhandler_free(&eh);
    }
    MPI_File_set_errhandler(fh, MPI_ERRORS_ARE_FATAL);
    MPI_File_get_errhandler(fh, &eh);
    CHECK(eh == MPI_ERRORS_ARE_FATAL, "not what was set");
    MPI_Errhandler_free(&eh);
    MPI_File_close(&fh);
}

static void inherited_at_open(void)
{
    MPI_Errhandler first, second, got;
    MPI_File_create_errhandler(count_calls, &first);
    MPI_File_create_errhandler(count_others, &second);
    set_null(first);
    MPI_File fh = open_rw();
    set_null(second);
    calls = other_calls = 0;
    fail_on(fh);
    CHECK(calls == 1 && other_calls == 0, "%d and %d", calls, other_calls);
    MPI_File_call_errhandler(MPI_FILE_NULL, MPI_ERR_IO);
    CHECK(calls == 1 && other_calls == 1, "%d and %d", calls, other_calls);
    MPI_File_get_errhandler(MPI_FILE_NULL, &got);
    CHECK(got == second, "MPI_FILE_NULL's handler");
    MPI_Errhandler_free(&got);
    set_null(MPI_ERRORS_RETURN);
    MPI_Errhandler_free(&first);
    MPI_Errhandler_free(&second);
    fail_on(fh);
    CHECK(calls == 2 && other_calls == 1, "%d and %d", calls, other_calls);
    MPI_File_close(&fh);
}

static void closed_file_tells_null(void)
{
    MPI_Errhandler eh;
    MPI_File fh = open_rw(), stale = fh;
    MPI_File_close(&fh);
    CHECK(fh == MPI_FILE_NULL, "close left the handle");
    MPI_File_create_errhandler(count_calls, &eh);
    set_null(eh);
    calls = 0;
    int rc = MPI_File_sync(stale);
    CHECK(class_of(rc) == MPI_ERR_FILE && calls == 1, "class %d, %d calls", class_of(rc),
          calls);
    set_null(MPI_ERRORS_RETURN);
    MPI_Errhandler_free(&eh);
}

/* ---- What is refused
 * ------------------------------------------------------------------------- */

static void wrong_kinds(void)
{
    MPI_Errhandler eh, made[16];
    MPI_File fh = open_rw();
    int rc = MPI_File_set_errhandler(fh, MPI_ERRHANDLER_NULL);
    CHECK(class_of(rc) == MPI_ERR_ARG, "null: class %d", class_of(rc));
    /* A handle that was once a file's handler may be another kind now. */
    for (int i = 0; i < 16; i++)
        MPI_File_create_errhandler(count_calls, &made[i]);
    for (int i = 0; i < 16; i++)
        MPI_Errhandler_free(&made[i]);
    for (int i = 0; i < 16; i++) {
        MPI_Comm_create_errhandler(comm_handler, &made[i]);
        rc = MPI_File_set_errhandler(fh, made[i]);
        CHECK(class_of(rc) == MPI_ERR_ARG, "communicator: class %d", class_of(rc));
        rc = set_null(made[i]);
        CHECK(class_of(rc) == MPI_ERR_ARG, "communicator: class %d", class_of(rc));
    }
    MPI_File_get_errhandler(fh, &eh);
    CHECK(eh == MPI_ERRORS_RETURN, "the handler has changed");
    MPI_Errhandler_free(&eh);
    for (int i = 0; i < 16; i++)
        MPI_Errhandler_free(&made[i]);
    MPI_File_close(&fh);
}

static const struct test_case cases[] = {TEST(returns_by_default),
                                         TEST(text_names_rank_and_file),
                                         TEST(texts_are_kept_apart),
                                         TEST(long_names_do_not_hide_the_reason),
                                         TEST(before_init_and_null),
                                         TEST(null_handler_hears_of_open),
                                         TEST(file_handler_gets_the_file),
                                         TEST(handler_may_use_the_file),
                                         TEST(lives_after_free),
                                         TEST(predefined_come_back),
                                         TEST(inherited_at_open),
                                         TEST(closed_file_tells_null),
                                         TEST(wrong_kinds),
                                         {0}};

/* Does not return if the handler does what it should. */
static int end_the_job(const char *how)
{
    MPI_File fh;
    MPI_Errhandler eh = MPI_ERRORS_ARE_FATAL;
#if MPI_VERSION >= 4
    if (strcmp(how, "abort") == 0)
        eh = MPI_ERRORS_ABORT;
#else
    (void)how;
#endif
    set_null(eh);
    open_missing(&fh);
    printf("still here\n");
    MPI_Finalize();
    return 0;
}

int main(int argc, char **argv)
{
    MPI_File fh;
    early_result = MPI_File_open(MPI_COMM_WORLD, "x", MPI_MODE_RDONLY, MPI_INFO_NULL, &fh);
    if (fh != MPI_FILE_NULL)
        early_result = -1;
    MPI_Init(&argc, &argv);
    if (argc == 2 && (strcmp(argv[1], "fatal") == 0 || strcmp(argv[1], "abort") == 0))
        return end_the_job(argv[1]);
    int code = test_main_mpi(argc, argv, cases);
    MPI_Finalize();
    int late = MPI_File_delete("x", MPI_INFO_NULL);
    if (late != MPI_ERR_OTHER) {
        fprintf(stderr, "delete after MPI_Finalize gave %d\n", late);
        code = 1;
    }
    return code;
}
