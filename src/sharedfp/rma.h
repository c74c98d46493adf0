/* What core must know of the module rma beside its door. */
#ifndef BRIO_SHAREDFP_RMA_H
#define BRIO_SHAREDFP_RMA_H

/* Collective, before MPI_Finalize and after brio_attend_finalize: the windows end. */
void brio_rma_finalize(void);

#endif
