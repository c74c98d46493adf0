/* What core must know of the module addproc beside its door. */
#ifndef BRIO_SHAREDFP_ADDPROC_H
#define BRIO_SHAREDFP_ADDPROC_H

/* Collective, before MPI_Finalize: the processes end. */
void brio_addproc_finalize(void);

#endif
