/* Every workload by its name. */
#include "work/work.h"

const struct workload *const workloads[] = {
    &work_sharedfp,  &work_tile,        &work_btio,    &work_flash,
    &work_s3d,       &work_blockcyclic, &work_latency, &work_aggregators,
    &work_noncontig, &work_small,       NULL,
};
