/* Opens the file that is its first argument, twice, with the info that follows as NAME=VALUE,
 * and tells on every rank what MPI_File_get_info says of the names that follow as ?NAME. With
 * +shared it also writes by the shared pointer. */
#include <mpi.h>
#include <stdio.h>
#include <string.h>

static void tell(MPI_File fh, const char *name)
{
    char value[MPI_MAX_INFO_VAL + 1] = "";
    MPI_Info info;
    int there = 0, rank;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_File_get_info(fh, &info);
    MPI_Info_get(info, name, MPI_MAX_INFO_VAL, value, &there);
    MPI_Info_free(&info);
    printf("rank %d: %s=%s\n", rank, name, there ? value : "?");
    fflush(stdout);
}

static int fails(const char *what, int rc)
{
    char text[MPI_MAX_ERROR_STRING];
    int len;
    if (rc == MPI_SUCCESS)
        return 0;
    MPI_Error_string(rc, text, &len);
    printf("%s failed: %s\n", what, text);
    return 1;
}

int main(int argc, char **argv)
{
    MPI_Info info;
    int bad = 0;
    MPI_Init(&argc, &argv);
    MPI_Info_create(&info);
    for (int i = 2; i < argc; i++) {
        char *eq = strchr(argv[i], '=');
        if (!eq)
            continue;
        *eq = '\0';
        MPI_Info_set(info, argv[i], eq + 1);
        *eq = '=';
    }
    for (int k = 0; k < 2; k++) {
        MPI_File fh;
        int rc =
            MPI_File_open(MPI_COMM_WORLD, argv[1], MPI_MODE_RDWR | MPI_MODE_CREATE, info, &fh);
        bad |= fails("open", rc);
        if (bad)
            break;
        for (int i = 2; k == 0 && i < argc; i++)
            if (argv[i][0] == '?')
                tell(fh, argv[i] + 1);
            else if (strcmp(argv[i], "+shared") == 0)
                bad |= fails("shared write",
                             MPI_File_write_shared(fh, "x", 1, MPI_CHAR, MPI_STATUS_IGNORE));
        MPI_File_close(&fh);
    }
    MPI_Info_free(&info);
    MPI_Finalize();
    return bad;
}
