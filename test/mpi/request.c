/* Nonblocking operations where the MPI grants MPI_THREAD_MULTIPLE, so that Brio has threads. */
#include "request_cases.h"

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    int code = test_main_mpi(argc, argv, cases);
    MPI_Finalize();
    return code;
}
