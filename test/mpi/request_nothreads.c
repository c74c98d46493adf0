/* Nonblocking operations where the MPI is not thread-safe: the completion calls must do all
 * the driving. */
#include "request_cases.h"

int main(int argc, char **argv)
{
    setenv("BRIO_THREADS", "0", 1);
    MPI_Init(&argc, &argv);
    int code = test_main_mpi(argc, argv, cases);
    MPI_Finalize();
    return code;
}
