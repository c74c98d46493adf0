/* The MPI's own functions behind those that Brio itself puts in front of (completion calls,
 * initialisation). Inside Brio these are called through here, never by their plain names. */
#ifndef BRIO_COMM_REAL_H
#define BRIO_COMM_REAL_H

#include <mpi.h>
#include <stdbool.h>

/* The next definition of `name` after Brio's, or NULL. Slow: keep the answer. */
void *brio_real(const char *name);

/* MPI_Wait and MPI_Test of the MPI, status ignored. Test says whether it is complete. */
void brio_real_wait(MPI_Request *req);
bool brio_real_test(MPI_Request *req);

/* The level that the MPI granted, whatever the program has been told. */
int brio_real_thread_level(void);

#endif
